// Layouts made from layouts: composition, inverses, conversion, product, division, and work on single dimensions and
// axes. Why: what a pass needs to know about two layouts (can this fragment load from that buffer, which lanes exchange
// what, is
//   this tile a tiling of that atom) is one of these functions.
// Expects: canonical layouts; `result` may be one of the arguments. Leaves: a canonical result, or false with the
// reason.
//
//   "Where in shared memory does my fragment lie?"       tileLayoutConvert(&fragment, &shared, shape, 2, &to, &error)
//      → reg [...], lane [...] whose only axis d0 is the offset: apply it to (register, lane) to get the address.
//   "Is this accumulator the atom's fragment, tiled?"    tileLayoutDivide(&accumulator, &atom, &tiling, &error)
//   "Row maximum of it"                                  tileLayoutRemoveAxis(&accumulator, 1, &rows)
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// x ↦ outer(inner(x)): axis i of `inner` is read as dimension i of `outer`. Fails if inner leaves outer's sizes, or
// walks with an odd factor through positions that are bits. The padding of the result is inner's.
bool tileLayoutCompose(const TileLayout *outer, const TileLayout *inner, TileLayout *result, TileError *error);

// A layout of kind TileLayoutCoordinates that maps each element of the shape to a place where it lies: dimension i of
// the inverse is axis i of `layout`, axis i of the inverse is dimension i of `layout`. layout(inverse(c)) = c. Of
// several copies the one with the lowest registers, lanes, … is taken. Fails if the layout does not cover the shape.
bool tileLayoutRightInverse(const TileLayout *layout, const int64_t *shape, uint32_t rank, TileLayout *inverse,
                            TileError *error);

// The other way round: inverse(layout(x)) = x for every index. Fails if two indices hold the same element. Coordinates
// that the layout never reaches are mapped anywhere.
bool tileLayoutLeftInverse(const TileLayout *layout, TileLayout *inverse, TileError *error);

// For each index of `from`, the index of `to` at which the same element of the tile lies (copy 0 of several): the
// composition of `from` with the right inverse of `to`. Axis i of the result is dimension i of `to`. To pull instead
// of push, swap the arguments. Both must cover the shape.
bool tileLayoutConvert(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                       TileLayout *result, TileError *error);

// `inner` repeated by `outer`, whose coordinates count whole inner tiles: in each dimension inner's bits come first,
// and outer's steps are multiplied by inner's extents. Fails if an odd factor would no longer be outermost.
bool tileLayoutProduct(const TileLayout *inner, const TileLayout *outer, TileLayout *result, TileError *error);

// The `outer` with product(inner, outer) = layout; fails if the layout is no tiling of inner, saying where it differs.
bool tileLayoutDivide(const TileLayout *layout, const TileLayout *inner, TileLayout *outer, TileError *error);

// A fragment tiled over a shape by registers (or offsets): order[0] is the axis repeated first, NULL = last axis
// first.
bool tileLayoutTile(const TileLayout *fragment, const int64_t *shape, uint32_t rank, const uint32_t *order,
                    TileLayout *result, TileError *error);

// The layout with only the dimensions in the mask (bit i = dimension i); the others are held at 0.
void tileLayoutRestrict(const TileLayout *layout, uint32_t dimMask, TileLayout *result);

// The linear part as columns over GF(2), in the order of the dimensions: axis after axis, axis i `width[i]` bits wide.
void tileLayoutColumns(const TileLayout *layout, const uint32_t *width, uint64_t *columns);

// The layout of a reduction over the axis: the axes above move down by one. Registers (or offsets) that moved along
// this axis only are gone; lanes, warps and blocks that did now hold copies.
void tileLayoutRemoveAxis(const TileLayout *layout, uint32_t axis, TileLayout *result);

// The layout with a new axis of size 1 in this place; the axes from there on move up. Fails at the 9th axis.
bool tileLayoutInsertAxis(const TileLayout *layout, uint32_t axis, TileLayout *result, TileError *error);

// Axis i of the result is axis order[i] of the layout, as `tile.transpose %x [order]`. `order` is a permutation of
// `rank` axes.
bool tileLayoutTranspose(const TileLayout *layout, const uint32_t *order, uint32_t rank, TileLayout *result,
                         TileError *error);

// The layout of the same elements seen in another shape of as many elements, in row-major order, as `tile.reshape`.
bool tileLayoutReshape(const TileLayout *layout, const int64_t *from, uint32_t fromRank, const int64_t *to,
                       uint32_t toRank, TileLayout *result, TileError *error);

// Whether such a change of shape is linear at all: not if odd factors of one shape meet no odd factors of the other at
// the same stride (5x48 seen as 24x10). No layout then has a reshaped one, and the elements must be moved.
bool tileLayoutIsReshapeLinear(const int64_t *from, uint32_t fromRank, const int64_t *to, uint32_t toRank);

#ifdef __cplusplus
}
#endif
