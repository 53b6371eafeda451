// Kernels that are equal but for their names become one: a program of 300 equal products compiles one. Kernels are
// compared by their generic text, without the name and without locations.
#include "lib/conversion/linalg_to_tile/lowerings.h"

#include "dialects/tile/ops.h"
#include "lib/ir/op_format.h"

#include <stdlib.h>
#include <string.h>

typedef struct Text {
  char *data;
  size_t size, capacity;
} Text;

typedef struct Kernel {
  MlirOperation op;
  Text text;
  uint64_t hash;
} Kernel;

static void append(MlirStringRef part, void *userData) {
  Text *text = userData;
  if (text->size + part.length + 1 > text->capacity) {
    text->capacity = 2 * (text->size + part.length) + 1024;
    text->data = realloc(text->data, text->capacity);
  }
  memcpy(text->data + text->size, part.data, part.length);
  text->size += part.length;
  text->data[text->size] = '\0';
}

// The name is taken out of the text: it stands there once, as the attribute.
static void removeName(Text *text) {
  static const char begin[] = "sym_name = \"";
  char *name = text->size ? strstr(text->data, begin) : NULL;
  char *end = name ? strchr(name + sizeof begin - 1, '"') : NULL;
  if (!end)
    return;
  memmove(name, end, text->size - (size_t)(end - text->data) + 1);
  text->size -= (size_t)(end - name);
}

static Text textOf(MlirOperation kernel) {
  Text text = {NULL, 0, 0};
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsPrintGenericOpForm(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  // Against what a tool's own flags ask for: --mlir-print-debuginfo, --mlir-elide-elementsattrs-if-larger and its like.
  mlirOpPrintingFlagsEnableDebugInfo(flags, false, false);
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, INTPTR_MAX);
  mlirOpPrintingFlagsElideLargeResourceString(flags, INTPTR_MAX);
  mlirOperationPrintWithFlags(kernel, flags, append, &text);
  mlirOpPrintingFlagsDestroy(flags);
  removeName(&text);
  return text;
}

static uint64_t hashOf(const Text *text) {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a
  for (size_t i = 0; i < text->size; ++i)
    hash = (hash ^ (uint8_t)text->data[i]) * 0x100000001b3u;
  return hash;
}

static bool areEqual(const Kernel *a, const Kernel *b) {
  return a->hash == b->hash && a->text.size == b->text.size && !memcmp(a->text.data, b->text.data, a->text.size);
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
    Kernel kernel = {kernels.items[i], textOf(kernels.items[i]), 0};
    kernel.hash = hashOf(&kernel.text);
    int64_t same = 0;
    while (same < numKept && !areEqual(&kept[same], &kernel))
      ++same;
    if (same == numKept) {
      kept[numKept++] = kernel;
      continue;
    }
    relaunch(&launches, kernel.op, kept[same].op);
    mlirOperationDestroy(kernel.op);
    free(kernel.text.data);
    ++shared;
  }
  for (int64_t i = 0; i < numKept; ++i)
    free(kept[i].text.data);
  free(kept);
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
  return shared;
}
