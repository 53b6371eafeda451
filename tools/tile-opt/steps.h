// A pipeline as single passes: "builtin.module(a,func.func(b{x=1},c))" is "builtin.module(a)",
// "builtin.module(func.func(b{x=1}))" and "builtin.module(func.func(c))".
//
// Running these one after another gives what the pipeline gives: nothing is carried from pass to pass but the IR.
#pragma once

#include "mlir-c/IR.h"
#include <stdbool.h>

typedef struct PassStep {
  char *pipeline; // "builtin.module(func.func(b{x=1}))"
  char *pass;     // "b"
} PassStep;

typedef struct PassSteps {
  PassStep *items;
  int count;
} PassSteps;

PassSteps stepsOf(MlirStringRef pipeline); // owned; no items when out of memory or for an empty pipeline
void stepsDestroy(PassSteps *steps);
// Runs a pipeline on a module, verifying it; false after a diagnostic.
bool stepRun(MlirOperation module, const char *pipeline);
