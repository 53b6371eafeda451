// A sparse tensor as the interpreter sees it: the list of its stored entries, in the order in which its format keeps
// their values. Why a list: what takes part in an operation is what is stored, so that is what a value is.
#pragma once

#include "dialects/sparse/sparse.h"
#include "lib/interpreter/machine/machine.h"

enum { EntriesMaxRank = SparseMaxRank };

// One that lies beyond the tensor (fills up a block or a window at its edge) is zero and takes part in nothing.
typedef struct Entry {
  int64_t at[EntriesMaxRank];
  Element value;
  int part; // of a sum
} Entry;

typedef struct Entries {
  Object object;
  int rank;
  int64_t sizes[EntriesMaxRank];
  int64_t count;
  Entry *items;
} Entries;

Entries *interpretEntriesCreate(int rank, const int64_t *sizes); // null: no memory
bool interpretEntriesAppend(Entries *entries, Entry entry);
static inline Entries *entriesOf(InterpretValue value) { return (Entries *)value.object; }
static inline Entries *entriesOperand(const Frame *frame, const Instruction *instruction, intptr_t index) {
  return entriesOf(operandOf(frame, instruction, index));
}
void interpretEntriesClear(Entries *entries); // frees what the object holds

bool interpretEntryIsInside(const Entries *entries, const Entry *entry);
int interpretEntryCompare(const void *a, const void *b); // row-major, for qsort
// The entry at `place` of entries in row-major order; null when there is none.
Entry *interpretEntriesFind(const Entries *sorted, const int64_t *place);

// Entries that are none twice, in any order, as `encoding` stores them: in its order, with what fills up its blocks,
// tiles and windows. A window with more than its format keeps is an error at the op. Takes `entries` over; null after
// an error.
Entries *interpretEntriesLayOut(Machine *machine, const Instruction *instruction, Entries *entries,
                                MlirAttribute encoding);
// Those inside the tensor, one for each place: entries at one place are added, or an error at the op. Takes over too.
Entries *interpretEntriesMerge(Machine *machine, const Instruction *instruction, Entries *entries, bool mayAdd);

// The tensor of `type` that these components are; they must keep its format's rules. Null after an error at the op.
Entries *interpretEntriesAssemble(Machine *machine, const Instruction *instruction, MlirType type, const int64_t *sizes,
                                  InterpretValue *components);
// Its components, fresh arrays; after an error some may be null.
bool interpretEntriesDisassemble(Machine *machine, const Instruction *instruction, MlirType type, Entries *entries,
                                 InterpretValue *components);

// Which entries lie in each line along `axis`: those of line i are order[begin[i]] to order[begin[i + 1] - 1], in the
// order of the list. Entries beyond the tensor are left out. `begin` and `order` are one block: free(begin).
typedef struct Lines {
  int64_t *begin, *order;
} Lines;
bool interpretLinesOf(const Entries *entries, int axis, Lines *lines);
