// Factors of block-scaled products in the form that the machine's instructions take, ahead of layouts.
#pragma once

#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"

// Rewrites the factors of each tile.mma_scaled of the kernel, whose instruction on so many warps is known.
void layoutPrepareScaledProducts(const TileOps *products, const TileMachine *machine, uint32_t warps);
