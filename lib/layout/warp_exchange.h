// Inner part of conversions: which source register of which lane fills a result register, as steps that a warp can do.
// Why here: the planner (convert.c) only compares prices; the linear algebra of one warp is in warp_exchange.c.
#ifndef TESSERA_LIB_LAYOUT_WARP_EXCHANGE_H
#define TESSERA_LIB_LAYOUT_WARP_EXCHANGE_H

#include "lib/layout/convert.h"

// Fills the plan's fields for registers and shuffles, kind included; false if an element would have to change warps.
// Expects equally many lanes and warps, and that both layouts cover one shape.
bool tileExchangePlan(const TileLayout *from, const TileLayout *to, uint32_t shuffleBits, uint32_t elementBits,
                      TileConversion *plan);

// The linear part of a layout as columns over GF(2), in the order of its dimensions: axis after axis, each as wide as
// both layouts need.
void tileExchangeColumns(const TileLayout *layout, const uint32_t *width, uint64_t *columns);

#endif
