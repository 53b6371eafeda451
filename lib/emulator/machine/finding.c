// finding.c - what was found, each mistake once: by kind and the two sites, however often it happens.
// Why: one missing barrier is a race at every word and every block. A worker runs its blocks in ascending order, so the
// first of a kind it sees is in its lowest block, and merging workers keeps the lowest of all: the same for any number
// of them.
#include "lib/emulator/machine/worker.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 256, SLOTS = 1024 };

typedef struct emu_findings_t {
  uint32_t count;
  uint64_t lost;
  uint16_t slot[SLOTS]; // 1 + index
  tessera_emulator_finding_t of[MOST_FINDINGS];
} emu_findings_t;

static const char *const kind_texts[] = {
#define X(name, text) text,
    TESSERA_EMULATOR_FINDINGS(X)
#undef X
};

const char *tessera_emulator_kind_text(tessera_emulator_kind_t kind) {
  return kind < TESSERA_EMULATOR_KINDS ? kind_texts[kind] : "unknown";
}

emu_findings_t *emu_findings_create(void) { return calloc(1, sizeof(emu_findings_t)); }
void emu_findings_destroy(emu_findings_t *findings) { free(findings); }

void emu_findings_clear(emu_findings_t *findings) {
  findings->count = 0;
  findings->lost = 0;
  memset(findings->slot, 0, sizeof findings->slot);
}

// The two sites of a race have no order: which access came first is chance.
static bool is_same(const tessera_emulator_finding_t *a, const tessera_emulator_finding_t *b) {
  if (a->kind != b->kind)
    return false;
  if (a->site == b->site && a->other_site == b->other_site)
    return true;
  return a->kind == TESSERA_EMULATOR_RACE && a->site == b->other_site && a->other_site == b->site;
}

// The one that is the same, or a place for it, or null when all are taken; *out_new tells which.
static tessera_emulator_finding_t *place_for(emu_findings_t *findings, const tessera_emulator_finding_t *wanted,
                                             bool *out_new) {
  uint32_t slot = (wanted->kind * 31u + (wanted->site + wanted->other_site) * 7919u) % SLOTS;
  for (; findings->slot[slot]; slot = (slot + 1) % SLOTS)
    if (is_same(&findings->of[findings->slot[slot] - 1], wanted)) {
      *out_new = false;
      return &findings->of[findings->slot[slot] - 1];
    }
  *out_new = true;
  if (findings->count == MOST_FINDINGS)
    return NULL;
  findings->slot[slot] = (uint16_t)++findings->count;
  return &findings->of[findings->count - 1];
}

const char *emu_site_name(const emu_launch_t *launch, uint32_t site, char *room, size_t bytes) {
  const tessera_emulator_launch_t *given = launch->given;
  if (given->site_names && site < given->site_count && given->site_names[site])
    return given->site_names[site];
  snprintf(room, bytes, site ? "site %u" : "an unknown site", site);
  return room;
}

// The sentence, then where: ", at SITE and OTHER SITE (thread 5,0,0 of block 0,1,0)".
static void write_text(emu_thread_t *self, tessera_emulator_finding_t *finding, const char *format, va_list arguments) {
  char sentence[224], site[32], other[32], second[200] = "";
  const emu_worker_t *worker = self->worker;
  const tessera_emu_block_t *block = self->view.block;
  vsnprintf(sentence, sizeof sentence, format, arguments);
  if (finding->other_site)
    snprintf(second, sizeof second, " and %s", emu_site_name(worker->launch, finding->other_site, other, sizeof other));
  snprintf(finding->text, sizeof finding->text, "%s: %s; at %s%s (thread %u,%u,%u of block %u,%u,%u)",
           tessera_emulator_kind_text(finding->kind), sentence,
           emu_site_name(worker->launch, finding->site, site, sizeof site), second, self->view.id[0], self->view.id[1],
           self->view.id[2], block->id[0], block->id[1], block->id[2]);
}

static void find(emu_thread_t *self, tessera_emulator_finding_t *finding, const char *format, va_list arguments) {
  emu_findings_t *findings = self->worker->findings;
  bool new;
  tessera_emulator_finding_t *place = place_for(findings, finding, &new);
  if (!place) {
    ++findings->lost;
    return;
  }
  if (!new) {
    ++place->count;
    return;
  }
  *place = *finding;
  write_text(self, place, format, arguments);
}

void emu_find(emu_thread_t *self, tessera_emulator_kind_t kind, uint32_t site, uint32_t other_site, uint64_t address,
              uint32_t other_thread, const char *format, ...) {
  if (!self->worker->launch->checks && kind != TESSERA_EMULATOR_DEADLOCK && kind != TESSERA_EMULATOR_DIVERGED &&
      kind != TESSERA_EMULATOR_TRAP && kind != TESSERA_EMULATOR_BAD_OPERAND)
    return;
  tessera_emulator_finding_t finding = {.kind = kind,
                                        .site = site,
                                        .other_site = other_site,
                                        .block = emu_member_of(self)->number,
                                        .thread = self->view.index - emu_member_of(self)->first_thread,
                                        .other_thread = other_thread,
                                        .address = address,
                                        .count = 1};
  va_list arguments;
  va_start(arguments, format);
  find(self, &finding, format, arguments);
  va_end(arguments);
}

void tessera_emu_report(tessera_emu_thread_t *thread, uint32_t site, const char *format, ...) {
  emu_thread_t *self = emu_of(thread);
  tessera_emulator_finding_t finding = {.kind = TESSERA_EMULATOR_BAD_OPERAND,
                                        .site = site <= TESSERA_EMULATOR_SITES ? site : 0,
                                        .block = emu_member_of(self)->number,
                                        .thread = self->view.index - emu_member_of(self)->first_thread,
                                        .count = 1};
  va_list arguments;
  va_start(arguments, format);
  find(self, &finding, format, arguments);
  va_end(arguments);
}

void tessera_emu_trap(tessera_emu_thread_t *thread, uint32_t site, const char *text) {
  emu_find(emu_of(thread), TESSERA_EMULATOR_TRAP, site <= TESSERA_EMULATOR_SITES ? site : 0, 0, 0, 0, "%s", text);
  emu_end_thread(emu_of(thread));
}

//===--- All workers' ----------------------------------------------------===//

void emu_findings_merge(emu_findings_t *into, const emu_findings_t *from) {
  into->lost += from->lost;
  for (uint32_t i = 0; i < from->count; ++i) {
    bool new;
    tessera_emulator_finding_t *place = place_for(into, &from->of[i], &new);
    if (!place) {
      into->lost += from->of[i].count;
      continue;
    }
    uint64_t count = from->of[i].count + (new ? 0 : place->count);
    if (new || from->of[i].block < place->block)
      *place = from->of[i];
    place->count = count;
  }
}

static int compare(const void *left, const void *right) {
  const tessera_emulator_finding_t *a = left, *b = right;
  if (a->site != b->site)
    return a->site < b->site ? -1 : 1;
  if (a->kind != b->kind)
    return a->kind < b->kind ? -1 : 1;
  return a->other_site < b->other_site ? -1 : a->other_site > b->other_site;
}

bool emu_findings_give(emu_findings_t *findings, tessera_emulator_report_t *report) {
  report->lost_findings = findings->lost;
  if (!findings->count)
    return true;
  report->findings = malloc(findings->count * sizeof *report->findings);
  if (!report->findings)
    return false;
  report->finding_count = findings->count;
  memcpy(report->findings, findings->of, findings->count * sizeof *report->findings);
  qsort(report->findings, report->finding_count, sizeof *report->findings, compare);
  return true;
}
