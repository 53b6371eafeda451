// Products under way (docs/numerics.md §6): from its start until its wait a product reads its factors and writes its
// accumulator in memory, so nobody else may write the factors or touch the accumulator.
// The interpreter computes a product when it starts; what is here only finds accesses that come too early.
#pragma once

#include "lib/interpreter/tile/asynchronous.h"
#include "lib/interpreter/tile/partitions.h"

// Notes a product of this op, started by the part that runs. `accumulator`: null unless in memory; `barrier`: null
// unless the product reports to round `use` of it.
bool interpretProductStart(Machine *machine, const Instruction *instruction, Array *lhs, Array *rhs, Array *accumulator,
                           const Barrier *barrier, int64_t use);
// All products of the part that runs but the `pending` started last have ended.
void interpretProductsWait(Machine *machine, int64_t pending);
// A round is complete: the product that reports to it has ended, and those that the same part started before.
void interpretProductsEndAt(Machine *machine, const Barrier *barrier, int64_t use);
void interpretProductsForget(Machine *machine);
