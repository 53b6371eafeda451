// Preloaded into tile-run and tile-translate (LD_PRELOAD), stands before libtessera's tileImageCreate: the image is
// made as ever, then its gpu.module written beside as its twin (twin.h). No tool knows of it.
#include "lib/ir/support.h"
#include "lib/target/image.h"
#include "test/runtime/standin/twin.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

typedef bool (*create_t)(MlirOperation, const char *, const char *, TileImage *, tessera_error_t *);

static void put(MlirStringRef text, void *file) { fwrite(text.data, 1, text.length, file); }

static bool write_twin(MlirOperation module, const char *chip, const char *path) {
  char beside[PATH_MAX + 32];
  snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
  FILE *file = fopen(beside, "we");
  if (!file)
    return false;
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
  fprintf(file, "// chip: %s\n", chip);
  TileOps devices = tileCollect(module, "gpu.module");
  for (intptr_t i = 0; i < devices.count; ++i)
    mlirOperationPrintWithFlags(devices.items[i], flags, put, file);
  tileOpsFree(&devices);
  mlirOpPrintingFlagsDestroy(flags);
  return fclose(file) == 0 && rename(beside, path) == 0;
}

bool tileImageCreate(MlirOperation module, const char *chip, const char *form, TileImage *image,
                     tessera_error_t *error) {
  char path[PATH_MAX];
  create_t create;
  void *symbol = dlsym(RTLD_NEXT, "tileImageCreate");
  memcpy(&create, &symbol, sizeof symbol);
  if (!create(module, chip, form, image, error))
    return false;
  return !twin_path(image->record.data, path, sizeof path) || write_twin(module, chip, path) ||
         tessera_fail(error, "%s: the twin cannot be written", path);
}
