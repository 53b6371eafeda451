// observe.c - the process's observer. See observe.h.
#include "lib/runtime/observe.h"

#include "lib/support/clock.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const tessera_observer_t *) current;

void tessera_observe(const tessera_observer_t *observer) { atomic_store(&current, observer); }

bool tessera_is_observed(void) { return atomic_load_explicit(&current, memory_order_relaxed) != NULL; }

void tessera_tell(const tessera_span_t *span) {
  const tessera_observer_t *observer = atomic_load(&current);
  if (!observer)
    return;
  tessera_span_t ended = *span;
  ended.end = tessera_nanoseconds();
  observer->take(observer->context, &ended);
}
