// Copies under way, the tokens and barriers they end at (docs/numerics.md §6: a copy lands at its wait, not before).
// Expects: values of value.h. Leaves: destinations marked as in flight from the start of a copy until it lands.
#pragma once

#include "lib/interpreter/machine/value.h"
#include "mlir-c/IR.h"

// What a copy will do when it lands.
typedef struct PendingCopy {
  MlirOperation op;
  InterpretValue source, destination; // a view's tile and a buffer, either way
  int64_t indices[InterpreterMaxRank];
  int64_t bytes;
} PendingCopy;

typedef struct PendingCopies {
  PendingCopy *items;
  int count;
} PendingCopies;

// Takes over the references in `copy`.
bool interpretPendingAppend(PendingCopies *copies, PendingCopy copy);
void interpretPendingClear(PendingCopies *copies);

// Several tokens may name one list: join shares.
typedef struct Token {
  Object object;
  PendingCopies copies; // of a copy_async
  struct Token **parts; // of a join
  int numParts;
} Token;
Token *interpretTokenCreate(void);
void interpretTokenClear(Token *token);

// One round of one barrier: who has arrived, what has been copied.
typedef struct Round {
  int64_t arrivals, expected, copied;
  PendingCopies copies;
} Round;

typedef struct Barrier {
  Object object;
  int64_t stages, arrivals; // of its type
  Round *rounds;            // by use number
  int64_t numRounds;
} Barrier;
Barrier *interpretBarrierCreate(int64_t stages, int64_t arrivals);
void interpretBarrierClear(Barrier *barrier);
Round *interpretBarrierRound(Barrier *barrier, int64_t use); // null: no memory
bool interpretRoundIsComplete(const Barrier *barrier, const Round *round);
