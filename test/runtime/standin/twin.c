// Reads a twin, compiles it for the emulator and runs its kernels. See twin.h.
#include "test/runtime/standin/twin.h"

#include "lib/pipelines/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct twin_t {
  char chip[64];
  TileSession session;
  TileEmulatorOptions options;
  TileEmulatorProgram *program;
};

// record.c's first line: "// chip: sm_80".
static bool read_chip(const char *path, char *chip, tessera_error_t *out_error) {
  FILE *file = fopen(path, "re");
  bool ok = file && fscanf(file, "// chip: %63s", chip) == 1;
  if (file)
    fclose(file);
  return ok || tessera_fail(out_error, "%s: is no twin", path);
}

static bool compile(twin_t *twin, const char *path, tessera_error_t *out_error) {
  if (!read_chip(path, twin->chip, out_error) || !tileSessionOpen(&twin->session, path, NULL, out_error) ||
      !tileEmulatorOptionsRead(twin->chip, &twin->options, out_error))
    return false;
  MlirOperation module = mlirModuleGetOperation(twin->session.module);
  twin->program = tileEmulatorCompile(module, &twin->options, out_error);
  return twin->program != NULL;
}

twin_t *twin_open(const void *image, tessera_error_t *out_error) {
  char path[PATH_MAX];
  twin_t *twin = calloc(1, sizeof *twin);
  if (!twin_path(image, path, sizeof path)) {
    tessera_fail(out_error, "TESSERA_TWINS names no folder");
  } else if (twin && compile(twin, path, out_error)) {
    return twin;
  }
  twin_close(twin);
  return NULL;
}

void twin_close(twin_t *twin) {
  if (!twin)
    return;
  tileEmulatorDestroy(twin->program);
  tileSessionClose(&twin->session);
  free(twin);
}

const TileEmulatorKernel *twin_kernel(const twin_t *twin, const char *name) {
  return tileEmulatorKernelFind(twin->program, name);
}

uint32_t twin_shared_limit(const twin_t *twin) { return twin->options.chip.shared_bytes; }

// "trap: assertion failed: a.mlir:5:3: no; at …": the words between.
static void assertion_of(const tessera_emulator_report_t *report, char *text, size_t capacity) {
  const char *begin = report->finding_count ? strstr(report->findings[0].text, "assertion failed: ") : NULL;
  const char *end = begin ? strstr(begin, "; at ") : NULL;
  snprintf(text, capacity, "%.*s", end ? (int)(end - begin) : 0, begin ? begin : "");
}

bool twin_run(twin_t *twin, const TileEmulatorLaunch *launch, tessera_error_t *out_error) {
  tessera_emulator_report_t *report;
  if (!tileEmulatorLaunchKernel(twin->program, launch, &report, out_error))
    return false;
  char assertion[256];
  assertion_of(report, assertion, sizeof assertion);
  size_t found = tileEmulatorDiagnose(twin->program, report, false);
  tessera_emulator_report_destroy(report);
  if (*assertion)
    return tessera_fail(out_error, "%s", assertion);
  return !found || tessera_fail(out_error, "kernel '%s': %zu findings", launch->kernel, found);
}
