// tile-check-sizes: sizes that are known only at run time are compared where an op needs them to agree.
//
//   func.func @add(%a: tensor<?xf32>, %b: tensor<?xf32>)   →   %0 = tensor.dim %b, 0   %1 = tensor.dim %a, 0
//     linalg.add ins(%a, %b) …                                 cf.assert %0 == %1, "dimension 0 of argument 1 must …"
//
// Why: a loop is as long as one operand says, and would read a shorter operand past its end.
// Expects: func.func on tensors or memrefs, with linalg as it was written. Leaves: linalg whose operands agree, or an
// error of the caller before anything is computed: sizes of arguments are compared where the function begins, others
// before the op. Not compared: what is known to be equal (lib/analysis/sizes.h). Sums of loops, as windows have them,
// must stay below the operand's size. Copies, concatenations and what is inserted into slices are compared too; ops in
// a tile.group are not. Cost: linear in the ops, times the pairs that were compared.
#include "lib/transforms/tensor/tensor.h"

#include "dialects/tile/ops.h"
#include "lib/analysis/affine_sum.h"
#include "lib/analysis/sizes.h"
#include "lib/ir/op_query.h"
#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/Linalg.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/linalg.h"
#include "upstream/memref.h"
#include "upstream/tensor.h"

#include <stdio.h>

enum { MaxLoops = 32, MessageLength = 256 };

typedef struct Checks {
  MlirBlock entry;
  MlirOperation first; // of the entry, as it was: arguments are compared before it
  TileKnownSizes known;
  uint64_t count;
} Checks;

// A size, and whose: what a message says of it.
typedef struct Sized {
  TileSize size;
  int operand, axis; // operand -1: nothing is known yet
} Sized;

//===--- questions ------------------------------------------------------------------===//

// A tile.group accepts no assertion among its ops.
static bool isInGroup(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !tileGroupOpIsA(op))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

static bool needsAgreement(MlirOperation op) {
  if (isInGroup(op))
    return false;
  return tileOpIsStructured(op) || linalgSoftmaxOpIsA(op) || tensorCastOpIsA(op) || memrefCastOpIsA(op) ||
         memrefCopyOpIsA(op) || tensorConcatOpIsA(op) || tensorInsertSliceOpIsA(op);
}

static bool isOfArguments(const Checks *checks, TileSize size) {
  return tileSizeIsConstant(size) || (mlirValueIsABlockArgument(size.value) &&
                                      mlirBlockEqual(mlirBlockArgumentGetOwner(size.value), checks->entry));
}

static bool isShaped(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAShaped(type) && mlirShapedTypeHasRank(type);
}

// "dimension 0 of argument 1", "dimension 0 of operand 1 of linalg.add"
static void describe(const Checks *checks, MlirOperation op, const Sized *sized, char *text, size_t length) {
  TileSize size = sized->size;
  if (!tileSizeIsConstant(size) && size.axis >= 0 && isOfArguments(checks, size))
    snprintf(text, length, "dimension %d of argument %d", (int)size.axis,
             (int)mlirBlockArgumentGetArgNumber(size.value));
  else
    snprintf(text, length, "dimension %d of operand %d of %.*s", sized->axis, sized->operand,
             (int)tileOpName(op).length, tileOpName(op).data);
}

//===--- equal sizes ----------------------------------------------------------------===//

static void writeMessage(const Checks *checks, MlirOperation op, const Sized *seen, const Sized *expected,
                         char text[MessageLength]) {
  char a[MessageLength / 3], b[MessageLength / 3];
  describe(checks, op, seen, a, sizeof a);
  describe(checks, op, expected, b, sizeof b);
  if (tileSizeIsConstant(expected->size))
    snprintf(text, MessageLength, "%s must be %lld", a, (long long)expected->size.constant);
  else
    snprintf(text, MessageLength, "%s must equal %s", a, b);
}

static void buildCheck(Checks *checks, MlirOperation op, const Sized *seen, const Sized *expected) {
  if (tileSizeIsConstant(seen->size)) {
    const Sized *constant = seen;
    seen = expected, expected = constant;
  }
  bool atBegin = isOfArguments(checks, seen->size) && isOfArguments(checks, expected->size) &&
                 mlirBlockEqual(mlirOperationGetBlock(op), checks->entry);
  TileBuilder builder = tileBuilderBefore(atBegin ? checks->first : op);
  builder.location = mlirOperationGetLocation(op);
  char text[MessageLength];
  writeMessage(checks, op, seen, expected, text);
  MlirValue sizes[] = {tileSizeBuild(&builder, seen->size), tileSizeBuild(&builder, expected->size)};
  tileBuildAssert(&builder, arithCmpIOpBuild(&builder, sizes[0], sizes[1], ArithCmpI_Eq), text);
  if (mlirBlockEqual(mlirOperationGetBlock(op), checks->entry))
    tileKnownSizesAdd(&checks->known, seen->size, expected->size);
  ++checks->count;
}

static void expectEqual(Checks *checks, MlirOperation op, const Sized *seen, Sized *expected) {
  if (expected->operand < 0)
    *expected = *seen;
  else if (!tileSizesEqual(&checks->known, seen->size, expected->size))
    buildCheck(checks, op, seen, expected);
}

static Sized sizedOperand(const Checks *checks, MlirOperation op, int operand, int axis) {
  return (Sized){tileSizeOf(&checks->known, mlirOperationGetOperand(op, operand), axis), operand, axis};
}

//===--- windows --------------------------------------------------------------------===//

// constant + the sum of factors[i] · loop i. Factors are not negative.
typedef struct Reach {
  int64_t constant, factors[MaxLoops];
} Reach;

// Loops of known sizes become part of the constant. False if one of them has no round: nothing is read then.
static bool foldKnown(Reach *reach, intptr_t loops, const Sized *sizes) {
  for (intptr_t i = 0; i < loops; ++i)
    if (tileSizeIsConstant(sizes[i].size)) {
      if (!sizes[i].size.constant)
        return false;
      reach->constant += reach->factors[i] * (sizes[i].size.constant - 1);
      reach->factors[i] = 0;
    }
  return true;
}

// Whether the last place that the loops reach is inside, or a loop has no round.
static MlirValue buildIsInside(TileBuilder *builder, const Reach *reach, intptr_t loops, const Sized *sizes,
                               TileSize operand) {
  MlirValue last = tileBuildIndex(builder, reach->constant), isFine = {NULL};
  for (intptr_t i = 0; i < loops; ++i) {
    if (tileSizeIsConstant(sizes[i].size))
      continue;
    MlirValue size = tileSizeBuild(builder, sizes[i].size);
    MlirValue isEmpty = arithCmpIOpBuild(builder, size, tileBuildIndex(builder, 0), ArithCmpI_Eq);
    isFine = mlirValueIsNull(isFine) ? isEmpty : arithOrIOpBuild(builder, isFine, isEmpty);
    MlirValue steps = tileBuildSub(builder, size, tileBuildIndex(builder, 1));
    if (reach->factors[i])
      last = tileBuildAdd(builder, last, tileBuildMul(builder, steps, tileBuildIndex(builder, reach->factors[i])));
  }
  MlirValue isInside = arithCmpIOpBuild(builder, last, tileSizeBuild(builder, operand), ArithCmpI_Slt);
  return mlirValueIsNull(isFine) ? isInside : arithOrIOpBuild(builder, isFine, isInside);
}

static void expectReach(Checks *checks, MlirOperation op, Reach *reach, intptr_t loops, const Sized *sizes,
                        const Sized *operand) {
  if (!foldKnown(reach, loops, sizes))
    return;
  bool isOpen = !tileSizeIsConstant(operand->size);
  for (intptr_t i = 0; i < loops; ++i)
    isOpen |= reach->factors[i] != 0;
  if (!isOpen)
    return; // the verifier of linalg has compared them
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue isInside = buildIsInside(&builder, reach, loops, sizes, operand->size);
  char text[MessageLength], what[MessageLength / 2];
  describe(checks, op, operand, what, sizeof what);
  snprintf(text, sizeof text, "%s is too small for the other sizes of the op", what);
  tileBuildAssert(&builder, isInside, text);
  ++checks->count;
}

//===--- ops ------------------------------------------------------------------------===//

static MlirAffineMap mapOf(MlirOperation op, intptr_t operand) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand));
}

static void checkWindows(Checks *checks, MlirOperation op, intptr_t operand, intptr_t loops, const Sized *sizes) {
  MlirAffineMap map = mapOf(op, operand);
  for (intptr_t axis = 0; axis < mlirAffineMapGetNumResults(map); ++axis) {
    Reach reach = {0};
    MlirAffineExpr expression = mlirAffineMapGetResult(map, axis);
    Sized size = sizedOperand(checks, op, (int)operand, (int)axis);
    if (!mlirAffineExprIsADim(expression) && tileAffineSumAdd(expression, 1, reach.factors, &reach.constant))
      expectReach(checks, op, &reach, loops, sizes, &size);
  }
}

static void checkLoops(Checks *checks, MlirOperation op) {
  Sized sizes[MaxLoops];
  intptr_t loops = mlirAffineMapGetNumDims(mapOf(op, 0)), operands = mlirOperationGetNumOperands(op);
  if (loops > MaxLoops)
    return;
  for (intptr_t i = 0; i < loops; ++i)
    sizes[i] = (Sized){.operand = -1};
  for (int o = 0; o < operands; ++o)
    for (int axis = 0; isShaped(mlirOperationGetOperand(op, o)) && axis < mlirAffineMapGetNumResults(mapOf(op, o));
         ++axis) {
      MlirAffineExpr expression = mlirAffineMapGetResult(mapOf(op, o), axis);
      Sized seen = sizedOperand(checks, op, o, axis);
      if (mlirAffineExprIsADim(expression))
        expectEqual(checks, op, &seen, &sizes[mlirAffineDimExprGetPosition(expression)]);
    }
  for (int o = 0; o < operands; ++o)
    if (isShaped(mlirOperationGetOperand(op, o)))
      checkWindows(checks, op, o, loops, sizes);
}

// All operands have the sizes of the first, but for dimension `without` (-1: all).
static void checkAlike(Checks *checks, MlirOperation op, int64_t without) {
  Sized first = {.operand = -1};
  for (int o = 0; o < mlirOperationGetNumOperands(op); ++o)
    if (!isShaped(mlirOperationGetOperand(op, o)))
      return;
  for (int axis = 0; axis < mlirShapedTypeGetRank(tileFirstOperandType(op)); ++axis, first.operand = -1)
    for (int o = 0; axis != without && o < mlirOperationGetNumOperands(op); ++o) {
      Sized seen = sizedOperand(checks, op, o, axis);
      expectEqual(checks, op, &seen, &first);
    }
}

// What is inserted has the sizes of the slice, but for sizes of 1 that have no counterpart.
static void checkInserted(Checks *checks, MlirOperation op) {
  MlirAttribute sizes = tensorInsertSliceOpGetStaticSizes(op);
  MlirType source = tensorInsertSliceOpGetSourceType(op);
  intptr_t rank = mlirDenseArrayGetNumElements(sizes), kept = mlirShapedTypeGetRank(source);
  for (int i = 0, axis = 0, dynamic = 0; i < rank && axis < kept; ++i) {
    int64_t size = mlirDenseI64ArrayGetElement(sizes, i);
    bool isDropped = size == 1 && rank - i > kept - axis && mlirShapedTypeGetDimSize(source, axis) != 1;
    TileSize expected = mlirShapedTypeIsDynamicSize(size)
                            ? tileSizeOfIndex(&checks->known, tensorInsertSliceOpGetSizes(op, dynamic++))
                            : tileConstantSize(size);
    if (isDropped)
      continue;
    Sized seen = sizedOperand(checks, op, 0, axis), of = {expected, 0, axis};
    expectEqual(checks, op, &seen, &of);
    ++axis;
  }
}

// The source has the sizes that the result's type says.
static void checkCast(Checks *checks, MlirOperation op) {
  MlirType to = tileOnlyResultType(op);
  bool hasRank = isShaped(tileOnlyOperand(op)) && mlirShapedTypeHasRank(to);
  for (int axis = 0; hasRank && axis < mlirShapedTypeGetRank(to); ++axis) {
    Sized seen = sizedOperand(checks, op, 0, axis);
    Sized expected = {tileConstantSize(mlirShapedTypeGetDimSize(to, axis)), 0, axis};
    if (!mlirShapedTypeIsDynamicDim(to, axis) && !tileSizesEqual(&checks->known, seen.size, expected.size))
      buildCheck(checks, op, &seen, &expected);
  }
}

//===--- the pass -------------------------------------------------------------------===//

static void check(Checks *checks, MlirOperation op) {
  if (linalgSoftmaxOpIsA(op) || memrefCopyOpIsA(op))
    checkAlike(checks, op, -1);
  else if (tensorConcatOpIsA(op))
    checkAlike(checks, op, tensorConcatOpGetDimValue(op));
  else if (tensorInsertSliceOpIsA(op))
    checkInserted(checks, op);
  else if (tensorCastOpIsA(op) || memrefCastOpIsA(op))
    checkCast(checks, op);
  else
    checkLoops(checks, op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  Checks checks = {.entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0))};
  if (mlirBlockIsNull(checks.entry))
    return true;
  checks.first = mlirBlockGetFirstOperation(checks.entry);
  TileOps ops = tileCollectOps(function, needsAgreement);
  for (intptr_t i = 0; i < ops.count; ++i)
    check(&checks, ops.items[i]);
  mlirExtPassAddStatistic(pass, 0, checks.count);
  tileKnownSizesFree(&checks.known);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileCheckSizesPass = {
    .argument = "tile-check-sizes",
    .summary = "Compare sizes that are known only at run time where an op needs them to agree",
    .anchor = funcFuncOpName,
    .statistics = (const char *const[]){"checks: sizes that are compared at run time", NULL},
    .dialects = (const char *const[]){"arith", "cf", "tensor", "memref", NULL},
    .run = run,
};
