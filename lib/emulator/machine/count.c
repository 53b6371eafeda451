// count.c - see count.h. Costs: a comparison and two stores per access while lanes agree, and one pass over a warp's
// addresses per instruction.
#include "lib/emulator/machine/count.h"

#include "lib/emulator/machine/timing.h"
#include "lib/emulator/machine/wave.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 256, LOOK_AHEAD = 64, MOST_BANKS = 128, MOST_WORDS = 255, MOST_SECTORS = 512 };

// One instruction of a warp.
typedef struct entry_t {
  uint32_t site, what;
  uint16_t bytes, next; // next: entry that follows; 0 ends
  uint64_t mask;        // lanes
  uint32_t before;      // cycles of issue before it, of the first lane
  uint64_t address[EMU_WIDEST];
} entry_t;

struct emu_log_t {
  uint32_t used;             // entries; the first only begins the list
  uint32_t flushes;          // how often it was emptied
  uint16_t last[EMU_WIDEST]; // entry each lane executed last
  entry_t entries[ENTRIES];
};

emu_log_t *emu_log_create(void) {
  emu_log_t *log = calloc(1, sizeof *log);
  if (log)
    log->used = 1;
  return log;
}

void emu_log_destroy(emu_log_t *log) { free(log); }

uint32_t emu_log_length(const emu_log_t *log) { return log->used - 1; }

//===--- Accounting ------------------------------------------------------===//

// Lanes that each read an aligned piece take the same banks side by side: those count as one, as wide as the piece.
static uint32_t bank_bytes_for(const tessera_emulator_chip_t *chip, const entry_t *entry) {
  uint32_t bytes = entry->bytes;
  uint64_t all = 0;
  for (uint64_t rest = entry->mask; rest; rest &= rest - 1)
    all |= entry->address[__builtin_ctzll(rest)];
  bool aligned = !(bytes & (bytes - 1)) && !(all & (bytes - 1));
  return aligned && bytes > chip->bank_bytes && (chip->banks * chip->bank_bytes) % bytes == 0 ? bytes
                                                                                              : chip->bank_bytes;
}

// How many different words the banks must give for the lanes of one phase: the fullest bank decides. Each bank's words
// are a chain, at most as many in all as lanes times words of a lane.
static uint32_t wavefronts_of_phase(const entry_t *entry, uint64_t lanes, uint32_t banks, uint32_t bank_bytes) {
  uint64_t words[MOST_WORDS];
  uint8_t next[MOST_WORDS], first[MOST_BANKS], length[MOST_BANKS];
  uint32_t used = 1, most = 0; // chains end with 0
  memset(first, 0, banks);
  memset(length, 0, banks);
  for (; lanes; lanes &= lanes - 1) {
    uint64_t address = entry->address[__builtin_ctzll(lanes)];
    for (uint64_t word = address / bank_bytes; word <= (address + entry->bytes - 1) / bank_bytes; ++word) {
      uint32_t bank = (uint32_t)(word % banks), at = first[bank];
      while (at && words[at] != word)
        at = next[at];
      if (at || used == MOST_WORDS)
        continue;
      words[used] = word;
      next[used] = first[bank];
      first[bank] = (uint8_t)used++;
      most = ++length[bank] > most ? length[bank] : most;
    }
  }
  return most;
}

static void account_shared(emu_worker_t *worker, const entry_t *entry, tessera_emulator_site_counters_t *site) {
  const tessera_emulator_chip_t *chip = worker->launch->chip;
  uint32_t bytes = entry->bytes > chip->bank_bytes ? entry->bytes : chip->bank_bytes;
  uint32_t lanes = chip->banks * chip->bank_bytes / bytes, wavefronts = 0, phases = 0;
  uint32_t bank_bytes = bank_bytes_for(chip, entry), banks = chip->banks * chip->bank_bytes / bank_bytes;
  lanes = lanes ? lanes : 1;
  for (uint32_t first = 0; first < chip->warp_width; first += lanes) {
    uint64_t phase = entry->mask >> first & (lanes >= 64 ? ~UINT64_C(0) : emu_bit(lanes) - 1);
    if (!phase)
      continue;
    wavefronts += wavefronts_of_phase(entry, phase << first, banks, bank_bytes);
    ++phases;
  }
  site->transactions += wavefronts;
  site->ideal += phases;
  worker->counters.shared_wavefronts += wavefronts;
  worker->counters.shared_bank_conflicts += wavefronts > phases ? wavefronts - phases : 0;
}

// The sectors touched, with one bit for each of their bytes.
typedef struct sectors_t {
  uint64_t number[MOST_SECTORS], touched[MOST_SECTORS][2], highest;
  uint32_t count;
} sectors_t;

// Addresses mostly ascend: a new highest sector needs no search, and the last one is the likely one.
static uint32_t place_of(sectors_t *sectors, uint64_t sector) {
  uint32_t count = sectors->count;
  if (count && sector <= sectors->highest)
    for (uint32_t i = count; i--;)
      if (sectors->number[i] == sector)
        return i;
  if (!count || sector > sectors->highest)
    sectors->highest = sector;
  sectors->number[count] = sector;
  sectors->touched[count][0] = sectors->touched[count][1] = 0;
  sectors->count = count + (count < MOST_SECTORS - 1);
  return count;
}

static uint64_t low_bits(uint64_t n) { return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }

static void touch(sectors_t *sectors, uint32_t place, uint64_t from, uint64_t to) {
  if (from < 64)
    sectors->touched[place][0] |= low_bits(to) & ~low_bits(from);
  if (to > 64)
    sectors->touched[place][1] |= low_bits(to - 64) & ~low_bits(from > 64 ? from - 64 : 0);
}

static void touch_access(sectors_t *sectors, uint64_t address, uint64_t bytes, uint64_t sector_bytes) {
  for (uint64_t at = address, end = address + bytes; at < end;) {
    uint64_t sector = at / sector_bytes, begin = sector * sector_bytes;
    uint64_t stop = begin + sector_bytes < end ? begin + sector_bytes : end;
    touch(sectors, place_of(sectors, sector), at - begin, stop - begin);
    at = stop;
  }
}

static uint64_t bytes_touched(const sectors_t *sectors) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < sectors->count; ++i)
    bytes +=
        (uint64_t)__builtin_popcountll(sectors->touched[i][0]) + (uint64_t)__builtin_popcountll(sectors->touched[i][1]);
  return bytes;
}

// Lanes that read one after another, without gaps, as most do: no table is needed.
static bool is_contiguous(const entry_t *entry) {
  uint64_t previous = entry->address[__builtin_ctzll(entry->mask)];
  for (uint64_t rest = entry->mask & (entry->mask - 1); rest; rest &= rest - 1) {
    uint64_t address = entry->address[__builtin_ctzll(rest)];
    if (address != previous + entry->bytes)
      return false;
    previous = address;
  }
  return true;
}

static void account_global(emu_worker_t *worker, const entry_t *entry, tessera_emulator_site_counters_t *site) {
  uint64_t sector = worker->launch->chip->sector_bytes, transactions, bytes;
  if (is_contiguous(entry)) {
    uint64_t first = entry->address[__builtin_ctzll(entry->mask)];
    bytes = (uint64_t)__builtin_popcountll(entry->mask) * entry->bytes;
    transactions = (first + bytes - 1) / sector - first / sector + 1;
    emu_wave_touch(worker, first, bytes);
  } else {
    sectors_t sectors;
    sectors.count = 0;
    for (uint64_t rest = entry->mask; rest; rest &= rest - 1) {
      touch_access(&sectors, entry->address[__builtin_ctzll(rest)], entry->bytes, sector);
      emu_wave_touch(worker, entry->address[__builtin_ctzll(rest)], entry->bytes);
    }
    transactions = sectors.count;
    bytes = bytes_touched(&sectors);
  }
  site->transactions += transactions;
  site->ideal += (bytes + sector - 1) / sector;
  worker->counters.global_transactions += transactions;
}

static void account_bytes(tessera_emulator_counters_t *counters, const entry_t *entry, uint64_t bytes) {
  bool shared = entry->what & TESSERA_EMU_SHARED;
  if (entry->what & TESSERA_EMU_LOAD) {
    *(shared ? &counters->shared_bytes_read : &counters->global_bytes_read) += bytes;
    ++*(shared ? &counters->shared_loads : &counters->global_loads);
  }
  if (entry->what & TESSERA_EMU_STORE) {
    *(shared ? &counters->shared_bytes_written : &counters->global_bytes_written) += bytes;
    ++*(shared ? &counters->shared_stores : &counters->global_stores);
  }
}

static tessera_emulator_site_counters_t *use_site(emu_worker_t *worker, uint32_t site) {
  if (site >= worker->sites_used)
    worker->sites_used = site + 1;
  return &worker->sites[site];
}

// Returns its transactions.
static uint64_t account(emu_worker_t *worker, const entry_t *entry) {
  tessera_emulator_site_counters_t *site = use_site(worker, entry->site);
  uint64_t lanes = (uint64_t)__builtin_popcountll(entry->mask), before = site->transactions;
  ++site->executions;
  site->lanes += lanes;
  site->bytes += lanes * entry->bytes;
  account_bytes(&worker->counters, entry, lanes * entry->bytes);
  if (entry->what & TESSERA_EMU_SHARED)
    account_shared(worker, entry, site);
  else
    account_global(worker, entry, site);
  return site->transactions - before;
}

void emu_count_bulk(emu_worker_t *worker, uint32_t bytes, bool writes, uint32_t site) {
  tessera_emulator_counters_t *counters = &worker->counters;
  ++counters->async_copies;
  ++*(writes ? &counters->global_stores : &counters->global_loads);
  *(writes ? &counters->shared_bytes_read : &counters->shared_bytes_written) += bytes;
  ++use_site(worker, site)->executions;
  ++worker->sites[site].lanes;
}

void emu_count_bulk_row(emu_worker_t *worker, uint64_t address, uint32_t bytes, bool writes, uint32_t site) {
  uint64_t sector = worker->launch->chip->sector_bytes;
  uint64_t transactions = (address + bytes - 1) / sector - address / sector + 1;
  worker->counters.async_bytes += bytes;
  *(writes ? &worker->counters.global_bytes_written : &worker->counters.global_bytes_read) += bytes;
  worker->counters.global_transactions += transactions;
  worker->sites[site].bytes += bytes;
  worker->sites[site].transactions += transactions;
  worker->sites[site].ideal += (bytes + sector - 1) / sector;
  emu_wave_touch(worker, address, bytes);
}

//===--- For predictions -------------------------------------------------===//

static void record_access(emu_worker_t *worker, uint32_t warp, const entry_t *entry, uint64_t transactions) {
  bool shared = entry->what & TESSERA_EMU_SHARED, copies = entry->what & EMU_LOG_ASYNC;
  emu_event_kind_t kind = shared                           ? copies ? EMU_EVENT_SHARED_COPY : EMU_EVENT_SHARED
                          : copies                         ? EMU_EVENT_COPY
                          : entry->what & TESSERA_EMU_LOAD ? EMU_EVENT_LOAD
                                                           : EMU_EVENT_STORE;
  emu_timing_add(worker, warp, kind, entry->site, transactions);
}

static void record(emu_worker_t *worker, uint32_t warp, const entry_t *entry) {
  static const struct {
    uint32_t what;
    emu_event_kind_t kind;
  } kinds[] = {{EMU_LOG_USE, EMU_EVENT_USE},           {EMU_LOG_MMA, EMU_EVENT_MMA},
               {EMU_LOG_EXCHANGE, EMU_EVENT_EXCHANGE}, {EMU_LOG_COMMIT, EMU_EVENT_COMMIT},
               {EMU_LOG_WAIT, EMU_EVENT_WAIT},         {EMU_LOG_SIGNAL, EMU_EVENT_SIGNAL},
               {EMU_LOG_AWAIT, EMU_EVENT_AWAIT}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (entry->what & kinds[i].what)
      emu_timing_add(worker, warp, kinds[i].kind, entry->site, entry->address[__builtin_ctzll(entry->mask)]);
}

// The warp's instructions take the cycles of the lane that has most of them.
static void record_rest(emu_worker_t *worker, const emu_warp_t *warp, uint32_t done) {
  uint32_t most = 0;
  for (uint64_t lanes = warp->exists; lanes; lanes &= lanes - 1) {
    emu_thread_t *lane =
        &worker->threads[(warp->number << worker->launch->warp_shift) + (uint32_t)__builtin_ctzll(lanes)];
    most = lane->cycles > most ? lane->cycles : most;
    lane->cycles = 0;
  }
  emu_timing_add(worker, warp->number, EMU_EVENT_ISSUE, 0, most > done ? most - done : 0);
}

// Issue slots of an instruction in a partition that is as wide as its share of the core's multiply-adds.
static uint32_t cycles_of(const emu_launch_t *launch, tessera_emu_class_t class_) {
  const tessera_emulator_rates_t *rates = launch->given->rates;
  double floating = 2.0 * launch->chip->warp_width * rates->partitions / rates->floating;
  uint32_t cycles = floating > 1 ? (uint32_t)(floating + 0.5) : 1;
  return class_ == TESSERA_EMU_FLOATING ? cycles : class_ == TESSERA_EMU_SPECIAL ? 4 * cycles : 1;
}

void emu_log_flush(emu_worker_t *worker, emu_warp_t *warp) {
  emu_log_t *log = warp->log;
  uint32_t done = 0;
  if (!log || (log->used == 1 && !worker->timeline))
    return;
  for (uint32_t i = log->entries[0].next; i; i = log->entries[i].next) {
    const entry_t *entry = &log->entries[i];
    uint64_t transactions = 0;
    if (entry->what & (TESSERA_EMU_LOAD | TESSERA_EMU_STORE))
      transactions = account(worker, entry);
    if (!worker->timeline)
      continue;
    if (entry->before > done) {
      emu_timing_add(worker, warp->number, EMU_EVENT_ISSUE, 0, entry->before - done);
      done = entry->before;
    }
    if (entry->what & (TESSERA_EMU_LOAD | TESSERA_EMU_STORE))
      record_access(worker, warp->number, entry, transactions);
    else
      record(worker, warp->number, entry);
  }
  if (worker->timeline)
    record_rest(worker, warp, done);
  log->used = 1;
  ++log->flushes;
  log->entries[0].next = 0;
  memset(log->last, 0, sizeof log->last);
}

//===--- Logging ---------------------------------------------------------===//

static bool is_same(const entry_t *entry, uint32_t bytes, uint32_t what, uint32_t site) {
  return entry->site == site && entry->what == what && entry->bytes == bytes;
}

// The entry of this instruction that comes next after what the lane did last, or 0.
static uint16_t find_entry(const emu_log_t *log, uint32_t lane, uint32_t bytes, uint32_t what, uint32_t site) {
  uint16_t at = log->entries[log->last[lane]].next;
  for (int i = 0; at && i < LOOK_AHEAD; ++i, at = log->entries[at].next)
    if (is_same(&log->entries[at], bytes, what, site))
      return at;
  return 0;
}

// When the log is full: the others of the warp catch up, the last to do so empties it and all go on.
static void make_room(emu_thread_t *self) {
  emu_warp_t *warp = self->in_warp;
  if (self->worker->in_meaning || warp->ready == emu_bit(self->view.lane)) {
    emu_log_flush(self->worker, warp);
    warp->ready |= warp->at_log_end;
    warp->at_log_end = 0;
    return;
  }
  warp->at_log_end |= emu_bit(self->view.lane);
  emu_wait(self, EMU_AT_LOG_END, self->wait_site);
}

static uint16_t insert(emu_log_t *log, uint32_t lane, uint32_t bytes, uint32_t what, uint32_t site, uint32_t cycles) {
  uint16_t number = (uint16_t)log->used++;
  entry_t *entry = &log->entries[number], *before = &log->entries[log->last[lane]];
  entry->site = site;
  entry->what = what;
  entry->bytes = (uint16_t)bytes;
  entry->mask = 0;
  entry->before = cycles;
  entry->next = before->next;
  before->next = number;
  return number;
}

void emu_log_add(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t site) {
  emu_log_t *log = self->in_warp->log;
  uint32_t lane = self->view.lane;
  what &= TESSERA_EMU_LOAD | TESSERA_EMU_STORE | TESSERA_EMU_GLOBAL | TESSERA_EMU_SHARED | EMU_LOG_OTHERS;
  uint16_t found;
  while (!(found = find_entry(log, lane, bytes, what, site)) && log->used == ENTRIES)
    make_room(self);
  if (!found)
    found = insert(log, lane, bytes, what, site, self->cycles);
  log->entries[found].mask |= emu_bit(lane);
  log->entries[found].address[lane] = address;
  log->last[lane] = found;
}

// Has the thread done nothing since its last look but use what it saw?
static bool looks_again(const emu_thread_t *self, uintptr_t address, uint32_t site) {
  const emu_log_t *log = self->in_warp->log;
  const emu_look_t *look = &self->look;
  uint16_t last = log->last[self->view.lane];
  return look->place == address && look->site == site && look->flushes == log->flushes &&
         (last == look->last || (log->entries[look->last].next == last && log->entries[last].what == EMU_LOG_USE));
}

void emu_log_look(emu_thread_t *self, uintptr_t address, uint32_t bytes, uint32_t what, uint32_t site) {
  emu_log_t *log = self->in_warp->log;
  emu_look_t *look = &self->look;
  if (looks_again(self, address, site)) {
    log->last[self->view.lane] = look->entry;
    self->cycles = look->cycles;
  } else {
    uint32_t cycles = self->cycles;
    emu_log_add(self, address, bytes, what, site);
    *look = (emu_look_t){address, site, cycles, log->flushes, log->last[self->view.lane], 0};
  }
  if (self->worker->timeline)
    emu_log_add(self, emu_signal_at(self->worker->launch->signals, address), 0, EMU_LOG_AWAIT, site);
  look->last = log->last[self->view.lane];
}

void emu_log_signal(emu_thread_t *self, uintptr_t address, uint32_t site) {
  if (self->worker->timeline)
    emu_log_add(self, emu_signal_add(self->worker->launch->signals, address), 0, EMU_LOG_SIGNAL, site);
}

//===--- What compiled code counts by itself -----------------------------===//

void tessera_emu_count(tessera_emu_thread_t *thread, tessera_emu_class_t class_, uint32_t count) {
  emu_worker_t *worker = emu_of(thread)->worker;
  worker->steps += count;
  worker->counters.instructions[class_] += count;
  if (worker->timeline)
    emu_of(thread)->cycles += count * cycles_of(worker->launch, class_);
}

void tessera_emu_use(tessera_emu_thread_t *thread, uint32_t site) {
  if (emu_of(thread)->worker->timeline)
    emu_log_add(emu_of(thread), 0, 0, EMU_LOG_USE, site <= TESSERA_EMULATOR_SITES ? site : 0);
}

void tessera_emu_count_mma(tessera_emu_thread_t *thread, uint64_t flops, uint32_t rate, uint32_t site) {
  emu_worker_t *worker = emu_of(thread)->worker;
  ++worker->counters.mma_instructions;
  worker->counters.mma_flops += flops;
  if (worker->launch->count && site <= TESSERA_EMULATOR_SITES)
    use_site(worker, site)->mma_flops += flops;
  if (worker->timeline)
    emu_log_add(emu_of(thread), flops << 5 | (rate & 31), 0, EMU_LOG_MMA, site <= TESSERA_EMULATOR_SITES ? site : 0);
}

void tessera_emu_count_flops(tessera_emu_thread_t *thread, uint64_t flops) {
  emu_of(thread)->worker->counters.flops += flops;
}

// All fields of both kinds of counters are uint64_t.
static void add_all(uint64_t *sums, const uint64_t *terms, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof *sums; ++i)
    sums[i] += terms[i];
}

void emu_counters_add(tessera_emulator_counters_t *into, const tessera_emulator_counters_t *from) {
  add_all((uint64_t *)into, (const uint64_t *)from, sizeof *into);
}

void emu_site_counters_add(tessera_emulator_site_counters_t *into, const tessera_emulator_site_counters_t *from) {
  add_all((uint64_t *)into, (const uint64_t *)from, sizeof *into);
}
