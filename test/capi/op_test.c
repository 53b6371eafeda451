// Operations defined in C: syntax, properties, verification of traits, folding, canonicalization, effects, CSE.
#include "test/capi/test_session.h"

static void syntax(Session *s) {
  CHECK(gives(s, "%0 = t.constant 1 : i32\n%1 = t.add %0, %0 : i32", NULL, "%1 = t.add %0, %0 : i32"));
  CHECK(gives(s, "%0 = \"t.constant\"() <{value = 7 : i32}> {note} : () -> i32", NULL, "t.constant 7 : i32 {note}"));
  CHECK(gives(s, "\"t.effect\"() : () -> ()", NULL, "\"t.effect\"()"));
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n%1 = t.add %0 : i32", NULL, "expected ','"));
  CHECK(refuses(s, "t.effect", NULL, "'t.effect' op has no custom assembly form"));
  CHECK(refuses(s, "%0 = t.nothing", NULL, "t.nothing"));
  CHECK(refuses(s, "%0 = \"t.constant\"() <{valu = 1 : i32}> : () -> i32", NULL,
                "unknown property 'valu' for op 't.constant'"));
  CHECK(refuses(s, "%0 = \"t.constant\"() <3 : i32> : () -> i32", NULL, "expected DictionaryAttr to set properties"));
}

// Inherent attributes are properties: apart from the discardable ones, set and read by name, part of equality.
static void properties(Session *s) {
  Text out =
      sessionRun(s, "%0 = t.constant 1 : i32\n%1 = t.add %0, %0 {mode = 3 : i32, stage = 1 : i32} : i32", NULL, true);
  CHECK(textHas(&out, "<{mode = 3 : i32}> {stage = 1 : i32}"));
  free(out.data);
  MlirModule module = mlirModuleCreateParse(s->context, text("%0 = t.constant 1 : i32"));
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirAttribute nine = mlirIntegerAttrGet(mlirIntegerTypeGet(s->context, 32), 9);
  CHECK(mlirOperationHasInherentAttributeByName(op, text("value")));
  mlirOperationSetInherentAttributeByName(op, text("value"), nine);
  mlirOperationSetAttributeByName(op, text("other"), nine);
  CHECK(mlirAttributeEqual(mlirOperationGetInherentAttributeByName(op, text("value")), nine));
  CHECK(!mlirOperationHasInherentAttributeByName(op, text("other")));
  CHECK(mlirOperationGetNumDiscardableAttributes(op) == 1);
  CHECK(mlirExtOperationGetDefinition(op) == &testOps[0]);
  CHECK(!mlirExtOperationGetDefinition(mlirModuleGetOperation(module)));
  MlirOperation copy = mlirOperationClone(op);
  CHECK(mlirAttributeEqual(mlirOperationGetInherentAttributeByName(copy, text("value")), nine));
  mlirOperationDestroy(copy);
  mlirModuleDestroy(module);
}

static void verification(Session *s) {
  CHECK(refuses(s, "%0 = t.constant 1.0 : f32", NULL, "t.constant expects an integer value"));
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n%1 = \"t.same\"(%0) : (i32) -> i64", NULL,
                "requires the same type for all operands and results"));
  CHECK(refuses(s, "\"t.yield\"() : () -> ()\n\"t.effect\"() : () -> ()", NULL, "must be the last operation"));
  CHECK(refuses(s, "\"t.module\"() ({ ^a: \"t.effect\"() : () -> ()\n^b: \"t.effect\"() : () -> () }) : () -> ()", NULL,
                "expects region #0 to have 0 or 1 blocks"));
  CHECK(refuses(s, "\"t.loop\"() ({ ^a(%i: i32): }) : () -> ()", NULL, "expects a non-empty block"));
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n\"t.module\"() ({ %1 = t.add %0, %0 : i32 }) : () -> ()", NULL,
                "using value defined outside the region"));
  CHECK(refuses(s,
                "\"t.module\"() ({ \"t.symbol\"() {sym_name = \"a\"} : () -> ()\n"
                "\"t.symbol\"() {sym_name = \"a\"} : () -> () }) : () -> ()",
                NULL, "redefinition of symbol named 'a'"));
  CHECK(refuses(s, "\"t.symbol\"() : () -> ()", NULL, "requires string attribute 'sym_name'"));
  CHECK(refuses(s, "\"t.effect\"() {t.unknown} : () -> ()", NULL, "the only attribute of dialect t"));
  CHECK(gives(s, "func.func private @f() attributes {t.note}", NULL, "t.note"));
}

static void segments(Session *s) {
  const char *good = "%0 = t.constant 1 : i32\n%1:2 = \"t.segments\"(%0, %0, %0) <{operandSegmentSizes = "
                     "array<i32: 1, 2>, resultSegmentSizes = array<i32: 2, 0>}> : (i32, i32, i32) -> (i32, i32)";
  const char *badOperands = "%0 = t.constant 1 : i32\n%1 = \"t.segments\"(%0) <{operandSegmentSizes = array<i32: 1, 2>,"
                            " resultSegmentSizes = array<i32: 1>}> : (i32) -> i32";
  const char *badResults = "%0 = t.constant 1 : i32\n%1 = \"t.segments\"(%0) <{operandSegmentSizes = array<i32: 1>,"
                           " resultSegmentSizes = array<i32: 2>}> : (i32) -> i32";
  CHECK(gives(s, good, NULL, "array<i32: 1, 2>"));
  CHECK(refuses(s, badOperands, NULL, "operand count (1) does not match with the total size (3)"));
  CHECK(refuses(s, badResults, NULL, "result count (1) does not match with the total size (2)"));
}

static void inference(Session *s) {
  CHECK(refuses(s, "%0 = t.constant 1 : i32\n%1 = \"t.add\"(%0, %0) : (i32, i32) -> i64", NULL,
                "'t.add' op inferred type(s) 'i32' are incompatible with return type(s) of operation 'i64'"));
  CHECK(refuses(s, "%0 = \"t.add\"() : () -> i64", NULL, "expects an operand"));
  // Built without result types: the interface infers them.
  MlirModule module = mlirModuleCreateParse(s->context, text("%0 = t.constant 1 : i32"));
  MlirBlock body = mlirModuleGetBody(module);
  MlirValue value = mlirOperationGetResult(mlirBlockGetFirstOperation(body), 0);
  MlirOperationState state = mlirOperationStateGet(text("t.add"), mlirLocationUnknownGet(s->context));
  mlirOperationStateAddOperands(&state, 2, (MlirValue[]){value, value});
  mlirOperationStateEnableResultTypeInference(&state);
  MlirOperation add = mlirOperationCreate(&state);
  CHECK(!mlirOperationIsNull(add));
  CHECK(mlirTypeEqual(mlirValueGetType(mlirOperationGetResult(add, 0)), mlirIntegerTypeGet(s->context, 32)));
  mlirBlockAppendOwnedOperation(body, add);
  CHECK(mlirOperationVerify(mlirModuleGetOperation(module)));
  mlirModuleDestroy(module);
}

static void optimization(Session *s) {
  CHECK(gives(s,
              "%0 = t.constant 1 : i32\n%1 = t.constant 2 : i32\n%2 = t.add %0, %1 : i32\n\"u.use\"(%2) : (i32) -> ()",
              "canonicalize", "t.constant 3 : i32"));
  CHECK(gives(s,
              "%x = \"u.get\"() : () -> i32\n%0 = t.constant 0 : i32\n%1 = t.add %x, %0 : i32\n"
              "\"u.use\"(%1) : (i32) -> ()",
              "canonicalize", "\"u.use\"(%0) : (i32)"));
  // Commutative: constants move to the right.
  CHECK(gives(s,
              "%x = \"u.get\"() : () -> i32\n%0 = t.constant 5 : i32\n%1 = t.add %0, %x : i32\n"
              "\"u.use\"(%1) : (i32) -> ()",
              "canonicalize", "t.add %1, %0 : i32"));
}

static void commonSubexpressions(Session *s) {
  const char *program = "%0 = t.constant 1 : i32\n%1 = t.constant 1 : i32\n%2 = t.constant 2 : i32\n"
                        "\"u.use\"(%0, %1, %2) : (i32, i32, i32) -> ()";
  CHECK(gives(s, program, "cse", "(%0, %0, %1)"));
  // Other properties: not equal.
  CHECK(gives(s,
              "%0 = t.constant 1 : i32\n%1 = t.add %0, %0 {mode = 1 : i32} : i32\n%2 = t.add %0, %0 : i32\n"
              "%3 = t.add %0, %0 {order = 1 : i32} : i32\n\"u.use\"(%1, %2, %3) : (i32, i32, i32) -> ()",
              "cse", "(%1, %2, %3)"));
}

// Reads merge across no write, dead reads and dead allocations go, debug writes stay.
static void effects(Session *s) {
  const char *get = "%m = \"u.get\"() : () -> memref<4xi32>\n";
  char program[600];
  snprintf(program, sizeof program,
           "%s%%0 = \"t.read\"(%%m) : (memref<4xi32>) -> i32\n%%1 = \"t.read\"(%%m) : (memref<4xi32>) -> i32\n"
           "\"u.use\"(%%0, %%1) : (i32, i32) -> ()",
           get);
  CHECK(gives(s, program, "cse", "\"u.use\"(%1, %1)"));
  snprintf(program, sizeof program,
           "%s%%0 = \"t.read\"(%%m) : (memref<4xi32>) -> i32\n\"t.write\"(%%m) : (memref<4xi32>) -> ()\n"
           "%%1 = \"t.read\"(%%m) : (memref<4xi32>) -> i32\n\"u.use\"(%%0, %%1) : (i32, i32) -> ()",
           get);
  CHECK(gives(s, program, "cse", "\"u.use\"(%1, %2)"));
  Text out = sessionRun(s,
                        "%0 = \"t.alloc\"() : () -> memref<4xi32>\n\"t.free\"(%0) : (memref<4xi32>) -> ()\n"
                        "%1 = \"t.alloc\"() : () -> memref<8xi32>\n\"t.effect\"() : () -> ()",
                        "canonicalize", false);
  CHECK(textHas(&out, "memref<4xi32>") && textHas(&out, "t.effect") && !strstr(out.data, "memref<8xi32>"));
  free(out.data);
}

int main(void) {
  Session session;
  mlirRegisterAllPasses();
  sessionBegin(&session);
  syntax(&session);
  properties(&session);
  verification(&session);
  segments(&session);
  inference(&session);
  optimization(&session);
  commonSubexpressions(&session);
  effects(&session);
  sessionEnd(&session);
  return failures != 0;
}
