// tile-split-ragged-blocks{chip=NAME}: a product by weights in blocks whose last block is not whole becomes a
// product by the whole blocks and one by the rest.
//
//   k = 4108, blocks of 32: codes padded to 129 x 32, converted, cut to 4108, multiplied
//   becomes  c = x[:, :4096] · w[:, :4096],  c += x[:, 4096:] · w[:, 4096:]
// Exporters pad codes, since a tensor has no ragged axis. No kernel reads codes through padding; the whole blocks have
// none, so that tile-find-low-bit lets their product read the codes. Expects: linalg.generic on tensors of known sizes
// (after tile-generalize-named-ops), before tile-find-low-bit. Leaves: products whose sums have fewer than 32 bits (the
// sum is rounded once more), and those with a schedule. Cost: linear in the code.
#include "lib/transforms/quantize/quantize.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/packed_elements.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/transforms/quantize/slice_of_computed.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { LeastSumBits = 32 };

//===--- where ----------------------------------------------------------------------------------===//

// What is known of an axis of computed weights: blocks of `unit` elements (0: none) are cut off somewhere in the last
// block, and the elements that are read along the axis have `bits` bits or more.
typedef struct Blocks {
  int64_t unit;
  int bits;
} Blocks;

// `scale`: elements of the axis in question for one index of this `axis`.
static void readBlocks(MlirValue value, int axis, int64_t scale, Blocks *blocks);

static void readGeneric(MlirOperation op, int axis, int64_t scale, Blocks *blocks) {
  int dim = tileSliceableDim(op, mlirOperationGetNumOperands(op) - 1, axis);
  for (intptr_t i = 0; dim >= 0 && i < linalgGenericOpGetNumInputs(op); ++i) {
    MlirType type = mlirValueGetType(linalgGenericOpGetInputs(op, i));
    intptr_t rank = mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetRank(type) : 0;
    for (int a = 0; a < rank; ++a)
      if (tileSliceableDim(op, i, a) == dim)
        readBlocks(linalgGenericOpGetInputs(op, i), a, scale, blocks);
  }
}

// The axes that a collapse_shape makes one axis of: the first one. `inside`: elements for each index of it.
static int outermostOf(MlirOperation op, int axis, int64_t *inside) {
  MlirAttribute groups = tileOpAttribute(op, "reassociation"), axes = mlirArrayAttrGetElement(groups, axis);
  int first = (int)mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(axes, 0));
  *inside = 1;
  for (intptr_t i = 1; i < mlirArrayAttrGetNumElements(axes); ++i)
    *inside *= mlirShapedTypeGetDimSize(mlirValueGetType(tensorCollapseShapeOpGetSrc(op)), first + i);
  return first;
}

// A slice that begins with the first element and ends before the last one.
static bool endsEarly(MlirOperation op, int axis) {
  MlirType whole = mlirValueGetType(tensorExtractSliceOpGetSource(op)), part = tileOnlyResultType(op);
  return mlirShapedTypeGetRank(whole) == mlirShapedTypeGetRank(part) &&
         mlirDenseI64ArrayGetElement(tileOpAttribute(op, "static_offsets"), axis) == 0 &&
         mlirDenseI64ArrayGetElement(tileOpAttribute(op, "static_strides"), axis) == 1 &&
         mlirShapedTypeGetDimSize(part, axis) < mlirShapedTypeGetDimSize(whole, axis);
}

static void readSlice(MlirOperation op, int axis, int64_t scale, Blocks *blocks) {
  MlirValue source = tensorExtractSliceOpGetSource(op);
  int64_t unit = 1;
  if (!endsEarly(op, axis))
    return;
  if (tensorCollapseShapeOpIsA(tileDefiningOp(source)))
    outermostOf(tileDefiningOp(source), axis, &unit);
  else if (!mlirValueIsNull(tilePackedBytesOf(source)))
    unit = tilePackedRun(mlirShapedTypeGetElementType(mlirValueGetType(source)));
  if (unit > 1 && (!blocks->unit || unit * scale % blocks->unit == 0))
    blocks->unit = unit * scale;
  readBlocks(source, axis, scale, blocks);
}

static void readBlocks(MlirValue value, int axis, int64_t scale, Blocks *blocks) {
  MlirOperation op = tileDefiningOp(value);
  MlirType type = mlirValueGetType(value);
  int bits = (int)tileElementWidth(mlirShapedTypeGetElementType(type));
  int64_t inside;
  blocks->bits = blocks->bits && blocks->bits < bits ? blocks->bits : bits;
  if (mlirOperationIsNull(op) || !tileHasOneUse(value) || !mlirShapedTypeHasStaticShape(type))
    return;
  if (linalgGenericOpIsA(op)) {
    readGeneric(op, axis, scale, blocks);
  } else if (tensorExtractSliceOpIsA(op)) {
    readSlice(op, axis, scale, blocks);
  } else if (tensorCollapseShapeOpIsA(op)) {
    int first = outermostOf(op, axis, &inside);
    readBlocks(tensorCollapseShapeOpGetSrc(op), first, scale * inside, blocks);
  }
}

// How much of the axis of a factor whole blocks take, where something is left; 0: the axis has no ragged block, or its
// elements are not converted from fewer bits.
static int64_t wholeBlocks(const TileOperand *factor, int axis, int64_t extent) {
  Blocks blocks = {0};
  readBlocks(factor->value, axis, 1, &blocks);
  bool isConverted = blocks.bits * 2 <= (int)tileElementWidth(tileOperandElementType(factor));
  int64_t whole = blocks.unit && isConverted ? extent / blocks.unit * blocks.unit : 0;
  return whole < extent ? whole : 0;
}

//===--- what is built --------------------------------------------------------------------------===//

// [from, from + size) of `dim`, of an operand of the product.
static TileSliceBox rangeOf(const TileOperand *operand, int dim, int64_t from, int64_t size) {
  TileSliceBox range = tileSliceBoxOfWhole(mlirValueGetType(operand->value));
  for (int axis = 0; axis < operand->rank; ++axis)
    if (operand->results[axis] == dim) {
      range.from[axis] = from;
      range.size[axis] = size;
    }
  return range;
}

// The product over [from, from + size) of `dim`, added to `initial`.
static MlirValue productOver(TileBuilder *b, const TileStructured *s, int dim, int64_t from, int64_t size,
                             MlirValue initial) {
  MlirValue parts[2];
  for (int i = 0; i < 2; ++i) {
    TileSliceBox range = rangeOf(&s->operands[i], dim, from, size);
    parts[i] = tileBuildSliceOfComputed(b, s->operands[i].value, &range);
  }
  MlirOperation copy = tileBuilderInsert(b, mlirOperationClone(s->op));
  for (int i = 0; i < 2; ++i)
    mlirOperationSetOperand(copy, i, parts[i]);
  mlirOperationSetOperand(copy, linalgGenericOpGetOutputsBegin(copy), initial);
  return tileOnlyResult(copy);
}

static bool split(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  int lhs, rhs;
  if (!tileStructuredRead(op, target, &s) || !mlirAttributeIsNull(s.schedule) || s.numInputs != 2 ||
      !tileStructuredMatchMultiplyAdd(&s, &lhs, &rhs) || !tileOperandIsPlain(&s.operands[0]) ||
      !tileOperandIsPlain(&s.operands[1]) || tileElementWidth(tileOperandElementType(&s.operands[2])) < LeastSumBits)
    return false;
  for (int i = 0; i < 2; ++i)
    for (int axis = 0; axis < s.operands[i].rank; ++axis) {
      int dim = s.operands[i].results[axis];
      bool isSummed = dim >= 0 && s.dims[dim].isReduction && !mlirShapedTypeIsDynamicSize(s.dims[dim].extent) &&
                      tileOperandUses(&s.operands[1 - i], dim);
      int64_t whole = isSummed ? wholeBlocks(&s.operands[i], axis, s.dims[dim].extent) : 0;
      if (!whole)
        continue;
      TileBuilder b = tileBuilderBefore(op);
      MlirValue sum = productOver(&b, &s, dim, 0, whole, linalgGenericOpGetOutputs(op, 0));
      sum = productOver(&b, &s, dim, whole, s.dims[dim].extent - whole, sum);
      mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), sum);
      mlirOperationDestroy(op);
      return true;
    }
  return false;
}

//===--- the pass -------------------------------------------------------------------------------===//

// An op makes some factor of the product. Asked first: to read an op is dear.
static bool mayBeSplit(MlirOperation op) {
  MlirOperation left, right;
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumOperands(op) != 3 || mlirOperationGetNumResults(op) != 1)
    return false;
  left = tileDefiningOp(linalgGenericOpGetInputs(op, 0));
  right = tileDefiningOp(linalgGenericOpGetInputs(op, 1));
  return tensorExtractSliceOpIsA(left) || tensorExtractSliceOpIsA(right) || linalgGenericOpIsA(left) ||
         linalgGenericOpIsA(right);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileTarget target;
  TileOps products = tileCollectOps(function, mayBeSplit);
  bool ok = !products.count || tileTargetOfPass(function, pass, &target);
  uint64_t count = 0;
  for (intptr_t i = 0; ok && i < products.count; ++i)
    count += split(products.items[i], &target);
  mlirExtPassAddStatistic(pass, 0, count);
  if (ok && products.count)
    tileTargetFree(&target);
  tileOpsFree(&products);
  return ok;
}

const MlirExtPassDefinition tileSplitRaggedBlocksPass = {
    .argument = "tile-split-ragged-blocks",
    .summary = "Multiply by the whole blocks of converted weights, and by the rest",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = (const char *const[]){"products: products that became two", NULL},
    .dialects = (const char *const[]){"tensor", "linalg", "arith", "func", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
