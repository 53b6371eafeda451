// tile.sort and tile.topk, for tile-exchange-in-shared-memory: a bitonic network over keys. Keys are integers in the
// order of docs/numerics.md §3, with their positions behind them: no two are equal, so the result is that of a stable
// sort. A key of up to 32 bits and its position are one word of 64 bits; a wider key has its position in a second
// memory. Rows are filled up to a power of two with what comes last. At each step a thread reads pairs of partners and
// writes them back in order. No other thread touches them, which only this file knows: so the keys lie in memory that
// the kernel's own tile.sync orders, one for each step. Every operand is then read by position. See exchange_memory.h.
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
  int64_t count;             // of elements in memory: each thread has as many pairs as any other
  bool isPacked;             // a key and its position are one word
  MlirValue number, twice;   // of each pair, i32
  MlirValue keys, positions; // memory of all rows, one behind the other: i64, i32; packed: no positions
} Sort;

enum { PositionBits = 32 };

static MlirType i64Of(const Sort *sort) { return mlirIntegerTypeGet(sort->x->builder.context, 64); }

static MlirType i32Of(const Sort *sort) { return mlirIntegerTypeGet(sort->x->builder.context, 32); }

//===--- keys -----------------------------------------------------------------------------------------===//

static bool fitsWord(MlirType element) {
  return !mlirTypeIsAIndex(element) && tileElementWidth(element) <= 64 - PositionBits;
}

// Floats: as f32 or f64 their bits, negative ones reversed; -0 becomes 0 and nan the greatest.
static MlirValue keyOfFloat(const Sort *sort, MlirValue value) {
  TileBuilder *b = &sort->x->builder;
  MlirType type = mlirValueGetType(value),
           element = sort->isPacked ? mlirF32TypeGet(b->context) : mlirF64TypeGet(b->context);
  MlirType wide = tileTypeWithElement(type, element);
  MlirType word = tileTypeWithElement(type, sort->isPacked ? i32Of(sort) : i64Of(sort));
  if (!mlirTypeEqual(type, wide))
    value = arithExtFOpBuild(b, wide, value);
  value = arithAddFOpBuild(b, value, tileBuildFloat(b, wide, 0));
  MlirValue bits = arithBitcastOpBuild(b, word, value);
  MlirValue sign = arithShRSIOpBuild(b, bits, tileBuildInteger(b, word, sort->isPacked ? 31 : 63));
  MlirValue all = tileBuildInteger(b, word, sort->isPacked ? INT32_MAX : INT64_MAX);
  MlirValue key = arithXOrIOpBuild(b, bits, arithAndIOpBuild(b, sign, all));
  return arithSelectOpBuild(b, arithCmpFOpBuild(b, value, value, ArithCmpF_Uno), all, key);
}

// Integers are signed: of i1 true is -1 and the smaller. Descending: the order reversed, positions not.
static MlirValue keysOf(const Sort *sort) {
  TileBuilder *b = &sort->x->builder;
  MlirValue value = tileSortKeys(sort->op);
  MlirType type = mlirValueGetType(value), element = tileTypeGetElement(type);
  MlirType word = tileTypeWithElement(type, sort->isPacked ? i32Of(sort) : i64Of(sort));
  if (mlirTypeIsAFloat(element))
    value = keyOfFloat(sort, value);
  else if (!mlirTypeEqual(type, word))
    value = tileBuildCast(b, mlirTypeIsAIndex(element) ? ArithOp_IndexCast : ArithOp_ExtSI, value, word);
  return tileHas(sort->op, "descending") ? arithXOrIOpBuild(b, value, tileBuildInteger(b, word, -1)) : value;
}

// Signed comparison of such words compares keys, then positions, which are not negative.
static MlirValue packed(const Sort *sort, MlirValue key, MlirValue position) {
  TileBuilder *b = &sort->x->builder;
  MlirType word = tileTypeWithElement(mlirValueGetType(key), i64Of(sort));
  MlirValue high = tileBuildCast(b, ArithOp_ExtSI, key, word), low = tileBuildCast(b, ArithOp_ExtUI, position, word);
  return arithOrIOpBuild(b, arithShLIOpBuild(b, high, tileBuildInteger(b, word, PositionBits)), low);
}

//===--- places ---------------------------------------------------------------------------------------===//

// Tiles of `count` numbers, neighbours in neighbouring threads.
static MlirType numbersOf(const Sort *sort, int64_t count) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  const TileExchange *threads = &sort->x->threads;
  uint32_t lanes = tessera_log2(threads->lanes), all = lanes + tessera_log2(threads->warps), bits = 0;
  while (1ll << bits < count)
    ++bits;
  for (uint32_t bit = 0; bit < tessera_max(bits, all); ++bit) {
    uint32_t dim = bit < lanes ? TileLayoutLane : bit < all ? TileLayoutWarp : TileLayoutReg;
    tileLayoutAppendBit(&layout, dim, (TileLayoutPoint){{bit < bits ? 1u << bit : 0}}, NULL);
  }
  return tileTileTypeGet(1, &count, i32Of(sort), tileLayoutAttrGet(sort->x->builder.context, &layout));
}

static MlirValue along(Sort *sort, MlirType tile, int64_t axis) {
  MlirType type = tileTypeWithElement(tile, i32Of(sort));
  MlirAttribute dim = mlirIntegerAttrGet(i64Of(sort), axis);
  return tileIotaOpBuild(&sort->x->builder, type, (MlirValue){NULL}, dim);
}

static MlirValue scaled(Sort *sort, MlirValue number, int64_t factor) {
  TileBuilder *b = &sort->x->builder;
  return factor == 1 ? number : arithMulIOpBuild(b, number, tileBuildInteger(b, mlirValueGetType(number), factor));
}

// Where each element of a tile lies in memory: the other axes number the rows, row by row.
static MlirValue placesOf(Sort *sort, MlirType tile) {
  MlirValue place = along(sort, tile, sort->axis);
  int64_t factor = sort->space.padded;
  for (intptr_t axis = tileTypeGetRank(tile); axis-- > 0;) {
    if (axis == sort->axis)
      continue;
    place = arithAddIOpBuild(&sort->x->builder, place, scaled(sort, along(sort, tile, axis), factor));
    factor *= tileTypeGetSize(tile, axis);
  }
  return place;
}

//===--- memory ---------------------------------------------------------------------------------------===//

// Ordered by the kernel's own tile.sync.
static MlirValue memoryOf(Sort *sort, MlirType element) {
  MlirAttribute space = tileExchangeKeyword(sort->x, "shared");
  return tileAllocOpBuild(&sort->x->builder, mlirMemRefTypeContiguousGet(element, 1, &sort->count, space));
}

static MlirValue gather(Sort *sort, MlirType type, MlirValue memory, intptr_t rank, const MlirValue *places,
                        MlirValue mask) {
  return tileGatherOpBuild(&sort->x->builder, type, memory, rank, places, mask, (MlirValue){NULL},
                           tileExchangeKeyword(sort->x, "drop"));
}

// `mask` null: all elements.
static MlirValue read(Sort *sort, MlirValue memory, MlirValue place, MlirValue mask) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(memory));
  return gather(sort, tileTypeWithElement(mlirValueGetType(place), element), memory, 1, &place, mask);
}

static void write(Sort *sort, MlirValue memory, MlirValue place, MlirValue mask, MlirValue value) {
  tileScatterOpBuild(&sort->x->builder, value, memory, 1, &place, mask, tileExchangeKeyword(sort->x, "drop"));
}

static bool isInLoop(MlirOperation op) {
  for (op = mlirOperationGetParentOperation(op); !tileKernelOpIsA(op); op = mlirOperationGetParentOperation(op))
    if (scfForOpIsA(op) || scfWhileOpIsA(op))
      return true;
  return false;
}

// `mask` null: all elements.
static void writeKeys(Sort *sort, MlirValue place, MlirValue mask, MlirValue key, MlirValue position) {
  if (sort->isPacked) {
    write(sort, sort->keys, place, mask, packed(sort, key, position));
    return;
  }
  write(sort, sort->keys, place, mask, key);
  write(sort, sort->positions, place, mask, position);
}

// What fills a row up comes last, in both directions. Rows that the tile does not have are filled too.
static void fillRows(Sort *sort) {
  TileBuilder *b = &sort->x->builder;
  int64_t rows = sort->space.rows * sort->space.padded;
  if (sort->space.padded == sort->space.size && rows == sort->count)
    return;
  MlirType type = numbersOf(sort, sort->count);
  MlirType words = tileTypeWithElement(type, sort->isPacked ? i32Of(sort) : i64Of(sort));
  MlirValue place = along(sort, type, 0);
  MlirValue position = arithAndIOpBuild(b, place, tileBuildInteger(b, type, sort->space.padded - 1));
  MlirValue isMissing = arithCmpIOpBuild(b, position, tileBuildInteger(b, type, sort->space.size), ArithCmpI_Sge);
  if (rows < sort->count)
    isMissing =
        arithOrIOpBuild(b, isMissing, arithCmpIOpBuild(b, place, tileBuildInteger(b, type, rows), ArithCmpI_Sge));
  writeKeys(sort, place, isMissing, tileBuildInteger(b, words, sort->isPacked ? INT32_MAX : INT64_MAX), position);
}

static void begin(Sort *sort) {
  MlirValue keys = keysOf(sort), none = {NULL};
  MlirType type = mlirValueGetType(keys);
  sort->keys = memoryOf(sort, i64Of(sort));
  if (!sort->isPacked)
    sort->positions = memoryOf(sort, i32Of(sort));
  if (isInLoop(sort->op)) // the last round has been read
    tileSyncOpBuild(&sort->x->builder);
  MlirValue place = placesOf(sort, type);
  writeKeys(sort, place, none, keys, along(sort, type, sort->axis));
  fillRows(sort);
}

//===--- the network ----------------------------------------------------------------------------------===//

typedef struct Pair {
  MlirValue place[2], key[2], position[2];
} Pair;

// The n-th pair begins at element 2n - n mod distance.
static Pair readPairs(Sort *sort, MlirValue distance) {
  TileBuilder *b = &sort->x->builder;
  MlirType type = mlirValueGetType(distance);
  MlirValue none = {NULL}, last = tileBuildInteger(b, type, sort->count - 1);
  MlirValue below = arithAndIOpBuild(b, sort->number, arithSubIOpBuild(b, distance, tileBuildInteger(b, type, 1)));
  MlirValue first = arithSubIOpBuild(b, sort->twice, below);
  Pair pair = {.place = {first, arithAddIOpBuild(b, first, distance)}};
  for (int i = 0; i < 2; ++i) {
    pair.place[i] = arithAndIOpBuild(b, pair.place[i], last); // which says that no place is outside
    pair.key[i] = read(sort, sort->keys, pair.place[i], none);
    if (!sort->isPacked)
      pair.position[i] = read(sort, sort->positions, pair.place[i], none);
  }
  return pair;
}

static MlirValue isBefore(Sort *sort, const Pair *pair) {
  TileBuilder *b = &sort->x->builder;
  MlirValue isLess = arithCmpIOpBuild(b, pair->key[0], pair->key[1], ArithCmpI_Slt);
  if (sort->isPacked)
    return isLess;
  MlirValue isEqual = arithCmpIOpBuild(b, pair->key[0], pair->key[1], ArithCmpI_Eq);
  MlirValue isEarlier = arithCmpIOpBuild(b, pair->position[0], pair->position[1], ArithCmpI_Slt);
  return arithOrIOpBuild(b, isLess, arithAndIOpBuild(b, isEqual, isEarlier));
}

// Partners are `distance` apart. Where the bit `direction` of a place is set, the greater one comes first.
static void orderPairs(Sort *sort, MlirValue direction, MlirValue distance) {
  TileBuilder *b = &sort->x->builder;
  MlirType type = mlirValueGetType(sort->number);
  Pair pair = readPairs(sort, tileBroadcastOpBuild(b, type, distance));
  MlirValue none = {NULL};
  MlirValue bit = arithAndIOpBuild(b, pair.place[0], tileBroadcastOpBuild(b, type, direction));
  MlirValue isUpward = arithCmpIOpBuild(b, bit, tileBuildInteger(b, type, 0), ArithCmpI_Eq);
  MlirValue isWrong = arithXOrIOpBuild(b, isBefore(sort, &pair), isUpward);
  for (int i = 0; i < 2; ++i) { // without branches: each thread writes what it has read
    write(sort, sort->keys, pair.place[i], none, arithSelectOpBuild(b, isWrong, pair.key[!i], pair.key[i]));
    if (!sort->isPacked)
      write(sort, sort->positions, pair.place[i], none,
            arithSelectOpBuild(b, isWrong, pair.position[!i], pair.position[i]));
  }
  tileSyncOpBuild(b);
}

// The loop's number as i32; code goes into its body until endLoop.
static MlirValue beginLoop(Sort *sort, MlirValue end, TileBuilder *outside) {
  TileBuilder *b = &sort->x->builder;
  MlirBlock body;
  tileBuildFor(b, tileBuildIndex(b, 0), end, tileBuildIndex(b, 1), 0, NULL, &body);
  *outside = *b;
  *b = tileBuilderAtEnd(body, b->location);
  return mlirBlockGetArgument(body, 0);
}

static void endLoop(Sort *sort, const TileBuilder *outside) {
  tileBuildYield(&sort->x->builder, 0, NULL);
  sort->x->builder = *outside;
}

static MlirValue powerOfTwo(Sort *sort, MlirValue bit) {
  TileBuilder *b = &sort->x->builder;
  MlirValue word = tileBuildCast(b, ArithOp_IndexCast, bit, i32Of(sort));
  return arithShLIOpBuild(b, tileBuildInteger(b, i32Of(sort), 1), word);
}

static void runNetwork(Sort *sort) {
  TileBuilder *b = &sort->x->builder, outside, between;
  int64_t padded = sort->space.padded;
  tileSyncOpBuild(b);
  if (padded == 1)
    return;
  sort->number = along(sort, numbersOf(sort, sort->count / 2), 0);
  sort->twice = arithAddIOpBuild(b, sort->number, sort->number);
  MlirValue stage = beginLoop(sort, tileBuildIndex(b, tessera_log2((uint64_t)padded)), &outside);
  MlirValue next = tileBuildAdd(b, stage, tileBuildIndex(b, 1));
  MlirValue direction = arithAndIOpBuild(b, powerOfTwo(sort, next), tileBuildInteger(b, i32Of(sort), padded - 1));
  MlirValue step = beginLoop(sort, next, &between);
  orderPairs(sort, direction, powerOfTwo(sort, tileBuildSub(b, stage, step)));
  endLoop(sort, &between);
  endLoop(sort, &outside);
}

//===--- results --------------------------------------------------------------------------------------===//

// Element (row, k) of a result is the operand's at the k-th position of the sorted row.
static MlirValue readSorted(Sort *sort, MlirType type, MlirValue memory) {
  MlirValue none = {NULL}, places[MaxRank];
  MlirValue position = read(sort, sort->isPacked ? sort->keys : sort->positions, placesOf(sort, type), none);
  if (sort->isPacked)
    position = tileBuildCast(&sort->x->builder, ArithOp_TruncI, position, tileTypeWithElement(type, i32Of(sort)));
  for (intptr_t axis = 0; axis < tileTypeGetRank(type); ++axis)
    places[axis] = axis == sort->axis ? position : along(sort, type, axis);
  return gather(sort, type, memory, tileTypeGetRank(type), places, none);
}

// A power of two, so that places are known to be inside, and at least two elements for each thread: no thread is
// without a pair, so no access needs a mask. A second thread with a pair would read what the first one writes.
static int64_t countOf(const Sort *sort) {
  int64_t count = 2 * (int64_t)sort->x->threads.lanes * sort->x->threads.warps;
  while (count < sort->space.rows * sort->space.padded)
    count *= 2;
  return count;
}

bool tileExchangeSort(Exchange *x, MlirOperation op, MlirValue *results) {
  Sort sort = {.x = x, .op = op, .space = tileSortSpaceOf(op)};
  sort.isPacked = fitsWord(tileTypeGetElement(mlirValueGetType(tileSortKeys(op))));
  sort.axis = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "axis"));
  sort.count = countOf(&sort);
  begin(&sort);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    results[i] = tileExchangeShare(x, mlirOperationGetOperand(op, i));
  runNetwork(&sort);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    results[i] = readSorted(&sort, tileResultType(op, i), results[i]);
  return true;
}
