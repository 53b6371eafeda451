// Building and reading ops from C: generated builders and accessors, index arithmetic, loops, support, patterns.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "mlir-c/RegisterEverything.h"
#include "test/check.h"
#include "test/ir/probe/ops.h"
#include "test/ir/probe/probe.h"

typedef struct Session {
  MlirContext context;
  MlirModule module;
  TileBuilder builder;
} Session;

static Session begin(void) {
  static const char *const dialects[] = {"arith", "scf", "func", NULL};
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirExtDialectRegistryInsertNamed(registry, dialects);
  mlirExtDialectRegistryInsert(registry, probeDialect());
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  MlirLocation location = mlirLocationUnknownGet(context);
  MlirModule module = mlirModuleCreateEmpty(location);
  return (Session){context, module, tileBuilderAtEnd(mlirModuleGetBody(module), location)};
}

static void end(Session *s) {
  CHECK(mlirOperationVerify(mlirModuleGetOperation(s->module)));
  mlirModuleDestroy(s->module);
  mlirContextDestroy(s->context);
}

static MlirType typeOf(Session *s, const char *text) { return mlirTypeParseGet(s->context, tileString(text)); }
static MlirAttribute attributeOf(Session *s, const char *text) {
  return mlirAttributeParseGet(s->context, tileString(text));
}
static MlirValue make(Session *s, const char *type) {
  MlirType types[] = {typeOf(s, type)};
  return probeMakeOpGetResults(probeMakeOpCreate(&s->builder, 1, types), 0);
}

//===--- memo ---------------------------------------------------------------===//
static void memo(Session *s) {
  TileMemo *memo = tileMemoCreate(mlirModuleGetBody(s->module));
  TileBuilder plain = s->builder, builder = s->builder;
  builder.memo = memo;
  MlirType i32 = typeOf(s, "i32"), i64 = typeOf(s, "i64");
  MlirValue seven = tileBuildInteger(&builder, i32, 7);
  CHECK(mlirValueEqual(seven, tileBuildInteger(&builder, i32, 7)));
  CHECK(!mlirValueEqual(seven, tileBuildInteger(&builder, i32, 8)));
  CHECK(!mlirValueEqual(seven, tileBuildInteger(&builder, i64, 7)));
  CHECK(!mlirValueEqual(seven, tileBuildInteger(&plain, i32, 7)));
  for (int i = 0; i < 1000; ++i) // more than the first table holds
    tileBuildInteger(&builder, i64, i);
  CHECK(mlirValueEqual(seven, tileBuildInteger(&builder, i32, 7)));
  MlirOperation first = mlirBlockGetFirstOperation(mlirModuleGetBody(s->module));
  CHECK(mlirOperationEqual(first, mlirOpResultGetOwner(tileBuildInteger(&builder, i64, 999))));
  CHECK(mlirAttributeEqual(tileBuildAttribute(&builder, "[1, 2]"), attributeOf(s, "[1, 2]")));
  CHECK(mlirAttributeEqual(tileBuildAttribute(&builder, "[1, 2]"), attributeOf(s, "[1, 2]")));
  CHECK(mlirAttributeEqual(tileBuildAttribute(&plain, "[1, 2]"), attributeOf(s, "[1, 2]")));
  tileMemoDestroy(memo);
}

//===--- generated ----------------------------------------------------------===//
static void values(Session *s) {
  MlirValue i = make(s, "index"), n = make(s, "i32"), f = make(s, "f32"), null = {NULL};
  MlirValue rest[] = {i, i};
  MlirOperation all = probeGroupsOpCreate(&s->builder, i, n, 2, rest, f);
  CHECK(probeGroupsOpIsA(all) && !probeAddOpIsA(all) && probeOpKind(all) == ProbeOp_Groups);
  CHECK(mlirValueEqual(probeGroupsOpGetMaybe(all), n) && mlirValueEqual(probeGroupsOpGetLast(all), f));
  CHECK(probeGroupsOpGetNumRest(all) == 2 && probeGroupsOpGetRestBegin(all) == 2);
  CHECK(mlirValueEqual(probeGroupsOpGetRest(all, 1), i));
  MlirOperation few = probeGroupsOpCreate(&s->builder, i, null, 0, NULL, f);
  CHECK(mlirOperationGetNumOperands(few) == 2 && mlirValueIsNull(probeGroupsOpGetMaybe(few)) &&
        !probeGroupsOpGetNumRest(few));
  CHECK(mlirValueEqual(probeGroupsOpGetLast(few), f) && mlirValueEqual(tileOpOperand(few, "last"), f));
  CHECK(!tileOpOperand(few, "maybe").ptr);
  CHECK(probeOpKind(mlirModuleGetOperation(s->module)) == ProbeOp_None);
}

static void results(Session *s) {
  MlirValue t = make(s, "tensor<4xf32>"), mask = make(s, "tensor<4xi1>"), null = {NULL};
  MlirOperation select = probeSelectOpCreate(&s->builder, mask, t, null); // types inferred: like, as
  CHECK(mlirTypeEqual(mlirValueGetType(probeSelectOpGetResult(select)), typeOf(s, "tensor<4xf32>")));
  CHECK(mlirTypeEqual(mlirValueGetType(probeSelectOpGetElement(select)), typeOf(s, "f32")));
  CHECK(mlirValueEqual(tileOpResult(select, "element"), mlirOperationGetResult(select, 1)));
  MlirOperation doubled = probeDoubleOpCreate(&s->builder, t, attributeOf(s, "3")); // by the row's hook
  CHECK(mlirTypeEqual(tileResultType(doubled, 0), typeOf(s, "tensor<12xf32>")));
  MlirType types[] = {typeOf(s, "i32"), typeOf(s, "f16")};
  MlirOperation halves = probeHalvesOpCreate(&s->builder, 1, types, 2, types, 1, &t);
  CHECK(probeHalvesOpGetNumLeft(halves) == 1 && probeHalvesOpGetRightBegin(halves) == 1);
  CHECK(mlirTypeEqual(mlirValueGetType(probeHalvesOpGetRight(halves, 1)), types[1]));
  MlirOperation lists = probeListsOpCreate(&s->builder, 0, NULL, 1, &t);
  CHECK(mlirOperationGetNumResults(lists) == 1 && probeListsOpGetNumResults(lists) == 1);
}

static void attributes(Session *s) {
  MlirAttribute null = {NULL};
  MlirOperation plain = probeOptionsOpCreate(&s->builder, null, null, null, null, null, null, null, null);
  CHECK(probeOptionsOpGetLevelValue(plain) == 3 && !probeOptionsOpGetDeepValue(plain));
  CHECK(mlirAttributeEqual(probeOptionsOpGetMode(plain), attributeOf(s, "\"fast\"")));
  CHECK(mlirAttributeEqual(probeOptionsOpGetSizes(plain), attributeOf(s, "array<i64: 1, 2>")));
  CHECK(tileStringEquals(probeOptionsOpGetTitleValue(plain), "none"));
  CHECK(!probeOptionsOpHasFlag(plain) && mlirAttributeIsNull(probeOptionsOpGetHidden(plain)));
  CHECK(mlirOperationGetNumAttributes(plain) == 0);
  MlirOperation set = probeOptionsOpCreate(&s->builder, attributeOf(s, "\"slow\""), attributeOf(s, "7"), null, null,
                                           mlirUnitAttrGet(s->context), null, null, attributeOf(s, "true"));
  CHECK(probeOptionsOpGetLevelValue(set) == 7 && probeOptionsOpHasFlag(set) && probeOptionsOpGetDeepValue(set));
  probeOptionsOpSetLevel(set, attributeOf(s, "9"));
  CHECK(probeOptionsOpGetLevelValue(set) == 9);
}

static void regions(Session *s) {
  MlirValue condition = make(s, "i1");
  MlirRegion then = mlirRegionCreate(), null = {NULL};
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(then, block);
  TileBuilder inside = tileBuilderAtEnd(block, s->builder.location);
  probeEndOpCreate(&inside, 0, NULL);
  MlirOperation op = probeMaybeOpCreate(&s->builder, condition, then, null);
  CHECK(mlirOperationGetNumRegions(op) == 2 && mlirBlockIsNull(mlirRegionGetFirstBlock(probeMaybeOpGetElse(op))));
  CHECK(mlirBlockEqual(tileOnlyBlock(probeMaybeOpGetThen(op)), block) && !tileOnlyBlock(probeMaybeOpGetElse(op)).ptr);
  CHECK(mlirOperationEqual(tileParentOp(mlirBlockGetTerminator(block), probeMaybeOpIsA), op));
  CHECK(mlirOperationIsNull(tileParentOp(op, probeMaybeOpIsA)));
}

// Keeps the last error's text and counts.
typedef struct Errors {
  int count;
  char last[256];
} Errors;

static void keepText(MlirStringRef text, void *userData) {
  Errors *errors = userData;
  size_t used = strlen(errors->last);
  snprintf(errors->last + used, sizeof errors->last - used, "%.*s", (int)text.length, text.data);
}

static MlirLogicalResult keepError(MlirDiagnostic diagnostic, void *userData) {
  Errors *errors = userData;
  ++errors->count;
  errors->last[0] = 0;
  mlirDiagnosticPrint(diagnostic, keepText, errors);
  return mlirLogicalResultSuccess();
}

// Inference that fails reports and gives a null op.
static void failedInference(Session *s) {
  Errors errors = {0};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(s->context, keepError, &errors, NULL);
  CHECK(mlirOperationIsNull(tileBuild(&s->builder, "probe.add", 0, NULL, -1, NULL, NULL, 0, NULL)));
  CHECK(errors.count == 1);
  CHECK_CONTAINS(errors.last, "'probe.add' op: the type of result 'sum' cannot be told from its operands");
  mlirContextDetachDiagnosticHandler(s->context, handler);
}

//===--- arithmetic, loops --------------------------------------------------===//
static int64_t constantOf(MlirValue value) {
  int64_t constant = -999;
  tileConstantIndex(value, &constant);
  return constant;
}

static void arithmetic(Session *s) {
  TileBuilder *b = &s->builder;
  MlirValue seven = tileBuildIndex(b, 7), three = tileBuildIndex(b, 3), minus = tileBuildIndex(b, -7);
  MlirValue zero = tileBuildIndex(b, 0), one = tileBuildIndex(b, 1), x = make(s, "index");
  CHECK(constantOf(tileBuildAdd(b, seven, three)) == 10 && constantOf(tileBuildSub(b, three, seven)) == -4);
  CHECK(constantOf(tileBuildMul(b, seven, three)) == 21 && constantOf(tileBuildMin(b, seven, minus)) == -7);
  CHECK(constantOf(tileBuildMax(b, seven, minus)) == 7 && constantOf(tileBuildCeilDiv(b, seven, three)) == 3);
  CHECK(constantOf(tileBuildCeilDiv(b, minus, three)) == -2 && constantOf(tileBuildCeilDiv(b, zero, three)) == 0);
  CHECK(constantOf(tileBuildCeilDiv(b, minus, tileBuildIndex(b, -3))) == 3);
  CHECK(mlirValueEqual(tileBuildAdd(b, x, zero), x) && mlirValueEqual(tileBuildAdd(b, zero, x), x));
  CHECK(mlirValueEqual(tileBuildSub(b, x, zero), x) && constantOf(tileBuildSub(b, x, x)) == 0);
  CHECK(mlirValueEqual(tileBuildMul(b, one, x), x) && constantOf(tileBuildMul(b, x, zero)) == 0);
  CHECK(mlirValueEqual(tileBuildMin(b, x, x), x) && mlirValueEqual(tileBuildCeilDiv(b, x, one), x));
  MlirValue huge = tileBuildIndex(b, INT64_MAX);
  CHECK(tileOpIs(tileDefiningOp(tileBuildAdd(b, huge, one)), "arith.addi")); // does not wrap on the spot
  CHECK(tileOpIs(tileDefiningOp(tileBuildMul(b, huge, three)), "arith.muli"));
  CHECK(tileOpIs(tileDefiningOp(tileBuildCeilDiv(b, x, zero)), "arith.ceildivsi"));
  CHECK(tileOpIs(tileDefiningOp(tileBuildMin(b, x, seven)), "arith.minsi"));
  MlirValue splat = tileBuildFloat(b, typeOf(s, "tensor<4xf16>"), 0.5);
  char text[64];
  tileAttributeText(tileOpAttribute(tileDefiningOp(splat), "value"), text, sizeof text);
  CHECK(!strcmp(text, "dense<5.000000e-01> : tensor<4xf16>"), "%s", text);
  CHECK(constantOf(tileBuildInteger(b, typeOf(s, "i8"), -3)) == -3);
}

static void loops(Session *s) {
  TileBuilder *b = &s->builder;
  MlirBlock body;
  MlirValue zero = tileBuildIndex(b, 0), ten = tileBuildIndex(b, 10), one = tileBuildIndex(b, 1);
  MlirValue start = tileBuildFloat(b, typeOf(s, "f32"), 1.0);
  MlirOperation loop = tileBuildFor(b, zero, ten, one, 1, &start, &body);
  TileBuilder inside = tileBuilderAtEnd(body, b->location);
  MlirValue carried = mlirBlockGetArgument(body, 1);
  MlirValue sum = tileBuildValue(&inside, "arith.addf", typeOf(s, "f32"), 2, (MlirValue[]){carried, carried}, NULL);
  tileBuildYield(&inside, 1, &sum);
  CHECK(mlirOperationVerify(loop) && mlirOperationGetNumResults(loop) == 1);
  TileBuilder front = tileBuilderAtStart(body, b->location), after = tileBuilderAfter(tileDefiningOp(sum));
  MlirOperation first = tileDefiningOp(tileBuildIndex(&front, 5)), second = tileDefiningOp(tileBuildIndex(&after, 6));
  CHECK(mlirOperationEqual(mlirBlockGetFirstOperation(body), first));
  CHECK(mlirOperationEqual(mlirOperationGetNextInBlock(tileDefiningOp(sum)), second));
  TileOps ops = tileCollect(loop, "arith.constant");
  CHECK(ops.count == 2 && mlirOperationEqual(ops.items[0], first));
  tileOpsFree(&ops);
  ops = tileCollect(loop, NULL);
  CHECK(ops.count == 5 && mlirOperationEqual(ops.items[4], loop)); // post order: the root comes last
  tileOpsFree(&ops);
}

//===--- patterns, pipelines, text ------------------------------------------===//
static MlirLogicalResult toDouble(MlirRewritePattern pattern, MlirOperation op, MlirPatternRewriter rewriter,
                                  void *userData) {
  if (!mlirValueEqual(probeAddOpGetLhs(op), probeAddOpGetRhs(op)))
    return mlirLogicalResultFailure();
  TileBuilder builder = tileBuilderInPattern(rewriter, op);
  MlirValue mask = tileBuildInteger(&builder, mlirIntegerTypeGet(builder.context, 32), 2);
  MlirOperation sum =
      tileBuild(&builder, "arith.muli", 2, (MlirValue[]){probeAddOpGetLhs(op), mask}, -1, NULL, NULL, 0, NULL);
  MlirValue result = mlirOperationGetResult(sum, 0);
  mlirRewriterBaseReplaceOpWithValues(mlirPatternRewriterAsBase(rewriter), op, 1, &result);
  return mlirLogicalResultSuccess();
}

static void populate(MlirRewritePatternSet patterns, MlirContext context) {
  tileAddPattern(patterns, context, "probe.add", 1, toDouble);
}

static void patterns(Session *s) {
  static const char text[] = "func.func @f(%a: i32, %b: i32) -> (i32, i32) { %0 = probe.add %a, %a : i32\n"
                             "%1 = probe.add %a, %b : i32\n return %0, %1 : i32, i32 }";
  MlirModule module = mlirModuleCreateParse(s->context, tileString(text));
  MlirOperation op = mlirModuleGetOperation(module);
  CHECK(tileApplyPatterns(op, populate) && mlirOperationVerify(op));
  TileOps adds = tileCollect(op, "probe.add"), products = tileCollect(op, "arith.muli");
  CHECK(adds.count == 1 && products.count == 1);
  tileOpsFree(&adds);
  tileOpsFree(&products);
  mlirModuleDestroy(module);
}

static void pipelines(Session *s) {
  MlirModule module =
      mlirModuleCreateParse(s->context, tileString("func.func @f(%a: i32) { %0 = probe.add %a, %a : i32\n return }"));
  MlirOperation op = mlirModuleGetOperation(module);
  CHECK(tileRunPipeline(op, "canonicalize,cse"));
  TileOps adds = tileCollect(op, "probe.add");
  CHECK(adds.count == 0);
  tileOpsFree(&adds);
  Errors errors = {0};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(s->context, keepError, &errors, NULL);
  CHECK(!tileRunPipeline(op, "no-such-pass") && errors.count == 1, "%d", errors.count);
  CHECK_CONTAINS(errors.last, "cannot run the pipeline 'no-such-pass'");
  mlirContextDetachDiagnosticHandler(s->context, handler);
  mlirModuleDestroy(module);
}

static void texts(Session *s) {
  char text[16];
  MlirType type = typeOf(s, "tensor<1234x5678xf32>");
  CHECK(!strcmp(tileTypeText(type, text, sizeof text), "tensor<1234x…"), "%s", text);
  CHECK(!strcmp(tileTypeText(typeOf(s, "vector<11xi1>"), text, sizeof text), "vector<11xi1>"), "%s", text);
  CHECK(tileStringEquals(tileString("ab"), "ab") && !tileStringEquals(tileString("ab"), "abc"));
  CHECK(!tileOpIs((MlirOperation){NULL}, "x"));
}

int main(void) {
  mlirRegisterAllPasses();
  Session s = begin();
  values(&s);
  results(&s);
  attributes(&s);
  regions(&s);
  failedInference(&s);
  arithmetic(&s);
  loops(&s);
  patterns(&s);
  pipelines(&s);
  texts(&s);
  memo(&s);
  end(&s);
  return checkResult(60);
}
