// tile.sort and tile.topk, for tile-exchange-in-shared-memory: a bitonic network over keys. A key is 64 bits in the
// order of docs/numerics.md §3, with its position behind it: no two are equal, so the result is that of a stable sort.
// Rows are filled up to a power of two with what comes last. At each step every key meets its partner, which another
// thread has stored, and keeps one of the two. Every operand is then read by position. See exchange_memory.h.
#include "lib/transforms/pipeline/exchange_memory.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/scf.h"

typedef struct Sort {
  Exchange *x;
  MlirOperation op;
  intptr_t axis;
  TileSortSpace space;
  MlirType keys, positions, indices; // tiles of rows: i64, i32, index
  MlirValue row, place;              // of each element, index
  MlirValue keyMemory, positionMemory;
} Sort;

static MlirType i64Of(const Sort *sort) { return mlirIntegerTypeGet(sort->x->builder.context, 64); }

static MlirType i32Of(const Sort *sort) { return mlirIntegerTypeGet(sort->x->builder.context, 32); }

//===--- keys -----------------------------------------------------------------------------------------===//

// Floats: as f64 their bits, negative ones reversed; -0 becomes 0 and nan the greatest.
static MlirValue keyOfFloat(TileBuilder *b, MlirValue value) {
  MlirType type = mlirValueGetType(value), wide = tileTypeWithElement(type, mlirF64TypeGet(b->context));
  MlirType word = tileTypeWithElement(type, mlirIntegerTypeGet(b->context, 64));
  if (!mlirTypeEqual(type, wide))
    value = arithExtFOpBuild(b, wide, value);
  value = arithAddFOpBuild(b, value, tileBuildFloat(b, wide, 0));
  MlirValue bits = arithBitcastOpBuild(b, word, value);
  MlirValue sign = arithShRSIOpBuild(b, bits, tileBuildInteger(b, word, 63));
  MlirValue all = tileBuildInteger(b, word, INT64_MAX);
  MlirValue key = arithXOrIOpBuild(b, bits, arithAndIOpBuild(b, sign, all));
  return arithSelectOpBuild(b, arithCmpFOpBuild(b, value, value, ArithCmpF_Uno), all, key);
}

// Integers are signed: of i1 true is -1 and the smaller. Descending: the order reversed, positions not.
static MlirValue keysOf(const Sort *sort) {
  TileBuilder *b = &sort->x->builder;
  MlirValue value = tileSortKeys(sort->op);
  MlirType type = mlirValueGetType(value), element = tileTypeGetElement(type);
  MlirType word = tileTypeWithElement(type, i64Of(sort));
  if (mlirTypeIsAFloat(element))
    value = keyOfFloat(b, value);
  else if (!mlirTypeEqual(type, word))
    value = tileBuildCast(b, mlirTypeIsAIndex(element) ? ArithOp_IndexCast : ArithOp_ExtSI, value, word);
  return tileHas(sort->op, "descending") ? arithXOrIOpBuild(b, value, tileBuildInteger(b, word, -1)) : value;
}

//===--- rows -----------------------------------------------------------------------------------------===//

// Neighbours of a row lie in neighbouring threads.
static TileLayout layoutOfRows(const Exchange *x, int64_t rows, int64_t size) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  uint32_t lanes = tessera_log2(x->threads.lanes), threads = lanes + tessera_log2(x->threads.warps);
  uint32_t along = tessera_log2((uint64_t)size), bits = along;
  while (1ll << (bits - along) < rows)
    ++bits;
  for (uint32_t bit = 0; bit < tessera_max(bits, threads); ++bit) {
    TileLayoutPoint step = {{0}};
    if (bit < bits)
      step.at[bit < along] = 1u << (bit < along ? bit : bit - along);
    tileLayoutAppendBit(&layout,
                        bit < lanes     ? TileLayoutLane
                        : bit < threads ? TileLayoutWarp
                                        : TileLayoutReg,
                        step, NULL);
  }
  return layout;
}

static MlirValue remainder(Sort *sort, MlirValue number, int64_t size) {
  return arithRemUIOpBuild(&sort->x->builder, number,
                           tileBuildInteger(&sort->x->builder, mlirValueGetType(number), size));
}

// Where in an operand the elements are that have this row and this number along the axis.
static void placesIn(Sort *sort, MlirType operand, MlirValue row, MlirValue number, MlirValue *places) {
  int64_t rows = sort->space.rows;
  for (intptr_t axis = tileTypeGetRank(operand); axis-- > 0;) {
    int64_t size = tileTypeGetSize(operand, axis);
    if (axis == sort->axis) {
      places[axis] = number;
      continue;
    }
    rows /= size;
    places[axis] = rows > 1 ? remainder(sort, row, size) : row;
    if (rows > 1)
      row = arithDivUIOpBuild(&sort->x->builder, row, tileBuildInteger(&sort->x->builder, mlirValueGetType(row), size));
  }
}

// The number of each element's row: the other axes, row by row.
static MlirValue rowsOf(Sort *sort, MlirType tile) {
  TileBuilder *b = &sort->x->builder;
  MlirValue row = {NULL};
  int64_t factor = 1;
  for (intptr_t axis = tileTypeGetRank(tile); axis-- > 0;) {
    if (axis == sort->axis)
      continue;
    MlirValue part = tileExchangeIota(sort->x, tile, axis);
    MlirType type = mlirValueGetType(part);
    part = factor == 1 ? part : arithMulIOpBuild(b, part, tileBuildInteger(&sort->x->builder, type, factor));
    row = mlirValueIsNull(row) ? part : arithAddIOpBuild(b, row, part);
    factor *= tileTypeGetSize(tile, axis);
  }
  MlirType type = tileTypeWithElement(tile, mlirIndexTypeGet(b->context));
  return mlirValueIsNull(row) ? tileBuildInteger(&sort->x->builder, type, 0) : row;
}

static MlirValue gather(Sort *sort, MlirType type, MlirValue memory, intptr_t rank, const MlirValue *places,
                        MlirValue other) {
  return tileGatherOpBuild(&sort->x->builder, type, memory, rank, places, (MlirValue){NULL}, other,
                           tileExchangeKeyword(sort->x, "drop"));
}

static void begin(Sort *sort) {
  Exchange *x = sort->x;
  int64_t sizes[] = {sort->space.rows, sort->space.padded};
  TileLayout layout = layoutOfRows(x, sizes[0], sizes[1]);
  MlirAttribute attribute = tileLayoutAttrGet(x->builder.context, &layout);
  sort->keys = tileTileTypeGet(2, sizes, i64Of(sort), attribute);
  sort->positions = tileTypeWithElement(sort->keys, i32Of(sort));
  sort->indices = tileTypeWithElement(sort->keys, mlirIndexTypeGet(x->builder.context));
  sort->row = tileExchangeIota(x, sort->keys, 0);
  sort->place = tileExchangeIota(x, sort->keys, 1);
  sort->keyMemory = tileExchangeMemrefLike(x, sort->keys);
  sort->positionMemory = tileExchangeMemrefLike(x, sort->positions);
}

//===--- the network ----------------------------------------------------------------------------------===//

typedef struct Keys {
  MlirValue key, position;
} Keys;

static void store(const Sort *sort, MlirValue tile, MlirValue memory) {
  MlirValue origin[MaxRank];
  tileExchangeOrigin(sort->x, origin);
  tileExchangeStoreAt(sort->x, tile, memory, origin);
}

// 1 << bit in all elements, i32.
static MlirValue powerOfTwo(const Sort *sort, MlirValue bit) {
  TileBuilder *b = &sort->x->builder;
  MlirValue word = tileBuildCast(b, ArithOp_IndexCast, bit, i32Of(sort));
  MlirValue power = arithShLIOpBuild(b, tileBuildInteger(b, i32Of(sort), 1), word);
  return tileBroadcastOpBuild(b, sort->positions, power);
}

static MlirValue lacks(const Sort *sort, MlirValue place, MlirValue bit) {
  TileBuilder *b = &sort->x->builder;
  return arithCmpIOpBuild(b, arithAndIOpBuild(b, place, bit), tileBuildInteger(b, sort->positions, 0), ArithCmpI_Eq);
}

// Partners are `distance` apart. Blocks of `run` elements alternate in direction.
static Keys meetPartner(Sort *sort, Keys own, MlirValue run, MlirValue distance) {
  TileBuilder *b = &sort->x->builder;
  MlirValue place = tileBuildCast(b, ArithOp_IndexCast, sort->place, sort->positions);
  MlirValue partner = arithXOrIOpBuild(b, place, distance), there[] = {sort->row, partner};
  store(sort, own.key, sort->keyMemory);
  store(sort, own.position, sort->positionMemory);
  Keys other = {gather(sort, sort->keys, sort->keyMemory, 2, there, (MlirValue){NULL}),
                gather(sort, sort->positions, sort->positionMemory, 2, there, (MlirValue){NULL})};
  MlirValue isLess = arithCmpIOpBuild(b, own.key, other.key, ArithCmpI_Slt);
  MlirValue isEqual = arithCmpIOpBuild(b, own.key, other.key, ArithCmpI_Eq);
  MlirValue isEarlier = arithCmpIOpBuild(b, own.position, other.position, ArithCmpI_Slt);
  MlirValue isBefore = arithOrIOpBuild(b, isLess, arithAndIOpBuild(b, isEqual, isEarlier));
  MlirValue wantsLast = arithXOrIOpBuild(b, lacks(sort, place, distance), lacks(sort, place, run));
  MlirValue keeps = arithXOrIOpBuild(b, isBefore, wantsLast);
  return (Keys){arithSelectOpBuild(b, keeps, own.key, other.key),
                arithSelectOpBuild(b, keeps, own.position, other.position)};
}

typedef struct Loop {
  MlirOperation op;
  TileBuilder outside;
  MlirValue number;
} Loop;

// The keys are the loop's from here on.
static Loop beginLoop(Sort *sort, MlirValue end, Keys *keys) {
  TileBuilder *b = &sort->x->builder;
  MlirBlock body;
  const MlirValue initial[] = {keys->key, keys->position};
  Loop loop = {.op = tileBuildFor(b, tileBuildIndex(b, 0), end, tileBuildIndex(b, 1), 2, initial, &body)};
  loop.outside = *b;
  loop.number = mlirBlockGetArgument(body, 0);
  *keys = (Keys){mlirBlockGetArgument(body, 1), mlirBlockGetArgument(body, 2)};
  *b = tileBuilderAtEnd(body, b->location);
  return loop;
}

static void endLoop(Sort *sort, const Loop *loop, Keys *keys) {
  const MlirValue values[] = {keys->key, keys->position};
  tileBuildYield(&sort->x->builder, 2, values);
  sort->x->builder = loop->outside;
  *keys = (Keys){scfForOpGetResults(loop->op, 0), scfForOpGetResults(loop->op, 1)};
}

static Keys runNetwork(Sort *sort, Keys keys) {
  TileBuilder *b = &sort->x->builder;
  Loop stage = beginLoop(sort, tileBuildIndex(b, tessera_log2((uint64_t)sort->space.padded)), &keys);
  MlirValue next = tileBuildAdd(b, stage.number, tileBuildIndex(b, 1)), run = powerOfTwo(sort, next);
  Loop step = beginLoop(sort, next, &keys);
  keys = meetPartner(sort, keys, run, powerOfTwo(sort, tileBuildSub(b, stage.number, step.number)));
  endLoop(sort, &step, &keys);
  endLoop(sort, &stage, &keys);
  return keys;
}

//===--- results --------------------------------------------------------------------------------------===//

// Element (row, k) of a result is the operand's at the k-th position of the sorted row.
static MlirValue readSorted(Sort *sort, MlirType type, MlirValue memory) {
  MlirValue row = rowsOf(sort, type), there[] = {row, tileExchangeIota(sort->x, type, sort->axis)}, places[MaxRank];
  MlirValue position =
      gather(sort, tileTypeWithElement(type, i32Of(sort)), sort->positionMemory, 2, there, (MlirValue){NULL});
  for (intptr_t axis = 0; axis < tileTypeGetRank(type); ++axis)
    places[axis] = axis == sort->axis ? position : tileExchangeIota(sort->x, type, axis);
  return gather(sort, type, memory, tileTypeGetRank(type), places, (MlirValue){NULL});
}

bool tileExchangeSort(Exchange *x, MlirOperation op, MlirValue *results) {
  Sort sort = {.x = x, .op = op, .space = tileSortSpaceOf(op)};
  MlirType type = mlirValueGetType(tileSortKeys(op));
  MlirValue places[MaxRank], keys;
  sort.axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis"));
  begin(&sort);
  keys = tileExchangeShare(x, keysOf(&sort));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    results[i] = tileExchangeShare(x, mlirOperationGetOperand(op, i));
  placesIn(&sort, type, sort.row, sort.place, places);
  MlirValue last = tileBuildInteger(&x->builder, sort.keys, INT64_MAX);
  Keys sorted = {gather(&sort, sort.keys, keys, tileTypeGetRank(type), places, last),
                 tileBuildCast(&x->builder, ArithOp_IndexCast, sort.place, sort.positions)};
  sorted = runNetwork(&sort, sorted);
  store(&sort, sorted.position, sort.positionMemory);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    results[i] = readSorted(&sort, tileResultType(op, i), results[i]);
  return true;
}
