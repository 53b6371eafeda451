// tile.mma_sparse as tile.mma: for machines, and types, without an instruction for it.
#pragma once

#include "lib/ir/support.h"

// Puts in place of `product`, a tile.mma_sparse at kernel level, a tile.mma of its left factor with the zeros, which is
// made by comparing and selecting: 4 elements for every 2.
void tileMakeSparseProductDense(MlirOperation product);
