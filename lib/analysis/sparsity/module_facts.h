// What is known of every tensor of a module: which elements are zero (forward, from constants and masks), and which no
// reader needs (backward, from the results of functions).
//
//   SparseProgram *program = sparseProgramCreate(module, (SparseProgramOptions){.direction = SparseDirection_Both});
//   const SparseCells *may = sparseProgramMay(program, value);   // SparseMay_…
//   const SparseCells *need = sparseProgramNeed(program, value); // SparseNeed_…
//
// Both facts are sound for any input. An element that nobody needs may have any finite value instead of its own, and
// all others keep theirs, up to the sign of a zero that nobody looks at. Papers: SparTA (OSDI 2022), whose one bit
// merges the two facts and is wrong where a tensor has two readers; PIT (SOSP 2023).
// Cost: each round is linear in the ops times their cells (cells.h); one round for straight code, and some more for
// loops.
#pragma once

#include "lib/analysis/sparsity/cells.h"

typedef enum SparseDirection {
  SparseDirection_Local, // what an op alone says: its operands are unknown, but for constants and fills
  SparseDirection_Forward,
  SparseDirection_Both,
} SparseDirection;

typedef struct SparseProgramOptions {
  SparseDirection direction;
  bool finite; // no tensor holds an infinity or a nan
} SparseProgramOptions;

typedef struct SparseProgram SparseProgram;

// Reads facts that ops and arguments carry (sparse.attribute) too. Null after a diagnostic, if a constant contradicts
// one of them.
SparseProgram *sparseProgramCreate(MlirOperation module, SparseProgramOptions options);
void sparseProgramDestroy(SparseProgram *program); // null too
// Null: nothing is known (no ranked tensor, or one that was not reached).
const SparseCells *sparseProgramMay(const SparseProgram *program, MlirValue value);
const SparseCells *sparseProgramNeed(const SparseProgram *program, MlirValue value);

//===--- loops ----------------------------------------------------------------===//

// A linalg op on tensors as loops with a body (loop_facts.c). Also read by passes that cut indices out.
enum { SparseMaxLoopOperands = 16 };
typedef struct SparseLoops {
  MlirOperation op;
  intptr_t numDims, numOperands, numInputs; // operands: inputs, then inits
  int64_t extents[SparseMaxFactRank];       // -1: dynamic
  bool isReduction[SparseMaxFactRank];
  struct {
    MlirValue value;
    bool isTensor;
    intptr_t rank;
    intptr_t dims[SparseMaxFactRank]; // the dimension that indexes the axis alone; -1: something else
  } operands[SparseMaxLoopOperands];
  MlirBlock body;
} SparseLoops;
// False for any other op, and where the output's axes are not indexed by one dimension each.
bool sparseLoopsRead(MlirOperation op, SparseLoops *loops);
// Clears skips[i] for each index i of a reduction along which the op needs its term: the term may be something else
// than zero, and somebody needs the sum. `skips` has one element for each index; the loop's extent is known.
void sparseProgramSkips(SparseProgram *program, const SparseLoops *loops, intptr_t dim, bool *skips);
// A sum of floats starts from constants, and no constant is -0: a term that is zero, of either sign, changes nothing.
bool sparseSumStartsFromPlusZero(MlirValue init);

//===--- for the files of this folder -------------------------------------------===//

// What rules of ops ask and tell. `may` and `need` are not null for ranked tensors of at most SparseMaxFactRank axes,
// and null for all other values. `tell` takes the cells: what a result may be, or what a reader needs of an operand.
typedef struct SparseRules SparseRules;
struct SparseRules {
  bool finite;
  const SparseCells *(*may)(SparseRules *rules, MlirValue value);
  const SparseCells *(*need)(SparseRules *rules, MlirValue value);
  void (*tell)(SparseRules *rules, MlirValue value, SparseCells *cells);
};
// Each tells the facts of the op's results (forward) or the needs of its operands (backward). False: no rule for this
// op. loop_facts.c: linalg's loops; move_facts.c: ops that move elements.
bool sparseForwardStructured(SparseRules *rules, MlirOperation op);
bool sparseBackwardStructured(SparseRules *rules, MlirOperation op);
// See sparseProgramSkips.
void sparseStructuredSkips(SparseRules *rules, const SparseLoops *loops, intptr_t dim, bool *skips);
bool sparseForwardMove(SparseRules *rules, MlirOperation op);
bool sparseBackwardMove(SparseRules *rules, MlirOperation op);
