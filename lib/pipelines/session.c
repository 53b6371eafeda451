// Opens a file with everything registered and runs passes on it. See session.h.
#include "lib/pipelines/session.h"

#include "lib/capi/dialect.h"
#include "lib/conversion/tile_to_tt/ttir_check.h"
#include "lib/import/cuda/kernel_source.h"
#include "lib/import/cuda_tile/tile_ir.h"
#include "lib/ir/support.h"
#include "lib/pipelines/read_text.h"
#include "lib/pipelines/register.h"
#include "lib/support/file.h"
#include "lib/support/guard.h"
#include "mlir-c/Dialect/SparseTensor.h"
#include "mlir-c/Pass.h"
#include "upstream/func.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- context and module ---------------------------------------------------===//

// All dialects are known, but few are loaded, since each takes time: those that importers and hosts build ops of. The
// parser loads what the program names, and passes what they leave.
static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  tesseraRegisterAllDialects(registry);
  tesseraRegisterAllPasses();
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirExtContextLoadNamedDialects(context);
  mlirContextGetOrLoadDialect(context, tileString("tile"));
  mlirContextGetOrLoadDialect(context, tileString("sparse"));
  return context;
}

static void printText(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

// The place that a named location, or a fused one of one place, stands for; of a call the place in the callee, and the
// caller's place, else null, in `caller`.
static MlirLocation placeOf(MlirLocation location, MlirLocation *caller) {
  *caller = (MlirLocation){NULL};
  for (;;) {
    if (mlirLocationIsACallSite(location)) {
      if (mlirLocationIsNull(*caller))
        *caller = mlirLocationCallSiteGetCaller(location);
      location = mlirLocationCallSiteGetCallee(location);
    } else if (mlirLocationIsAName(location)) {
      location = mlirLocationNameGetChildLoc(location);
    } else if (mlirLocationIsAFused(location) && mlirLocationFusedGetNumLocations(location) == 1) {
      mlirLocationFusedGetLocations(location, &location);
    } else {
      return location;
    }
  }
}

// "file:line:column: ", as compilers do; other kinds as MLIR writes them. Gives the caller's place, or null.
static MlirLocation printLocation(MlirLocation location) {
  MlirLocation caller, place = placeOf(location, &caller);
  if (mlirLocationIsAFileLineColRange(place)) {
    printText(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place)), stderr);
    fprintf(stderr, ":%d:%d: ", mlirLocationFileLineColRangeGetStartLine(place),
            mlirLocationFileLineColRangeGetStartColumn(place));
  } else if (!mlirLocationEqual(place, mlirLocationUnknownGet(mlirLocationGetContext(place)))) {
    mlirLocationPrint(place, printText, stderr);
    fputs(": ", stderr);
  }
  return caller;
}

enum { MostCallers = 8 }; // that a message names

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic, void *userData) {
  static const char *const severities[] = {"error", "warning", "note", "remark"};
  MlirLocation caller = printLocation(mlirDiagnosticGetLocation(diagnostic));
  fprintf(stderr, "%s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, printText, stderr);
  fputc('\n', stderr);
  bool isNote = mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticNote;
  for (int i = 0; i < MostCallers && !mlirLocationIsNull(caller) && !isNote; ++i) {
    caller = printLocation(caller);
    fputs("note: called from here\n", stderr);
  }
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    printDiagnostic(mlirDiagnosticGetNote(diagnostic, i), NULL);
  return mlirLogicalResultSuccess();
}

// Who wrote this bytecode: behind "ML\xefR" and the version, whose first byte says its length. Null: no bytecode.
static const char *producerOf(const char *text, size_t size) {
  if (size < 6 || memcmp(text, "ML\xefR", 4) != 0)
    return NULL;
  unsigned first = (unsigned char)text[4];
  size_t at = 4 + (first ? (size_t)__builtin_ctz(first) + 1 : 9);
  return at < size && memchr(text + at, 0, size - at) ? text + at : NULL;
}

static bool failOn(const char *text, size_t size, const char *path, tessera_error_t *error) {
  const char *producer = producerOf(text, size);
  if (!producer)
    return tessera_fail(error, "%s: not a valid program", path);
  return tessera_fail(error, "%s: no program that can be read: bytecode written by '%.64s'; accepted: text%s", path,
                      producer,
                      strncmp(producer, "StableHLO", 9) == 0 ? ", as jax.jit(f).lower(x).as_text() gives it"
                                                             : ", and bytecode of MLIR 22");
}

static bool parse(TileSession *session, const char *path, const char *chip, tessera_error_t *error) {
  if (cudaFileIsSource(path)) {
    session->module = cudaImport(session->context, path, chip, error);
    return !mlirModuleIsNull(session->module);
  }
  if (tileIsModel(path)) {
    session->isModel = true;
    session->module = tileReadModel(session->context, path, error);
    return !mlirModuleIsNull(session->module);
  }
  size_t size;
  char *text = tessera_file_read(path, &size, error);
  if (!text)
    return false;
  bool isTileIr = tileIrIsBytecode(text, size);
  session->module = isTileIr ? tileIrImport(session->context, text, size, path, error)
                             : tileReadModule(session->context, mlirStringRefCreate(text, size), tileString(path));
  tessera_guard_has_read();
  bool ok = !mlirModuleIsNull(session->module) || (!isTileIr && failOn(text, size, path, error));
  free(text);
  return ok;
}

bool tileSessionRead(TileSession *session, const char *path, const char *chip, tessera_error_t *error) {
  *session = (TileSession){.context = createContext()};
  mlirContextAttachDiagnosticHandler(session->context, printDiagnostic, NULL, NULL);
  return parse(session, path, chip, error);
}

bool tileSessionOpen(TileSession *session, const char *path, const char *chip, tessera_error_t *error) {
  return tileSessionRead(session, path, chip, error) && tileSessionTakeForeign(session, error);
}

bool tileSessionExpandEntries(TileSession *session, tessera_error_t *error) {
  return tileSessionRun(session, "builtin.module(tile-expand-quantized,tile-pack-narrow-elements)", error);
}

void tileSessionClose(TileSession *session) {
  if (!mlirModuleIsNull(session->module))
    mlirModuleDestroy(session->module);
  if (!mlirContextIsNull(session->context))
    mlirContextDestroy(session->context);
  *session = (TileSession){.context = {NULL}};
}

//===--- passes ---------------------------------------------------------------===//

static void reportPipelineError(MlirStringRef message, void *context) {
  tileErrorAt(mlirLocationUnknownGet(*(MlirContext *)context), "%.*s", (int)message.length, message.data);
}

// The verifier runs once, after the last pass: after every pass it took a quarter of the time to PTX. tile-opt verifies
// after every pass and so names the pass that breaks a program.
bool tileSessionRun(TileSession *session, const char *pipeline, tessera_error_t *error) {
  MlirPassManager manager = mlirPassManagerCreate(session->context);
  MlirOpPassManager root = mlirPassManagerGetAsOpPassManager(manager);
  MlirOperation module = mlirModuleGetOperation(session->module);
  mlirPassManagerEnableVerifier(manager, false);
  MlirLogicalResult parsed = tileReadPipeline(root, tileString(pipeline), reportPipelineError, &session->context);
  bool ok = mlirLogicalResultIsSuccess(parsed) || tessera_fail(error, "bad pass pipeline");
  if (ok)
    ok = (mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, module)) && mlirOperationVerify(module)) ||
         tessera_fail(error, "the program could not be lowered");
  mlirPassManagerDestroy(manager);
  return ok;
}

//===--- programs of others ---------------------------------------------------===//

// A dialect of others, and the passes that take it away.
enum { CudaTileRow = 2, TtRow };
static const struct {
  const char *dialect, *pipeline;
  bool isModel;
} foreign[] = {
    {"stablehlo", "builtin.module(convert-stablehlo-to-linalg,canonicalize,cse)", .isModel = true},
    {"chlo", "builtin.module(convert-stablehlo-to-linalg,canonicalize,cse)", .isModel = true},
    [CudaTileRow] = {"cuda_tile",
                     "builtin.module(convert-cuda-tile-to-tt,canonicalize,cse,convert-tt-to-tile,canonicalize,cse)"},
    [TtRow] = {"tt", "builtin.module(convert-tt-to-tile,canonicalize,cse)"},
};

enum { NoRow = -1 };

static MlirWalkResult findForeign(MlirOperation op, void *row) {
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; ++i)
    if (tileOpIsOfDialect(op, foreign[i].dialect)) {
      *(int *)row = (int)i;
      return MlirWalkResultInterrupt;
    }
  return MlirWalkResultAdvance;
}

#define WHAT_TTIR_LACKS "tile-expand-float-conversions{tiles=tt},tile-expand-math{tiles=tt},"
#define TO_TTIR(options) "builtin.module(" WHAT_TTIR_LACKS "convert-tile-to-tt" options ",canonicalize,cse)"

bool tileSessionMakeTtir(TileSession *session, bool hasDescriptors, tessera_error_t *error) {
  int row = NoRow;
  MlirOperation module = mlirModuleGetOperation(session->module);
  mlirOperationWalk(module, findForeign, &row, MlirWalkPreOrder);
  if (row == TtRow)
    return true;
  const char *pipeline =
      row != NoRow
          ? "builtin.module(convert-cuda-tile-to-tt{pointers=true},canonicalize,cse,tile-expand-math{tiles=tt},"
            "canonicalize,cse)"
      : hasDescriptors ? TO_TTIR("{descriptors=true}")
                       : TO_TTIR("");
  bool ok = tileSessionRun(session, pipeline, error);
  return ok && (ttirFinish(module) || tessera_fail(error, "the program cannot be said in TTIR"));
}

#define TO_CUDA_TILE(options)                                                                                          \
  "builtin.module(inline,tile-expand-math{tiles=cuda_tile},convert-tile-to-cuda-tile{" options "},canonicalize,cse,"   \
  "tile-order-by-tokens)"

// Version 13.3 brings what views may say; anything else that a version does not have is an error when it is written.
bool tileSessionMakeCudaTile(TileSession *session, int version, tessera_error_t *error) {
  static const char *const pipelines[2][2] = {{TO_CUDA_TILE("version=1"), TO_CUDA_TILE("")},
                                              {TO_CUDA_TILE("version=1 bare=true"), TO_CUDA_TILE("bare=true")}};
  int row = NoRow;
  mlirOperationWalk(mlirModuleGetOperation(session->module), findForeign, &row, MlirWalkPreOrder);
  if (row == CudaTileRow)
    return true;
  return (row == NoRow || tileSessionRun(session, foreign[row].pipeline, error)) &&
         tileSessionRun(session, pipelines[row == TtRow][version >= 3], error);
}

bool tileSessionTakeForeign(TileSession *session, tessera_error_t *error) {
  int row = NoRow;
  mlirOperationWalk(mlirModuleGetOperation(session->module), findForeign, &row, MlirWalkPreOrder);
  if (row == NoRow)
    return true;
  session->isModel |= foreign[row].isModel;
  return tileSessionRun(session, foreign[row].pipeline, error);
}

//===--- entries of upstream's sparse tensors ----------------------------------===//

static bool isEncoded(MlirType type) {
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && mlirAttributeIsASparseTensorEncodingAttr(encoding);
}

static bool takesSparse(MlirOperation function, const char *entryOrNull) {
  if (!funcFuncOpIsA(function) || !tileSymbolIsPublic(function))
    return false;
  if (entryOrNull && !tileStringEquals(mlirStringAttrGetValue(tileOpAttribute(function, "sym_name")), entryOrNull))
    return false;
  MlirType type = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  bool takes = false;
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); ++i)
    takes |= isEncoded(mlirFunctionTypeGetInput(type, i));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); ++i)
    takes |= isEncoded(mlirFunctionTypeGetResult(type, i));
  return takes;
}

static const char *const fromUpstream = "builtin.module(tile-avoid-upstream-faults,"
                                        "func.func(convert-elementwise-to-linalg),"
                                        "convert-sparse-tensor-to-sparse{lowerable=true})";

bool tileSessionTakeSparseEntries(TileSession *session, const char *entryOrNull, tessera_error_t *error) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(session->module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (takesSparse(op, entryOrNull))
      return tileSessionRun(session, fromUpstream, error);
  return true;
}
