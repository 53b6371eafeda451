// A program compiled once and called on a host's arrays (lib/execution/program.h), as Python and other languages do it.
#include "lib/capi/assembly.h"
#include "lib/execution/program.h"
#include "lib/ir/support.h"
#include "lib/pipelines/register.h"
#include "test/check.h"

static const char text[] =
    "func.func @main(%x: tensor<?xf32>, %m: memref<2xf32>) -> tensor<?xf32> {\n"
    "  linalg.add ins(%m, %m : memref<2xf32>, memref<2xf32>) outs(%m : memref<2xf32>)\n"
    "  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>\n"
    "  return %r : tensor<?xf32>\n"
    "}\n"
    "func.func @seeded(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }\n"
    "func.func @vectors(%x: vector<3xf32>) { return }\n";

static int said;
static MlirLogicalResult count(MlirDiagnostic diagnostic, void *userData) {
  ++said;
  return mlirLogicalResultSuccess();
}

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextAttachDiagnosticHandler(context, count, NULL, NULL);
  return context;
}

static TesseraProgram *create(MlirModule module, const char *target, const char *more, tessera_error_t *error) {
  const char *flags[] = {target, more};
  return tesseraProgramCreate(module, "x.mlir", more ? 2 : 1, flags, error);
}

static void testCalls(MlirModule module, const char *target) {
  tessera_error_t error;
  TesseraProgram *program = create(module, target, NULL, &error);
  CHECK(program);
  CHECK(tesseraProgramGetNumArguments(program) == 2 && tesseraProgramGetNumResults(program) == 1);
  TesseraArray x = tesseraProgramGetArgumentType(program, 0), m = tesseraProgramGetArgumentType(program, 1);
  CHECK(!strcmp(x.element, "f32") && x.rank == 1 && x.sizes[0] < 0 && !x.isMemref && !x.data);
  CHECK(m.sizes[0] == 2 && m.isMemref && !tesseraProgramGetArgumentType(program, 2).element);
  CHECK(!tesseraProgramGetResult(program, 0).element && !*tesseraProgramGetStatistics(program));
  for (int64_t size = 0; size < 3; ++size) {
    float values[3] = {1, 2, 3}, memory[2] = {4, 5};
    TesseraArray arguments[] = {{"f32", 1, &size, values}, {"f32", 1, (int64_t[]){2}, memory}};
    CHECK(tesseraProgramCall(program, arguments, 0, 2, &error));
    TesseraArray result = tesseraProgramGetResult(program, 0), after = tesseraProgramGetArgument(program, 1);
    CHECK(result.rank == 1 && result.sizes[0] == size && !strcmp(result.element, "f32"));
    CHECK(size < 2 || ((float *)result.data)[1] == 4);
    CHECK(((float *)after.data)[1] == 10 && memory[1] == 5); // the caller's is a copy's origin
    CHECK(strstr(tesseraProgramGetStatistics(program), "\"file\": \"x.mlir\""));
    CHECK(strstr(tesseraProgramGetPassStatistics(program), "\"fallback_ops\""));
    TesseraJudgement judgement;
    CHECK(tesseraJudge(&result, &result, tesseraProgramGetResultBounds(program, 0), -1, -1, &judgement, &error));
    CHECK(judgement.right);
    CHECK(!tesseraJudge(&result, &after, NULL, -1, -1, &judgement, &error) || size == 2);
  }
  TesseraArray wrong[] = {{"f64", 1, (int64_t[]){2}, &said}, {"f32", 1, (int64_t[]){2}, &said}};
  CHECK(!tesseraProgramCall(program, wrong, 0, 1, &error) &&
        strstr(error.text, "argument 0: is 2xf64, expected ?xf32"));
  wrong[0] = (TesseraArray){"f32", 1, (int64_t[]){-1}, &said};
  CHECK(!tesseraProgramCall(program, wrong, 0, 1, &error) && strstr(error.text, "size -1"));
  wrong[0] = (TesseraArray){"nosuch", 1, (int64_t[]){1}, &said};
  CHECK(!tesseraProgramCall(program, wrong, 0, 1, &error) && strstr(error.text, "'nosuch'"));
  CHECK(!tesseraProgramCall(program, NULL, 0, 1, &error) && strstr(error.text, "dynamic sizes"));
  CHECK(!tesseraProgramCall(program, NULL, 0, 0, &error) && strstr(error.text, "repeat 0"));
  CHECK(!tesseraProgramGetResult(program, 0).element);
  tesseraProgramDestroy(program);
}

static void testSeeds(MlirModule module) {
  tessera_error_t error;
  TesseraProgram *program = create(module, "--target=interpret", "--entry=seeded", &error);
  CHECK(program && tesseraProgramCall(program, NULL, 1, 1, &error));
  float first = *(float *)tesseraProgramGetResult(program, 0).data;
  CHECK(tesseraProgramCall(program, NULL, 2, 1, &error));
  CHECK(first != *(float *)tesseraProgramGetResult(program, 0).data);
  tesseraProgramDestroy(program);
}

static void testErrors(MlirModule module) {
  tessera_error_t error;
  CHECK(!create(module, "--target=nosuch", NULL, &error) && strstr(error.text, "unknown target"));
  CHECK(!create(module, "--target=cpu", "--entry=nosuch", &error) && strstr(error.text, "x.mlir: has no function"));
  CHECK(!create(module, "--target=cpu", "--entry=vectors", &error) && strstr(error.text, "vector<3xf32>"));
  CHECK(!create(module, "--target=cpu", "--out=y.npy", &error) && strstr(error.text, "tile-run's"));
  CHECK(!create(module, "--target=cpu", "--target=interpret", &error) && strstr(error.text, "--target (one)"));
  CHECK(!create(module, "--target=cpu", "--nosuch", &error) && strstr(error.text, "unknown flag"));
  int before = said;
  CHECK(!create(module, "--target=cpu", "--pass-pipeline=builtin.module(nosuch)", &error) && said > before);
  tesseraProgramDestroy(NULL);
}

int main(void) {
  MlirContext context = createContext();
  MlirModule module = mlirExtModuleParse(context, tileString(text), tileString("x.mlir"));
  CHECK(!mlirModuleIsNull(module));
  MlirModule broken = mlirExtModuleParse(context, tileString("}"), tileString("y.mlir"));
  CHECK(mlirModuleIsNull(broken) && said == 1);
  testCalls(module, "--target=cpu");
  testCalls(module, "--target=interpret");
  testSeeds(module);
  testErrors(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return checkResult(60);
}
