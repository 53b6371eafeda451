// Types, attributes, encodings and aliases defined in C; bytecode.
#include "test/capi/test_session.h"

#include "mlir-c/Support.h"

static void types(Session *s) {
  CHECK(gives(s, "func.func private @f(!t.pair<4x?xi32>, !t.token)", NULL, "@f(!t.pair<4x?xi32>, !t.token)"));
  CHECK(refuses(s, "func.func private @f(!t.pair<f32>)", NULL, "pair expects an integer element"));
  CHECK(refuses(s, "func.func private @f(!t.pair<1x2x3x4x5xi32>)", NULL, "at most 4 dimensions are allowed"));
  CHECK(refuses(s, "func.func private @f(!t.nothing)", NULL, "unknown type 'nothing' in dialect 't'"));
  CHECK(gives(s, "func.func private @f(memref<4x!t.pair<i8>>)", NULL, "memref<4x!t.pair<i8>>"));
  CHECK(refuses(s, "func.func private @f(memref<4x!t.token>)", NULL, "invalid memref element type"));
}

static void typesFromC(Session *s) {
  MlirType i8 = mlirIntegerTypeGet(s->context, 8);
  MlirAttribute sizes = mlirDenseI64ArrayGet(s->context, 1, (const int64_t[]){3});
  MlirAttribute parameters[] = {mlirTypeAttrGet(i8), sizes};
  MlirType pair = mlirExtTypeGet(s->context, &testTypes[0], 2, parameters);
  CHECK(mlirTypeEqual(pair, mlirTypeParseGet(s->context, text("!t.pair<3xi8>"))));
  CHECK(mlirExtTypeIsA(pair, &testTypes[0]) && !mlirExtTypeIsA(pair, &testTypes[1]) && !mlirExtTypeIsA(i8, testTypes));
  CHECK(mlirExtTypeGetNumParameters(pair) == 2 && mlirAttributeEqual(mlirExtTypeGetParameter(pair, 1), sizes));
  parameters[0] = mlirTypeAttrGet(mlirF32TypeGet(s->context));
  CHECK(mlirTypeIsNull(mlirExtTypeGet(s->context, &testTypes[0], 2, parameters)));
  CHECK(textHas(&s->diagnostics, "pair expects an integer element"));
  MlirAttribute two = mlirIntegerAttrGet(mlirIntegerTypeGet(s->context, 64), 2);
  MlirAttribute layout = mlirExtAttributeGet(s->context, &testAttributes[0], 1, &two);
  CHECK(mlirAttributeEqual(layout, mlirAttributeParseGet(s->context, text("#t.layout<2>"))));
  CHECK(mlirExtAttributeIsA(layout, testAttributes) && !mlirExtAttributeIsA(two, testAttributes));
  CHECK(mlirExtAttributeGetNumParameters(layout) == 1);
}

static void encodings(Session *s) {
  CHECK(gives(s, "func.func private @f(tensor<4x4xf32, #t.layout<2>>)", NULL, "tensor<4x4xf32, #layout>"));
  CHECK(refuses(s, "func.func private @f(tensor<4xf32, #t.layout<2>>)", NULL, "layout has another rank"));
  CHECK(gives(s, "\"u.use\"() {a = #t.plain} : () -> ()", NULL, "#t.plain"));
  CHECK(gives(s, "\"u.use\"() {a = #t.plain<[1, #t.layout<2>]>} : () -> ()", NULL, "#t.plain<[1, #layout]>"));
  CHECK(gives(s, "\"u.use\"() {a = #t.plain<>} : () -> ()", NULL, "{a = #t.plain}"));
  CHECK(refuses(s, "\"u.use\"() {a = #t.plain<dense<>>} : () -> ()", NULL, "error"));
  CHECK(refuses(s, "\"u.use\"() {a = #t.nothing} : () -> ()", NULL, "unknown attribute 'nothing' in dialect 't'"));
}

static void aliases(Session *s) {
  CHECK(gives(s, "\"u.use\"() {a = #t.layout<3>, b = #t.layout<3>} : () -> ()", NULL, "#layout = #t.layout<3>\n"));
  CHECK(gives(s, "func.func private @f(!t.named<4xi32>)", NULL, "!named = !t.named<4xi32>\n"));
  CHECK(gives(s, "func.func private @f(!t.named<4xi32>)", NULL, "@f(!named)"));
}

// A program with properties, types and attributes of ours, written as bytecode and read in another context.
static void bytecode(Session *s) {
  const char *program = "func.func private @f(!t.pair<4x?xi32>, tensor<2xf32, #t.layout<1>>)\n"
                        "%0 = t.constant 1 : i32\n%1 = t.add %0, %0 {mode = 2 : i32, stage = 1 : i32} : i32";
  Text before = sessionRun(s, program, NULL, false), bytes = {NULL, 0};
  MlirModule module = mlirModuleCreateParse(s->context, text(program));
  mlirOperationWriteBytecode(mlirModuleGetOperation(module), textAppend, &bytes);
  mlirModuleDestroy(module);
  Session other;
  sessionBegin(&other);
  MlirModule read = mlirModuleCreateParse(other.context, mlirStringRefCreate(bytes.data, bytes.length));
  CHECK(!mlirModuleIsNull(read));
  Text after = {NULL, 0};
  mlirOperationPrint(mlirModuleGetOperation(read), textAppend, &after);
  CHECK(strcmp(before.data, after.data) == 0);
  mlirModuleDestroy(read);
  sessionEnd(&other);
  free(before.data);
  free(bytes.data);
  free(after.data);
}

// A file that names a property the op does not have is refused.
static void foreignProperty(Session *s) {
  MlirModule module =
      mlirModuleCreateParse(s->context, text("%0 = t.constant 1 : i32\n%1 = t.add %0, %0 {mode} : i32"));
  Text bytes = {NULL, 0};
  mlirOperationWriteBytecode(mlirModuleGetOperation(module), textAppend, &bytes);
  mlirModuleDestroy(module);
  char *name = memmem(bytes.data, bytes.length, "mode", 4);
  CHECK(name);
  name[2] = 'o', name[3] = 'd';
  module = mlirModuleCreateParse(s->context, mlirStringRefCreate(bytes.data, bytes.length));
  CHECK(mlirModuleIsNull(module) && textHas(&s->diagnostics, "unknown property \"mood\" of 't.add'"));
  free(bytes.data);
}

int main(void) {
  Session session;
  mlirRegisterAllPasses();
  sessionBegin(&session);
  CHECK(gives(&session, "%0 = t.constant 1 : i32", NULL, "t.constant")); // loads the dialect
  types(&session);
  typesFromC(&session);
  encodings(&session);
  aliases(&session);
  bytecode(&session);
  foreignProperty(&session);
  sessionEnd(&session);
  return failures != 0;
}
