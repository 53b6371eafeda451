// A program on the emulated machine: its gpu.modules compiled for it, its host's part for this one, and the hooks by
// which the runtime's emulator driver runs a kernel and hears what was found. See emulate.h.
#include "lib/execution/emulate.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/emulator/emulator.h"
#include "lib/execution/device.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "lib/runtime/tessera.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/gpu.h"

#include <stdlib.h>

typedef struct KernelRun {
  const TileEmulatorKernel *kernel;
  int64_t launches;
  uint32_t sharedBytes;
  tessera_emulator_counters_t counters;
  double cycles; // predicted
} KernelRun;

// One gpu.module: what runs it, and what the runtime is told of it.
typedef struct Module {
  TileEmulatorProgram *program;
  KernelRun *kernels;
  tessera_image_kernel_t *names;
  char *name;
} Module;

struct Emulation {
  const tessera_run_options_t *options;
  const Run *run;
  TileEmulatorOptions emulator;
  int64_t launchNanoseconds, waitNanoseconds; // of the host, predicted
  Module *modules;
  tessera_image_t *items; // of each module
  intptr_t moduleCount;
  tessera_images_t images;
  tessera_emulator_hooks_t hooks;
  tessera_device_t *device;
  tessera_emulator_report_t *last; // of the last launch
};

//===--- compiling ----------------------------------------------------------------===//

static bool readChip(const Run *run, const tessera_run_options_t *given, Emulation *emulation, tessera_error_t *error) {
  TileEmulatorOptions *options = &emulation->emulator;
  const char *name = run->chip ? run->chip : "";
  MlirAttribute described = tileOpGetMachine(mlirModuleGetOperation(run->session.module));
  tessera_error_t reason;
  TileError unknown;
  TileMachine *machine = tileMachineOfChip(run->session.context, tileString(name), &described, &unknown);
  if (!machine)
    return tessera_fail(error, "--target=emulate:%s: %s", name, unknown.text);
  bool ok = tileEmulatorOptionsFor(machine, options, &reason) ||
            tessera_fail(error, "--target=emulate:%s: %s", name, reason.text);
  options->chipName = name;
  tileMachineGetInteger(machine, "model.launch.ns", &emulation->launchNanoseconds);
  tileMachineGetInteger(machine, "model.wait.ns", &emulation->waitNanoseconds);
  tileMachineDestroy(machine);
  if (!ok)
    return false;
  options->predict = given->predict;
  return !given->predict || options->hasRates ||
         tessera_fail(error, "--predict: the description of %s lacks clock, bandwidths or rates", name);
}

// Its kernels by name, for the runtime.
static bool describeModule(Emulation *emulation, MlirOperation op, Module *module, tessera_error_t *error) {
  intptr_t count = tileEmulatorKernelCount(module->program);
  MlirStringRef name = mlirStringAttrGetValue(tileOpAttribute(op, "sym_name"));
  module->name = strndup(name.data, name.length);
  module->kernels = calloc((size_t)count + 1, sizeof *module->kernels);
  module->names = calloc((size_t)count + 1, sizeof *module->names);
  if (!module->name || !module->kernels || !module->names)
    return tessera_fail(error, "out of memory");
  for (intptr_t i = 0; i < count; ++i) {
    module->kernels[i].kernel = tileEmulatorKernelAt(module->program, i);
    module->names[i].name = module->kernels[i].kernel->name;
    module->names[i].cooperative = module->kernels[i].kernel->cooperative;
  }
  emulation->items[emulation->moduleCount] = (tessera_image_t){.module = module->name,
                                                               .chip = emulation->run->chip,
                                                               .form = "emulator",
                                                               .num_kernels = count,
                                                               .kernels = module->names};
  return true;
}

static bool compileModules(Emulation *emulation, MlirOperation root, const TileEmulatorOptions *options,
                           tessera_error_t *error) {
  TileOps modules = tileCollectOps(root, gpuGPUModuleOpIsA);
  emulation->modules = calloc((size_t)modules.count + 1, sizeof *emulation->modules);
  emulation->items = calloc((size_t)modules.count + 1, sizeof *emulation->items);
  bool ok = (emulation->modules && emulation->items) || tessera_fail(error, "out of memory");
  for (intptr_t i = 0; i < modules.count && ok; ++i) {
    Module *module = &emulation->modules[i];
    module->program = tileEmulatorCompile(modules.items[i], options, error);
    ok = module->program && describeModule(emulation, modules.items[i], module, error);
    emulation->moduleCount = i + 1;
  }
  emulation->images = (tessera_images_t){emulation->moduleCount, emulation->items};
  tileOpsFree(&modules);
  return ok;
}

static bool launchKernel(void *user, const tessera_image_t *image, const tessera_device_launch_t *launch,
                         tessera_error_t *error);

bool runEmulatorCompile(Run *run, const tessera_run_options_t *options, tessera_trace_t *trace,
                        tessera_error_t *error) {
  Emulation *emulation = run->emulation = calloc(1, sizeof *run->emulation);
  if (!emulation)
    return tessera_fail(error, "out of memory");
  *emulation = (Emulation){
      .options = options, .run = run, .hooks = {emulation, run->chip, TESSERA_EMULATOR_UNWRITTEN, launchKernel}};
  if (!readChip(run, options, emulation, error) || !runDeviceLower(run, options, error))
    return false;
  tessera_trace_phase(trace, "translation and optimization");
  if (!compileModules(emulation, mlirModuleGetOperation(run->session.module), &emulation->emulator, error) ||
      !runDeviceCompileHost(run, options, trace, error))
    return false;
  emulation->device = tessera_device_open(&tessera_emulator_driver, 0, &emulation->hooks, error);
  if (emulation->device)
    tessera_device_give_images(emulation->device, &emulation->images);
  return emulation->device != NULL;
}

static void forgetReport(Emulation *emulation) {
  if (emulation->last)
    tessera_emulator_report_destroy(emulation->last);
  emulation->last = NULL;
}

void runEmulatorForgetCall(Emulation *emulation) {
  for (intptr_t m = 0; emulation && m < emulation->moduleCount; ++m)
    for (int64_t i = 0; i < emulation->items[m].num_kernels; ++i) {
      KernelRun *kernel = &emulation->modules[m].kernels[i];
      *kernel = (KernelRun){.kernel = kernel->kernel};
    }
}

void runEmulatorDestroy(Emulation *emulation) {
  if (!emulation)
    return;
  tessera_device_close(emulation->device);
  forgetReport(emulation);
  for (intptr_t i = 0; i < emulation->moduleCount; ++i) {
    tileEmulatorDestroy(emulation->modules[i].program);
    free(emulation->modules[i].kernels);
    free(emulation->modules[i].names);
    free(emulation->modules[i].name);
  }
  free(emulation->modules);
  free(emulation->items);
  free(emulation);
}

bool runEmulatorCall(Run *run, const tessera_run_options_t *options, tessera_error_t *error) {
  tessera_device_t *outer = tessera_device_enter(run->emulation->device);
  bool ok = tessera_calls_run(&run->calls, run->entry, &run->data, options->repeat, error);
  tessera_device_enter(outer);
  return ok;
}

//===--- memory -----------------------------------------------------------------------===//

typedef struct Buffers {
  const Run *run;
  tessera_emulator_buffer_t *items; // null while they are counted
  size_t count;
  char (*names)[32];
} Buffers;

// False for what the program has allocated itself.
static bool nameArgument(const Buffers *buffers, const void *memory, char name[32]) {
  snprintf(name, 32, "allocation");
  for (int i = 0; i < buffers->run->signature.num_arguments; ++i)
    if (buffers->run->signature.arguments[i].in_memory && buffers->run->data.arguments[i].data == memory) {
      snprintf(name, 32, "argument %d", i);
      return true;
    }
  return false;
}

static void takeBuffer(void *context, void *memory, size_t bytes) {
  Buffers *buffers = context;
  if (buffers->items) {
    bool isArgument = nameArgument(buffers, memory, buffers->names[buffers->count]);
    buffers->items[buffers->count] = (tessera_emulator_buffer_t){
        .base = memory, .bytes = bytes, .name = buffers->names[buffers->count], .marked = !isArgument};
  }
  ++buffers->count;
}

// What the program has in use now: whatever else a kernel touches is out of bounds.
static bool listBuffers(Emulation *emulation, Buffers *buffers, tessera_error_t *error) {
  *buffers = (Buffers){.run = emulation->run};
  tessera_device_for_each_memory(emulation->device, takeBuffer, buffers);
  buffers->items = calloc(buffers->count + 1, sizeof *buffers->items);
  buffers->names = calloc(buffers->count + 1, sizeof *buffers->names);
  buffers->count = 0;
  if (!buffers->items || !buffers->names)
    return tessera_fail(error, "out of memory");
  tessera_device_for_each_memory(emulation->device, takeBuffer, buffers);
  return true;
}

//===--- counters -----------------------------------------------------------------===//

static void add(tessera_emulator_counters_t *sum, const tessera_emulator_counters_t *more) {
  uint64_t *to = (uint64_t *)sum;
  const uint64_t *from = (const uint64_t *)more; // a struct of uint64_t only
  for (size_t i = 0; i < sizeof *sum / sizeof *to; ++i)
    to[i] += from[i];
}

static void writeCounters(const tessera_emulator_counters_t *counters, tessera_json_t *json) {
  uint64_t instructions = counters->global_loads + counters->global_stores + counters->shared_loads +
                          counters->shared_stores + counters->mma_instructions;
  for (int i = 0; i < TESSERA_EMU_CLASSES; ++i)
    instructions += counters->instructions[i];
  const struct {
    const char *key;
    uint64_t value;
  } rows[] = {{"global_bytes_read", counters->global_bytes_read},
              {"global_bytes_written", counters->global_bytes_written},
              {"global_transactions", counters->global_transactions},
              {"global_loads", counters->global_loads},
              {"global_stores", counters->global_stores},
              {"shared_bytes", counters->shared_bytes_read + counters->shared_bytes_written},
              {"shared_loads", counters->shared_loads},
              {"shared_stores", counters->shared_stores},
              {"shared_bank_conflicts", counters->shared_bank_conflicts},
              {"async_copies", counters->async_copies},
              {"async_bytes", counters->async_bytes},
              {"atomics", counters->atomics},
              {"barriers", counters->barriers},
              {"collectives", counters->collectives},
              {"mma_instructions", counters->mma_instructions},
              {"mma_flops", counters->mma_flops},
              {"flops", counters->flops},
              {"instructions", instructions},
              {"threads", counters->threads}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    tessera_json_integer(json, rows[i].key, (int64_t)rows[i].value);
}

static void writePrediction(const Emulation *emulation, double cycles, uint64_t inWaves, tessera_json_t *json) {
  if (!emulation->emulator.predict)
    return;
  tessera_json_integer(json, "wave_transactions", (int64_t)inWaves);
  tessera_json_number(json, "predicted_cycles", cycles);
  tessera_json_number(json, "predicted_ms", cycles / emulation->emulator.rates.hertz * 1e3);
}

// For one call: sums over the repetitions are means of them.
static void writeKernel(const Emulation *emulation, const KernelRun *kernel, int64_t calls, tessera_json_t *json) {
  tessera_emulator_counters_t one = kernel->counters;
  uint64_t *counters = (uint64_t *)&one;
  for (size_t i = 0; i < sizeof one / sizeof *counters; ++i)
    counters[i] /= (uint64_t)calls;
  tessera_json_begin_object(json, kernel->kernel->name);
  tessera_json_integer(json, "launches", kernel->launches / calls);
  tessera_json_integer(json, "programs", (int64_t)one.blocks);
  writeCounters(&one, json);
  tessera_json_integer(json, "shared_memory_bytes", kernel->sharedBytes);
  writePrediction(emulation, kernel->cycles / (double)calls, one.wave_transactions, json);
  tessera_json_end(json);
}

int64_t runEmulatorTransactions(const Run *run) {
  const Emulation *emulation = run->emulation;
  uint64_t sum = 0;
  for (intptr_t m = 0; m < emulation->moduleCount; ++m)
    for (int64_t i = 0; i < emulation->items[m].num_kernels; ++i)
      sum += emulation->modules[m].kernels[i].counters.global_transactions;
  return (int64_t)(sum / (uint64_t)(run->calls.count > 0 ? run->calls.count : 1));
}

void runEmulatorWriteStatistics(const Run *run, tessera_json_t *json) {
  const Emulation *emulation = run->emulation;
  int64_t calls = run->calls.count > 0 ? run->calls.count : 1;
  tessera_emulator_counters_t sum = {.threads = 0};
  uint32_t shared = 0;
  double cycles = 0;
  for (intptr_t m = 0; m < emulation->moduleCount; ++m)
    for (int64_t i = 0; i < emulation->items[m].num_kernels; ++i) {
      const KernelRun *kernel = &emulation->modules[m].kernels[i];
      add(&sum, &kernel->counters);
      cycles += kernel->cycles / (double)calls;
      shared = kernel->sharedBytes > shared ? kernel->sharedBytes : shared;
    }
  for (size_t i = 0; i < sizeof sum / sizeof(uint64_t); ++i)
    ((uint64_t *)&sum)[i] /= (uint64_t)calls;
  writeCounters(&sum, json);
  tessera_json_integer(json, "shared_memory_bytes", shared);
  writePrediction(emulation, cycles, sum.wave_transactions, json);
  if (emulation->emulator.predict) {
    double host = (double)(run->calls.launches * emulation->launchNanoseconds +
                           run->calls.host_waits * emulation->waitNanoseconds);
    tessera_json_number(json, "predicted_program_cycles", cycles + host * 1e-9 * emulation->emulator.rates.hertz);
    tessera_json_string(json, "prediction", "uncalibrated");
  }
  tessera_json_begin_object(json, "kernels");
  for (intptr_t m = 0; m < emulation->moduleCount; ++m)
    for (int64_t i = 0; i < emulation->items[m].num_kernels; ++i)
      if (emulation->modules[m].kernels[i].launches)
        writeKernel(emulation, &emulation->modules[m].kernels[i], calls, json);
  tessera_json_end(json);
}

bool runEmulatorWriteTrace(const Run *run, const char *path, tessera_error_t *error) {
  if (!run->emulation->last)
    return tessera_fail(error, "%s: the program launched no kernel to trace", path);
  return tessera_emulator_trace_write(run->emulation->last, path, error);
}

//===--- one launch -----------------------------------------------------------------===//

static Module *moduleOf(const Emulation *emulation, const tessera_image_t *image) {
  for (intptr_t i = 0; i < emulation->moduleCount; ++i)
    if (strcmp(emulation->modules[i].name, image->module) == 0)
      return &emulation->modules[i];
  return NULL;
}

static KernelRun *kernelOf(Module *module, int64_t count, const char *name) {
  for (int64_t i = 0; i < count; ++i)
    if (strcmp(module->kernels[i].kernel->name, name) == 0)
      return &module->kernels[i];
  return NULL;
}

// A launch has threads, and each of them returns at least: a kernel without one was compiled into nothing.
static bool ranNothing(const tessera_emulator_report_t *report) {
  uint64_t instructions = 0;
  for (int i = 0; i < TESSERA_EMU_CLASSES; ++i)
    instructions += report->counters.instructions[i];
  return instructions == 0;
}

static bool runKernel(Emulation *emulation, Module *module, KernelRun *kernel, const TileEmulatorLaunch *launch,
                      tessera_error_t *error) {
  tessera_emulator_report_t *report;
  if (!tileEmulatorLaunchKernel(module->program, launch, &report, error))
    return false;
  ++kernel->launches;
  kernel->sharedBytes = kernel->kernel->sharedBytes + launch->dynamicSharedBytes;
  add(&kernel->counters, &report->counters);
  kernel->cycles += report->cycles;
  size_t found = tileEmulatorDiagnose(module->program, report, emulation->options->allow_races);
  forgetReport(emulation);
  emulation->last = report;
  if (found)
    return tessera_fail(error, "kernel '%s': %zu finding%s", launch->kernel, found, found == 1 ? "" : "s");
  return !ranNothing(report) || tessera_fail(error, "kernel '%s': the launch executed no instruction", launch->kernel);
}

static bool launchKernel(void *user, const tessera_image_t *image, const tessera_device_launch_t *launch,
                         tessera_error_t *error) {
  Emulation *emulation = user;
  Module *module = moduleOf(emulation, image);
  KernelRun *kernel = module ? kernelOf(module, image->num_kernels, launch->name) : NULL;
  Buffers buffers;
  if (!kernel)
    return tessera_fail(error, "there is no kernel '%s'", launch->name);
  bool ok = listBuffers(emulation, &buffers, error);
  if (ok) {
    TileEmulatorLaunch one = {.kernel = launch->name,
                              .dynamicSharedBytes = launch->shared_bytes,
                              .params = launch->params,
                              .buffers = buffers.items,
                              .bufferCount = buffers.count,
                              .cooperative = launch->cooperative,
                              .trace = emulation->options->trace != NULL,
                              .seed = (uint64_t)emulation->options->seed,
                              .threads = (int)emulation->options->threads};
    memcpy(one.grid, launch->grid, sizeof one.grid);
    memcpy(one.block, launch->block, sizeof one.block);
    ok = runKernel(emulation, module, kernel, &one, error);
  }
  free(buffers.items);
  free(buffers.names);
  return ok;
}
