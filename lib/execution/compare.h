// What a run gave beside what another target's run gave.
#pragma once

#include "lib/execution/run.h"
#include "lib/run/run_check.h"

// Prints the largest error of each output of `seen` and where it is, by the bounds of `expected` if it has any. False,
// with the error, only when they cannot be compared; `check` gathers whether they agree and the largest error.
bool runCompare(tessera_run_check_t *check, const Run *seen, const Run *expected, const tessera_run_options_t *options,
                tessera_error_t *error);
