// Deals the programs of launches to lanes, which run side by side, and finds what lanes must wait for.
//
//   TileLanePlan *lanes = tileLanePlanCreate(108, false);
//   tileLanePlanAdd(lanes, 32, 0, NULL);                             // task 0: 32 programs, as soon as there are lanes
//   tileLanePlanAdd(lanes, 1, 1, &(TileLaneDependence){.task = 0});  // task 1 waits for all of them
//   tileLanePlanFinish(lanes);
//   … lanes->items …
//   tileLanePlanDestroy(lanes);
//
// A task is a launch. Its programs are dealt to the lanes in turn, going on where the task before ended, or on the
// lanes of programs that they need. An item is what one lane does of one task: programs first, first + step, … A lane
// has its items in the order of the tasks, so no lane waits for what comes later, and all come to an end where all run
// at once.
//
// An item signals by adding one to a counter: that of its task, or one of its own. An item awaits counts. Each lane
// knows what it has done, and what those had seen whom it has awaited; only what an item needs and its lane does not
// know is awaited. A dependence may name the single programs that a program needs. Cost: items times lanes for what
// lanes know; programs of both tasks where single programs are needed. Source: Rammer (OSDI 2020), whose lanes await
// the progress of other lanes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TileLaneDependence {
  int64_t task; // an earlier one
  // Does this program need that one of the earlier task? Null: each needs all.
  bool (*needs)(const void *data, int64_t program, int64_t earlier);
  const void *data;
} TileLaneDependence;

typedef struct TileLaneAwait {
  int64_t counter, count; // of one round
  bool isOfRoundBefore;
} TileLaneAwait;

typedef struct TileLaneItem {
  int64_t task, lane, first, count; // programs
  int64_t position;                 // in its lane
  int64_t end;                      // when it ends, where a program and an await take one each
  int64_t awaits, awaitCount;       // in TileLanePlan.awaits
  int64_t counter;                  // its own, if another item awaits it alone; else -1
} TileLaneItem;

typedef struct TileLaneTask {
  int64_t programs, step; // step: lanes that have programs of the task
  int64_t items;          // the first one of the task
  int64_t counter;        // to which all items add; -1: nobody awaits the task as a whole
  TileLaneDependence *dependences;
  int64_t dependenceCount;
} TileLaneTask;

typedef struct TileLanePlan {
  int64_t lanes;
  bool isLoop;
  TileLaneTask *tasks;
  TileLaneItem *items;
  TileLaneAwait *awaits;
  int64_t taskCount, itemCount, awaitCount, counterCount;
  struct TileLaneKnowledge *knowledge;
} TileLanePlan;

// `isLoop`: the tasks run again and again; a lane that awaits nothing in its round awaits the end of the round before,
// as far as other lanes have run it.
TileLanePlan *tileLanePlanCreate(int64_t lanes, bool isLoop); // null: no memory
// Tasks in an order that can run; a dependence names an earlier task. False: no memory.
bool tileLanePlanAdd(TileLanePlan *lanes, int64_t programs, int64_t count, const TileLaneDependence *dependences);
bool tileLanePlanFinish(TileLanePlan *lanes); // false: no memory
void tileLanePlanDestroy(TileLanePlan *lanes);

#ifdef __cplusplus
}
#endif
