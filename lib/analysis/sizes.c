// Sizes traced to where they come from. See sizes.h.
#include "lib/analysis/sizes.h"

#include "lib/analysis/facts.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/affine.h"
#include "upstream/bufferization.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"

#include <stdlib.h>

enum { MaxDepth = 16 }; // of what is followed: beyond it, a size stands for itself

typedef struct Trace {
  const TileKnownSizes *known;
  int depth;
} Trace;

static TileSize sizeOf(Trace trace, MlirValue shaped, intptr_t axis);
static bool areEqual(Trace trace, TileSize a, TileSize b);

static Trace deeper(Trace trace) { return (Trace){trace.known, trace.depth + 1}; }

static TileSize itself(MlirValue value, intptr_t axis) { return (TileSize){.value = value, .axis = axis}; }

//===--- index arithmetic -----------------------------------------------------------===//

// False if a program asks for a dimension beyond the rank. The program then fails when it runs.
static bool hasAxis(MlirValue shaped, int64_t axis) {
  MlirType type = mlirValueGetType(shaped);
  return mlirShapedTypeHasRank(type) && axis >= 0 && axis < mlirShapedTypeGetRank(type);
}

static TileSize sizeOfIndex(Trace trace, MlirValue index) {
  MlirOperation op = tileDefiningOp(index);
  int64_t constant;
  if (tileConstantIndex(index, &constant))
    return tileConstantSize(constant);
  if (tensorDimOpIsA(op) && tileConstantIndex(tensorDimOpGetIndex(op), &constant) &&
      hasAxis(tensorDimOpGetSource(op), constant))
    return sizeOf(deeper(trace), tensorDimOpGetSource(op), constant);
  if (memrefDimOpIsA(op) && tileConstantIndex(memrefDimOpGetIndex(op), &constant) &&
      hasAxis(memrefDimOpGetSource(op), constant))
    return sizeOf(deeper(trace), memrefDimOpGetSource(op), constant);
  return itself(index, -1);
}

static bool sameAttribute(MlirOperation a, MlirOperation b, const char *name) {
  return mlirAttributeEqual(tileOpAttribute(a, name), tileOpAttribute(b, name));
}

// Results of the same arithmetic on the same numbers. Overflow flags do not change a number that there is.
static bool sameIndex(Trace trace, MlirValue a, MlirValue b) {
  MlirOperation x = tileDefiningOp(a), y = tileDefiningOp(b);
  if (mlirValueEqual(a, b))
    return true;
  if (mlirOperationIsNull(x) || mlirOperationIsNull(y) || trace.depth > MaxDepth ||
      (!tileOpIsElementwise(x) && !affineAffineApplyOpIsA(x)) ||
      !mlirIdentifierEqual(mlirOperationGetName(x), mlirOperationGetName(y)) || mlirOperationGetNumRegions(x) ||
      mlirOperationGetNumOperands(x) != mlirOperationGetNumOperands(y) || !mlirOperationGetNumOperands(x) ||
      !sameAttribute(x, y, "predicate") || !sameAttribute(x, y, "map") || tileOpHasEffects(x) ||
      !mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b)))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(x); ++i)
    if (!areEqual(deeper(trace), sizeOfIndex(trace, mlirOperationGetOperand(x, i)),
                  sizeOfIndex(trace, mlirOperationGetOperand(y, i))))
      return false;
  return true;
}

//===--- shaped values --------------------------------------------------------------===//

// The dynamic operand of a list of sizes that stands for `axis`: the number of dynamic sizes before it.
static intptr_t dynamicBefore(MlirType type, intptr_t axis) {
  intptr_t count = 0;
  for (intptr_t i = 0; i < axis; ++i)
    count += mlirShapedTypeIsDynamicDim(type, i);
  return count;
}

// What a loop carries keeps the size that it began with, where each round gives it back with the size that it had.
static TileSize sizeOfCarried(Trace trace, MlirOperation loop, intptr_t number, intptr_t axis, TileSize otherwise) {
  MlirBlock body = mlirRegionGetFirstBlock(scfForOpGetRegion(loop));
  TileSize argument = itself(mlirBlockGetArgument(body, number + 1), axis);
  TileSize begin = sizeOf(deeper(trace), scfForOpGetInitArgs(loop, number), axis);
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(body), number);
  TileKnownSizes known = {0};
  for (intptr_t i = 0; trace.known && i < trace.known->count; ++i)
    tileKnownSizesAdd(&known, trace.known->items[i].from, trace.known->items[i].to);
  tileKnownSizesAdd(&known, argument, begin);
  Trace inside = {&known, trace.depth + 4};
  bool isKept = areEqual(inside, sizeOf(inside, yielded, axis), begin);
  tileKnownSizesFree(&known);
  return isKept ? begin : otherwise;
}

static TileSize sizeOfArgument(Trace trace, MlirValue argument, intptr_t axis) {
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(argument));
  intptr_t number = mlirBlockArgumentGetArgNumber(argument) - 1;
  if (!scfForOpIsA(loop) || number < 0)
    return itself(argument, axis);
  return sizeOfCarried(trace, loop, number, axis, itself(argument, axis));
}

static bool isMadeIn(MlirOperation op, TileSize size) {
  if (tileSizeIsConstant(size))
    return false;
  return tileIsWithin(mlirValueIsABlockArgument(size.value)
                          ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(size.value))
                          : tileDefiningOp(size.value),
                      op);
}

static TileSize sizeOfBranches(Trace trace, MlirOperation op, intptr_t number, MlirValue result, intptr_t axis) {
  TileSize sizes[2];
  for (intptr_t i = 0; i < 2; ++i) {
    MlirOperation yield = mlirBlockGetTerminator(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)));
    sizes[i] = sizeOf(deeper(trace), mlirOperationGetOperand(yield, number), axis);
  }
  bool isOne = areEqual(deeper(trace), sizes[0], sizes[1]) && !isMadeIn(op, sizes[0]);
  return isOne ? sizes[0] : itself(result, axis);
}

// Which dimension of the slice is dimension `axis` of its type: sizes of 1 that have no counterpart vanish.
static intptr_t dimensionOfSlice(MlirAttribute sizes, MlirType type, intptr_t axis) {
  intptr_t rank = mlirDenseArrayGetNumElements(sizes), kept = mlirShapedTypeGetRank(type), at = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    bool isDropped = mlirDenseI64ArrayGetElement(sizes, i) == 1 && rank - i > kept - at &&
                     (at == kept || mlirShapedTypeGetDimSize(type, at) != 1);
    if (!isDropped && at++ == axis)
      return i;
  }
  return -1;
}

static TileSize sizeOfSlice(Trace trace, MlirOperation op, MlirValue result, intptr_t axis) {
  bool isTensor = tensorExtractSliceOpIsA(op);
  MlirAttribute sizes = isTensor ? tensorExtractSliceOpGetStaticSizes(op) : memrefSubViewOpGetStaticSizes(op);
  intptr_t dimension = dimensionOfSlice(sizes, mlirValueGetType(result), axis), dynamic = 0;
  if (dimension < 0 || !mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(sizes, dimension)))
    return itself(result, axis);
  for (intptr_t i = 0; i < dimension; ++i)
    dynamic += mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(sizes, i));
  return sizeOfIndex(deeper(trace), (isTensor ? tensorExtractSliceOpGetSizes : memrefSubViewOpGetSizes)(op, dynamic));
}

// The operand that has the sizes of the result; null: none is known to.
static MlirValue alike(MlirOperation op, intptr_t number) {
  if (tileOpIsStructured(op) || linalgSoftmaxOpIsA(op))
    return mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op) + number);
  if (tensorInsertOpIsA(op))
    return tensorInsertOpGetDest(op);
  if (tensorInsertSliceOpIsA(op))
    return tensorInsertSliceOpGetDest(op);
  if (tensorCastOpIsA(op) || memrefCastOpIsA(op) || bufferizationToBufferOpIsA(op) || bufferizationToTensorOpIsA(op))
    return tileOnlyOperand(op);
  return (MlirValue){NULL};
}

static TileSize sizeOfResult(Trace trace, MlirOperation op, MlirValue result, intptr_t axis) {
  MlirType type = mlirValueGetType(result);
  intptr_t number = mlirOpResultGetResultNumber(result);
  MlirValue other = alike(op, number);
  if (!mlirValueIsNull(other))
    return sizeOf(deeper(trace), other, axis);
  if (tensorEmptyOpIsA(op))
    return sizeOfIndex(deeper(trace), tensorEmptyOpGetDynamicSizes(op, dynamicBefore(type, axis)));
  if (memrefAllocOpIsA(op))
    return sizeOfIndex(deeper(trace), memrefAllocOpGetDynamicSizes(op, dynamicBefore(type, axis)));
  if (tensorExtractSliceOpIsA(op) || memrefSubViewOpIsA(op))
    return sizeOfSlice(trace, op, result, axis);
  if (scfIfOpIsA(op))
    return sizeOfBranches(trace, op, number, result, axis);
  if (scfForOpIsA(op))
    return sizeOfCarried(trace, op, number, axis, itself(result, axis));
  return itself(result, axis);
}

static TileSize afterKnown(Trace trace, TileSize size) {
  for (intptr_t i = 0; trace.known && i < trace.known->count && !tileSizeIsConstant(size); ++i) {
    TileSize from = trace.known->items[i].from;
    if (mlirValueEqual(from.value, size.value) && from.axis == size.axis)
      size = trace.known->items[i].to;
  }
  return size;
}

static TileSize sizeOf(Trace trace, MlirValue shaped, intptr_t axis) {
  MlirType type = mlirValueGetType(shaped);
  if (!mlirShapedTypeIsDynamicDim(type, axis))
    return tileConstantSize(mlirShapedTypeGetDimSize(type, axis));
  TileSize size = itself(shaped, axis);
  if (trace.depth > MaxDepth)
    return size;
  size = afterKnown(trace, size);
  if (!tileSizeIsConstant(size) && mlirValueEqual(size.value, shaped))
    size = mlirValueIsABlockArgument(shaped) ? sizeOfArgument(trace, shaped, axis)
                                             : sizeOfResult(trace, tileDefiningOp(shaped), shaped, axis);
  return afterKnown(trace, size);
}

static bool areEqual(Trace trace, TileSize a, TileSize b) {
  a = afterKnown(trace, a), b = afterKnown(trace, b);
  if (tileSizeIsConstant(a) || tileSizeIsConstant(b))
    return tileSizeIsConstant(a) && tileSizeIsConstant(b) && a.constant == b.constant;
  if (a.axis != b.axis)
    return false;
  return mlirValueEqual(a.value, b.value) || (a.axis < 0 && sameIndex(trace, a.value, b.value));
}

//===--- for others -----------------------------------------------------------------===//

TileSize tileSizeOf(const TileKnownSizes *known, MlirValue shaped, intptr_t axis) {
  return sizeOf((Trace){known, 0}, shaped, axis);
}

TileSize tileSizeOfIndex(const TileKnownSizes *known, MlirValue index) { return sizeOfIndex((Trace){known, 0}, index); }

bool tileSizesEqual(const TileKnownSizes *known, TileSize a, TileSize b) { return areEqual((Trace){known, 0}, a, b); }

// The counter of a loop that ends at the size.
static bool isCounterBelow(const TileKnownSizes *known, MlirValue index, TileSize size) {
  if (!mlirValueIsABlockArgument(index) || mlirBlockArgumentGetArgNumber(index) != 0)
    return false;
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(index));
  return scfForOpIsA(loop) && tileSizesEqual(known, tileSizeOfIndex(known, scfForOpGetUpperBound(loop)), size);
}

bool tileSizeIsBelow(const TileKnownSizes *known, TileSize index, TileSize size) {
  if (tileSizeIsConstant(index))
    return tileSizeIsConstant(size) && index.constant < size.constant;
  if (index.axis >= 0)
    return false;
  return (tileSizeIsConstant(size) && tileIndexFacts(index.value).high < size.constant) ||
         isCounterBelow(known, index.value, size);
}

void tileKnownSizesAdd(TileKnownSizes *known, TileSize from, TileSize to) {
  if (tileSizeIsConstant(from)) {
    TileSize swapped = from;
    from = to, to = swapped;
  }
  if (tileSizeIsConstant(from))
    return;
  known->items = tessera_grow(known->items, known->count, sizeof *known->items);
  known->items[known->count++] = (struct TileSizePair){from, to};
}

void tileKnownSizesFree(TileKnownSizes *known) { free(known->items); }

MlirValue tileSizeBuild(TileBuilder *builder, TileSize size) {
  if (tileSizeIsConstant(size))
    return tileBuildIndex(builder, size.constant);
  return size.axis < 0 ? size.value : tileBuildDim(builder, size.value, size.axis);
}
