// drivers.c - the table of drivers: a new one is a row here and a file beside.
#include "lib/runtime/driver.h"
#include "lib/support/grow.h"

#include <string.h>

static const tessera_driver_t *const drivers[] = {&tessera_cuda_driver, &tessera_rocm_driver, &tessera_emulator_driver,
                                                  &tessera_null_driver};

const tessera_driver_t *tessera_driver_find(const char *name, tessera_error_t *out_error) {
  TESSERA_LIST(known);
  for (size_t i = 0; i < sizeof drivers / sizeof *drivers; ++i) {
    if (strcmp(drivers[i]->name, name) == 0)
      return drivers[i];
    tessera_list_add(&known, "%s", drivers[i]->name);
  }
  tessera_fail(out_error, "there is no driver '%s'; known: %s", name, known.text);
  return NULL;
}
