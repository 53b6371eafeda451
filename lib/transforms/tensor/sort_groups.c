// tile-sort-groups{remarks=true}: weights whose groups are not neighbours along k (act-order, g_idx) become weights
// whose groups are.
//
//   s[n, k] = scale[n, order[k]]                       order: a constant, in any order
//   w[n, k] = (code[n, k] - zero[n, order[k]]) · s[n, k]
//   c[m, n] += x[m, k] · w[n, k]
//   becomes, with p the places of k sorted by their group,
//   x'[m, j] = x[m, p[j]]     code'[n, j] = code[n, p[j]], packed again     s'[n, j] = scale[n, j / group]
// so that tile-find-low-bit sees groups. The sum over k is the one of before in another order. Why: GPTQ quantizes the
// largest inputs first, so that the groups of a file lie anywhere. Expects: linalg.generic on tensors in func.func
// (after tile-generalize-named-ops). Leaves: products whose codes or order are no constants, or whose groups differ in
// size, as they are: they read a scale for each weight. Cost: linear in the code and in the constants.
// Source: AutoGPTQ's g_idx; onnxruntime's MatMulNBits.
#include "lib/transforms/tensor/low_bit_product.h"
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/tile.h"
#include "lib/analysis/low_bit/factor.h"
#include "lib/analysis/product.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/transforms/tensor/repack_codes.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

#include <stdlib.h>
#include <string.h>

enum { Sorted, MostLeaves = 8, MostGroups = 1 << 20 };

static const char *const statistics[] = {"sorted: products whose groups are neighbours now", NULL};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
  bool explains;
} Run;

//===--- numbers by order -----------------------------------------------------------------------===//

// An op that takes numbers of groups: result[…, k, …] = groups[…, order[k], …].
typedef struct Gather {
  MlirOperation op;
  MlirValue groups, order; // a tensor of the result's rank; a constant of one axis
  int axis;                // of both
} Gather;

static MlirValue throughCasts(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  while (arithIndexCastOpIsA(op) || arithIndexCastUIOpIsA(op) || arithExtSIOpIsA(op) || arithExtUIOpIsA(op)) {
    value = tileOnlyOperand(op);
    op = tileDefiningOp(value);
  }
  return value;
}

static bool isIndexOf(MlirValue value, int64_t dim) {
  MlirOperation op = tileDefiningOp(value);
  return linalgIndexOpIsA(op) && linalgIndexOpGetDimValue(op) == dim;
}

static bool isOneDim(MlirOperation op, intptr_t operand, int64_t dim) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(tileOpAttribute(op, "indexing_maps"), operand));
  MlirAffineExpr only = mlirAffineMapGetNumResults(map) == 1 ? mlirAffineMapGetResult(map, 0) : (MlirAffineExpr){NULL};
  return !mlirAffineExprIsNull(only) && mlirAffineExprIsADim(only) && mlirAffineDimExprGetPosition(only) == dim;
}

// The tensor whose element at `dim` the index is: an input of the op, or a tensor that its body extracts from.
static MlirValue orderOf(MlirOperation op, MlirValue index, int64_t dim) {
  MlirValue value = throughCasts(index), none = {NULL};
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  for (intptr_t i = 0; i < linalgGenericOpGetNumInputs(op); ++i)
    if (mlirValueEqual(value, mlirBlockGetArgument(body, i)))
      return isOneDim(op, i, dim) ? linalgGenericOpGetInputs(op, i) : none;
  MlirOperation extract = tileDefiningOp(value);
  bool isTaken = tensorExtractOpIsA(extract) && tensorExtractOpGetNumIndices(extract) == 1 &&
                 isIndexOf(tensorExtractOpGetIndices(extract, 0), dim);
  return isTaken ? tensorExtractOpGetTensor(extract) : none;
}

static bool readGather(MlirValue value, Gather *g) {
  MlirOperation op = tileDefiningOp(value);
  *g = (Gather){.op = op, .axis = -1};
  if (!linalgGenericOpIsA(op) || mlirOperationGetNumResults(op) != 1 || !tileGenericIsParallel(op) ||
      !tileHasOneUse(value))
    return false;
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  MlirOperation extract = tileDefiningOp(tileOnlyOperand(mlirBlockGetTerminator(body)));
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(value));
  intptr_t output = linalgGenericOpGetNumInputs(op);
  MlirAttribute map = mlirArrayAttrGetElement(tileOpAttribute(op, "indexing_maps"), output);
  if (!tensorExtractOpIsA(extract) || tensorExtractOpGetNumIndices(extract) != rank ||
      !mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(map)))
    return false;
  g->groups = tensorExtractOpGetTensor(extract);
  for (intptr_t i = 0; i < rank; ++i) {
    MlirValue index = tensorExtractOpGetIndices(extract, i);
    int64_t zero;
    bool isOne = mlirShapedTypeGetDimSize(mlirValueGetType(value), i) == 1 && tileConstantIndex(index, &zero) && !zero;
    if (isIndexOf(index, i) || isOne)
      continue;
    g->order = g->axis < 0 ? orderOf(op, index, i) : (MlirValue){NULL};
    g->axis = (int)i;
    if (mlirValueIsNull(g->order))
      return false;
  }
  return g->axis >= 0 && arithConstantOpIsA(tileDefiningOp(g->order)) &&
         mlirShapedTypeHasStaticShape(mlirValueGetType(g->groups)) &&
         mlirShapedTypeHasStaticShape(mlirValueGetType(value)) && !tileIsDefinedIn(g->groups, body);
}

// The number of constant `order` at each k; null where it is no list of integers. The caller frees it.
static int64_t *readOrder(MlirValue order, int64_t count) {
  MlirType type = mlirValueGetType(order), element = mlirShapedTypeGetElementType(type);
  unsigned width = mlirTypeIsAIndex(element) ? 64 : mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : 0;
  size_t size;
  const unsigned char *bytes = tileElementsBytes(arithConstantOpGetValue(tileDefiningOp(order)), &size);
  if (!bytes || (width != 32 && width != 64) || size != (size_t)count * width / 8)
    return NULL;
  int64_t *numbers = malloc((size_t)count * sizeof *numbers);
  for (int64_t k = 0; numbers && k < count; ++k) {
    int32_t narrow;
    memcpy(width == 32 ? (void *)&narrow : (void *)&numbers[k], bytes + k * width / 8, width / 8);
    numbers[k] = width == 32 ? narrow : numbers[k];
  }
  return numbers;
}

//===--- places ---------------------------------------------------------------------------------===//

// The places of k by their group, those of a group in their order. Null, with the reason, where groups differ in size.
// The caller frees it.
static int64_t *sortPlaces(const int64_t *order, int64_t depth, int64_t groups, const char **why) {
  *why = "its groups differ in size";
  if (groups < 1 || groups > MostGroups || depth % groups)
    return NULL;
  int64_t *next = calloc((size_t)groups, sizeof *next), *places = malloc((size_t)depth * sizeof *places);
  bool ok = next && places;
  for (int64_t g = 0; ok && g < groups; ++g)
    next[g] = g * (depth / groups);
  for (int64_t k = 0; ok && k < depth; ++k) {
    ok = order[k] >= 0 && order[k] < groups && next[order[k]] < (order[k] + 1) * (depth / groups);
    if (ok)
      places[next[order[k]]++] = k;
  }
  free(next);
  if (!ok) {
    free(places);
    return NULL;
  }
  return places;
}

//===--- what the factor is made of -------------------------------------------------------------===//

typedef struct Parts {
  int numGathers, numPlain;
  Gather gathers[MostLeaves];
  MlirValue plain[MostLeaves]; // constants with an axis k
  int plainAxis[MostLeaves];
  int64_t plainUse[MostLeaves]; // number of the operand of…
  MlirOperation plainUser[MostLeaves], unpack;
} Parts;

static bool dependsOn(const TileFactorNode *node, int dim) {
  for (int axis = 0; axis < node->rank; ++axis)
    if (node->at[axis].dim == dim || node->at[axis].outer == dim + 1)
      return true;
  return false;
}

static bool isInputOf(MlirOperation op, MlirValue value) {
  for (intptr_t i = 0; !mlirOperationIsNull(op) && i < mlirOperationGetNumOperands(op); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(op, i), value))
      return true;
  return false;
}

// Every leaf that changes along k is words of codes, a constant whose axis is k, or numbers by order. The factor's own
// value is its node `root`.
static bool readParts(const TileFactor *factor, int dim, Parts *parts, const char **why) {
  *parts = (Parts){.unpack = tileUnpackOfFactor(factor, why)};
  for (int i = 0; i < factor->count; ++i) {
    const TileFactorNode *node = &factor->nodes[i];
    Gather gather;
    if (!mlirOperationIsNull(node->op) || !dependsOn(node, dim) || isInputOf(parts->unpack, node->value))
      continue;
    int axis = 0;
    while (axis < node->rank && !(node->at[axis].dim == dim && node->at[axis].divisor == 1 && !node->at[axis].modulus &&
                                  !node->at[axis].outer))
      ++axis;
    *why = "a part of its weights changes along k, and is neither constant nor taken by order";
    if (axis == node->rank)
      return false;
    if (readGather(node->value, &gather) && gather.axis == axis && parts->numGathers < MostLeaves) {
      parts->gathers[parts->numGathers++] = gather;
    } else if (arithConstantOpIsA(tileDefiningOp(node->value)) && tileHasOneUse(node->value) &&
               parts->numPlain < MostLeaves) {
      MlirOpOperand use = mlirValueGetFirstUse(node->value);
      parts->plainAxis[parts->numPlain] = axis;
      parts->plainUser[parts->numPlain] = mlirOpOperandGetOwner(use);
      parts->plainUse[parts->numPlain] = mlirOpOperandGetOperandNumber(use);
      parts->plain[parts->numPlain++] = node->value;
    } else {
      return false;
    }
  }
  for (int i = 1; i < parts->numGathers; ++i)
    if (!mlirValueEqual(parts->gathers[i].order, parts->gathers[0].order))
      return false;
  return parts->numGathers > 0;
}

//===--- the new program ------------------------------------------------------------------------===//

// numbers[…, g, …] for each k = (g, place in the group), in place of the numbers by order.
static void replaceGather(const Gather *g) {
  TileBuilder b = tileBuilderBefore(g->op);
  MlirType type = tileOnlyResultType(g->op), element = mlirShapedTypeGetElementType(type);
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t shape[MaxOperandRank + 1];
  MlirAffineExpr from[MaxOperandRank];
  MlirAttribute axes[MaxOperandRank], none = {NULL};
  int next = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    MlirAttribute both[2];
    MlirType i64 = mlirIntegerTypeGet(b.context, 64);
    int64_t size = mlirShapedTypeGetDimSize(type, i), groups = mlirShapedTypeGetDimSize(mlirValueGetType(g->groups), i);
    from[i] = groups == 1 && size > 1 && i != g->axis ? mlirAffineConstantExprGet(b.context, 0)
                                                      : mlirAffineDimExprGet(b.context, next);
    both[0] = mlirIntegerAttrGet(i64, next);
    shape[next++] = i == g->axis ? groups : size;
    if (i == g->axis) {
      both[1] = mlirIntegerAttrGet(i64, next);
      shape[next++] = size / groups;
    }
    axes[i] = mlirArrayAttrGet(b.context, i == g->axis ? 2 : 1, both);
  }
  MlirType whole = mlirRankedTensorTypeGet(rank + 1, shape, element, mlirAttributeGetNull());
  MlirValue empty = tensorEmptyOpBuild(&b, whole, 0, NULL);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(&b, &region, 2, (MlirType[]){element, element});
  MlirValue number = mlirBlockGetArgument(inside.block, 0), groups = g->groups;
  linalgYieldOpBuild(&inside, 1, &number);
  MlirAttribute maps[] = {mlirAffineMapAttrGet(mlirAffineMapGet(b.context, rank + 1, 0, rank, from)),
                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b.context, rank + 1))};
  MlirOperation spread =
      linalgGenericOpCreate(&b, 1, &whole, 1, &groups, 1, &empty, mlirArrayAttrGet(b.context, 2, maps),
                            tileBuildIteratorTypes(&b, (int)rank + 1, 0), none, none, region);
  MlirValue joined =
      tensorCollapseShapeOpBuild(&b, type, tileOnlyResult(spread), mlirArrayAttrGet(b.context, rank, axes));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(g->op), joined);
  mlirOperationDestroy(g->op);
}

// rows[…, places[j], …] along `axis`.
static MlirValue takePlaces(TileBuilder *b, MlirValue rows, int axis, const int64_t *places, int64_t depth) {
  enum { Alignment = 64 };
  MlirType type = mlirValueGetType(rows), element = mlirShapedTypeGetElementType(type),
           i32 = mlirIntegerTypeGet(b->context, 32);
  intptr_t rank = mlirShapedTypeGetRank(type), numOpen = 0;
  MlirValue open[MaxOperandRank], index[MaxOperandRank];
  int32_t *numbers = malloc((size_t)depth * sizeof *numbers);
  for (int64_t j = 0; j < depth; ++j)
    numbers[j] = (int32_t)places[j];
  MlirValue list = tileBuildConstant(
      b,
      mlirDenseElementsAttrInt32Get(mlirRankedTensorTypeGet(1, &depth, i32, mlirAttributeGetNull()), depth, numbers));
  free(numbers);
  for (intptr_t i = 0; i < rank; ++i)
    if (mlirShapedTypeIsDynamicDim(type, i))
      open[numOpen++] = tileBuildDim(b, rows, i);
  MlirValue empty = tensorEmptyOpBuild(b, type, numOpen, open);
  MlirAffineExpr along = mlirAffineDimExprGet(b->context, axis);
  MlirAttribute maps[] = {mlirAffineMapAttrGet(mlirAffineMapGet(b->context, rank, 0, 1, &along)),
                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, rank))},
                none = {NULL};
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){i32, element});
  for (intptr_t i = 0; i < rank; ++i)
    index[i] = i == axis
                   ? arithIndexCastOpBuild(&inside, mlirIndexTypeGet(b->context), mlirBlockGetArgument(inside.block, 0))
                   : linalgIndexOpBuild(&inside, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), i));
  MlirValue taken = tensorExtractOpBuild(&inside, rows, rank, index);
  linalgYieldOpBuild(&inside, 1, &taken);
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, 1, &list, 1, &empty, mlirArrayAttrGet(b->context, 2, maps),
                                              tileBuildIteratorTypes(b, (int)rank, 0), none, none, region));
}

//===--- one product ----------------------------------------------------------------------------===//

// The axis of an operand that dimension `dim` alone indexes; -1: none.
static int axisOf(const TileOperand *operand, int dim) {
  for (int axis = 0; axis < operand->rank; ++axis)
    if (operand->results[axis] == dim)
      return axis;
  return -1;
}

// Null where the product was changed or has no numbers by order, else what stands against it.
static const char *sortGroups(const Run *run, MlirOperation op) {
  TileStructured s;
  int inputs[2];
  const char *why = NULL;
  if (!tileLowBitHasMadeInput(op) || !tileStructuredRead(op, &run->target, &s) ||
      !tileStructuredMatchMultiplyAdd(&s, &inputs[0], &inputs[1]))
    return NULL;
  for (int side = 1; side >= 0; --side) {
    const TileOperand *weights = &s.operands[inputs[side]], *rows = &s.operands[inputs[1 - side]];
    TileDigit at[MaxOperandRank];
    Parts parts;
    TileFactor factor = {.target = &run->target};
    int dim = -1;
    for (int d = 0; d < s.numDims; ++d)
      if (s.dims[d].isReduction && axisOf(weights, d) >= 0 && axisOf(rows, d) >= 0)
        dim = dim < 0 ? d : s.numDims;
    if (dim < 0 || dim >= s.numDims || mlirOperationIsNull(tileDefiningOp(weights->value)) || !tileOperandIsPlain(rows))
      continue;
    for (int axis = 0; axis < weights->rank; ++axis)
      at[axis] = (TileDigit){.dim = weights->results[axis], .divisor = 1};
    if (tileFactorRead(&factor, weights->value, at) < 0)
      continue;
    bool hasOrder = false;
    for (int i = 0; i < factor.count; ++i) {
      Gather gather;
      hasOrder = hasOrder || (mlirOperationIsNull(factor.nodes[i].op) && readGather(factor.nodes[i].value, &gather));
    }
    if (!hasOrder)
      continue;
    if (!readParts(&factor, dim, &parts, &why))
      return why;
    const Gather *first = &parts.gathers[0];
    int64_t depth = s.dims[dim].extent, groups = mlirShapedTypeGetDimSize(mlirValueGetType(first->groups), first->axis);
    for (int i = 1; i < parts.numGathers; ++i)
      if (mlirShapedTypeGetDimSize(mlirValueGetType(parts.gathers[i].groups), parts.gathers[i].axis) != groups)
        return "its groups differ in size";
    int64_t *order = readOrder(first->order, depth), *places = order ? sortPlaces(order, depth, groups, &why) : NULL;
    free(order);
    if (!places)
      return why ? why : "its order is no list of integers";
    bool ok = mlirOperationIsNull(parts.unpack) || tilePermuteCodes(parts.unpack, places, depth, &why);
    for (int i = 0; ok && i < parts.numPlain; ++i) {
      MlirValue permuted = tilePermuteConstant(parts.plain[i], parts.plainAxis[i], places);
      ok = !mlirValueIsNull(permuted);
      if (ok)
        mlirOperationSetOperand(parts.plainUser[i], parts.plainUse[i], permuted);
    }
    // Sizes were asked before: only memory can be missing here.
    for (int i = 0; ok && i < parts.numGathers; ++i)
      replaceGather(&parts.gathers[i]);
    TileBuilder b = tileBuilderBefore(op);
    if (ok)
      mlirOperationSetOperand(op, inputs[1 - side], takePlaces(&b, rows->value, axisOf(rows, dim), places, depth));
    free(places);
    if (!ok)
      return why;
    mlirExtPassAddStatistic(run->pass, Sorted, 1);
    if (run->explains)
      tileRemark(op, "takes its rows in the order of the groups of its weights, %lld groups of %lld", (long long)groups,
                 (long long)(depth / groups));
    return NULL;
  }
  return NULL;
}

//===--- the pass -------------------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass, .explains = mlirExtPassGetBool(pass, "remarks")};
  if (!tileTargetOfPass(function, pass, &r.target))
    return false;
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; i < generics.count; ++i)
    if (!tileGenericIsParallel(generics.items[i])) { // what a rewrite destroys is parallel
      const char *why = sortGroups(&r, generics.items[i]);
      if (why && r.explains)
        tileRemark(generics.items[i], "reads a scale for each weight: %s", why);
    }
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return true;
}

const MlirExtPassDefinition tileSortGroupsPass = {
    .argument = "tile-sort-groups",
    .summary = "Sort constant weights along k so that groups in any order (g_idx) are neighbours",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"remarks", "say in a remark what was sorted, and why not",
                                            MlirExtOption_Bool, "false"},
                                           {NULL}},
    .statistics = statistics,
    .dialects = (const char *const[]){"tensor", "linalg", "arith", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
