// Statistics of passes, per process: Debian's MLIR is built without its own. A list sorted by pass name, whose lock is
// for making and reading rows; counting is one relaxed atomic addition.
#include "lib/capi/statistics.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct MlirExtCounters {
  const MlirExtPassDefinition *definition;
  MlirExtCounters *next;
  intptr_t count;
  _Atomic uint64_t values[];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static MlirExtCounters *first = NULL; // guarded by `mutex`

static intptr_t countStatistics(const MlirExtPassDefinition *definition) {
  intptr_t count = 0;
  while (definition->statistics && definition->statistics[count])
    ++count;
  return count;
}

static MlirExtCounters *makeCounters(const MlirExtPassDefinition *definition, intptr_t count, MlirExtCounters *next) {
  MlirExtCounters *counters = calloc(1, sizeof *counters + count * sizeof *counters->values);
  if (counters) {
    counters->definition = definition;
    counters->next = next;
    counters->count = count;
  }
  return counters;
}

MlirExtCounters *mlirExtCountersGet(const MlirExtPassDefinition *definition) {
  intptr_t count = countStatistics(definition);
  if (count == 0)
    return NULL;
  pthread_mutex_lock(&mutex);
  MlirExtCounters **place = &first;
  while (*place && strcmp((*place)->definition->argument, definition->argument) < 0)
    place = &(*place)->next;
  MlirExtCounters *counters = *place;
  if (!counters || counters->definition != definition) {
    counters = makeCounters(definition, count, *place);
    if (counters)
      *place = counters;
  }
  pthread_mutex_unlock(&mutex);
  return counters;
}

void mlirExtCountersAdd(MlirExtCounters *counters, intptr_t index, uint64_t amount) {
  if (counters && index < counters->count)
    atomic_fetch_add_explicit(&counters->values[index], amount, memory_order_relaxed);
}

void mlirExtStatisticsForEach(MlirExtStatisticCallback callback, void *userData) {
  pthread_mutex_lock(&mutex);
  for (MlirExtCounters *row = first; row; row = row->next)
    for (intptr_t i = 0; i < row->count; ++i)
      callback(row->definition->argument, row->definition->statistics[i],
               atomic_load_explicit(&row->values[i], memory_order_relaxed), userData);
  pthread_mutex_unlock(&mutex);
}

void mlirExtStatisticsReset(void) {
  pthread_mutex_lock(&mutex);
  for (MlirExtCounters *row = first; row; row = row->next)
    for (intptr_t i = 0; i < row->count; ++i)
      atomic_store_explicit(&row->values[i], 0, memory_order_relaxed);
  pthread_mutex_unlock(&mutex);
}
