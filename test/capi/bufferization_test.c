// BufferizableOpInterface from C, one-shot bufferization with and without a filter.
#include "lib/capi/bufferization.h"
#include "test/capi/test_session.h"

static bool isSkipped(MlirOperation op, void *userData) {
  ++*(int *)userData;
  return !mlirAttributeIsNull(mlirOperationGetDiscardableAttributeByName(op, text("u.skip")));
}

static MlirContext makeContext(Text *diagnostics) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirExtDialectRegistryInsert(registry, &testDialect);
  mlirExtDialectRegistryInsertBufferization(registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, true);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirContextSetAllowUnregisteredDialects(context, true);
  mlirContextAttachDiagnosticHandler(context, keepDiagnostic, diagnostics, NULL);
  return context;
}

// Bufferizes `program` and leaves the result (or the diagnostics) in `out`.
static bool bufferize(const char *program, const MlirExtBufferizationOptions *options,
                      MlirExtBufferizationStatistics *counts, Text *out) {
  Text diagnostics = {calloc(1, 1), 0};
  *out = (Text){calloc(1, 1), 0};
  MlirContext context = makeContext(&diagnostics);
  MlirModule module = mlirModuleCreateParse(context, text(program));
  MlirOperation root = mlirModuleGetOperation(module);
  bool ok = mlirLogicalResultIsSuccess(mlirExtOneShotBufferizeModule(root, options, counts));
  if (ok)
    mlirOperationPrint(root, textAppend, out);
  else
    textAppend(text(diagnostics.data), out);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  free(diagnostics.data);
  return ok;
}

#define FILL(value, tensor) "\"t.fill\"(" value ", " tensor ") : (f32, tensor<8xf32>) -> tensor<8xf32>\n"

static void inPlace(void) {
  MlirExtBufferizationOptions options = {.functionBoundaries = true, .allowReturnAllocsFromLoops = true};
  MlirExtBufferizationStatistics counts;
  Text out;
  CHECK(bufferize("func.func @f(%v: f32, %t: tensor<8xf32> {bufferization.writable = true}) -> tensor<8xf32> {\n"
                  "%0 = " FILL("%v", "%t") "%1 = " FILL("%v", "%0") "return %1 : tensor<8xf32> }",
                  &options, &counts, &out));
  CHECK(textHas(&out, "%arg1: memref<8xf32>"));
  CHECK(textHas(&out, "\"t.fill\"(%arg0, %arg1) : (f32, memref<8xf32>) -> ()\n    \"t.fill\"(%arg0, %arg1)"));
  CHECK(counts.allocations == 0 && counts.outOfPlace == 0 && counts.inPlace > 0);
  free(out.data);
}

// The old value is used later: a copy is needed.
static void outOfPlace(void) {
  MlirExtBufferizationOptions options = {.functionBoundaries = true};
  MlirExtBufferizationStatistics counts;
  Text out;
  CHECK(bufferize(
      "func.func @f(%v: f32, %w: f32) -> (tensor<8xf32>, tensor<8xf32>) {\n%e = tensor.empty() : "
      "tensor<8xf32>\n%0 = " FILL("%v", "%e") "%1 = " FILL("%w", "%0") "return %0, %1 : tensor<8xf32>, tensor<8xf32> }",
      &options, &counts, &out));
  CHECK(textHas(&out, "memref.alloc") && counts.outOfPlace == 1 && counts.allocations == 2);
  free(out.data);
  options.copyBeforeWrite = true;
  CHECK(bufferize("func.func @f(%v: f32, %t: tensor<8xf32>) -> tensor<8xf32> {\n%0 = " FILL(
                      "%v", "%t") "return %0 : tensor<8xf32> }",
                  &options, &counts, &out));
  CHECK(textHas(&out, "memref.alloc"));
  free(out.data);
}

static void filter(void) {
  const char *program =
      "func.func @f(%v: f32, %t: tensor<8xf32>) {\n%0 = \"t.fill\"(%v, %t) {u.skip} : "
      "(f32, tensor<8xf32>) -> tensor<8xf32>\n\"u.use\"(%0) {u.skip} : (tensor<8xf32>) -> ()\nreturn }";
  int asked = 0;
  MlirExtBufferizationOptions options = {.functionBoundaries = true, .skip = isSkipped, .userData = &asked};
  Text out;
  CHECK(bufferize(program, &options, NULL, &out));
  CHECK(textHas(&out, "(f32, tensor<8xf32>) -> tensor<8xf32>") && asked > 0);
  free(out.data);
  options.skip = NULL;
  CHECK(!bufferize(program, &options, NULL, &out));
  CHECK(textHas(&out, "op was not bufferized"));
  free(out.data);
}

int main(void) {
  inPlace();
  outOfPlace();
  filter();
  return failures != 0;
}
