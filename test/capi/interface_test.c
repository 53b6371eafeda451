// Interfaces of ops defined in C, each seen through an upstream pass that relies on it.
#include "test/capi/test_session.h"

// RegionBranchOpInterface, RegionBranchTerminatorOpInterface, LoopLikeOpInterface.
static void loops(Session *s) {
  const char *loop = "%c = t.constant 1 : i32\n%r = \"t.loop\"(%c) ({ ^a(%i: index, %x: i32):\n"
                     "%k = t.constant 2 : i32\n%y = t.add %k, %k {mode = 1 : i32} : i32\n%z = t.add %x, %i2 : i32\n"
                     "\"t.yield\"(%z) : (i32) -> () }) : (i32) -> i32\n\"u.use\"(%r) : (i32) -> ()";
  CHECK(refuses(s, loop, NULL, "use of undeclared SSA value name"));
  CHECK(gives(s,
              "%c = \"u.get\"() : () -> i32\n%r = \"t.loop\"(%c) ({ ^a(%i: index, %x: i32):\n"
              "%y = t.add %c, %c : i32\n%z = t.add %x, %y : i32\n\"t.yield\"(%z) : (i32) -> () }) : (i32) -> i32\n"
              "\"u.use\"(%r) : (i32) -> ()",
              "loop-invariant-code-motion", "%1 = t.add %0, %0 : i32\n  %2 = \"t.loop\"(%0)"));
  CHECK(refuses(s,
                "%c = \"u.get\"() : () -> i32\n%r = \"t.loop\"(%c) ({ ^a(%i: index, %x: i32):\n"
                "\"t.yield\"(%i) : (index) -> () }) : (i32) -> i32",
                NULL, "'t.loop' op along control flow edge"));
  CHECK(
      refuses(s, "\"t.loop\"() ({ ^a: \"t.yield\"() : () -> () }) : () -> ()", NULL, "expects an induction variable"));
  // The carried value is the same constant on every edge: constant propagation sees through the region.
  CHECK(gives(s,
              "func.func @f() -> i32 {\n%c = t.constant 7 : i32\n%r = \"t.loop\"(%c) ({ ^a(%i: index, %x: i32):\n"
              "\"t.yield\"(%x) : (i32) -> () }) : (i32) -> i32\nreturn %r : i32 }",
              "func.func(sccp)", "%0 = t.constant 7 : i32\n    return %0"));
}

static void captures(Session *s) {
  const char *capture = "func.func @f(%a: i32, %b: index) {\nt.capture %a, %b : i32, index {\n"
                        "\"u.use\"(%a, %b) : (i32, index) -> ()\n}\nreturn }";
  CHECK(gives(s, capture, NULL, "t.capture %arg0, %arg1 : i32, index {\n      \"u.use\"(%arg0, %arg1)"));
  CHECK(refuses(s,
                "func.func @f(%a: i32, %b: index) {\nt.capture %a : i32 {\n\"u.use\"(%b) : (index) -> ()\n}\n"
                "return }",
                NULL, "use of undeclared SSA value name"));
}

// FunctionOpInterface, CallableOpInterface, CallOpInterface, SymbolOpInterface, SymbolUserOpInterface.
static void functions(Session *s) {
  CHECK(gives(s, "t.func private @g(%x: i32 {u.note}) -> i32 attributes {u.here} { \"t.yield\"(%x) : (i32) -> () }",
              NULL, "t.func private @g(%arg0: i32 {u.note}) -> i32 attributes {u.here} {"));
  CHECK(gives(s, "t.func private @declared(i32) -> (i32, i64)", NULL, "t.func private @declared(i32) -> (i32, i64)"));
  CHECK(refuses(s, "\"t.func\"() <{sym_name = \"a\"}> ({}) : () -> ()", NULL, "requires attribute 'function_type'"));
  CHECK(
      refuses(s,
              "\"t.func\"() <{sym_name = \"a\", function_type = (i32) -> ()}> ({ ^a(%x: i64): \"t.yield\"() : () -> () "
              "}) : () -> ()",
              NULL, "type of entry block argument #0"));
  const char *call = "t.func private @g(%x: i32) -> i32 { \"t.yield\"(%x) : (i32) -> () }\n"
                     "t.func private @unused() { \"t.yield\"() : () -> () }\n"
                     "func.func @f(%a: i32) -> i32 { %r = \"t.call\"(%a) <{callee = @g}> : (i32) -> i32\n"
                     "return %r : i32 }";
  Text out = sessionRun(s, call, "symbol-dce", false);
  CHECK(textHas(&out, "t.func private @g") && !strstr(out.data, "@unused"));
  free(out.data);
  CHECK(refuses(s, "\"t.call\"() <{callee = @missing}> : () -> ()", NULL, "callee is not defined"));
}

// Both kinds of callee; several blocks stay.
static void inlining(Session *s) {
  CHECK(gives(s,
              "func.func private @g(%x: i32) -> i32 { %y = t.add %x, %x : i32\nreturn %y : i32 }\n"
              "func.func @f(%a: i32) -> i32 { %r = \"t.call\"(%a) <{callee = @g}> : (i32) -> i32\n"
              "return %r : i32 }",
              "inline", "@f(%arg0: i32) -> i32 {\n    %0 = t.add %arg0, %arg0 : i32\n    return %0"));
  CHECK(gives(s,
              "t.func private @g(%x: i32) -> i32 { %y = t.add %x, %x : i32\n\"t.yield\"(%y) : (i32) -> () }\n"
              "func.func @f(%a: i32) -> i32 { %r = \"t.call\"(%a) <{callee = @g}> : (i32) -> i32\n"
              "return %r : i32 }",
              "inline", "@f(%arg0: i32) -> i32 {\n    %0 = t.add %arg0, %arg0 : i32\n    return %0"));
  CHECK(gives(s,
              "t.func private @g() { cf.br ^b\n^b: \"t.yield\"() : () -> () }\n"
              "func.func @f() { \"t.call\"() <{callee = @g}> : () -> ()\nreturn }",
              "inline{default-pipeline=}", "\"t.call\"()"));
}

static void ranges(Session *s) {
  CHECK(gives(s,
              "func.func @f() -> i1 { %x = \"t.below\"() <{limit = 10 : i64}> : () -> index\n"
              "%c = arith.constant 10 : index\n%r = arith.cmpi slt, %x, %c : index\nreturn %r : i1 }",
              "int-range-optimizations", "return %true"));
  CHECK(gives(s, "%x = \"t.below\"() <{limit = 10 : i64}> : () -> index", NULL, "%below = \"t.below\""));
}

static void destinationStyle(Session *s) {
  CHECK(gives(s,
              "func.func @f(%v: f32, %t: tensor<4xf32>) {\n"
              "%0 = \"t.fill\"(%v, %t) : (f32, tensor<4xf32>) -> tensor<4xf32>\nreturn }",
              NULL, "\"t.fill\""));
  CHECK(refuses(s,
                "func.func @f(%v: f32, %t: tensor<4xf32>) {\n"
                "%0 = \"t.fill\"(%v, %t) : (f32, tensor<4xf32>) -> tensor<5xf32>\nreturn }",
                NULL, "to match type of corresponding result"));
}

// ViewLikeOpInterface: a write through the view is seen by reads of its source, but not one through another alloc.
static void views(Session *s) {
  MlirModule module = mlirModuleCreateParse(
      s->context,
      text("%m = \"t.alloc\"() : () -> memref<4xi32>\n%v = \"t.view\"(%m) : (memref<4xi32>) -> memref<4xi32>"));
  MlirOperation alloc = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirOperation view = mlirOperationGetNextInBlock(alloc);
  CHECK(mlirExtOperationIsPure(view) && mlirExtOperationIsMemoryEffectFree(view));
  CHECK(!mlirExtOperationIsPure(alloc) && !mlirExtOperationIsMemoryEffectFree(alloc));
  mlirModuleDestroy(module);
}

int main(void) {
  Session session;
  mlirRegisterAllPasses();
  sessionBegin(&session);
  loops(&session);
  captures(&session);
  functions(&session);
  inlining(&session);
  ranges(&session);
  destinationStyle(&session);
  views(&session);
  sessionEnd(&session);
  return failures != 0;
}
