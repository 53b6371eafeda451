// bound_weights.c - fills the places at which a program looks for its weights. See bound_weights.h.
#include "lib/runtime/bound_weights.h"

#include "lib/runtime/call.h"
#include "lib/runtime/tessera.h"
#include "lib/support/files/mapped_weights.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// The last place is filled last.
static bool is_bound(const tessera_manifest_t *manifest) {
  int64_t count = manifest->num_weights;
  return !count || __atomic_load_n(manifest->weights[count - 1].place, __ATOMIC_ACQUIRE);
}

// The file beside the program that holds the manifest.
static bool find_file(const tessera_manifest_t *manifest, const char *file, char *path, tessera_error_t *error) {
  Dl_info info;
  char program[PATH_MAX] = "";
  if (file[0] != '/' && dladdr(manifest, &info) && info.dli_fname && realpath(info.dli_fname, program))
    *(strrchr(program, '/') + 1) = '\0';
  return snprintf(path, PATH_MAX, "%s%s", program, file) < PATH_MAX ||
         tessera_fail(error, "%s: the path is too long", file);
}

static const void *take(const tessera_manifest_t *manifest, const tessera_weight_t *weight, tessera_error_t *error) {
  char path[PATH_MAX];
  const tessera_weights_source_t source = {path, (uint64_t)weight->offset, (uint64_t)weight->bytes, weight->checksum};
  return find_file(manifest, weight->file, path, error)
             ? tessera_weights_take(&source, (size_t)weight->alignment, error)
             : NULL;
}

static void release(const tessera_manifest_t *manifest, int64_t count) {
  for (int64_t i = count; i-- > 0;) {
    const tessera_weight_t *weight = &manifest->weights[i];
    void *data = __atomic_exchange_n(weight->place, NULL, __ATOMIC_ACQ_REL);
    if (data)
      tessera_weights_release(data, (size_t)weight->bytes);
  }
}

static bool bind(const tessera_manifest_t *manifest, tessera_error_t *error) {
  for (int64_t i = 0; i < manifest->num_weights; ++i) {
    const void *data = take(manifest, &manifest->weights[i], error);
    if (!data) {
      release(manifest, i);
      return false;
    }
    __atomic_store_n(manifest->weights[i].place, (void *)(uintptr_t)data, __ATOMIC_RELEASE);
  }
  return true;
}

bool tessera_bind_weights(const tessera_manifest_t *manifest, tessera_error_t *out_error) {
  if (is_bound(manifest))
    return true;
  pthread_mutex_lock(&lock);
  bool ok = is_bound(manifest) || bind(manifest, out_error);
  pthread_mutex_unlock(&lock);
  return ok;
}

bool tessera_need_weights(const tessera_manifest_t *manifest) {
  tessera_error_t error;
  if (tessera_bind_weights(manifest, &error))
    return true;
  tessera_raise("%s", error.text);
  return false;
}

void tessera_spoil(const void *descriptor, int64_t rank, int64_t element_bytes) {
  const tessera_memref_0d_t *start = descriptor;
  const int64_t *sizes = (const int64_t *)(start + 1);
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i)
    count *= sizes[i];
  if (count)
    memset((char *)start->aligned + start->offset * element_bytes, 0xff, (size_t)(count * element_bytes));
}

void tessera_release_weights(const tessera_manifest_t *manifest) {
  pthread_mutex_lock(&lock);
  release(manifest, manifest->num_weights);
  pthread_mutex_unlock(&lock);
}
