// Builds one tile.kernel for a structured op, which may be a group's, and the tile.launch that runs it.
//
//   TileKernelEmission e;
//   tileKernelBegin(&e, &structured, "fold");             // kernel with its parameters, program ids decoded
//   MlirValue x = tileKernelLoad(&e, i, NULL, false);     // operand i as a tile over the iteration tile's axes
//   …tileKernelCloneValue…  tileKernelStore(&e, output, value);
//   tileKernelEnd(&e);                                    // terminator, launch, replaces the linalg op
//
// Kernels of one op that an elementwise op may follow begin with tileOpKernelBegin (group_emission.h).
//
// The grid: axis 0 runs over the tiles of the last parallel dimension, axis 1 of the one before, axis 2 of the rest.
#pragma once

#include "dialects/tile/combiner.h"
#include "lib/analysis/structured.h"

typedef struct TileKernelEmission {
  const TileStructured *whole;      // the op that the launch is of
  const TileStructured *structured; // the op that is computed now: the whole, or a node of its group
  struct TileGroupEmission *group;  // the group whose node it is; null: none
  TileBuilder host, body;
  MlirOperation kernel;
  MlirValue parameters[MaxOperands + MaxCaptures + MaxDims]; // operands, then captures; what tells a node's extents
  MlirValue index[MaxDims]; // index of the current tile (tile > 1) or element along each dim
  bool isLinear;            // all programs along grid axis 0
  const int *from;          // the number of each dimension of the linalg op; null: its own
} TileKernelEmission;

// Maps values of the linalg body to tiles while it is cloned.
typedef struct TileBodyMap {
  intptr_t count;
  struct {
    MlirValue from, to;
  } entries[MaxBodyValues + MaxOperands];
} TileBodyMap;

// Tiles are those of `structured`, and indices may change, until tileKernelLeave gives back what was before.
typedef struct TileKernelScope {
  const TileStructured *structured;
  MlirValue index[MaxDims];
} TileKernelScope;
TileKernelScope tileKernelEnter(TileKernelEmission *emission, const TileStructured *structured);
void tileKernelLeave(TileKernelEmission *emission, const TileKernelScope *scope);

void tileKernelBegin(TileKernelEmission *emission, const TileStructured *structured, const char *kind);
void tileKernelEnd(TileKernelEmission *emission);

// The type that a host's tensor or number has in a kernel.
MlirType tileKernelParameterType(MlirValue host);
// The type of an operand, and what its launch takes: the bytes of packed elements (lib/analysis/low_bit).
MlirType tileKernelInputType(MlirValue host);
MlirValue tileKernelHostInput(TileBuilder *host, MlirValue value);
// The type of a tile over the iteration tile's axes (a scalar type when there are none).
MlirType tileKernelTileType(const TileKernelEmission *emission, MlirType element);
// As above, without the reduction dimensions.
MlirType tileKernelOutputTileType(const TileKernelEmission *emission, MlirType element);
// The extent of a dimension inside the kernel.
MlirValue tileKernelExtent(TileKernelEmission *emission, int dim);
// Number of tiles along a dimension: ceil(extent / tile).
MlirValue tileKernelNumTiles(TileKernelEmission *emission, TileBuilder *builder, int dim, MlirValue extent);

// `index`, known to be one of 0 … count - 1: what is read there then needs no test of edges.
MlirValue tileKernelAssumeBelow(TileKernelEmission *emission, MlirValue index, int64_t count);
// The number of a tile of `size` along the dimension: known to be below their number where the extent is known.
MlirValue tileKernelAssumeTile(TileKernelEmission *emission, MlirValue index, int dim, int64_t size);

// Loads operand `index` at the current tile. With `overOutput` the result has the output's axes only.
// `pad` is a view's padding keyword or null for zero.
MlirValue tileKernelLoad(TileKernelEmission *emission, int index, const char *pad, bool overOutput);
// Stores a tile over the output's axes to operand `index`.
void tileKernelStore(TileKernelEmission *emission, int index, MlirValue value);
// Asks for the memory of operand `index`'s current tile, to be read or written soon.
void tileKernelPrefetch(TileKernelEmission *emission, int index, bool isWritten);
// What output `index` starts from: a constant, or its tile in memory.
MlirValue tileKernelInitial(TileKernelEmission *emission, int index);
// tile.reduce {operation} over the reduction dimensions; `tile` itself when none of them has an axis.
MlirValue tileKernelReduce(TileKernelEmission *emission, const char *operation, MlirValue tile);
// As above, over any axes.
MlirValue tileKernelFold(TileKernelEmission *emission, const char *operation, MlirValue tile, MlirType type,
                         intptr_t count, const int64_t *axes);
// Operand `index`'s current tile as a matrix over two tiled dimensions, zero past the edges.
MlirValue tileKernelLoadMatrix(TileKernelEmission *emission, int index, const int dims[2]);
// Copies operand `index`'s current tile, its axes in the order of `dims` (two dimensions), into a local buffer.
void tileKernelPack(TileKernelEmission *emission, int index, const int dims[2], MlirValue buffer);
// `length` elements of operand `index`, which has terms, as a tile of 1 × length: those from index at[d] of each
// dimension d on that lie one after another.
MlirValue tileKernelLoadRun(TileKernelEmission *emission, int index, const MlirValue *at, int64_t length);
// Reads from operand `index`, a constant of panels × depth × columns: `rows` from `row` on, and the first `columns`, of
// a panel. A constant with `group` rows side by side (tileOperandConstantPanels) becomes the tile of its rows.
MlirValue tileKernelLoadPanel(TileKernelEmission *emission, int index, MlirValue panel, MlirValue row, int64_t rows,
                              int64_t columns, int64_t group);
// A row-major buffer in local memory; rows × columns of it from (row, column) on (null: 0); the whole as a tile.
MlirType tileKernelBufferType(TileKernelEmission *emission, int64_t rows, int64_t columns, MlirType element);
// As above, with `group` neighbouring rows side by side.
MlirType tileKernelGroupedBufferType(TileKernelEmission *emission, int64_t rows, int64_t columns, MlirType element,
                                     int64_t group);
MlirValue tileKernelSlice(TileKernelEmission *emission, MlirValue buffer, int64_t rows, int64_t columns, MlirValue row,
                          MlirValue column);
MlirValue tileKernelLoadBuffer(TileKernelEmission *emission, MlirValue buffer);
// for %i = 0 to %end step %step, carrying `count` values; returns %i. e->body is inside until the loop is closed;
// `carried` are the loop's arguments inside, what it yields when it is closed, and its results afterwards.
typedef struct TileKernelLoop {
  MlirOperation op;
  TileBuilder outer;
  intptr_t count;
  MlirValue *carried;
} TileKernelLoop;
MlirValue tileKernelOpenLoop(TileKernelEmission *emission, MlirValue end, int64_t step, intptr_t count,
                             MlirValue *carried, TileKernelLoop *loop);
// The loop over the tiles of a dimension, whose number is e->index[dim] inside.
void tileKernelOpenTiles(TileKernelEmission *emission, int dim, intptr_t count, MlirValue *carried,
                         TileKernelLoop *loop);
void tileKernelCloseLoop(TileKernelEmission *emission, const TileKernelLoop *loop);
// if (condition) … else …: e->body is inside the first branch, after tileKernelElse inside the second, and after
// tileKernelCloseBranch behind both. A branch gives `value` (null: nothing); returns the value that was given. Without
// tileKernelElse there is no second branch.
typedef struct TileKernelBranch {
  TileBuilder outer;
  MlirRegion regions[2];
} TileKernelBranch;
TileKernelBranch tileKernelOpenBranch(TileKernelEmission *emission);
void tileKernelElse(TileKernelEmission *emission, TileKernelBranch *branch, MlirValue value);
MlirValue tileKernelCloseBranch(TileKernelEmission *emission, TileKernelBranch *branch, MlirValue condition,
                                MlirValue value);
// Maps the arguments `begin` to `end` - 1 of the body, which are used and not mapped yet, to loads of these operands.
void tileKernelMapInputs(TileKernelEmission *emission, TileBodyMap *map, int begin, int end);
// The position along dimension `dim` of every element, as a tile of `tile`'s type (of indices).
MlirValue tileKernelPosition(TileKernelEmission *emission, int dim, MlirType tile);
// A tile of i1: true where the position along dimension `dim`, which has an axis, is inside. The second for a tile of
// any shape, which the dimension runs along `axis` of.
MlirValue tileKernelInside(TileKernelEmission *emission, int dim);
MlirValue tileKernelInsideAlong(TileKernelEmission *emission, int dim, int64_t axis, MlirType tile);
MlirValue tileKernelConstant(TileKernelEmission *emission, MlirAttribute value, MlirType tile); // in every element
// `tile` with the number `value` past the end of dimension `dim`, which the tile runs along `axis` of.
MlirValue tileKernelFillPastEnd(TileKernelEmission *emission, MlirValue tile, int dim, int64_t axis,
                                MlirAttribute value);
// Adds `count` axes to a tile, or all axes to a scalar.
MlirValue tileKernelBroadcast(TileKernelEmission *emission, MlirValue value, MlirType tile, intptr_t count,
                              const int64_t *axes);
// Row statistics (maximum, sum) spread over the reduction dimensions of `tile`.
MlirValue tileKernelSpreadRow(TileKernelEmission *emission, MlirValue row, MlirType tile);
// The tile or number with elements of another float type, rounded where these are narrower.
MlirValue tileKernelCast(TileKernelEmission *emission, MlirValue tile, MlirType element);
// A matrix with its axes swapped.
MlirValue tileKernelSwapped(TileKernelEmission *emission, MlirValue matrix);
// Spreads a scalar over a tile type (returns it as it is when the type is a scalar).
MlirValue tileKernelSplat(TileKernelEmission *emission, MlirValue scalar, MlirType tile);

void tileBodyMapSet(TileBodyMap *map, MlirValue from, MlirValue to);
MlirValue tileBodyMapGet(const TileBodyMap *map, MlirValue from); // null when absent
// The tile that stands for `value` of the body, cloning what it needs first. Tiles have the iteration tile's shape.
MlirValue tileKernelCloneValue(TileKernelEmission *emission, TileBodyMap *map, MlirValue value);
