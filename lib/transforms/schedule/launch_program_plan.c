// What the lanes of launches that become one do: kinds of launches, which single programs need which, and the plan in
// words. See launch_program.h; lib/search/lane_plan.h deals programs to lanes and finds the awaits.
#include "lib/transforms/schedule/launch_program.h"

#include "dialects/tile/questions.h"
#include "lib/analysis/launches/arena_parts.h"
#include "lib/ir/op_query.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

enum { MostBoxes = 1 << 14 }; // programs of a launch times operands

//===--- order and kinds --------------------------------------------------------------------------===//

typedef struct Ranked {
  Task task;
  int64_t depth;
} Ranked;

static int compareRanked(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  return x->task.step < y->task.step ? -1 : x->task.step > y->task.step;
}

// Lanes go through their items in order, so what could run at once stands together: the steps of a layer do not hold
// back the first step of the next layer.
static bool sortByFronts(Program *program, const TileLaunchOrder *order) {
  Ranked *ranked = malloc((size_t)program->count * sizeof *ranked);
  for (intptr_t i = 0; ranked && i < program->count; ++i)
    ranked[i] = (Ranked){program->tasks[i], order->steps[program->tasks[i].step].depth};
  if (ranked)
    qsort(ranked, (size_t)program->count, sizeof *ranked, compareRanked);
  for (intptr_t i = 0; ranked && i < program->count; ++i)
    program->tasks[i] = ranked[i].task;
  bool ok = ranked;
  free(ranked);
  return ok;
}

static int sameKind(const Task *a, const Task *b) {
  return mlirOperationEqual(a->kernel, b->kernel) && !memcmp(a->grid, b->grid, sizeof a->grid);
}

static void findKinds(Program *program) {
  for (intptr_t i = 0; i < program->count; ++i) {
    Task *task = &program->tasks[i];
    task->kind = 0;
    while (task->kind < program->numKinds && !sameKind(program->kinds[task->kind], task))
      ++task->kind;
    if (task->kind == program->numKinds) {
      program->kinds = tessera_grow(program->kinds, program->numKinds, sizeof *program->kinds);
      program->kinds[program->numKinds++] = task;
    }
  }
}

//===--- what single programs need ----------------------------------------------------===//

static const TileProgramBox *boxesOf(const Program *program, const Task *task) {
  TileProgramBox **boxes = &program->boxes[task->kind];
  intptr_t operands = tileLaunchOperandCount(task->launch);
  if (*boxes || task->programs * operands > MostBoxes)
    return *boxes;
  *boxes = calloc((size_t)(2 * task->programs * operands), sizeof **boxes);
  TileProgramPlace place = {.kernel = task->kernel};
  memcpy(place.grid, task->grid, sizeof place.grid);
  for (int64_t p = 0; *boxes && p < task->programs; ++p) {
    int64_t rest = p;
    for (intptr_t d = 0; d < GridRank; rest /= task->grid[d], ++d)
      place.ids[d] = rest % task->grid[d];
    for (intptr_t i = 0; i < 2 * operands; ++i)
      (*boxes)[2 * operands * p + i] = tileProgramBoxOf(&place, i / 2, i % 2);
  }
  return *boxes;
}

// Where the operand's element 0 lies in its part of memory, as a number for each dimension. False: rows may run into
// each other.
static bool shiftOf(const Program *program, MlirValue memref, int64_t *strides, int64_t *shift) {
  MlirType type = mlirValueGetType(memref);
  Place place;
  int64_t offset;
  tileLaunchPlaceOf(&program->rounds, memref, &place);
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d) {
    if (strides[d] <= 0 || (d && strides[d - 1] % strides[d]))
      return false;
    shift[d] = place.offset / strides[d];
    place.offset %= strides[d];
    if (d && shift[d] + mlirShapedTypeGetDimSize(type, d) > strides[d - 1] / strides[d])
      return false;
  }
  return true;
}

// Two operands, and how far apart their elements 0 lie.
typedef struct Meeting {
  intptr_t operand, earlier, rank;
  int64_t shift[MostRank];
} Meeting;

typedef struct Pair {
  const Program *program;
  const Task *task, *earlier;
  Meeting *meetings;
  intptr_t count;
} Pair;

static bool areApart(const Meeting *meeting, const TileProgramBox *a, const TileProgramBox *b) {
  bool apart = a->isEmpty || b->isEmpty;
  for (intptr_t d = 0; d < meeting->rank; ++d)
    apart |= a->end[d] + meeting->shift[d] <= b->first[d] || b->end[d] <= a->first[d] + meeting->shift[d];
  return apart;
}

static bool programNeeds(const void *data, int64_t number, int64_t earlier) {
  const Pair *pair = data;
  intptr_t operands = tileLaunchOperandCount(pair->task->launch),
           others = tileLaunchOperandCount(pair->earlier->launch);
  const TileProgramBox *a = boxesOf(pair->program, pair->task) + 2 * operands * number,
                       *b = boxesOf(pair->program, pair->earlier) + 2 * others * earlier;
  for (intptr_t i = 0; i < pair->count; ++i)
    for (int writes = 1; writes < 4; ++writes) { // one of the two writes, or both do
      const Meeting *meeting = &pair->meetings[i];
      if (!areApart(meeting, &a[2 * meeting->operand + writes % 2], &b[2 * meeting->earlier + writes / 2]))
        return true;
    }
  return false;
}

static bool areKnown(const Program *program, const Task *task, intptr_t operand) {
  const TileProgramBox *boxes = boxesOf(program, task);
  intptr_t operands = tileLaunchOperandCount(task->launch);
  for (int64_t p = 0; boxes && p < task->programs; ++p)
    for (intptr_t w = 0; w < 2; ++w)
      if (!boxes[2 * (operands * p + operand) + w].isKnown)
        return false;
  return boxes;
}

static bool canMeetAt(const Program *program, const Task *task, intptr_t operand, const Task *earlier, intptr_t other,
                      Meeting *meeting) {
  MlirValue a = tileLaunchOperand(task->launch, operand), b = tileLaunchOperand(earlier->launch, other);
  int64_t strides[2][MostRank], shift[2][MostRank], begins[2];
  Place places[2];
  tileLaunchPlaceOf(&program->rounds, a, &places[0]);
  tileLaunchPlaceOf(&program->rounds, b, &places[1]);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(a));
  if (!mlirValueEqual(tileMemoryPart(a, &begins[0]), tileMemoryPart(b, &begins[1])) ||
      places[0].stride != places[1].stride || mlirShapedTypeGetRank(mlirValueGetType(b)) != rank ||
      !shiftOf(program, a, strides[0], shift[0]) || !shiftOf(program, b, strides[1], shift[1]) ||
      memcmp(strides[0], strides[1], (size_t)rank * sizeof **strides) || !areKnown(program, task, operand) ||
      !areKnown(program, earlier, other))
    return false;
  *meeting = (Meeting){operand, other, rank, {0}};
  for (intptr_t d = 0; d < rank; ++d)
    meeting->shift[d] = shift[0][d] - shift[1][d];
  return true;
}

static bool isOutput(const Task *task, intptr_t operand) { return operand >= tileLaunchOpGetNumInputs(task->launch); }

// False: the maps do not tell which programs need which.
static bool findMeetings(const Program *program, Pair *pair) {
  for (intptr_t i = 0; i < tileLaunchOperandCount(pair->task->launch); ++i)
    for (intptr_t k = 0; k < tileLaunchOperandCount(pair->earlier->launch); ++k) {
      Meeting meeting;
      if ((!isOutput(pair->task, i) && !isOutput(pair->earlier, k)) ||
          !tileMemoryMayOverlap(tileLaunchOperand(pair->task->launch, i), tileLaunchOperand(pair->earlier->launch, k)))
        continue;
      if (!canMeetAt(program, pair->task, i, pair->earlier, k, &meeting))
        return false;
      pair->meetings = tessera_grow(pair->meetings, pair->count, sizeof meeting);
      pair->meetings[pair->count++] = meeting;
    }
  return pair->count;
}

static void freePairs(Pair *pairs, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i)
    free(pairs[i].meetings);
  free(pairs);
}

// Tasks are numbered as they stand in the program.
static bool dealTask(Program *program, const TileLaunchOrder *order, const intptr_t *taskOfStep, intptr_t number) {
  const TileStep *step = &order->steps[program->tasks[number].step];
  TileLaneDependence *needed = malloc((size_t)(step->count + 1) * sizeof *needed);
  Pair *pairs = calloc((size_t)step->count + 1, sizeof *pairs);
  intptr_t count = 0;
  for (intptr_t k = 0; k < step->count; ++k) {
    intptr_t task = taskOfStep[step->before[k]];
    bool isThere = task < 0;
    for (intptr_t n = 0; n < count; ++n)
      isThere |= needed[n].task == task;
    if (isThere)
      continue;
    pairs[count] = (Pair){.program = program, .task = &program->tasks[number], .earlier = &program->tasks[task]};
    bool isByProgram = findMeetings(program, &pairs[count]);
    needed[count] = (TileLaneDependence){task, isByProgram ? programNeeds : NULL, &pairs[count]};
    ++count;
  }
  bool ok = tileLanePlanAdd(program->lanes, program->tasks[number].programs, count, needed);
  freePairs(pairs, count);
  free(needed);
  return ok;
}

static bool needsAll(const void *data, int64_t program, int64_t earlier) {
  (void)data, (void)program, (void)earlier;
  return true;
}

// A task that does nothing, behind all others, on a lane that does the last of them.
static bool dealDecision(Program *program, int64_t *decider) {
  TileLaneDependence *needed = malloc((size_t)(program->count + 1) * sizeof *needed);
  for (intptr_t i = 0; needed && i < program->count; ++i)
    needed[i] = (TileLaneDependence){i, needsAll, NULL};
  bool ok = needed && tileLanePlanAdd(program->lanes, 1, program->count, needed);
  if (ok)
    *decider = program->lanes->items[program->lanes->itemCount - 1].lane;
  free(needed);
  return ok;
}

static bool dealTasks(Program *program, const TileLaunchOrder *order, int64_t lanes, int64_t *decider) {
  intptr_t *taskOfStep = malloc((size_t)(order->count + 1) * sizeof *taskOfStep);
  for (intptr_t i = 0; i < order->count; ++i)
    taskOfStep[i] = -1;
  for (intptr_t i = 0; i < program->count; ++i)
    taskOfStep[program->tasks[i].step] = i;
  program->lanes = tileLanePlanCreate(lanes, tileProgramIsLoop(program));
  program->boxes = calloc((size_t)program->numKinds + 1, sizeof *program->boxes);
  bool ok = program->lanes && program->boxes;
  for (intptr_t i = 0; ok && i < program->count; ++i)
    ok = dealTask(program, order, taskOfStep, i);
  free(taskOfStep);
  ok = ok && (!decider || dealDecision(program, decider));
  return ok && tileLanePlanFinish(program->lanes);
}

//===--- the plan in words ---------------------------------------------------------------===//

static void addWord(Program *program, int64_t word) {
  program->plan = tessera_grow(program->plan, program->words, sizeof *program->plan);
  program->plan[program->words++] = (int32_t)word;
}

static int64_t countOf(const TileLaneAwait *await) { return await->isOfRoundBefore ? -await->count : await->count; }

// Where a plan's tasks, their kinds and its counters are in the whole program.
typedef struct Origin {
  const Program *part;
  const Task *tasks;
  int64_t firstTask, firstCounter, noKind; // noKind: of a task that only awaits
} Origin;

static int64_t counterOf(const Origin *origin, int64_t counter) {
  return counter < 0 ? -1 : origin->firstCounter + counter;
}

// The first awaits are in the record, more of them behind all records. A decision is a task behind all launches.
static void fillRecord(const Origin *origin, const TileLaneItem *item, int64_t more, int32_t *record) {
  const TileLanePlan *lanes = origin->part->lanes;
  const TileLaneTask *dealt = &lanes->tasks[item->task];
  bool isLaunch = item->task < origin->part->count;
  int64_t rest = tessera_max(item->awaitCount - RecordAwaits, 0);
  const int64_t words[] = {isLaunch ? origin->firstTask + item->task : 0,
                           isLaunch ? origin->tasks[item->task].kind : origin->noKind,
                           item->first,
                           item->count,
                           dealt->step ? dealt->step : 1,
                           counterOf(origin, dealt->counter),
                           counterOf(origin, item->counter),
                           more,
                           more + 2 * rest};
  intptr_t at = 0;
  for (; at < (intptr_t)(sizeof words / sizeof *words); ++at)
    record[at] = (int32_t)words[at];
  for (intptr_t i = 0; i < RecordAwaits; ++i) {
    const TileLaneAwait *await = i < item->awaitCount ? &lanes->awaits[item->awaits + i] : NULL;
    record[at++] = await ? (int32_t)counterOf(origin, await->counter) : -1;
    record[at++] = await ? (int32_t)countOf(await) : 0;
  }
}

static void addFurtherAwaits(Program *program, const Origin *origin, const TileLaneItem *item) {
  for (int64_t i = RecordAwaits; i < item->awaitCount; ++i) {
    const TileLaneAwait *await = &origin->part->lanes->awaits[item->awaits + i];
    addWord(program, counterOf(origin, await->counter));
    addWord(program, countOf(await));
  }
}

// next[lane]: its first record, from `record` on. Returns the record behind the last one.
static intptr_t findBegins(const TileLanePlan *lanes, intptr_t record, int64_t *next) {
  for (int64_t i = 0; i < lanes->itemCount; ++i)
    ++next[lanes->items[i].lane];
  for (int64_t lane = 0; lane < lanes->lanes; ++lane) {
    int64_t items = next[lane];
    next[lane] = record;
    record += items;
  }
  return record;
}

static void padTo(Program *program, int64_t words) {
  while (program->words < words)
    addWord(program, 0);
}

static void addItems(Program *program, const Origin *origin, int64_t *next) {
  const TileLanePlan *lanes = origin->part->lanes;
  for (int64_t i = 0; i < lanes->itemCount; ++i) {
    const TileLaneItem *item = &lanes->items[i];
    intptr_t more = program->words;
    addFurtherAwaits(program, origin, item);
    fillRecord(origin, item, more, program->plan + RecordWords * next[item->lane]++);
  }
}

static void addRecords(Program *program) {
  const TileLanePlan *lanes = program->lanes;
  const Origin origin = {program, program->tasks, 0, 0, program->numKinds};
  int64_t *next = calloc((size_t)lanes->lanes, sizeof *next);
  intptr_t record = findBegins(lanes, tessera_round_up(lanes->lanes + 1, RecordWords) / RecordWords, next);
  for (int64_t lane = 0; lane < lanes->lanes; ++lane)
    addWord(program, next[lane]);
  addWord(program, record);
  padTo(program, record * RecordWords);
  addItems(program, &origin, next);
  free(next);
}

//===--- segments in words ---------------------------------------------------------------===//

// What a lane does in a segment: its items, and the task of the first one.
typedef struct Share {
  int64_t record, items, task;
} Share;

static Share *sharesOf(const Program *program, int64_t *next, intptr_t *behind) {
  Share *shares = calloc((size_t)(program->numSegments * program->numLanes), sizeof *shares);
  intptr_t record = program->numSegments * program->numLanes;
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    const Segment *segment = &program->segments[i];
    const TileLanePlan *lanes = segment->part.lanes;
    Share *own = shares + i * program->numLanes;
    record = findBegins(lanes, record, next + i * program->numLanes);
    for (int64_t k = lanes->itemCount; k-- > 0;) {
      const TileLaneItem *item = &lanes->items[k];
      ++own[item->lane].items;
      own[item->lane].task = item->task < segment->part.count ? segment->firstTask + item->task : 0;
    }
    for (int64_t lane = 0; lane < program->numLanes; ++lane)
      own[lane].record = next[i * program->numLanes + lane];
  }
  *behind = record;
  return shares;
}

static void addShare(Program *program, const Share *share) {
  addWord(program, share->record);
  addWord(program, share->record + 1);
  addWord(program, share->task);
}

// The lane's record of a segment.
static void addLane(Program *program, const Share *shares, intptr_t number, int64_t lane) {
  const Segment *segment = &program->segments[number];
  int64_t lanes = program->numLanes, then = segment->then, otherwise = segment->otherwise;
  addWord(program, number);
  addWord(program, shares[number * lanes + lane].items);
  addWord(program, then < 0 ? -1 : then * lanes + lane);
  addWord(program, otherwise < 0 ? -1 : otherwise * lanes + lane);
  addWord(program, segment->decider < 0 ? -1 : segment->decider == lane);
  addWord(program, tileProgramRowWords(program) * program->count + number);
  addShare(program, &shares[tessera_max(then, 0) * lanes + lane]);
  addShare(program, &shares[tessera_max(otherwise, 0) * lanes + lane]);
  addShare(program, &shares[number * lanes + lane]);
  padTo(program, (number * lanes + lane + 1) * RecordWords);
}

static void addSegments(Program *program) {
  int64_t *next = calloc((size_t)(program->numSegments * program->numLanes), sizeof *next);
  intptr_t behind;
  Share *shares = sharesOf(program, next, &behind);
  for (intptr_t i = 0; i < program->numSegments; ++i)
    for (int64_t lane = 0; lane < program->numLanes; ++lane)
      addLane(program, shares, i, lane);
  padTo(program, (behind + 2) * RecordWords); // a lane without items looks at two records
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    const Segment *segment = &program->segments[i];
    const Origin origin = {&segment->part, program->tasks + segment->firstTask, segment->firstTask,
                           segment->firstCounter, program->numKinds};
    addItems(program, &origin, next + i * program->numLanes);
  }
  free(shares);
  free(next);
}

bool tileProgramBuildPart(Program *part, const TileLaunchOrder *order, int64_t lanes, bool decides, int64_t *decider) {
  *decider = -1;
  if (part->count && !sortByFronts(part, order))
    return false;
  findKinds(part);
  return dealTasks(part, order, lanes, decides ? decider : NULL);
}

void tileProgramJoinSegments(Program *program) {
  for (intptr_t i = 0; i < program->numSegments; ++i) {
    Segment *segment = &program->segments[i];
    segment->firstTask = program->count;
    segment->firstCounter = program->numCounters;
    program->numCounters += segment->part.lanes->counterCount;
    for (intptr_t k = 0; k < segment->part.count; ++k) {
      program->tasks = tessera_grow(program->tasks, program->count, sizeof *program->tasks);
      program->tasks[program->count++] = segment->part.tasks[k];
    }
  }
  findKinds(program);
  for (intptr_t i = 0; i < program->count; ++i)
    program->operands = tessera_max(program->operands, tileLaunchOperandCount(program->tasks[i].launch));
  addSegments(program);
}

bool tileProgramBuildPlan(Program *program, const TileLaunchOrder *order, int64_t lanes) {
  if (!sortByFronts(program, order))
    return tileError(program->tasks[0].launch, "no memory to order %lld launches", (long long)program->count);
  findKinds(program);
  if (!dealTasks(program, order, lanes, NULL))
    return tileError(program->tasks[0].launch, "no memory to schedule %lld launches", (long long)program->count);
  for (intptr_t i = 0; i < program->count; ++i)
    program->operands = tessera_max(program->operands, tileLaunchOperandCount(program->tasks[i].launch));
  program->numLanes = lanes;
  program->numCounters = program->lanes->counterCount;
  addRecords(program);
  return true;
}

void tileProgramFree(Program *program) {
  for (intptr_t i = 0; program->boxes && i < program->numKinds; ++i)
    free(program->boxes[i]);
  free(program->boxes);
  free(program->tasks);
  free(program->kinds);
  free(program->plan);
  tileLanePlanDestroy(program->lanes);
  for (intptr_t i = 0; i < program->numSegments; ++i)
    tileProgramFree(&program->segments[i].part);
  free(program->segments);
  *program = (Program){NULL};
}
