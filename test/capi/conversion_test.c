// Dialect conversion from C: legality, types, signatures, 1:1 and 1:N patterns, materializations.
#include "lib/capi/conversion.h"
#include "test/capi/test_session.h"

static MlirValue insertCast(MlirRewriterBase builder, MlirType type, intptr_t count, const MlirValue *inputs,
                            MlirLocation location, void *userData) {
  MlirOperationState state = mlirOperationStateGet(text("builtin.unrealized_conversion_cast"), location);
  mlirOperationStateAddOperands(&state, count, inputs);
  mlirOperationStateAddResults(&state, 1, &type);
  ++*(int *)userData;
  return mlirOperationGetResult(mlirRewriterBaseInsert(builder, mlirOperationCreate(&state)), 0);
}

//===--- 1:1: t.add to arith.addi, !t.pair<i32> to i32 ------------------------===//
static MlirType pairToElement(MlirType type, void *userData) {
  if (!mlirExtTypeIsA(type, &testTypes[0]))
    return type;
  return mlirTypeAttrGetValue(mlirExtTypeGetParameter(type, 0));
}

static MlirLogicalResult addToArith(MlirOperation op, intptr_t count, const MlirValue *operands,
                                    MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *userData) {
  MlirType type = mlirExtTypeConverterConvertType(converter, mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (mlirTypeIsNull(type))
    return mlirLogicalResultFailure();
  MlirOperationState state = mlirOperationStateGet(text("arith.addi"), mlirOperationGetLocation(op));
  mlirOperationStateAddOperands(&state, count, operands);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation add = mlirRewriterBaseInsert(mlirPatternRewriterAsBase(rewriter), mlirOperationCreate(&state));
  mlirRewriterBaseReplaceOpWithOperation(mlirPatternRewriterAsBase(rewriter), op, add);
  return mlirLogicalResultSuccess();
}

static bool isUnmarked(MlirOperation op, void *userData) {
  return mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(op, text("u.illegal")));
}
static bool always(MlirOperation op, void *userData) { return true; }

static MlirExtConversionTarget makeTarget(MlirContext context) {
  MlirExtConversionTarget target = mlirExtConversionTargetCreate(context);
  mlirExtConversionTargetAddLegalDialect(target, "arith");
  mlirExtConversionTargetAddLegalOp(target, "builtin.module");
  mlirExtConversionTargetAddIllegalDialect(target, "t");
  mlirExtConversionTargetAddLegalOp(target, "t.effect");
  mlirExtConversionTargetAddIllegalOp(target, "t.same");
  mlirExtConversionTargetAddDynamicallyLegalOp(target, "u.use", isUnmarked, NULL);
  mlirExtConversionTargetMarkUnknownOpDynamicallyLegal(target, always, NULL);
  return target;
}

static MlirExtTypeConverter makeConverter(int *casts) {
  MlirExtTypeConverter converter = mlirExtTypeConverterCreate();
  mlirExtTypeConverterAddConversion(converter, pairToElement, NULL);
  mlirExtTypeConverterAddSourceMaterialization(converter, insertCast, casts);
  mlirExtTypeConverterAddTargetMaterialization(converter, insertCast, casts);
  return converter;
}

// Converts `program`; the result is in `out`. `full` demands that all is legal afterwards.
static bool convertOneToOne(Session *s, const char *program, bool full, Text *out, int *casts) {
  MlirModule module = mlirModuleCreateParse(s->context, text(program));
  MlirExtConversionTarget target = makeTarget(s->context);
  MlirExtTypeConverter converter = makeConverter(casts);
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(s->context);
  mlirRewritePatternSetAdd(patterns,
                           mlirExtOpConversionPatternCreate("t.add", 1, s->context, converter, addToArith, NULL));
  mlirExtPopulateFuncTypeConversion(patterns, converter, target);
  mlirExtPopulateScfTypeConversion(patterns, converter, target);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  MlirOperation root = mlirModuleGetOperation(module);
  MlirLogicalResult result =
      full ? mlirExtApplyFullConversion(root, target, frozen) : mlirExtApplyPartialConversion(root, target, frozen);
  *out = (Text){calloc(1, 1), 0};
  mlirOperationPrint(root, textAppend, out);
  mlirFrozenRewritePatternSetDestroy(frozen);
  mlirRewritePatternSetDestroy(patterns);
  mlirExtTypeConverterDestroy(converter);
  mlirExtConversionTargetDestroy(target);
  mlirModuleDestroy(module);
  return mlirLogicalResultIsSuccess(result);
}

static void oneToOne(Session *s) {
  const char *program = "func.func @f(%a: !t.pair<i32>, %c: i1) -> !t.pair<i32> {\n"
                        "%0 = \"t.add\"(%a, %a) : (!t.pair<i32>, !t.pair<i32>) -> !t.pair<i32>\n"
                        "%1 = scf.if %c -> !t.pair<i32> { scf.yield %0 : !t.pair<i32> } else { scf.yield %a : "
                        "!t.pair<i32> }\n\"t.effect\"() : () -> ()\n\"u.use\"(%1) : (!t.pair<i32>) -> ()\n"
                        "return %1 : !t.pair<i32> }";
  Text out;
  int casts = 0;
  CHECK(convertOneToOne(s, program, true, &out, &casts));
  CHECK(textHas(&out, "func.func @f(%arg0: i32, %arg1: i1) -> i32"));
  CHECK(textHas(&out, "arith.addi %arg0, %arg0 : i32") && textHas(&out, "scf.if %arg1 -> (i32)"));
  CHECK(textHas(&out, "t.effect") && textHas(&out, "unrealized_conversion_cast %1 : i32 to !t.pair<i32>"));
  CHECK(casts > 0);
  free(out.data);
}

static void illegal(Session *s) {
  Text out;
  int casts = 0;
  CHECK(!convertOneToOne(s, "%0 = \"t.below\"() <{limit = 4 : i64}> : () -> index", false, &out, &casts));
  CHECK(textHas(&s->diagnostics, "failed to legalize operation 't.below' that was explicitly marked illegal"));
  free(out.data);
  CHECK(!convertOneToOne(s, "%0 = \"u.get\"() : () -> i32\n%1 = \"t.same\"(%0) : (i32) -> i32", false, &out, &casts));
  free(out.data);
  CHECK(convertOneToOne(s, "\"u.use\"() : () -> ()", true, &out, &casts));
  free(out.data);
  CHECK(!convertOneToOne(s, "\"u.use\"() {u.illegal} : () -> ()", true, &out, &casts));
  free(out.data);
}

//===--- 1:N: a !t.pair<2xi32> is two i32 --------------------------------------===//
static bool pairToMany(MlirType type, MlirExtTypeList types, void *userData) {
  if (!mlirExtTypeIsA(type, &testTypes[0]))
    return false;
  int64_t count = mlirDenseI64ArrayGetElement(mlirExtTypeGetParameter(type, 1), 0);
  for (int64_t i = 0; i < count; ++i)
    mlirExtTypeListAppend(types, mlirTypeAttrGetValue(mlirExtTypeGetParameter(type, 0)));
  return true;
}

// Adds element by element.
static MlirLogicalResult addEach(MlirOperation op, intptr_t count, const MlirExtValueRange *operands,
                                 MlirPatternRewriter rewriter, MlirExtTypeConverter converter, void *userData) {
  MlirValue sums[8];
  for (intptr_t i = 0; i < operands[0].count; ++i) {
    MlirOperationState state = mlirOperationStateGet(text("arith.addi"), mlirOperationGetLocation(op));
    mlirOperationStateAddOperands(&state, 2, (MlirValue[]){operands[0].values[i], operands[1].values[i]});
    mlirOperationStateEnableResultTypeInference(&state);
    sums[i] = mlirOperationGetResult(
        mlirRewriterBaseInsert(mlirPatternRewriterAsBase(rewriter), mlirOperationCreate(&state)), 0);
  }
  MlirExtValueRange result = {operands[0].count, sums};
  mlirExtRewriterReplaceOpWithMultiple(rewriter, op, 1, &result);
  return mlirLogicalResultSuccess();
}

static void oneToMany(Session *s) {
  const char *program = "func.func @f(%a: !t.pair<2xi32>, %b: !t.pair<2xi32>) -> !t.pair<2xi32> {\n"
                        "%0 = \"t.add\"(%a, %b) : (!t.pair<2xi32>, !t.pair<2xi32>) -> !t.pair<2xi32>\n"
                        "return %0 : !t.pair<2xi32> }";
  MlirModule module = mlirModuleCreateParse(s->context, text(program));
  MlirExtConversionTarget target = makeTarget(s->context);
  int casts = 0;
  MlirExtTypeConverter converter = makeConverter(&casts);
  mlirExtTypeConverterAdd1ToNConversion(converter, pairToMany, NULL); // tried before the 1:1 one
  CHECK(
      mlirTypeIsNull(mlirExtTypeConverterConvertType(converter, mlirTypeParseGet(s->context, text("!t.pair<2xi32>")))));
  MlirRewritePatternSet patterns = mlirRewritePatternSetCreate(s->context);
  mlirRewritePatternSetAdd(patterns,
                           mlirExtOpConversion1ToNPatternCreate("t.add", 1, s->context, converter, addEach, NULL));
  mlirExtPopulateFuncTypeConversion(patterns, converter, target);
  MlirFrozenRewritePatternSet frozen = mlirFreezeRewritePattern(patterns);
  MlirOperation root = mlirModuleGetOperation(module);
  CHECK(mlirLogicalResultIsSuccess(mlirExtApplyFullConversion(root, target, frozen)));
  Text out = {NULL, 0};
  mlirOperationPrint(root, textAppend, &out);
  CHECK(textHas(&out, "func.func @f(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: i32) -> (i32, i32)"));
  CHECK(textHas(&out, "%0 = arith.addi %arg0, %arg2 : i32\n    %1 = arith.addi %arg1, %arg3 : i32"));
  CHECK(textHas(&out, "return %0, %1 : i32, i32"));
  free(out.data);
  mlirFrozenRewritePatternSetDestroy(frozen);
  mlirRewritePatternSetDestroy(patterns);
  mlirExtTypeConverterDestroy(converter);
  mlirExtConversionTargetDestroy(target);
  mlirModuleDestroy(module);
}

int main(void) {
  Session session;
  sessionBegin(&session);
  mlirContextLoadAllAvailableDialects(session.context);
  oneToOne(&session);
  illegal(&session);
  oneToMany(&session);
  sessionEnd(&session);
  return failures != 0;
}
