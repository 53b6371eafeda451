// tile-co-schedule-kernels{chip=NAME persistent=model lanes=N remarks=false}: launches become one launch whose programs
// wait for each other on the device.
//
//   tile.launch @a grid(%c8) …           tile.launch @program_0 grid(lanes) ins(plan, addresses, …) outs(counters, …)
//   tile.launch @b grid(%c4, %c3) …  →   tile.kernel @program_0 {cooperative}: each lane goes through the launches in
//   tile.launch @c grid(%c2) …             order, takes its share of their programs, awaits and signals counters
//
// Why: launches of few programs leave the machine idle between them, and each one costs.
// Expects: host functions on buffers, freed; kernels at kernel level that know the facts of their launches
// (tile-assume-launch-facts). Leaves: for each such run of launches one cooperative kernel. Its code grows with the
//   kinds of launches (kernel and grid), not with their number: a constant plan has a list of items for each lane and a
//   row for each launch, operands are addresses. Dependences are those of memory: between launches
//   (launches/launch_order.h), and between single programs where their boxes are known (launches/program_box.h).
//   lib/search/lane_plan.h deals programs to lanes and finds the awaits: no lane waits for what comes later, so all
//   come to an end where all lanes run at once. Counters are set to 0 by the host. A loop with constant bounds whose
//   body only launches kernels becomes one launch, too, whose lanes go through its rounds: counts grow from round to
//   round, and an operand may begin further on in each round. Left alone: single launches, grids or operands of unknown
//   sizes or places, kernels that cooperate already, grids that fill the machine (`model`), products that partitions of
//   warps compute, CPUs.
// Cost: linear in the ops, the pairs in order and the bodies; pairs of programs where single ones are needed.
// Paper: Rammer (OSDI 2020). Its flags are plain stores; these release and acquire.
#include "dialects/tile/layouts.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/analysis/launches/program_box.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/ir/template.h"
#include "lib/search/lane_plan.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/schedule.h"
#include "lib/transforms/schedule/templates.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>
#include <string.h>

enum { Statistic_Programs, Statistic_Launches, Statistic_Kinds, Statistic_Awaits };
enum { GridRank = 3, MostRank = 8, MostRoots = 256, MostTasks = 4096, MostLanes = 256, LargeGrid = 4 };
enum { MostBoxes = 1 << 14 };                              // programs of a launch times operands
enum { ItemColumns = 6, TaskColumns = 3, MostEarly = 12 }; // of the plan: see templates/program.mlir

typedef struct Scheduling {
  MlirOperation module;
  MlirExtPass pass;
  TileTarget target;
  bool always, remarks;
  int64_t lanes; // 0: the machine's cores
} Scheduling;

//===--- which launches --------------------------------------------------------------===//

static MlirOperation kernelOf(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileLaunchOpGetKernel(launch));
  return tileKernelOpIsA(kernel) ? kernel : (MlirOperation){NULL};
}

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)); }

// A loop whose rounds are known: its body's launches may become rounds of one program.
typedef struct Rounds {
  MlirOperation loop; // null: none
  int64_t first, step, count;
} Rounds;

static MlirValue inductionOf(MlirOperation loop) {
  return mlirBlockGetArgument(mlirRegionGetFirstBlock(scfForOpGetRegion(loop)), 0);
}

static bool readRounds(MlirOperation loop, Rounds *rounds) {
  int64_t end;
  *rounds = (Rounds){.loop = loop};
  if (!scfForOpIsA(loop) || scfForOpHasUnsignedCmp(loop) || scfForOpGetNumResults(loop) ||
      !tileConstantIndex(scfForOpGetLowerBound(loop), &rounds->first) ||
      !tileConstantIndex(scfForOpGetUpperBound(loop), &end) ||
      !tileConstantIndex(scfForOpGetStep(loop), &rounds->step) || rounds->step <= 0 || rounds->first > INT32_MAX ||
      rounds->first < INT32_MIN || end > INT32_MAX || end < INT32_MIN)
    return false;
  rounds->count = end > rounds->first ? tessera_ceil_div(end - rounds->first, rounds->step) : 0;
  return true;
}

// A memref whose elements lie at known places.
static bool isStatic(MlirType type, int64_t *offset) {
  int64_t strides[MostRank];
  if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MostRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, offset)) ||
      mlirShapedTypeIsDynamicStrideOrOffset(*offset))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

static bool isViewedByAddress(MlirValue memref) {
  for (MlirOperation op = tileDefiningOp(memref); !mlirOperationIsNull(op);) {
    MlirValue viewed = tileOpViewedMemory(op);
    if (mlirValueIsNull(viewed))
      return false;
    if (memrefViewOpIsA(op))
      return true;
    op = tileDefiningOp(viewed);
  }
  return false;
}

static MlirValue operandOf(MlirOperation launch, intptr_t i) {
  intptr_t inputs = tileLaunchOpGetNumInputs(launch);
  return i < inputs ? tileLaunchOpGetInputs(launch, i) : tileLaunchOpGetOutputs(launch, i - inputs);
}

static intptr_t operandsOf(MlirOperation launch) {
  return tileLaunchOpGetNumInputs(launch) + tileLaunchOpGetNumOutputs(launch);
}

// Where the memref begins in its root, in elements: offset + stride × the loop's index.
typedef struct Place {
  int64_t offset, stride;
} Place;

static bool placeOf(const Rounds *rounds, MlirValue memref, Place *place) {
  int64_t strides[MostRank], offset, fixed;
  MlirType type = mlirValueGetType(memref);
  *place = (Place){0, 0};
  if (isStatic(type, &place->offset))
    return true;
  MlirOperation view = tileDefiningOp(memref);
  if (mlirOperationIsNull(rounds->loop) || !memrefSubViewOpIsA(view) ||
      !isStatic(memrefSubViewOpGetSourceType(view), &place->offset) ||
      mlirLogicalResultIsFailure(
          mlirMemRefTypeGetStridesAndOffset(memrefSubViewOpGetSourceType(view), strides, &offset)))
    return false;
  MlirAttribute offsets = memrefSubViewOpGetStaticOffsets(view);
  for (intptr_t d = 0, dynamic = 0; d < mlirDenseArrayGetNumElements(offsets); ++d) {
    fixed = mlirDenseI64ArrayGetElement(offsets, d);
    if (!mlirShapedTypeIsDynamicSize(fixed)) {
      place->offset += fixed * strides[d];
      continue;
    }
    MlirValue at = memrefSubViewOpGetOffsets(view, dynamic++);
    if (tileConstantIndex(at, &fixed))
      place->offset += fixed * strides[d];
    else if (mlirValueEqual(at, inductionOf(rounds->loop)))
      place->stride += strides[d];
    else
      return false;
  }
  return true;
}

// Sizes and strides are known; in a loop the beginning may be another one in each round.
static bool isStaticBesideOffset(const Rounds *rounds, MlirType type) {
  int64_t strides[MostRank], offset;
  if (mlirOperationIsNull(rounds->loop))
    return isStatic(type, &offset);
  if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MostRank ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return false;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return false;
  return true;
}

static bool isInside(MlirValue value, MlirOperation loop) {
  MlirBlock block = mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                                     : mlirOperationGetBlock(tileDefiningOp(value));
  for (MlirOperation op = mlirBlockGetParentOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetParentOperation(op))
    if (mlirOperationEqual(op, loop))
      return true;
  return false;
}

static const char *whyOperandStays(const Rounds *rounds, MlirOperation launch, intptr_t i) {
  MlirValue operand = operandOf(launch, i);
  MlirType type = mlirValueGetType(operand),
           parameter = mlirValueGetType(mlirBlockGetArgument(bodyOf(kernelOf(launch)), i));
  int64_t rootOffset;
  Place place;
  if (!mlirTypeIsAMemRef(type))
    return "it has a scalar operand";
  MlirType root = mlirValueGetType(tileMemoryRoot(operand));
  if (!mlirTypeIsAMemRef(root) || !isStatic(root, &rootOffset) || rootOffset || isViewedByAddress(operand) ||
      !placeOf(rounds, operand, &place) || !isStaticBesideOffset(rounds, type) ||
      !isStaticBesideOffset(rounds, parameter))
    return "an operand's sizes or place are not known";
  if (!mlirOperationIsNull(rounds->loop) && isInside(tileMemoryRoot(operand), rounds->loop))
    return "an operand's memory is another one in each round";
  return NULL;
}

// Warps of the kernel; 0: nobody says.
static int64_t warpsOf(MlirOperation kernel) {
  int64_t warps = 0;
  tileIntegerOf(kernel, "warps", &warps);
  return warps;
}

typedef struct Contents {
  bool isScheduled, hasProduct, isLaidOut, isOpen; // open: has tiles without layouts
} Contents;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Contents *contents = userData;
  contents->isScheduled |= tileAllocOpIsA(op) || tileWarpSpecializeOpIsA(op) || tileSyncOpIsA(op);
  contents->hasProduct |= tileIsProduct(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i)))
      *(mlirAttributeIsNull(tileTypeGetLayout(tileResultType(op, i))) ? &contents->isOpen : &contents->isLaidOut) =
          true;
  return MlirWalkResultAdvance;
}

static Contents contentsOf(MlirOperation kernel) {
  Contents contents = {false};
  mlirOperationWalk(kernel, look, &contents, MlirWalkPreOrder);
  return contents;
}

static const char *whyKernelStays(const Scheduling *s, MlirOperation kernel) {
  if (mlirOperationIsNull(kernel) || mlirBlockIsNull(bodyOf(kernel)) ||
      !mlirBlockIsNull(mlirBlockGetNextInRegion(bodyOf(kernel))))
    return "its kernel is not in this module";
  if (!mlirAttributeIsNull(tileOpAttribute(kernel, "cooperative")))
    return "its kernel is cooperative";
  Contents contents = contentsOf(kernel);
  if (contents.isScheduled || tileKernelOpHasOrdered(kernel))
    return "its kernel is scheduled already";
  if (contents.hasProduct && tileMachineListHas(s->target.machine, "engines", "tma"))
    return "partitions of warps compute its product";
  return NULL;
}

static bool readGrid(MlirOperation launch, int64_t grid[GridRank], int64_t *programs) {
  *programs = 1;
  for (intptr_t d = 0; d < GridRank; ++d) {
    grid[d] = 1;
    if (d < tileLaunchOpGetNumGrid(launch) && !tileConstantIndex(tileLaunchOpGetGrid(launch, d), &grid[d]))
      return false;
    grid[d] = grid[d] < 0 ? 0 : grid[d];
    if (grid[d] > INT32_MAX || (grid[d] && *programs > INT32_MAX / grid[d]))
      return false;
    *programs *= grid[d];
  }
  return true;
}

static const char *whyStays(const Scheduling *s, const Rounds *rounds, MlirOperation launch) {
  int64_t grid[GridRank], programs;
  if (tileLaunchOpGetNumResults(launch))
    return "it is on tensors";
  if (!mlirAttributeIsNull(tileLaunchOpGetCluster(launch)))
    return "it has clusters";
  if (!readGrid(launch, grid, &programs))
    return "its grid is not known";
  if (!s->always && programs >= LargeGrid * s->target.search.cores)
    return "it fills the machine";
  const char *why = whyKernelStays(s, kernelOf(launch));
  for (intptr_t i = 0; !why && i < operandsOf(launch); ++i)
    why = whyOperandStays(rounds, launch, i);
  return why;
}

//===--- runs of launches -------------------------------------------------------------===//

typedef struct Task {
  MlirOperation launch, kernel;
  int64_t grid[GridRank], programs;
  intptr_t step;
  int kind;
} Task;

typedef struct Program {
  Task *tasks;
  intptr_t count;
  Rounds rounds;
  // The kinds: of each the first task.
  Task **kinds;
  intptr_t numKinds;
  MlirValue roots[MostRoots];
  bool isWritten[MostRoots];
  intptr_t numRoots;
  TileLanePlan *lanes;
  TileProgramBox **boxes; // of each kind: of each program, operand, and read and written; null: not asked, or too many
  intptr_t operands;      // the most of a launch
  int64_t *plan;
  intptr_t words;
} Program;

static intptr_t rootOf(Program *program, MlirValue memref) {
  MlirValue root = tileMemoryRoot(memref);
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (mlirValueEqual(program->roots[i], root))
      return i;
  if (program->numRoots == MostRoots)
    return -1;
  program->roots[program->numRoots] = root;
  return program->numRoots++;
}

static bool haveRoom(Program *program, MlirOperation launch) {
  intptr_t roots = program->numRoots;
  for (intptr_t i = 0; i < operandsOf(launch); ++i)
    if (rootOf(program, operandOf(launch, i)) < 0) {
      program->numRoots = roots;
      return false;
    }
  return program->count < MostTasks;
}

// Without layouts, a body on other warps than its own would add up in another order.
static const char *whyBesideStays(const Program *program, MlirOperation launch) {
  if (!program->count)
    return NULL;
  MlirOperation kernel = kernelOf(launch), first = program->tasks[0].kernel;
  Contents own = contentsOf(kernel), other = contentsOf(first);
  bool isOpen = own.isOpen || other.isOpen;
  if (isOpen && (own.isLaidOut || other.isLaidOut))
    return "its tiles have layouts, or those of others have, but not all";
  return isOpen && warpsOf(kernel) != warpsOf(first) ? "it has other warps, and tiles without layouts" : NULL;
}

static void addTask(Program *program, const TileLaunchOrder *order, intptr_t step) {
  Task task = {.launch = order->steps[step].op, .step = step};
  task.kernel = kernelOf(task.launch);
  readGrid(task.launch, task.grid, &task.programs);
  program->tasks = tessera_grow(program->tasks, program->count, sizeof *program->tasks);
  program->tasks[program->count++] = task;
  intptr_t inputs = tileLaunchOpGetNumInputs(task.launch);
  for (intptr_t i = inputs; i < operandsOf(task.launch); ++i)
    program->isWritten[rootOf(program, operandOf(task.launch, i))] = true;
}

static void freeProgram(Program *program) {
  for (intptr_t i = 0; program->boxes && i < program->numKinds; ++i)
    free(program->boxes[i]);
  free(program->boxes);
  free(program->tasks);
  free(program->kinds);
  free(program->plan);
  tileLanePlanDestroy(program->lanes);
  *program = (Program){NULL};
}

//===--- the plan ---------------------------------------------------------------------===//

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

static void addWord(Program *program, int64_t word) {
  program->plan = tessera_grow(program->plan, program->words, sizeof *program->plan);
  program->plan[program->words++] = word;
}

// In bytes: where it begins, and in a loop how much further with each index.
static void addOperand(Program *program, MlirValue memref) {
  int64_t bytes = tileMemoryBytes(mlirValueGetType(memref));
  Place place;
  placeOf(&program->rounds, memref, &place);
  addWord(program, rootOf(program, memref));
  addWord(program, place.offset * bytes);
  if (!mlirOperationIsNull(program->rounds.loop))
    addWord(program, place.stride * bytes);
}

//===--- what single programs need ----------------------------------------------------===//

static const TileProgramBox *boxesOf(const Program *program, const Task *task) {
  TileProgramBox **boxes = &program->boxes[task->kind];
  intptr_t operands = operandsOf(task->launch);
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

// Where the operand's element 0 lies in its root, as a number for each dimension. False: rows may run into each other.
static bool shiftOf(const Program *program, MlirValue memref, int64_t *strides, int64_t *shift) {
  MlirType type = mlirValueGetType(memref);
  Place place;
  int64_t offset;
  placeOf(&program->rounds, memref, &place);
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
  intptr_t operands = operandsOf(pair->task->launch), others = operandsOf(pair->earlier->launch);
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
  intptr_t operands = operandsOf(task->launch);
  for (int64_t p = 0; boxes && p < task->programs; ++p)
    for (intptr_t w = 0; w < 2; ++w)
      if (!boxes[2 * (operands * p + operand) + w].isKnown)
        return false;
  return boxes;
}

static bool canMeetAt(const Program *program, const Task *task, intptr_t operand, const Task *earlier, intptr_t other,
                      Meeting *meeting) {
  MlirValue a = operandOf(task->launch, operand), b = operandOf(earlier->launch, other);
  int64_t strides[2][MostRank], shift[2][MostRank];
  Place places[2];
  placeOf(&program->rounds, a, &places[0]);
  placeOf(&program->rounds, b, &places[1]);
  intptr_t rank = mlirShapedTypeGetRank(mlirValueGetType(a));
  if (!mlirValueEqual(tileMemoryRoot(a), tileMemoryRoot(b)) || places[0].stride != places[1].stride ||
      mlirShapedTypeGetRank(mlirValueGetType(b)) != rank || !shiftOf(program, a, strides[0], shift[0]) ||
      !shiftOf(program, b, strides[1], shift[1]) || memcmp(strides[0], strides[1], (size_t)rank * sizeof **strides) ||
      !areKnown(program, task, operand) || !areKnown(program, earlier, other))
    return false;
  *meeting = (Meeting){operand, other, rank, {0}};
  for (intptr_t d = 0; d < rank; ++d)
    meeting->shift[d] = shift[0][d] - shift[1][d];
  return true;
}

static bool isOutput(const Task *task, intptr_t operand) { return operand >= tileLaunchOpGetNumInputs(task->launch); }

// False: the maps do not tell which programs need which.
static bool findMeetings(const Program *program, Pair *pair) {
  for (intptr_t i = 0; i < operandsOf(pair->task->launch); ++i)
    for (intptr_t k = 0; k < operandsOf(pair->earlier->launch); ++k) {
      Meeting meeting;
      if ((!isOutput(pair->task, i) && !isOutput(pair->earlier, k)) ||
          !tileMemoryMayOverlap(operandOf(pair->task->launch, i), operandOf(pair->earlier->launch, k)))
        continue;
      if (!canMeetAt(program, pair->task, i, pair->earlier, k, &meeting))
        return false;
      pair->meetings = tessera_grow(pair->meetings, pair->count, sizeof meeting);
      pair->meetings[pair->count++] = meeting;
    }
  return pair->count;
}

static int64_t lanesOf(const Scheduling *s, const Program *program) {
  int64_t widest = 1, cores = s->lanes ? s->lanes : s->target.search.cores, sum = 0;
  for (intptr_t i = 0; i < program->count; ++i)
    sum += program->tasks[i].programs;
  widest = sum > 1 ? sum : 1;
  int64_t lanes = cores < widest ? cores : widest;
  return lanes < MostLanes ? lanes : MostLanes;
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

static bool dealTasks(const Scheduling *s, Program *program, const TileLaunchOrder *order) {
  intptr_t *taskOfStep = malloc((size_t)order->count * sizeof *taskOfStep);
  for (intptr_t i = 0; i < order->count; ++i)
    taskOfStep[i] = -1;
  for (intptr_t i = 0; i < program->count; ++i)
    taskOfStep[program->tasks[i].step] = i;
  program->lanes = tileLanePlanCreate(lanesOf(s, program), !mlirOperationIsNull(program->rounds.loop));
  program->boxes = calloc((size_t)program->numKinds, sizeof *program->boxes);
  bool ok = program->lanes && program->boxes;
  for (intptr_t i = 0; ok && i < program->count; ++i)
    ok = dealTask(program, order, taskOfStep, i);
  free(taskOfStep);
  return ok && tileLanePlanFinish(program->lanes);
}

static intptr_t wordsOfOperand(const Program *program) { return mlirOperationIsNull(program->rounds.loop) ? 2 : 3; }

// Where the parts of the plan begin.
typedef struct Parts {
  int64_t items, tasks, row, awaits; // row: words of a task
} Parts;

static Parts partsOf(const Program *program) {
  Parts parts = {.items = program->lanes->lanes + 1, .row = TaskColumns + wordsOfOperand(program) * program->operands};
  parts.tasks = parts.items + ItemColumns * program->lanes->itemCount;
  parts.awaits = parts.tasks + parts.row * program->count;
  return parts;
}

static void addItems(Program *program, const Parts *parts) {
  const TileLanePlan *lanes = program->lanes;
  int64_t *next = calloc((size_t)lanes->lanes, sizeof *next), at = parts->items;
  for (int64_t i = 0; i < lanes->itemCount; ++i)
    ++next[lanes->items[i].lane];
  for (int64_t lane = 0; lane < lanes->lanes; ++lane) {
    int64_t items = next[lane];
    addWord(program, at);
    next[lane] = at;
    at += ItemColumns * items;
  }
  addWord(program, at);
  for (int64_t i = 0; i < ItemColumns * lanes->itemCount; ++i)
    addWord(program, 0);
  for (int64_t i = 0; i < lanes->itemCount; ++i) {
    const TileLaneItem *item = &lanes->items[i];
    int64_t begin = parts->awaits + 2 * item->awaits;
    int64_t words[ItemColumns] = {parts->tasks + parts->row * item->task, item->first,  item->count, begin,
                                  begin + 2 * item->awaitCount,           item->counter};
    memcpy(program->plan + next[item->lane], words, sizeof words);
    next[item->lane] += ItemColumns;
  }
  free(next);
}

static bool buildPlan(const Scheduling *s, Program *program, const TileLaunchOrder *order) {
  findKinds(program);
  if (!dealTasks(s, program, order))
    return tileError(program->tasks[0].launch, "no memory to schedule %lld launches", (long long)program->count);
  for (intptr_t i = 0; i < program->count; ++i)
    program->operands = tessera_max(program->operands, operandsOf(program->tasks[i].launch));
  Parts parts = partsOf(program);
  addItems(program, &parts);
  for (intptr_t i = 0; i < program->count; ++i) {
    const Task *task = &program->tasks[i];
    const TileLaneTask *dealt = &program->lanes->tasks[i];
    addWord(program, task->kind);
    addWord(program, dealt->step ? dealt->step : 1);
    addWord(program, dealt->counter);
    for (intptr_t k = 0; k < operandsOf(task->launch); ++k)
      addOperand(program, operandOf(task->launch, k));
    for (intptr_t k = operandsOf(task->launch) * wordsOfOperand(program); k < parts.row - TaskColumns; ++k)
      addWord(program, 0);
  }
  for (int64_t i = 0; i < program->lanes->awaitCount; ++i) {
    const TileLaneAwait *await = &program->lanes->awaits[i];
    addWord(program, await->counter);
    addWord(program, await->isOfRoundBefore ? -await->count : await->count);
  }
  return true;
}

//===--- the kernel -------------------------------------------------------------------===//

// What the hooks of the template share. Addresses are known before the awaits, so that lanes load them while they wait.
typedef struct Emission {
  const Program *program;
  MlirValue plan, addresses, kind, index; // index: the loop's
  MlirValue early[MostEarly];             // addresses of the first operands
} Emission;

static MlirValue planAt(TileBuilder *b, const Emission *e, MlirValue at) {
  return memrefLoadOpBuild(b, e->plan, 1, &at);
}

static MlirValue asIndex(TileBuilder *b, MlirValue word) {
  return arithIndexCastOpBuild(b, mlirIndexTypeGet(b->context), word);
}

// The parameter's type at an address of its own: as it is, but from 0 on.
static MlirType typeAtAddress(MlirType type) {
  int64_t strides[MostRank], sizes[MostRank], offset;
  intptr_t rank = mlirShapedTypeGetRank(type);
  mlirMemRefTypeGetStridesAndOffset(type, strides, &offset);
  if (!offset)
    return type;
  for (intptr_t d = 0; d < rank; ++d)
    sizes[d] = mlirShapedTypeGetDimSize(type, d);
  MlirAttribute layout = mlirStridedLayoutAttrGet(mlirTypeGetContext(type), 0, rank, strides);
  return mlirMemRefTypeGet(mlirShapedTypeGetElementType(type), rank, sizes, layout, mlirAttributeGetNull());
}

// The assumptions about a parameter have the parameter's type.
static void retype(MlirValue value, MlirType type) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileAssumeOpIsA(user) && mlirTypeIsAMemRef(tileOnlyResultType(user))) {
      mlirValueSetType(tileOnlyResult(user), type);
      retype(tileOnlyResult(user), type);
    }
  }
}

// The words of an operand, and its address, which is known once they are there.
typedef struct OperandWords {
  MlirValue root, offset, stride; // stride: null but in a loop
} OperandWords;

static OperandWords loadOperand(TileBuilder *b, const Emission *e, MlirValue row, intptr_t operand) {
  intptr_t words = wordsOfOperand(e->program);
  MlirValue at = tileBuildAdd(b, row, tileBuildIndex(b, TaskColumns + words * operand));
  OperandWords loaded = {.root = planAt(b, e, at), .offset = planAt(b, e, tileBuildAdd(b, at, tileBuildIndex(b, 1)))};
  if (words == 3)
    loaded.stride = planAt(b, e, tileBuildAdd(b, at, tileBuildIndex(b, 2)));
  return loaded;
}

static MlirValue loadBase(TileBuilder *b, const Emission *e, const OperandWords *words) {
  MlirValue root = asIndex(b, words->root);
  return memrefLoadOpBuild(b, e->addresses, 1, &root);
}

static MlirValue addressOf(TileBuilder *b, const Emission *e, const OperandWords *words, MlirValue base) {
  MlirValue address = arithAddIOpBuild(b, base, words->offset);
  if (mlirValueIsNull(words->stride))
    return address;
  MlirValue index = arithIndexCastOpBuild(b, mlirIntegerTypeGet(b->context, 64), e->index);
  return arithAddIOpBuild(b, address, arithMulIOpBuild(b, words->stride, index));
}

static MlirValue buildMemory(TileBuilder *b, const Emission *e, MlirValue row, intptr_t operand, MlirType type) {
  MlirValue address;
  if (operand < MostEarly) {
    address = e->early[operand];
  } else {
    OperandWords words = loadOperand(b, e, row, operand);
    address = addressOf(b, e, &words, loadBase(b, e, &words));
  }
  return tileMemrefAtOpBuild(b, type, address, 0, NULL, 0, NULL);
}

// Loads that do not need each other stand together: a lane waits for all of them once.
static void loadEarly(TileBuilder *b, Emission *e, MlirValue row) {
  OperandWords words[MostEarly];
  intptr_t count = tessera_min(MostEarly, e->program->operands);
  for (intptr_t i = 0; i < count; ++i)
    words[i] = loadOperand(b, e, row, i);
  for (intptr_t i = 0; i < count; ++i)
    e->early[i] = loadBase(b, e, &words[i]);
  for (intptr_t i = 0; i < count; ++i)
    e->early[i] = addressOf(b, e, &words[i], e->early[i]);
}

static void buildIds(TileBuilder *b, const Task *task, MlirValue number, MlirValue *ids) {
  MlirAttribute none = {NULL};
  for (intptr_t d = 0; d < GridRank; ++d) {
    int64_t size = task->grid[d] ? task->grid[d] : 1;
    MlirValue extent = tileBuildIndex(b, size);
    ids[d] = size == 1 ? tileBuildIndex(b, 0) : arithRemUIOpBuild(b, number, extent);
    ids[d] = tileOnlyResult(tileAssumeOpCreate(b, ids[d], none, none, none, none,
                                               mlirDenseI64ArrayGet(b->context, 2, (int64_t[]){0, size - 1})));
    number = size == 1 ? number : arithDivUIOpBuild(b, number, extent);
  }
}

static void replaceIds(TileBuilder *b, MlirOperation copy, const Task *task, const MlirValue *ids) {
  TileOps programs = tileCollectOps(copy, tileProgramIdOpIsA), counts = tileCollectOps(copy, tileNumProgramsOpIsA);
  for (intptr_t i = 0; i < programs.count; ++i) {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(programs.items[i]),
                                  ids[tileProgramIdOpGetAxisValue(programs.items[i])]);
    mlirOperationDestroy(programs.items[i]);
  }
  for (intptr_t i = 0; i < counts.count; ++i) {
    MlirValue size = tileBuildIndex(b, task->grid[tileNumProgramsOpGetAxisValue(counts.items[i])]);
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(counts.items[i]), size);
    mlirOperationDestroy(counts.items[i]);
  }
  tileOpsFree(&programs);
  tileOpsFree(&counts);
}

static int64_t mostWarps(const Program *program) {
  int64_t most = 0;
  for (intptr_t i = 0; i < program->numKinds; ++i)
    most = tessera_max(most, warpsOf(program->kinds[i]->kernel));
  return most;
}

// A kind of fewer warps keeps its layouts, so that sums have the order that they have in a launch of their own.
static void buildBody(TileBuilder *b, const Emission *e, const Task *task, MlirValue row, MlirValue number) {
  MlirOperation copy = mlirOperationClone(task->kernel);
  MlirBlock body = bodyOf(copy);
  MlirValue ids[GridRank];
  tileCopyTilesToWarps(copy, mostWarps(e->program));
  buildIds(b, task, number, ids);
  replaceIds(b, copy, task, ids);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue parameter = mlirBlockGetArgument(body, i);
    MlirType type = typeAtAddress(mlirValueGetType(parameter));
    retype(parameter, type);
    mlirValueReplaceAllUsesOfWith(parameter, buildMemory(b, e, row, i, type));
  }
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(b, op);
  }
  mlirOperationDestroy(copy);
}

// if the kind is this one … else the next ones
static void buildKinds(TileBuilder *b, const Emission *e, intptr_t kind, MlirValue row, MlirValue number) {
  if (kind + 1 == e->program->numKinds) {
    buildBody(b, e, e->program->kinds[kind], row, number);
    return;
  }
  MlirValue is = arithCmpIOpBuild(b, e->kind, tileBuildIndex(b, kind), ArithCmpI_Eq);
  MlirRegion regions[2];
  TileBuilder mine = tileBuilderInRegion(b, &regions[0], 0, NULL),
              others = tileBuilderInRegion(b, &regions[1], 0, NULL);
  buildBody(&mine, e, e->program->kinds[kind], row, number);
  tileBuildYield(&mine, 0, NULL);
  buildKinds(&others, e, kind + 1, row, number);
  tileBuildYield(&others, 0, NULL);
  scfIfOpBuild(b, 0, NULL, is, regions[0], regions[1]);
}

// Stands for tile.call @prepare(row, index).
static MlirValue prepare(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  Emission *e = *(Emission *const *)data;
  MlirOperation around = tileParentOp(mlirBlockGetParentOperation(b->block), tileKernelOpIsA);
  if (mlirOperationIsNull(around))
    around = mlirBlockGetParentOperation(b->block);
  MlirBlock entry = bodyOf(around);
  e->plan = mlirBlockGetArgument(entry, 0);
  e->addresses = mlirBlockGetArgument(entry, 1);
  e->kind = asIndex(b, planAt(b, e, operands[0]));
  e->index = operands[1];
  loadEarly(b, e, operands[0]);
  return (MlirValue){NULL};
}

// Stands for tile.call @execute(row, program), behind @prepare.
static MlirValue execute(TileBuilder *b, MlirType result, const MlirValue *operands, const void *data) {
  (void)result;
  buildKinds(b, *(Emission *const *)data, 0, operands[0], operands[1]);
  return (MlirValue){NULL};
}

static void addParameters(MlirOperation kernel, const Program *program) {
  MlirBlock block = bodyOf(kernel);
  MlirLocation location = mlirOperationGetLocation(kernel);
  intptr_t at = 2;
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (!program->isWritten[i])
      mlirBlockInsertArgument(block, at++, mlirValueGetType(program->roots[i]), location);
  for (intptr_t i = 0; i < program->numRoots; ++i)
    if (program->isWritten[i])
      mlirBlockAddArgument(block, mlirValueGetType(program->roots[i]), location);
  intptr_t count = mlirBlockGetNumArguments(block);
  MlirType *types = malloc((size_t)count * sizeof *types);
  for (intptr_t i = 0; i < count; ++i)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  tileKernelOpSetFunctionType(
      kernel, mlirTypeAttrGet(mlirFunctionTypeGet(mlirOperationGetContext(kernel), count, types, 0, NULL)));
  free(types);
}

// The most warps of the kinds, the schedule with the most stages.
static void label(MlirOperation kernel, const Program *program) {
  int64_t most = mostWarps(program), stages = -1;
  for (intptr_t i = 0; i < program->numKinds; ++i) {
    MlirOperation part = program->kinds[i]->kernel;
    MlirAttribute schedule = tileKernelOpGetSchedule(part);
    int64_t own = mlirAttributeIsNull(schedule) ? -1 : tileScheduleAttrGetInteger(schedule, "stages", 0);
    if (own > stages) {
      stages = own;
      tileKernelOpSetSchedule(kernel, schedule);
    }
    if (!mlirAttributeIsNull(tileKernelOpGetMachine(part)))
      tileKernelOpSetMachine(kernel, tileKernelOpGetMachine(part));
  }
  if (most)
    tileKernelOpSetWarps(kernel, mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32), most));
}

static int64_t countersOf(const Program *program) { return tessera_max(program->lanes->counterCount, 1); }

static MlirAttribute makeKernel(Scheduling *s, const Program *program, MlirLocation location) {
  Emission emission = {.program = program}, *data = &emission;
  TileTemplateUse use =
      tileUseProgram((TileProgram){.WORDS = program->words,
                                   .ROOTS = program->numRoots,
                                   .COUNTERS = countersOf(program),
                                   .ROUNDS = mlirOperationIsNull(program->rounds.loop) ? 1 : program->rounds.count,
                                   .FIRST = program->rounds.first,
                                   .STEP = program->rounds.step,
                                   .prepare = {prepare, &data},
                                   .execute = {execute, &data}});
  MlirOperation kernel = tileTemplateMake(location, &use);
  if (mlirOperationIsNull(kernel))
    return mlirAttributeGetNull();
  addParameters(kernel, program);
  label(kernel, program);
  return tileTemplateInsert(s->module, kernel, "program");
}

//===--- the host's part ---------------------------------------------------------------===//

static MlirType memrefOf(MlirContext context, int64_t count, unsigned bits) {
  return mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, bits), 1, &count, mlirAttributeGetNull());
}

// A constant global with the plan.
static MlirValue buildPlanGlobal(Scheduling *s, TileBuilder *host, const Program *program) {
  MlirAttribute name = tileFreshSymbol(s->module, "plan_of_program");
  MlirType type = memrefOf(host->context, program->words, 64);
  MlirType tensor = mlirRankedTensorTypeGet(1, (int64_t[]){program->words}, mlirIntegerTypeGet(host->context, 64),
                                            mlirAttributeGetNull());
  TileBuilder top = tileBuilderAtTop(s->module);
  memrefGlobalOpCreate(&top, name, mlirStringAttrGet(host->context, tileString("private")), mlirTypeAttrGet(type),
                       mlirDenseElementsAttrInt64Get(tensor, program->words, program->plan),
                       mlirUnitAttrGet(host->context), mlirAttributeGetNull());
  return memrefGetGlobalOpBuild(host, type, mlirFlatSymbolRefAttrGet(host->context, mlirStringAttrGetValue(name)));
}

static MlirValue buildAddresses(TileBuilder *host, const Program *program) {
  MlirType type = memrefOf(host->context, program->numRoots, 64);
  MlirValue addresses = memrefAllocOpBuild(host, type, 0, NULL, 0, NULL);
  for (intptr_t i = 0; i < program->numRoots; ++i) {
    MlirValue address = memrefExtractAlignedPointerAsIndexOpBuild(host, program->roots[i]);
    address = arithIndexCastOpBuild(host, mlirIntegerTypeGet(host->context, 64), address);
    MlirValue at = tileBuildIndex(host, i);
    memrefStoreOpBuild(host, address, addresses, 1, &at);
  }
  return addresses;
}

static MlirValue buildCounters(TileBuilder *host, const Program *program) {
  MlirType word = mlirIntegerTypeGet(host->context, 32);
  MlirValue counters = memrefAllocOpBuild(host, memrefOf(host->context, countersOf(program), 32), 0, NULL, 0, NULL);
  MlirBlock body;
  MlirOperation loop = tileBuildFor(host, tileBuildIndex(host, 0), tileBuildIndex(host, countersOf(program)),
                                    tileBuildIndex(host, 1), 0, NULL, &body);
  TileBuilder inside = tileBuilderAtEnd(body, mlirOperationGetLocation(loop));
  MlirValue at = mlirBlockGetArgument(body, 0);
  memrefStoreOpBuild(&inside, tileBuildInteger(&inside, word, 0), counters, 1, &at);
  tileBuildYield(&inside, 0, NULL);
  return counters;
}

static bool buildLaunch(Scheduling *s, Program *program) {
  MlirOperation last = program->tasks[program->count - 1].launch;
  bool isLoop = !mlirOperationIsNull(program->rounds.loop);
  TileBuilder host = tileBuilderBefore(isLoop ? program->rounds.loop : last);
  MlirAttribute kernel = makeKernel(s, program, mlirOperationGetLocation(last));
  if (mlirAttributeIsNull(kernel))
    return false;
  MlirValue inputs[MostRoots + 2] = {buildPlanGlobal(s, &host, program), buildAddresses(&host, program)};
  MlirValue outputs[MostRoots + 1] = {buildCounters(&host, program)};
  intptr_t numInputs = 2, numOutputs = 1;
  for (intptr_t i = 0; i < program->numRoots; ++i)
    *(program->isWritten[i] ? &outputs[numOutputs++] : &inputs[numInputs++]) = program->roots[i];
  MlirValue lanes = tileBuildIndex(&host, program->lanes->lanes);
  MlirOperation launch = tileLaunchOpBuild(&host, 0, NULL, 1, &lanes, numInputs, inputs, numOutputs, outputs, kernel);
  TileBuilder behind = tileBuilderAfter(launch);
  memrefDeallocOpBuild(&behind, inputs[1]);
  memrefDeallocOpBuild(&behind, outputs[0]);
  mlirExtPassAddStatistic(s->pass, Statistic_Programs, 1);
  mlirExtPassAddStatistic(s->pass, Statistic_Launches, (uint64_t)program->count);
  mlirExtPassAddStatistic(s->pass, Statistic_Kinds, (uint64_t)program->numKinds);
  mlirExtPassAddStatistic(s->pass, Statistic_Awaits, (uint64_t)program->lanes->awaitCount);
  return true;
}

//===--- a block ----------------------------------------------------------------------===//

// The program's launches become one step of the order.
static bool schedule(Scheduling *s, const TileLaunchOrder *order, intptr_t *nodes, Program *program) {
  bool ok = true;
  if (program->count > 1) {
    for (intptr_t i = 0; i < program->count; ++i)
      nodes[program->tasks[i].step] = program->tasks[program->count - 1].step;
    ok = buildPlan(s, program, order) && buildLaunch(s, program);
  }
  return ok;
}

typedef struct Run {
  Program *items;
  intptr_t count;
} Run;

// Launches go into the run at hand unless something outside of the run stands between: a step that needs one of its
// launches, and that the launch needs.
static Run runsOf(const Scheduling *s, const TileLaunchOrder *order) {
  Run runs = {NULL};
  const Rounds none = {.loop = {NULL}};
  bool *isBehind = calloc((size_t)order->count + 1, sizeof *isBehind), *isIn = calloc((size_t)order->count + 1, 1);
  Program now = {NULL};
  for (intptr_t i = 0; i < order->count; ++i) {
    const TileStep *step = &order->steps[i];
    const char *why = tileLaunchOpIsA(step->op) ? whyStays(s, &none, step->op) : "";
    bool behindOutside = false;
    for (intptr_t k = 0; k < step->count; ++k) {
      behindOutside |= isBehind[step->before[k]];
      isBehind[i] |= isBehind[step->before[k]] || isIn[step->before[k]];
    }
    why = why ? why : whyBesideStays(&now, step->op);
    if (why && *why && s->remarks)
      tileRemark(step->op, "is not co-scheduled: %s", why);
    if (why)
      continue;
    if (now.count && (behindOutside || !haveRoom(&now, step->op))) {
      runs.items = tessera_grow(runs.items, runs.count, sizeof *runs.items);
      runs.items[runs.count++] = now;
      now = (Program){NULL};
      memset(isBehind, 0, (size_t)order->count * sizeof *isBehind);
      memset(isIn, 0, (size_t)order->count);
    }
    haveRoom(&now, step->op);
    addTask(&now, order, i);
    isIn[i] = true;
    isBehind[i] = false;
  }
  runs.items = tessera_grow(runs.items, runs.count, sizeof *runs.items);
  runs.items[runs.count++] = now;
  free(isBehind);
  free(isIn);
  return runs;
}

// Why the loop stays; null: all of its body goes into one program.
static const char *whyLoopStays(const Scheduling *s, const TileLaunchOrder *order, Program *program) {
  int64_t most = 0;
  if (program->rounds.count < 2)
    return "";
  for (intptr_t i = 0; i < order->count; ++i) {
    MlirOperation op = order->steps[i].op;
    if (!tileLaunchOpIsA(op)) {
      if (!mlirExtOperationIsPure(op))
        return "it does more than launch kernels";
      continue;
    }
    const char *why = whyStays(s, &program->rounds, op);
    why = why ? why : whyBesideStays(program, op);
    if (why)
      return why;
    if (!haveRoom(program, op))
      return "it has too many operands";
    addTask(program, order, i);
    most = tessera_max(most, program->tasks[program->count - 1].programs);
  }
  if (!program->count)
    return "";
  return most * program->rounds.count > INT32_MAX ? "its rounds have too many programs" : NULL;
}

// A loop of launches becomes one launch, whose lanes go through all rounds.
static bool runOnLoop(Scheduling *s, MlirBlock block, bool *isDone) {
  MlirOperation loop = mlirBlockGetParentOperation(block);
  Program program = {NULL};
  bool ok = true;
  *isDone = false;
  if (!readRounds(loop, &program.rounds))
    return true;
  TileLaunchOrder order = tileLaunchOrderOf(block);
  const char *why = whyLoopStays(s, &order, &program);
  if (why && *why && s->remarks)
    tileRemark(loop, "is not taken to the device: %s", why);
  if (!why) {
    ok = buildPlan(s, &program, &order) && buildLaunch(s, &program);
    *isDone = ok;
  }
  freeProgram(&program);
  tileLaunchOrderFree(&order);
  if (*isDone)
    mlirOperationDestroy(loop);
  return ok;
}

static bool runOnBlock(Scheduling *s, MlirBlock block) {
  TileLaunchOrder order = tileLaunchOrderOf(block);
  intptr_t *nodes = malloc((size_t)(order.count + 1) * sizeof *nodes);
  for (intptr_t i = 0; i < order.count; ++i)
    nodes[i] = i;
  Run runs = runsOf(s, &order);
  bool ok = true, some = false;
  for (intptr_t i = 0; i < runs.count; ++i) {
    some |= runs.items[i].count > 1;
    for (intptr_t k = 0; runs.items[i].count > 1 && k < runs.items[i].count; ++k)
      nodes[runs.items[i].tasks[k].step] = runs.items[i].tasks[runs.items[i].count - 1].step;
  }
  if (some)
    tileLaunchOrderContract(&order, nodes);
  for (intptr_t i = 0; ok && i < runs.count; ++i)
    ok = schedule(s, &order, nodes, &runs.items[i]);
  for (intptr_t i = 0; i < runs.count; ++i) {
    for (intptr_t k = 0; ok && runs.items[i].count > 1 && k < runs.items[i].count; ++k)
      mlirOperationDestroy(runs.items[i].tasks[k].launch);
    freeProgram(&runs.items[i]);
  }
  free(runs.items);
  free(nodes);
  tileLaunchOrderFree(&order);
  return ok;
}

//===--- the pass ----------------------------------------------------------------------===//

static bool readOptions(Scheduling *s, bool *never) {
  MlirStringRef persistent = mlirExtPassGetString(s->pass, "persistent");
  s->always = tileStringEquals(persistent, "always");
  s->remarks = mlirExtPassGetBool(s->pass, "remarks");
  s->lanes = mlirExtPassGetInteger(s->pass, "lanes");
  *never = tileStringEquals(persistent, "never");
  if (s->lanes < 0 || s->lanes > MostLanes)
    return tileError(s->module, "lanes: %lld; accepts 1 to %d, or 0 for the machine's cores", (long long)s->lanes,
                     MostLanes);
  return s->always || *never || tileStringEquals(persistent, "model") ||
         tileError(s->module, "persistent: unknown '%.*s'; accepts model, always and never", (int)persistent.length,
                   persistent.data);
}

static bool contains(const MlirBlock *blocks, intptr_t count, MlirBlock block) {
  for (intptr_t i = count; i-- > 0;)
    if (mlirBlockEqual(blocks[i], block))
      return true;
  return false;
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Scheduling s = {.module = module, .pass = pass};
  bool never;
  if (!readOptions(&s, &never))
    return false;
  if (never)
    return true;
  if (!tileTargetOfPass(module, pass, &s.target))
    return false;
  MlirBlock *blocks = NULL;
  intptr_t count = 0;
  TileOps launches = tileCollectOps(module, tileLaunchOpIsA);
  for (intptr_t i = 0; s.target.search.isGpu && i < launches.count; ++i) {
    MlirBlock block = mlirOperationGetBlock(launches.items[i]);
    if (mlirOperationIsNull(tileParentOp(launches.items[i], funcFuncOpIsA)) || contains(blocks, count, block))
      continue;
    blocks = tessera_grow(blocks, count, sizeof *blocks);
    blocks[count++] = block;
  }
  bool ok = true;
  // Inner blocks come last: a loop is one launch before the block around it is looked at.
  for (intptr_t i = count; ok && i-- > 0;) {
    bool isLoop;
    ok = runOnLoop(&s, blocks[i], &isLoop) && (isLoop || runOnBlock(&s, blocks[i]));
  }
  free(blocks);
  tileOpsFree(&launches);
  tileTargetFree(&s.target);
  return ok;
}

const MlirExtPassDefinition tileCoScheduleKernelsPass = {
    .argument = "tile-co-schedule-kernels",
    .summary = "Make one launch of several, whose programs wait for each other on the device",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"persistent", "which launches: model, always (all that is legal) or never", MlirExtOption_String, "model"},
            {"lanes", "lanes of a program; 0: the machine's cores", MlirExtOption_Integer, "0"},
            {"remarks", "says which launches stay apart, and why", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics =
        (const char *const[]){"programs: launches that are several", "launches: launches that became part of one",
                              "kinds: bodies in their kernels", "awaits: counts that lanes wait for", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
