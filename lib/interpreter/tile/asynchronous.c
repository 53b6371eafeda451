// Tokens, barriers and copies under way (asynchronous.h).
#include "lib/interpreter/tile/asynchronous.h"
#include "lib/support/grow.h"

#include <stdlib.h>

bool interpretPendingAppend(PendingCopies *copies, PendingCopy copy) {
  PendingCopy *items = tessera_grow(copies->items, copies->count, sizeof *items);
  if (!items)
    return false;
  copies->items = items;
  copies->items[copies->count++] = copy;
  return true;
}

void interpretPendingClear(PendingCopies *copies) {
  for (int i = 0; i < copies->count; ++i) {
    valueRelease(copies->items[i].source);
    valueRelease(copies->items[i].destination);
  }
  free(copies->items);
  *copies = (PendingCopies){NULL};
}

Token *interpretTokenCreate(void) {
  Token *token = calloc(1, sizeof *token);
  if (token)
    token->object = (Object){1, ObjectToken};
  return token;
}

void interpretTokenClear(Token *token) {
  interpretPendingClear(&token->copies);
  for (int i = 0; i < token->numParts; ++i)
    valueRelease(valueOfObject(&token->parts[i]->object));
  free(token->parts);
}

Barrier *interpretBarrierCreate(int64_t stages, int64_t arrivals) {
  Barrier *barrier = calloc(1, sizeof *barrier);
  if (barrier)
    *barrier = (Barrier){.object = {1, ObjectBarrier}, .stages = stages, .arrivals = arrivals};
  return barrier;
}

void interpretBarrierClear(Barrier *barrier) {
  for (int64_t i = 0; i < barrier->numRounds; ++i)
    interpretPendingClear(&barrier->rounds[i].copies);
  free(barrier->rounds);
}

Round *interpretBarrierRound(Barrier *barrier, int64_t use) {
  if (use >= barrier->numRounds) {
    int64_t wanted = 2 * use + 8;
    Round *rounds = realloc(barrier->rounds, (size_t)wanted * sizeof *rounds);
    if (!rounds)
      return NULL;
    for (int64_t i = barrier->numRounds; i < wanted; ++i)
      rounds[i] = (Round){0};
    barrier->rounds = rounds;
    barrier->numRounds = wanted;
  }
  return &barrier->rounds[use];
}

bool interpretRoundIsComplete(const Barrier *barrier, const Round *round) {
  return round->arrivals >= barrier->arrivals && round->copied >= round->expected;
}
