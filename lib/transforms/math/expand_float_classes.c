// tile-expand-float-classes: what asks for the class of a number, and what stands for two ops, becomes arithmetic.
//
//   math.isinf x                    →  |x| == inf; false in a type without infinities
//   math.isnormal x                 →  least normal <= |x| <= largest
//   math.clampf v to [low, high]    →  minimumf(maximumf(v, low), high)
//   sin, cos = math.sincos x        →  math.sin x, math.cos x
//
// Why: upstream lowers none of them to LLVM. Expects: scalars, vectors and tensors of known shape, in any function or
// kernel, before types are extended: a subnormal of f16 is a normal number of f32. Leaves: others as they are. Cost:
// linear.
#include "lib/transforms/math/expand_float_classes.h"

#include "dialects/tile/tile.h"
#include "lib/ir/float_format.h"
#include "lib/transforms/math/lanes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <math.h>

static bool isKnown(MlirOperation op) {
  MlirType type = tileOnlyOperandType(op);
  TileFloatFormat format;
  return (!mlirTypeIsAShaped(type) || mlirShapedTypeHasStaticShape(type)) &&
         tileFloatFormatOf(tileTypeGetElement(type), &format) && format.specials != TileFloat_Scale;
}

static MlirValue compare(TileBuilder *builder, ArithCmpF predicate, MlirValue value, double limit) {
  MlirType type = mlirValueGetType(value);
  return arithCmpFOpBuild(builder, value, tileBuildFloat(builder, type, limit), predicate);
}

static MlirValue expandIsInf(TileBuilder *builder, MlirOperation op) {
  TileFloatFormat format = tileFloatFormatGet(tileTypeGetElement(tileOnlyOperandType(op)));
  MlirValue magnitude = mathAbsFOpBuild(builder, tileOnlyOperand(op));
  // Nothing is beyond the largest number of a type without infinities.
  return compare(builder, ArithCmpF_Ogt, magnitude, format.largest);
}

static MlirValue expandIsNormal(TileBuilder *builder, MlirOperation op) {
  TileFloatFormat format = tileFloatFormatGet(tileTypeGetElement(tileOnlyOperandType(op)));
  MlirValue magnitude = mathAbsFOpBuild(builder, tileOnlyOperand(op));
  return arithAndIOpBuild(builder, compare(builder, ArithCmpF_Oge, magnitude, ldexp(1, format.leastExponent)),
                          compare(builder, ArithCmpF_Ole, magnitude, format.largest));
}

static MlirValue expandClamp(TileBuilder *builder, MlirOperation op) {
  MlirValue raised = arithMaximumFOpBuild(builder, mathClampFOpGetValue(op), mathClampFOpGetMin(op));
  return arithMinimumFOpBuild(builder, raised, mathClampFOpGetMax(op));
}

static MlirValue expandSincos(TileBuilder *builder, MlirOperation op) {
  MlirValue x = mathSincosOpGetOperand(op);
  mlirValueReplaceAllUsesOfWith(mathSincosOpGetCos(op), mathCosOpBuild(builder, x));
  return mathSinOpBuild(builder, x);
}

static const struct {
  TileUpstream op;
  bool asksClass; // of a number of a known format
  MlirValue (*expand)(TileBuilder *builder, MlirOperation op);
} expansions[] = {
    {MathOp_IsInf, true, expandIsInf},
    {MathOp_IsNormal, true, expandIsNormal},
    {MathOp_ClampF, false, expandClamp},
    {MathOp_Sincos, false, expandSincos},
};

static bool run(MlirOperation root, MlirExtPass pass) {
  TileOps ops = tileCollect(root, NULL);
  for (intptr_t i = 0; i < ops.count; ++i)
    for (size_t k = 0; k < sizeof expansions / sizeof *expansions; ++k) {
      MlirOperation op = ops.items[i];
      if (tileUpstreamKind(op) != expansions[k].op || (expansions[k].asksClass && !isKnown(op)))
        continue;
      TileBuilder builder = tileBuilderBefore(op);
      mlirValueReplaceAllUsesOfWith(tileFirstResult(op), expansions[k].expand(&builder, op));
      mlirOperationDestroy(op);
      break;
    }
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileExpandFloatClassesPass = {
    .argument = "tile-expand-float-classes",
    .summary = "Expand math.isinf, isnormal, clampf and sincos into ops that every target has",
    .dialects = (const char *const[]){"arith", "math", NULL},
    .run = run,
};
