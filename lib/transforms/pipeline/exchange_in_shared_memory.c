// tile-exchange-in-shared-memory{chip=NAME}: elements that must go from one thread to another are stored and loaded.
// Expects: scheduled kernels. Leaves: `tile.convert_layout` only between registers and lanes; `reshape`, `slice`,
//   `insert` and `cat` only where each thread has what it needs; no `histogram`, no `gather` on the chip; products of
//   the atom fma whose threads have all factors. What those ops exchanged goes through a tile.alloc, a tile.store and a
//   tile.load. A conversion of layouts gets a buffer whose layout has no bank conflicts where that is possible, or two
//   halves where the tile is too large. Other exchanges get a memref, row by row, and a view takes the part.
//   Operands that an op takes in one layout and has in another are converted before it. Reductions that a loop adds up
//   exchange nothing in the loop, and once behind it.
// Why: no later pass and no conversion knows how these ops exchange elements. Memory is planned for them and barriers
//   are inserted as for any tile.alloc.
// Cost: linear in the ops; a conversion is planned once.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/moves.h"
#include "lib/ir/pass.h"
#include "lib/layout/tiling.h"
#include "lib/machine/machine.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/exchange_memory.h"
#include "lib/transforms/pipeline/lifetimes.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"

static const char *const statistics[] = {
    "conversions: conversions of layouts that go through shared memory",
    "exchanges: ops whose elements go through shared memory",
    "halves: conversions that go through a buffer in two parts, since the whole tile has no room",
    "delayed: reductions that wait for the end of the loop that adds them up",
    NULL,
};

//===--- ops that move elements -----------------------------------------------------------------------===//

// Each gives the results in other words. The op stays where a rewrite gives null or false.
typedef MlirValue (*RewriteOne)(Exchange *x, MlirOperation op);
typedef bool (*RewriteAll)(Exchange *x, MlirOperation op, MlirValue *results);
enum { MaxResults = 64 };

static bool movesRegisters(const Exchange *x, MlirOperation op, intptr_t operand) {
  return tileMovesOf(op, operand, 0, x->threads.lanes, x->threads.warps, NULL);
}

static MlirValue exchangeConversion(Exchange *x, MlirOperation op) {
  MlirValue inRows = tileExchangeConvertInRows(x, op);
  return mlirValueIsNull(inRows)
             ? tileExchangeConvertInMemory(x, tileConvertLayoutOpGetInput(op), tileConvertLayoutOpGetResultType(op))
             : inRows;
}

// Offsets of slice and insert as values; `isNegative`: subtracted from 0.
static void offsetsOf(Exchange *x, MlirOperation op, MlirAttribute statics, bool isNegative, MlirValue *offsets) {
  intptr_t next, all;
  tileOpOperands(op, "offsets", &next, &all);
  for (intptr_t axis = 0; axis < mlirDenseArrayGetNumElements(statics); ++axis) {
    int64_t offset = mlirDenseI64ArrayGetElement(statics, axis);
    bool isDynamic = offset == mlirShapedTypeGetDynamicSize();
    offsets[axis] = isDynamic ? mlirOperationGetOperand(op, next++) : tileBuildIndex(&x->builder, offset);
    if (isNegative)
      offsets[axis] = tileBuildSub(&x->builder, tileBuildIndex(&x->builder, 0), offsets[axis]);
  }
}

static MlirValue exchangeSlice(Exchange *x, MlirOperation op) {
  MlirValue input = tileSliceOpGetInput(op), offsets[MaxRank];
  if (!tileTypeIsATile(mlirValueGetType(input)) || movesRegisters(x, op, 0))
    return (MlirValue){NULL};
  offsetsOf(x, op, tileSliceOpGetStaticOffsets(op), false, offsets);
  return tileExchangeLoadAt(x, tileExchangeShare(x, input), tileSliceOpGetResultType(op), offsets);
}

// From the part where it has the element, from the destination elsewhere. Seen from the part, the destination begins at
// the negative offsets.
static MlirValue exchangeInsert(Exchange *x, MlirOperation op) {
  MlirValue input = tileInsertOpGetInput(op), offsets[MaxRank];
  MlirType type = tileInsertOpGetResultType(op);
  if (tileInsertsInPlace(op) || (movesRegisters(x, op, 0) && movesRegisters(x, op, 1)))
    return (MlirValue){NULL};
  MlirValue old = tileExchangeConvertLike(x, tileInsertOpGetDestination(op), type), part = tileExchangeShare(x, input);
  offsetsOf(x, op, tileInsertOpGetStaticOffsets(op), true, offsets);
  MlirValue view = tileExchangeViewOf(x, part, type);
  MlirType mask = tileTypeWithElement(type, mlirIntegerTypeGet(x->builder.context, 1));
  MlirValue inside = tileInBoundsOpBuild(&x->builder, mask, view, tileTypeGetRank(type), offsets);
  MlirValue there = tileLoadOpBuild(&x->builder, type, view, tileTypeGetRank(type), offsets);
  return arithSelectOpBuild(&x->builder, inside, there, old);
}

static MlirValue exchangeCat(Exchange *x, MlirOperation op) {
  MlirType type = tileCatOpGetResultType(op);
  intptr_t pieces = tileCatOpGetNumInputs(op), axis = tileCatOpGetAxisValue(op), moved = 0;
  MlirValue origin[MaxRank];
  while (moved < pieces && movesRegisters(x, op, moved))
    ++moved;
  if (moved == pieces)
    return (MlirValue){NULL};
  MlirValue memref = tileExchangeMemrefLike(x, type);
  tileExchangeOrigin(x, origin);
  for (int64_t i = 0, begin = 0; i < pieces; ++i) {
    MlirValue piece = tileCatOpGetInputs(op, i);
    origin[axis] = tileBuildIndex(&x->builder, begin);
    tileExchangeStoreAt(x, piece, memref, origin);
    begin += tileTypeGetSize(mlirValueGetType(piece), axis);
  }
  origin[axis] = tileBuildIndex(&x->builder, 0);
  return tileExchangeLoadAt(x, memref, type, origin);
}

//===--- ops that compute places ----------------------------------------------------------------------===//

// Element e of the result, counted row by row, is element e of the input.
static MlirValue exchangeReshape(Exchange *x, MlirOperation op) {
  MlirValue input = tileReshapeOpGetInput(op);
  MlirType to = tileReshapeOpGetResultType(op);
  if (!tileTypeIsATile(mlirValueGetType(input)) || !tileTypeIsATile(to) || movesRegisters(x, op, 0))
    return (MlirValue){NULL};
  MlirValue memref = tileExchangeShare(x, input);
  return tileExchangeGatherNumbers(x, to, memref, tileExchangeNumbers(x, to));
}

// From a tile, numbers along one axis.
static MlirValue exchangeGather(Exchange *x, MlirOperation op) {
  MlirValue source = tileGatherOpGetSource(op), places[MaxRank];
  MlirType type = tileGatherOpGetResultType(op);
  if (mlirAttributeIsNull(tileGatherOpGetAxis(op)))
    return (MlirValue){NULL};
  intptr_t rank = tileTypeGetRank(type), along = mlirIntegerAttrGetValueInt(tileGatherOpGetAxis(op));
  for (intptr_t axis = 0; axis < rank; ++axis)
    places[axis] = axis == along ? tileExchangeConvertLike(x, tileGatherOpGetIndices(op, 0), type)
                                 : tileExchangeIota(x, type, axis);
  return tileGatherOpBuild(&x->builder, type, tileExchangeShare(x, source), rank, places, tileGatherOpGetMask(op),
                           tileGatherOpGetOther(op), tileGatherOpGetBounds(op));
}

// Counters in shared memory, one for each value; numbers are unsigned.
static MlirValue exchangeHistogram(Exchange *x, MlirOperation op) {
  TileBuilder *b = &x->builder;
  MlirValue input = tileHistogramOpGetInput(op), mask = tileHistogramOpGetMask(op), origin[MaxRank];
  MlirType from = mlirValueGetType(input), to = tileHistogramOpGetResultType(op), element = tileTypeGetElement(to);
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirType counters = tileTypeWithElement(to, i32), ones = tileTypeWithElement(from, i32);
  tileExchangeOrigin(x, origin);
  if (!mlirValueIsNull(mask))
    mask = tileExchangeConvertLike(x, mask, from);
  if (tileElementWidth(tileTypeGetElement(from)) && tileElementWidth(tileTypeGetElement(from)) < 64)
    input = arithExtUIOpBuild(b, tileTypeWithElement(from, i64), input);
  MlirValue none = tileBuildConstant(b, mlirDenseElementsAttrSplatGet(counters, mlirIntegerAttrGet(i32, 0)));
  MlirValue one = tileBuildConstant(b, mlirDenseElementsAttrSplatGet(ones, mlirIntegerAttrGet(i32, 1)));
  MlirValue memref = tileExchangeShare(x, none);
  tileScatterOpCreate(b, one, memref, 1, &input, mask, tileExchangeKeyword(x, "add"), tileExchangeKeyword(x, "drop"));
  MlirValue counts = tileExchangeLoadAt(x, memref, counters, origin);
  if (mlirTypeEqual(element, i32))
    return counts;
  TileUpstream cast = mlirTypeIsAIndex(element)        ? ArithOp_IndexCastUI
                      : tileElementWidth(element) < 32 ? ArithOp_TruncI
                                                       : ArithOp_ExtUI;
  return tileBuildCast(b, cast, counts, to);
}

//===--- products by multiply-adds --------------------------------------------------------------------===//

// One step of k of a factor, each thread with what its sums need.
static MlirValue factorAt(Exchange *x, MlirValue memref, MlirType factor, MlirType sum, uint32_t side, MlirValue k) {
  TileLayout layout, sums = tileExchangeLayoutOf(sum);
  int64_t sizes[MaxRank];
  MlirValue origin[MaxRank];
  intptr_t rank = tileExchangeSizesOf(factor, sizes), depth = side ? rank - 2 : rank - 1;
  sizes[depth] = 1;
  tileExchangeOrigin(x, origin);
  origin[depth] = k;
  if (!tileLayoutMultiplyAdd(&sums, side, (uint32_t)rank, 1, &layout, NULL))
    return (MlirValue){NULL};
  return tileExchangeLoadAt(x, memref, tileExchangeTileOf(factor, rank, sizes, &layout), origin);
}

static MlirValue exchangeProduct(Exchange *x, MlirOperation op) {
  MlirValue factors[] = {tileMmaOpGetLhs(op), tileMmaOpGetRhs(op)}, sum = tileMmaOpGetAccumulator(op), memrefs[2];
  MlirType types[] = {mlirValueGetType(factors[0]), mlirValueGetType(factors[1])}, type = mlirValueGetType(sum);
  TileLayout sums = tileExchangeLayoutOf(type), unused;
  uint32_t rank = (uint32_t)tileTypeGetRank(type);
  if (!tileKeywordIs(op, "atom", "fma") || tileFmaHasFactors(&x->threads, op) ||
      !tileLayoutMultiplyAdd(&sums, 0, rank, 1, &unused, NULL) ||
      !tileLayoutMultiplyAdd(&sums, 1, rank, 1, &unused, NULL))
    return (MlirValue){NULL};
  for (int side = 0; side < 2; ++side)
    memrefs[side] = tileExchangeShare(x, factors[side]);
  MlirBlock body;
  MlirValue end = tileBuildIndex(&x->builder, tileTypeGetSize(types[0], rank - 1));
  MlirOperation loop =
      tileBuildFor(&x->builder, tileBuildIndex(&x->builder, 0), end, tileBuildIndex(&x->builder, 1), 1, &sum, &body);
  TileBuilder outside = x->builder;
  x->builder = tileBuilderAtEnd(body, outside.location);
  for (uint32_t side = 0; side < 2; ++side)
    factors[side] = factorAt(x, memrefs[side], types[side], type, side, mlirBlockGetArgument(body, 0));
  MlirOperation step = tileMmaOpCreate(&x->builder, factors[0], factors[1], mlirBlockGetArgument(body, 1),
                                       tileMmaOpGetAtom(op), tileMmaOpGetPrecision(op));
  MlirValue result = tileMmaOpGetResult(step);
  tileBuildYield(&x->builder, 1, &result);
  x->builder = outside;
  return tileOnlyResult(loop);
}

//===--- the rows -------------------------------------------------------------------------------------===//

typedef struct Row {
  int kind;
  RewriteOne one;
  RewriteAll all;
} Row;

static const Row rows[] = {
    {TileOp_ConvertLayout, .one = exchangeConversion},
    {TileOp_Reshape, .one = exchangeReshape},
    {TileOp_Slice, .one = exchangeSlice},
    {TileOp_Insert, .one = exchangeInsert},
    {TileOp_Cat, .one = exchangeCat},
    {TileOp_Gather, .one = exchangeGather},
    {TileOp_Histogram, .one = exchangeHistogram},
    {TileOp_Mma, .one = exchangeProduct},
    {TileOp_Reduce, .all = tileExchangeReduce},
    {TileOp_Scan, .all = tileExchangeScan},
    {TileOp_Sort, .all = tileExchangeSort},
    {TileOp_Topk, .all = tileExchangeSort},
    {TileOp_Bitcast, .one = tileExchangeBitcast},
    {TileOp_AtomicRmw, .one = tileExchangeAtomic},
    {TileOp_AtomicCas, .one = tileExchangeAtomic},
    {TileOp_AtomicLoad, .one = tileExchangeAtomic},
    {TileOp_Print, .all = tileExchangePrint},
};
static const Row upstreamRows[] = {{ArithOp_Constant, .one = tileExchangeConstant}};

static const Row *find(const Row *list, size_t count, int kind) {
  for (size_t i = 0; i < count; ++i)
    if (list[i].kind == kind)
      return &list[i];
  return NULL;
}

static const Row *rowOf(MlirOperation op) {
  int kind = tileOpKind(op);
  return kind == TileOp_None ? find(upstreamRows, sizeof upstreamRows / sizeof *upstreamRows, tileUpstreamKind(op))
                             : find(rows, sizeof rows / sizeof *rows, kind);
}

static bool rewrite(Exchange *x, const Row *row, MlirOperation op, MlirValue *results) {
  if (row->all)
    return mlirOperationGetNumResults(op) <= MaxResults && row->all(x, op, results);
  results[0] = row->one(x, op);
  return !mlirValueIsNull(results[0]);
}

// Bytes that are left of the block's memory beside the buffers of that time.
static int64_t roomAt(const Lifetimes *lifetimes, MlirOperation op, int64_t limit) {
  Life life = tileLifeOf(lifetimes, op);
  for (intptr_t i = 0; i < lifetimes->numPlaces; ++i) {
    const BufferPlace *place = &lifetimes->places[i];
    if (place->level == Level_Shared && tileLivesMeet(place->life, life))
      limit -= place->bytes;
  }
  return limit;
}

// A constant whose elements are equal is no exchange: most kernels have no other.
static bool isTable(MlirOperation op) {
  MlirAttribute value = arithConstantOpGetValue(op);
  return mlirAttributeIsADenseElements(value) && !mlirDenseElementsAttrIsSplat(value);
}

static MlirWalkResult collect(MlirOperation op, void *ops) {
  if (rowOf(op) && (!arithConstantOpIsA(op) || isTable(op)))
    tileOpsAppend(ops, op);
  return MlirWalkResultAdvance;
}

static void exchangeAll(MlirOperation kernel, MlirExtPass pass, const TileExchange *threads, int64_t limit) {
  TileOps ops = {0};
  mlirOperationWalk(kernel, collect, &ops, MlirWalkPreOrder);
  Lifetimes *lifetimes = ops.count ? tileLifetimes(kernel) : NULL;
  for (intptr_t i = 0; i < ops.count; ++i) {
    MlirOperation op = ops.items[i];
    Exchange x = {.threads = *threads, .builder = tileBuilderBefore(op), .pass = pass};
    x.threads.warps = (uint32_t)tessera_max(tileWarpsOf(op), 1);
    x.room = roomAt(lifetimes, op, limit);
    MlirValue results[MaxResults];
    if (!rewrite(&x, rowOf(op), op, results))
      continue;
    for (intptr_t result = 0; result < mlirOperationGetNumResults(op); ++result)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, result), results[result]);
    mlirOperationDestroy(op);
    mlirExtPassAddStatistic(pass, Statistic_Exchanges, 1);
  }
  if (lifetimes)
    tileLifetimesDestroy(lifetimes);
  tileOpsFree(&ops);
}

//===--- operands in the layouts that ops need --------------------------------------------------------===//

// In the layout of `type`, with its own elements.
static void convertOperand(MlirOperation op, intptr_t operand, MlirType type) {
  MlirValue value = mlirOperationGetOperand(op, operand);
  MlirType wanted = tileTypeWithElement(type, tileTypeGetElement(mlirValueGetType(value)));
  if (mlirTypeEqual(mlirValueGetType(value), wanted))
    return;
  TileBuilder builder = tileBuilderBefore(op);
  mlirOperationSetOperand(op, operand, tileConvertLayoutOpBuild(&builder, wanted, value));
}

// The result gets the type that the op gives by itself, and is converted behind the op.
static void convertResult(MlirOperation op, intptr_t number, MlirType own) {
  MlirValue result = mlirOperationGetResult(op, number);
  MlirType wanted = mlirValueGetType(result);
  if (mlirTypeEqual(wanted, own))
    return;
  TileBuilder builder = tileBuilderAfter(op);
  mlirValueSetType(result, own);
  MlirValue converted = tileConvertLayoutOpBuild(&builder, wanted, result);
  mlirValueReplaceAllUsesExcept(result, converted, 1, (MlirOperation[]){tileDefiningOp(converted)});
}

// The index tiles of an access to memory, and addresses, as the elements lie.
static void convertIndices(MlirOperation op, const char *memory, MlirType elements) {
  MlirValue place = tileOpOperand(op, memory);
  bool isView = tileTypeIsAView(mlirValueGetType(place));
  intptr_t first, all;
  if (!tileTypeIsATile(elements))
    return;
  tileOpOperands(op, "indices", &first, &all);
  for (intptr_t i = 0; i < all; ++i) {
    MlirType type = tileOperandType(op, first + i);
    if (tileTypeIsATile(type))
      convertOperand(op, first + i,
                     isView ? tileAlongAxis(elements, i, tileTypeGetElement(type), tileTypeGetSize(type, 0))
                            : elements);
  }
  if (tileTypeIsATile(mlirValueGetType(place)))
    convertOperand(op, first - 1, elements);
}

// The states lack the axis, and lie as the tile without it.
static void convertStates(MlirOperation op) {
  MlirType tile = tileFirstOperandType(op);
  intptr_t inputs = tileScanOpGetNumInputs(op);
  for (intptr_t i = 0; i < tileScanOpGetNumInitial(op); ++i) {
    MlirType state = tileWithoutAxis(tile, tileScanOpGetAxisValue(op), tileTypeGetElement(tileOperandType(op, i)));
    if (!tileTypeIsATile(state))
      continue;
    convertOperand(op, inputs + i, state);
    convertResult(op, inputs + i, state);
  }
}

static void convertCounter(MlirOperation op) {
  MlirType result = tileRandomOpGetResultType(op), counter = tileRandomOpGetCounterType(op);
  if (tileTypeIsATile(counter))
    convertOperand(op, 1, tileWithoutAxis(result, tileTypeGetRank(result) - 1, tileTypeGetElement(counter)));
}

static MlirWalkResult convertOperands(MlirOperation op, void *unused) {
  (void)unused;
  switch (tileOpKind(op)) {
  case TileOp_Scan:
    convertStates(op);
    break;
  case TileOp_Random:
    convertCounter(op);
    break;
  case TileOp_Gather:
    if (mlirAttributeIsNull(tileGatherOpGetAxis(op)))
      convertIndices(op, "source", tileGatherOpGetResultType(op));
    break;
  case TileOp_Scatter:
    convertIndices(op, "destination", mlirValueGetType(tileScatterOpGetValue(op)));
    break;
  case TileOp_AtomicRmw:
  case TileOp_AtomicCas:
    convertIndices(op, "memory", tileOnlyResultType(op));
    break;
  default:
    break;
  }
  return MlirWalkResultAdvance;
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool exchangeKernel(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine) {
  int64_t width = 0, limit = INT64_MAX / 2;
  if (!tileMachineGetInteger(machine, "warp.width", &width))
    return tileError(kernel, "machine %s has no warp.width; threads exchange elements on GPUs only",
                     tileMachineGetName(machine));
  tileMachineGetInteger(machine, "shared.per_block.bytes", &limit);
  const TileExchange threads = {.machine = machine, .lanes = (uint32_t)width};
  TileOps reductions = tileCollectOps(kernel, tileReduceOpIsA);
  if (reductions.count)
    tileExchangeDelay(&(Exchange){.threads = threads, .pass = pass}, kernel);
  tileOpsFree(&reductions);
  mlirOperationWalk(kernel, convertOperands, NULL, MlirWalkPreOrder);
  exchangeAll(kernel, pass, &threads, limit);
  return true;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))) || tileKernelOpHasOrdered(kernel))
    return true;
  TileMachine *machine = tileNamedMachineOf(kernel, pass, NULL);
  bool ok = machine && exchangeKernel(kernel, pass, machine);
  tileMachineDestroy(machine);
  return ok;
}

const MlirExtPassDefinition tileExchangeInSharedMemoryPass = {
    .argument = "tile-exchange-in-shared-memory",
    .summary = "Store and load the elements that must go from one thread to another",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "memref", "scf", NULL},
    .run = run,
};
