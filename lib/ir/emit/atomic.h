// Atomic accesses, for the lowerings to CPUs and to GPUs: ops of llvm, and a loop of scf if the machine has no
// instruction for the access.
//
//   TileWord word = {.address = pointer, .type = i32, .bytes = 4, .order = tileAtomicOrdering(order), .scope = ""};
//   MlirValue old = tileBuildAtomicRmw(&builder, &word, LlvmAtomicBinOp_Add, one);
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/upstream.h"
#include "upstream/llvm.h"

// LLVM's operation for a `kind` of atomic_rmw or a `combine`, and the op of arith for elements that LLVM does not take.
typedef struct TileAtomicKind {
  const char *name;
  int onIntegers, onFloats;        // an LlvmAtomicBinOp; below 0: none. Maximum: nan wins, as in arith.maximumf
  TileUpstream integerOp, floatOp; // TileUpstream_None: the new value replaces the old one
} TileAtomicKind;
const TileAtomicKind *tileAtomicKind(MlirStringRef name, MlirType element); // null: not of such elements
LlvmAtomicOrdering tileAtomicOrdering(MlirStringRef order);                 // "acq_rel"

// A word in memory and how it is accessed. bytes: its alignment; 0: the type's own. scope: LLVM's name; "": the system.
typedef struct TileWord {
  MlirValue address;
  MlirType type;
  int64_t bytes;
  LlvmAtomicOrdering order;
  const char *scope;
} TileWord;

MlirValue tileBuildAtomicLoad(TileBuilder *builder, const TileWord *word);
void tileBuildAtomicStore(TileBuilder *builder, const TileWord *word, MlirValue value);
MlirValue tileBuildAtomicRmw(TileBuilder *builder, const TileWord *word, LlvmAtomicBinOp kind, MlirValue value); // old
// Integers. Returns the old value; isSwapped (may be null): whether it was the expected one.
MlirValue tileBuildCompareAndSwap(TileBuilder *builder, const TileWord *word, MlirValue expected, MlirValue wanted,
                                  MlirValue *isSwapped);
// Looks until the word, a signed integer, is at least that.
void tileBuildAtomicWait(TileBuilder *builder, const TileWord *word, MlirValue least);
// Replaces the word by change(word), and tries again while another thread changes the word. Returns the old word.
typedef MlirValue (*TileWordChange)(TileBuilder *builder, MlirValue word, const void *data);
MlirValue tileBuildExchangeUntilDone(TileBuilder *builder, const TileWord *word, TileWordChange change,
                                     const void *data);
