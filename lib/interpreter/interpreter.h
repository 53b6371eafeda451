// The interpreter: runs a program by the contract of numbers (docs/numerics.md), sharing no code with passes.
// Why: the judge of every compiled program. Slow, obvious, strict: what the contract calls an error stops here.
//
//   tessera_array_t x = …;
//   TileAnswer arguments[1] = {{.array = x}}, results[1];
//   TileInterpretation outcome;
//   if (!tileInterpret(moduleOp, "main", 1, arguments, 1, results, NULL, &outcome, &error)) …  // diagnostics emitted
//   results[0].array, results[0].bounds[i]: how far from element i another right answer may lie
//
// Expects: a verified module; the arguments fit the entry's signature. It is not changed. Leaves: memref arguments as
// the program left them, results in arrays of their own (tileAnswerDestroy).
#ifndef TESSERA_INTERPRETER_INTERPRETER_H
#define TESSERA_INTERPRETER_INTERPRETER_H

#include "lib/support/array.h"
#include "mlir-c/IR.h"

typedef struct TileInterpretOptions {
  uint64_t stepBudget; // element steps until the program counts as endless; 0: 2^33
  FILE *print;         // where tile.print writes; null: stdout
} TileInterpretOptions;

// An array and, for each element, how far a right answer may lie from it; null bounds: all 0.
typedef struct TileAnswer {
  tessera_array_t array;
  double *bounds;
} TileAnswer;
void tileAnswerDestroy(TileAnswer *answer);

typedef struct TileInterpretation {
  uint64_t steps;
  int64_t undecided; // comparisons and conversions whose outcome a bound straddles: either was right
} TileInterpretation;

bool tileInterpret(MlirOperation module, const char *entry, int numArguments, TileAnswer *arguments, int numResults,
                   TileAnswer *results, const TileInterpretOptions *optionsOrNull, TileInterpretation *outcome,
                   tessera_error_t *error);

//===--- judging --------------------------------------------------------------===//

typedef struct TileJudgement {
  bool isRight;
  int64_t wrong, at;               // how many elements are wrong; the worst one (any when none is)
  double maxAbsolute, maxRelative; // largest |seen - expected|, and that by |expected|
  double errorThere, allowed;      // at the worst element
} TileJudgement;

// Compares by the bound of each element, or, when not negative, by rtol * |expected| + atol. Integers without a bound
// must be equal; nan meets nan, inf meets inf of its sign. False, with the reason, when the arrays differ in shape.
bool tileJudge(const tessera_array_t *seen, const TileAnswer *expected, double rtol, double atol,
               TileJudgement *judgement, tessera_error_t *error);

#endif
