// A stand-in for libcuda.so.1 and, with -DHIP, for libamdhip64.so, for machines without a GPU: one device, whose
// kernels run on the emulator (twin.h). Strict where vendors' libraries are lenient only by luck: work runs when
// somebody waits and not before, so that a missing wait is seen; a device that faulted refuses all further work; memory
// that was not allocated here is out of bounds.
//
//   TESSERA_TWINS=FOLDER                the twins of the code to load
//   TESSERA_STANDIN_CHIP=sm_80          the device (default sm_86); of HIP's: TESSERA_STANDIN_GFX (default gfx942)
//   TESSERA_STANDIN_DEVICES=N           how many there are (default 1)
//   TESSERA_STANDIN_FAIL=cuInit=2       that function gives that error; cuInit=2@3: its third call does, from when the
//                                       variable was set
#include "lib/runtime/messages.h"
#include "lib/runtime/tensor_map.h"
#include "test/runtime/standin/twin.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef HIP
#define NAME(cuda, hip) hip
#define CHIP_VARIABLE "TESSERA_STANDIN_GFX", "gfx942"
#else
#define NAME(cuda, hip) cuda
#define CHIP_VARIABLE "TESSERA_STANDIN_CHIP", "sm_86"
#endif

enum {
  BAD_VALUE = 1,
  OUT_OF_MEMORY = 2,
  BAD_DEVICE = 101,
  BAD_IMAGE = 200,
  BAD_CONTEXT = 201,
  BAD_HANDLE = 400,
  NOT_FOUND = 500,
  LAUNCH_FAILED = 719,
  TOO_LARGE = 720,
  ERROR_LOG = 5,
  MOST_RESIDENT = 64,
  STATIC_SHARED = 49152
};

static const char *variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}

//===--- errors ---------------------------------------------------------------------===//

static int broken; // what the device faulted with

// The error that the test wants of |function|, or 0.
static int injected(const char *function) {
  static char last[128];
  static int calls;
  const char *asked = variable("TESSERA_STANDIN_FAIL", "");
  size_t length = strlen(function);
  if (strcmp(asked, last) != 0) {
    snprintf(last, sizeof last, "%s", asked);
    calls = 0;
  }
  if (strncmp(asked, function, length) != 0 || asked[length] != '=')
    return 0;
  const char *when = strchr(asked, '@');
  return !when || ++calls == atoi(when + 1) ? atoi(asked + length + 1) : 0;
}

#define ENTER_(name)                                                                                                   \
  do {                                                                                                                 \
    int wanted = injected(#name);                                                                                      \
    if (wanted)                                                                                                        \
      return wanted;                                                                                                   \
  } while (0)
#define ENTER(name) ENTER_(name)

// For functions that release something: they release it, so that nothing leaks, and then report a failure.
static int leave(const char *function, int status) {
  int wanted = injected(function);
  return wanted ? wanted : status;
}
#define LEAVE_(name, status) leave(#name, status)
#define LEAVE(name, status) LEAVE_(name, status)

int NAME(cuGetErrorString, hipDrvGetErrorString)(int error, const char **text) {
  static const struct {
    int error;
    const char *text;
  } texts[] = {{BAD_VALUE, "invalid argument"},
               {OUT_OF_MEMORY, "out of memory"},
               {BAD_DEVICE, "invalid device ordinal"},
               {BAD_IMAGE, "device kernel image is invalid"},
               {BAD_CONTEXT, "invalid device context"},
               {BAD_HANDLE, "invalid resource handle"},
               {NOT_FOUND, "named symbol not found"},
               {LAUNCH_FAILED, "unspecified launch failure"},
               {TOO_LARGE, "too many blocks in cooperative launch"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    if (texts[i].error == error)
      return *text = texts[i].text, 0;
  return BAD_VALUE;
}

//===--- the device -----------------------------------------------------------------===//

// The emulator's code finds the machine by name in the process: whoever opened us may have kept our libraries to
// itself.
__attribute__((constructor)) static void show_emulator(void) {
  Dl_info library;
  if (dladdr((void *)(uintptr_t)tileEmulatorCompile, &library))
    dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static bool initialized;

int NAME(cuInit, hipInit)(unsigned flags) {
  ENTER(NAME(cuInit, hipInit));
  initialized = true;
  return flags ? BAD_VALUE : 0;
}

int NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  ENTER(NAME(cuDeviceGetCount, hipGetDeviceCount));
  *count = atoi(variable("TESSERA_STANDIN_DEVICES", "1"));
  return initialized ? 0 : BAD_VALUE;
}

int NAME(cuDeviceGet, hipDeviceGet)(int *device, int ordinal) {
  ENTER(NAME(cuDeviceGet, hipDeviceGet));
  return *device = ordinal, ordinal ? BAD_DEVICE : 0;
}

int NAME(cuDeviceGetName, hipDeviceGetName)(char *name, int size, int device) {
  ENTER(NAME(cuDeviceGetName, hipDeviceGetName));
  snprintf(name, (size_t)size, "a stand-in");
  return 0;
}

#ifdef HIP
int hipGetDevicePropertiesR0600(void *properties, int device) {
  ENTER(hipGetDevicePropertiesR0600);
  sprintf((char *)properties + 1160, "%s:sramecc+:xnack-", variable(CHIP_VARIABLE));
  return 0;
}
#else
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER(cuDeviceGetAttribute);
  int chip = atoi(variable(CHIP_VARIABLE) + 3);
  *value = attribute == 75 ? chip / 10 : attribute == 76 ? chip % 10 : 0;
  return 0;
}
#endif

static char context;
static int holders;
static _Thread_local void *current;

#ifdef HIP
// HIP counts no holders: what a device faulted with stays until the process ends.
int hipSetDevice(int device) {
  ENTER(hipSetDevice);
  holders = 1;
  return current = &context, device ? BAD_DEVICE : 0;
}

static int ready(void);
static int finish_all(void);

int hipDeviceSynchronize(void) {
  ENTER(hipDeviceSynchronize);
  return ready() ? ready() : finish_all();
}
#else
int cuDevicePrimaryCtxRetain(void **out, int device) {
  ENTER(cuDevicePrimaryCtxRetain);
  ++holders;
  return *out = &context, 0;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  bool held = holders > 0;
  holders -= held;
  if (!holders)
    broken = 0;
  return LEAVE(cuDevicePrimaryCtxRelease_v2, held ? 0 : BAD_CONTEXT);
}

int cuCtxSetCurrent(void *asked) {
  ENTER(cuCtxSetCurrent);
  current = asked;
  return holders && asked == &context ? 0 : BAD_CONTEXT;
}
#endif

// Work needs a context that is current and has not faulted.
static int ready(void) { return current != &context || !holders ? BAD_CONTEXT : broken; }

//===--- memory ---------------------------------------------------------------------===//

typedef struct memory_t {
  struct memory_t *next;
  void *base;
  size_t bytes;
  size_t mapped; // of memory that only the device reaches
} memory_t;

static memory_t *memories;
static size_t memory_count;

int NAME(cuMemAllocManaged, hipMallocManaged)(void **memory, size_t bytes, unsigned flags) {
  ENTER(NAME(cuMemAllocManaged, hipMallocManaged));
  memory_t *one = calloc(1, sizeof *one);
  int status = ready() ? ready() : flags != 1 || !bytes ? BAD_VALUE : 0;
  if (!status && (bytes > (size_t)1 << 40 || posix_memalign(memory, 256, bytes)))
    status = OUT_OF_MEMORY;
  if (status)
    return free(one), status;
  *one = (memory_t){memories, *memory, one->bytes = bytes};
  memories = one;
  ++memory_count;
  return 0;
}

// The device's own memory: the host faults when it touches it, but while the device works.
int NAME(cuMemAlloc_v2, hipMalloc)(void **memory, size_t bytes) {
  ENTER(NAME(cuMemAlloc_v2, hipMalloc));
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (bytes + page - 1) / page * page;
  if (ready() || !bytes)
    return ready() ? ready() : BAD_VALUE;
  void *base = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory_t *one = base == MAP_FAILED ? NULL : malloc(sizeof *one);
  if (!one)
    return OUT_OF_MEMORY;
  *one = (memory_t){memories, base, bytes, mapped};
  memories = one;
  ++memory_count;
  return *memory = base, 0;
}

static void show_device_memory(int protection) {
  for (memory_t *memory = memories; memory; memory = memory->next)
    if (memory->mapped)
      mprotect(memory->base, memory->mapped, protection);
}

#ifndef HIP
static int finish_all(void);
#endif

// Waits for the device, as the vendors' do.
int NAME(cuMemFree_v2, hipFree)(void *memory) {
  int status = finish_all();
  for (memory_t **at = &memories; *at; at = &(*at)->next)
    if ((*at)->base == memory) {
      memory_t *one = *at;
      *at = one->next;
      --memory_count;
      if (one->mapped)
        munmap(memory, one->mapped);
      else
        free(memory);
      free(one);
      return LEAVE(NAME(cuMemFree_v2, hipFree), status);
    }
  return BAD_VALUE;
}

//===--- code -------------------------------------------------------------------------===//

typedef struct kernel_t {
  struct kernel_t *next;
  struct module_t *module;
  const TileEmulatorKernel *twin;
  int dynamic_limit;
} kernel_t;

typedef struct module_t {
  twin_t *twin;
  const void *image;
  kernel_t *kernels;
  void *messages; // the code's @tessera_messages
} module_t;

int NAME(cuModuleLoadDataEx, hipModuleLoadDataEx)(void **out_module, const void *image, unsigned count, int *options,
                                                  void **values) {
  ENTER(NAME(cuModuleLoadDataEx, hipModuleLoadDataEx));
  tessera_error_t error;
  if (ready())
    return ready();
  module_t *module = calloc(1, sizeof *module);
  module->image = image;
  module->twin = twin_open(image, &error);
  if (module->twin)
    return *out_module = module, 0;
  if (count && options[0] == ERROR_LOG)
    snprintf(values[0], (size_t)(uintptr_t)values[1], "a stand-in's line 1: %s", error.text);
  return free(module), BAD_IMAGE;
}

int NAME(cuModuleUnload, hipModuleUnload)(void *handle) {
  module_t *module = handle;
  finish_all();
  for (kernel_t *kernel = module->kernels, *next; kernel; kernel = next) {
    next = kernel->next;
    free(kernel);
  }
  twin_close(module->twin);
  free(module);
  return LEAVE(NAME(cuModuleUnload, hipModuleUnload), 0);
}

#ifdef HIP
int hipModuleGetGlobal(void **address, size_t *bytes, void *handle, const char *name) {
  ENTER(hipModuleGetGlobal);
  module_t *module = handle;
  if (strcmp(name, "tessera_messages") != 0 ||
      !memmem(module->image, twin_extent(module->image), name, strlen(name) + 1))
    return NOT_FOUND;
  return *address = &module->messages, *bytes = sizeof module->messages, 0;
}
#endif

// What makes a kernel in code of each form: the code itself must have it, not only its twin.
static bool has_entry(const void *image, const char *name) {
  static const char *const forms[] = {".entry %s(", ".text.%s", "%s.kd"};
  bool is_elf = memcmp(image, ELFMAG, SELFMAG) == 0;
  char entry[256];
  snprintf(entry, sizeof entry, forms[is_elf + NAME(0, 1)], name);
  return memmem(image, twin_extent(image), entry, strlen(entry)) != NULL;
}

int NAME(cuModuleGetFunction, hipModuleGetFunction)(void **out_kernel, void *handle, const char *name) {
  ENTER(NAME(cuModuleGetFunction, hipModuleGetFunction));
  module_t *module = handle;
  const TileEmulatorKernel *twin = twin_kernel(module->twin, name);
  if (!twin || !has_entry(module->image, name))
    return NOT_FOUND;
  kernel_t *kernel = calloc(1, sizeof *kernel);
  *kernel = (kernel_t){module->kernels, module, twin, STATIC_SHARED};
  module->kernels = kernel;
  return *out_kernel = kernel, ready();
}

// NVIDIA's kernels declare no more than 48 KiB; what has more gets all of it at the launch.
static uint32_t declared_bytes(const kernel_t *kernel) {
  uint32_t bytes = kernel->twin->sharedBytes;
  return NAME(bytes > STATIC_SHARED ? 0 : bytes, bytes);
}

#ifndef HIP
// The map is its description, as the emulator takes it.
int cuTensorMapEncodeTiled(void *out, int element, uint32_t rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                           int swizzle, int promotion, int fill) {
  ENTER(cuTensorMapEncodeTiled);
  tessera_tensor_map_t map = {.address = (uint64_t)(uintptr_t)address, .rank = (uint8_t)rank};
  map.element = (uint8_t)element;
  map.swizzle = (uint8_t)(swizzle ? 16 << swizzle : 0);
  map.fill = (uint8_t)fill;
  for (uint32_t i = 0; i < rank && i < TESSERA_MAP_RANK; ++i) {
    map.sizes[i] = sizes[i];
    map.box[i] = box[i];
    if (i)
      map.strides[i - 1] = strides[i - 1];
    if (steps[i] != 1)
      return BAD_VALUE;
  }
  if (ready())
    return ready();
  if (interleave || (uintptr_t)out % 64 || !tessera_tensor_map_check(&map, NULL))
    return BAD_VALUE;
  memset(out, 0, TESSERA_MAP_BYTES);
  memcpy(out, &map, sizeof map);
  return 0;
}

int cuFuncSetAttribute(void *handle, int attribute, int value) {
  ENTER(cuFuncSetAttribute);
  kernel_t *kernel = handle;
  if (attribute != 8 || value < 0 || declared_bytes(kernel) + (uint32_t)value > twin_shared_limit(kernel->module->twin))
    return BAD_VALUE;
  kernel->dynamic_limit = value;
  return 0;
}
#endif

//===--- work -------------------------------------------------------------------------===//

enum { COPY, EVENT, LAUNCH };

typedef struct work_t {
  struct work_t *next;
  int kind;
  void *to;
  const void *from;
  size_t bytes;
  kernel_t *kernel;
  TileEmulatorLaunch launch; // its parameters are copies
} work_t;

typedef struct stream_t {
  struct stream_t *next;
  work_t *first, **last;
} stream_t;

typedef struct event_t {
  stream_t *stream;
  double milliseconds;
} event_t;

static stream_t *streams;

// NULL is the default stream.
static stream_t *stream_of(void *handle) {
  static stream_t own = {NULL, NULL, &own.first};
  return handle ? handle : &own;
}

static work_t *enqueue(void *handle, int kind) {
  stream_t *stream = stream_of(handle);
  work_t *work = calloc(1, sizeof *work);
  work->kind = kind;
  *stream->last = work;
  stream->last = &work->next;
  return work;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

// What the device functions of AMD's code would do (lib/target/rocdl/messages.ll).
static void add_message(void *buffer, uint32_t kind, const char *text) {
  tessera_messages_t *head = buffer;
  uint32_t length = (uint32_t)strlen(text) + 1;
  uint64_t bytes = sizeof(tessera_message_t) + (length + 7) / 8 * 8;
  tessera_message_t *message = (void *)((char *)buffer + head->used);
  head->used += bytes;
  if (head->used > head->bytes)
    return;
  *message = (tessera_message_t){bytes, kind, length};
  memcpy(message + 1, text, length);
}

// What the twin prints goes there, line by line.
static void add_printed(void *buffer, FILE *printed) {
  char line[1024], format[2 * sizeof line];
  if (fseek(printed, 0, SEEK_SET))
    return;
  while (fgets(line, sizeof line, printed)) {
    char *to = format;
    for (const char *at = line; *at; ++at) {
      *to++ = *at;
      if (*at == '%')
        *to++ = '%';
    }
    *to = 0;
    add_message(buffer, TESSERA_MESSAGE_PRINT, format);
  }
}

// Messages instead of prints, and of a trap that ends everything: a failed assertion is one, the first of a run.
static bool run_saying(const work_t *work, void *buffer, tessera_error_t *error) {
  static const char failed[] = "assertion failed: ";
  FILE *printed = tmpfile();
  fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  if (!printed || kept < 0) {
    perror("standin");
    exit(1);
  }
  dup2(fileno(printed), STDOUT_FILENO);
  bool ok = twin_run(work->kernel->module->twin, &work->launch, error);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  add_printed(buffer, printed);
  fclose(printed);
  if (ok || strncmp(error->text, failed, sizeof failed - 1) != 0)
    return ok;
  add_message(buffer, TESSERA_MESSAGE_FAILED, error->text + sizeof failed - 1);
  return true;
}

static void run_kernel(work_t *work) {
  tessera_error_t error;
  tessera_emulator_buffer_t *buffers = calloc(memory_count + 1, sizeof *buffers);
  for (const memory_t *memory = memories; memory; memory = memory->next)
    buffers[work->launch.bufferCount++] =
        (tessera_emulator_buffer_t){.base = memory->base, .bytes = memory->bytes, .name = "memory"};
  work->launch.buffers = buffers;
  void *messages = work->kernel->module->messages;
  if (!(messages ? run_saying(work, messages, &error) : twin_run(work->kernel->module->twin, &work->launch, &error))) {
    fprintf(stderr, "stand-in: %s\n", error.text);
    broken = LAUNCH_FAILED;
  }
  free(buffers);
}

static void run(work_t *work) {
  if (broken)
    return;
  show_device_memory(PROT_READ | PROT_WRITE);
  if (work->kind == COPY)
    memmove(work->to, work->from, work->bytes);
  else if (work->kind == EVENT)
    ((event_t *)work->to)->milliseconds = now();
  else
    run_kernel(work);
  show_device_memory(PROT_NONE);
}

static void forget(work_t *work) {
  for (int64_t i = 0; work->launch.params && i < work->kernel->twin->parameterCount; ++i)
    free(work->launch.params[i]);
  free(work->launch.params);
  free(work);
}

static int finish(void *handle) {
  stream_t *stream = stream_of(handle);
  for (work_t *work = stream->first, *next; work; work = next) {
    next = work->next;
    run(work);
    forget(work);
  }
  stream->first = NULL;
  stream->last = &stream->first;
  return broken;
}

static int finish_all(void) {
  finish(NULL);
  for (stream_t *stream = streams; stream; stream = stream->next)
    finish(stream);
  return broken;
}

int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void **out, unsigned flags) {
  ENTER(NAME(cuStreamCreate, hipStreamCreateWithFlags));
  if (ready() || flags != 1)
    return ready() ? ready() : BAD_VALUE;
  stream_t *stream = malloc(sizeof *stream);
  *stream = (stream_t){streams, NULL, &stream->first};
  streams = stream;
  return *out = stream, 0;
}

int NAME(cuStreamSynchronize, hipStreamSynchronize)(void *stream) {
  ENTER(NAME(cuStreamSynchronize, hipStreamSynchronize));
  return ready() ? ready() : finish(stream);
}

int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void *stream) {
  int status = finish(stream);
  for (stream_t **at = &streams; *at; at = &(*at)->next)
    if (*at == stream) {
      *at = (*at)->next;
      free(stream);
      return LEAVE(NAME(cuStreamDestroy_v2, hipStreamDestroy), status);
    }
  return BAD_HANDLE;
}

int NAME(cuMemcpyAsync, hipMemcpyDtoDAsync)(void *to, const void *from, size_t bytes, void *stream) {
  ENTER(NAME(cuMemcpyAsync, hipMemcpyDtoDAsync));
  if (ready())
    return ready();
  work_t *work = enqueue(stream, COPY);
  work->to = to;
  work->from = from;
  work->bytes = bytes;
  return 0;
}

int NAME(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags) {
  ENTER(NAME(cuEventCreate, hipEventCreateWithFlags));
  if (ready() || flags)
    return ready() ? ready() : BAD_VALUE;
  return *event = calloc(1, sizeof(event_t)), 0;
}

int NAME(cuEventDestroy_v2, hipEventDestroy)(void *event) {
  free(event);
  return LEAVE(NAME(cuEventDestroy_v2, hipEventDestroy), 0);
}

int NAME(cuEventRecord, hipEventRecord)(void *event, void *stream) {
  ENTER(NAME(cuEventRecord, hipEventRecord));
  if (ready())
    return ready();
  ((event_t *)event)->stream = stream_of(stream);
  enqueue(stream, EVENT)->to = event;
  return 0;
}

int NAME(cuEventSynchronize, hipEventSynchronize)(void *event) {
  ENTER(NAME(cuEventSynchronize, hipEventSynchronize));
  if (!((event_t *)event)->stream)
    return BAD_HANDLE;
  return finish(((event_t *)event)->stream);
}

int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, void *begin, void *end) {
  ENTER(NAME(cuEventElapsedTime, hipEventElapsedTime));
  if (!((event_t *)begin)->stream || !((event_t *)end)->stream)
    return BAD_HANDLE;
  *milliseconds = (float)(((event_t *)end)->milliseconds - ((event_t *)begin)->milliseconds);
  return 0;
}

//===--- launching --------------------------------------------------------------------===//

// What hardware of any chip refuses.
static bool fits(const kernel_t *kernel, const TileEmulatorLaunch *launch, unsigned shared) {
  const uint32_t *g = launch->grid, *b = launch->block;
  if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2] || (uint64_t)b[0] * b[1] * b[2] > 1024 || b[2] > 64)
    return false;
  if (NAME(g[1] > 65535 || g[2] > 65535 || (int)shared > kernel->dynamic_limit, (uint64_t)g[0] * b[0] > UINT32_MAX))
    return false;
  return declared_bytes(kernel) + shared <= twin_shared_limit(kernel->module->twin) &&
         declared_bytes(kernel) + shared >= kernel->twin->sharedBytes;
}

static int launch(kernel_t *kernel, TileEmulatorLaunch launch, unsigned shared, void *stream, void **params) {
  int64_t count = kernel->twin->parameterCount;
  if (ready())
    return ready();
  if (!fits(kernel, &launch, shared))
    return BAD_VALUE;
  work_t *work = enqueue(stream, LAUNCH);
  work->kernel = kernel;
  work->launch = launch;
  work->launch.kernel = kernel->twin->name;
  work->launch.dynamicSharedBytes = declared_bytes(kernel) + shared - kernel->twin->sharedBytes;
  work->launch.params = calloc((size_t)count + 1, sizeof(void *));
  for (int64_t i = 0; i < count; ++i) {
    work->launch.params[i] = aligned_alloc(64, (kernel->twin->parameterBytes[i] + 63) / 64 * 64);
    memcpy(work->launch.params[i], params[i], kernel->twin->parameterBytes[i]);
  }
  return 0;
}

int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                                                void **extra) {
  ENTER(NAME(cuLaunchKernel, hipModuleLaunchKernel));
  TileEmulatorLaunch one = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .threads = 2};
  return extra ? BAD_VALUE : launch(kernel, one, shared, stream, params);
}

int NAME(cuLaunchCooperativeKernel,
         hipModuleLaunchCooperativeKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                           unsigned by, unsigned bz, unsigned shared, void *stream, void **params) {
  ENTER(NAME(cuLaunchCooperativeKernel, hipModuleLaunchCooperativeKernel));
  TileEmulatorLaunch one = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .threads = 2, .cooperative = true};
  return (uint64_t)gx * gy * gz > MOST_RESIDENT ? TOO_LARGE : launch(kernel, one, shared, stream, params);
}
