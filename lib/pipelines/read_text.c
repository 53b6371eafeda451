// Asks for the nesting first, then parses. See read_text.h.
#include "lib/pipelines/read_text.h"

#include "lib/capi/assembly.h"
#include "lib/import/cuda_tile/tile_ir.h"
#include "lib/import/onnx/import.h"
#include "lib/import/torch_export/export_graph.h"
#include "lib/ir/support.h"
#include "lib/pipelines/nesting.h"

#include <stdlib.h>
#include <string.h>

static bool isReadable(MlirContext context, MlirStringRef text, MlirStringRef name) {
  tessera_nesting_t found;
  if (tessera_nesting_check(text.data, text.length, &found))
    return true;
  return tileErrorAt(mlirLocationFileLineColGet(context, name, (unsigned)found.line, (unsigned)found.column), "%s",
                     found.text);
}

static MlirModule readTileIr(MlirContext context, MlirStringRef bytes, MlirStringRef name) {
  tessera_error_t error;
  char *path = strndup(name.data, name.length); // not all names end with a null byte
  MlirModule module = tileIrImport(context, bytes.data, bytes.length, path ? path : "", &error);
  if (mlirModuleIsNull(module))
    tileErrorAt(mlirLocationUnknownGet(context), "%s", error.text);
  free(path);
  return module;
}

MlirModule tileReadModule(MlirContext context, MlirStringRef text, MlirStringRef name) {
  if (tileIrIsBytecode(text.data, text.length))
    return readTileIr(context, text, name);
  return isReadable(context, text, name) ? mlirExtModuleParse(context, text, name) : (MlirModule){NULL};
}

bool tileIsModel(const char *path) { return onnxFileIsModel(path) || torchFileIsProgram(path); }

MlirModule tileReadModel(MlirContext context, const char *path, tessera_error_t *error) {
  return torchFileIsProgram(path) ? torchImport(context, path, error) : onnxImport(context, path, error);
}

bool tileTakesTorchOperator(const char *name) { return torchTakesOperator(name); }

MlirType tileReadType(MlirContext context, MlirStringRef text) {
  return isReadable(context, text, tileString("<type>")) ? mlirTypeParseGet(context, text) : (MlirType){NULL};
}

MlirAttribute tileReadAttribute(MlirContext context, MlirStringRef text) {
  return isReadable(context, text, tileString("<attribute>")) ? mlirAttributeParseGet(context, text)
                                                              : mlirAttributeGetNull();
}

MlirLogicalResult tileReadPipeline(MlirOpPassManager passes, MlirStringRef text, MlirStringCallback report,
                                   void *userData) {
  tessera_nesting_t found;
  if (tessera_nesting_check(text.data, text.length, &found))
    return mlirParsePassPipeline(passes, text, report, userData);
  report(tileString("the pass pipeline "), userData);
  report(tileString(found.text), userData);
  return mlirLogicalResultFailure();
}
