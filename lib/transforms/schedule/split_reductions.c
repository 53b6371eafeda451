// tile-split-reductions{chip=NAME}: cuts the reduction of a matrix product into parts that run side by side, where the
// product alone has fewer programs than the machine has cores (split-K).
//   C[m, n] += sum over k of A[m, k] · B[k, n]
//   becomes  P[s, m, n] = sum over k' of A'[m, s, k'] · B'[s, k', n]  and  C[m, n] += sum over s of P[s, m, n]
//   where A' and B' are A and B with k expanded to s, k': views of the same memory.
// Expects: linalg.generic on tensors in func.func (after tile-generalize-named-ops and tile-group-ops).
// Leaves:
//   the same results but for the order of additions, the same in every run. An elementwise op that follows becomes the
//   epilogue of the sum. How many parts: `split` of the op's tile.schedule, which tile-construct-tiles or a person
//   writes. Left alone: ops whose schedule has no `split`, sizes that are not known, outputs narrower than 32 bits (the
//   parts would be rounded). An error: parts that do not divide k.
// Source: split-K, as in CUTLASS.
#include "lib/transforms/schedule/schedule.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/analysis/tiling.h"
#include "lib/ir/pass.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/tensor.h"

enum { Cut, Parts };

static const char *const statistics[] = {
    "cut: products whose reduction was cut",
    "parts: into how many parts, all together",
    NULL,
};

typedef struct Run {
  MlirExtPass pass;
  TileTarget target;
} Run;

//===--- whether and how often -----------------------------------------------------===//

static bool readParts(const TileStructured *s, const TileTiling *tiling, int64_t *parts) {
  int64_t depth = s->dims[tiling->product.k].extent;
  *parts = tileScheduleAttrGetInteger(s->schedule, "split", 1);
  return (*parts >= 1 && depth % *parts == 0) ||
         tileError(s->op, "schedule: `split` is %lld; it must be a divisor of k, which is %lld", (long long)*parts,
                   (long long)depth);
}

//===--- the parts -------------------------------------------------------------------===//

// A tensor with axis `axis` as two: the parts, and what each has.
static MlirValue expand(TileBuilder *b, MlirValue tensor, int axis, int64_t parts) {
  MlirType type = mlirValueGetType(tensor);
  int64_t shape[MaxOperandRank + 1];
  MlirAttribute groups[MaxOperandRank];
  int rank = (int)mlirShapedTypeGetRank(type), next = 0;
  for (int i = 0; i < rank; ++i) {
    int64_t size = mlirShapedTypeGetDimSize(type, i);
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    MlirAttribute axes[] = {mlirIntegerAttrGet(i64, next), mlirIntegerAttrGet(i64, next + 1)};
    groups[i] = mlirArrayAttrGet(b->context, i == axis ? 2 : 1, axes);
    if (i == axis)
      shape[next++] = parts;
    shape[next++] = i == axis ? size / parts : size;
  }
  MlirType expanded =
      mlirRankedTensorTypeGet(rank + 1, shape, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
  return tensorExpandShapeOpBuild(b, expanded, tensor, 0, NULL, mlirArrayAttrGet(b->context, rank, groups),
                                  mlirDenseI64ArrayGet(b->context, rank + 1, shape));
}

static MlirAttribute mapOf(MlirContext context, int dims, intptr_t count, MlirAffineExpr *results) {
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, dims, 0, count, results));
}

// The map with a dimension before all others, which it has as axis `axis`.
static MlirAttribute withParts(MlirContext context, MlirAttribute attribute, int axis) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(attribute);
  intptr_t dims = mlirAffineMapGetNumDims(map), count = mlirAffineMapGetNumResults(map);
  MlirAffineExpr shifted[MaxDims], results[MaxOperandRank + 1];
  for (intptr_t d = 0; d < dims; ++d)
    shifted[d] = mlirAffineDimExprGet(context, d + 1);
  MlirAffineMap to = mlirAffineMapGet(context, dims + 1, 0, dims, shifted);
  for (intptr_t i = 0, next = 0; i <= count; ++i) {
    if (i == axis)
      results[next++] = mlirAffineDimExprGet(context, 0);
    if (i < count)
      results[next++] = mlirAffineExprCompose(mlirAffineMapGetResult(map, i), to);
  }
  return mapOf(context, (int)dims + 1, count + 1, results);
}

// What the schedule says of the product, for its parts: one of them at a time.
static MlirAttribute scheduleOfParts(MlirContext context, MlirAttribute schedule) {
  MlirAttribute entries = tileScheduleAttrGetEntries(schedule), block = tileScheduleAttrGetEntry(schedule, "block");
  MlirNamedAttribute kept[24];
  intptr_t count = 0;
  if (mlirAttributeIsNull(block))
    return mlirAttributeGetNull();
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(entries) && count < 24; ++i) {
    MlirNamedAttribute entry = mlirDictionaryAttrGetElement(entries, i);
    MlirStringRef name = mlirIdentifierStr(entry.name);
    if (tileStringEquals(name, "block")) {
      int64_t sizes[MaxDims + 1] = {1};
      intptr_t dims = mlirDenseArrayGetNumElements(block);
      for (intptr_t d = 0; d < dims && d < MaxDims; ++d)
        sizes[d + 1] = mlirDenseI64ArrayGetElement(block, d);
      entry.attribute = mlirDenseI64ArrayGet(context, dims + 1, sizes);
    } else if (tileStringEquals(name, "kind")) {
      if (tileStringEquals(mlirStringAttrGetValue(entry.attribute), "split"))
        entry.attribute = mlirStringAttrGet(context, tileString("streamed"));
    } else if (!tileStringEquals(name, "warps") && !tileStringEquals(name, "stages") &&
               !tileStringEquals(name, "group") && !tileStringEquals(name, "registers")) {
      continue; // what was predicted was predicted of the whole
    }
    kept[count++] = entry;
  }
  return tileScheduleAttrGet(context, mlirDictionaryAttrGet(context, count, kept));
}

// A linalg.generic of two operands; the second is the output, the body takes an element of each. The
// body yields: the sum of both elements, or the first.
static MlirValue buildGeneric(TileBuilder *b, MlirValue input, MlirValue output, MlirAttribute maps[2], int reductions,
                              bool adds) {
  MlirType type = mlirValueGetType(output), element = mlirShapedTypeGetElementType(type);
  MlirRegion region;
  TileBuilder inside = tileBuilderInRegion(b, &region, 2, (MlirType[]){element, element});
  MlirValue arguments[] = {mlirBlockGetArgument(inside.block, 0), mlirBlockGetArgument(inside.block, 1)};
  MlirValue result = adds ? arithAddFOpBuild(&inside, arguments[0], arguments[1]) : arguments[0];
  linalgYieldOpBuild(&inside, 1, &result);
  MlirAttribute indexing = mlirArrayAttrGet(b->context, 2, maps), none = {NULL};
  MlirAttribute kinds = tileBuildIteratorTypes(b, mlirShapedTypeGetRank(type), reductions);
  return tileOnlyResult(linalgGenericOpCreate(b, 1, &type, 1, &input, 1, &output, indexing, kinds, none, none, region));
}

static MlirValue zeros(TileBuilder *b, MlirType type) {
  MlirValue empty = tensorEmptyOpBuild(b, type, 0, NULL);
  int rank = (int)mlirShapedTypeGetRank(type);
  MlirAttribute maps[] = {mapOf(b->context, rank, 0, NULL),
                          mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, rank))};
  return buildGeneric(b, tileBuildFloat(b, mlirShapedTypeGetElementType(type), 0), empty, maps, 0, false);
}

static MlirValue buildParts(TileBuilder *b, const TileStructured *s, const TileTiling *tiling, int64_t parts) {
  MlirAttribute maps = tileOpAttribute(s->op, "indexing_maps"), own = tileOpAttribute(s->op, "iterator_types");
  MlirType out = mlirValueGetType(s->operands[2].value);
  int64_t shape[MaxOperandRank + 1] = {parts};
  intptr_t rank = mlirShapedTypeGetRank(out);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i + 1] = mlirShapedTypeGetDimSize(out, i);
  MlirType type = mlirRankedTensorTypeGet(rank + 1, shape, mlirShapedTypeGetElementType(out), mlirAttributeGetNull());
  MlirAttribute newMaps[3], items[MaxDims + 1] = {linalgIteratorTypeAttr(b, LinalgIteratorType_Parallel)};
  MlirValue operands[3] = {{NULL}, {NULL}, zeros(b, type)};
  for (int i = 0; i < 2; ++i) {
    int axis = tileOperandAxisOf(&s->operands[i], tiling->product.k);
    operands[i] = expand(b, mlirOperationGetOperand(s->op, i), axis, parts);
    newMaps[i] = withParts(b->context, mlirArrayAttrGetElement(maps, i), axis);
  }
  newMaps[2] = withParts(b->context, mlirArrayAttrGetElement(maps, 2), 0);
  for (int d = 0; d < s->numDims; ++d)
    items[d + 1] = mlirArrayAttrGetElement(own, d);
  MlirOperation product = tileBuilderInsert(b, mlirOperationClone(s->op));
  for (int i = 0; i < 3; ++i)
    mlirOperationSetOperand(product, i, operands[i]);
  mlirValueSetType(tileOnlyResult(product), type);
  mlirOperationSetAttributeByName(product, tileString("indexing_maps"), mlirArrayAttrGet(b->context, 3, newMaps));
  mlirOperationSetAttributeByName(product, tileString("iterator_types"),
                                  mlirArrayAttrGet(b->context, s->numDims + 1, items));
  tileOpRemoveSchedules(product);
  tileOpRemoveSchedule(product);
  MlirAttribute schedule = scheduleOfParts(b->context, s->schedule);
  if (!mlirAttributeIsNull(schedule))
    tileOpSetSchedule(product, schedule);
  return tileOnlyResult(product);
}

// Their sum, from what the output started from.
static MlirValue buildSum(TileBuilder *b, MlirValue parts, MlirValue start) {
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(start));
  MlirAffineExpr dims[MaxDims];
  for (int i = 0; i <= rank; ++i) // the parts come last
    dims[i] = mlirAffineDimExprGet(b->context, i ? i - 1 : rank);
  MlirAttribute maps[] = {mapOf(b->context, rank + 1, rank + 1, dims), mapOf(b->context, rank + 1, rank, dims + 1)};
  return buildGeneric(b, parts, start, maps, 1, true);
}

static bool isToBeCut(MlirOperation op) {
  MlirAttribute schedule = tileOpGetSchedule(op);
  return !mlirAttributeIsNull(schedule) && !mlirAttributeIsNull(tileScheduleAttrGetEntry(schedule, "split"));
}

static bool split(const Run *run, MlirOperation op) {
  TileStructured s;
  TileTiling tiling;
  int64_t parts;
  if (!isToBeCut(op) || !tileStructuredRead(op, &run->target, &s) || !tileStructuredFindTiling(&s, &tiling) ||
      !tileStructuredCanSplit(&s, &tiling))
    return true;
  if (!readParts(&s, &tiling, &parts))
    return false;
  if (parts == 1)
    return true;
  TileBuilder b = tileBuilderBefore(op);
  MlirValue sum = buildSum(&b, buildParts(&b, &s, &tiling, parts), s.operands[2].value);
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), sum);
  mlirOperationDestroy(op);
  mlirExtPassAddStatistic(run->pass, Cut, 1);
  mlirExtPassAddStatistic(run->pass, Parts, (uint64_t)parts);
  return true;
}

//===--- the pass ----------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  Run r = {.pass = pass};
  bool ok = tileTargetOfPass(function, pass, &r.target);
  TileOps generics = tileStructuredCollect(function);
  for (intptr_t i = 0; ok && i < generics.count; ++i)
    ok = split(&r, generics.items[i]);
  tileOpsFree(&generics);
  tileTargetFree(&r.target);
  return ok;
}

const MlirExtPassDefinition tileSplitReductionsPass = {
    .argument = "tile-split-reductions",
    .summary = "Cut the reductions of products whose grid leaves cores idle into parts that run side by side",
    .anchor = funcFuncOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
