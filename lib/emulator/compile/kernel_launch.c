// Runs kernels of a compiled program and says what was found where. See emulator.h.
#include "lib/emulator/compile/program.h"

#include <stdlib.h>

// The caller's buffers and the program's own globals.
static tessera_emulator_buffer_t *allBuffers(const TileEmulatorProgram *program, const TileEmulatorLaunch *launch,
                                             size_t *count) {
  tessera_emulator_buffer_t *buffers = calloc(launch->bufferCount + (size_t)program->globalCount + 1, sizeof *buffers);
  *count = launch->bufferCount;
  if (!buffers)
    return NULL;
  if (launch->bufferCount)
    memcpy(buffers, launch->buffers, launch->bufferCount * sizeof *buffers);
  for (intptr_t i = 0; i < program->globalCount; ++i) {
    const EmulatorGlobal *global = &program->globals[i];
    if (!global->isShared)
      buffers[(*count)++] = (tessera_emulator_buffer_t){
          .base = global->address, .bytes = global->bytes, .name = global->name, .read_only = global->isConstant};
  }
  return buffers;
}

static const char **allSiteNames(const TileEmulatorProgram *program) {
  const char **names = calloc((size_t)program->siteCount, sizeof *names);
  for (intptr_t i = 0; names && i < program->siteCount; ++i)
    names[i] = program->sites[i].name;
  return names;
}

static int byOffset(const void *left, const void *right) {
  const EmulatorGlobal *const *a = left, *const *b = right;
  return (*a)->offset<(*b)->offset ? -1 : (*a)->offset>(*b)->offset;
}

// What lies between the shared arrays of a kernel; what follows the last one belongs to dynamic arrays.
static bool findGaps(const TileEmulatorProgram *program, intptr_t kernel, tessera_emulator_launch_t *run) {
  const EmulatorGlobal **arrays = calloc((size_t)program->globalCount + 1, sizeof *arrays);
  tessera_emulator_gap_t *gaps = calloc((size_t)program->globalCount + 1, sizeof *gaps);
  size_t count = 0;
  uint64_t end = 0;
  for (intptr_t i = 0; arrays && i < program->globalCount; ++i) {
    const EmulatorGlobal *global = &program->globals[i];
    if (global->isShared && (global->onlyKernel < 0 || global->onlyKernel == kernel))
      arrays[count++] = global;
  }
  if (arrays)
    qsort(arrays, count, sizeof *arrays, byOffset);
  for (size_t i = 0; gaps && i < count; ++i) {
    if (arrays[i]->offset > end)
      gaps[run->shared_gap_count++] = (tessera_emulator_gap_t){(uint32_t)end, arrays[i]->offset - (uint32_t)end};
    end = arrays[i]->offset + arrays[i]->bytes > end ? arrays[i]->offset + arrays[i]->bytes : end;
  }
  run->shared_gaps = gaps;
  free(arrays);
  return arrays && gaps;
}

static const TileEmulatorKernel *wantedKernel(const TileEmulatorProgram *program, const char *name,
                                              tessera_error_t *error) {
  if (!name && program->kernelCount == 1)
    return &program->kernels[0];
  const TileEmulatorKernel *kernel = name ? tileEmulatorKernelFind(program, name) : NULL;
  if (!kernel && name)
    tessera_fail(error, "there is no kernel '%s'", name);
  else if (!kernel)
    tessera_fail(error, "the module has %lld kernels: name one", (long long)program->kernelCount);
  return kernel;
}

// What the kernel requires; a launch that says something else is an error, as a driver would have it.
static bool chooseBlock(const TileEmulatorKernel *kernel, const uint32_t asked[3], uint32_t block[3],
                        tessera_error_t *error) {
  for (int d = 0; d < 3; ++d) {
    uint32_t required = kernel->block[d] ? kernel->block[d] : 0;
    block[d] = asked[d] ? asked[d] : required ? required : 1;
    if (required && block[d] != required)
      return tessera_fail(error, "kernel '%s' requires blocks of %u x %u x %u threads", kernel->name, kernel->block[0],
                          kernel->block[1], kernel->block[2]);
  }
  return true;
}

bool tileEmulatorLaunchKernel(TileEmulatorProgram *program, const TileEmulatorLaunch *launch,
                              tessera_emulator_report_t **report, tessera_error_t *error) {
  const TileEmulatorKernel *kernel = wantedKernel(program, launch->kernel, error);
  tessera_emulator_launch_t run = {
      .seed = launch->seed,
      .checks = program->options.checks,
      .count = program->options.count,
      .rates = program->options.predict && program->options.hasRates ? &program->options.rates : NULL,
      .trace = launch->trace,
      .cooperative = launch->cooperative,
      .has_messages = program->hasMessages,
      .threads = launch->threads,
      .params = launch->params};
  if (!kernel || !chooseBlock(kernel, launch->block, run.block, error))
    return false;
  memcpy(run.grid, launch->grid, sizeof run.grid);
  memcpy(run.cluster, kernel->cluster, sizeof run.cluster);
  run.kernel = kernel->entry;
  run.cooperative |= kernel->cooperative;
  run.name = kernel->name;
  run.shared_bytes = kernel->sharedBytes + kernel->addedBytes + launch->dynamicSharedBytes;
  run.shared_added_bytes = kernel->addedBytes;
  tessera_emulator_buffer_t *buffers = allBuffers(program, launch, &run.buffer_count);
  const char **names = allSiteNames(program);
  run.buffers = buffers;
  run.site_names = names;
  run.site_count = (uint32_t)program->siteCount;
  bool ok =
      (findGaps(program, kernel - program->kernels, &run) && buffers && names) || tessera_fail(error, "out of memory");
  ok = ok && tessera_emulator_launch(program->machine, &run, report, error);
  free((void *)run.shared_gaps);
  free(buffers);
  free(names);
  return ok;
}

size_t tileEmulatorDiagnose(const TileEmulatorProgram *program, const tessera_emulator_report_t *report,
                            bool allowsRaces) {
  size_t wrong = (size_t)report->lost_findings;
  for (size_t i = 0; i < report->finding_count; ++i) {
    const tessera_emulator_finding_t *finding = &report->findings[i];
    MlirLocation location = tileEmulatorSiteLocation(program, finding->site);
    bool isAllowed = allowsRaces && finding->kind == TESSERA_EMULATOR_RACE;
    wrong += !isAllowed;
    if (isAllowed)
      tileWarningAt(location, "%s", finding->text);
    else
      tileErrorAt(location, "%s", finding->text); // begins with its kind
  }
  return wrong;
}
