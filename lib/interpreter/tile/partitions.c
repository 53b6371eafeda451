// Parts that take turns (partitions.h), and tile.warp_specialize, whose partitions are such parts.
// Expects: captures that no partition owns alone. Leaves: all threads joined, also after an error in one of them.
#include "lib/interpreter/tile/partitions.h"
#include "lib/interpreter/tile/tile.h"

#include <stdlib.h>

// The thread whose turn it is holds the mutex; groups within groups share it.
typedef struct Turnstile {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} Turnstile;

typedef struct Group {
  Machine *machine;
  const Instruction *instruction;
  struct Group *outer; // null: none
  Turnstile *turnstile;
  Part *parts;
  int count, turn;
  int idle; // how many in a row have yielded without a step in between
  uint64_t stepsAtYield;
} Group;

// What of the machine belongs to whoever runs.
typedef struct Context {
  Grid grid;
  Group *group;
  int depth;
  const char *stack;
} Context;

static Context contextOf(const Machine *machine) {
  return (Context){machine->grid, machine->group, machine->depth, machine->stack};
}

static void setContext(Machine *machine, Context context) {
  machine->grid = context.grid;
  machine->group = context.group;
  machine->depth = context.depth;
  machine->stack = context.stack;
}

//===--- turns ------------------------------------------------------------------------===//

// The next that is not done takes the turn; false when there is none but the one that has it.
static bool passTurn(Group *group) {
  for (int i = 1; i <= group->count; ++i) {
    int next = (group->turn + i) % group->count;
    if (!group->parts[next].isDone) {
      bool isOther = next != group->turn;
      group->turn = next;
      pthread_cond_broadcast(&group->turnstile->changed);
      return isOther;
    }
  }
  return false;
}

static void awaitTurn(Group *group, int number) {
  while (group->turn != number)
    pthread_cond_wait(&group->turnstile->changed, &group->turnstile->mutex);
}

// A round of yields in which every part only found its barrier incomplete will not change, unless others outside do.
static bool yieldIn(Machine *machine, Group *group) {
  if (!group || machine->failed)
    return false;
  int self = group->turn;
  group->idle = machine->steps == group->stepsAtYield ? group->idle + 1 : 0;
  group->stepsAtYield = machine->steps;
  if (group->idle > 2 * group->count || !passTurn(group))
    return yieldIn(machine, group->outer);
  awaitTurn(group, self);
  return !machine->failed;
}

const void *interpretPartRunning(const Machine *machine) {
  return machine->group ? &machine->group->parts[machine->group->turn] : NULL;
}

bool interpretPartitionYield(Machine *machine) {
  Context self = contextOf(machine);
  bool ok = yieldIn(machine, machine->group);
  setContext(machine, self);
  return ok;
}

//===--- threads ------------------------------------------------------------------------===//

static void *runPart(void *argument) {
  Part *self = argument;
  Group *group = self->group;
  Machine *machine = group->machine;
  pthread_mutex_lock(&group->turnstile->mutex);
  awaitTurn(group, self->number);
  setContext(machine, (Context){self->grid, group, 0, __builtin_frame_address(0)});
  for (int i = 0; i < self->numArguments && !machine->failed; ++i)
    valueRetain(self->arguments[i]);
  if (self->frame)
    self->ok = !machine->failed && interpretRegionRun(machine, self->frame, self->region, 0, NULL);
  else
    self->ok = !machine->failed && interpretBodyCall(machine, group->instruction->op, self->body, self->numArguments,
                                                     self->arguments, 0, NULL);
  self->isDone = true;
  group->idle = 0;
  passTurn(group);
  pthread_mutex_unlock(&group->turnstile->mutex);
  return NULL;
}

// Called with the mutex held; nobody runs before all are there.
static bool startAll(Group *group) {
  bool ok = true;
  for (int i = 0; i < group->count; ++i) {
    Part *part = &group->parts[i];
    part->group = group;
    part->number = i;
    part->isStarted = ok && pthread_create(&part->thread, NULL, runPart, part) == 0;
    part->isDone = !part->isStarted;
    part->ok = false;
    ok &= part->isStarted;
  }
  if (!ok)
    interpretFail(group->machine, group->instruction->op, "cannot start a thread for each of %d parts", group->count);
  pthread_mutex_unlock(&group->turnstile->mutex);
  for (int i = 0; i < group->count; ++i)
    if (group->parts[i].isStarted)
      pthread_join(group->parts[i].thread, NULL);
  pthread_mutex_lock(&group->turnstile->mutex);
  for (int i = 0; i < group->count; ++i)
    ok &= group->parts[i].ok;
  return ok;
}

static bool runGroup(Machine *machine, Group *group) {
  Context self = contextOf(machine);
  bool ok = startAll(group);
  setContext(machine, self);
  return ok;
}

bool interpretRunParts(Machine *machine, const Instruction *instruction, int count, Part *parts) {
  Group group = {machine, instruction, machine->group, .parts = parts, .count = count};
  if (group.outer) {
    group.turnstile = group.outer->turnstile;
    return runGroup(machine, &group);
  }
  Turnstile turnstile;
  group.turnstile = &turnstile;
  pthread_mutex_init(&turnstile.mutex, NULL);
  pthread_cond_init(&turnstile.changed, NULL);
  pthread_mutex_lock(&turnstile.mutex);
  bool ok = runGroup(machine, &group);
  pthread_mutex_unlock(&turnstile.mutex);
  pthread_cond_destroy(&turnstile.changed);
  pthread_mutex_destroy(&turnstile.mutex);
  return ok;
}

//===--- partitions of warps ---------------------------------------------------------------===//

bool interpretTileWarpSpecialize(Machine *machine, Frame *frame, const Instruction *instruction) {
  int count = (int)mlirOperationGetNumRegions(instruction->op);
  Part *parts = calloc((size_t)count + 1, sizeof *parts);
  InterpretValue *captures = calloc((size_t)instruction->numOperands + 1, sizeof *captures);
  bool ok = (parts && captures) || interpretOutOfMemory(machine, instruction->op);
  for (int i = 0; i < instruction->numOperands && ok; ++i)
    captures[i] = operandOf(frame, instruction, i);
  for (int i = 0; i < count && ok; ++i) {
    parts[i] = (Part){interpretBodyOf(machine, instruction->op, i), captures, instruction->numOperands, machine->grid};
    ok = parts[i].body != NULL;
  }
  ok = ok && interpretRunParts(machine, instruction, count, parts);
  free(captures);
  free(parts);
  return ok;
}
