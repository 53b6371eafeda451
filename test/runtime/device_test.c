// The conformance suite of drivers: device_test NAME runs it on the driver of that name. cuda and rocm meet stand-ins
// (Inputs/standin.c), which run what they are given only when somebody waits.
// A device adds and squares by kernels add and square (x, n, y, n); null runs nothing, so its numbers are not looked
// at.
#include "lib/runtime/tessera.h"
#include "test/check.h"

#include <stdlib.h>

enum { COUNT = 1000 };

static const tessera_driver_t *driver;
static bool computes;

// What the emulator's user would do with a kernel.
static bool emulate(void *user, const tessera_image_t *image, const tessera_device_launch_t *launch,
                    tessera_error_t *out_error) {
  const float *x = *(const float **)launch->params[0];
  float *y = *(float **)launch->params[2];
  int64_t count = *(int64_t *)launch->params[1];
  if (launch->block[0] > 1024)
    return tessera_fail(out_error, "a block of %u threads", launch->block[0]);
  for (int64_t i = 0; i < count; i++)
    y[i] = strcmp(launch->name, "square") == 0 ? x[i] * x[i] : x[i] + x[i];
  ++*(int *)user;
  return true;
}

static int emulated;
static const tessera_emulator_hooks_t hooks = {&emulated, "sm_86", emulate};

static const tessera_image_kernel_t kernels[] = {{"add", 0}, {"square", 65536}, {"absent", 0}};
static const char text[] = ".entry add .entry square", broken[] = ".entry add broken";

// Code for every driver; what does not suit is there, too.
static const tessera_image_t items[] = {
    {"m", "sm_100a", "ptx", broken, sizeof broken - 1, 3, kernels},
    {"m", "sm_80", "ptx", text, sizeof text - 1, 3, kernels},
    {"m", "sm_70", "ptx", broken, sizeof broken - 1, 3, kernels},
    {"m", "gfx90a", "hsaco", broken, sizeof broken - 1, 3, kernels},
    {"m", "gfx942", "hsaco", text, sizeof text - 1, 3, kernels},
    {"m", "sm_86", "emulator", NULL, 0, 3, kernels},
    {"bad", "sm_80", "ptx", broken, sizeof broken - 1, 1, kernels},
    {"bad", "gfx942", "hsaco", broken, sizeof broken - 1, 1, kernels},
    {"none", "sm_100a", "ptx", text, sizeof text - 1, 1, kernels},
};
static const tessera_images_t images = {sizeof items / sizeof *items, items};

static const void *context(void) { return driver == &tessera_emulator_driver ? &hooks : NULL; }

//===--- launching by name ----------------------------------------------------------===//

typedef struct call_t {
  const char *module, *kernel;
  int64_t grid, block;
  float *x, *y;
} call_t;

static void launch(void **args) {
  const call_t *call = args[0];
  int64_t sizes[7] = {call->grid, 1, 1, call->block, 1, 1, 0}, count = COUNT;
  float *x = call->x, *y = call->y;
  tessera_launch_device(&images, call->module, call->kernel, sizes, (void *[]){&x, &count, &y, &count}, 4);
}

static bool try_launch(const call_t *call, tessera_error_t *out_error) {
  return tessera_call(launch, (void *[]){(void *)(uintptr_t)call}, out_error);
}

static void check_values(const float *y, float factor, const char *what) {
  int wrong = 0;
  for (int i = 0; i < COUNT; i++)
    wrong += !(y[i] == factor);
  CHECK(!computes || !wrong, "%s: %d of %d are wrong", what, wrong, COUNT);
}

static void fill(float *x, float value) {
  for (int i = 0; i < COUNT; i++)
    x[i] = value;
}

// Two kernels in a row see each other's results, the host after its wait; a launch is counted once.
static void test_order(tessera_device_t *device, float *x, float *y) {
  tessera_error_t error = {""};
  int64_t before = tessera_launch_count();
  fill(x, 3);
  CHECK(try_launch(&(call_t){"m", "add", 4, 128, x, y}, &error), "%s", error.text);
  CHECK(try_launch(&(call_t){"m", "square", 4, 128, y, x}, &error), "%s", error.text);
  tessera_device_synchronize();
  check_values(x, 36, "add, then square");
  CHECK(tessera_launch_count() == before + 2);
  fill(x, 5);
  CHECK(try_launch(&(call_t){"m", "add", 0, 128, x, x}, &error), "an empty grid: %s", error.text);
  CHECK(tessera_device_wait(device, &error), "%s", error.text);
  check_values(x, 5, "an empty grid");
}

static void check_fails(const call_t *call, const char *part) {
  tessera_error_t error = {"nothing failed"};
  CHECK(!try_launch(call, &error), "%s", part);
  CHECK_CONTAINS(error.text, part);
}

static void test_failures(float *x) {
  check_fails(&(call_t){"m", "other", 1, 1, x, x}, "kernel 'other': no code for ");
  check_fails(&(call_t){"m", "add", 1, 0, x, x}, "a block of no threads");
  check_fails(&(call_t){"m", "add", (int64_t)1 << 31, 1, x, x}, "2147483648 programs along x");
  if (!computes)
    return;
  check_fails(&(call_t){"none", "add", 1, 1, x, x}, "the program has ptx for sm_100a");
  check_fails(&(call_t){"m", "add", 1, 2048, x, x},
              driver == &tessera_emulator_driver ? "a block of 2048" : "launching kernel 'add': invalid argument (1)");
  if (driver == &tessera_emulator_driver)
    return;
  check_fails(&(call_t){"m", "absent", 1, 1, x, x}, "looking for kernel 'absent': named symbol not found (500)");
  check_fails(&(call_t){"bad", "add", 1, 1, x, x}, "device kernel image is invalid (200)");
  if (driver == &tessera_cuda_driver)
    check_fails(&(call_t){"bad", "add", 1, 1, x, x}, "loading the ptx of 'bad': ptxas application ptx input, line 1");
}

//===--- the table by itself ----------------------------------------------------------===//

static void test_memory(tessera_device_t *device, float *x, float *y) {
  static float constant[COUNT];
  tessera_error_t error;
  fill(constant, 7);
  float *copy = tessera_device_constant(constant, sizeof constant);
  CHECK(copy && copy != constant);
  CHECK(copy == tessera_device_constant(constant, sizeof constant), "a constant is copied once");
  CHECK(try_launch(&(call_t){"m", "add", 4, 128, copy, y}, &error));
  CHECK(tessera_device_wait(device, NULL));
  check_values(y, 14, "a constant");
}

static void test_table(void) {
  tessera_error_t error = {""};
  tessera_device_info_t info;
  void *device = NULL, *stream = NULL, *other = NULL, *begin = NULL, *end = NULL, *module = NULL, *kernel = NULL;
  void *memory[2] = {NULL, NULL};
  double milliseconds = -1;
  CHECK(driver->open(0, context(), &device, &info, &error), "%s", error.text);
  CHECK(info.chip[0] && info.name[0]);
  CHECK(driver->stream_create(device, &stream, &error) && driver->stream_create(device, &other, &error));
  CHECK(stream != other);
  CHECK(driver->event_create(device, &begin, &error) && driver->event_create(device, &end, &error));
  CHECK(driver->allocate(device, COUNT * sizeof(float), &memory[0], &error));
  CHECK(driver->allocate(device, 0, &memory[1], &error) && driver->release(device, memory[1], &error));
  CHECK(driver->allocate(device, COUNT * sizeof(float), &memory[1], &error));
  CHECK((uintptr_t)memory[0] % 256 == 0);
  fill(memory[0], 2);
  CHECK(!driver->event_elapsed(device, begin, end, &milliseconds, &error), "events that were not recorded");
  CHECK(driver->event_record(device, begin, stream, &error));
  CHECK(driver->copy(device, memory[1], memory[0], COUNT * sizeof(float), stream, &error));
  CHECK(driver->event_record(device, end, stream, &error));
  CHECK(driver->event_elapsed(device, begin, end, &milliseconds, &error) && milliseconds >= 0, "%s", error.text);
  CHECK(((float *)memory[1])[COUNT - 1] == 2);
  const tessera_image_t *best = &items[driver == &tessera_rocm_driver ? 4 : driver == &tessera_emulator_driver ? 5 : 1];
  CHECK(driver->suits(device, best) > 0);
  CHECK(driver == &tessera_null_driver || !driver->suits(device, &items[0]));
  CHECK(driver->module_load(device, best, &module, &error), "%s", error.text);
  CHECK(driver->kernel_find(device, module, &kernels[1], &kernel, &error), "%s", error.text);
  int64_t count = COUNT;
  tessera_device_launch_t launch = {.name = "square",
                                    .grid = {8, 1, 1},
                                    .block = {128, 1, 1},
                                    .shared_bytes = 65536,
                                    .cooperative = true,
                                    .params = (void *[]){&memory[0], &count, &memory[1], &count},
                                    .num_params = 4};
  CHECK(driver->launch(device, kernel, &launch, stream, &error), "%s", error.text);
  CHECK(driver->stream_synchronize(device, stream, &error));
  check_values(memory[1], 4, "a cooperative launch");
  CHECK(driver->module_unload(device, module, &error));
  for (int i = 0; i < 2; i++)
    CHECK(driver->release(device, memory[i], &error));
  CHECK(driver->event_destroy(device, begin, &error) && driver->event_destroy(device, end, &error));
  CHECK(driver->stream_destroy(device, stream, &error) && driver->stream_destroy(device, other, &error));
  driver->close(device);
  CHECK(!driver->open(17, context(), &device, &info, &error));
  CHECK_CONTAINS(error.text, "there is no device 17");
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
  CHECK(try_launch(&(call_t){"m", "add", 12, 128, x, y}, &error), "%s", error.text);
  tessera_observe(NULL);
  CHECK(spans == 1);
}

static void test_without_device(float *x) {
  check_fails(&(call_t){"m", "add", 1, 1, x, x}, "this thread has entered no device");
  tessera_device_synchronize();
}

int main(int argc, char **argv) {
  tessera_error_t error;
  driver = tessera_driver_find(argc > 1 ? argv[1] : "null", &error);
  CHECK(!tessera_driver_find("opencl", &error));
  CHECK_CONTAINS(error.text, "cuda, rocm, emulator, null");
  computes = driver != &tessera_null_driver;
  tessera_device_t *device = driver ? tessera_device_open(driver, 0, context(), &error) : NULL;
  if (!device) {
    printf("%s\n", error.text);
    return 1;
  }
  tessera_device_t *outer = tessera_device_enter(device);
  tessera_arena_t *arena = tessera_device_arena(device), *before = tessera_arena_enter(arena);
  float *x = _mlir_memref_to_llvm_alloc(COUNT * sizeof *x), *y = _mlir_memref_to_llvm_alloc(COUNT * sizeof *y);
  test_order(device, x, y);
  test_memory(device, x, y);
  test_observed(x, y);
  test_failures(x);
  tessera_device_enter(outer);
  test_without_device(x);
  tessera_release(x);
  tessera_release(y);
  tessera_arena_enter(before);
  tessera_arena_destroy(arena);
  tessera_device_close(device);
  test_table();
  CHECK(driver != &tessera_emulator_driver || emulated >= 4);
  return checkResult(40);
}
