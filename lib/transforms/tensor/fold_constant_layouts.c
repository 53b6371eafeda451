// tile-fold-constant-layouts: slices, transposes, reshapes and concatenations of constants are done at compile time.
//
// Why: exporters slice and transpose weights in the program. Done there, the same megabytes move in every call, and in
// every step of a loop; and a product whose right operand is no constant packs it each time.
// Expects: tensor.extract_slice, insert_slice, expand_shape, collapse_shape and linalg.transpose or a linalg.generic
// that only permutes, in func.func, of static shapes with elements of whole bytes. Leaves: a constant in their place,
// no larger than the constants that it is made of; a resource where it has more than a kilobyte. tensor.empty and
// linalg.fill with a constant count as constants where something is inserted. Cost: linear in the elements.
#include "lib/capi/common.h"
#include "lib/ir/builder.h"
#include "lib/support/array.h"
#include "lib/transforms/tensor/tensor.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>
#include <string.h>

enum {
  MaxRank = TESSERA_MAX_RANK,
  InlineBytes = 1024,
  Alignment = 64,
  MaxParts = 64
}; // MaxParts: of a tensor that slices fill

//===--- shapes ---------------------------------------------------------------===//

// A tensor of static shape, its elements in rows; strides in elements.
typedef struct Shape {
  int rank;
  int64_t sizes[MaxRank], strides[MaxRank], count;
  size_t width; // bytes of an element
} Shape;

static bool shapeOf(MlirType type, Shape *shape) {
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > MaxRank || !mlirShapedTypeHasStaticShape(type) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  unsigned bits = tileElementWidth(mlirShapedTypeGetElementType(type));
  *shape = (Shape){.rank = (int)mlirShapedTypeGetRank(type), .count = 1, .width = bits / 8};
  for (int d = shape->rank - 1; d >= 0; --d) {
    shape->sizes[d] = mlirShapedTypeGetDimSize(type, d);
    shape->strides[d] = shape->count;
    if (__builtin_mul_overflow(shape->count, shape->sizes[d], &shape->count))
      return false;
  }
  return bits && bits % 8 == 0 && shape->count > 0;
}

static size_t bytesOf(const Shape *shape) { return (size_t)shape->count * shape->width; }

//===--- constants ------------------------------------------------------------===//

typedef struct Constant {
  Shape shape;
  const unsigned char *bytes; // of one element where isSplat
  bool isSplat, isNew;        // isNew: what an insertion starts from, no constant
} Constant;

// mlir-c gives the data of a splat as those of its one element.
static bool readSplat(MlirAttribute value, Constant *constant) {
  bool isSplat = mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
  constant->bytes = isSplat ? mlirDenseElementsAttrGetRawData(value) : NULL;
  constant->isSplat = true;
  return constant->bytes;
}

static bool readAttribute(MlirAttribute value, Constant *constant) {
  size_t size;
  constant->bytes = mlirAttributeIsNull(value) ? NULL : tileElementsBytes(value, &size);
  constant->isSplat = false;
  if (constant->bytes)
    return size == bytesOf(&constant->shape);
  return !mlirAttributeIsNull(value) && readSplat(value, constant);
}

static bool readConstant(MlirValue value, Constant *constant) {
  MlirOperation op = tileDefiningOp(value);
  constant->isNew = false;
  return arithConstantOpIsA(op) && shapeOf(mlirValueGetType(value), &constant->shape) &&
         readAttribute(tileOpAttribute(op, "value"), constant);
}

// Upstream folds what moves elements of a splat.
static bool readWeights(MlirValue value, Constant *constant) {
  return readConstant(value, constant) && !constant->isSplat;
}

// What slices are inserted into: a constant, an empty tensor (zeros will do), or one filled with a constant.
static bool readStart(MlirValue value, Constant *constant) {
  static const unsigned char zeros[16];
  MlirOperation op = tileDefiningOp(value);
  if (readConstant(value, constant))
    return true;
  constant->isNew = true;
  if (mlirOperationIsNull(op) || !shapeOf(mlirValueGetType(value), &constant->shape))
    return false;
  if (tensorEmptyOpIsA(op)) {
    constant->bytes = zeros;
    constant->isSplat = true;
    return true;
  }
  MlirOperation number = linalgFillOpIsA(op) ? tileDefiningOp(tileFirstOperand(op)) : (MlirOperation){NULL};
  if (!arithConstantOpIsA(number))
    return false;
  MlirAttribute scalar = tileOpAttribute(number, "value");
  bool fits = mlirTypeEqual(mlirAttributeGetType(scalar), mlirShapedTypeGetElementType(mlirValueGetType(value)));
  return fits && readAttribute(mlirDenseElementsAttrSplatGet(mlirValueGetType(value), scalar), constant);
}

static void freeBytes(void *userData, const void *data, size_t size, size_t align) { free((void *)(uintptr_t)data); }

// Takes the bytes.
static MlirAttribute attributeOf(MlirType type, size_t size, unsigned char *bytes) {
  if (size > InlineBytes)
    return mlirUnmanagedDenseResourceElementsAttrGet(type, tileString("folded"), bytes, size, Alignment, false,
                                                     freeBytes, NULL);
  MlirAttribute value = mlirDenseElementsAttrRawBufferGet(type, (intptr_t)size, bytes);
  free(bytes);
  return value;
}

static unsigned char *allocate(size_t size) {
  return aligned_alloc(Alignment, (size + Alignment - 1) / Alignment * Alignment);
}

//===--- moves ----------------------------------------------------------------===//

// Where the elements of a shape of `sizes` lie in a constant and go in another; strides in elements, of `from` all 0
// for a splat.
typedef struct Move {
  int rank;
  const int64_t *sizes;
  int64_t from[MaxRank], to[MaxRank], fromStart, toStart;
  size_t width;
} Move;

static void moveAxis(const Move *move, int axis, const unsigned char *from, unsigned char *to) {
  size_t width = move->width;
  if (axis == move->rank) {
    memcpy(to, from, width);
    return;
  }
  bool isLast = axis == move->rank - 1;
  if (isLast && move->from[axis] == 1 && move->to[axis] == 1) {
    memcpy(to, from, (size_t)move->sizes[axis] * width);
    return;
  }
  for (int64_t i = 0; i < move->sizes[axis]; ++i)
    moveAxis(move, axis + 1, from + (size_t)(i * move->from[axis]) * width, to + (size_t)(i * move->to[axis]) * width);
}

static void runMove(const Move *move, const Constant *constant, unsigned char *to) {
  Move actual = *move;
  if (constant->isSplat) {
    memset(actual.from, 0, sizeof actual.from);
    actual.fromStart = 0;
  }
  moveAxis(&actual, 0, constant->bytes + (size_t)actual.fromStart * actual.width,
           to + (size_t)actual.toStart * actual.width);
}

static void copyStrides(int64_t *to, const Shape *shape) { memcpy(to, shape->strides, sizeof shape->strides); }

// The elements in the order that they have.
static void runCopy(const Constant *constant, unsigned char *to) {
  Move move = {.rank = constant->shape.rank, .sizes = constant->shape.sizes, .width = constant->shape.width};
  copyStrides(move.from, &constant->shape);
  copyStrides(move.to, &constant->shape);
  runMove(&move, constant, to);
}

//===--- slices ---------------------------------------------------------------===//

typedef struct Slice {
  int64_t sizes[MaxRank], strides[MaxRank], start; // in the whole tensor
} Slice;

typedef MlirValue Operand(MlirOperation op, intptr_t index);

typedef struct Numbers { // a list that is partly an attribute and partly operands
  MlirAttribute known;
  Operand *operand;
  intptr_t next;
} Numbers;

// The next number of the list; -1: not known.
static int64_t take(MlirOperation op, Numbers *numbers, int d) {
  int64_t number = mlirDenseI64ArrayGetElement(numbers->known, d);
  if (!mlirShapedTypeIsDynamicSize(number))
    return number;
  return tileConstantIndex(numbers->operand(op, numbers->next++), &number) ? number : -1;
}

// False where an offset, size or stride is not known, or the slice leaves the tensor.
static bool readSlice(MlirOperation op, const Shape *whole, Slice *slice) {
  bool isInsert = tensorInsertSliceOpIsA(op);
  Numbers offsets = {tileOpAttribute(op, "static_offsets"),
                     isInsert ? tensorInsertSliceOpGetOffsets : tensorExtractSliceOpGetOffsets, 0},
          sizes = {tileOpAttribute(op, "static_sizes"),
                   isInsert ? tensorInsertSliceOpGetSizes : tensorExtractSliceOpGetSizes, 0},
          strides = {tileOpAttribute(op, "static_strides"),
                     isInsert ? tensorInsertSliceOpGetStrides : tensorExtractSliceOpGetStrides, 0};
  slice->start = 0;
  for (int d = 0; d < whole->rank; ++d) {
    int64_t offset = take(op, &offsets, d), size = take(op, &sizes, d), stride = take(op, &strides, d), last;
    if (offset < 0 || size <= 0 || stride < 0 || __builtin_mul_overflow(size - 1, stride, &last) ||
        __builtin_add_overflow(last, offset, &last) || last >= whole->sizes[d])
      return false;
    slice->sizes[d] = size;
    slice->strides[d] = stride * whole->strides[d];
    slice->start += offset * whole->strides[d];
  }
  return true;
}

static void rowsOf(const int64_t *sizes, int rank, int64_t *strides) {
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; stride *= sizes[d--])
    strides[d] = stride;
}

//===--- ops ------------------------------------------------------------------===//

// Each returns the bytes of the op's result, or null where it has no constants or its result would be larger.
typedef unsigned char *Evaluate(MlirOperation op, const Shape *result);

static unsigned char *reshape(MlirOperation op, const Shape *result) {
  Constant source;
  unsigned char *bytes = readWeights(tileFirstOperand(op), &source) ? allocate(bytesOf(result)) : NULL;
  if (bytes)
    runCopy(&source, bytes);
  return bytes;
}

static unsigned char *extract(MlirOperation op, const Shape *result) {
  Constant source;
  Slice slice;
  if (!readWeights(tensorExtractSliceOpGetSource(op), &source) || !readSlice(op, &source.shape, &slice))
    return NULL;
  unsigned char *bytes = allocate(bytesOf(result));
  Move move = {.rank = source.shape.rank, .sizes = slice.sizes, .fromStart = slice.start, .width = source.shape.width};
  memcpy(move.from, slice.strides, sizeof slice.strides);
  rowsOf(slice.sizes, source.shape.rank, move.to);
  if (bytes)
    runMove(&move, &source, bytes);
  return bytes;
}

static unsigned char *insert(MlirOperation op, const Shape *result) {
  Constant source, whole;
  Slice slice;
  if (!readConstant(tensorInsertSliceOpGetSource(op), &source) || !readStart(tensorInsertSliceOpGetDest(op), &whole) ||
      !readSlice(op, result, &slice) || (whole.isNew && source.shape.count < result->count / MaxParts))
    return NULL;
  unsigned char *bytes = allocate(bytesOf(result));
  Move move = {.rank = result->rank, .sizes = slice.sizes, .toStart = slice.start, .width = result->width};
  rowsOf(slice.sizes, result->rank, move.from);
  memcpy(move.to, slice.strides, sizeof slice.strides);
  if (bytes) {
    runCopy(&whole, bytes);
    runMove(&move, &source, bytes);
  }
  return bytes;
}

// Axis d of the result is axis axes[d] of the source.
static unsigned char *permuted(MlirValue value, const Shape *result, const int *axes) {
  Constant source;
  unsigned char *bytes = readWeights(value, &source) ? allocate(bytesOf(result)) : NULL;
  Move move = {.rank = result->rank, .sizes = result->sizes, .width = result->width};
  copyStrides(move.to, result);
  for (int d = 0; bytes && d < result->rank; ++d)
    move.from[d] = source.shape.strides[axes[d]];
  if (bytes)
    runMove(&move, &source, bytes);
  return bytes;
}

static unsigned char *transpose(MlirOperation op, const Shape *result) {
  MlirAttribute permutation = tileOpAttribute(op, "permutation");
  int axes[MaxRank];
  for (int d = 0; d < result->rank; ++d)
    axes[d] = (int)mlirDenseI64ArrayGetElement(permutation, d);
  return permuted(linalgTransposeOpGetInput(op), result, axes);
}

static bool yieldsInput(MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation first = mlirBlockGetFirstOperation(block);
  return linalgYieldOpIsA(first) && mlirValueEqual(tileOnlyOperand(first), mlirBlockGetArgument(block, 0));
}

// A generic that yields its only input, both maps permutations.
static unsigned char *permute(MlirOperation op, const Shape *result) {
  MlirAttribute maps = tileOpAttribute(op, "indexing_maps");
  if (mlirOperationGetNumOperands(op) != 2 || mlirArrayAttrGetNumElements(maps) != 2 || !yieldsInput(op))
    return NULL;
  MlirAffineMap in = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)),
                out = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 1));
  if (!mlirAffineMapIsPermutation(in) || !mlirAffineMapIsPermutation(out))
    return NULL;
  int axes[MaxRank], axisOfDim[MaxRank];
  for (int d = 0; d < result->rank; ++d)
    axisOfDim[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(in, d))] = d;
  for (int d = 0; d < result->rank; ++d)
    axes[d] = axisOfDim[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(out, d))];
  return permuted(tileFirstOperand(op), result, axes);
}

static const struct {
  bool (*isA)(MlirOperation op);
  Evaluate *evaluate;
} evaluations[] = {{tensorExtractSliceOpIsA, extract}, {tensorInsertSliceOpIsA, insert},
                   {tensorExpandShapeOpIsA, reshape},  {tensorCollapseShapeOpIsA, reshape},
                   {linalgTransposeOpIsA, transpose},  {linalgGenericOpIsA, permute}};

//===--- the pass -------------------------------------------------------------===//

// A slice of a slice would keep the first one's data: constants without users go.
static void eraseUnused(MlirOperation op) {
  if (arithConstantOpIsA(op) && mlirOpOperandIsNull(mlirValueGetFirstUse(tileOnlyResult(op))))
    mlirOperationDestroy(op);
}

static bool fold(MlirOperation op, Evaluate *evaluate, size_t *size) {
  Shape result;
  if (mlirOperationGetNumResults(op) != 1 || !shapeOf(tileOnlyResultType(op), &result))
    return false;
  unsigned char *bytes = evaluate(op, &result);
  if (!bytes)
    return false;
  TileBuilder b = tileBuilderBefore(op);
  MlirValue value = tileBuildConstant(&b, attributeOf(tileOnlyResultType(op), bytesOf(&result), bytes));
  MlirOperation from = tileDefiningOp(tileFirstOperand(op));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
  eraseUnused(from);
  *size = bytesOf(&result);
  return true;
}

static bool isFoldable(MlirOperation op) {
  for (size_t i = 0; i < sizeof evaluations / sizeof *evaluations; ++i)
    if (evaluations[i].isA(op))
      return true;
  return false;
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollectOps(function, isFoldable);
  for (intptr_t i = 0; i < ops.count; ++i)
    for (size_t k = 0; k < sizeof evaluations / sizeof *evaluations; ++k)
      if (evaluations[k].isA(ops.items[i])) {
        size_t size;
        if (fold(ops.items[i], evaluations[k].evaluate, &size)) {
          mlirExtPassAddStatistic(pass, 0, 1);
          mlirExtPassAddStatistic(pass, 1, size);
        }
        break;
      }
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileFoldConstantLayoutsPass = {
    .argument = "tile-fold-constant-layouts",
    .summary = "Slice, transpose, reshape and concatenate constants at compile time",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"folds: ops on constants done", "bytes: of the constants made", NULL},
    .dialects = (const char *const[]){"arith", NULL},
    .run = run,
};
