// Pass statistics as JSON. See pass_statistics.h.
#include "lib/pipelines/pass_statistics.h"

#include "lib/capi/pass.h"

#include <string.h>

typedef struct PassStatistics {
  tessera_json_t *json;
  int64_t fallbackOps;
  const char *open; // the pass whose object is open
} PassStatistics;

// `text`: "name: what it counts".
static void addStatistic(const char *pass, const char *text, uint64_t value, void *userData) {
  PassStatistics *statistics = userData;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
  if (strcmp(name, "fallback_ops") == 0)
    statistics->fallbackOps = (int64_t)value;
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
  PassStatistics totals = {NULL};
  mlirExtStatisticsForEach(addStatistic, &totals);
  return totals.fallbackOps;
}

void tileStatisticsWrite(tessera_json_t *json) {
  tessera_json_integer(json, "fallback_ops", tileFallbackOps());
  tessera_json_begin_object(json, "passes");
  PassStatistics passes = {.json = json};
  mlirExtStatisticsForEach(addStatistic, &passes);
  if (passes.open)
    tessera_json_end(json);
  tessera_json_end(json);
}
