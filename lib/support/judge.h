// judge.h - whether a program's results are right. The expected arrays come with a bound for each element (the
// interpreter's, docs/numerics.md §4) or are compared by tolerances (files).
//
//   tessera_judgement_t judgement;
//   if (!tessera_judge(&seen, &expected, -1, -1, &judgement, &error)) …   // differ in shape
//   judgement.right, judgement.at …
#pragma once

#include "lib/support/array.h"

// An array and, for each element, how far a right answer may lie from it; NULL bounds: all 0.
typedef struct tessera_answer_t {
  tessera_array_t array;
  double *bounds;
} tessera_answer_t;
void tessera_answer_destroy(tessera_answer_t *answer);

// Element |i| as a double (integers beyond 2^53 are rounded).
double tessera_array_number(const tessera_array_t *array, int64_t i);

typedef struct tessera_judgement_t {
  bool right;
  int64_t wrong, at;                 // how many elements are wrong; the worst one (any when none is)
  int64_t wrong_zeros;               // how many are wrong only in the sign of a zero
  double max_absolute, max_relative; // largest |seen - expected|, and that by |expected|
  double error_there, allowed;       // at the worst element
} tessera_judgement_t;

// Compares by the bound of each element, or, when not negative, by rtol * |expected| + atol. Elements whose bound is 0
// must be equal to the bit, the sign of a zero too; nan meets nan, inf meets inf of its sign. False, with the reason,
// when the arrays differ in shape.
bool tessera_judge(const tessera_array_t *seen, const tessera_answer_t *expected, double rtol, double atol,
                   tessera_judgement_t *out_judgement, tessera_error_t *out_error);
