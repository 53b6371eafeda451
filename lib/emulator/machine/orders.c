// orders.c - a launch, and where threads learn of each other by atomics the same launch in two more orders.
// Why: the clocks find what nothing orders, whatever the order of threads; but a thread that does not wait for a
// message is ordered by it whenever the message was there already. So the message must be late once: each of two
// threads runs first in one of the orders, first to last and last to first. Costs: a copy of the buffers where a kernel
// has such atomics, and two more runs where they ordered something.
#include "lib/emulator/machine/launch.h"

#include <stdlib.h>
#include <string.h>

// The bytes of all buffers that a kernel may write, one after another; null when there is no memory for them.
static char *save(const tessera_emulator_launch_t *given) {
  size_t bytes = 1;
  for (size_t i = 0; i < given->buffer_count; ++i)
    bytes += given->buffers[i].read_only ? 0 : given->buffers[i].bytes;
  char *saved = malloc(bytes), *at = saved;
  for (size_t i = 0; saved && i < given->buffer_count; ++i)
    if (!given->buffers[i].read_only) {
      memcpy(at, given->buffers[i].base, given->buffers[i].bytes);
      at += given->buffers[i].bytes;
    }
  return saved;
}

static void restore(const tessera_emulator_launch_t *given, const char *at) {
  for (size_t i = 0; i < given->buffer_count; ++i)
    if (!given->buffers[i].read_only) {
      memcpy(given->buffers[i].base, at, given->buffers[i].bytes);
      at += given->buffers[i].bytes;
    }
}

// Blocks that were not all there may have waited for those to come: no mistake of a kernel that counts on their order.
static bool is_stuck_alone(const tessera_emulator_report_t *report) {
  for (size_t i = 0; i < report->finding_count; ++i)
    if (report->findings[i].kind == TESSERA_EMULATOR_DEADLOCK)
      return report->counters.blocks > EMU_MOST_ORDERED;
  return false;
}

static void take_findings(tessera_emulator_report_t *to, tessera_emulator_report_t *from) {
  if (to->finding_count || is_stuck_alone(from))
    return;
  tessera_emulator_finding_t *none = to->findings;
  to->findings = from->findings;
  to->finding_count = from->finding_count;
  to->lost_findings = from->lost_findings;
  from->findings = none;
  from->finding_count = 0;
}

// Runs |given| again in the other orders, from memory as it was, |before|; leaves memory as it is.
static void run_other_orders(tessera_emulator_t *emulator, const tessera_emulator_launch_t *given, const char *before,
                             tessera_emulator_report_t *report) {
  tessera_emulator_launch_t again = *given;
  tessera_error_t error;
  char *after = save(given);
  again.rates = NULL;
  for (emu_order_t order = EMU_FIRST; after && order <= EMU_LAST && !report->finding_count; ++order) {
    bool learned;
    restore(given, before);
    tessera_emulator_report_t *other = emu_launch_in(emulator, &again, order, &learned, &error);
    if (other)
      take_findings(report, other);
    tessera_emulator_report_destroy(other);
  }
  if (after)
    restore(given, after);
  free(after);
}

bool tessera_emulator_launch(tessera_emulator_t *emulator, const tessera_emulator_launch_t *given,
                             tessera_emulator_report_t **out_report, tessera_error_t *out_error) {
  bool has_orders = given->has_messages && given->checks, learned;
  char *before = has_orders ? save(given) : NULL;
  tessera_emulator_report_t *report = emu_launch_in(emulator, given, EMU_SEEDED, &learned, out_error);
  if (report && before && learned && !report->finding_count)
    run_other_orders(emulator, given, before, report);
  free(before);
  if (report)
    *out_report = report;
  return report;
}
