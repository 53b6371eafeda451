// tile-check-places: places that are known only at run time are compared with the sizes of what they lie in.
//
//   %0 = tensor.extract_slice %a[%o] [%n] [1]   →   cf.assert 0 <= %o, "slice: offset 0 must not be below …"
//                                                   cf.assert %n <= dim(%a) - %o, "slice: size 0 must not exceed …"
//
// Why: a compiled program would read or write memory that is not the operand's.
// Expects: func.func on tensors or memrefs, before kernels. Leaves: slices, subviews, insertions, single elements,
// pads, reshapes, expansions, packs and unpacks whose places lie inside, or an error at the op. Not compared: what
// constants, loops' bounds and lib/analysis/facts.h prove; ops in bodies of linalg, kernels, groups and parallel loops
// (kernels check their gathers themselves). An assertion stands behind the last op of its block that it needs, ahead of
// launches that do not. Cost: linear in the ops.
#include "lib/transforms/tensor/tensor.h"

#include "lib/analysis/facts.h"
#include "lib/analysis/sizes.h"
#include "lib/support/array.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdarg.h>
#include <stdio.h>

enum { MaxRank = TESSERA_MAX_RANK, MessageLength = 256 };

typedef struct Checks {
  TileKnownSizes none;
  MlirOperation op;
  TileBuilder builder; // behind what an assertion at the op needs
  uint64_t count;
} Checks;

//===--- questions ------------------------------------------------------------------===//

static bool isSlice(MlirOperation op) {
  return tensorExtractSliceOpIsA(op) || tensorInsertSliceOpIsA(op) || memrefSubViewOpIsA(op);
}

static bool isElement(MlirOperation op) {
  return tensorExtractOpIsA(op) || tensorInsertOpIsA(op) || memrefLoadOpIsA(op) || memrefStoreOpIsA(op) ||
         memrefAtomicRMWOpIsA(op);
}

static bool isRelayout(MlirOperation op) { return linalgPackOpIsA(op) || linalgUnPackOpIsA(op); }

static bool isExpansion(MlirOperation op) { return tensorExpandShapeOpIsA(op) || memrefExpandShapeOpIsA(op); }

// The host runs it op by op: assertions may stand in it.
static bool isSequential(MlirOperation op) {
  return scfForOpIsA(op) || scfWhileOpIsA(op) || scfIfOpIsA(op) || scfIndexSwitchOpIsA(op) || scfExecuteRegionOpIsA(op);
}

static bool needsCheck(MlirOperation op) {
  if (!isSlice(op) && !isElement(op) && !isRelayout(op) && !isExpansion(op) && !tensorPadOpIsA(op) &&
      !tensorReshapeOpIsA(op))
    return false;
  MlirOperation around = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(around) && isSequential(around))
    around = mlirOperationGetParentOperation(around);
  return !mlirOperationIsNull(around) && funcFuncOpIsA(around);
}

static TileIndexFacts factsOf(TileSize size) {
  if (tileSizeIsConstant(size))
    return (TileIndexFacts){size.constant, size.constant, 1};
  return size.axis < 0 ? tileIndexFacts(size.value) : (TileIndexFacts){0, INT64_MAX, 1};
}

//===--- assertions -----------------------------------------------------------------===//

// The op of the checked op's block that `value` comes from; null: it is there when the block begins.
static MlirOperation inBlock(const Checks *checks, MlirValue value) {
  MlirBlock block = mlirOperationGetBlock(checks->op);
  MlirOperation op = mlirValueIsABlockArgument(value) ? (MlirOperation){NULL} : tileDefiningOp(value);
  while (!mlirOperationIsNull(op) && !mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

// Moves the place of the assertion behind `value`.
static void need(Checks *checks, MlirValue value) {
  MlirOperation op = inBlock(checks, value);
  if (mlirOperationIsNull(op) || tileIsWithin(checks->op, op))
    return;
  MlirOperation next = mlirOperationGetNextInBlock(op);
  if (mlirOperationIsBeforeInBlock(checks->builder.before, next))
    checks->builder.before = next;
}

static void needSize(Checks *checks, TileSize size) {
  if (!tileSizeIsConstant(size))
    need(checks, size.value);
}

// Assertions of this op go to the begin of its block, unless they need more.
static void begin(Checks *checks, MlirOperation op) {
  checks->op = op;
  checks->builder = tileBuilderBefore(mlirBlockGetFirstOperation(mlirOperationGetBlock(op)));
  checks->builder.location = mlirOperationGetLocation(op);
}

__attribute__((format(printf, 5, 6))) static void assertThat(Checks *checks, ArithCmpI is, MlirValue seen,
                                                             MlirValue bound, const char *format, ...) {
  char text[MessageLength];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tileBuildAssert(&checks->builder, arithCmpIOpBuild(&checks->builder, seen, bound, is), text);
  ++checks->count;
}

static MlirValue build(Checks *checks, TileSize size) {
  needSize(checks, size);
  return tileSizeBuild(&checks->builder, size);
}

// "tensor.extract_slice: offset of dimension 1 must …": the op, its number, and the dimension.
#define THAT "%.*s: %s of dimension %d "
#define OF(checks, what, axis) (int)tileOpName((checks)->op).length, tileOpName((checks)->op).data, what, axis

static void assertNotNegative(Checks *checks, TileSize size, const char *what, int axis) {
  if (factsOf(size).low >= 0)
    return;
  MlirValue seen = build(checks, size);
  assertThat(checks, ArithCmpI_Sge, seen, tileBuildIndex(&checks->builder, 0), THAT "must not be negative",
             OF(checks, what, axis));
}

static void assertEqual(Checks *checks, TileSize seen, TileSize expected, const char *what, int axis) {
  if (tileSizesEqual(&checks->none, seen, expected))
    return;
  MlirValue sizes[] = {build(checks, seen), build(checks, expected)};
  assertThat(checks, ArithCmpI_Eq, sizes[0], sizes[1], THAT "must fit the other sizes", OF(checks, what, axis));
}

static TileSize ofValue(MlirValue index) { return (TileSize){.value = index, .axis = -1}; }

//===--- slices ---------------------------------------------------------------------===//

typedef MlirValue GetValue(MlirOperation op, intptr_t index);
typedef MlirAttribute GetList(MlirOperation op);

// A list of numbers, those that are not known as operands.
typedef struct Mixed {
  MlirAttribute list;
  GetValue *open;
  intptr_t next;
} Mixed;

static TileSize nextOf(const Checks *checks, Mixed *mixed, intptr_t i) {
  int64_t number = mlirDenseI64ArrayGetElement(mixed->list, i);
  return mlirShapedTypeIsDynamicSize(number) ? tileSizeOfIndex(&checks->none, mixed->open(checks->op, mixed->next++))
                                             : tileConstantSize(number);
}

typedef struct SliceRow {
  bool (*isA)(MlirOperation op);
  MlirValue (*whole)(MlirOperation op); // what the slice lies in
  GetList *staticOffsets, *staticSizes, *staticStrides;
  GetValue *offsets, *sizes, *strides;
} SliceRow;

static const SliceRow sliceRows[] = {
    {tensorExtractSliceOpIsA, tensorExtractSliceOpGetSource, tensorExtractSliceOpGetStaticOffsets,
     tensorExtractSliceOpGetStaticSizes, tensorExtractSliceOpGetStaticStrides, tensorExtractSliceOpGetOffsets,
     tensorExtractSliceOpGetSizes, tensorExtractSliceOpGetStrides},
    {tensorInsertSliceOpIsA, tensorInsertSliceOpGetDest, tensorInsertSliceOpGetStaticOffsets,
     tensorInsertSliceOpGetStaticSizes, tensorInsertSliceOpGetStaticStrides, tensorInsertSliceOpGetOffsets,
     tensorInsertSliceOpGetSizes, tensorInsertSliceOpGetStrides},
    {memrefSubViewOpIsA, memrefSubViewOpGetSource, memrefSubViewOpGetStaticOffsets, memrefSubViewOpGetStaticSizes,
     memrefSubViewOpGetStaticStrides, memrefSubViewOpGetOffsets, memrefSubViewOpGetSizes, memrefSubViewOpGetStrides},
    {NULL},
};

// One dimension of a slice: size elements, stride apart, from the offset on, of `whole`.
typedef struct Range {
  TileSize offset, size, stride, whole;
  int axis;
} Range;

// size <= whole - offset, for all that is known without the offset's sign.
static bool isRest(const Checks *checks, const Range *range, TileSize size) {
  TileSize zero = tileConstantSize(0);
  if (tileSizesEqual(&checks->none, range->offset, zero) && tileSizesEqual(&checks->none, size, range->whole))
    return true;
  if (tileSizeIsConstant(size) || size.axis >= 0)
    return false;
  MlirOperation op = tileDefiningOp(size.value);
  if (!arithMinSIOpIsA(op) && !arithSubIOpIsA(op))
    return false;
  TileSize lhs = tileSizeOfIndex(&checks->none, tileBinaryLhs(op)),
           rhs = tileSizeOfIndex(&checks->none, tileBinaryRhs(op));
  return arithSubIOpIsA(op)
             ? tileSizesEqual(&checks->none, lhs, range->whole) && tileSizesEqual(&checks->none, rhs, range->offset)
             : isRest(checks, range, lhs) || isRest(checks, range, rhs);
}

// A slice of known size: its offset lies between 0 and that of the last whole slice.
static void checkKnownSize(Checks *checks, const Range *range) {
  int64_t span;
  if (range->size.constant == 0)
    return;
  if (__builtin_mul_overflow(range->size.constant - 1, range->stride.constant, &span) || span == INT64_MAX)
    span = INT64_MAX - 1;
  assertNotNegative(checks, range->offset, "offset", range->axis);
  bool isKnown = tileSizeIsConstant(range->whole)
                     ? factsOf(range->offset).high <= range->whole.constant - 1 - span
                     : span == 0 && tileSizeIsBelow(&checks->none, range->offset, range->whole);
  if (isKnown)
    return;
  MlirValue whole = build(checks, range->whole), offset = build(checks, range->offset);
  MlirValue last = tileBuildSub(&checks->builder, whole, tileBuildIndex(&checks->builder, span + 1));
  assertThat(checks, ArithCmpI_Sle, offset, last, THAT "must not exceed the last that is inside",
             OF(checks, "offset", range->axis));
}

// A slice without elements may begin anywhere.
static void checkOpenSize(Checks *checks, const Range *range) {
  bool begins = factsOf(range->offset).low >= 0,
       ends = range->stride.constant == 1 && isRest(checks, range, range->size);
  assertNotNegative(checks, range->size, "size", range->axis);
  if (begins && ends)
    return;
  TileBuilder *b = &checks->builder;
  MlirValue size = build(checks, range->size), offset = build(checks, range->offset), zero = tileBuildIndex(b, 0);
  if (!begins) {
    MlirValue isEmpty = arithCmpIOpBuild(b, size, zero, ArithCmpI_Eq);
    assertThat(checks, ArithCmpI_Sge, arithSelectOpBuild(b, isEmpty, zero, offset), zero, THAT "must not be negative",
               OF(checks, "offset", range->axis));
  }
  if (ends)
    return;
  MlirValue rest = tileBuildMax(b, tileBuildSub(b, build(checks, range->whole), offset), zero);
  MlirValue room = tileBuildCeilDiv(b, rest, tileBuildIndex(b, range->stride.constant));
  assertThat(checks, ArithCmpI_Sle, size, room, THAT "must not exceed what follows the offset",
             OF(checks, "size", range->axis));
}

static MlirValue isWithin(TileBuilder *b, MlirValue index, MlirValue size) {
  return arithAndIOpBuild(b, arithCmpIOpBuild(b, index, tileBuildIndex(b, 0), ArithCmpI_Sge),
                          arithCmpIOpBuild(b, index, size, ArithCmpI_Slt));
}

// The first and the last element lie inside, whichever way the stride goes.
static void checkOpenStride(Checks *checks, const Range *range) {
  assertNotNegative(checks, range->size, "size", range->axis);
  TileBuilder *b = &checks->builder;
  MlirValue size = build(checks, range->size), offset = build(checks, range->offset);
  MlirValue stride = build(checks, range->stride), whole = build(checks, range->whole), zero = tileBuildIndex(b, 0);
  MlirValue last = tileBuildAdd(b, offset, tileBuildMul(b, tileBuildSub(b, size, tileBuildIndex(b, 1)), stride));
  MlirValue isInside = arithAndIOpBuild(b, isWithin(b, offset, whole), isWithin(b, last, whole));
  char text[MessageLength];
  snprintf(text, sizeof text, THAT "must end inside", OF(checks, "slice", range->axis));
  tileBuildAssert(b, arithOrIOpBuild(b, isInside, arithCmpIOpBuild(b, size, zero, ArithCmpI_Eq)), text);
  ++checks->count;
}

static void checkRange(Checks *checks, const Range *range) {
  bool isOpen = !tileSizeIsConstant(range->offset) || !tileSizeIsConstant(range->size) ||
                !tileSizeIsConstant(range->stride) || !tileSizeIsConstant(range->whole);
  if (!isOpen)
    return; // upstream's verifier has compared them
  if (!tileSizeIsConstant(range->stride) || range->stride.constant < 1)
    checkOpenStride(checks, range);
  else if (tileSizeIsConstant(range->size))
    checkKnownSize(checks, range);
  else
    checkOpenSize(checks, range);
}

static void checkSlice(Checks *checks, MlirOperation op) {
  const SliceRow *row = sliceRows;
  while (!row->isA(op))
    ++row;
  MlirValue whole = row->whole(op);
  Mixed offsets = {row->staticOffsets(op), row->offsets, 0}, sizes = {row->staticSizes(op), row->sizes, 0};
  Mixed strides = {row->staticStrides(op), row->strides, 0};
  for (int axis = 0; axis < mlirDenseArrayGetNumElements(offsets.list); ++axis) {
    Range range = {.offset = nextOf(checks, &offsets, axis),
                   .size = nextOf(checks, &sizes, axis),
                   .stride = nextOf(checks, &strides, axis),
                   .whole = tileSizeOf(&checks->none, whole, axis),
                   .axis = axis};
    checkRange(checks, &range);
  }
}

//===--- elements -------------------------------------------------------------------===//

static void checkElement(Checks *checks, MlirOperation op) {
  intptr_t at = tensorExtractOpIsA(op) || memrefLoadOpIsA(op) ? 0 : 1;
  MlirValue whole = mlirOperationGetOperand(op, at);
  for (int axis = 0; axis < mlirShapedTypeGetRank(mlirValueGetType(whole)); ++axis) {
    TileSize index = tileSizeOfIndex(&checks->none, mlirOperationGetOperand(op, at + 1 + axis));
    TileSize size = tileSizeOf(&checks->none, whole, axis);
    assertNotNegative(checks, index, "index", axis);
    if (tileSizeIsBelow(&checks->none, index, size))
      continue;
    MlirValue seen = build(checks, index), bound = build(checks, size);
    assertThat(checks, ArithCmpI_Slt, seen, bound, THAT "must be less than its size", OF(checks, "index", axis));
  }
}

//===--- pads and reshapes ----------------------------------------------------------===//

static void checkPad(Checks *checks, MlirOperation op) {
  Mixed low = {tensorPadOpGetStaticLow(op), tensorPadOpGetLow, 0};
  Mixed high = {tensorPadOpGetStaticHigh(op), tensorPadOpGetHigh, 0};
  for (int axis = 0; axis < mlirDenseArrayGetNumElements(low.list); ++axis) {
    assertNotNegative(checks, nextOf(checks, &low, axis), "padding", axis);
    assertNotNegative(checks, nextOf(checks, &high, axis), "padding", axis);
  }
}

// The sizes that one dimension of the source is expanded to: their product is its size.
static void checkGroup(Checks *checks, Mixed *sizes, MlirAttribute group, TileSize whole, int axis) {
  int64_t known = 1;
  TileSize open[MaxRank];
  int count = 0;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(group); ++i) {
    intptr_t at = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, i));
    TileSize size = nextOf(checks, sizes, at);
    if (!tileSizeIsConstant(size))
      open[count++] = size;
    else if (__builtin_mul_overflow(known, size.constant, &known))
      return;
  }
  if ((!count && tileSizeIsConstant(whole)) ||
      (count == 1 && known == 1 && tileSizesEqual(&checks->none, open[0], whole)))
    return;
  for (int i = 0; i < count; ++i)
    assertNotNegative(checks, open[i], "size", axis);
  MlirValue size = build(checks, whole);
  for (int i = 0; i < count; ++i)
    needSize(checks, open[i]);
  MlirValue product = tileBuildIndex(&checks->builder, known);
  for (int i = 0; i < count; ++i)
    product = tileBuildMul(&checks->builder, product, build(checks, open[i]));
  assertThat(checks, ArithCmpI_Eq, product, size, THAT "must be the product of what it is expanded to",
             OF(checks, "size", axis));
}

static void checkExpansion(Checks *checks, MlirOperation op) {
  bool isTensor = tensorExpandShapeOpIsA(op);
  MlirAttribute groups = isTensor ? tensorExpandShapeOpGetReassociation(op) : memrefExpandShapeOpGetReassociation(op);
  Mixed sizes = {isTensor ? tensorExpandShapeOpGetStaticOutputShape(op) : memrefExpandShapeOpGetStaticOutputShape(op),
                 isTensor ? tensorExpandShapeOpGetOutputShape : memrefExpandShapeOpGetOutputShape, 0};
  MlirValue source = isTensor ? tensorExpandShapeOpGetSrc(op) : memrefExpandShapeOpGetSrc(op);
  for (int g = 0; g < mlirArrayAttrGetNumElements(groups); ++g)
    checkGroup(checks, &sizes, mlirArrayAttrGetElement(groups, g), tileSizeOf(&checks->none, source, g), g);
}

// The number i of the shape: what it is made of, or read from it.
static MlirValue numberOf(Checks *checks, MlirValue shape, intptr_t i) {
  MlirOperation made = tileDefiningOp(shape);
  TileBuilder *b = &checks->builder;
  MlirValue at = tileBuildIndex(b, i);
  MlirValue number =
      tensorFromElementsOpIsA(made) ? mlirOperationGetOperand(made, i) : tensorExtractOpBuild(b, shape, 1, &at);
  MlirType index = mlirIndexTypeGet(b->context);
  return mlirTypeIsAIndex(mlirValueGetType(number)) ? number : arithIndexCastOpBuild(b, index, number);
}

static void checkReshape(Checks *checks, MlirOperation op) {
  MlirValue source = tensorReshapeOpGetSource(op), shape = tensorReshapeOpGetShape(op);
  MlirType from = mlirValueGetType(source), to = tileOnlyResultType(op);
  if (!mlirShapedTypeHasRank(from) || !mlirShapedTypeHasRank(to))
    return;
  TileBuilder *b = &checks->builder;
  need(checks, shape);
  need(checks, source);
  MlirValue elements = tileBuildIndex(b, 1), product = elements;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(from); ++i)
    elements = tileBuildMul(b, elements, tileBuildSize(b, source, i));
  for (int i = 0; i < mlirShapedTypeGetRank(to); ++i) {
    MlirValue number = numberOf(checks, shape, i);
    assertNotNegative(checks, ofValue(number), "size", i);
    if (!mlirShapedTypeIsDynamicDim(to, i))
      assertEqual(checks, tileSizeOfIndex(&checks->none, number), tileConstantSize(mlirShapedTypeGetDimSize(to, i)),
                  "size", i);
    product = tileBuildMul(b, product, number);
  }
  if (!tileSizesEqual(&checks->none, tileSizeOfIndex(&checks->none, product), tileSizeOfIndex(&checks->none, elements)))
    assertThat(checks, ArithCmpI_Eq, product, elements, "%.*s: the sizes must multiply to the number of elements",
               (int)tileOpName(op).length, tileOpName(op).data);
}

//===--- packs ----------------------------------------------------------------------===//

static TileSize tileOfDimension(const Checks *checks, MlirAttribute positions, Mixed tiles, intptr_t dimension) {
  TileSize tile = tileConstantSize(1);
  for (intptr_t t = 0; t < mlirDenseArrayGetNumElements(positions); ++t) {
    TileSize next = nextOf(checks, &tiles, t);
    if (mlirDenseI64ArrayGetElement(positions, t) == dimension)
      tile = next;
  }
  return tile;
}

// As many tiles as cover `plain`, or as fill it where nothing pads the last.
static void checkTiles(Checks *checks, TileSize plain, TileSize tile, TileSize tiles, bool isPadded, int axis) {
  bool isPlain = tileSizeIsConstant(tile) && tile.constant == 1;
  if (isPlain) {
    assertEqual(checks, tiles, plain, "number of tiles", axis);
    return;
  }
  if (tileSizeIsConstant(tile) && tileSizeIsConstant(plain) && tileSizeIsConstant(tiles))
    return;
  needSize(checks, plain), needSize(checks, tile), needSize(checks, tiles);
  TileBuilder *b = &checks->builder;
  if (!tileSizeIsConstant(tile))
    assertThat(checks, ArithCmpI_Sge, build(checks, tile), tileBuildIndex(b, 1), THAT "must be positive",
               OF(checks, "tile", axis));
  MlirValue seen = build(checks, tiles), covered = build(checks, plain), size = build(checks, tile);
  MlirValue expected = isPadded ? tileBuildCeilDiv(b, covered, size) : covered;
  assertThat(checks, ArithCmpI_Eq, isPadded ? seen : tileBuildMul(b, seen, size), expected,
             isPadded ? THAT "must cover the other tensor" : THAT "must fill the other tensor, since nothing pads it",
             OF(checks, isPadded ? "number of tiles" : "tiles", axis));
}

static void checkRelayout(Checks *checks, MlirOperation op) {
  bool isPack = linalgPackOpIsA(op);
  MlirValue source = isPack ? linalgPackOpGetSource(op) : linalgUnPackOpGetSource(op);
  MlirValue dest = isPack ? linalgPackOpGetDest(op) : linalgUnPackOpGetDest(op);
  MlirValue plain = isPack ? source : dest, tiled = isPack ? dest : source;
  MlirAttribute positions = isPack ? linalgPackOpGetInnerDimsPos(op) : linalgUnPackOpGetInnerDimsPos(op);
  MlirAttribute order = isPack ? linalgPackOpGetOuterDimsPerm(op) : linalgUnPackOpGetOuterDimsPerm(op);
  Mixed tiles = {isPack ? linalgPackOpGetStaticInnerTiles(op) : linalgUnPackOpGetStaticInnerTiles(op),
                 isPack ? linalgPackOpGetInnerTiles : linalgUnPackOpGetInnerTiles, 0};
  bool isPadded = !isPack || !mlirValueIsNull(linalgPackOpGetPaddingValue(op));
  bool isOrdered = !mlirAttributeIsNull(order) && mlirDenseArrayGetNumElements(order);
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(plain));
  for (int i = 0; i < rank; ++i) {
    intptr_t dimension = isOrdered ? mlirDenseI64ArrayGetElement(order, i) : i;
    checkTiles(checks, tileSizeOf(&checks->none, plain, dimension),
               tileOfDimension(checks, positions, tiles, dimension), tileSizeOf(&checks->none, tiled, i), isPadded, i);
  }
  for (int t = 0; t < mlirDenseArrayGetNumElements(positions); ++t)
    assertEqual(checks, tileSizeOf(&checks->none, tiled, rank + t), nextOf(checks, &tiles, t), "size", rank + t);
}

//===--- the pass -------------------------------------------------------------------===//

static void check(Checks *checks, MlirOperation op) {
  begin(checks, op);
  if (isSlice(op))
    checkSlice(checks, op);
  else if (isElement(op))
    checkElement(checks, op);
  else if (isExpansion(op))
    checkExpansion(checks, op);
  else if (isRelayout(op))
    checkRelayout(checks, op);
  else if (tensorPadOpIsA(op))
    checkPad(checks, op);
  else
    checkReshape(checks, op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Checks checks = {.count = 0};
  TileOps ops = tileCollectOps(function, needsCheck);
  for (intptr_t i = 0; i < ops.count; ++i)
    check(&checks, ops.items[i]);
  mlirExtPassAddStatistic(pass, 0, checks.count);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileCheckPlacesPass = {
    .argument = "tile-check-places",
    .summary = "Compare slices, elements and reshapes with the sizes of what they are a part of, at run time",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"checks: places that are compared at run time", NULL},
    .dialects = (const char *const[]){"arith", "cf", "tensor", "memref", NULL},
    .run = run,
};
