// deadlock.c - what each warp of a stuck block waits for. Lanes of one warp that wait in two places make it a
// divergence: the usual reason, a collective or barrier inside a branch. Otherwise the finding names two warps, or a
// barrier and its count.
#include "lib/emulator/machine/meetings/deadlock.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/engines/mbarrier.h"

#include <string.h>

typedef struct stuck_t {
  emu_thread_t *first, *other; // waiting threads whose sites tell the story; other may be null
  bool diverged;
} stuck_t;

static uint64_t lanes_like(const emu_worker_t *worker, const emu_warp_t *warp, const emu_thread_t *thread) {
  uint64_t lanes = 0;
  uint32_t first = warp->number << worker->launch->warp_shift;
  for (uint64_t rest = warp->exists & ~warp->ended; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctzll(rest);
    const emu_thread_t *one = &worker->threads[first + lane];
    if (one->waits == thread->waits && one->wait_site == thread->wait_site)
      lanes |= emu_bit(lane);
  }
  return lanes;
}

static const char *waits_text(const emu_thread_t *thread) {
  switch (thread->waits) {
  case EMU_AT_COLLECTIVE:
    return "a collective";
  case EMU_AT_BARRIER:
    return "barrier";
  case EMU_AT_MBARRIER:
    return "the mbarrier";
  case EMU_AT_CLUSTER:
    return "the cluster's barrier";
  default:
    return "a loop on memory that does not change";
  }
}

// " at shared+64 for 1 arrivals of phase 3"
static void describe_mbarrier(const emu_worker_t *worker, const emu_mbarrier_t *barrier, char *text, size_t bytes) {
  int used = snprintf(text, bytes, " at shared+%u", emu_shared_offset(worker->launch, barrier->offset));
  emu_mbarrier_describe(barrier, text + used, bytes - (size_t)used);
}

// "warp 1: 16 lanes at barrier 0 (site), 16 at a collective (site)"
static void describe_lanes(emu_worker_t *worker, emu_thread_t *thread, uint64_t lanes, char *text, size_t bytes) {
  char name[32], which[96] = "";
  size_t used = strlen(text);
  if (thread->waits == EMU_AT_BARRIER)
    snprintf(which, sizeof which, " %u", thread->wait_barrier);
  if (thread->waits == EMU_AT_MBARRIER)
    describe_mbarrier(worker, thread->wait_mbarrier, which, sizeof which);
  snprintf(text + used, bytes - used, "%s%d lanes of warp %u at %s%s (%s)", used ? ", " : "",
           __builtin_popcountll(lanes), thread->view.warp, waits_text(thread), which,
           emu_site_name(worker->launch, thread->wait_site, name, sizeof name));
}

static bool spins(const emu_thread_t *thread) { return thread->waits == EMU_RUNS; }

// Within one warp, lanes waiting in two places diverged. A lane that spins is no such case: it is what the others wait
// for.
static void note_lanes(stuck_t *warp, emu_thread_t *thread) {
  if (!warp->first) {
    warp->first = thread;
  } else if (spins(thread) && !spins(warp->first)) {
    warp->other = warp->first;
    warp->first = thread;
  } else if (!warp->other) {
    warp->other = thread;
    warp->diverged = !spins(warp->first);
  }
}

static void note_warp(stuck_t *block, const stuck_t *warp) {
  if (!warp->first || block->diverged)
    return;
  bool better = warp->diverged || !block->first || (spins(warp->first) && !spins(block->first));
  emu_thread_t *before = block->first;
  if (better) {
    *block = *warp;
    if (!block->other && before && before->wait_site != block->first->wait_site)
      block->other = before;
  } else if (!block->other && warp->first->wait_site != block->first->wait_site) {
    block->other = warp->first;
  }
}

// All of the warp waits where all of another does.
static bool waits_like(const emu_worker_t *worker, const emu_warp_t *warp, const emu_warp_t *other) {
  uint64_t lanes = warp->exists & ~warp->ended, others = other->exists & ~other->ended;
  if (!lanes || lanes != others)
    return false;
  uint32_t shift = worker->launch->warp_shift;
  const emu_thread_t *one = &worker->threads[(warp->number << shift) + (uint32_t)__builtin_ctzll(lanes)];
  const emu_thread_t *two = &worker->threads[(other->number << shift) + (uint32_t)__builtin_ctzll(others)];
  return one->waits == two->waits && one->wait_site == two->wait_site &&
         (one->waits != EMU_AT_MBARRIER || one->wait_mbarrier == two->wait_mbarrier) &&
         lanes_like(worker, warp, one) == lanes && lanes_like(worker, other, two) == others;
}

static void describe_more(uint32_t more, char *text, size_t bytes) {
  size_t used = strlen(text);
  if (more)
    snprintf(text + used, bytes - used, " and %u more warp%s", more, more == 1 ? "" : "s");
}

static void look_at_warp(emu_worker_t *worker, emu_warp_t *warp, stuck_t *block, char *text, size_t bytes) {
  stuck_t own = {NULL};
  for (uint64_t rest = warp->exists & ~warp->ended, lanes; rest; rest &= ~lanes) {
    emu_thread_t *thread =
        &worker->threads[(warp->number << worker->launch->warp_shift) + (uint32_t)__builtin_ctzll(rest)];
    lanes = lanes_like(worker, warp, thread);
    describe_lanes(worker, thread, lanes, text, bytes);
    note_lanes(&own, thread);
  }
  note_warp(block, &own);
}

_Noreturn void emu_stuck(emu_worker_t *worker) {
  char text[224] = "";
  stuck_t stuck = {NULL};
  uint32_t more = 0;
  for (uint32_t w = 0; w < worker->launch->warps; ++w) {
    bool is_like = w && waits_like(worker, &worker->warps[w], &worker->warps[w - 1]);
    more += is_like;
    if (is_like)
      continue;
    describe_more(more, text, sizeof text);
    more = 0;
    look_at_warp(worker, &worker->warps[w], &stuck, text, sizeof text);
  }
  describe_more(more, text, sizeof text);
  emu_find(stuck.first, stuck.diverged ? TESSERA_EMULATOR_DIVERGED : TESSERA_EMULATOR_DEADLOCK, stuck.first->wait_site,
           stuck.other ? stuck.other->wait_site : 0, 0, stuck.other ? stuck.other->view.index : 0, "%s", text);
  emu_abort_block(worker);
}
