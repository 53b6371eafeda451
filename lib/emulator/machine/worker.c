// worker.c - what one host thread needs to run blocks: made once, used by many launches.
// The window of shared memory lies below 4 GiB, where 32 bits hold an address; the system says which places are free.
#include "lib/emulator/machine/worker.h"

#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/launch.h"
#include "lib/emulator/machine/many.h"
#include "lib/emulator/machine/shadow.h"
#include "lib/emulator/machine/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { DEFAULT_STACK_BYTES = 256 << 10 };

#define WINDOWS_BEGIN UINT64_C(0x10000000)
#define WINDOWS_END UINT64_C(0xf0000000)

static char *map_windows(uint32_t count) {
  size_t bytes = (size_t)count * EMU_WINDOW_BYTES;
  for (uint64_t at = WINDOWS_BEGIN; at + bytes <= WINDOWS_END; at += EMU_WINDOW_BYTES) {
    void *wanted = (void *)(uintptr_t)at;
    void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted)
      return got;
    if (got != MAP_FAILED)
      munmap(got, bytes); // a system that does not know the flag
  }
  return NULL;
}

static void free_windows(emu_worker_t *worker) {
  if (worker->window)
    munmap(worker->window, (size_t)worker->windows * EMU_WINDOW_BYTES);
  emu_shadow_destroy(worker->shadow);
  worker->window = NULL;
  worker->shadow = NULL;
}

// Shared memory of as many blocks, and its shadow.
static bool take_windows(emu_worker_t *worker, const tessera_emulator_chip_t *chip, uint32_t count) {
  if (worker->window && worker->windows >= count)
    return true;
  free_windows(worker);
  worker->windows = count;
  worker->window = map_windows(count);
  worker->shadow = emu_shadow_create((count - 1) * EMU_WINDOW_BYTES + chip->shared_bytes +
                                     TESSERA_EMULATOR_MOST_GAPS * TESSERA_EMULATOR_GAP_BYTES);
  return worker->window && worker->shadow;
}

emu_worker_t *emu_worker_create(const tessera_emulator_chip_t *chip) {
  emu_worker_t *worker = calloc(1, sizeof *worker);
  if (!worker)
    return NULL;
  bool has_windows = take_windows(worker, chip, 1);
  worker->many = emu_many_create();
  worker->findings = emu_findings_create();
  if (has_windows && worker->many && worker->findings)
    return worker;
  emu_worker_destroy(worker);
  return NULL;
}

void emu_worker_destroy(emu_worker_t *worker) {
  emu_worker_release(worker);
  free_windows(worker);
  for (uint32_t i = 0; i < EMU_MOST_WARPS; ++i)
    emu_log_destroy(worker->warps[i].log);
  for (uint32_t i = 0; i < EMU_MOST_THREADS; ++i)
    free(worker->threads[i].copies);
  free(worker->sites);
  emu_stacks_destroy(worker->stacks);
  emu_many_destroy(worker->many);
  emu_findings_destroy(worker->findings);
  free(worker);
}

void emu_worker_release(emu_worker_t *worker) {
  emu_arena_free(&worker->launch_arena);
  emu_arena_free(&worker->block_arena);
  emu_arena_free(&worker->set_arena);
  emu_arena_free(&worker->vector_arena);
  emu_trace_destroy(worker->trace);
  worker->trace = NULL;
}

//===--- Before a launch -------------------------------------------------===//

static bool take_stacks(emu_worker_t *worker, const emu_launch_t *launch) {
  uint32_t bytes = launch->given->stack_bytes ? launch->given->stack_bytes : DEFAULT_STACK_BYTES;
  if (!worker->stacks || worker->stacks->stack_bytes < bytes) {
    emu_stacks_destroy(worker->stacks);
    worker->stacks =
        emu_stacks_create(2 * EMU_MOST_THREADS, bytes); // those of trapped threads rest until the block ends
    worker->idle = NULL;
  }
  return worker->stacks;
}

static void place_thread(emu_worker_t *worker, const emu_launch_t *launch, uint32_t index) {
  emu_thread_t *thread = &worker->threads[index];
  uint32_t member = index / launch->member_threads, own = index % launch->member_threads;
  thread->view.id[0] = own % launch->block[0];
  thread->view.id[1] = own / launch->block[0] % launch->block[1];
  thread->view.id[2] = own / launch->block[0] / launch->block[1];
  thread->view.index = index;
  thread->view.lane = index & (launch->chip->warp_width - 1);
  thread->view.warp = index >> launch->warp_shift;
  thread->view.own_warp = own >> launch->warp_shift;
  thread->view.block = &worker->members[member].block;
  thread->worker = worker;
  thread->in_warp = &worker->warps[thread->view.warp];
  thread->in_warp->exists |= emu_bit(thread->view.lane);
}

static void place_members(emu_worker_t *worker, const emu_launch_t *launch) {
  for (uint32_t i = 0; i < launch->members; ++i) {
    emu_member_t *member = &worker->members[i];
    member->first_thread = i * launch->member_threads;
    member->first_warp = i * launch->member_warps;
    member->block = (tessera_emu_block_t){.warp_width = launch->chip->warp_width,
                                          .shared = worker->window + (size_t)i * EMU_WINDOW_BYTES,
                                          .rank = i,
                                          .ranks = launch->members};
    memcpy(member->block.size, launch->block, sizeof launch->block);
    memcpy(member->block.grid, launch->grid, sizeof launch->grid);
    memcpy(member->block.cluster, launch->cluster, sizeof launch->cluster);
    for (int axis = 0; axis < 3; ++axis)
      member->block.clusters[axis] = launch->grid[axis] / launch->cluster[axis];
  }
}

static bool place_warps(emu_worker_t *worker, const emu_launch_t *launch) {
  for (uint32_t w = 0; w < launch->warps; ++w) {
    emu_warp_t *warp = &worker->warps[w];
    warp->number = w;
    warp->exists = 0;
    if (launch->count && !warp->log && !(warp->log = emu_log_create()))
      return false;
  }
  for (uint32_t i = 0; i < launch->threads; ++i)
    place_thread(worker, launch, i);
  return true;
}

static bool clear_sites(emu_worker_t *worker) {
  if (worker->sites)
    memset(worker->sites, 0, worker->sites_used * sizeof *worker->sites);
  else
    worker->sites = calloc(TESSERA_EMULATOR_SITES + 1, sizeof *worker->sites);
  worker->sites_used = 0;
  return worker->sites;
}

bool emu_worker_prepare(emu_worker_t *worker, emu_launch_t *launch) {
  worker->launch = launch;
  worker->now = launch->first_stamp + 1;
  worker->no_memory = false;
  worker->steps = 0;
  memset(&worker->counters, 0, sizeof worker->counters);
  memset(worker->buffer_of_site, 0, sizeof worker->buffer_of_site);
  emu_findings_clear(worker->findings);
  if (launch->count && !clear_sites(worker))
    return false;
  if (launch->trace && !(worker->trace = emu_trace_create()))
    return false;
  if (!take_windows(worker, launch->chip, launch->members) || !take_stacks(worker, launch))
    return false;
  place_members(worker, launch);
  return place_warps(worker, launch);
}
