// Pass statistics as JSON. See pass_statistics.h.
#include "lib/pipelines/pass_statistics.h"

#include "lib/capi/pass.h"

#include <string.h>

// Statistics of passes that are keys of their own.
static const struct Total {
  const char *pass, *name, *key;
} totals[] = {
    {"tile-plan-memory", "bytes", "intermediate_bytes"},
    {"tile-plan-memory", "arena_bytes", "arena_peak_bytes"},
    {"tile-plan-memory", "least_bytes", "arena_least_bytes"},
};
enum { Totals = sizeof totals / sizeof *totals };

typedef struct PassStatistics {
  tessera_json_t *json;
  int64_t fallbackOps, totals[Totals];
  const char *open; // the pass whose object is open
} PassStatistics;

// `text`: "name: what it counts".
static void addStatistic(const char *pass, const char *text, uint64_t value, void *userData) {
  PassStatistics *statistics = userData;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
  if (strcmp(name, "fallback_ops") == 0)
    statistics->fallbackOps = (int64_t)value;
  for (int i = 0; i < Totals; ++i)
    if (strcmp(totals[i].pass, pass) == 0 && strcmp(totals[i].name, name) == 0)
      statistics->totals[i] = (int64_t)value;
  if (!statistics->json)
    return;
  if (!statistics->open || strcmp(statistics->open, pass) != 0) {
    if (statistics->open)
      tessera_json_end(statistics->json);
    tessera_json_begin_object(statistics->json, pass);
    statistics->open = pass;
  }
  tessera_json_integer(statistics->json, name, (int64_t)value);
}

int64_t tileFallbackOps(void) {
  PassStatistics counted = {NULL};
  mlirExtStatisticsForEach(addStatistic, &counted);
  return counted.fallbackOps;
}

// Without a planned arena there is nothing to say.
static void writeTotals(tessera_json_t *json) {
  PassStatistics counted = {NULL};
  mlirExtStatisticsForEach(addStatistic, &counted);
  for (int i = 0; i < Totals && counted.totals[0]; ++i)
    tessera_json_integer(json, totals[i].key, counted.totals[i]);
}

void tileStatisticsWrite(tessera_json_t *json) {
  tessera_json_integer(json, "fallback_ops", tileFallbackOps());
  writeTotals(json);
  tessera_json_begin_object(json, "passes");
  PassStatistics passes = {.json = json};
  mlirExtStatisticsForEach(addStatistic, &passes);
  if (passes.open)
    tessera_json_end(json);
  tessera_json_end(json);
}
