// Linear layouts: which element of a tile lies where. The data type, the questions about it, and how to build it.
// Why: MMA fragments, swizzled shared memory, packed low-bit words and padded CPU panels are all one kind of function.
//   Conversions, vector widths and conflicts can therefore be computed instead of tabulated.
// Source: Zhou et al., "Linear Layouts", 2025.
//
// Expects: nothing; pure C, no heap. Leaves: plain values that may be copied and kept on the stack (about 2.5 KB).
//
// A layout maps an index (one number per dimension) to tensor coordinates (one number per axis):
//
//   reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]        the 16x8 accumulator of mma.sync.m16n8k16
//
//   register bit 0 moves one column, bit 1 eight rows; lane bits 0 and 1 move 2 and 4 columns, bits 2 to 4 a row each.
//   Values live in `reg lane warp block`, memory in `offset` (unit: elements). Every bit of every dimension has one
//   step, a coordinate vector; the element at an index is the XOR of the steps of its set bits. A size that is no power
//   of two has odd factors, outermost in `reg` or `offset`, whose steps are added: `reg [8:d1, 3:d0*32]`. A step of
//   nothing (`_`) makes copies. A layout of values may reach beyond its tile (tileLayoutHolds): what is there is void.
//   `pad P every N` says where an offset lies physically; it does not change the map.
//
//   TileLayout fragment; TileError error;
//   if (!tileLayoutParse(text, strlen(text), &fragment, &error)) return report(&error);
//   TileLayoutPoint index = {{2, 5}};                          // register 2, lane 5
//   TileLayoutPoint element = tileLayoutApply(&fragment, index); // row 9, column 2
//
// Limits: 8 axes, 8 dimensions, 32 bits in a dimension, 64 bits in a layout, 64 bits of coordinates where a matrix is
// inverted, 8 odd factors, coordinates below 2^31. A layout does not know its rank: axes of size 1 never occur in it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/support/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TILE_LAYOUT_MAX_AXES = 8,
  TILE_LAYOUT_MAX_DIMS = 8,
  TILE_LAYOUT_MAX_BITS = 64,
  TILE_LAYOUT_MAX_DIM_BITS = 32,
  TILE_LAYOUT_MAX_REPEATS = 8,
};

// What the dimensions are: values spread over threads, offsets in a memory, or, for inverses, tensor coordinates d0,
// d1, …
typedef enum TileLayoutKind { TileLayoutValues, TileLayoutMemory, TileLayoutCoordinates } TileLayoutKind;

// The dimensions of a layout of values. A layout of memory has one dimension, TileLayoutOffset.
enum { TileLayoutReg = 0, TileLayoutLane = 1, TileLayoutWarp = 2, TileLayoutBlock = 3, TileLayoutOffset = 0 };

// An index (one number per dimension) or coordinates (one per axis); unused entries are 0.
typedef struct TileLayoutPoint {
  uint32_t at[TILE_LAYOUT_MAX_AXES];
} TileLayoutPoint;

enum { TILE_LAYOUT_COPIES = -1 };

// An odd factor: the digit q < count of dimension `dim` adds q * stride to the axis (TILE_LAYOUT_COPIES: to none).
typedef struct TileLayoutRepeat {
  uint32_t dim, count, stride;
  int32_t axis;
} TileLayoutRepeat;

// Canonical by construction: two layouts are the same map if and only if tileLayoutEquals says so. Treat as opaque.
typedef struct TileLayout {
  TileLayoutKind kind;
  uint32_t bits[TILE_LAYOUT_MAX_DIMS];
  TileLayoutPoint steps[TILE_LAYOUT_MAX_BITS];       // all bits of dimension 0, then of 1, …; lowest bit first
  TileLayoutRepeat repeats[TILE_LAYOUT_MAX_REPEATS]; // by dimension, innermost first
  uint32_t repeatCount;
  uint32_t padAmount, padEvery; // of memory only; 0 = none
} TileLayout;

// Asking.

// "reg", "lane", …, "offset", "d0", …; NULL if the kind has no such dimension.
const char *tileLayoutDimName(TileLayoutKind kind, uint32_t dim);
// Positions of a dimension; 1 if the layout does not mention it.
uint64_t tileLayoutDimSize(const TileLayout *layout, uint32_t dim);
// Bits of all dimensions together.
uint32_t tileLayoutBitCount(const TileLayout *layout);
// 1 + the highest axis that the layout moves along; 0 if it moves along none.
uint32_t tileLayoutRank(const TileLayout *layout);
// 1 + the largest coordinate on an axis.
uint64_t tileLayoutExtent(const TileLayout *layout, uint32_t axis);
// The element at an index; an index beyond its dimension's size is reduced modulo the size.
TileLayoutPoint tileLayoutApply(const TileLayout *layout, TileLayoutPoint index);
// What a bit of a dimension moves by; nothing for a bit beyond those it has.
TileLayoutPoint tileLayoutStepOf(const TileLayout *layout, uint32_t dim, uint32_t bit);
// The element of a register in thread 0.
static inline TileLayoutPoint tileLayoutOfRegister(const TileLayout *layout, int64_t reg) {
  return tileLayoutApply(layout, (TileLayoutPoint){{(uint32_t)reg}});
}
// Where the offset lies once the padding is counted, in elements: offset + (offset / padEvery) * padAmount.
uint64_t tileLayoutPaddedOffset(const TileLayout *layout, uint64_t offset);
// Elements of memory that the padded layout spans: the padded offset of the last element, plus 1.
uint64_t tileLayoutPaddedSize(const TileLayout *layout);
bool tileLayoutEquals(const TileLayout *left, const TileLayout *right);
// Whether every element of a tile of this shape, and nothing else, has a place. `copies` (may be NULL) receives in how
// many places each lies: always equally many. The error names the first coordinate or count that is wrong.
bool tileLayoutCovers(const TileLayout *layout, const int64_t *shape, uint32_t rank, uint64_t *copies,
                      TileError *error);
// As above, for a layout that may reach beyond the shape, by less than twice its size on each axis: what lies there is
// void, places without an element. `extents` (may be NULL) receives the sizes that the layout covers: at least the
// shape's.
bool tileLayoutHolds(const TileLayout *layout, const int64_t *shape, uint32_t rank, int64_t *extents, TileError *error);
// How many positions of a dimension, from 0 on, walk an axis one by one: the widest vector access, in elements.
uint64_t tileLayoutContiguity(const TileLayout *layout, uint32_t dim, uint32_t axis);

// Building. Each returns false, with the error, where a limit above would be exceeded.

TileLayout tileLayoutEmpty(TileLayoutKind kind);
// The dimension's next bit, above those it has, with this step. Refused once the dimension has an odd factor.
bool tileLayoutAppendBit(TileLayout *layout, uint32_t dim, TileLayoutPoint step, TileError *error);
// The dimension's next odd factor. Call tileLayoutCheck when done.
bool tileLayoutAppendRepeat(TileLayout *layout, TileLayoutRepeat repeat, TileError *error);
// `size` more positions of the dimension that walk the axis by the stride: bits, then an odd factor if size has one.
bool tileLayoutAppendWalk(TileLayout *layout, uint32_t dim, uint64_t size, int32_t axis, uint64_t stride,
                          TileError *error);
// Whether odd factors are outermost on their axes: no step of a bit reaches the stride of one, and those of one axis
// nest. `culprit` (may be NULL) receives the number of the repeat at fault.
bool tileLayoutCheck(const TileLayout *layout, uint32_t *culprit, TileError *error);
// Dense memory of a shape. order[0] is the axis that moves fastest; NULL = row-major. An odd factor must be in the
// slowest axis of size > 1, else offsets are no linear layout and the error says so.
bool tileLayoutDense(const int64_t *shape, uint32_t rank, const uint32_t *order, TileLayout *layout, TileError *error);

// For the other files of this room.

// The odd factors that move along an axis, smallest stride first; returns how many.
uint32_t tileLayoutRepeatsOfAxis(const TileLayout *layout, uint32_t axis, TileLayoutRepeat *sorted);
// Bits that the steps use on an axis: the smallest w such that every step is below 2^w.
uint32_t tileLayoutAxisWidth(const TileLayout *layout, uint32_t axis);

#ifdef __cplusplus
}
#endif
