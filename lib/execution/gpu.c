// A program on a GPU: the device first, since it decides the chip; then the kernels' code and the host's part. See
// gpu.h.
#include "lib/execution/gpu.h"

#include "lib/execution/device.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/runtime/tessera.h"
#include "lib/target/image.h"
#include "upstream/gpu.h"

#include <stdlib.h>
#include <string.h>

struct GpuRun {
  tessera_device_t *device;
  TileImage image;
  tessera_images_t images;
  char chip[80];
};

static bool hasKernels(const Run *run) {
  TileOps modules = tileCollectOps(mlirModuleGetOperation(run->session.module), gpuGPUModuleOpIsA);
  bool has = modules.count > 0;
  tileOpsFree(&modules);
  return has;
}

bool runGpuCompile(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace, tessera_error_t *error) {
  const tessera_driver_t *driver = tessera_driver_find(run->target->name, error);
  GpuRun *gpu = run->gpu = calloc(1, sizeof *gpu);
  if (!driver || !gpu)
    return driver && tessera_fail(error, "out of memory");
  tessera_error_t missing;
  gpu->device = tessera_device_open(driver, 0, NULL, &missing);
  if (!gpu->device)
    return tessera_fail(error, "--target=%s: %s", run->target->name, missing.text);
  if (!tileMachineOfDevice(tessera_device_info(gpu->device)->chip, gpu->chip, sizeof gpu->chip, error))
    return false;
  run->chip = gpu->chip;
  if (!runDeviceLower(run, options, error))
    return false;
  tessera_trace_phase(trace, "device code");
  if (hasKernels(run)) {
    const char *form = strcmp(run->target->name, "cuda") == 0 ? "ptx" : "hsaco";
    gpu->image.wantsFigures = options->stats != NULL;
    if (!tileImageCreate(mlirModuleGetOperation(run->session.module), gpu->chip, form, &gpu->image, error))
      return false;
    gpu->images = (tessera_images_t){1, &gpu->image.record};
  }
  tessera_device_give_images(gpu->device, &gpu->images);
  return runDeviceCompileHost(run, options, trace, error);
}

bool runGpuCall(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  tessera_device_t *outer = tessera_device_enter(run->gpu->device);
  bool ok = tessera_calls_run(&run->calls, run->entry, &run->data, options->repeat, error);
  tessera_device_enter(outer);
  return ok;
}

void runGpuWriteStatistics(const Run *run, tessera_json_t *json) {
  tessera_json_begin_object(json, "device_code");
  tessera_json_begin_object(json, run->gpu->chip);
  tileArtifactWriteKernels(&run->gpu->image.artifact, json);
  tessera_json_end(json);
  tessera_json_end(json);
}

void runGpuDestroy(GpuRun *gpu) {
  if (!gpu)
    return;
  tessera_device_close(gpu->device);
  tileImageDestroy(&gpu->image);
  free(gpu);
}
