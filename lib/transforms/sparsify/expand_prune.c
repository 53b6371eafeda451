// sparse-expand-prune: sparse.prune becomes linalg that zeros what goes, and a sparse.pack of the rest.
//
//   %p = sparse.prune %w : tensor<64x128xf32> -> tensor<64x128xf32, #sparse.nm<n = 2, m = 4, …>>
//   becomes  score[g, w, p] = sum of |w| over the elements of place p of window w of group g of lines
//            key = the score's bits, then the place counted from the end: no two keys of a window are equal
//            least[g, w] = the n-th highest key          bit by bit, from the highest: does it leave n keys?
//            w' = key >= least ? w : 0                   sparse.pack w'
// Why: the weights are known only when the program runs, as in training with masks. Expects: func.func on tensors,
// floats of at most 32 bits, known sizes, whole windows and groups. Leaves: no sparse.prune. A place is scored as
// sparse-prune-nm scores it, in f32; of equal scores the first places stay, and a nan stays. Cost: linear in the
// elements, whatever m and n are: 31 + log2(places) passes over the scores. Paper: NVIDIA ASP 2021.
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/support/integer.h"
#include "lib/transforms/sparsify/sparsify.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/math.h"
#include "upstream/tensor.h"

static const char *const statistics[] = {"pruned: tensors that are pruned when the program runs", NULL};

// Dimensions of a matrix whose axes are cut.
enum { Group, Window, Place, Line, Together, NumDims };

typedef struct Prune {
  SparseWindows windows;
  bool isSquared;
  int64_t sizes[NumDims];
  int order[NumDims]; // of the cut matrix's axes
  int split;          // axes [0, split) are those of the first axis
} Prune;

//===--- ops ------------------------------------------------------------------------------------===//

static MlirType tensorOf(const Prune *p, int count, const int *dims, MlirType element) {
  int64_t shape[NumDims];
  for (int i = 0; i < count; ++i)
    shape[i] = p->sizes[dims[i]];
  return mlirRankedTensorTypeGet(count, shape, element, mlirAttributeGetNull());
}

typedef struct Operand {
  MlirValue value;
  int count, dims[NumDims];
} Operand;

static MlirAttribute mapOf(MlirContext context, int numDims, const Operand *operand) {
  MlirAffineExpr results[NumDims];
  for (int i = 0; i < operand->count; ++i)
    results[i] = mlirAffineDimExprGet(context, operand->dims[i]);
  return mlirAffineMapAttrGet(mlirAffineMapGet(context, numDims, 0, operand->count, results));
}

// A linalg.generic over the first `numDims` dimensions, the last `reductions` of them reductions. The body is open.
static MlirOperation generic(TileBuilder *b, int numDims, int reductions, int count, const Operand *operands,
                             TileBuilder *inside) {
  MlirAttribute maps[4], none = {NULL};
  MlirValue values[4];
  MlirType elements[4], type = mlirValueGetType(operands[count].value);
  MlirRegion region;
  for (int i = 0; i <= count; ++i) {
    maps[i] = mapOf(b->context, numDims, &operands[i]);
    values[i] = operands[i].value;
    elements[i] = mlirShapedTypeGetElementType(mlirValueGetType(values[i]));
  }
  *inside = tileBuilderInRegion(b, &region, count + 1, elements);
  return linalgGenericOpCreate(b, 1, &type, count, values, 1, &values[count],
                               mlirArrayAttrGet(b->context, count + 1, maps),
                               tileBuildIteratorTypes(b, numDims - reductions, reductions), none, none, region);
}

static void yield(TileBuilder *inside, MlirValue value) { linalgYieldOpBuild(inside, 1, &value); }

static MlirValue filled(TileBuilder *b, MlirType type, MlirValue number) {
  TileBuilder inside;
  Operand out = {tensorEmptyOpBuild(b, type, 0, NULL), (int)mlirShapedTypeGetRank(type), {0, 1, 2, 3, 4}};
  MlirOperation op = generic(b, out.count, 0, 0, &out, &inside);
  yield(&inside, number);
  return tileOnlyResult(op);
}

//===--- steps ----------------------------------------------------------------------------------===//

static Prune read(MlirOperation op) {
  MlirType type = tileOnlyOperandType(op);
  Prune p = {.windows = sparseEncodingGetWindows(sparseTypeGetEncoding(tileOnlyResultType(op))),
             .isSquared = !mlirAttributeIsNull(sparsePruneOpGetSquares(op))};
  const SparseWindows *w = &p.windows;
  int64_t along = mlirShapedTypeGetDimSize(type, w->axis), across = mlirShapedTypeGetDimSize(type, 1 - w->axis);
  p.sizes[Group] = across / w->lines;
  p.sizes[Line] = w->lines;
  p.sizes[Window] = along / w->m;
  p.sizes[Place] = w->m / w->together;
  p.sizes[Together] = w->together;
  static const int byColumns[NumDims] = {Group, Line, Window, Place, Together},
                   byRows[NumDims] = {Window, Place, Together, Group, Line};
  p.split = w->axis ? 2 : 3;
  for (int i = 0; i < NumDims; ++i)
    p.order[i] = w->axis ? byColumns[i] : byRows[i];
  return p;
}

static MlirAttribute groupsOf(TileBuilder *b, const Prune *p) {
  MlirAttribute groups[2], axes[NumDims];
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int i = 0; i < NumDims; ++i)
    axes[i] = mlirIntegerAttrGet(i64, i);
  groups[0] = mlirArrayAttrGet(b->context, p->split, axes);
  groups[1] = mlirArrayAttrGet(b->context, NumDims - p->split, axes + p->split);
  return mlirArrayAttrGet(b->context, 2, groups);
}

static MlirValue cut(TileBuilder *b, const Prune *p, MlirValue matrix) {
  int64_t shape[NumDims];
  for (int i = 0; i < NumDims; ++i)
    shape[i] = p->sizes[p->order[i]];
  MlirType type = tensorOf(p, NumDims, p->order, mlirShapedTypeGetElementType(mlirValueGetType(matrix)));
  return tensorExpandShapeOpBuild(b, type, matrix, 0, NULL, groupsOf(b, p),
                                  mlirDenseI64ArrayGet(b->context, NumDims, shape));
}

static Operand whole(const Prune *p, MlirValue value) {
  Operand operand = {.value = value, .count = NumDims};
  for (int i = 0; i < NumDims; ++i)
    operand.dims[i] = p->order[i];
  return operand;
}

static MlirValue buildScores(TileBuilder *b, const Prune *p, MlirValue matrix) {
  static const int places[] = {Group, Window, Place};
  MlirType f32 = mlirF32TypeGet(b->context);
  TileBuilder inside;
  Operand operands[] = {whole(p, matrix),
                        {filled(b, tensorOf(p, 3, places, f32), tileBuildFloat(b, f32, 0)), 3, {Group, Window, Place}}};
  MlirOperation op = generic(b, NumDims, 2, 1, operands, &inside);
  MlirValue x = mlirBlockGetArgument(inside.block, 0);
  if (!mlirTypeIsAF32(mlirValueGetType(x)))
    x = arithExtFOpBuild(&inside, f32, x);
  x = p->isSquared ? arithMulFOpBuild(&inside, x, x)
                   : tileOnlyResult(mathAbsFOpCreate(&inside, x, mlirAttributeGetNull()));
  yield(&inside, arithAddFOpBuild(&inside, mlirBlockGetArgument(inside.block, 1), x));
  return tileOnlyResult(op);
}

// Bits of floats that are not negative sort as their numbers do, a nan above all.
static MlirValue buildKeys(TileBuilder *b, const Prune *p, MlirValue scores, int placeBits) {
  static const int places[] = {Group, Window, Place};
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), i64 = mlirIntegerTypeGet(b->context, 64);
  TileBuilder inside;
  Operand operands[] = {{scores, 3, {Group, Window, Place}},
                        {tensorEmptyOpBuild(b, tensorOf(p, 3, places, i64), 0, NULL), 3, {Group, Window, Place}}};
  MlirOperation op = generic(b, 3, 0, 1, operands, &inside);
  MlirValue bits = arithBitcastOpBuild(&inside, i32, mlirBlockGetArgument(inside.block, 0));
  bits = arithAndIOpBuild(&inside, bits, tileBuildInteger(&inside, i32, INT32_MAX));
  MlirValue place = linalgIndexOpBuild(&inside, mlirIntegerAttrGet(i64, Place));
  MlirValue fromEnd = arithSubIOpBuild(&inside, tileBuildIndex(&inside, p->sizes[Place] - 1), place);
  MlirValue high =
      arithShLIOpBuild(&inside, arithExtUIOpBuild(&inside, i64, bits), tileBuildInteger(&inside, i64, placeBits));
  yield(&inside, arithOrIOpBuild(&inside, high, arithIndexCastOpBuild(&inside, i64, fromEnd)));
  return tileOnlyResult(op);
}

// One more bit of the n-th highest key: it is set where at least n keys have it beside the bits before.
static MlirValue buildBit(TileBuilder *b, const Prune *p, MlirValue keys, MlirValue least, MlirValue bit) {
  static const int perWindow[] = {Group, Window};
  MlirType i32 = mlirIntegerTypeGet(b->context, 32), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue mask = arithShLIOpBuild(b, tileBuildInteger(b, i64, 1), arithIndexCastOpBuild(b, i64, bit));
  TileBuilder inside;
  Operand operands[] = {{keys, 3, {Group, Window, Place}},
                        {least, 2, {Group, Window}},
                        {filled(b, tensorOf(p, 2, perWindow, i32), tileBuildInteger(b, i32, 0)), 2, {Group, Window}}};
  MlirOperation counts = generic(b, 3, 1, 2, operands, &inside);
  MlirValue candidate = arithOrIOpBuild(&inside, mlirBlockGetArgument(inside.block, 1), mask);
  MlirValue isHigh = arithCmpIOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), candidate, ArithCmpI_Sge);
  MlirValue one = arithExtUIOpBuild(&inside, i32, isHigh);
  yield(&inside, arithAddIOpBuild(&inside, mlirBlockGetArgument(inside.block, 2), one));
  Operand both[] = {{tileOnlyResult(counts), 2, {Group, Window}},
                    {least, 2, {Group, Window}},
                    {tensorEmptyOpBuild(b, tensorOf(p, 2, perWindow, i64), 0, NULL), 2, {Group, Window}}};
  MlirOperation next = generic(b, 2, 0, 2, both, &inside);
  MlirValue before = mlirBlockGetArgument(inside.block, 1);
  MlirValue stay = tileBuildInteger(&inside, i32, p->windows.n / p->windows.together);
  MlirValue isSet = arithCmpIOpBuild(&inside, mlirBlockGetArgument(inside.block, 0), stay, ArithCmpI_Sge);
  yield(&inside, arithSelectOpBuild(&inside, isSet, arithOrIOpBuild(&inside, before, mask), before));
  return tileOnlyResult(next);
}

static MlirValue buildLeast(TileBuilder *b, const Prune *p, MlirValue keys, int bits) {
  static const int perWindow[] = {Group, Window};
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue start = filled(b, tensorOf(p, 2, perWindow, i64), tileBuildInteger(b, i64, 0));
  MlirValue zero = tileBuildIndex(b, 0), count = tileBuildIndex(b, bits), one = tileBuildIndex(b, 1);
  MlirBlock block;
  MlirOperation loop = tileBuildFor(b, zero, count, one, 1, &start, &block);
  TileBuilder body = tileBuilderAtEnd(block, b->location);
  MlirValue number = mlirBlockGetArgument(block, 0);
  MlirValue bit = arithSubIOpBuild(&body, tileBuildIndex(&body, bits - 1), number);
  MlirValue next = buildBit(&body, p, keys, mlirBlockGetArgument(block, 1), bit);
  tileBuildYield(&body, 1, &next);
  return tileOnlyResult(loop);
}

static MlirValue buildKept(TileBuilder *b, const Prune *p, MlirValue matrix, MlirValue keys, MlirValue least) {
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(matrix));
  TileBuilder inside;
  Operand operands[] = {whole(p, matrix),
                        {keys, 3, {Group, Window, Place}},
                        {least, 2, {Group, Window}},
                        whole(p, tensorEmptyOpBuild(b, mlirValueGetType(matrix), 0, NULL))};
  MlirOperation op = generic(b, NumDims, 0, 3, operands, &inside);
  MlirValue stays = arithCmpIOpBuild(&inside, mlirBlockGetArgument(inside.block, 1),
                                     mlirBlockGetArgument(inside.block, 2), ArithCmpI_Sge);
  yield(&inside,
        arithSelectOpBuild(&inside, stays, mlirBlockGetArgument(inside.block, 0), tileBuildFloat(&inside, element, 0)));
  return tileOnlyResult(op);
}

static void expand(MlirOperation op) {
  enum { ScoreBits = 31 };
  TileBuilder b = tileBuilderBefore(op);
  Prune p = read(op);
  int placeBits = 0;
  while ((int64_t)1 << placeBits < p.sizes[Place])
    ++placeBits;
  MlirValue matrix = cut(&b, &p, tileOnlyOperand(op));
  MlirValue keys = buildKeys(&b, &p, buildScores(&b, &p, matrix), placeBits);
  MlirValue kept = buildKept(&b, &p, matrix, keys, buildLeast(&b, &p, keys, ScoreBits + placeBits));
  MlirValue dense = tensorCollapseShapeOpBuild(&b, tileOnlyOperandType(op), kept, groupsOf(&b, &p));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), sparsePackOpBuild(&b, tileOnlyResultType(op), dense));
  mlirOperationDestroy(op);
}

//===--- the pass -------------------------------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollectOps(function, sparsePruneOpIsA);
  for (intptr_t i = 0; i < ops.count; ++i)
    expand(ops.items[i]);
  mlirExtPassAddStatistic(pass, 0, (uint64_t)ops.count);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition sparseExpandPrunePass = {
    .argument = "sparse-expand-prune",
    .summary = "Prune tensors to n of each m when the program runs",
    .anchor = funcFuncOpName,
    .statistics = statistics,
    .dialects = (const char *const[]){"arith", "linalg", "math", "scf", "tensor", NULL},
    .registerDialects = sparseRegisterDialect,
    .run = run,
};
