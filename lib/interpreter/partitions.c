// tile.warp_specialize: partitions as threads that pass a turn around (partitions.h).
// Expects: captures that no partition owns alone. Leaves: all threads joined, also after an error in one of them.
#include "lib/interpreter/partitions.h"
#include "lib/interpreter/tile.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Partition {
  struct Partitions *all;
  const Body *body;
  int number;
  Value *captures;
  bool isDone, ok;
  pthread_t thread;
  bool isStarted;
} Partition;

typedef struct Partitions {
  Machine *machine;
  const Instruction *instruction;
  int count, turn, numCaptures;
  int idle; // how many in a row have yielded without a step in between
  uint64_t stepsAtYield;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  Partition *items;
} Partitions;

// The next that is not done takes the turn; false when there is none but the one that has it.
static bool passTurn(Partitions *all) {
  for (int i = 1; i <= all->count; i++) {
    int next = (all->turn + i) % all->count;
    if (!all->items[next].isDone) {
      bool isOther = next != all->turn;
      all->turn = next;
      pthread_cond_broadcast(&all->changed);
      return isOther;
    }
  }
  return false;
}

// A round of yields in which every partition only found its barrier incomplete will not change: a deadlock.
bool partitionYield(Machine *machine) {
  Partitions *all = machine->partitions;
  if (!all || machine->failed)
    return false;
  int self = all->turn;
  all->idle = machine->steps == all->stepsAtYield ? all->idle + 1 : 0;
  all->stepsAtYield = machine->steps;
  if (all->idle > 2 * all->count || !passTurn(all))
    return false;
  while (all->turn != self)
    pthread_cond_wait(&all->changed, &all->mutex);
  return !machine->failed;
}

static void *runPartition(void *argument) {
  Partition *self = argument;
  Partitions *all = self->all;
  pthread_mutex_lock(&all->mutex);
  while (all->turn != self->number)
    pthread_cond_wait(&all->changed, &all->mutex);
  self->ok = !all->machine->failed &&
             bodyCall(all->machine, all->instruction->op, self->body, all->numCaptures, self->captures, 0, NULL);
  if (!self->ok && all->machine->failed)
    all->machine->failed = true;
  self->isDone = true;
  all->idle = 0;
  passTurn(all);
  pthread_mutex_unlock(&all->mutex);
  return NULL;
}

static bool startAll(Partitions *all) {
  bool ok = true;
  pthread_mutex_lock(&all->mutex); // nobody runs before all are there
  for (int i = 0; i < all->count; i++) {
    Partition *item = &all->items[i];
    item->isStarted = ok && pthread_create(&item->thread, NULL, runPartition, item) == 0;
    ok &= item->isStarted;
    item->isDone = !item->isStarted;
  }
  if (!ok)
    machineFail(all->machine, all->instruction->op, "cannot start a thread for each partition");
  pthread_mutex_unlock(&all->mutex);
  for (int i = 0; i < all->count; i++)
    if (all->items[i].isStarted)
      pthread_join(all->items[i].thread, NULL);
  for (int i = 0; i < all->count; i++)
    ok &= all->items[i].ok;
  return ok;
}

static bool prepare(Machine *machine, Frame *frame, const Instruction *instruction, Partitions *all, Value *captures) {
  for (int i = 0; i < all->count; i++) {
    const Body *body = bodyOf(machine, instruction->op, i);
    if (!body)
      return false;
    all->items[i] = (Partition){all, body, i, captures + i * all->numCaptures};
    for (int c = 0; c < all->numCaptures; c++)
      all->items[i].captures[c] = valueRetain(operandOf(frame, instruction, c));
  }
  return true;
}

bool executeTileWarpSpecialize(Machine *machine, Frame *frame, const Instruction *instruction) {
  Partitions all = {machine, instruction, .count = (int)mlirOperationGetNumRegions(instruction->op)};
  all.numCaptures = instruction->numOperands;
  all.items = calloc((size_t)all.count + 1, sizeof *all.items);
  Value *captures = calloc((size_t)(all.count * all.numCaptures) + 1, sizeof *captures);
  bool ok = (all.items && captures) || machineOutOfMemory(machine, instruction->op);
  pthread_mutex_init(&all.mutex, NULL);
  pthread_cond_init(&all.changed, NULL);
  machine->partitions = &all;
  ok = ok && prepare(machine, frame, instruction, &all, captures) && startAll(&all);
  machine->partitions = NULL;
  pthread_cond_destroy(&all.changed);
  pthread_mutex_destroy(&all.mutex);
  free(captures);
  free(all.items);
  return ok;
}
