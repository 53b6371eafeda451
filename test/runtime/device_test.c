// The conformance suite of drivers: device_test NAME PROGRAM runs it on the driver of that name with the kernels of a
// program (Inputs/device.mlir by tile-translate). cuda and rocm meet stand-ins (standin/standin.c), the emulator runs
// the same twins of the code; null runs nothing, so its numbers are not looked at. With --failures, every function of
// the vendor's library fails once, and comes back as a sentence.
#include "lib/runtime/drivers/vendor.h"
#include "lib/runtime/manifest.h"
#include "lib/runtime/tessera.h"
#include "test/check.h"
#include "test/runtime/standin/twin.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { COUNT = 1000, MOST_IMAGES = 32 };

static const tessera_driver_t *driver;
static bool computes;
static int64_t threads = 128; // of a block: four warps of the device's

//===--- code -------------------------------------------------------------------------===//

static int emulated;
static bool has_cubins;
static twin_t *twins[MOST_IMAGES];
static tessera_image_t items[MOST_IMAGES];
static tessera_images_t images = {0, items};
static const tessera_image_kernel_t others[] = {{"add", 0, 0}, {"absent", 0, 0}};

// What the emulator's user does with a kernel: runs the twin of the image's data.
static bool emulate(void *user, const tessera_image_t *image, const tessera_device_launch_t *launch,
                    tessera_error_t *out_error) {
  twin_t **twin = &twins[image - items];
  if (!*twin && !(*twin = twin_open(image->data, out_error)))
    return false;
  const TileEmulatorKernel *kernel = twin_kernel(*twin, launch->name);
  TileEmulatorLaunch one = {.kernel = launch->name, .params = launch->params, .cooperative = launch->cooperative};
  tessera_emulator_buffer_t buffers[8];
  memcpy(one.grid, launch->grid, sizeof one.grid);
  memcpy(one.block, launch->block, sizeof one.block);
  for (int64_t i = 0; kernel && i < kernel->parameterCount; i += 2)
    buffers[one.bufferCount++] = (tessera_emulator_buffer_t){.base = *(void **)launch->params[i],
                                                             .bytes = 4 * (size_t)*(int64_t *)launch->params[i + 1]};
  one.buffers = buffers;
  ++*(int *)user;
  return twin_run(*twin, &one, out_error);
}

static const tessera_emulator_hooks_t hooks = {
    .user = &emulated, .chip = "sm_80", .unwritten = 0x7fa5c3b1, .launch = emulate};

static const void *context(void) { return driver == &tessera_emulator_driver ? &hooks : NULL; }

static tessera_image_t *add_image(const tessera_image_t *like, const char *module, const char *chip) {
  tessera_image_t *image = &items[images.count++];
  *image = *like;
  image->module = module;
  image->chip = chip;
  return image;
}

// A copy of the code that nobody made so.
static void *damage(const tessera_image_t *image) {
  char *copy = malloc((size_t)image->size + 1);
  memcpy(copy, image->data, (size_t)image->size + 1);
  copy[image->size / 2] ^= 1;
  return copy;
}

// The program's images, those that a driver must not take before them, and code that is broken or lacks a kernel.
static bool fill_images(const char *path) {
  void *program = dlopen(path, RTLD_NOW);
  const tessera_manifest_t *manifest = program ? dlsym(program, "tessera_manifest") : NULL;
  if (!manifest || !manifest->images)
    return printf("%s: is not a program with device code: %s\n", path, program ? "" : dlerror()), false;
  for (int64_t i = 0; i < manifest->images->count; ++i) {
    const tessera_image_t *image = &manifest->images->items[i];
    bool is_amd = strncmp(image->chip, "gfx", 3) == 0;
    void *broken = damage(image);
    add_image(image, "kernels", is_amd ? "gfx90a" : "sm_100a")->data = broken;
    if (!is_amd)
      add_image(image, "kernels", "sm_70")->data = broken;
    add_image(image, "kernels", image->chip);
    if (strcmp(image->form, "cubin") != 0) { // PTX and an HSACO: there is nothing else to fall back to
      add_image(image, "bad", image->chip)->data = broken;
      add_image(image, "older", image->chip);
    } else {
      add_image(image, "older", image->chip)->data = broken;
      has_cubins = true;
    }
    add_image(image, "none", is_amd ? "gfx90a" : "sm_100a");
    tessera_image_t *other = add_image(image, "other", image->chip);
    other->kernels = others;
    other->num_kernels = 2;
    if (strcmp(image->form, "ptx") == 0)
      add_image(image, "kernels", image->chip)->form = "emulator";
  }
  return true;
}

//===--- launching by name ----------------------------------------------------------===//

typedef struct call_t {
  const char *module, *kernel;
  int64_t grid, block; // block 0: what the kernel wants
  float *x, *y, *z;    // z, meet's third array; its counter follows it
} call_t;

static void launch(void **args) {
  const call_t *call = args[0];
  int64_t sizes[7] = {call->grid, 1, 1, call->block ? call->block : threads, 1, 1, 0}, count = COUNT, one = 1;
  float *x = call->x, *y = call->y, *z = call->z, *arrived = z ? z + COUNT : NULL;
  void *params[] = {&x, &count, &y, &count, &z, &count, &arrived, &one};
  tessera_launch_device(&images, call->module, call->kernel, sizes, params, z ? 8 : 4);
}

static bool try_launch(const call_t *call, tessera_error_t *out_error) {
  return tessera_call(launch, (void *[]){(void *)(uintptr_t)call}, out_error);
}

static void check_values(const float *y, float factor, const char *what) {
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i)
    wrong += !(y[i] == factor);
  CHECK(!computes || !wrong, "%s: %d of %d are wrong", what, wrong, COUNT);
}

static void fill(float *x, float value) {
  for (int i = 0; i < COUNT; ++i)
    x[i] = value;
}

// Two kernels in a row see each other's results, the host after its wait; a launch is counted once.
static void test_order(tessera_device_t *device, float *x, float *y) {
  tessera_error_t error = {""};
  int64_t before = tessera_launch_count();
  fill(x, 3);
  CHECK(try_launch(&(call_t){"kernels", "add", 4, 0, x, y}, &error), "%s", error.text);
  CHECK(try_launch(&(call_t){"kernels", "square", 1, 0, y, x}, &error), "%s", error.text);
  tessera_device_synchronize();
  check_values(x, 36, "add, then square");
  CHECK(tessera_launch_count() == before + 2);
  fill(x, 5);
  CHECK(try_launch(&(call_t){"kernels", "add", 0, 0, x, x}, &error), "an empty grid: %s", error.text);
  CHECK(tessera_device_wait(device, &error), "%s", error.text);
  check_values(x, 5, "an empty grid");
}

// The kernel's programs wait for each other: a launch that did not have all of them at once would not end.
static void test_cooperative(tessera_device_t *device, float *x, float *y, float *z) {
  tessera_error_t error = {""};
  enum { PROGRAMS = 9 };
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i)
    x[i] = (float)i;
  memset(z + COUNT, 0, sizeof *z);
  CHECK(try_launch(&(call_t){"kernels", "meet", PROGRAMS, 0, x, y, z}, &error), "%s", error.text);
  CHECK(tessera_device_wait(device, &error), "%s", error.text);
  for (int i = 0; i < PROGRAMS; ++i)
    wrong += !(z[i] == (float)((i + 1) % PROGRAMS));
  CHECK(!computes || !wrong, "%d programs saw what was not there yet", wrong);
  if (driver == &tessera_cuda_driver || driver == &tessera_rocm_driver) {
    CHECK(!try_launch(&(call_t){"kernels", "meet", COUNT, 0, x, y, z}, &error));
    CHECK_CONTAINS(error.text, "launching kernel 'meet': too many blocks in cooperative launch (720)");
  }
}

static void check_fails(const call_t *call, const char *part) {
  tessera_error_t error = {"nothing failed"};
  CHECK(!try_launch(call, &error), "%s", part);
  CHECK_CONTAINS(error.text, part);
}

static void test_failures(float *x) {
  check_fails(&(call_t){"kernels", "other", 1, 0, x, x}, "kernel 'other': no code for ");
  check_fails(&(call_t){"kernels", "add", 1, -1, x, x}, "-1 threads along x; expected at least 1");
  check_fails(&(call_t){"kernels", "add", (int64_t)1 << 31, 0, x, x}, "2147483648 programs along x");
  if (!computes)
    return;
  check_fails(&(call_t){"none", "add", 1, 0, x, x}, "no code for");
  check_fails(&(call_t){"kernels", "add", 1, 2048, x, x}, driver == &tessera_emulator_driver
                                                              ? "requires blocks of 128 x 1 x 1"
                                                              : "launching kernel 'add': invalid argument (1)");
  if (driver == &tessera_emulator_driver)
    return;
  check_fails(&(call_t){"other", "absent", 1, 0, x, x}, "looking for kernel 'absent': named symbol not found (500)");
  check_fails(&(call_t){"bad", "add", 1, 0, x, x}, "device kernel image is invalid (200)");
  if (driver == &tessera_cuda_driver) // the compiler of PTX says what is wrong with it
    check_fails(&(call_t){"bad", "add", 1, 0, x, x}, "loading the ptx of 'bad': a stand-in's line 1: ");
}

// A driver that cannot load the cubin takes the PTX; where that fails too, the cubin's error is told.
static void test_older(float *x, float *y) {
  tessera_error_t error = {""};
  fill(x, 9);
  CHECK(try_launch(&(call_t){"older", "add", 4, 0, x, y}, &error), "%s", error.text);
  tessera_device_synchronize();
  check_values(y, 18, "an older driver");
}

// A kernel that goes where it must not: the wait says so, and so does all that follows, until the device is opened
// anew.
static void test_fault(void) {
  tessera_error_t error = {""};
  tessera_device_t *device = tessera_device_open(driver, 0, context(), &error);
  CHECK(device, "%s", error.text);
  tessera_device_t *outer = tessera_device_enter(device);
  float *nowhere = malloc(COUNT * sizeof *nowhere);
  CHECK(try_launch(&(call_t){"kernels", "add", 1, 0, nowhere, nowhere}, &error), "%s", error.text);
  CHECK(!tessera_device_wait(device, &error));
  CHECK_CONTAINS(error.text, "waiting for the device: unspecified launch failure (719)");
  check_fails(&(call_t){"kernels", "add", 1, 0, nowhere, nowhere}, "launching kernel 'add': unspecified launch");
  tessera_device_enter(outer);
  tessera_device_close(device);
  free(nowhere);
}

// Content under two names of programs is loaded once; a device that is opened again loads it again.
static void test_cache(float *x) {
  tessera_error_t error = {""};
  tessera_images_t copy = {images.count, malloc(sizeof items)};
  memcpy((void *)(uintptr_t)copy.items, items, sizeof items);
  setenv("TESSERA_STANDIN_FAIL", driver == &tessera_rocm_driver ? "hipModuleLoadDataEx=2" : "cuModuleLoadDataEx=2", 1);
  tessera_device_t *device = tessera_device_open(driver, 0, context(), &error);
  tessera_device_t *outer = tessera_device_enter(device);
  check_fails(&(call_t){"kernels", "add", 1, 0, x, x}, "of 'kernels': out of memory (2)");
  unsetenv("TESSERA_STANDIN_FAIL");
  CHECK(try_launch(&(call_t){"kernels", "add", 1, 0, x, x}, &error), "%s", error.text);
  setenv("TESSERA_STANDIN_FAIL", driver == &tessera_rocm_driver ? "hipModuleLoadDataEx=2" : "cuModuleLoadDataEx=2", 1);
  tessera_images_t mine = images;
  images = copy;
  CHECK(try_launch(&(call_t){"kernels", "square", 1, 0, x, x}, &error), "loaded a second time: %s", error.text);
  images = mine;
  unsetenv("TESSERA_STANDIN_FAIL");
  CHECK(tessera_device_wait(device, &error), "%s", error.text);
  tessera_device_enter(outer);
  tessera_device_close(device);
  free((void *)(uintptr_t)copy.items);
}

//===--- the table by itself ----------------------------------------------------------===//

static void test_memory(tessera_device_t *device, float *x, float *y) {
  static float constant[COUNT];
  tessera_error_t error;
  fill(constant, 7);
  float *copy = tessera_device_constant(constant, sizeof constant);
  CHECK(copy && copy != constant);
  CHECK(copy == tessera_device_constant(constant, sizeof constant), "a constant is copied once");
  CHECK(try_launch(&(call_t){"kernels", "add", 4, 0, copy, y}, &error));
  CHECK(tessera_device_wait(device, NULL));
  check_values(y, 14, "a constant");
}

// Work of one stream waits for nothing of another's: what the second does is there when it is waited for, though the
// first has not been.
static void test_streams(float *x, float *y) {
  tessera_error_t error = {""};
  void *device = NULL, *streams[2] = {NULL, NULL};
  tessera_device_info_t info;
  CHECK(driver->open(0, context(), &device, &info, &error), "%s", error.text);
  for (int i = 0; i < 2; ++i)
    CHECK(driver->stream_create(device, &streams[i], &error), "%s", error.text);
  fill(x, 8);
  fill(y, 0);
  CHECK(driver->copy(device, y, x, sizeof *x, streams[0], &error), "%s", error.text);
  CHECK(driver->copy(device, y + 1, x + 1, (COUNT - 1) * sizeof *x, streams[1], &error), "%s", error.text);
  CHECK(driver->stream_synchronize(device, streams[1], &error), "%s", error.text);
  CHECK(y[1] == 8 && y[COUNT - 1] == 8);
  CHECK(driver->stream_synchronize(device, streams[0], &error), "%s", error.text);
  check_values(y, 8, "both streams");
  for (int i = 0; i < 2; ++i)
    CHECK(driver->stream_destroy(device, streams[i], &error), "%s", error.text);
  driver->close(device);
}

static const tessera_image_t *best_image(void *device) {
  const tessera_image_t *best = &items[0];
  for (int64_t i = 0; i < images.count; ++i)
    if (strcmp(items[i].module, "kernels") == 0 && driver->suits(device, &items[i]) > driver->suits(device, best))
      best = &items[i];
  return best;
}

// The whole table in order; false, with the error, at the first row that fails. What was made is given back.
static bool use_table(tessera_error_t *error) {
  tessera_device_info_t info;
  void *device = NULL, *stream = NULL, *begin = NULL, *end = NULL, *module = NULL, *kernel = NULL;
  void *memory[2] = {NULL, NULL};
  double milliseconds = -1;
  int64_t count = COUNT;
  if (!driver->open(0, context(), &device, &info, error))
    return false;
  bool ok = driver->stream_create(device, &stream, error) && driver->event_create(device, &begin, error) &&
            driver->event_create(device, &end, error) &&
            driver->allocate(device, COUNT * sizeof(float), &memory[0], error) &&
            driver->allocate(device, COUNT * sizeof(float), &memory[1], error);
  if (ok)
    fill(memory[0], 2);
  ok = ok && driver->event_record(device, begin, stream, error) &&
       driver->copy(device, memory[1], memory[0], COUNT * sizeof(float), stream, error) &&
       driver->event_record(device, end, stream, error) &&
       driver->event_elapsed(device, begin, end, &milliseconds, error) && ((float *)memory[1])[COUNT - 1] == 2;
  const tessera_image_t *best = best_image(device);
  tessera_image_kernel_t square = {"square", 0, 0};
  for (int64_t i = 0; i < best->num_kernels; ++i)
    if (strcmp(best->kernels[i].name, "square") == 0)
      square = best->kernels[i];
  ok = ok && driver->module_load(device, best, &module, error) &&
       driver->kernel_find(device, module, &square, &kernel, error);
  for (int i = 0; i < 2 && ok; ++i) {
    tessera_device_launch_t one = {.name = "square",
                                   .grid = {1, 1, 1},
                                   .block = {(uint32_t)threads, 1, 1},
                                   .shared_bytes = (uint32_t)square.dynamic_shared_bytes,
                                   .cooperative = i == 1,
                                   .params = (void *[]){&memory[0], &count, &memory[1], &count},
                                   .num_params = 4};
    fill(memory[1], 0);
    ok = driver->launch(device, kernel, &one, stream, error) && driver->stream_synchronize(device, stream, error);
    if (ok)
      check_values(memory[1], 4, i ? "a cooperative launch" : "a launch");
  }
  ok = (!module || driver->module_unload(device, module, ok ? error : NULL)) && ok;
  for (int i = 0; i < 2; ++i)
    ok = (!memory[i] || driver->release(device, memory[i], ok ? error : NULL)) && ok;
  ok = (!begin || driver->event_destroy(device, begin, ok ? error : NULL)) && ok;
  ok = (!end || driver->event_destroy(device, end, ok ? error : NULL)) && ok;
  ok = (!stream || driver->stream_destroy(device, stream, ok ? error : NULL)) && ok;
  driver->close(device);
  return ok;
}

static void test_table(void) {
  tessera_error_t error = {""};
  tessera_device_info_t info;
  void *device = NULL, *memory = NULL, *begin = NULL, *end = NULL;
  double milliseconds;
  CHECK(use_table(&error), "%s", error.text);
  CHECK(driver->open(0, context(), &device, &info, &error), "%s", error.text);
  CHECK(info.chip[0] && info.name[0]);
  CHECK(driver->allocate(device, 0, &memory, &error) && (uintptr_t)memory % 256 == 0);
  CHECK(driver->release(device, memory, &error));
  CHECK(driver->event_create(device, &begin, &error) && driver->event_create(device, &end, &error));
  CHECK(!driver->event_elapsed(device, begin, end, &milliseconds, &error), "events that were not recorded");
  CHECK(driver->event_destroy(device, begin, &error) && driver->event_destroy(device, end, &error));
  CHECK(driver == &tessera_null_driver || driver->suits(device, &items[0]) == 0, "of another chip");
  CHECK(driver->suits(device, best_image(device)) > 0);
  driver->close(device);
  CHECK(!driver->open(17, context(), &device, &info, &error));
  CHECK_CONTAINS(error.text, "there is no device 17");
}

//===--- every function fails ---------------------------------------------------------===//

static void allocate_and_launch(void **args) {
  float *x = _mlir_memref_to_llvm_alloc(COUNT * sizeof *x);
  fill(x, 1);
  launch((void *[]){&(call_t){"kernels", "square", 1, 0, x, x}});
  tessera_device_synchronize();
  tessera_release(x);
}

// What a program does with a device, by device.h.
static bool use_device(tessera_error_t *error) {
  tessera_device_t *device = tessera_device_open(driver, 0, context(), error);
  if (!device)
    return false;
  tessera_device_t *outer = tessera_device_enter(device);
  tessera_arena_t *arena = tessera_device_arena(device), *before = tessera_arena_enter(arena);
  bool ok = tessera_call(allocate_and_launch, NULL, error);
  tessera_arena_enter(before);
  tessera_arena_destroy(arena);
  tessera_device_enter(outer);
  tessera_device_close(device);
  return ok;
}

// One function fails: something above says so in the library's words; without the failure all is well again.
static void test_failing(const char *function, bool is_seen_by_programs, bool is_seen) {
  tessera_error_t error = {""};
  char wanted[96];
  snprintf(wanted, sizeof wanted, "%s=2", function);
  setenv("TESSERA_STANDIN_FAIL", wanted, 1);
  CHECK(use_table(&error) == !is_seen, "%s: %s", function, error.text);
  CHECK(!is_seen || strstr(error.text, "out of memory (2)"), "%s: %s", function, error.text);
  error.text[0] = 0;
  CHECK(use_device(&error) == !is_seen_by_programs, "%s: %s", function, error.text);
  CHECK(!is_seen_by_programs || strstr(error.text, "(2)") || strstr(error.text, "no more memory"), "%s: %s", function,
        error.text);
  unsetenv("TESSERA_STANDIN_FAIL");
  CHECK(use_table(&error), "after %s: %s", function, error.text);
  CHECK(use_device(&error), "after %s: %s", function, error.text);
}

// Programs see no failure of what is given back, nor of what they do not use.
static void test_all_failing(void) {
  static const struct {
    const char *field, *cuda, *hip;
  } rows[] = {
#define X(field, cuda, hip, parameters) {#field, cuda, hip},
      TESSERA_VENDOR_FUNCTIONS(X)
#undef X
#define X(field, name, parameters) {#field, name, NULL},
          TESSERA_CUDA_FUNCTIONS(X)
#undef X
              {"describe", NULL, "hipGetDevicePropertiesR0600"},
      {"device_set", NULL, "hipSetDevice"}};
  static const char unseen[] = " release module_unload event_destroy stream_destroy context_release copy event_record "
                               "event_synchronize event_elapsed launch_cooperative ";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const char *function = driver == &tessera_cuda_driver ? rows[i].cuda : rows[i].hip;
    char field[64];
    snprintf(field, sizeof field, " %s ", rows[i].field);
    if (function && strcmp(rows[i].field, "error_text") != 0)
      test_failing(function, !strstr(unseen, field), strcmp(rows[i].field, "context_release") != 0);
  }
}

//===--- being watched ------------------------------------------------------------------===//

static void take(void *context, const tessera_span_t *span) {
  CHECK(span->is_launch && span->programs == 12 && strcmp(span->kernel, "add") == 0 && span->begin <= span->end);
  ++*(int *)context;
}

static void test_observed(float *x, float *y) {
  tessera_error_t error;
  int spans = 0;
  tessera_observer_t observer = {&spans, take};
  tessera_observe(&observer);
  CHECK(try_launch(&(call_t){"kernels", "add", 12, 0, x, y}, &error), "%s", error.text);
  tessera_observe(NULL);
  CHECK(spans == 1);
}

static void test_without_device(float *x) {
  check_fails(&(call_t){"kernels", "add", 1, 0, x, x}, "this thread has entered no device");
  tessera_device_synchronize();
}

// The emulator's memory is marked whenever it is given out, also when it was used before. Words that hold an end of the
// data are not: the last one, and the one 64 bytes ahead of it, since MLIR asks for 64 bytes more than a buffer needs.
static void test_unwritten(void) {
  for (int use = 0; use < 2; ++use) {
    unsigned char *memory = _mlir_memref_to_llvm_alloc(4098);
    uint32_t word;
    for (int i = 0; i < 4096; i += 4)
      CHECK(memcpy(&word, memory + i, 4) && word == (i == 4032 ? 0 : hooks.unwritten), "word at %d, use %d", i, use);
    CHECK(memory[4096] == 0 && memory[4097] == 0);
    memset(memory, 0, 4098);
    tessera_release(memory);
  }
}

static void test_on(tessera_device_t *device) {
  tessera_device_t *outer = tessera_device_enter(device);
  tessera_arena_t *arena = tessera_device_arena(device), *before = tessera_arena_enter(arena);
  float *x = _mlir_memref_to_llvm_alloc(COUNT * sizeof *x), *y = _mlir_memref_to_llvm_alloc(COUNT * sizeof *y);
  float *z = _mlir_memref_to_llvm_alloc((COUNT + 1) * sizeof *z);
  if (driver == &tessera_emulator_driver)
    test_unwritten();
  test_order(device, x, y);
  test_memory(device, x, y);
  test_cooperative(device, x, y, z);
  test_observed(x, y);
  test_failures(x);
  test_streams(x, y);
  if (driver != &tessera_emulator_driver)
    test_older(x, y);
  if (driver == &tessera_cuda_driver || driver == &tessera_rocm_driver)
    test_cache(x);
  tessera_device_enter(outer);
  test_without_device(x);
  tessera_release(x);
  tessera_release(y);
  tessera_release(z);
  tessera_arena_enter(before);
  tessera_arena_destroy(arena);
}

int main(int argc, char **argv) {
  tessera_error_t error;
  driver = tessera_driver_find(argc > 1 ? argv[1] : "null", &error);
  CHECK(!tessera_driver_find("opencl", &error));
  CHECK_CONTAINS(error.text, "cuda, rocm, emulator, null");
  if (argc < 3 || !fill_images(argv[2]))
    return 1;
  computes = driver != &tessera_null_driver;
  if (driver == &tessera_rocm_driver)
    threads = 256;
  tessera_device_t *device = driver ? tessera_device_open(driver, 0, context(), &error) : NULL;
  if (!device) {
    printf("%s\n", error.text);
    return 1;
  }
  if (argc > 3) {
    tessera_device_close(device);
    test_all_failing();
    return checkResult(100);
  }
  test_on(device);
  tessera_device_close(device);
  test_table();
  if (driver == &tessera_cuda_driver || driver == &tessera_rocm_driver)
    test_fault();
  CHECK(driver != &tessera_emulator_driver || emulated >= 6);
  printf("%s", has_cubins ? "with cubins\n" : "");
  for (int i = 0; i < MOST_IMAGES; ++i)
    twin_close(twins[i]);
  return checkResult(50);
}
