// How two modules of one context differ, op by op: which compute something that the other does not compute.
//
//   Difference difference = differenceOf(before, after);
//   difference.removed.items[0].op …  // of before; .isRoot: its operands exist in both, so it is where they part
//   differenceDestroy(&difference);
//
// Two ops are the same when their names, attributes, types and operands are the same, values by what computes them and
// not by their numbers or places: code that only moved does not differ.
#pragma once

#include "mlir-c/IR.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Differing {
  MlirOperation op;
  bool isRoot;
} Differing;

typedef struct DifferingOps {
  Differing *items; // in program order
  intptr_t count;
} DifferingOps;

typedef struct Difference {
  DifferingOps removed, added; // of the first module, of the second
  intptr_t opsBefore, opsAfter;
} Difference;

Difference differenceOf(MlirOperation before, MlirOperation after);
void differenceDestroy(Difference *difference);
// The op as one line, without its regions: "%5 = arith.subf %3, %4 : f32". Cut at `size`. Returns `text`.
char *differenceDescribe(MlirOperation op, char *text, size_t size);
