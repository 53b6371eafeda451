// The interpreter: runs a program by the contract of numbers (docs/numerics.md), sharing no code with passes.
// Why: the judge of every compiled program. Slow, obvious, strict: what the contract calls an error stops here.
//
//   tessera_array_t x = …;
//   tessera_answer_t arguments[1] = {{.array = x}}, results[1];
//   TileInterpretation outcome;
//   if (!tileInterpret(moduleOp, "main", arguments, results, NULL, &outcome, &error)) …  // diagnostics emitted
//   results[0].array, results[0].bounds[i]: how far from element i another right answer may lie
//
// Expects: a verified module; arguments that fit the entry's signature, a sparse one as its components
// (lib/support/signature.h), and room for as many results. It is not changed. Leaves: memref arguments as
// the program left them, results in arrays of their own (tessera_answer_destroy).
#pragma once

#include "lib/support/judge.h"
#include "mlir-c/IR.h"

typedef struct TileInterpretOptions {
  uint64_t stepBudget; // element steps until the program counts as endless; 0: 2^33
  FILE *print;         // where tile.print writes; null: stdout
  // At a tile.print with the attribute `stop`, in place of printing: the attribute's number, the values (one of a
  // type that no array holds has rank -1). False ends the program. Null: nothing happens there.
  bool (*stop)(void *user, int64_t number, intptr_t count, const tessera_array_t *values);
  void *user;
} TileInterpretOptions;

typedef struct TileInterpretation {
  uint64_t steps;
  int64_t undecided; // comparisons and conversions whose outcome a bound straddles: either was right
  bool unknown;      // it failed at an op or type that the interpreter does not know: the program may be right
  // Bytes that kernels' loads, stores and copies asked of memory through views, tile by tile, padding left out.
  int64_t viewBytesRead, viewBytesWritten;
} TileInterpretation;

bool tileInterpret(MlirOperation module, const char *entry, tessera_answer_t *arguments, tessera_answer_t *results,
                   const TileInterpretOptions *optionsOrNull, TileInterpretation *outcome, tessera_error_t *error);
