// Folds ops on tensors whose type says that they have no elements: a tensor without elements is a tensor.empty, and to
// write one is to write nothing.
//
// Expects: slices, pads, concatenations, collapsed shapes and linalg.generics of tensors in func.func, before
// bufferization. Leaves: none of them that reads, writes or makes a tensor with a static size 0. Upstream's
// bufferization would make memref.subviews that start at the end of their memref, and memref.collapse_shapes of types
// that do not fit; the verifiers of both refuse them. Kernels would be made for loops without a round. Sizes that are 0
// only at run time are no trouble. Cost: linear in the ops.
#include "lib/capi/common.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/support/array.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

//===--- questions ----------------------------------------------------------===//

enum { MaxRank = TESSERA_MAX_RANK, MaxOperands = 64 };

static MlirExtShape shapeOf(MlirValue value) {
  MlirExtShape shape = {0};
  mlirExtTypeGetShape(mlirValueGetType(value), &shape);
  return shape;
}

static bool isWithoutElements(MlirValue value) {
  MlirExtShape shape = shapeOf(value);
  for (intptr_t d = 0; d < shape.rank; ++d)
    if (shape.sizes[d] == 0)
      return true;
  return false;
}

static bool isDynamic(int64_t size) { return mlirShapedTypeIsDynamicSize(size); }

// Small enough for the arrays here; what is larger stays as it is.
static bool isSmall(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (shapeOf(mlirOperationGetOperand(op, i)).rank > MaxRank)
      return false;
  return mlirOperationGetNumOperands(op) <= MaxOperands && shapeOf(tileOnlyResult(op)).rank <= MaxRank;
}

//===--- sizes --------------------------------------------------------------===//

// Number `d` of a list that is partly an attribute and partly operands; `next` is the first operand.
static MlirValue buildMixed(TileBuilder *builder, MlirOperation op, const char *statics, intptr_t d, intptr_t next) {
  MlirAttribute list = tileOpAttribute(op, statics);
  for (intptr_t i = 0; i < d; ++i)
    next += isDynamic(mlirDenseI64ArrayGetElement(list, i));
  int64_t number = mlirDenseI64ArrayGetElement(list, d);
  return isDynamic(number) ? mlirOperationGetOperand(op, next) : tileBuildIndex(builder, number);
}

static intptr_t countDynamic(MlirOperation op, const char *statics) {
  MlirAttribute list = tileOpAttribute(op, statics);
  intptr_t count = 0;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(list); ++i)
    count += isDynamic(mlirDenseI64ArrayGetElement(list, i));
  return count;
}

// The dimension of a slice, 1s included, that became dimension `d` of the result; dropped 1s are the first possible.
static intptr_t slicedDimension(MlirOperation op, intptr_t d) {
  MlirAttribute sizes = tileOpAttribute(op, "static_sizes");
  MlirExtShape result = shapeOf(tileOnlyResult(op));
  intptr_t at = 0, last = mlirDenseArrayGetNumElements(sizes) - 1;
  for (intptr_t i = 0;; ++i, ++at) {
    while (at < last && mlirDenseI64ArrayGetElement(sizes, at) != result.sizes[i])
      ++at;
    if (i == d || at >= last)
      return at;
  }
}

static MlirValue sliceSize(TileBuilder *builder, MlirOperation op, intptr_t d) {
  return buildMixed(builder, op, "static_sizes", slicedDimension(op, d), 1 + countDynamic(op, "static_offsets"));
}

static MlirValue padSize(TileBuilder *builder, MlirOperation op, intptr_t d) {
  MlirValue low = buildMixed(builder, op, "static_low", d, 1);
  MlirValue high = buildMixed(builder, op, "static_high", d, 1 + countDynamic(op, "static_low"));
  return tileBuildAdd(builder, tileBuildAdd(builder, tileBuildSize(builder, tensorPadOpGetSource(op), d), low), high);
}

static MlirValue concatSize(TileBuilder *builder, MlirOperation op, intptr_t d) {
  MlirValue size = tileBuildSize(builder, tensorConcatOpGetInputs(op, 0), d);
  if (d != mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim")))
    return size;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(op); ++i)
    size = tileBuildAdd(builder, size, tileBuildSize(builder, mlirOperationGetOperand(op, i), d));
  return size;
}

static MlirValue collapseSize(TileBuilder *builder, MlirOperation op, intptr_t d) {
  MlirAttribute group = mlirArrayAttrGetElement(tileOpAttribute(op, "reassociation"), d);
  MlirValue size = tileBuildIndex(builder, 1);
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(group); ++i) {
    intptr_t dimension = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, i));
    size = tileBuildMul(builder, size, tileBuildSize(builder, tensorCollapseShapeOpGetSrc(op), dimension));
  }
  return size;
}

//===--- folds --------------------------------------------------------------===//

static void replace(MlirOperation op, MlirValue value) {
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
}

typedef MlirValue (*SizeOf)(TileBuilder *builder, MlirOperation op, intptr_t dimension);

// An empty tensor of the op's result type, with the sizes that the type leaves open; with a body one of what the body
// computes, which is taken over.
static void replaceByNew(MlirOperation op, SizeOf sizeOf, const MlirRegion *body) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirExtShape shape = shapeOf(tileOnlyResult(op));
  MlirType type = tileOnlyResultType(op);
  MlirValue sizes[MaxRank];
  intptr_t count = 0;
  for (intptr_t d = 0; d < shape.rank; ++d)
    if (isDynamic(shape.sizes[d]))
      sizes[count++] = sizeOf(&builder, op, d);
  replace(op, body ? tensorGenerateOpBuild(&builder, type, count, sizes, *body)
                   : tensorEmptyOpBuild(&builder, type, count, sizes));
}

static void foldExtract(MlirOperation op) {
  if (isWithoutElements(tensorExtractSliceOpGetSource(op)) || isWithoutElements(tileOnlyResult(op)))
    replaceByNew(op, sliceSize, NULL);
}

static void foldInsert(MlirOperation op) {
  if (isWithoutElements(tensorInsertSliceOpGetSource(op)) || isWithoutElements(tileOnlyResult(op)))
    replace(op, tensorInsertSliceOpGetDest(op));
}

static void foldCollapse(MlirOperation op) {
  if (isWithoutElements(tensorCollapseShapeOpGetSrc(op)))
    replaceByNew(op, collapseSize, NULL);
}

// A pad of nothing is all padding.
static void foldPad(MlirOperation op) {
  if (isWithoutElements(tileOnlyResult(op))) {
    replaceByNew(op, padSize, NULL);
  } else if (isWithoutElements(tensorPadOpGetSource(op))) {
    MlirRegion body = mlirRegionCreate();
    mlirRegionTakeBody(body, mlirOperationGetRegion(op, 0));
    replaceByNew(op, padSize, &body);
  }
}

// For one tensor it is that tensor.
static void replaceByConcat(MlirOperation op, intptr_t count, const MlirValue *operands) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  if (count > 1)
    replace(op, tensorConcatOpBuild(&builder, type, count, operands, tensorConcatOpGetDim(op)));
  else if (mlirTypeEqual(mlirValueGetType(operands[0]), type))
    replace(op, operands[0]);
  else
    replace(op, tensorCastOpBuild(&builder, type, operands[0]));
}

static void foldConcat(MlirOperation op) {
  intptr_t dimension = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "dim"));
  intptr_t count = mlirOperationGetNumOperands(op), kept = 0;
  MlirValue operands[MaxOperands];
  bool isEmpty = isWithoutElements(tileOnlyResult(op));
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (shapeOf(operand).sizes[dimension] != 0)
      operands[kept++] = operand;
    isEmpty |= isWithoutElements(operand) && shapeOf(operand).sizes[dimension] != 0; // then so are all the others
  }
  if (isEmpty || kept == 0)
    replaceByNew(op, concatSize, NULL);
  else if (kept < count)
    replaceByConcat(op, kept, operands);
}

// A loop over nothing has no round: what there was before stays.
static void foldGeneric(MlirOperation op) {
  bool isEmpty = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    isEmpty |= isWithoutElements(mlirOperationGetOperand(op, i));
  if (!isEmpty)
    return;
  intptr_t results = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < results; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), linalgGenericOpGetOutputs(op, i));
  mlirOperationDestroy(op);
}

//===--- the pass -------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  static const struct {
    bool (*isA)(MlirOperation op);
    void (*fold)(MlirOperation op);
  } folds[] = {{tensorExtractSliceOpIsA, foldExtract},   {tensorInsertSliceOpIsA, foldInsert},
               {tensorCollapseShapeOpIsA, foldCollapse}, {tensorPadOpIsA, foldPad},
               {tensorConcatOpIsA, foldConcat},          {linalgGenericOpIsA, foldGeneric}};
  for (size_t i = 0; i < sizeof folds / sizeof *folds; ++i) {
    TileOps ops = tileCollectOps(function, folds[i].isA);
    for (intptr_t k = 0; k < ops.count; ++k)
      if (linalgGenericOpIsA(ops.items[k]) || isSmall(ops.items[k]))
        folds[i].fold(ops.items[k]);
    tileOpsFree(&ops);
  }
  return true;
}

const MlirExtPassDefinition tileFoldZeroSizesPass = {
    .argument = "tile-fold-zero-sizes",
    .summary = "Fold slices, pads, concatenations, collapsed shapes and loops over tensors without elements",
    .anchor = funcFuncOpName,
    .dialects = (const char *const[]){"tensor", "arith", NULL},
    .run = run,
};
