// Loads and compiles the program. See program.h.
#include "tools/tile-run/program.h"

#include "lib/ir/support.h"
#include "lib/pipelines/register.h"
#include "lib/target/cpu/cpu.h"
#include "mlir-c/Pass.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

//===--- context and module ---------------------------------------------------===//

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  return context;
}

static void printText(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

// "file:line:column: ", as compilers do; other kinds as MLIR writes them.
static void printLocation(MlirLocation location) {
  if (mlirLocationIsAFileLineColRange(location)) {
    printText(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)), stderr);
    fprintf(stderr, ":%d:%d: ", mlirLocationFileLineColRangeGetStartLine(location),
            mlirLocationFileLineColRangeGetStartColumn(location));
  } else if (!mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location)))) {
    mlirLocationPrint(location, printText, stderr);
    fputs(": ", stderr);
  }
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic, void *userData) {
  static const char *const severities[] = {"error", "warning", "note", "remark"};
  printLocation(mlirDiagnosticGetLocation(diagnostic));
  fprintf(stderr, "%s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, printText, stderr);
  fputc('\n', stderr);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    printDiagnostic(mlirDiagnosticGetNote(diagnostic, i), NULL);
  return mlirLogicalResultSuccess();
}

static bool parse(Program *program, const char *path, tessera_error_t *error) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  fclose(file);
  program->module = mlirModuleCreateParseFromFile(program->context, tileString(path));
  return !mlirModuleIsNull(program->module) || tessera_fail(error, "%s: not a valid program", path);
}

//===--- signature ------------------------------------------------------------===//

static MlirOperation findEntry(Program *program, const char *name) {
  MlirBlock body = mlirModuleGetBody(program->module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tileOpAttribute(op, "sym_name");
    if (tileOpIs(op, "func.func") && mlirAttributeIsAString(symbol) &&
        tileStringEquals(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

static bool readElement(MlirType type, tessera_element_t *out_element) {
  char text[64];
  tileTypeText(type, text, sizeof text);
  if (strcmp(text, "index") == 0) {
    *out_element = TESSERA_I64;
    return true;
  }
  for (int i = 0; i < TESSERA_ELEMENT_COUNT; i++)
    if (strcmp(text, tessera_element_name((tessera_element_t)i)) == 0) {
      *out_element = (tessera_element_t)i;
      return true;
    }
  return false;
}

static bool readValue(MlirType type, const char *what, intptr_t index, ProgramValue *value, tessera_error_t *error) {
  char text[256];
  *value = (ProgramValue){.isMemref = mlirTypeIsAMemRef(type)};
  value->isInMemory = value->isMemref || mlirTypeIsARankedTensor(type);
  if (value->isInMemory) {
    value->rank = (int)mlirShapedTypeGetRank(type);
    for (int i = 0; i < value->rank && i < TESSERA_MAX_RANK; i++)
      value->shape[i] = mlirShapedTypeIsDynamicDim(type, i) ? -1 : mlirShapedTypeGetDimSize(type, i);
  }
  MlirType element = value->isInMemory ? mlirShapedTypeGetElementType(type) : type;
  if (value->rank > TESSERA_MAX_RANK || !readElement(element, &value->element))
    return tessera_fail(error, "%s %ld of the entry function has type %s, which tile-run cannot pass", what,
                        (long)index, tileTypeText(type, text, sizeof text));
  return true;
}

static bool readSignature(Program *program, MlirOperation entry, tessera_error_t *error) {
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(entry, "function_type"));
  intptr_t arguments = mlirFunctionTypeGetNumInputs(type), results = mlirFunctionTypeGetNumResults(type);
  if (arguments > MaxValues || results > MaxValues)
    return tessera_fail(error, "the entry function has %ld arguments and %ld results; at most %d of each",
                        (long)arguments, (long)results, MaxValues);
  for (intptr_t i = 0; i < arguments; i++)
    if (!readValue(mlirFunctionTypeGetInput(type, i), "argument", i, &program->arguments[i], error))
      return false;
  for (intptr_t i = 0; i < results; i++)
    if (!readValue(mlirFunctionTypeGetResult(type, i), "result", i, &program->results[i], error))
      return false;
  program->numArguments = (int)arguments;
  program->numResults = (int)results;
  return true;
}

//===--- compilation ----------------------------------------------------------===//

static void reportPipelineError(MlirStringRef message, void *userData) { printText(message, stderr); }

// `pipeline` as tile-opt takes it: "builtin.module(…)".
static bool lower(Program *program, const char *pipeline, tessera_error_t *error) {
  MlirPassManager manager = mlirPassManagerCreate(program->context);
  MlirOpPassManager root = mlirPassManagerGetAsOpPassManager(manager);
  MlirLogicalResult parsed = mlirParsePassPipeline(root, tileString(pipeline), reportPipelineError, NULL);
  bool ok = mlirLogicalResultIsSuccess(parsed) || tessera_fail(error, "bad pass pipeline");
  if (ok)
    ok = mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(program->module))) ||
         tessera_fail(error, "the program could not be lowered");
  mlirPassManagerDestroy(manager);
  return ok;
}

static bool compile(Program *program, const tessera_run_options_t *options, tessera_error_t *error) {
  double start = milliseconds();
  char symbol[512];
  if (!lower(program, options->pipeline ? options->pipeline : "builtin.module(tile-to-cpu-pipeline)", error))
    return false;
  program->jit = tileCpuCompile(mlirModuleGetOperation(program->module), options->entry, error);
  if (!program->jit)
    return false;
  snprintf(symbol, sizeof symbol, "tessera_packed_%s", options->entry);
  program->entry = (void (*)(void **))tileJitLookup(program->jit, symbol, error);
  program->compileMs = milliseconds() - start;
  return program->entry != NULL;
}

bool programLoad(Program *program, const tessera_run_options_t *options, tessera_error_t *error) {
  *program = (Program){.context = createContext()};
  mlirContextAttachDiagnosticHandler(program->context, printDiagnostic, NULL, NULL);
  if (!parse(program, options->file, error))
    return false;
  MlirOperation entry = findEntry(program, options->entry);
  if (mlirOperationIsNull(entry))
    return tessera_fail(error, "%s: has no function '%s'", options->file, options->entry);
  return readSignature(program, entry, error) && compile(program, options, error);
}

void programDestroy(Program *program) {
  tileJitDestroy(program->jit);
  if (!mlirModuleIsNull(program->module))
    mlirModuleDestroy(program->module);
  mlirContextDestroy(program->context);
}
