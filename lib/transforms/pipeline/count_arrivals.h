// The threads of partitions, the arrivals at their barriers, and the registers that they start with: what
// tile-count-waits writes into kernels with a tile.warp_specialize. See count_arrivals.c.
#pragma once

#include "lib/capi/pass.h"

// Keeps what the kernel says already. False after a diagnostic.
bool tileCountArrivals(MlirOperation kernel, MlirExtPass pass);
