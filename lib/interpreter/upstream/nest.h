// A linalg op about to run: its loops, where its operands lie at a point of them, which outputs are sums (linalg.c).
// Why a header: points one by one (linalg.c) and many along one loop at a time (stripes.c) both run it.
#pragma once

#include "lib/interpreter/upstream/upstream.h"
#include "mlir-c/AffineMap.h"

enum { MaxLoops = 16, MaxOperands = 32 };

typedef struct Linear {
  bool isLinear;
  int64_t constant, factors[MaxLoops];
} Linear;

typedef struct InterpretAccess {
  MlirAffineMap map;
  Array *array; // null: a scalar
  Linear results[InterpreterMaxRank];
  bool isLinear; // all results are
  Linear place;  // then the place in the storage
} InterpretAccess;

// An output that a reduction adds to (or multiplies): which instruction does, and what it adds.
typedef struct Reduction {
  int instruction; // -1: none
  int term;        // slot
  bool isProduct;
  Sum *sums; // by place in the storage
} Reduction;

typedef struct Nest {
  int loops, numInputs, numOperands;
  int64_t sizes[MaxLoops], point[MaxLoops];
  InterpretAccess accesses[MaxOperands];
  Reduction reductions[MaxOperands];
  const InterpretBlock *block;
} Nest;

static inline int64_t linearAt(const Linear *linear, int loops, const int64_t *point) {
  int64_t value = linear->constant;
  for (int i = 0; i < loops; ++i)
    value += linear->factors[i] * point[i];
  return value;
}

// Adds (or multiplies) a term to the sum at a place, the output's initial value before the first.
bool interpretNestAddTerm(Machine *machine, const Instruction *combine, const Reduction *reduction, Element initial,
                          int64_t place, Element term);

// The loop along which the op's points may run side by side without any of them seeing another; -1: none.
int interpretStripeLoopOf(const Instruction *instruction, const Nest *nest);
bool interpretRunStripes(Machine *machine, Frame *frame, const Instruction *instruction, Nest *nest, int inner);
