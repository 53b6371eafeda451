// What our passes counted in this process, for --stats.
#pragma once

#include "lib/support/json.h"

// linalg ops left to upstream's route so far.
int64_t tileFallbackOps(void);
// fallback_ops, what tile-plan-memory planned, and every pass with its counts under "passes", into the open object.
void tileStatisticsWrite(tessera_json_t *json);
