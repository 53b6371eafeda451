// device.c - launching on the entered device: which image, loading it once, waiting, constants. See device.h.
// Why a cache by content: two programs with the same kernels, or one loaded twice, share what the driver compiled.
// Expects: programs that outlive the device's use. Leaves: modules and constants loaded until the device is closed.
// Cost: a launch finds its kernel by name among those used before, about 50 ns for each.
#include "lib/runtime/device.h"

#include "lib/runtime/call.h"
#include "lib/runtime/launch.h"
#include "lib/runtime/observe.h"
#include "lib/runtime/tensor_map.h"
#include "lib/support/clock.h"
#include "lib/support/grow.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct module_t {
  struct module_t *next;
  uint64_t hash;
  int64_t size;
  void *module;
} module_t;

typedef struct kernel_t {
  struct kernel_t *next;
  const tessera_images_t *images;
  char *module, *name;
  void *kernel;
  const tessera_image_kernel_t *record;
} kernel_t;

typedef struct constant_t {
  struct constant_t *next;
  const void *origin;
  void *copy;
  int64_t bytes;
} constant_t;

struct tessera_device_t {
  const tessera_driver_t *driver;
  void *handle, *stream, *begin, *end; // events for observed launches
  tessera_device_info_t info;
  const tessera_images_t *images;
  pthread_mutex_t lock; // of the lists
  module_t *modules;
  kernel_t *kernels;
  constant_t *constants;
};

static _Thread_local tessera_device_t *entered;
static _Thread_local bool pending; // launched since the last wait
static _Thread_local int64_t host_waits;

//===--- opening ------------------------------------------------------------------===//

tessera_device_t *tessera_device_open(const tessera_driver_t *driver, int ordinal, const void *context,
                                      tessera_error_t *out_error) {
  tessera_device_t *device = calloc(1, sizeof *device);
  if (!device) {
    tessera_fail(out_error, "out of memory");
    return NULL;
  }
  device->driver = driver;
  pthread_mutex_init(&device->lock, NULL);
  if (driver->open(ordinal, context, &device->handle, &device->info, out_error) &&
      driver->stream_create(device->handle, &device->stream, out_error) &&
      driver->event_create(device->handle, &device->begin, out_error) &&
      driver->event_create(device->handle, &device->end, out_error))
    return device;
  tessera_device_close(device);
  return NULL;
}

static void forget_constants(tessera_device_t *device) {
  for (constant_t *constant = device->constants, *next; constant; constant = next) {
    next = constant->next;
    device->driver->release(device->handle, constant->copy, NULL);
    free(constant);
  }
}

static void forget_modules(tessera_device_t *device) {
  for (kernel_t *kernel = device->kernels, *next; kernel; kernel = next) {
    next = kernel->next;
    free(kernel->module);
    free(kernel->name);
    free(kernel);
  }
  for (module_t *module = device->modules, *next; module; module = next) {
    next = module->next;
    device->driver->module_unload(device->handle, module->module, NULL);
    free(module);
  }
}

static void forget_streams(tessera_device_t *device) {
  const tessera_driver_t *driver = device->driver;
  if (device->stream)
    driver->stream_synchronize(device->handle, device->stream, NULL);
  forget_constants(device);
  forget_modules(device);
  if (device->begin)
    driver->event_destroy(device->handle, device->begin, NULL);
  if (device->end)
    driver->event_destroy(device->handle, device->end, NULL);
  if (device->stream)
    driver->stream_destroy(device->handle, device->stream, NULL);
}

void tessera_device_close(tessera_device_t *device) {
  if (!device)
    return;
  if (entered == device)
    entered = NULL;
  if (device->handle) {
    forget_streams(device);
    device->driver->close(device->handle);
  }
  pthread_mutex_destroy(&device->lock);
  free(device);
}

const tessera_device_info_t *tessera_device_info(const tessera_device_t *device) { return &device->info; }

// How well the best of them suits; 0: none does.
static int best_of(const tessera_device_t *device, const tessera_images_t *images) {
  int most = 0;
  for (int64_t i = 0; i < images->count; ++i) {
    int suits = device->driver->suits(device->handle, &images->items[i]);
    most = suits > most ? suits : most;
  }
  return most;
}

bool tessera_device_takes(const tessera_device_t *device, const tessera_images_t *images) {
  return best_of(device, images) > 0;
}

int64_t tessera_device_choose(const tessera_images_t *const *tables, int64_t count) {
  int64_t best = -1;
  int most = 0;
  for (int64_t i = 0; i < count && entered; ++i) {
    int suits = best_of(entered, tables[i]);
    if (suits > most) {
      most = suits;
      best = i;
    }
  }
  if (best < 0 && entered)
    tessera_raise("the program has no code for %s (%s)", entered->info.chip, entered->info.name);
  return entered ? best : 0;
}

void tessera_device_give_images(tessera_device_t *device, const tessera_images_t *images) { device->images = images; }

tessera_device_t *tessera_device_enter(tessera_device_t *device) {
  tessera_device_t *outer = entered;
  entered = device;
  pending = tessera_stream_entered() != 0;
  return outer;
}

tessera_device_t *tessera_device_entered(void) { return entered; }

//===--- memory ---------------------------------------------------------------------===//

static void *allocate(void *context, size_t bytes) {
  tessera_device_t *device = context;
  void *memory = NULL;
  return device->driver->allocate(device->handle, bytes, &memory, NULL) ? memory : NULL;
}

static void release(void *context, void *memory) {
  tessera_device_t *device = context;
  device->driver->release(device->handle, memory, NULL);
}

static void mark(void *context, void *memory, size_t bytes) {
  tessera_device_t *device = context;
  device->driver->mark(device->handle, memory, bytes);
}

tessera_arena_t *tessera_device_arena(tessera_device_t *device) {
  return tessera_arena_create_in(&(tessera_memory_t){device, allocate, release, device->driver->mark ? mark : NULL});
}

static void *constant_copy(tessera_device_t *device, const void *origin, int64_t bytes, tessera_error_t *out_error) {
  for (constant_t *constant = device->constants; constant; constant = constant->next)
    if (constant->origin == origin && constant->bytes == bytes)
      return constant->copy;
  constant_t *constant = calloc(1, sizeof *constant);
  if (!constant || !device->driver->allocate(device->handle, bytes ? (size_t)bytes : 1, &constant->copy, out_error)) {
    if (!constant)
      tessera_fail(out_error, "out of memory");
    free(constant);
    return NULL;
  }
  memcpy(constant->copy, origin, (size_t)bytes);
  constant->origin = origin;
  constant->bytes = bytes;
  constant->next = device->constants;
  device->constants = constant;
  return constant->copy;
}

void tessera_device_for_each_memory(tessera_device_t *device, void (*visit)(void *context, void *memory, size_t bytes),
                                    void *context) {
  tessera_arena_for_each(tessera_arena_entered(), visit, context);
  for (const constant_t *constant = device->constants; constant; constant = constant->next)
    visit(context, constant->copy, (size_t)constant->bytes);
}

void *tessera_device_constant(void *constant, int64_t bytes) {
  tessera_error_t error;
  tessera_device_t *device = entered;
  if (!device)
    return constant; // the launch says so
  pthread_mutex_lock(&device->lock);
  void *copy = constant_copy(device, constant, bytes, &error);
  pthread_mutex_unlock(&device->lock);
  if (!copy)
    tessera_raise("a constant of %lld bytes: %s", (long long)bytes, error.text);
  return copy;
}

//===--- code -----------------------------------------------------------------------===//

// FNV-1a: names what was loaded; a content of the same length and hash is taken for the same.
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
  return hash;
}

static uint64_t hash_of(const tessera_image_t *image) {
  uint64_t hash = hash_bytes(0xcbf29ce484222325, image->module, strlen(image->module) + 1);
  hash = hash_bytes(hash, image->form, strlen(image->form) + 1);
  return hash_bytes(hash, image->data, (size_t)image->size);
}

static const tessera_image_kernel_t *kernel_of(const tessera_image_t *image, const char *name) {
  for (int64_t i = 0; i < image->num_kernels; ++i)
    if (strcmp(image->kernels[i].name, name) == 0)
      return &image->kernels[i];
  return NULL;
}

// "sm_90 ptx, gfx942 hsaco": what the program has for a kernel.
static void list_images(const tessera_images_t *images, const char *module, tessera_list_t *list) {
  for (int64_t i = 0; images && i < images->count; ++i)
    if (strcmp(images->items[i].module, module) == 0)
      tessera_list_add(list, "%s for %s", images->items[i].form, images->items[i].chip);
  if (!list->length)
    tessera_list_add(list, "nothing");
}

// The image that suits best of those that suit less than |below|, which then is how well it does.
static const tessera_image_t *choose(tessera_device_t *device, const kernel_t *kernel, int *below,
                                     tessera_error_t *out_error) {
  const tessera_images_t *images = kernel->images;
  const tessera_image_t *best = NULL;
  int most = 0;
  for (int64_t i = 0; images && i < images->count; ++i) {
    const tessera_image_t *image = &images->items[i];
    bool has_it = strcmp(image->module, kernel->module) == 0 && kernel_of(image, kernel->name);
    int suits = has_it ? device->driver->suits(device->handle, image) : 0;
    if (suits > most && suits < *below) {
      most = suits;
      best = image;
    }
  }
  TESSERA_LIST(there);
  list_images(images, kernel->module, &there);
  if (!best)
    tessera_fail(out_error, "kernel '%s': no code for %s (%s): the program has %s", kernel->name, device->info.chip,
                 device->info.name, there.text);
  *below = most;
  return best;
}

static void *load(tessera_device_t *device, const tessera_image_t *image, tessera_error_t *out_error) {
  uint64_t hash = hash_of(image);
  for (module_t *module = device->modules; module; module = module->next)
    if (module->hash == hash && module->size == image->size)
      return module->module;
  module_t *module = calloc(1, sizeof *module);
  if (!module || !device->driver->module_load(device->handle, image, &module->module, out_error)) {
    if (!module)
      tessera_fail(out_error, "out of memory");
    free(module);
    return NULL;
  }
  module->hash = hash;
  module->size = image->size;
  module->next = device->modules;
  device->modules = module;
  return module->module;
}

// The driver may be older than the tools that made an image: then the next best is tried (PTX, after a cubin). The
// error is that of the best.
static bool fill_kernel(tessera_device_t *device, kernel_t *kernel, tessera_error_t *out_error) {
  tessera_error_t later, *error = out_error;
  const tessera_image_t *image = NULL;
  void *module = NULL;
  for (int below = INT_MAX; !module; error = &later) {
    image = choose(device, kernel, &below, error);
    if (!image)
      return false;
    module = load(device, image, error);
  }
  kernel->record = kernel_of(image, kernel->name);
  return device->driver->kernel_find(device->handle, module, kernel->record, &kernel->kernel, out_error);
}

static kernel_t *find_kernel(tessera_device_t *device, const tessera_images_t *images, const char *module,
                             const char *name, tessera_error_t *out_error) {
  for (kernel_t *kernel = device->kernels; kernel; kernel = kernel->next)
    if (kernel->images == images && !strcmp(kernel->name, name) && !strcmp(kernel->module, module))
      return kernel;
  kernel_t *kernel = calloc(1, sizeof *kernel);
  if (!kernel) {
    tessera_fail(out_error, "out of memory");
    return NULL;
  }
  *kernel = (kernel_t){.images = images, .module = strdup(module), .name = strdup(name)};
  if (!kernel->module || !kernel->name || !fill_kernel(device, kernel, out_error)) {
    free(kernel->module);
    free(kernel->name);
    free(kernel);
    return NULL;
  }
  kernel->next = device->kernels;
  device->kernels = kernel;
  return kernel;
}

//===--- launching --------------------------------------------------------------------===//

enum { LARGEST_SIZE = 0x7fffffff };

// False: nothing to run, or, with the error, not to be run.
static bool read_sizes(const char *name, const int64_t *sizes, tessera_device_launch_t *launch,
                       tessera_error_t *out_error) {
  static const char axes[] = "xyz";
  out_error->text[0] = 0;
  for (int i = 0; i < 6; ++i) {
    if (sizes[i] < 0)
      return tessera_fail(out_error, "kernel '%s': %lld %s along %c; expected at least %d", name, (long long)sizes[i],
                          i < 3 ? "programs" : "threads", axes[i % 3], i >= 3);
    if (sizes[i] == 0)
      return i >= 3 && tessera_fail(out_error, "kernel '%s': a block of no threads", name);
    if (sizes[i] > LARGEST_SIZE)
      return tessera_fail(out_error, "kernel '%s': %lld %s along %c, at most %d", name, (long long)sizes[i],
                          i < 3 ? "programs" : "threads", axes[i % 3], LARGEST_SIZE);
    (i < 3 ? launch->grid : launch->block)[i % 3] = (uint32_t)sizes[i];
  }
  if (sizes[6] < 0 || sizes[6] > LARGEST_SIZE)
    return tessera_fail(out_error, "kernel '%s': %lld bytes of dynamic shared memory; expected 0 to %d", name,
                        (long long)sizes[6], LARGEST_SIZE);
  launch->shared_bytes = (uint32_t)sizes[6];
  return true;
}

static void *stream_of(const tessera_device_t *device) {
  tessera_stream_t stream = tessera_stream_entered();
  return stream ? (void *)(uintptr_t)stream : device->stream;
}

static bool launch_observed(tessera_device_t *device, void *kernel, const tessera_device_launch_t *launch,
                            tessera_error_t *out_error) {
  const tessera_driver_t *driver = device->driver;
  void *stream = stream_of(device);
  int64_t programs = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  tessera_span_t span = {.kernel = launch->name, .is_launch = true, .programs = programs};
  double milliseconds = 0;
  if (!driver->event_record(device->handle, device->begin, stream, out_error) ||
      !driver->launch(device->handle, kernel, launch, stream, out_error) ||
      !driver->event_record(device->handle, device->end, stream, out_error) ||
      !driver->event_elapsed(device->handle, device->begin, device->end, &milliseconds, out_error))
    return false;
  span.begin = tessera_nanoseconds() - (int64_t)(milliseconds * 1e6);
  tessera_tell(&span);
  return true;
}

static bool launch(tessera_device_t *device, const tessera_images_t *images, const char *module,
                   tessera_device_launch_t *launch, tessera_error_t *out_error) {
  pthread_mutex_lock(&device->lock);
  kernel_t *kernel =
      find_kernel(device, images && images->count ? images : device->images, module, launch->name, out_error);
  pthread_mutex_unlock(&device->lock);
  if (!kernel)
    return false;
  launch->shared_bytes += (uint32_t)kernel->record->dynamic_shared_bytes;
  launch->cooperative = kernel->record->cooperative != 0;
  pending = true;
  return tessera_is_observed()
             ? launch_observed(device, kernel->kernel, launch, out_error)
             : device->driver->launch(device->handle, kernel->kernel, launch, stream_of(device), out_error);
}

void tessera_launch_device(const tessera_images_t *images, const char *module, const char *name, const int64_t *sizes,
                           void **params, int64_t num_params) {
  tessera_error_t error;
  tessera_device_launch_t one = {.name = name, .params = params, .num_params = num_params};
  tessera_count_launch();
  if (!entered) {
    tessera_raise("kernel '%s': this thread has entered no device (tessera_device_enter)", name);
    return;
  }
  if (!read_sizes(name, sizes, &one, &error)) {
    if (error.text[0])
      tessera_raise_message(error.text);
    return;
  }
  if (!launch(entered, images, module, &one, &error))
    tessera_raise_message(error.text);
}

// A tensor without elements has no map. All that is read of it is padding, and nothing is written: that of one zero.
static bool replace_empty(tessera_tensor_map_t *map) {
  static char zero[TESSERA_MAP_ALIGN];
  for (int axis = 0; axis < map->rank; ++axis)
    if (!map->sizes[axis]) {
      map->address = (uint64_t)(uintptr_t)tessera_device_constant(zero, sizeof zero);
      for (int i = 0; i < map->rank; ++i) {
        map->sizes[i] = 1;
        if (i)
          map->strides[i - 1] = TESSERA_MAP_ALIGN;
      }
      return map->address != 0;
    }
  return true;
}

void tessera_device_tensor_map(const tessera_tensor_map_t *map, void *out_map) {
  tessera_error_t error;
  tessera_tensor_map_t one = *map;
  if (!entered || !replace_empty(&one))
    return; // the launch says so, or the copy of the constant did
  if (!tessera_tensor_map_check(&one, &error) || !entered->driver->tensor_map(entered->handle, &one, out_map, &error))
    tessera_raise_message(error.text);
}

bool tessera_device_wait(tessera_device_t *device, tessera_error_t *out_error) {
  pending = false;
  return device->driver->stream_synchronize(device->handle, stream_of(device), out_error);
}

void tessera_device_synchronize(void) {
  tessera_error_t error;
  if (!pending || !entered)
    return;
  ++host_waits;
  if (!tessera_device_wait(entered, &error))
    tessera_raise_message(error.text);
}

void tessera_device_finish(void) {
  if (!tessera_stream_entered())
    tessera_device_synchronize();
}

bool tessera_device_copy(tessera_device_t *device, void *to, const void *from, size_t bytes,
                         tessera_error_t *out_error) {
  pending = true;
  return !bytes || device->driver->copy(device->handle, to, from, bytes, stream_of(device), out_error);
}

int64_t tessera_host_waits(void) { return host_waits; }
