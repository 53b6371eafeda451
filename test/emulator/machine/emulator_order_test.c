// emulator_order_test.c - random kernels, judged a second time: the test knows every order that a kernel's
// synchronization makes, by plain vector clocks of one number per thread, and so every pair of accesses that races. The
// emulator must report only such pairs, and at least one for each word that has one, under every seed.
#include "test/emulator/machine/emulate.h"

enum { THREADS = 128, WARPS = 4, BYTES = 96, PHASES = 14, ACCESSES = 6, KERNELS = 150, SEEDS = 3 };

typedef enum sync_t { NO_SYNC, BARRIER, WARP_SYNC, NAMED, FLAG, FLAG_BY_FENCES, SHUFFLE, SYNCS } sync_t;

typedef struct access_t {
  uint32_t thread, begin, bytes; // of one block, bytes up to BYTES / 2 are shared memory; all others global
  bool write, atomic;
} access_t;

typedef struct phase_t {
  access_t accesses[ACCESSES];
  sync_t sync;
  uint32_t warp, from, to; // WARP_SYNC, and BARRIER for the block; FLAG: threads
  uint64_t mask;           // WARP_SYNC: lanes; NAMED: warps that wait
  uint64_t arriving;       // NAMED: warps that do not wait
} phase_t;

typedef struct program_t {
  uint32_t blocks, block_threads; // THREADS in all; threads and warps are numbered through the blocks
  phase_t phases[PHASES];
} program_t;

static uint32_t site_of(uint32_t phase, uint32_t access) { return 1 + phase * ACCESSES + access; }

//===--- Making programs -------------------------------------------------===//

static uint64_t below(uint64_t *random, uint64_t n) { return (checkRandom(random) >> 20) % n; }

static access_t make_access(uint64_t *random) {
  static const uint32_t sizes[] = {1, 2, 4, 4, 8, 16, 16};
  access_t access = {.thread = (uint32_t)below(random, THREADS), .bytes = sizes[below(random, 7)]};
  if (below(random, 2)) // few threads meet often
    access.thread = (uint32_t)below(random, 4) * 32 + (uint32_t)below(random, 2);
  access.begin = (uint32_t)below(random, BYTES / access.bytes) * access.bytes;
  access.write = below(random, 2);
  access.atomic = access.bytes == 4 && below(random, 3) == 0;
  return access;
}

static void make_named(uint64_t *random, phase_t *phase) {
  phase->mask = 1 + below(random, 15);
  phase->arriving = below(random, 16) & ~phase->mask;
}

// A block may wait for one before it, which runs first or beside it, but for none after it.
static void make_flag(uint64_t *random, phase_t *phase, uint32_t block_threads) {
  uint32_t a = (uint32_t)below(random, THREADS), b = (uint32_t)below(random, THREADS);
  b = a == b ? (b + 1) % THREADS : b;
  bool backwards = a / block_threads > b / block_threads;
  phase->from = backwards ? b : a;
  phase->to = backwards ? a : b;
}

static phase_t make_phase(uint64_t *random, uint32_t block_threads) {
  phase_t phase = {.sync = (sync_t)below(random, SYNCS), .warp = (uint32_t)below(random, WARPS)};
  if (phase.sync == BARRIER && below(random, 3))
    phase.sync = WARP_SYNC; // or all would be in order
  for (int i = 0; i < ACCESSES; ++i)
    phase.accesses[i] = make_access(random);
  make_flag(random, &phase, block_threads);
  phase.mask = below(random, 2) ? 0xffffffff : 3 | below(random, UINT64_C(1) << 32);
  if (phase.sync == NAMED && block_threads < THREADS)
    phase.sync = FLAG;
  else if (phase.sync == NAMED)
    make_named(random, &phase);
  return phase;
}

static program_t make_program(uint64_t *random, uint32_t blocks) {
  program_t program = {blocks, THREADS / blocks};
  for (int p = 0; p < PHASES; ++p)
    program.phases[p] = make_phase(random, program.block_threads);
  return program;
}

//===--- The kernel: params = {program, memory, flags} -------------------===//

static void do_access(self_t *self, const access_t *access, char *memory, uint32_t site) {
  bool shared = self->block->grid[0] == 1 && access->begin < BYTES / 2;
  char *at = (shared ? self->block->shared : memory) + access->begin;
  uint32_t bytes = access->bytes, what = access->write ? TESSERA_EMU_STORE : TESSERA_EMU_LOAD;
  if (access->atomic) {
    tessera_emu_atomic_begin(self, at, bytes, what, TESSERA_EMU_RELAXED, TESSERA_EMU_SCOPE_DEVICE, site);
    tessera_emu_atomic_end(self);
  } else {
    tessera_emu_access(self, at, bytes, what, site);
  }
}

static void set_flag(self_t *self, int *flag, bool fences) {
  if (fences)
    tessera_emu_fence(self, TESSERA_EMU_RELEASE, TESSERA_EMU_SCOPE_DEVICE, 1);
  int *place =
      tessera_emu_atomic_begin(self, flag, 4, TESSERA_EMU_STORE, fences ? TESSERA_EMU_RELAXED : TESSERA_EMU_RELEASE,
                               TESSERA_EMU_SCOPE_DEVICE, 1);
  __atomic_store_n(place, 1, __ATOMIC_SEQ_CST);
  tessera_emu_atomic_end(self);
}

static void await_flag(self_t *self, int *flag, bool fences) {
  for (int seen = 0; !seen;) {
    int *place =
        tessera_emu_atomic_begin(self, flag, 4, TESSERA_EMU_LOAD, fences ? TESSERA_EMU_RELAXED : TESSERA_EMU_ACQUIRE,
                                 TESSERA_EMU_SCOPE_DEVICE, 1);
    seen = __atomic_load_n(place, __ATOMIC_SEQ_CST);
    tessera_emu_atomic_end(self);
  }
  if (fences)
    tessera_emu_fence(self, TESSERA_EMU_ACQUIRE, TESSERA_EMU_SCOPE_DEVICE, 1);
}

static void no_meaning(const tessera_emu_group_t *group, const void *parameter) {
  (void)group;
  (void)parameter;
}

static void do_named(self_t *self, const phase_t *phase, uint32_t id) {
  uint32_t count = 32 * (uint32_t)__builtin_popcountll(phase->mask | phase->arriving);
  if (phase->mask >> self->warp & 1)
    tessera_emu_barrier(self, id, count, 999);
  else if (phase->arriving >> self->warp & 1)
    tessera_emu_barrier_arrive(self, id, count, 999);
}

static void do_sync(self_t *self, const program_t *program, uint32_t number, int *flag) {
  const phase_t *phase = &program->phases[number];
  bool fences = phase->sync == FLAG_BY_FENCES;
  uint32_t thread = self->block->id[0] * program->block_threads + self->index, warp = thread / 32;
  if (phase->sync == BARRIER && phase->warp * 32 / program->block_threads == self->block->id[0])
    tessera_emu_barrier(self, 0, 0, 998);
  else if (phase->sync == WARP_SYNC && warp == phase->warp && phase->mask >> self->lane & 1)
    tessera_emu_warp_sync(self, phase->mask, 997);
  else if (phase->sync == SHUFFLE && warp == phase->warp)
    tessera_emu_collective(self, 0xffffffff, TESSERA_EMU_ALIGNED, no_meaning, NULL, NULL, 996);
  else if (phase->sync == NAMED)
    do_named(self, phase, 1 + number); // each its own: a warp may run ahead
  else if ((phase->sync == FLAG || fences) && thread == phase->from)
    set_flag(self, flag, fences);
  else if ((phase->sync == FLAG || fences) && thread == phase->to)
    await_flag(self, flag, fences);
}

static void run_program(self_t *self, void **params) {
  const program_t *program = *(const program_t **)params[0];
  char *memory = *(char **)params[1];
  int *flags = *(int **)params[2];
  uint32_t thread = self->block->id[0] * program->block_threads + self->index;
  for (uint32_t p = 0; p < PHASES; ++p) {
    const phase_t *phase = &program->phases[p];
    for (uint32_t i = 0; i < ACCESSES; ++i)
      if (phase->accesses[i].thread == thread)
        do_access(self, &phase->accesses[i], memory, site_of(p, i));
    do_sync(self, program, p, &flags[p]);
  }
}

//===--- The second judge ------------------------------------------------===//

typedef struct judge_t {
  uint32_t clock[THREADS][THREADS];                 // clock[t][u]: what t knows of u
  uint32_t seen[PHASES * ACCESSES][THREADS];        // clock of the thread at its access
  bool races[PHASES * ACCESSES][PHASES * ACCESSES]; // later, earlier
} judge_t;

static void join(uint32_t *into, const uint32_t *from) {
  for (int u = 0; u < THREADS; ++u)
    into[u] = from[u] > into[u] ? from[u] : into[u];
}

static bool takes_part(const program_t *program, const phase_t *phase, uint32_t thread, bool waits) {
  if (phase->sync == BARRIER)
    return thread / program->block_threads == phase->warp * 32 / program->block_threads;
  if (phase->sync == WARP_SYNC)
    return thread / 32 == phase->warp && phase->mask >> thread % 32 & 1;
  uint64_t warps = waits ? phase->mask : phase->mask | phase->arriving;
  return phase->sync == NAMED && warps >> thread / 32 & 1;
}

static void judge_sync(judge_t *judge, const program_t *program, const phase_t *phase) {
  uint32_t all[THREADS] = {0};
  if (phase->sync == FLAG || phase->sync == FLAG_BY_FENCES) {
    join(judge->clock[phase->to], judge->clock[phase->from]);
    ++judge->clock[phase->from][phase->from];
  }
  for (uint32_t t = 0; t < THREADS; ++t)
    if (takes_part(program, phase, t, false))
      join(all, judge->clock[t]);
  for (uint32_t t = 0; t < THREADS; ++t) {
    if (takes_part(program, phase, t, true))
      join(judge->clock[t], all);
    if (takes_part(program, phase, t, false))
      ++judge->clock[t][t];
  }
}

static bool covers(const access_t *access, uint32_t byte) {
  return byte >= access->begin && byte < access->begin + access->bytes;
}

static bool conflict(const access_t *a, const access_t *b) {
  bool overlap = a->begin < b->begin + b->bytes && b->begin < a->begin + a->bytes;
  return a->thread != b->thread && (a->write || b->write) && overlap && !(a->atomic && b->atomic);
}

static const access_t *access_at(const program_t *program, uint32_t number) {
  return &program->phases[number / ACCESSES].accesses[number % ACCESSES];
}

static void judge_program(judge_t *judge, const program_t *program) {
  memset(judge, 0, sizeof *judge);
  for (uint32_t t = 0; t < THREADS; ++t)
    judge->clock[t][t] = 1;
  for (uint32_t i = 0; i < PHASES * ACCESSES; ++i) {
    const access_t *access = access_at(program, i);
    memcpy(judge->seen[i], judge->clock[access->thread], sizeof judge->seen[i]);
    for (uint32_t j = 0; j < i; ++j) {
      const access_t *before = access_at(program, j);
      bool ordered = judge->seen[j][before->thread] <= judge->seen[i][before->thread];
      judge->races[i][j] = judge->races[j][i] = conflict(access, before) && !ordered;
    }
    if (i % ACCESSES == ACCESSES - 1)
      judge_sync(judge, program, &program->phases[i / ACCESSES]);
  }
}

//===--- Comparing -------------------------------------------------------===//

static void mark(bool *words, const access_t *a, const access_t *b) {
  for (uint32_t byte = 0; byte < BYTES; ++byte)
    words[byte / 4] |= covers(a, byte) && covers(b, byte);
}

static uint32_t compare(const judge_t *judge, const program_t *program, const tessera_emulator_report_t *report,
                        int kernel) {
  bool wanted[BYTES / 4] = {false}, found[BYTES / 4] = {false};
  uint32_t races = 0;
  for (uint32_t i = 0; i < PHASES * ACCESSES; ++i)
    for (uint32_t j = 0; j < i; ++j)
      if (judge->races[i][j])
        mark(wanted, access_at(program, i), access_at(program, j)), races++;
  for (size_t f = 0; f < report->finding_count; ++f) {
    const tessera_emulator_finding_t *finding = &report->findings[f];
    if (finding->kind == TESSERA_EMULATOR_UNINITIALIZED)
      continue;
    bool right = finding->kind == TESSERA_EMULATOR_RACE && finding->site && finding->other_site &&
                 judge->races[finding->site - 1][finding->other_site - 1];
    CHECK(right, "kernel %d: %s", kernel, finding->text);
    if (right)
      mark(found, access_at(program, finding->site - 1), access_at(program, finding->other_site - 1));
  }
  bool any_wanted = false, any_found = false;
  for (int word = 0; word < BYTES / 4; ++word) {
    any_wanted |= wanted[word];
    any_found |= found[word];
    CHECK(found[word] == wanted[word] || program->blocks > 1, "kernel %d, word %d: a race was missed", kernel, word);
  }
  CHECK(any_wanted == any_found, "kernel %d of %u blocks: all races were missed", kernel, program->blocks);
  return races;
}

static tessera_emulator_report_t *run(const program_t *program, uint64_t seed) {
  char memory[BYTES] __attribute__((aligned(16))) = {0}, *memory_at = memory;
  int flags[PHASES] = {0}, *flags_at = flags;
  tessera_emulator_buffer_t buffers[] = {{memory, sizeof memory, "memory"}, {flags, sizeof flags, "flags"}};
  return emulate(&(tessera_emulator_launch_t){.kernel = run_program,
                                              .params = (void *[]){&program, &memory_at, &flags_at},
                                              .grid = {program->blocks},
                                              .block = {program->block_threads},
                                              .shared_bytes = BYTES / 2,
                                              .buffers = buffers,
                                              .buffer_count = 2,
                                              .checks = true,
                                              .seed = seed,
                                              .threads = 1 + (int)seed});
}

int main(void) {
  judge_t *judge = malloc(sizeof *judge);
  uint64_t random = 20261121;
  uint32_t races = 0;
  for (int kernel = 0; kernel < KERNELS; ++kernel) {
    program_t program = make_program(&random, kernel % 2 ? 1 : kernel % 4 ? 2 : 4);
    judge_program(judge, &program);
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
      tessera_emulator_report_t *report = run(&program, seed);
      races += compare(judge, &program, report, kernel);
      tessera_emulator_report_destroy(report);
    }
  }
  free(judge);
  printf("%u racing pairs\n", races);
  CHECK(races > 1000);
  return checkResult(KERNELS * SEEDS * BYTES / 4);
}
