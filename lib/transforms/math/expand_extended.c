// tile-expand-extended: ops of arith with two results become ops with one.
//
//   %low, %high = arith.mului_extended %a, %b : i32    →    the product in i64; its lower half, and its upper one
//   %sum, %carry = arith.addui_extended %a, %b         →    %sum = a + b, %carry = sum < a
// An integer of 64 bits is multiplied by its halves; the upper half of a signed product is that of the unsigned one,
// less each factor where the other is negative.
//
// Expects: arith on scalars or vectors of integers. Leaves: no such op. Cost: linear. Source: Warren, Hacker's Delight,
// section 8-2. For text in C, CUDA C++ and HIP, which has no expression for two results.
#include "lib/transforms/math/expand_extended.h"

#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"

enum { WordBits = 64, HalfBits = 32 };

static MlirType withElement(MlirType type, MlirType element) {
  int64_t size = mlirTypeIsAVector(type) ? mlirShapedTypeGetDimSize(type, 0) : 0;
  return mlirTypeIsAVector(type) ? mlirVectorTypeGet(1, &size, element) : element;
}

static MlirValue build(TileBuilder *b, TileUpstream kind, MlirValue x, MlirValue y) {
  return tileBuildBinary(b, kind, x, y);
}

static MlirValue number(TileBuilder *b, MlirValue like, int64_t value) {
  return tileBuildInteger(b, mlirValueGetType(like), value);
}

// Through an integer that is twice as wide.
static MlirValue highOfNarrow(TileBuilder *b, MlirValue x, MlirValue y, bool isSigned, unsigned bits) {
  MlirType type = mlirValueGetType(x);
  MlirType wide = withElement(type, mlirIntegerTypeGet(b->context, 2 * bits));
  TileUpstream extend = isSigned ? ArithOp_ExtSI : ArithOp_ExtUI;
  MlirValue product = build(b, ArithOp_MulI, tileBuildCast(b, extend, x, wide), tileBuildCast(b, extend, y, wide));
  return tileBuildCast(b, ArithOp_TruncI, build(b, ArithOp_ShRUI, product, number(b, product, bits)), type);
}

static MlirValue upper(TileBuilder *b, MlirValue x) { return build(b, ArithOp_ShRUI, x, number(b, x, HalfBits)); }

static MlirValue lower(TileBuilder *b, MlirValue x) {
  return build(b, ArithOp_AndI, x, number(b, x, INT64_C(0xffffffff)));
}

// y where x is negative, else 0.
static MlirValue whereNegative(TileBuilder *b, MlirValue x, MlirValue y) {
  return build(b, ArithOp_AndI, build(b, ArithOp_ShRSI, x, number(b, x, WordBits - 1)), y);
}

static MlirValue highOfWords(TileBuilder *b, MlirValue x, MlirValue y, bool isSigned) {
  MlirValue lows = build(b, ArithOp_MulI, lower(b, x), lower(b, y));
  MlirValue one = build(b, ArithOp_MulI, lower(b, x), upper(b, y));
  MlirValue two = build(b, ArithOp_MulI, upper(b, x), lower(b, y));
  MlirValue middle = build(b, ArithOp_AddI, upper(b, lows), build(b, ArithOp_AddI, lower(b, one), lower(b, two)));
  MlirValue high = build(b, ArithOp_MulI, upper(b, x), upper(b, y));
  high = build(b, ArithOp_AddI, high, build(b, ArithOp_AddI, upper(b, one), upper(b, two)));
  high = build(b, ArithOp_AddI, high, upper(b, middle));
  if (isSigned)
    high = build(b, ArithOp_SubI, build(b, ArithOp_SubI, high, whereNegative(b, x, y)), whereNegative(b, y, x));
  return high;
}

static bool isProduct(MlirOperation op) { return arithMulUIExtendedOpIsA(op) || arithMulSIExtendedOpIsA(op); }

static bool isExtended(MlirOperation op) { return isProduct(op) || arithAddUIExtendedOpIsA(op); }

static void expand(MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue x = tileBinaryLhs(op), y = tileBinaryRhs(op);
  MlirType type = mlirValueGetType(x), element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  bool isSigned = arithMulSIExtendedOpIsA(op);
  if (!mlirTypeIsAInteger(element) || (mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) != 1))
    return;
  unsigned bits = mlirIntegerTypeGetWidth(element);
  if (isProduct(op) && bits != WordBits && bits > HalfBits)
    return;
  MlirValue first = build(&b, isProduct(op) ? ArithOp_MulI : ArithOp_AddI, x, y);
  MlirValue second = !isProduct(op)     ? arithCmpIOpBuild(&b, first, x, ArithCmpI_Ult)
                     : bits == WordBits ? highOfWords(&b, x, y, isSigned)
                                        : highOfNarrow(&b, x, y, isSigned, bits);
  MlirValue results[] = {first, second};
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
  mlirOperationDestroy(op);
}

static bool run(MlirOperation around, MlirExtPass pass) {
  (void)pass;
  TileOps ops = tileCollectOps(around, isExtended);
  for (intptr_t i = 0; i < ops.count; ++i)
    expand(ops.items[i]);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileExpandExtendedPass = {
    .argument = "tile-expand-extended",
    .summary = "Turn ops of arith with two results into ops with one",
    .dialects = (const char *const[]){"arith", NULL},
    .run = run,
};
