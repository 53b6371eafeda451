// A stand-in for libcuda.so.1 and, with -DHIP, for libamdhip64.so: one device whose kernels are known by name, whose
// launches run when somebody waits, not before, so that a missing wait is seen. Images are texts: what contains
// ".entry NAME" has that kernel; one that contains "broken" does not load.
//
//   add(float *x, long n, float *y, long m)   y[i] = x[i] + x[i] for i < n
//   square(the same)                          y[i] = x[i] * x[i]
//
// TESSERA_STANDIN_FAIL=NAME makes that function fail, TESSERA_STANDIN_DEVICES=N changes how many devices there are.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif

enum { BAD_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, BAD_IMAGE = 200, SECRET = 999, ERROR_LOG = 5 };

static int fails(const char *name) {
  const char *asked = getenv("TESSERA_STANDIN_FAIL");
  return asked && strcmp(asked, name) == 0;
}

#define TRY(name)                                                                                                      \
  if (fails(#name))                                                                                                    \
  return SECRET

//===--- the device -----------------------------------------------------------------===//

int NAME(cuInit, hipInit)(unsigned flags) {
  TRY(init);
  return flags ? BAD_VALUE : 0;
}

int NAME(cuGetErrorString, hipDrvGetErrorString)(int error, const char **text) {
  static const struct {
    int error;
    const char *text;
  } texts[] = {{BAD_VALUE, "invalid argument"},
               {OUT_OF_MEMORY, "out of memory"},
               {NOT_FOUND, "named symbol not found"},
               {BAD_IMAGE, "device kernel image is invalid"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].error == error)
      return *text = texts[i].text, 0;
  return BAD_VALUE;
}

int NAME(cuDeviceGetCount, hipGetDeviceCount)(int *count) {
  const char *asked = getenv("TESSERA_STANDIN_DEVICES");
  *count = asked ? atoi(asked) : 1;
  return 0;
}

int NAME(cuDeviceGet, hipDeviceGet)(int *device, int ordinal) { return *device = ordinal, 0; }

int NAME(cuDeviceGetName, hipDeviceGetName)(char *name, int size, int device) {
  snprintf(name, (size_t)size, "a stand-in");
  return 0;
}

#ifdef HIP
int hipGetDevicePropertiesR0600(void *properties, int device) {
  TRY(properties);
  strcpy((char *)properties + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
#else
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  TRY(attribute);
  *value = attribute == 75 ? 8 : attribute == 76 ? 6 : 0;
  return 0;
}

int cuFuncSetAttribute(void *kernel, int attribute, int value) {
  return attribute == 8 && value < 99 * 1024 ? 0 : BAD_VALUE;
}
#endif

static char context;
static _Thread_local void *current;
int NAME(cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain)(void **out, int device) { return *out = &context, 0; }
int NAME(cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease)(int device) { return 0; }
int NAME(cuCtxSetCurrent, hipCtxSetCurrent)(void *context) { return current = context, 0; }

//===--- memory ---------------------------------------------------------------------===//

int NAME(cuMemAllocManaged, hipMallocManaged)(void **memory, size_t bytes, unsigned flags) {
  TRY(allocate);
  if (current != &context || flags != 1 || !bytes)
    return BAD_VALUE;
  return bytes > (size_t)1 << 40 || posix_memalign(memory, 256, bytes) ? OUT_OF_MEMORY : 0;
}

int NAME(cuMemFree_v2, hipFree)(void *memory) { return free(memory), 0; }

//===--- work -------------------------------------------------------------------------===//

typedef struct work_t {
  struct work_t *next;
  int kind; // 0: a copy, 1: an event, 2: add, 3: square
  void *to;
  const void *from;
  size_t count;
} work_t;

typedef struct stream_t {
  work_t *first, **last;
} stream_t;

typedef struct event_t {
  stream_t *stream;
  double milliseconds;
} event_t;

static int enqueue(stream_t *stream, work_t work) {
  work_t *one = malloc(sizeof *one);
  *one = work;
  one->next = NULL;
  *stream->last = one;
  stream->last = &one->next;
  return 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static void run(const work_t *work) {
  const float *x = work->from;
  float *y = work->to;
  if (work->kind == 0)
    memmove(work->to, work->from, work->count);
  else if (work->kind == 1)
    ((event_t *)work->to)->milliseconds = now();
  else
    for (size_t i = 0; i < work->count; i++)
      y[i] = work->kind == 2 ? x[i] + x[i] : x[i] * x[i];
}

int NAME(cuStreamCreate, hipStreamCreateWithFlags)(void **out, unsigned flags) {
  TRY(stream);
  stream_t *stream = malloc(sizeof *stream);
  *stream = (stream_t){NULL, &stream->first};
  *out = stream;
  return current != &context || flags != 1 ? BAD_VALUE : 0;
}

int NAME(cuStreamSynchronize, hipStreamSynchronize)(void *of) {
  stream_t *stream = of;
  for (work_t *work = stream->first, *next; work; work = next) {
    next = work->next;
    run(work);
    free(work);
  }
  *stream = (stream_t){NULL, &stream->first};
  TRY(synchronize);
  return 0;
}

int NAME(cuStreamDestroy_v2, hipStreamDestroy)(void *stream) {
  NAME(cuStreamSynchronize, hipStreamSynchronize)(stream);
  return free(stream), 0;
}

int NAME(cuMemcpyAsync, hipMemcpyDtoDAsync)(void *to, const void *from, size_t bytes, void *stream) {
  return enqueue(stream, (work_t){.kind = 0, .to = to, .from = from, .count = bytes});
}

int NAME(cuEventCreate, hipEventCreateWithFlags)(void **event, unsigned flags) {
  return *event = calloc(1, sizeof(event_t)), flags ? BAD_VALUE : 0;
}
int NAME(cuEventDestroy_v2, hipEventDestroy)(void *event) { return free(event), 0; }
int NAME(cuEventRecord, hipEventRecord)(void *event, void *stream) {
  ((event_t *)event)->stream = stream;
  return enqueue(stream, (work_t){.kind = 1, .to = event});
}
int NAME(cuEventSynchronize, hipEventSynchronize)(void *event) {
  if (!((event_t *)event)->stream)
    return BAD_VALUE;
  return NAME(cuStreamSynchronize, hipStreamSynchronize)(((event_t *)event)->stream);
}
int NAME(cuEventElapsedTime, hipEventElapsedTime)(float *milliseconds, void *begin, void *end) {
  *milliseconds = (float)(((event_t *)end)->milliseconds - ((event_t *)begin)->milliseconds);
  return 0;
}

//===--- code -------------------------------------------------------------------------===//

int NAME(cuModuleLoadDataEx, hipModuleLoadDataEx)(void **module, const void *image, unsigned count, int *options,
                                                  void **values) {
  if (!strstr(image, "broken"))
    return *module = strdup(image), 0;
  if (count && options[0] == ERROR_LOG)
    snprintf(values[0], (size_t)(uintptr_t)values[1], "ptxas application ptx input, line 1; fatal: it is broken");
  return BAD_IMAGE;
}
int NAME(cuModuleUnload, hipModuleUnload)(void *module) { return free(module), 0; }

int NAME(cuModuleGetFunction, hipModuleGetFunction)(void **kernel, void *module, const char *name) {
  char entry[128];
  snprintf(entry, sizeof entry, ".entry %s", name);
  if (!strstr(module, entry))
    return NOT_FOUND;
  *kernel = (void *)(uintptr_t)(strcmp(name, "square") == 0 ? 3 : 2);
  return 0;
}

int NAME(cuLaunchKernel, hipModuleLaunchKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                                unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                                                void **extra) {
  TRY(launch);
  if (current != &context || !gx || !gy || !gz || bx * by * bz > 1024 || gy > 65535 || extra)
    return BAD_VALUE;
  return enqueue(stream, (work_t){.kind = (int)(uintptr_t)kernel,
                                  .to = *(void **)params[2],
                                  .from = *(void **)params[0],
                                  .count = (size_t)*(int64_t *)params[1]});
}

int NAME(cuLaunchCooperativeKernel,
         hipModuleLaunchCooperativeKernel)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                           unsigned by, unsigned bz, unsigned shared, void *stream, void **params) {
  if (gx > 64)
    return BAD_VALUE; // not all resident at once
  return NAME(cuLaunchKernel, hipModuleLaunchKernel)(kernel, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}
