// What the tests of the emulated machine share: two chips, a launch with the usual choices made, questions to its
// report.
#pragma once

#include "lib/emulator/machine/emulated_gpu.h"
#include "test/check.h"

#include <stdlib.h>

typedef tessera_emu_thread_t self_t;

static const tessera_emulator_chip_t wide32 = {
    .warp_width = 32, .shared_bytes = 232448, .banks = 32, .bank_bytes = 4, .sector_bytes = 32, .block_threads = 1024};
static const tessera_emulator_chip_t wide64 = {
    .warp_width = 64, .shared_bytes = 65536, .banks = 32, .bank_bytes = 4, .sector_bytes = 64, .block_threads = 1024};

// Runs it on a new emulator; null, with a line printed, when it could not be run.
static inline tessera_emulator_report_t *emulate_on(const tessera_emulator_chip_t *chip,
                                                    const tessera_emulator_launch_t *launch) {
  tessera_emulator_t *emulator = tessera_emulator_create(chip);
  tessera_emulator_report_t *report = NULL;
  tessera_error_t error = {""};
  if (!tessera_emulator_launch(emulator, launch, &report, &error))
    printf("not run: %s\n", error.text);
  tessera_emulator_destroy(emulator);
  return report;
}

static inline tessera_emulator_report_t *emulate(const tessera_emulator_launch_t *launch) {
  return emulate_on(&wide32, launch);
}

static inline const tessera_emulator_finding_t *find_kind(const tessera_emulator_report_t *report,
                                                          tessera_emulator_kind_t kind) {
  for (size_t i = 0; report && i < report->finding_count; ++i)
    if (report->findings[i].kind == kind)
      return &report->findings[i];
  return NULL;
}

static inline bool has_finding(const tessera_emulator_report_t *report, tessera_emulator_kind_t kind, uint32_t site,
                               uint32_t other_site) {
  for (size_t i = 0; report && i < report->finding_count; ++i) {
    const tessera_emulator_finding_t *finding = &report->findings[i];
    if (finding->kind == kind && ((finding->site == site && finding->other_site == other_site) ||
                                  (finding->site == other_site && finding->other_site == site)))
      return true;
  }
  return false;
}

static inline void print_findings(const tessera_emulator_report_t *report) {
  for (size_t i = 0; report && i < report->finding_count; ++i)
    printf("  %s [%llu times]\n", report->findings[i].text, (unsigned long long)report->findings[i].count);
}

static inline bool is_clean(const tessera_emulator_report_t *report) {
  if (report && report->finding_count)
    print_findings(report);
  return report && !report->finding_count;
}

// Accesses as compiled code makes them; the races are the emulator's to find, not the thread sanitizer's.
#define ACCESS(type, space)                                                                                            \
  __attribute__((no_sanitize("thread"))) static inline type space##_load_##type(self_t *self, const type *at,          \
                                                                                uint32_t site) {                       \
    return *(const type *)tessera_emu_access(self, at, sizeof *at, TESSERA_EMU_LOAD | TESSERA_EMU_ALIGN(sizeof *at),   \
                                             site);                                                                    \
  }                                                                                                                    \
  __attribute__((no_sanitize("thread"))) static inline void space##_store_##type(self_t *self, type *at, type value,   \
                                                                                 uint32_t site) {                      \
    *(type *)tessera_emu_access(self, at, sizeof *at, TESSERA_EMU_STORE | TESSERA_EMU_ALIGN(sizeof *at), site) =       \
        value;                                                                                                         \
  }
ACCESS(int, plain)
ACCESS(float, plain)
ACCESS(short, plain)
#undef ACCESS

#define LOAD(at, site) plain_load_int(self, at, site)
#define STORE(at, value, site) plain_store_int(self, at, value, site)

static inline int *shared_ints(self_t *self) { return (int *)self->block->shared; }
