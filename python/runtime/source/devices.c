// devices.c - the GPUs that programs of this process run on. See devices.h.
// Expects: the GIL, which guards the list.
#include "python/runtime/source/devices.h"

#include "python/runtime/source/dlpack.h"

#include <stdlib.h>
#include <string.h>

place_t place_cpu = {.type = DL_CPU};

const char *place_kind(const place_t *place) { return place->type == DL_ROCM ? "rocm" : "cuda"; }

typedef struct opened_t {
  struct opened_t *next;
  const tessera_driver_t *driver;
  place_t place;
} opened_t;

static opened_t *all;

static place_t *open_device(const char *name, int ordinal, tessera_error_t *out_error) {
  const tessera_driver_t *driver = tessera_driver_find(name, out_error);
  if (!driver)
    return NULL;
  for (opened_t *opened = all; opened; opened = opened->next)
    if (opened->driver == driver && opened->place.ordinal == ordinal)
      return &opened->place;
  opened_t *opened = calloc(1, sizeof *opened);
  if (!opened) {
    tessera_fail(out_error, "out of memory");
    return NULL;
  }
  *opened = (opened_t){all, driver, {.type = strcmp(name, "cuda") == 0 ? DL_CUDA : DL_ROCM, .ordinal = ordinal}};
  opened->place.device = tessera_device_open(driver, ordinal, NULL, out_error);
  if (!opened->place.device) {
    free(opened);
    return NULL;
  }
  pthread_mutex_init(&opened->place.lock, NULL);
  all = opened;
  return &opened->place;
}

place_t *place_open(const char *asked, tessera_error_t *out_error) {
  const char *colon = strchr(asked, ':');
  size_t length = colon ? (size_t)(colon - asked) : strlen(asked);
  char name[8], *end = NULL;
  long ordinal = colon ? strtol(colon + 1, &end, 10) : 0;
  snprintf(name, sizeof name, "%.*s", (int)length, asked);
  if ((strcmp(name, "cuda") != 0 && strcmp(name, "rocm") != 0) || length != strlen(name) ||
      (colon && (end == colon + 1 || *end || ordinal < 0 || ordinal > 1023))) {
    tessera_fail(out_error, "device '%s' is unknown; expected cuda or rocm, or cuda:N, rocm:N", asked);
    return NULL;
  }
  return open_device(name, (int)ordinal, out_error);
}

static place_t *open_for(const char *asked, const tessera_manifest_t *manifest, tessera_error_t *out_error) {
  place_t *place = place_open(asked, out_error);
  if (!place || tessera_device_takes(place->device, manifest->images))
    return place;
  const tessera_device_info_t *info = tessera_device_info(place->device);
  tessera_fail(out_error, "the program has no code for %s (%s)", info->chip, info->name);
  return NULL;
}

place_t *place_for(const tessera_manifest_t *manifest, const char *asked, tessera_error_t *out_error) {
  if (asked)
    return open_for(asked, manifest, out_error);
  tessera_error_t cuda, rocm;
  place_t *place = open_for("cuda", manifest, &cuda);
  place = place ? place : open_for("rocm", manifest, &rocm);
  if (!place)
    tessera_fail(out_error, "%.350s; %.350s", cuda.text, rocm.text);
  return place;
}
