// --tile-validate-each: runs a pipeline pass by pass and has the program judged before and after every pass. The first
// pass that changes the answer beyond the error bound, makes the program wrong (a race, an access out of bounds, …) or,
// if asked, raises counted traffic is reported as an error at the op where the programs part, and the tool fails.
#pragma once

#include "lib/support/status.h"
#include "mlir-c/IR.h"

typedef struct ValidateOptions {
  const char *target;  // "interpret", "cpu", "emulate:CHIP"
  const char *entry;   // null: main, or else the first public function that can be called
  int64_t seed, size;  // size: of dynamic dimensions of arguments
  int timeout;         // seconds of one judgement
  double traffic;      // percent that counted traffic may rise; negative: not looked at
  const char *reduced; // file for the reduced case; null: none
  const char *plugins; // flags that the reproducer needs to know the same passes: " --load-pass-plugin=…"; may be ""
} ValidateOptions;

// Is there such a judge, and does it count what is asked for?
bool validateCheckOptions(const ValidateOptions *options, tessera_error_t *error);
// Runs `pipeline` on `module`; false when a pass is to blame, or fails by itself.
bool validateEach(MlirOperation module, MlirStringRef pipeline, const ValidateOptions *options);
