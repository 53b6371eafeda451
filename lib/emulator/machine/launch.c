// launch.c - from the host's description of a launch to workers that run its blocks, and to one report.
// Expects: a grid and block the chip takes; says which of them it is when not. Leaves: everything the launch made is
// freed or the report's; workers (stacks, window, shadow) stay with the emulator for the next launch.
#include "lib/emulator/machine/launch.h"

#include "lib/emulator/machine/count.h"
#include "lib/emulator/machine/timing.h"
#include "lib/emulator/machine/trace.h"
#include "lib/emulator/machine/wave.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_WORKERS = 256, MOST_MAPPINGS = 32 };

// Memory of the race detector, kept from launch to launch: what stands in it is old by its stamps.
typedef enum kind_t { WORDS, MORE } kind_t; // of emu_buffer_t

typedef struct mapping_t {
  void *memory;
  size_t bytes;
  kind_t kind;
} mapping_t;

struct tessera_emulator_t {
  tessera_emulator_chip_t chip;
  emu_worker_t *workers[MOST_WORKERS];
  int worker_count;
  uint32_t last_stamp;               // of all launches so far
  mapping_t mappings[MOST_MAPPINGS]; // free ones
};

tessera_emulator_t *tessera_emulator_create(const tessera_emulator_chip_t *chip) {
  tessera_emulator_t *emulator = calloc(1, sizeof *emulator);
  if (emulator)
    emulator->chip = *chip;
  return emulator;
}

// Stamps begin anew, so nothing with old ones may stay.
static void forget(tessera_emulator_t *emulator) {
  for (int i = 0; i < MOST_MAPPINGS; ++i)
    if (emulator->mappings[i].memory)
      munmap(emulator->mappings[i].memory, emulator->mappings[i].bytes);
  memset(emulator->mappings, 0, sizeof emulator->mappings);
  for (int i = 0; i < emulator->worker_count; ++i)
    emu_worker_destroy(emulator->workers[i]);
  emulator->worker_count = 0;
  emulator->last_stamp = 0;
}

void tessera_emulator_destroy(tessera_emulator_t *emulator) {
  if (!emulator)
    return;
  forget(emulator);
  free(emulator);
}

//===--- Is it a launch? -------------------------------------------------===//

static bool check_chip(const tessera_emulator_chip_t *chip, tessera_error_t *error) {
  if (chip->warp_width != 32 && chip->warp_width != 64)
    return tessera_fail(error, "a warp of %u lanes; 32 and 64 are known", chip->warp_width);
  if (chip->shared_bytes > EMU_WINDOW_BYTES)
    return tessera_fail(error, "%u bytes of shared memory; at most %d can be emulated", chip->shared_bytes,
                        EMU_WINDOW_BYTES);
  if (!chip->banks || chip->banks > 128 || !chip->bank_bytes)
    return tessera_fail(error, "%u banks of %u bytes; 1 to 128 banks can be emulated", chip->banks, chip->bank_bytes);
  if (!chip->sector_bytes || chip->sector_bytes > 128 || chip->sector_bytes & (chip->sector_bytes - 1))
    return tessera_fail(error, "transactions of %u bytes; a power of two up to 128 can be emulated",
                        chip->sector_bytes);
  return true;
}

static uint32_t size_of(uint32_t given) { return given ? given : 1; }

// Warps of a cluster are numbered one after another, so blocks of a cluster have whole ones. Engines have numbers, too.
static bool shape_clusters(emu_launch_t *launch, tessera_error_t *error) {
  const uint32_t *given = launch->given->cluster;
  uint32_t most = launch->chip->cluster_blocks > 1 ? launch->chip->cluster_blocks : 1;
  uint64_t members = 1;
  for (int axis = 0; axis < 3; ++axis) {
    launch->cluster[axis] = size_of(given[axis]);
    members = members > most ? members : members * launch->cluster[axis];
  }
  if (members > most || members > EMU_MOST_MEMBERS)
    return tessera_fail(error, "a cluster of %u x %u x %u blocks; the chip takes %u", size_of(given[0]),
                        size_of(given[1]), size_of(given[2]), most);
  for (int axis = 0; axis < 3; ++axis)
    if (launch->grid[axis] % launch->cluster[axis])
      return tessera_fail(error, "a grid of %u blocks along axis %d, which is no multiple of the cluster's %u",
                          launch->grid[axis], axis, launch->cluster[axis]);
  if (members > 1 && launch->member_threads % launch->chip->warp_width)
    return tessera_fail(error, "a cluster of blocks of %u threads; whole warps of %u can be emulated",
                        launch->member_threads, launch->chip->warp_width);
  if (members > 1 && members * launch->member_threads > EMU_MOST_THREADS - EMU_MOST_ENGINES)
    return tessera_fail(error, "a cluster of %llu blocks of %u threads; at most %d threads can be emulated together",
                        (unsigned long long)members, launch->member_threads, EMU_MOST_THREADS - EMU_MOST_ENGINES);
  launch->members = (uint32_t)members;
  launch->clusters = launch->blocks / members;
  launch->threads = launch->members * launch->member_threads;
  launch->warps = launch->members * launch->member_warps;
  return true;
}

static bool shape(emu_launch_t *launch, tessera_error_t *error) {
  const tessera_emulator_launch_t *given = launch->given;
  uint64_t threads = 1, blocks = 1;
  uint32_t most = launch->chip->block_threads < EMU_MOST_THREADS ? launch->chip->block_threads : EMU_MOST_THREADS;
  for (int axis = 0; axis < 3; ++axis) {
    launch->grid[axis] = size_of(given->grid[axis]);
    launch->block[axis] = size_of(given->block[axis]);
    blocks = blocks > UINT32_MAX ? blocks : blocks * launch->grid[axis];
    threads = threads > UINT32_MAX ? threads : threads * launch->block[axis];
  }
  if (threads > most)
    return tessera_fail(error, "%llu threads in a block; the chip takes %u", (unsigned long long)threads, most);
  if (blocks >= UINT32_MAX / 2)
    return tessera_fail(error, "a grid of %u x %u x %u blocks; fewer than 2^31 can be emulated", launch->grid[0],
                        launch->grid[1], launch->grid[2]);
  launch->blocks = blocks;
  launch->member_threads = (uint32_t)threads;
  launch->warp_shift = launch->chip->warp_width == 64 ? 6 : 5;
  launch->member_warps = (launch->member_threads + launch->chip->warp_width - 1) >> launch->warp_shift;
  if (!shape_clusters(launch, error))
    return false;
  launch->first_engine = (launch->threads + EMU_WIDEST - 1) / EMU_WIDEST * EMU_WIDEST;
  launch->clocks = launch->first_engine + EMU_MOST_ENGINES;
  if (launch->clocks > EMU_MOST_THREADS)
    launch->clocks = EMU_MOST_THREADS;
  return true;
}

//===--- Global memory ---------------------------------------------------===//

static int by_address(const void *left, const void *right) {
  const emu_buffer_t *a = left, *b = right;
  return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static size_t words_of(const emu_buffer_t *buffer) { return ((buffer->end + 15) / 16 - buffer->begin / 16) * 4; }

static size_t records_of(const emu_buffer_t *buffer) { return words_of(buffer) / 4 * 5; } // see emu_buffer_t

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static size_t rounded(size_t bytes) { return (bytes + 65535) / 65536 * 65536; }

// What is in a free mapping are records of earlier launches, so it serves records of the same kind only.
static void *take_mapping(tessera_emulator_t *emulator, kind_t kind, size_t bytes) {
  for (int i = 0; i < MOST_MAPPINGS; ++i)
    if (emulator->mappings[i].bytes == rounded(bytes) && emulator->mappings[i].kind == kind) {
      void *memory = emulator->mappings[i].memory;
      emulator->mappings[i] = (mapping_t){NULL};
      return memory;
    }
  return map(rounded(bytes));
}

static void give_mapping(tessera_emulator_t *emulator, kind_t kind, void *memory, size_t bytes) {
  for (int i = 0; memory && i < MOST_MAPPINGS; ++i)
    if (!emulator->mappings[i].memory) {
      emulator->mappings[i] = (mapping_t){memory, rounded(bytes), kind};
      return;
    }
  if (memory)
    munmap(memory, rounded(bytes));
}

static bool shadow_buffer(tessera_emulator_t *emulator, emu_buffer_t *buffer) {
  buffer->word_count = words_of(buffer);
  if (buffer->given->uninitialized && !(buffer->written = map(buffer->word_count)))
    return false;
  if (buffer->given->read_only)
    return true;
  buffer->words = take_mapping(emulator, WORDS, records_of(buffer) * sizeof *buffer->words);
  buffer->more = take_mapping(emulator, MORE, records_of(buffer) * sizeof *buffer->more);
  return buffer->words && buffer->more;
}

static bool take_buffers(tessera_emulator_t *emulator, emu_launch_t *launch, tessera_error_t *error) {
  const tessera_emulator_launch_t *given = launch->given;
  launch->buffers = calloc(given->buffer_count + 1, sizeof *launch->buffers);
  if (!launch->buffers)
    return tessera_fail(error, "out of memory");
  launch->buffer_count = given->buffer_count;
  for (size_t i = 0; i < given->buffer_count; ++i) {
    const tessera_emulator_buffer_t *buffer = &given->buffers[i];
    launch->buffers[i] = (emu_buffer_t){
        .begin = (uintptr_t)buffer->base, .end = (uintptr_t)buffer->base + buffer->bytes, .given = buffer};
    if (launch->checks && buffer->bytes && !shadow_buffer(emulator, &launch->buffers[i]))
      return tessera_fail(error, "no memory to check a buffer of %zu bytes", buffer->bytes);
  }
  qsort(launch->buffers, launch->buffer_count, sizeof *launch->buffers, by_address);
  return true;
}

static void free_buffers(tessera_emulator_t *emulator, emu_launch_t *launch) {
  for (size_t i = 0; launch->buffers && i < launch->buffer_count; ++i) {
    emu_buffer_t *buffer = &launch->buffers[i];
    give_mapping(emulator, WORDS, buffer->words, records_of(buffer) * sizeof *buffer->words);
    give_mapping(emulator, MORE, buffer->more, records_of(buffer) * sizeof *buffer->more);
    if (buffer->written)
      munmap(buffer->written, words_of(buffer));
  }
  free(launch->buffers);
}

//===--- Running ---------------------------------------------------------===//

static int worker_count(const emu_launch_t *launch) {
  long wanted = launch->given->threads > 0 ? launch->given->threads : sysconf(_SC_NPROCESSORS_ONLN);
  if (wanted < 1)
    wanted = 1;
  if (launch->resident || wanted > MOST_WORKERS)
    wanted = MOST_WORKERS;
  return (uint64_t)wanted < launch->clusters ? (int)wanted : (int)launch->clusters;
}

// In an order of its own a launch has one host thread; blocks that may wait for each other are then all there.
static bool plan_workers(emu_launch_t *launch, tessera_error_t *error) {
  bool is_ordered = launch->order != EMU_SEEDED;
  launch->resident = launch->given->cooperative || (is_ordered && launch->clusters <= EMU_MOST_ORDERED);
  launch->workers = is_ordered && !launch->resident ? 1 : worker_count(launch);
  launch->alone = launch->resident || launch->workers == 1;
  if (launch->resident && launch->clusters > MOST_WORKERS)
    return tessera_fail(error, "a cooperative launch of %llu blocks; at most %d can be there at once",
                        (unsigned long long)launch->blocks, MOST_WORKERS * (int)launch->members);
  return true;
}

static bool take_workers(tessera_emulator_t *emulator, emu_launch_t *launch, tessera_error_t *error) {
  if (emulator->last_stamp > UINT32_MAX / 2)
    forget(emulator);
  launch->first_stamp = emulator->last_stamp;
  while (emulator->worker_count < launch->workers) {
    emu_worker_t *worker = emu_worker_create(&emulator->chip);
    if (!worker)
      return tessera_fail(error, "no memory, or no address below 4 GiB, for a worker");
    emulator->workers[emulator->worker_count++] = worker;
  }
  for (int i = 0; i < launch->workers; ++i)
    if (!emu_worker_prepare(emulator->workers[i], launch))
      return tessera_fail(error, "no memory for the stacks of %u threads", launch->threads);
  return true;
}

static void leave(emu_launch_t *launch) {
  emu_note_change(launch);
  atomic_fetch_sub(&launch->active, 1);
}

static void *work(void *argument) {
  emu_worker_t *worker = argument;
  emu_launch_t *launch = worker->launch;
  uint64_t number;
  while (!worker->no_memory && (number = atomic_fetch_add(&launch->next_block, 1)) < launch->clusters)
    if (emu_begin_block(worker, launch->order == EMU_LAST ? launch->clusters - 1 - number : number))
      emu_resume_block(worker);
  leave(launch);
  return NULL;
}

typedef struct residents_t {
  emu_worker_t **workers;
  emu_launch_t *launch;
  int running;
  bool runs[MOST_WORKERS];
} residents_t;

static void end_resident(residents_t *all, int i) {
  all->runs[i] = false;
  --all->running;
  ++all->launch->changes;
  leave(all->launch);
}

static bool lack_memory(const residents_t *all) {
  for (int i = 0; i < all->launch->workers; ++i)
    if (all->workers[i]->no_memory)
      return true;
  return false;
}

static bool have_aborted(const residents_t *all) {
  for (int i = 0; i < all->launch->workers; ++i)
    if (!all->runs[i] && all->workers[i]->aborted)
      return true;
  return false;
}

static bool all_only_poll(const residents_t *all) {
  if (!all->launch->checks && !all->launch->count)
    return false; // stores are not seen
  for (int i = 0; i < all->launch->workers; ++i)
    if (all->runs[i] && !emu_only_polls(all->workers[i]))
      return false;
  return all->running;
}

static void abandon_residents(residents_t *all) {
  for (int i = 0; i < all->launch->workers; ++i)
    if (all->runs[i]) {
      emu_abandon_block(all->workers[i]);
      end_resident(all, i);
    }
}

// Blocks that look in vain rest while others go on. Where none goes on, all look again: that is how a deadlock is
// found.
static void resume_residents(residents_t *all, bool *is_quiet) {
  bool was_quiet = *is_quiet;
  *is_quiet = true;
  for (int i = 0; i < all->launch->workers; ++i) {
    if (!all->runs[i] || (!was_quiet && emu_looks_in_vain(all->workers[i])))
      continue;
    *is_quiet &= was_quiet && emu_looks_in_vain(all->workers[i]);
    if (!emu_resume_block(all->workers[i]))
      end_resident(all, i);
  }
}

// All blocks of a cooperative launch take turns on this thread: one goes on until it ends or only spins. What waits for
// a block that ended early waits for ever: that block has a finding, or there was no memory for it.
static void run_resident(tessera_emulator_t *emulator, emu_launch_t *launch) {
  residents_t all = {.workers = emulator->workers, .launch = launch, .running = launch->workers};
  atomic_store(&launch->active, launch->workers);
  for (int i = 0; i < launch->workers; ++i) {
    all.runs[i] = true;
    if (!emu_begin_block(all.workers[i], (uint64_t)(launch->order == EMU_LAST ? launch->workers - 1 - i : i)))
      end_resident(&all, i);
  }
  bool is_quiet = false;
  while (all.running) {
    if (!lack_memory(&all))
      resume_residents(&all, &is_quiet);
    bool is_still = all_only_poll(&all);
    if (lack_memory(&all) || (is_still && have_aborted(&all)))
      abandon_residents(&all);
    launch->is_stuck = is_still;
  }
}

// The calling thread is a worker too. A host thread that cannot be made is done without.
static void run(tessera_emulator_t *emulator, emu_launch_t *launch) {
  pthread_t threads[MOST_WORKERS];
  int made = 0;
  atomic_store(&launch->active, launch->workers);
  for (int i = 1; i < launch->workers; ++i)
    if (pthread_create(&threads[made], NULL, work, emulator->workers[i]) == 0)
      ++made;
    else
      leave(launch);
  work(emulator->workers[0]);
  for (int i = 0; i < made; ++i)
    pthread_join(threads[i], NULL);
}

//===--- The report ------------------------------------------------------===//

static uint32_t sites_used(const emu_launch_t *launch, tessera_emulator_t *emulator) {
  uint32_t used = launch->given->site_count;
  for (int i = 0; i < launch->workers; ++i)
    if (emulator->workers[i]->sites_used > used)
      used = emulator->workers[i]->sites_used;
  return used;
}

static bool give_sites(tessera_emulator_t *emulator, const emu_launch_t *launch, tessera_emulator_report_t *report) {
  if (!launch->count)
    return true;
  report->site_count = sites_used(launch, emulator);
  report->sites = calloc(report->site_count + 1, sizeof *report->sites);
  for (int i = 0; report->sites && i < launch->workers; ++i)
    for (uint32_t site = 0; site < emulator->workers[i]->sites_used; ++site)
      emu_site_counters_add(&report->sites[site], &emulator->workers[i]->sites[site]);
  return report->sites;
}

static bool finish(tessera_emulator_t *emulator, const emu_launch_t *launch, tessera_emulator_report_t *report,
                   tessera_error_t *error) {
  bool good = true;
  for (int i = 0; i < launch->workers; ++i) {
    emu_worker_t *worker = emulator->workers[i];
    good = good && !worker->no_memory && (!worker->trace || emu_trace_give(worker->trace, report, launch));
    emu_counters_add(&report->counters, &worker->counters);
    if (i)
      emu_findings_merge(emulator->workers[0]->findings, worker->findings);
    if (worker->now > emulator->last_stamp)
      emulator->last_stamp = worker->now;
  }
  good = good && give_sites(emulator, launch, report) && emu_findings_give(emulator->workers[0]->findings, report);
  return good || tessera_fail(error, "no memory for %d blocks of %u threads at once", launch->workers, launch->threads);
}

// More shared memory than the chip has is a mistake of the kernel, not of the launch.
static bool shared_fits(const emu_launch_t *launch, tessera_emulator_report_t *report) {
  uint32_t wanted = launch->given->shared_bytes - launch->given->shared_added_bytes, there = launch->chip->shared_bytes;
  if (wanted <= there)
    return true;
  report->findings = calloc(1, sizeof *report->findings);
  if (!report->findings)
    return false;
  report->finding_count = 1;
  *report->findings =
      (tessera_emulator_finding_t){.kind = TESSERA_EMULATOR_SHARED_LIMIT, .address = wanted, .count = 1};
  snprintf(report->findings->text, sizeof report->findings->text,
           "%s: %s requires %u bytes for a block; the chip has %u; nothing was run",
           tessera_emulator_kind_text(TESSERA_EMULATOR_SHARED_LIMIT),
           launch->given->name ? launch->given->name : "the kernel", wanted, there);
  return false;
}

static bool launch_with(tessera_emulator_t *emulator, emu_launch_t *launch, tessera_emulator_report_t *report,
                        tessera_error_t *error) {
  emu_signals_t signals = {NULL};
  if (!plan_workers(launch, error) || !take_buffers(emulator, launch, error) || !take_workers(emulator, launch, error))
    return false;
  if (!emu_waves_begin(launch))
    return tessera_fail(error, "out of memory");
  launch->signals = launch->resident && launch->count && launch->given->rates ? &signals : NULL;
  if (launch->resident)
    run_resident(emulator, launch);
  else
    run(emulator, launch);
  bool good = finish(emulator, launch, report, error);
  report->cycles = launch->given->rates ? emu_timing_predict(launch, report->counters.wave_transactions) : 0;
  emu_signals_free(&signals);
  for (int i = 0; i < launch->workers; ++i)
    emu_worker_release(emulator->workers[i]);
  return good;
}

static bool run_launch(tessera_emulator_t *emulator, emu_launch_t *launch, tessera_emulator_report_t *report,
                       tessera_error_t *error) {
  if (!check_chip(launch->chip, error) || !shape(launch, error))
    return false;
  if (!shared_fits(launch, report))
    return report->finding_count || tessera_fail(error, "out of memory");
  bool good = launch_with(emulator, launch, report, error);
  emu_waves_end(launch);
  free_buffers(emulator, launch);
  return good;
}

tessera_emulator_report_t *emu_launch_in(tessera_emulator_t *emulator, const tessera_emulator_launch_t *given,
                                         emu_order_t order, bool *out_learned, tessera_error_t *out_error) {
  emu_launch_t *launch = calloc(1, sizeof *launch);
  tessera_emulator_report_t *report = calloc(1, sizeof *report);
  bool good = launch && report, is_first = order == EMU_SEEDED;
  if (good) {
    *launch = (emu_launch_t){.given = given,
                             .chip = &emulator->chip,
                             .order = order,
                             .checks = given->checks,
                             .count = given->count && is_first,
                             .trace = given->trace && is_first};
    good = run_launch(emulator, launch, report, out_error);
    *out_learned = atomic_load(&launch->has_learned);
  } else {
    tessera_fail(out_error, "out of memory");
  }
  free(launch);
  if (good)
    return report;
  tessera_emulator_report_destroy(report);
  return NULL;
}

void tessera_emulator_report_destroy(tessera_emulator_report_t *report) {
  if (!report)
    return;
  free(report->findings);
  free(report->sites);
  emu_trace_report_destroy(report->trace);
  free(report);
}
