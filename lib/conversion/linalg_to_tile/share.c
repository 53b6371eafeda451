// Kernels that are equal but for their names become one: a program of 300 equal products compiles one. Kernels are
// compared by their generic text, without the name and without locations.
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include "dialects/tile/ops.h"
#include "lib/ir/op_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Kernel {
  MlirOperation op;
  char *text;
} Kernel;

static void append(MlirStringRef part, void *file) { fwrite(part.data, 1, part.length, file); }

// The name is taken out of the text: it stands there once, as the attribute.
static void removeName(char *text) {
  static const char begin[] = "sym_name = \"";
  char *name = strstr(text, begin), *end = name ? strchr(name + sizeof begin - 1, '"') : NULL;
  if (end)
    memmove(name, end, strlen(end) + 1);
}

static char *textOf(MlirOperation kernel) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  // Against what a tool's own flags ask for: --mlir-print-debuginfo, --mlir-elide-elementsattrs-if-larger and its like.
  mlirOpPrintingFlagsEnableDebugInfo(flags, false, false);
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, INTPTR_MAX);
  mlirOpPrintingFlagsElideLargeResourceString(flags, INTPTR_MAX);
  mlirOperationPrintWithFlags(kernel, flags, append, file);
  mlirOpPrintingFlagsDestroy(flags);
  fclose(file);
  removeName(text);
  return text;
}

static void relaunch(const TileOps *launches, MlirOperation kernel, MlirOperation instead) {
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(kernel, "sym_name"));
  MlirStringRef other = mlirStringAttrGetValue(tileOpAttribute(instead, "sym_name"));
  for (intptr_t i = 0; i < launches->count; ++i) {
    MlirOperation launch = launches->items[i];
    if (mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(tileOpAttribute(launch, "kernel")), name))
      mlirOperationSetAttributeByName(launch, tileString("kernel"),
                                      mlirFlatSymbolRefAttrGet(mlirOperationGetContext(launch), other));
  }
}

static bool isAmong(const TileOps *ops, MlirOperation op) {
  for (intptr_t i = 0; i < ops->count; ++i)
    if (mlirOperationEqual(ops->items[i], op))
      return true;
  return false;
}

int64_t tileShareKernels(MlirOperation module, const TileOps *before) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA), launches = tileCollectOps(module, tileLaunchOpIsA);
  Kernel *kept = calloc((size_t)kernels.count + 1, sizeof *kept);
  int64_t numKept = 0, shared = 0;
  for (intptr_t i = 0; i < kernels.count; ++i) {
    if (isAmong(before, kernels.items[i]))
      continue;
    Kernel kernel = {kernels.items[i], textOf(kernels.items[i])};
    int64_t same = 0;
    while (same < numKept && strcmp(kept[same].text, kernel.text) != 0)
      ++same;
    if (same == numKept) {
      kept[numKept++] = kernel;
      continue;
    }
    relaunch(&launches, kernel.op, kept[same].op);
    mlirOperationDestroy(kernel.op);
    free(kernel.text);
    ++shared;
  }
  for (int64_t i = 0; i < numKept; ++i)
    free(kept[i].text);
  free(kept);
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
  return shared;
}
