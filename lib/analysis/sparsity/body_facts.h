// The body of a linalg op, interpreted over facts: what the result may be if the inputs may be this and that, and what
// it needs of the inputs.
//
//   SparseBody *body = sparseBodyRead(block, finite);
//   sparseBodyRun(body, inputs, indices, outputs);        // facts of the arguments → facts of what is yielded
//   sparseBodyAsk(body, needs, inputNeeds);               // after a run: needs of what is yielded → of the arguments
//
// No op is known by name alone: an op whose operands are constants or zeros is folded, for both signs of each zero.
// What cannot be folded follows from rules of arithmetic: 0 · x is 0 if x is finite, a select with a known condition
// is its side, and everything else may be anything.
#pragma once

#include "lib/analysis/sparsity/cells.h"

typedef struct SparseBody SparseBody;

// Null for a body that is not interpreted: with more than 64 values, with regions or with ops of several results.
// `finite`: no value is assumed to be an infinity or a nan.
SparseBody *sparseBodyRead(MlirBlock block, bool finite);
void sparseBodyDestroy(SparseBody *body); // null too
intptr_t sparseBodyNumArguments(const SparseBody *body);
intptr_t sparseBodyNumYielded(const SparseBody *body);
bool sparseBodyUsesIndex(const SparseBody *body, int64_t dim); // asks linalg.index for the position along it

// `inputs`: one fact for each argument. `index`: the position along each dimension that the body uses.
void sparseBodyRun(SparseBody *body, const uint8_t *inputs, const int64_t *index, uint8_t *yielded);
// What each argument is needed for, if what is yielded is needed for `needs`; follows a run. `fromPlusZero`: the last
// argument is a sum that began at a constant other than -0. The signs of zero terms then do not matter.
void sparseBodyAsk(SparseBody *body, const uint8_t *needs, bool fromPlusZero, uint8_t *arguments);
// After a run: what is yielded first is the last argument, or this argument combined with a zero that leaves it as it
// is, as a sum does.
bool sparseBodyKeepsLast(SparseBody *body);

uint8_t sparseMayOfConstant(MlirAttribute constant);       // of a number: exactly what it is
uint8_t sparseMayOfElement(MlirType element, bool finite); // if nothing is known
