// Parts of a program that wait for each other: the partitions of a tile.warp_specialize, the blocks of a cluster, the
// threads of a block.
// Each runs until it waits for a barrier that is not complete, then the next does. Why threads: a part stops in the
// middle of nested regions; only one thread runs at a time, so the rest of the interpreter need not know.
// A group may run within a part of another one: when none of its own parts can go on, the outer group's others do.
#pragma once

#include "lib/interpreter/machine/machine.h"

#include <pthread.h>

typedef struct Part {
  const InterpretBody *body;
  const InterpretValue *arguments; // borrowed
  int numArguments;
  Grid grid;    // in which it runs
  Frame *frame; // not null: the part is this region in this frame, without a body
  const InterpretRegion *region;
  // The rest is partitions.c's.
  struct Group *group;
  int number;
  bool isStarted, isDone, ok;
  pthread_t thread;
} Part;

// Runs all parts to their ends; false after an error in any of them.
bool interpretRunParts(Machine *machine, const Instruction *instruction, int count, Part *parts);
const void *interpretPartRunning(const Machine *machine); // the innermost; null: no group runs
// Lets the others run. False when nobody else can: all are waiting without anything having changed, or none is there.
bool interpretPartitionYield(Machine *machine);
