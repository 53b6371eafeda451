// tile-record-kernels: keeps the text of each kernel on the module, for people who read what becomes of it.
//
// Expects: kernels of any level. Leaves: the attribute tile.kernel_texts of the module, a dictionary from the names of
// the kernels to their texts. The kernels stay as they are.
#include "lib/transforms/source/source.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/builtin.h"

#include <stdio.h>
#include <stdlib.h>

static void append(MlirStringRef text, void *stream) { fwrite(text.data, 1, text.length, stream); }

static MlirAttribute textOf(MlirOperation op) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  if (stream) {
    mlirOperationPrint(op, append, stream);
    fclose(stream);
  }
  MlirAttribute attribute = mlirStringAttrGet(mlirOperationGetContext(op), mlirStringRefCreate(text ? text : "", size));
  free(text);
  return attribute;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  (void)pass;
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  MlirNamedAttribute *texts = calloc((size_t)kernels.count + 1, sizeof *texts);
  for (intptr_t i = 0; i < kernels.count && texts; ++i) {
    MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(kernels.items[i]));
    texts[i] =
        mlirNamedAttributeGet(mlirIdentifierGet(mlirOperationGetContext(module), name), textOf(kernels.items[i]));
  }
  if (kernels.count && texts)
    tileOpSetKernelTexts(module, mlirDictionaryAttrGet(mlirOperationGetContext(module), kernels.count, texts));
  bool ok = texts != NULL;
  free(texts);
  tileOpsFree(&kernels);
  return ok || tileError(module, "out of memory");
}

const MlirExtPassDefinition tileRecordKernelsPass = {
    .argument = "tile-record-kernels",
    .summary = "Keep the text of each kernel on the module",
    .anchor = builtinModuleOpName,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
