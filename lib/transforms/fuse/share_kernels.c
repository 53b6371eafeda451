// tile-share-kernels: private kernels that are equal but for their names become one, which all their launches name. A
// program of 300 equal products then compiles one kernel.
//
// Expects: tile.kernel and tile.launch in a module. Leaves: of equal kernels the first. Kernels are compared by their
// generic text, without the name and without locations. Cost: one print of each kernel where there are several.
#include "lib/transforms/fuse/fuse.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "upstream/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kernel {
  MlirOperation op;
  char *text;
} Kernel;

// The name is taken out of the text: it stands there once, as the attribute.
static void removeName(char *text) {
  static const char begin[] = "sym_name = \"";
  char *name = strstr(text, begin), *end = name ? strchr(name + sizeof begin - 1, '"') : NULL;
  if (end)
    memmove(name, end, strlen(end) + 1);
}

// Null: out of memory.
static char *textOf(MlirOperation kernel) {
  tessera_text_t text = {NULL};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  // Against what a tool's own flags ask for: --mlir-print-debuginfo, --mlir-elide-elementsattrs-if-larger and its like.
  mlirOpPrintingFlagsEnableDebugInfo(flags, false, false);
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, INTPTR_MAX);
  mlirOpPrintingFlagsElideLargeResourceString(flags, INTPTR_MAX);
  mlirOperationPrintWithFlags(kernel, flags, tileTextAppend, &text);
  mlirOpPrintingFlagsDestroy(flags);
  char *data = tessera_text_take(&text);
  if (data)
    removeName(data);
  return data;
}

static MlirStringRef nameOf(MlirOperation kernel) { return mlirStringAttrGetValue(tileKernelOpGetSymName(kernel)); }

static void relaunch(const TileOps *ops, MlirOperation kernel, MlirOperation instead) {
  MlirAttribute other = mlirFlatSymbolRefAttrGet(mlirOperationGetContext(instead), nameOf(instead));
  for (intptr_t i = 0; i < ops->count; ++i)
    if (tileLaunches(ops->items[i], kernel))
      tileLaunchOpSetKernel(ops->items[i], other);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps kernels = tileCollectOps(module, tileIsPrivateKernel), users = tileCollectOps(module, tileLaunchOpIsA);
  Kernel *kept = calloc((size_t)kernels.count + 1, sizeof *kept);
  int64_t numKept = 0;
  bool ok = kept != NULL;
  for (intptr_t i = 0; ok && kernels.count > 1 && i < kernels.count; ++i) {
    Kernel kernel = {kernels.items[i], textOf(kernels.items[i])};
    int64_t same = 0;
    if (!kernel.text) {
      ok = false;
      break;
    }
    while (same < numKept && strcmp(kept[same].text, kernel.text) != 0)
      ++same;
    if (same == numKept) {
      kept[numKept++] = kernel;
      continue;
    }
    relaunch(&users, kernel.op, kept[same].op);
    mlirOperationDestroy(kernel.op);
    free(kernel.text);
    mlirExtPassAddStatistic(pass, 0, 1);
  }
  for (int64_t i = 0; i < numKept; ++i)
    free(kept[i].text);
  free(kept);
  tileOpsFree(&kernels);
  tileOpsFree(&users);
  return ok || tileError(module, "out of memory");
}

const MlirExtPassDefinition tileShareKernelsPass = {
    .argument = "tile-share-kernels",
    .summary = "Make private kernels that are equal but for their names one",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"shared: kernels that were equal to another, which their launches use", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
