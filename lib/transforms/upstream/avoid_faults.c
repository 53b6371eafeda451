// tile-avoid-upstream-faults: ops at which LLVM 22.1 crashes or computes something else become ops that mean the same.
//
// Each row of `faults` names the op, upstream's report, and the rewriting. The wrong patterns of the canonicalizer are
// in lib/ir/canonicalize.h, and what upstream's sparsifier cannot do in lib/conversion/sparse_tensor_to_sparse.
//
//   %e = memref.expand_shape %a [[0, 1]] output_shape [%n, %m]  →  memref.reinterpret_cast with sizes [%n, %m]
//
// Expects: any level; pipelines run it first, before upstream's passes of buffers and vectors, and last, in the llvm
// dialect. Leaves: no op that a row tells about, or an error at that op. Cost: linear.
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/array.h"
#include "lib/transforms/upstream/faults.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "upstream/arith.h"
#include "upstream/bufferization.h"
#include "upstream/linalg.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"
#include "upstream/ml_program.h"
#include "upstream/scf.h"
#include "upstream/tensor.h"
#include "upstream/ub.h"
#include "upstream/vector.h"

enum { MaxRank = TESSERA_MAX_RANK };

static bool replace(MlirOperation op, MlirValue value) {
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
  return true;
}

static MlirValue buildZeros(TileBuilder *b, MlirType vector) {
  MlirType element = mlirShapedTypeGetElementType(vector);
  MlirAttribute zero =
      mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(b->context, element, 0) : mlirIntegerAttrGet(element, 0);
  return tileBuildConstant(b, mlirDenseElementsAttrSplatGet(vector, zero));
}

static bool isDynamic(int64_t size) { return size == mlirShapedTypeGetDynamicSize(); }

//===--- memref.expand_shape with several dynamic sizes in a group ------------------===//

// The dimensions that dimension `source` becomes are [*first, *first + count).
static intptr_t groupOf(MlirOperation op, intptr_t source, intptr_t *first) {
  MlirAttribute group = mlirArrayAttrGetElement(memrefExpandShapeOpGetReassociation(op), source);
  *first = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(group, 0));
  return mlirArrayAttrGetNumElements(group);
}

static bool hasSeveralDynamic(MlirOperation op) {
  MlirType type = memrefExpandShapeOpGetResultType(op);
  for (intptr_t g = 0; g < mlirShapedTypeGetRank(memrefExpandShapeOpGetSrcType(op)); ++g) {
    intptr_t first, dynamic = 0, count = groupOf(op, g, &first);
    for (intptr_t i = first; i < first + count; ++i)
      dynamic += mlirShapedTypeIsDynamicDim(type, i);
    if (dynamic > 1)
      return true;
  }
  return false;
}

typedef struct View {
  MlirValue offset, sizes[MaxRank], strides[MaxRank];
} View;

// Sizes as the op gives them; strides from the source's, innermost dimension of each group first.
static View viewOf(TileBuilder *builder, MlirOperation op) {
  MlirValue source = memrefExpandShapeOpGetSrc(op);
  MlirType from = mlirValueGetType(source), to = memrefExpandShapeOpGetResultType(op);
  intptr_t rank = mlirShapedTypeGetRank(from), given = 0;
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(builder, source);
  View view = {.offset = memrefExtractStridedMetadataOpGetOffset(parts)};
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(to); ++i)
    view.sizes[i] = mlirShapedTypeIsDynamicDim(to, i) ? memrefExpandShapeOpGetOutputShape(op, given++)
                                                      : tileBuildIndex(builder, mlirShapedTypeGetDimSize(to, i));
  for (intptr_t g = 0; g < rank; ++g) {
    intptr_t first, count = groupOf(op, g, &first);
    MlirValue stride = memrefExtractStridedMetadataOpGetStrides(parts, g);
    for (intptr_t i = first + count - 1; i >= first; --i) {
      view.strides[i] = stride;
      stride = tileBuildMul(builder, stride, view.sizes[i]);
    }
  }
  return view;
}

static bool expandByCast(MlirOperation op) {
  MlirType type = memrefExpandShapeOpGetResultType(op);
  intptr_t rank = mlirShapedTypeGetRank(type), numSizes = 0, numStrides = 0;
  int64_t offset, open = mlirShapedTypeGetDynamicStrideOrOffset(), sizes[MaxRank], strides[MaxRank];
  if (!hasSeveralDynamic(op))
    return true;
  if (rank > MaxRank || mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return tileError(op, "has several dynamic sizes in a group, and no list of strides");
  TileBuilder builder = tileBuilderBefore(op);
  View view = viewOf(&builder, op);
  MlirValue dynamicSizes[MaxRank], dynamicStrides[MaxRank];
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    if (isDynamic(sizes[i]))
      dynamicSizes[numSizes++] = view.sizes[i];
    if (strides[i] == open)
      dynamicStrides[numStrides++] = view.strides[i];
  }
  return replace(op, memrefReinterpretCastOpBuild(&builder, type, memrefExpandShapeOpGetSrc(op), offset == open,
                                                  &view.offset, numSizes, dynamicSizes, numStrides, dynamicStrides,
                                                  mlirDenseI64ArrayGet(builder.context, 1, &offset),
                                                  mlirDenseI64ArrayGet(builder.context, rank, sizes),
                                                  mlirDenseI64ArrayGet(builder.context, rank, strides)));
}

//===--- products of a vector's integers --------------------------------------------===//

static MlirValue elementAt(TileBuilder *builder, MlirValue vector, int64_t i) {
  MlirType i64 = mlirIntegerTypeGet(builder->context, 64);
  MlirValue at = llvmConstantOpBuild(builder, i64, mlirIntegerAttrGet(i64, i));
  return llvmExtractElementOpBuild(builder, vector, at);
}

static MlirValue part(TileBuilder *builder, MlirValue vector, int64_t first, int64_t count) {
  int32_t mask[1024];
  for (int64_t i = 0; i < count; ++i)
    mask[i] = (int32_t)(first + i);
  MlirType type = mlirVectorTypeGet(1, &count, mlirShapedTypeGetElementType(mlirValueGetType(vector)));
  return llvmShuffleVectorOpBuild(builder, type, vector, vector, mlirDenseI32ArrayGet(builder->context, count, mask));
}

// Halves are multiplied until one element is left; an odd one is multiplied last.
static bool multiplyHalves(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue vector = tileOnlyOperand(op), odd = {NULL};
  if (mlirVectorTypeIsScalable(mlirValueGetType(vector)))
    return true;
  int64_t size = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0);
  for (; size > 1 && size / 2 <= 1024; size /= 2) {
    if (size % 2) {
      MlirValue last = elementAt(&builder, vector, size - 1);
      odd = mlirValueIsNull(odd) ? last : llvmMulOpBuild(&builder, odd, last);
    }
    vector = llvmMulOpBuild(&builder, part(&builder, vector, 0, size / 2), part(&builder, vector, size / 2, size / 2));
  }
  if (size > 1)
    return tileError(op, "multiplies %lld elements; at most 2048 are accepted", (long long)size);
  MlirValue product = elementAt(&builder, vector, 0);
  return replace(op, mlirValueIsNull(odd) ? product : llvmMulOpBuild(&builder, product, odd));
}

//===--- vector.insert of a vector at a dynamic position ------------------------------===//

static MlirValue rowAt(TileBuilder *builder, MlirValue vector, intptr_t count, const int64_t *position) {
  return vectorExtractOpBuild(builder, vector, 0, NULL, mlirDenseI64ArrayGet(builder->context, count, position));
}

// Each row is the new one where the position says so, and otherwise what it was.
static bool insertBySelection(MlirOperation op) {
  MlirAttribute positions = vectorInsertOpGetStaticPosition(op);
  MlirType type = vectorInsertOpGetResultType(op);
  intptr_t count = mlirDenseArrayGetNumElements(positions), open = -1,
           numOpen = vectorInsertOpGetNumDynamicPosition(op);
  int64_t position[MaxRank];
  if (numOpen == 0 || !mlirTypeIsAVector(vectorInsertOpGetValueToStoreType(op)) || count > MaxRank)
    return true;
  for (intptr_t i = 0; i < count; ++i) {
    position[i] = mlirDenseI64ArrayGetElement(positions, i);
    open = isDynamic(position[i]) ? i : open;
  }
  if (numOpen > 1)
    return tileError(op, "inserts a vector at %lld dynamic positions; at most 1 is accepted", (long long)numOpen);
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue row = vectorInsertOpGetValueToStore(op), result = vectorInsertOpGetDest(op);
  for (int64_t i = 0; i < mlirShapedTypeGetDimSize(type, open); ++i) {
    position[open] = i;
    MlirValue isHere =
        arithCmpIOpBuild(&builder, vectorInsertOpGetDynamicPosition(op, 0), tileBuildIndex(&builder, i), ArithCmpI_Eq);
    MlirValue kept = rowAt(&builder, vectorInsertOpGetDest(op), count, position);
    result = vectorInsertOpBuild(&builder, arithSelectOpBuild(&builder, isHere, row, kept), result, 0, NULL,
                                 mlirDenseI64ArrayGet(builder.context, count, position));
  }
  return replace(op, result);
}

//===--- bits of elements that do not divide each other ---------------------------------===//

static unsigned widthOf(MlirType vector) { return tileElementWidth(mlirShapedTypeGetElementType(vector)); }

static bool cutsElements(MlirOperation op) {
  if (!vectorBitCastOpIsA(op) || !mlirShapedTypeGetRank(tileOnlyResultType(op)))
    return false;
  unsigned from = widthOf(tileOnlyOperandType(op)), to = widthOf(tileOnlyResultType(op));
  return from && to && from % to && to % from;
}

// The element of a row's bits that begins at bit `first`: pieces of elements of the source, shifted to their places.
static MlirValue elementFrom(TileBuilder *b, MlirValue row, int64_t first, MlirType element) {
  MlirType source = mlirShapedTypeGetElementType(mlirValueGetType(row));
  unsigned from = tileElementWidth(source), to = tileElementWidth(element);
  MlirType wide = mlirIntegerTypeGet(b->context, from + to), bits = mlirIntegerTypeGet(b->context, from);
  MlirValue all = tileBuildInteger(b, wide, 0);
  for (int64_t at = first / from; at * from < first + to; ++at) {
    MlirValue piece = vectorExtractOpBuild(b, row, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, &at));
    if (mlirTypeIsAFloat(source))
      piece = arithBitcastOpBuild(b, bits, piece);
    piece = arithExtUIOpBuild(b, wide, piece);
    int64_t shift = at * from - first;
    MlirValue by = tileBuildInteger(b, wide, shift < 0 ? -shift : shift);
    piece = shift < 0 ? arithShRUIOpBuild(b, piece, by) : arithShLIOpBuild(b, piece, by);
    all = arithOrIOpBuild(b, all, piece);
  }
  MlirValue cut = arithTruncIOpBuild(b, mlirIntegerTypeGet(b->context, to), all);
  return mlirTypeIsAFloat(element) ? arithBitcastOpBuild(b, element, cut) : cut;
}

static bool castByElements(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  MlirType type = tileOnlyResultType(op), element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t at[MaxRank] = {0}, rows = 1, columns = mlirShapedTypeGetDimSize(type, rank - 1);
  if (rank > MaxRank || mlirVectorTypeIsScalable(type))
    return tileError(op, "casts a vector of this shape between widths that do not divide each other");
  MlirValue result = buildZeros(b, type);
  for (intptr_t d = 0; d + 1 < rank; ++d)
    rows *= mlirShapedTypeGetDimSize(type, d);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t d = rank - 2, left = row; d >= 0; --d) {
      at[d] = left % mlirShapedTypeGetDimSize(type, d);
      left /= mlirShapedTypeGetDimSize(type, d);
    }
    MlirValue source = tileOnlyOperand(op);
    if (rank > 1)
      source = vectorExtractOpBuild(b, source, 0, NULL, mlirDenseI64ArrayGet(b->context, rank - 1, at));
    for (at[rank - 1] = 0; at[rank - 1] < columns; ++at[rank - 1])
      result = vectorInsertOpBuild(b, elementFrom(b, source, at[rank - 1] * widthOf(type), element), result, 0, NULL,
                                   mlirDenseI64ArrayGet(b->context, rank, at));
  }
  return replace(op, result);
}

//===--- poison -----------------------------------------------------------------------===//

static bool isPoison(MlirValue value) { return ubPoisonOpIsA(tileDefiningOp(value)); }

// A sum with poison is poison, and so is its carry.
static bool addToPoison(MlirOperation op) {
  if (!isPoison(tileBinaryLhs(op)) && !isPoison(tileBinaryRhs(op)))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  for (intptr_t i = 0; i < 2; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), ubPoisonOpBuild(&builder, tileResultType(op, i)));
  mlirOperationDestroy(op);
  return true;
}

// Poison may be any number: 0.
static bool fillPoison(MlirOperation op) {
  MlirType element = mlirShapedTypeGetElementType(tileOnlyResultType(op));
  if (mlirTypeIsAVector(element))
    return tileError(op, "makes a tensor of vectors; an element type of integers, index or floats is accepted");
  TileBuilder builder = tileBuilderBefore(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (isPoison(mlirOperationGetOperand(op, i)))
      mlirOperationSetOperand(op, i,
                              mlirTypeIsAFloat(element)   ? tileBuildFloat(&builder, element, 0)
                              : mlirTypeIsAIndex(element) ? tileBuildIndex(&builder, 0)
                                                          : tileBuildInteger(&builder, element, 0));
  return true;
}

//===--- slices of one element that step ------------------------------------------------===//

// A slice has one element of a dimension: the stride there says nothing and becomes 1.
static bool stepByOne(MlirOperation op) {
  MlirAttribute sizes = tileOpAttribute(op, "static_sizes"), strides = tileOpAttribute(op, "static_strides");
  intptr_t rank = mlirDenseArrayGetNumElements(strides);
  int64_t steps[MaxRank];
  bool differs = false;
  for (intptr_t d = 0; d < rank && rank <= MaxRank; ++d) {
    int64_t step = mlirDenseI64ArrayGetElement(strides, d);
    bool isIdle = mlirDenseI64ArrayGetElement(sizes, d) == 1 && !isDynamic(step);
    steps[d] = isIdle ? 1 : step;
    differs |= steps[d] != step;
  }
  if (differs)
    mlirOperationSetInherentAttributeByName(op, tileString("static_strides"),
                                            mlirDenseI64ArrayGet(mlirOperationGetContext(op), rank, steps));
  return true;
}

//===--- slices that lose a dimension behind one of size 1 -------------------------------===//

typedef struct Slice {
  intptr_t rank;
  int64_t sizes[MaxRank];
  bool isLost[MaxRank]; // in the tensor of lower rank
} Slice;

// What a slice or an insertion loses on the way to `lower`, as upstream reads it: the first possible dimensions.
static bool readSlice(MlirOperation op, MlirType lower, Slice *slice) {
  MlirAttribute sizes = tileOpAttribute(op, "static_sizes");
  MlirExtShape shape;
  *slice = (Slice){.rank = mlirDenseArrayGetNumElements(sizes)};
  if (slice->rank > MaxRank || !mlirExtTypeGetShape(lower, &shape) ||
      (mlirTypeIsARankedTensor(lower) && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(lower))))
    return false;
  intptr_t kept = shape.rank;
  for (intptr_t d = slice->rank; d-- > 0;) {
    slice->sizes[d] = mlirDenseI64ArrayGetElement(sizes, d);
    slice->isLost[d] = kept == 0 || slice->sizes[d] != shape.sizes[kept - 1];
    kept -= !slice->isLost[d];
  }
  return kept == 0;
}

// A buffer's slice of lower rank tells what it lost by its strides, which a step changes: upstream crashes where a size
// of 1, or one that may be, is kept, and two strides of the whole buffer may be alike.
static bool stepsBesideOne(MlirOperation op, const Slice *slice) {
  MlirAttribute strides = tileOpAttribute(op, "static_strides");
  bool inserts = tensorInsertSliceOpIsA(op) || tensorParallelInsertSliceOpIsA(op);
  MlirType whole = inserts ? mlirValueGetType(tileBinaryRhs(op)) : tileFirstOperandType(op);
  bool isLower = false, steps = false, keepsOne = false, isAlike = false;
  for (intptr_t d = 0; d < slice->rank; ++d) {
    isAlike |= mlirShapedTypeIsDynamicDim(whole, d) || mlirShapedTypeGetDimSize(whole, d) == 1;
    isLower |= slice->isLost[d];
    steps |= mlirDenseI64ArrayGetElement(strides, d) != 1;
    keepsOne |= !slice->isLost[d] && (slice->sizes[d] == 1 || isDynamic(slice->sizes[d]));
  }
  return isLower && steps && keepsOne && isAlike;
}

// Upstream loses the first 1s of the sizes once it knows them all: that is another shape where a kept size is 1, or
// may be, and one that is not 1 stands between it and a lost one.
static bool losesAnother(MlirOperation op, MlirType lower) {
  Slice slice;
  bool isOpen = false, isCut = false, isOther = false;
  intptr_t others = tensorExtractSliceOpIsA(op) ? 1 : 2;
  if (!readSlice(op, lower, &slice))
    return false;
  if (stepsBesideOne(op, &slice))
    return true;
  if (mlirOperationGetNumOperands(op) == others)
    return false;
  for (intptr_t d = 0; d < slice.rank; ++d) {
    isOther |= slice.isLost[d] && isCut;
    if (slice.isLost[d])
      continue;
    isCut |= isOpen && slice.sizes[d] != 1;
    isOpen |= slice.sizes[d] == 1 || isDynamic(slice.sizes[d]);
  }
  return isOther;
}

static bool slicesAnother(MlirOperation op) {
  return tensorExtractSliceOpIsA(op) && losesAnother(op, tileOnlyResultType(op));
}

static bool viewsAnother(MlirOperation op) {
  Slice slice;
  return memrefSubViewOpIsA(op) && readSlice(op, tileOnlyResultType(op), &slice) && stepsBesideOne(op, &slice);
}

// A number of a list of the op's, which holds it or, open, takes the next of its operands.
static MlirValue numberOf(TileBuilder *b, MlirAttribute numbers, intptr_t d, MlirOperation op,
                          MlirValue (*operand)(MlirOperation op, intptr_t index), intptr_t *next) {
  int64_t number = mlirDenseI64ArrayGetElement(numbers, d);
  return isDynamic(number) ? operand(op, (*next)++) : tileBuildIndex(b, number);
}

// The subview of lower rank from the source's offset and strides. Which size of 1 is lost does not matter.
static bool viewByCast(MlirOperation op) {
  MlirType type = tileOnlyResultType(op);
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  int64_t offset, open = mlirShapedTypeGetDynamicStrideOrOffset(), sizes[MaxRank], strides[MaxRank];
  Slice slice;
  readSlice(op, type, &slice);
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return tileError(op, "has no list of strides");
  MlirOperation metadata = memrefExtractStridedMetadataOpBuild(b, memrefSubViewOpGetSource(op));
  MlirValue start = memrefExtractStridedMetadataOpGetOffset(metadata), openSizes[MaxRank], openStrides[MaxRank];
  intptr_t nextOffset = 0, nextSize = 0, nextStride = 0, numSizes = 0, numStrides = 0, kept = 0;
  for (intptr_t d = 0; d < slice.rank; ++d) {
    MlirValue stride = memrefExtractStridedMetadataOpGetStrides(metadata, d);
    MlirValue at = numberOf(b, memrefSubViewOpGetStaticOffsets(op), d, op, memrefSubViewOpGetOffsets, &nextOffset);
    MlirValue size = numberOf(b, memrefSubViewOpGetStaticSizes(op), d, op, memrefSubViewOpGetSizes, &nextSize);
    MlirValue step = numberOf(b, memrefSubViewOpGetStaticStrides(op), d, op, memrefSubViewOpGetStrides, &nextStride);
    start = tileBuildAdd(b, start, tileBuildMul(b, at, stride));
    if (slice.isLost[d])
      continue;
    sizes[kept] = mlirShapedTypeGetDimSize(type, kept);
    if (isDynamic(sizes[kept]))
      openSizes[numSizes++] = size;
    if (strides[kept] == open)
      openStrides[numStrides++] = tileBuildMul(b, stride, step);
    ++kept;
  }
  return replace(op, memrefReinterpretCastOpBuild(b, type, memrefSubViewOpGetSource(op), offset == open, &start,
                                                  numSizes, openSizes, numStrides, openStrides,
                                                  mlirDenseI64ArrayGet(b->context, 1, &offset),
                                                  mlirDenseI64ArrayGet(b->context, kept, sizes),
                                                  mlirDenseI64ArrayGet(b->context, kept, strides)));
}

static MlirValue insertedBy(MlirOperation op) {
  return tensorInsertSliceOpIsA(op) ? tensorInsertSliceOpGetSource(op) : tensorParallelInsertSliceOpGetSource(op);
}

static bool insertsAnother(MlirOperation op) {
  return (tensorInsertSliceOpIsA(op) || tensorParallelInsertSliceOpIsA(op)) &&
         losesAnother(op, mlirValueGetType(insertedBy(op)));
}

// The tensor before it loses dimensions, and which of its dimensions become one.
static MlirType wholeSlice(const Slice *slice, MlirType lower, MlirAttribute *reassociation) {
  MlirType i64 = mlirIntegerTypeGet(mlirTypeGetContext(lower), 64);
  MlirAttribute groups[MaxRank], members[MaxRank];
  intptr_t numGroups = 0, numMembers = 0, keptLeft = 0;
  for (intptr_t d = 0; d < slice->rank; ++d)
    keptLeft += !slice->isLost[d];
  for (intptr_t d = 0, kept = 0; d < slice->rank; ++d) {
    members[numMembers++] = mlirIntegerAttrGet(i64, d);
    kept += !slice->isLost[d];
    bool isLast = d + 1 == slice->rank || (kept < keptLeft && kept == numGroups + 1);
    if (!isLast)
      continue;
    groups[numGroups++] = mlirArrayAttrGet(mlirTypeGetContext(lower), numMembers, members);
    numMembers = 0;
  }
  *reassociation = mlirArrayAttrGet(mlirTypeGetContext(lower), numGroups, groups);
  return mlirRankedTensorTypeGet(slice->rank, slice->sizes, mlirShapedTypeGetElementType(lower),
                                 mlirAttributeGetNull());
}

static bool collapseWhole(MlirOperation op) {
  MlirType lower = tileOnlyResultType(op);
  MlirAttribute reassociation;
  Slice slice;
  readSlice(op, lower, &slice);
  MlirType whole = wholeSlice(&slice, lower, &reassociation);
  TileBuilder builder = tileBuilderAfter(op);
  MlirValue result = tileOnlyResult(op), collapsed = tensorCollapseShapeOpBuild(&builder, lower, result, reassociation);
  MlirOperation user = tileDefiningOp(collapsed);
  mlirValueReplaceAllUsesExcept(result, collapsed, 1, &user);
  mlirValueSetType(result, whole);
  return true;
}

static bool expandWhole(MlirOperation op) {
  MlirValue source = insertedBy(op), open[MaxRank];
  MlirType lower = mlirValueGetType(source);
  MlirAttribute reassociation;
  Slice slice;
  readSlice(op, lower, &slice);
  MlirType whole = wholeSlice(&slice, lower, &reassociation);
  TileBuilder builder =
      tileBuilderBefore(tensorParallelInsertSliceOpIsA(op) ? mlirOperationGetParentOperation(op) : op);
  intptr_t numOpen = 0, kept = 0;
  for (intptr_t d = 0; d < slice.rank; ++d) {
    if (isDynamic(slice.sizes[d]))
      open[numOpen++] = tileBuildSize(&builder, source, kept);
    kept += !slice.isLost[d];
  }
  MlirAttribute shape = mlirDenseI64ArrayGet(builder.context, slice.rank, slice.sizes);
  MlirValue expanded = tensorExpandShapeOpBuild(&builder, whole, source, numOpen, open, reassociation, shape);
  if (tensorInsertSliceOpIsA(op))
    tensorInsertSliceOpSetSource(op, expanded);
  else
    tensorParallelInsertSliceOpSetSource(op, expanded);
  return true;
}

//===--- arithmetic on sparse tensors that gives another element type ---------------===//

// A layout of a tile is an encoding too, and stays where it is.
static bool isStored(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && mlirAttributeIsASparseTensorEncodingAttr(encoding);
}

static bool losesEncoding(MlirOperation op) {
  if (!tileOpIsElementwise(op) || mlirOperationGetNumResults(op) != 1)
    return false;
  MlirType type = tileOnlyResultType(op);
  intptr_t count = mlirOperationGetNumOperands(op);
  bool differs = count > 0 && isStored(type) && mlirShapedTypeGetRank(type) <= MaxRank;
  for (intptr_t i = 0; i < count; ++i)
    differs &= mlirTypeIsARankedTensor(tileOperandType(op, i)) && !mlirTypeEqual(tileOperandType(op, i), type);
  return differs;
}

static bool computeByPoints(MlirOperation op) {
  enum { MaxOperands = 3 };
  TileBuilder builder = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op), element = mlirShapedTypeGetElementType(type), elements[MaxOperands + 1];
  MlirValue operands[MaxOperands + 1], arguments[MaxOperands];
  MlirAttribute maps[MaxOperands + 1];
  intptr_t count = mlirOperationGetNumOperands(op), rank = mlirShapedTypeGetRank(type);
  if (count > MaxOperands)
    return true;
  for (intptr_t i = 0; i < count; ++i) {
    operands[i] = mlirOperationGetOperand(op, i);
    elements[i] = mlirShapedTypeGetElementType(mlirValueGetType(operands[i]));
  }
  operands[count] = tileBuildEmptyLike(&builder, type, operands[0]);
  elements[count] = element;
  for (intptr_t i = 0; i <= count; ++i)
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(builder.context, rank));
  MlirRegion region;
  TileBuilder body = tileBuilderInRegion(&builder, &region, count + 1, elements);
  for (intptr_t i = 0; i < count; ++i)
    arguments[i] = mlirBlockGetArgument(body.block, i);
  MlirValue computed = tileOnlyResult(tileBuildLike(&body, op, arguments, 1, &element));
  linalgYieldOpBuild(&body, 1, &computed);
  MlirOperation generic = linalgGenericOpBuild(&builder, 1, &type, count, operands, 1, &operands[count],
                                               mlirArrayAttrGet(builder.context, count + 1, maps),
                                               tileBuildIteratorTypes(&builder, rank, 0), region);
  return replace(op, tileOnlyResult(generic));
}

//===--- vectors of unknown size --------------------------------------------------------===//

static bool isScalable(MlirType type) { return mlirTypeIsAVector(type) && mlirVectorTypeIsScalable(type); }

static bool hasScalable(MlirOperation op) {
  bool has = llvmVscaleOpIsA(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !has && tileOpIsOfDialect(op, "llvm"); ++i)
    has = isScalable(tileOperandType(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op) && !has && tileOpIsOfDialect(op, "llvm"); ++i)
    has = isScalable(tileResultType(op, i));
  return has;
}

static bool refuseScalable(MlirOperation op) {
  return tileError(op, "has a vector of unknown size (vector<[N]xT>, vscale); vectors of known size are accepted");
}

//===--- folds that make a constant of unknown sizes ------------------------------------===//

// x == x, x ^ x, (a - b) - a.
static bool foldsWithoutSizes(MlirOperation op) {
  if (!arithCmpIOpIsA(op) && !arithXOrIOpIsA(op) && !arithSubIOpIsA(op))
    return false;
  MlirType type = tileOnlyResultType(op);
  MlirOperation lhs = tileDefiningOp(tileBinaryLhs(op));
  bool isInner = arithSubIOpIsA(op) && arithSubIOpIsA(lhs) && mlirValueEqual(tileBinaryLhs(lhs), tileBinaryRhs(op));
  return mlirTypeIsARankedTensor(type) && !mlirShapedTypeHasStaticShape(type) &&
         mlirShapedTypeGetRank(type) <= MaxRank && (isInner || mlirValueEqual(tileBinaryLhs(op), tileBinaryRhs(op)));
}

//===--- a choice between sparse tensors --------------------------------------------===//

static bool choosesEncoded(MlirOperation op) {
  return arithSelectOpIsA(op) && !mlirTypeIsAShaped(tileFirstOperandType(op)) && isStored(tileOnlyResultType(op));
}

static bool chooseByIf(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirType type = tileOnlyResultType(op);
  MlirRegion regions[2];
  for (int i = 0; i < 2; ++i) {
    MlirValue chosen = mlirOperationGetOperand(op, 1 + i);
    TileBuilder inside = tileBuilderInRegion(&builder, &regions[i], 0, NULL);
    tileBuildYield(&inside, 1, &chosen);
  }
  return replace(op, tileOnlyResult(scfIfOpBuild(&builder, 1, &type, tileFirstOperand(op), regions[0], regions[1])));
}

//===--- globals that hold values -------------------------------------------------------===//

// Bufferization gives the global's own memory, which a store overwrites: what is loaded becomes a copy.
static bool copyLoaded(MlirOperation op) {
  MlirValue loaded = tileOnlyResult(op);
  MlirType type = mlirValueGetType(loaded);
  if (!mlirTypeIsARankedTensor(type))
    return true;
  // The uses of what is loaded become the copy's, before the copy uses it.
  TileBuilder builder = tileBuilderAfter(op);
  MlirOperation own = tileBuilderInsert(&builder, mlirOperationClone(op));
  MlirValue copy = bufferizationAllocTensorOpBuild(&builder, type, 0, NULL, tileOnlyResult(own), (MlirValue){NULL});
  return replace(op, copy);
}

// Bufferization thinks that a store reads nothing: what is stored becomes a copy, which does.
static bool copyStored(MlirOperation op) {
  MlirType type = tileFirstOperandType(op);
  if (!mlirTypeIsARankedTensor(type))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue copy = bufferizationAllocTensorOpBuild(&builder, type, 0, NULL, tileFirstOperand(op), (MlirValue){NULL});
  tileSetFirstOperand(op, copy);
  return true;
}

// Bufferization has no model of the load of a constant.
static bool takeConstant(MlirOperation op) {
  MlirOperation global = mlirExtSymbolLookup(op, tileOpAttribute(op, "global"));
  MlirAttribute value = mlProgramGlobalOpIsA(global) ? mlProgramGlobalOpGetValue(global) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(value) || !mlirTypeEqual(mlirAttributeGetType(value), tileOnlyResultType(op)))
    return true;
  TileBuilder builder = tileBuilderBefore(op);
  return replace(op, arithConstantOpBuild(&builder, value));
}

//===--- vector.scan ------------------------------------------------------------------===//

static MlirAttribute numbersAttr(const TileBuilder *b, intptr_t count, const int64_t *numbers) {
  MlirAttribute elements[MaxRank];
  for (intptr_t i = 0; i < count; ++i)
    elements[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), numbers[i]);
  return mlirArrayAttrGet(b->context, count, elements);
}

// Line by line along the axis: an inclusive scan starts from the first line, an exclusive one from the initial value.
static bool expandScan(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op), *b = &builder;
  MlirValue source = vectorScanOpGetSource(op), initial = vectorScanOpGetInitialValue(op);
  MlirType type = mlirValueGetType(source), element = mlirShapedTypeGetElementType(type);
  MlirType initialType = mlirValueGetType(initial);
  intptr_t rank = mlirShapedTypeGetRank(type), axis = vectorScanOpGetReductionDimValue(op);
  bool isInclusive = vectorScanOpGetInclusiveValue(op);
  TileUpstream kind = tileVectorCombiner(tileOpAttribute(op, "kind"), mlirTypeIsAFloat(element));
  int64_t sizes[MaxRank], offsets[MaxRank] = {0}, ones[MaxRank];
  if (rank > MaxRank || kind == TileUpstream_None)
    return tileError(op, "combines its elements in a way that is not known here");
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    ones[i] = 1;
  }
  int64_t length = sizes[axis];
  sizes[axis] = 1;
  MlirType line = mlirVectorTypeGet(rank, sizes, element);
  MlirValue all = buildZeros(b, type);
  bool isLine = mlirShapedTypeGetRank(initialType) > 0; // else one element
  MlirValue output = isLine ? vectorShapeCastOpBuild(b, line, initial) : vectorBroadcastOpBuild(b, line, initial);
  MlirValue before = output;
  for (int64_t i = 0; i < length; ++i) {
    offsets[axis] = i;
    MlirValue input = vectorExtractStridedSliceOpBuild(b, line, source, numbersAttr(b, rank, offsets),
                                                       numbersAttr(b, rank, sizes), numbersAttr(b, rank, ones));
    if (i > 0)
      output = tileBuildBinary(b, kind, output, isInclusive ? input : before);
    else if (isInclusive)
      output = input;
    all = vectorInsertStridedSliceOpBuild(b, output, all, numbersAttr(b, rank, offsets), numbersAttr(b, rank, ones));
    before = input;
  }
  const int64_t first[] = {0};
  MlirValue last = isLine ? vectorShapeCastOpBuild(b, initialType, output)
                          : vectorBroadcastOpBuild(
                                b, initialType,
                                vectorExtractOpBuild(b, output, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, first)));
  mlirValueReplaceAllUsesOfWith(vectorScanOpGetDest(op), all);
  mlirValueReplaceAllUsesOfWith(vectorScanOpGetAccumulatedValue(op), last);
  mlirOperationDestroy(op);
  return true;
}

//===--- the pass -----------------------------------------------------------------------===//

static const struct {
  bool (*isA)(MlirOperation op);
  const char *report; // https://github.com/llvm/llvm-project/…
  bool (*avoid)(MlirOperation op);
} faults[] = {
    // expand-strided-metadata reads a size that it did not compute, and crashes.
    {memrefExpandShapeOpIsA, "issues/186830", expandByCast},
    // The patterns that lower it are in no pass.
    {vectorScanOpIsA, "pull/123117", expandScan},
    // InstCombine takes the product of an odd number of -1, which are extended i1, for 1.
    {llvmVectorReduceMulOpIsA, "pull/199401", multiplyHalves},
    // convert-vector-to-llvm takes a dynamic position for a constant, and crashes.
    {vectorInsertOpIsA, "issues/177829", insertBySelection},
    // LLVM computes a cast of a constant wrong if neither width divides the other.
    {cutsElements, "pull/179640", castByElements},
    // Folders take ub.poison, or a vector, for an integer, and crash.
    {arithAddUIExtendedOpIsA, "issues/181534", addToPoison},
    {tensorFromElementsOpIsA, "issues/178209", fillPoison},
    // A buffer's slice of lower rank tells its lost dimensions by strides of the source, and crashes at others.
    {tensorExtractSliceOpIsA, "pull/184334", stepByOne},
    {tensorInsertSliceOpIsA, "pull/184334", stepByOne},
    {tensorParallelInsertSliceOpIsA, "pull/184334", stepByOne},
    // Canonicalization drops another dimension than the op does, and so reads or writes other elements.
    // Slices that step (pull/184334 too) crash.
    {slicesAnother, "pull/178118", collapseWhole},
    {insertsAnother, "pull/217361", expandWhole},
    {viewsAnother, "pull/184334", viewByCast},
    // convert-elementwise-to-linalg forgets the encoding of its outs. The report tells so of another pass.
    {losesEncoding, "issues/62304", computeByPoints},
    // The code generators of CPUs and GPUs without such vectors end the process.
    {hasScalable, "issues/56207", refuseScalable},
    // Folders make a constant although a size is unknown.
    {foldsWithoutSizes, "pull/178428 and pull/212072", computeByPoints},
    // The sparsifier crashes at a choice whose condition is one number.
    {choosesEncoded, "issues/218097", chooseByIf},
    // one-shot-bufferize gives a wrong value after a store, and fails at constants.
    {mlProgramGlobalLoadOpIsA, "pull/75103", copyLoaded},
    {mlProgramGlobalLoadConstOpIsA, "pull/75103", takeConstant},
    {mlProgramGlobalStoreOpIsA, "pull/177387", copyStored},
};

static bool run(MlirOperation root, MlirExtPass pass) {
  bool ok = true;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    TileOps ops = tileCollectOps(root, faults[i].isA);
    for (intptr_t k = 0; k < ops.count; ++k)
      ok &= faults[i].avoid(ops.items[k]);
    tileOpsFree(&ops);
  }
  return ok;
}

const MlirExtPassDefinition tileAvoidUpstreamFaultsPass = {
    .argument = "tile-avoid-upstream-faults",
    .summary = "Rewrite ops at which LLVM 22.1 crashes or computes something else",
    .dialects = (const char *const[]){"arith", "bufferization", "linalg", "llvm", "memref", "scf", "tensor", "ub",
                                      "vector", NULL},
    .run = run,
};
