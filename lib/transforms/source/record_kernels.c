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

#include <stdlib.h>

// Null: out of memory.
static MlirAttribute textOf(MlirOperation op) {
  tessera_text_t text = {NULL};
  MlirAttribute attribute = {NULL};
  mlirOperationPrint(op, tileTextAppend, &text);
  if (!text.failed)
    attribute = mlirStringAttrGet(mlirOperationGetContext(op), mlirStringRefCreate(text.data, text.size));
  tessera_text_free(&text);
  return attribute;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  (void)pass;
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA);
  MlirNamedAttribute *texts = calloc((size_t)kernels.count + 1, sizeof *texts);
  bool ok = texts != NULL;
  for (intptr_t i = 0; ok && i < kernels.count; ++i) {
    MlirStringRef name = mlirStringAttrGetValue(tileKernelOpGetSymName(kernels.items[i]));
    MlirAttribute text = textOf(kernels.items[i]);
    ok = !mlirAttributeIsNull(text);
    if (ok)
      texts[i] = mlirNamedAttributeGet(mlirIdentifierGet(mlirOperationGetContext(module), name), text);
  }
  if (kernels.count && ok)
    tileOpSetKernelTexts(module, mlirDictionaryAttrGet(mlirOperationGetContext(module), kernels.count, texts));
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
