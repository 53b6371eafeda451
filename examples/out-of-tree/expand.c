// poly-expand: writes polynomials out as multiplications and additions.
// Expects: poly.horner at any level. Leaves: none; arith, or math.fma where the option asks for it. Cost: linear.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "poly.h"

enum { Expanded, Steps }; // as in `statistics`

static double coefficientOf(MlirOperation op, intptr_t number) {
  return mlirFloatAttrGetValueDouble(mlirArrayAttrGetElement(tileOpAttribute(op, "coefficients"), number));
}

// value · x + constant
static MlirValue buildStep(TileBuilder *builder, MlirValue value, MlirValue x, MlirValue constant, bool isFused) {
  MlirType type = mlirValueGetType(x);
  if (isFused)
    return tileBuildValue(builder, "math.fma", type, 3, (MlirValue[]){value, x, constant}, NULL);
  MlirValue product = tileBuildValue(builder, "arith.mulf", type, 2, (MlirValue[]){value, x}, NULL);
  return tileBuildValue(builder, "arith.addf", type, 2, (MlirValue[]){product, constant}, NULL);
}

static intptr_t degreeOf(MlirOperation op) {
  return mlirArrayAttrGetNumElements(tileOpAttribute(op, "coefficients")) - 1;
}

static MlirValue buildPolynomial(MlirOperation op, bool isFused) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue x = tileOnlyOperand(op);
  MlirType type = mlirValueGetType(x);
  MlirValue value = tileBuildFloat(&builder, type, coefficientOf(op, degreeOf(op)));
  for (intptr_t i = degreeOf(op) - 1; i >= 0; --i)
    value = buildStep(&builder, value, x, tileBuildFloat(&builder, type, coefficientOf(op, i)), isFused);
  return value;
}

// The hook of the row: our pipelines write the op out, too.
bool polyHornerExpand(MlirOperation op, MlirValue *results) {
  results[0] = buildPolynomial(op, false);
  return true;
}

static void expand(MlirOperation op, MlirExtPass pass) {
  mlirExtPassAddStatistic(pass, Expanded, 1);
  mlirExtPassAddStatistic(pass, Steps, (uint64_t)degreeOf(op));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), buildPolynomial(op, mlirExtPassGetBool(pass, "fma")));
  mlirOperationDestroy(op);
}

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollect(function, "poly.horner");
  for (intptr_t i = 0; i < ops.count; ++i)
    expand(ops.items[i], pass);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition polyExpandPass = {
    .argument = "poly-expand",
    .summary = "Write polynomials out as multiplications and additions",
    .anchor = "func.func",
    .options =
        (const MlirExtPassOption[]){{"fma", "multiply and add with one rounding", MlirExtOption_Bool, "false"}, {NULL}},
    .statistics = (const char *const[]){"expanded: polynomials written out", "steps: multiplications", NULL},
    .dialects = (const char *const[]){"arith", "math", NULL},
    .run = run,
};
