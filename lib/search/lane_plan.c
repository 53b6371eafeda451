// See lane_plan.h.
#include "lib/search/lane_plan.h"

#include "lib/support/grow.h"
#include "lib/support/integer.h"

#include <stdlib.h>
#include <string.h>

enum { MostSingle = 2, MostPairs = 1 << 16 }; // single items awaited of one task; pairs of programs looked at

// What the lane of an item knows when the item has ended: of each lane, how many of its items have ended.
typedef struct TileLaneKnowledge {
  uint32_t *ended; // of each item, one number for each lane
  int64_t room;    // items that it has memory for
  int64_t *next;   // position of each lane's next item
  int64_t *last;   // its last item; -1: none
  int64_t turn;    // the lane that gets the next program
  int64_t *free;   // when each lane has done its items, where a program takes one and so does an await
} Knowledge;

TileLanePlan *tileLanePlanCreate(int64_t lanes, bool isLoop) {
  TileLanePlan *all = calloc(1, sizeof *all);
  Knowledge *knowledge = calloc(1, sizeof *knowledge);
  if (knowledge) {
    knowledge->next = calloc((size_t)lanes, sizeof *knowledge->next);
    knowledge->last = malloc((size_t)lanes * sizeof *knowledge->last);
    knowledge->free = calloc((size_t)lanes, sizeof *knowledge->free);
  }
  if (!all || !knowledge || !knowledge->next || !knowledge->last || !knowledge->free) {
    if (knowledge) {
      free(knowledge->next);
      free(knowledge->last);
      free(knowledge->free);
    }
    free(knowledge);
    free(all);
    return NULL;
  }
  for (int64_t i = 0; i < lanes; ++i)
    knowledge->last[i] = -1;
  all->lanes = lanes;
  all->isLoop = isLoop;
  all->knowledge = knowledge;
  return all;
}

void tileLanePlanDestroy(TileLanePlan *lanes) {
  if (!lanes)
    return;
  for (int64_t i = 0; i < lanes->taskCount; ++i)
    free(lanes->tasks[i].dependences);
  free(lanes->knowledge->ended);
  free(lanes->knowledge->next);
  free(lanes->knowledge->last);
  free(lanes->knowledge->free);
  free(lanes->knowledge);
  free(lanes->tasks);
  free(lanes->items);
  free(lanes->awaits);
  free(lanes);
}

//===--- dealing ------------------------------------------------------------------------------------===//

static bool addDependence(TileLaneTask *task, const TileLaneDependence *dependence) {
  for (int64_t i = 0; i < task->dependenceCount; ++i)
    if (task->dependences[i].task == dependence->task) { // twice: all programs serve for both
      task->dependences[i].needs = NULL;
      return true;
    }
  TileLaneDependence *grown = tessera_grow(task->dependences, task->dependenceCount, sizeof *grown);
  if (!grown)
    return false;
  task->dependences = grown;
  // The latest first: what they know makes earlier ones known.
  int64_t at = task->dependenceCount++;
  for (; at > 0 && grown[at - 1].task < dependence->task; --at)
    grown[at] = grown[at - 1];
  grown[at] = *dependence;
  return true;
}

// Nobody signals for a task without programs: what it waits for is awaited instead.
static bool addDependences(TileLanePlan *lanes, TileLaneTask *task, int64_t count,
                           const TileLaneDependence *dependences) {
  for (int64_t i = 0; i < count; ++i) {
    const TileLaneTask *earlier = &lanes->tasks[dependences[i].task];
    if (earlier->programs && !addDependence(task, &dependences[i]))
      return false;
    for (int64_t k = 0; !earlier->programs && k < earlier->dependenceCount; ++k)
      if (!addDependence(task, &(TileLaneDependence){.task = earlier->dependences[k].task}))
        return false;
  }
  return true;
}

// Where program p needs program p of an earlier task, it is best on the same lane: nobody waits. Unless other lanes
// have less to do.
static void begin(TileLanePlan *lanes, const TileLaneTask *task) {
  Knowledge *k = lanes->knowledge;
  int64_t least = INT64_MAX;
  for (int64_t i = 0; i < lanes->lanes; ++i)
    least = tessera_min(least, k->next[i]);
  for (int64_t i = 0; i < task->dependenceCount; ++i) {
    const TileLaneDependence *dependence = &task->dependences[i];
    const TileLaneTask *earlier = &lanes->tasks[dependence->task];
    int64_t lane = lanes->items[earlier->items].lane;
    if (!dependence->needs || earlier->step != task->step || !dependence->needs(dependence->data, 0, 0) ||
        k->next[lane] > least + 1)
      continue;
    k->turn = lane;
    return;
  }
}

// When a program on this lane could begin.
static int64_t startOn(const TileLanePlan *lanes, const TileLaneTask *task, int64_t lane) {
  int64_t start = lanes->knowledge->free[lane];
  for (int64_t i = 0; i < task->dependenceCount; ++i) {
    const TileLaneTask *earlier = &lanes->tasks[task->dependences[i].task];
    for (int64_t k = 0; k < earlier->step; ++k) {
      const TileLaneItem *item = &lanes->items[earlier->items + k];
      start = tessera_max(start, item->end + (item->lane != lane));
    }
  }
  return start;
}

// One program is best on the lane of what it needs, unless that lane is busy for longer than an await takes.
static void beginSingle(TileLanePlan *lanes, const TileLaneTask *task) {
  Knowledge *k = lanes->knowledge;
  int64_t best = startOn(lanes, task, k->turn);
  for (int64_t i = 0; i < task->dependenceCount; ++i) {
    const TileLaneTask *earlier = &lanes->tasks[task->dependences[i].task];
    int64_t lane = lanes->items[earlier->items + earlier->step - 1].lane, start = startOn(lanes, task, lane);
    if (start <= best) {
      best = start;
      k->turn = lane;
    }
  }
}

static bool deal(TileLanePlan *lanes, int64_t number) {
  TileLaneTask *task = &lanes->tasks[number];
  Knowledge *k = lanes->knowledge;
  for (int64_t i = 0; i < task->step; ++i) {
    TileLaneItem *grown = tessera_grow(lanes->items, lanes->itemCount, sizeof *grown);
    if (!grown)
      return false;
    lanes->items = grown;
    int64_t lane = k->turn, count = tessera_ceil_div(task->programs - i, task->step);
    k->turn = (k->turn + 1) % lanes->lanes;
    k->free[lane] = startOn(lanes, task, lane) + count;
    lanes->items[lanes->itemCount++] = (TileLaneItem){.task = number,
                                                      .lane = lane,
                                                      .first = i,
                                                      .count = count,
                                                      .position = k->next[lane]++,
                                                      .end = k->free[lane],
                                                      .counter = -1};
  }
  return true;
}

//===--- what lanes know ------------------------------------------------------------------------------===//

static uint32_t *knownAt(const TileLanePlan *lanes, int64_t item) {
  return lanes->knowledge->ended + item * lanes->lanes;
}

static bool isKnown(const TileLanePlan *lanes, const uint32_t *known, int64_t item) {
  return lanes->items[item].position < (int64_t)known[lanes->items[item].lane];
}

static void learn(const TileLanePlan *lanes, uint32_t *known, int64_t item) {
  const uint32_t *from = knownAt(lanes, item);
  for (int64_t lane = 0; lane < lanes->lanes; ++lane)
    known[lane] = from[lane] > known[lane] ? from[lane] : known[lane];
}

//===--- awaits ---------------------------------------------------------------------------------------===//

static bool addAwait(TileLanePlan *lanes, int64_t counter, int64_t count, bool isOfRoundBefore) {
  TileLaneAwait *grown = tessera_grow(lanes->awaits, lanes->awaitCount, sizeof *grown);
  if (!grown)
    return false;
  lanes->awaits = grown;
  lanes->awaits[lanes->awaitCount++] = (TileLaneAwait){counter, count, isOfRoundBefore};
  return true;
}

static int64_t counterFor(TileLanePlan *lanes, int64_t *counter) {
  if (*counter < 0)
    *counter = lanes->counterCount++;
  return *counter;
}

static bool awaitTask(TileLanePlan *lanes, int64_t number, uint32_t *known) {
  TileLaneTask *task = &lanes->tasks[number];
  for (int64_t i = 0; i < task->step; ++i)
    learn(lanes, known, task->items + i);
  return addAwait(lanes, counterFor(lanes, &task->counter), task->step, false);
}

// Does some program of the item need some program of the earlier one?
static bool needsItem(const TileLanePlan *lanes, const TileLaneItem *item, const TileLaneDependence *dependence,
                      int64_t earlier) {
  const TileLaneItem *other = &lanes->items[earlier];
  if (!dependence->needs)
    return true;
  int64_t step = lanes->tasks[item->task].step, otherStep = lanes->tasks[other->task].step;
  for (int64_t i = 0; i < item->count; ++i)
    for (int64_t k = 0; k < other->count; ++k)
      if (dependence->needs(dependence->data, item->first + i * step, other->first + k * otherStep))
        return true;
  return false;
}

static bool awaitNeeded(TileLanePlan *lanes, const TileLaneItem *item, const TileLaneDependence *dependence,
                        uint32_t *known) {
  TileLaneTask *task = &lanes->tasks[dependence->task];
  TileLaneDependence needed = *dependence;
  int64_t single[MostSingle], count = 0;
  if (lanes->tasks[item->task].programs > MostPairs / task->programs)
    needed.needs = NULL;
  for (int64_t i = 0; i < task->step; ++i) {
    if (isKnown(lanes, known, task->items + i) || !needsItem(lanes, item, &needed, task->items + i))
      continue;
    if (count == MostSingle || !needed.needs)
      return awaitTask(lanes, dependence->task, known);
    single[count++] = task->items + i;
  }
  if (count == task->step && count > 1)
    return awaitTask(lanes, dependence->task, known);
  for (int64_t i = 0; i < count; ++i) {
    learn(lanes, known, single[i]);
    if (!addAwait(lanes, counterFor(lanes, &lanes->items[single[i]].counter), 1, false))
      return false;
  }
  return true;
}

static bool findAwaits(TileLanePlan *lanes, int64_t number) {
  TileLaneItem *item = &lanes->items[number];
  const TileLaneTask *task = &lanes->tasks[item->task];
  uint32_t *known = knownAt(lanes, number);
  int64_t last = lanes->knowledge->last[item->lane];
  if (last >= 0)
    memcpy(known, knownAt(lanes, last), (size_t)lanes->lanes * sizeof *known);
  item->awaits = lanes->awaitCount;
  for (int64_t i = 0; i < task->dependenceCount; ++i)
    if (!awaitNeeded(lanes, item, &task->dependences[i], known))
      return false;
  item->awaitCount = lanes->awaitCount - item->awaits;
  known[item->lane] = (uint32_t)item->position + 1;
  lanes->knowledge->last[item->lane] = number;
  return true;
}

// What a lane did itself it need not await.
static bool isOfLane(const TileLanePlan *lanes, const TileLaneTask *task, int64_t lane) {
  bool isOwn = true;
  for (int64_t i = 0; i < task->step; ++i)
    isOwn &= lanes->items[task->items + i].lane == lane;
  return isOwn;
}

// `last`: the tasks that have ended only when all have.
static bool awaitRoundBefore(TileLanePlan *lanes, TileLaneItem *item, const bool *last) {
  item->awaits = lanes->awaitCount;
  for (int64_t t = lanes->taskCount; t-- > 0;) {
    TileLaneTask *task = &lanes->tasks[t];
    if (last[t] && !isOfLane(lanes, task, item->lane) &&
        !addAwait(lanes, counterFor(lanes, &task->counter), task->step, true))
      return false;
  }
  item->awaitCount = lanes->awaitCount - item->awaits;
  return true;
}

// The first item of a lane awaits the round before, unless it awaits something in its own: that has waited already.
static bool findCarried(TileLanePlan *lanes) {
  uint32_t *known = calloc((size_t)lanes->lanes, sizeof *known);
  bool *last = calloc((size_t)lanes->taskCount + 1, sizeof *last), ok = known && last;
  for (int64_t t = lanes->taskCount; ok && t-- > 0;) {
    for (int64_t i = 0; i < lanes->tasks[t].step; ++i)
      last[t] |= !isKnown(lanes, known, lanes->tasks[t].items + i);
    for (int64_t i = 0; last[t] && i < lanes->tasks[t].step; ++i)
      learn(lanes, known, lanes->tasks[t].items + i);
  }
  for (int64_t i = 0; ok && i < lanes->itemCount; ++i)
    if (lanes->items[i].position == 0 && lanes->items[i].awaitCount == 0)
      ok = awaitRoundBefore(lanes, &lanes->items[i], last);
  free(known);
  free(last);
  return ok;
}

//===--- tasks ----------------------------------------------------------------------------------------===//

static bool makeRoom(TileLanePlan *lanes) {
  Knowledge *k = lanes->knowledge;
  if (lanes->itemCount <= k->room)
    return true;
  int64_t room = tessera_max(2 * k->room, lanes->itemCount);
  uint32_t *ended = realloc(k->ended, (size_t)room * (size_t)lanes->lanes * sizeof *ended);
  if (!ended)
    return false;
  memset(ended + k->room * lanes->lanes, 0, (size_t)(room - k->room) * (size_t)lanes->lanes * sizeof *ended);
  k->ended = ended;
  k->room = room;
  return true;
}

bool tileLanePlanAdd(TileLanePlan *lanes, int64_t programs, int64_t count, const TileLaneDependence *dependences) {
  TileLaneTask *grown = tessera_grow(lanes->tasks, lanes->taskCount, sizeof *grown);
  if (!grown)
    return false;
  lanes->tasks = grown;
  TileLaneTask *task = &lanes->tasks[lanes->taskCount++];
  *task = (TileLaneTask){
      .programs = programs, .step = tessera_min(programs, lanes->lanes), .items = lanes->itemCount, .counter = -1};
  if (!addDependences(lanes, task, count, dependences))
    return false;
  begin(lanes, task);
  if (task->step == 1)
    beginSingle(lanes, task);
  bool ok = deal(lanes, lanes->taskCount - 1) && makeRoom(lanes);
  for (int64_t i = 0; ok && i < task->step; ++i)
    ok = findAwaits(lanes, task->items + i);
  // What a task without programs waits for is asked for later.
  for (int64_t i = 0; i < task->dependenceCount; ++i)
    task->dependences[i].needs = NULL;
  return ok;
}

bool tileLanePlanFinish(TileLanePlan *lanes) { return !lanes->isLoop || findCarried(lanes); }
