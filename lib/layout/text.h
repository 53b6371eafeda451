// The text form of a linear layout, the body of `#tile.layout<…>`.
// Why: one text per map, so printed IR can be compared and a layout can be typed by hand.
// Expects: any text. Leaves: a canonical layout or an error with its column; printing parses back to an equal layout.
//
//   layout := dim (`,` dim)* (`pad` amount `every` period)?      reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]
//   dim    := name `[` (mode (`,` mode)*)? `]`                   name: reg lane warp block, or offset alone
//   mode   := size `:` (`_` | term (`+` term)*)                  the next `size` positions step by the XOR of the terms
//   term   := `d`axis (`*` stride)?                              stride: a power of two, counted in coordinates
//
// A size is 2^k; the last mode of reg or offset may have an odd factor (then one term, any stride, added). 6:d0*16
// reads as 2:d0*16, 3:d0*32 and prints so; modes of odd size may follow it (a 96x96 tile has two). The printer merges
// runs (2:d0, 2:d0*2 prints 4:d0), drops sizes of 1, orders dimensions reg lane warp block and terms by axis, then
// stride. A layout of one element prints as `reg []` or `offset []`.
#pragma once

#include <stddef.h>

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Holds the text of every layout that parses: longer ones are refused. (A mode takes some 10 characters.) Of a layout
// made by operations, tileLayoutPrint's result tells whether the text was longer.
enum { TILE_LAYOUT_TEXT_CAPACITY = 2048 };

// Reads a layout of values or of memory; `text` need not be terminated. On failure error->column tells where (from 1).
bool tileLayoutParse(const char *text, size_t length, TileLayout *layout, TileError *error);

// As above, of a text that tileLayoutPrint wrote: nothing is checked again.
TileLayout tileLayoutParsePrinted(const char *text, size_t length);

// As tileLayoutParse, for any kind: also `d0 [2:d1, …], d1 […]`, an inverse, which maps coordinates to the dimensions
// of a layout.
bool tileLayoutParseAnyKind(const char *text, size_t length, TileLayout *layout, TileError *error);

// Writes the unique text, cut to the capacity and terminated; returns the length of the whole text, as snprintf does.
size_t tileLayoutPrint(const TileLayout *layout, char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif
