// Kernels of a gpu.module and their code as one record. See image.h.
#include "lib/target/image.h"

#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"

#include <stdlib.h>
#include <string.h>

static char *copyText(MlirStringRef text) { return strndup(text.data, text.length); }

static MlirStringRef symbolOf(MlirOperation op) { return mlirStringAttrGetValue(tileOpAttribute(op, "sym_name")); }

// Bytes of the global KERNEL_shared of the gpu.module; 0 when there is none.
static int64_t sharedBytes(MlirOperation module, const char *kernel) {
  char name[512];
  int64_t bytes = 0;
  snprintf(name, sizeof name, "%s_shared", kernel);
  TileOps globals = tileCollectOps(module, llvmGlobalOpIsA);
  for (intptr_t i = 0; i < globals.count; ++i) {
    if (tileStringEquals(symbolOf(globals.items[i]), name))
      bytes = tileLlvmArraySize(mlirTypeAttrGetValue(tileOpAttribute(globals.items[i], "global_type")));
  }
  tileOpsFree(&globals);
  return bytes;
}

static bool isKernel(MlirOperation function) { return !mlirAttributeIsNull(tileOpAttribute(function, "gpu.kernel")); }

// What a launch must give: on NVIDIA's GPUs a kernel declares at most 48 KiB, and one with more gets all of it so.
static int64_t dynamicBytes(MlirOperation module, const char *kernel, const TileCodeTarget *target) {
  int64_t shared = sharedBytes(module, kernel);
  return target->staticSharedBytes && shared > target->staticSharedBytes ? shared : 0;
}

static bool listKernels(MlirOperation module, const TileCodeTarget *target, TileImage *image, tessera_error_t *error) {
  TileOps functions = tileCollectOps(module, llvmLLVMFuncOpIsA);
  image->kernels = calloc((size_t)functions.count + 1, sizeof *image->kernels);
  bool ok = image->kernels != NULL;
  for (intptr_t i = 0; i < functions.count && ok; ++i) {
    if (!isKernel(functions.items[i]))
      continue;
    tessera_image_kernel_t *kernel = &image->kernels[image->record.num_kernels++];
    kernel->name = copyText(symbolOf(functions.items[i]));
    ok = kernel->name != NULL;
    kernel->dynamic_shared_bytes = ok ? dynamicBytes(module, kernel->name, target) : 0;
    kernel->cooperative = !mlirAttributeIsNull(tileOpAttribute(functions.items[i], "cooperative"));
  }
  tileOpsFree(&functions);
  return ok || tessera_fail(error, "out of memory");
}

static bool describe(MlirOperation module, const TileCodeTarget *target, TileImage *image, tessera_error_t *error) {
  TileOps modules = tileCollectOps(module, gpuGPUModuleOpIsA);
  bool ok =
      modules.count == 1 ||
      tessera_fail(error, "the program has %d gpu.modules, expected one: that of its kernels", (int)modules.count);
  if (ok) {
    image->module = copyText(symbolOf(modules.items[0]));
    ok = (image->module && image->chip) || tessera_fail(error, "out of memory");
    ok = ok && listKernels(modules.items[0], target, image, error);
  }
  tileOpsFree(&modules);
  return ok;
}

static bool emit(MlirOperation module, const TileCodeTarget *target, const char *form, TileImage *image,
                 tessera_error_t *error) {
  TileTranslation translation = {.module = module, .chip = image->chip, .wantsFigures = image->wantsFigures};
  const TileForm *row = target->checkChip(image->chip, error) ? tileTargetForm(target, form, error) : NULL;
  return row && row->emit(&translation, &image->artifact, error);
}

bool tileImageCreate(MlirOperation module, const char *chip, const char *form, TileImage *image,
                     tessera_error_t *error) {
  *image = (TileImage){.chip = strdup(chip), .wantsFigures = image->wantsFigures};
  const TileCodeTarget *target = tileTargetOfForm(form, error);
  if (!target || !describe(module, target, image, error) || !emit(module, target, form, image, error))
    return false;
  // The driver reads PTX to its zero.
  char *data = realloc(image->artifact.data, image->artifact.size + 1);
  if (!data)
    return tessera_fail(error, "out of memory");
  data[image->artifact.size] = 0;
  image->artifact.data = data;
  image->record = (tessera_image_t){.module = image->module,
                                    .chip = image->chip,
                                    .form = form,
                                    .data = data,
                                    .size = (int64_t)image->artifact.size,
                                    .num_kernels = image->record.num_kernels,
                                    .kernels = image->kernels};
  return true;
}

void tileImageDestroy(TileImage *image) {
  for (int64_t i = 0; image->kernels && i < image->record.num_kernels; ++i)
    free((void *)(uintptr_t)image->kernels[i].name);
  free(image->kernels);
  free(image->module);
  free(image->chip);
  tileArtifactDestroy(&image->artifact);
  *image = (TileImage){.module = NULL};
}
