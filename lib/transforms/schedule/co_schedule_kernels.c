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
//   kinds of launches (kernel and grid), not with their number: a constant plan has a list of items for each lane, and
//   a table that the host fills has a row of addresses for each launch (launch_program.h). Dependences are those of
//   memory: between launches (launches/launch_order.h), and between single programs where their boxes are known
//   (launches/program_box.h). lib/search/lane_plan.h deals programs to lanes and finds the awaits: no lane waits for
//   what comes later, so all come to an end where all lanes run at once. Counters are set to 0 by the host. A loop with
//   constant bounds whose body only launches kernels becomes one launch, too, whose lanes go through its rounds: counts
//   grow from round to round, and an operand may begin further on in each round. Left alone: single launches, grids or
//   operands of unknown sizes or places, kernels that cooperate already, grids that fill the machine (`model`),
//   products that partitions of warps compute, CPUs.
// Cost: linear in the ops, the pairs in order and the bodies; pairs of programs where single ones are needed.
// Paper: Rammer (OSDI 2020). Its flags are plain stores; these release and acquire.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/support/grow.h"
#include "lib/support/integer.h"
#include "lib/transforms/schedule/launch_program.h"
#include "lib/transforms/schedule/schedule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdlib.h>
#include <string.h>

enum { Statistic_Programs, Statistic_Launches, Statistic_Kinds, Statistic_Awaits, Statistic_Fronts };
enum { MostTasks = 4096, MostLanes = 256, LargeGrid = 4 };
enum { LanesOfCore = 2, ThreadRegisters = 128 };

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

// A number, or the loop's index and a number.
static bool isFromIndex(const Rounds *rounds, MlirValue value, int64_t *times, int64_t *plus) {
  MlirOperation op = tileDefiningOp(value);
  *times = 0;
  if (tileConstantIndex(value, plus))
    return true;
  *plus = 0;
  *times = mlirValueEqual(value, inductionOf(rounds->loop));
  if (*times || mlirOperationIsNull(op) || !arithAddIOpIsA(op))
    return *times;
  *times = mlirValueEqual(arithAddIOpGetLhs(op), inductionOf(rounds->loop));
  return *times && tileConstantIndex(arithAddIOpGetRhs(op), plus);
}

bool tileLaunchPlaceOf(const Rounds *rounds, MlirValue memref, Place *place) {
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
    int64_t times;
    if (!isFromIndex(rounds, memrefSubViewOpGetOffsets(view, dynamic++), &times, &fixed))
      return false;
    place->offset += fixed * strides[d];
    place->stride += times * strides[d];
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
  MlirValue operand = tileLaunchOperand(launch, i);
  MlirType type = mlirValueGetType(operand),
           parameter = mlirValueGetType(mlirBlockGetArgument(tileKernelBody(kernelOf(launch)), i));
  int64_t rootOffset;
  Place place;
  if (!mlirTypeIsAMemRef(type))
    return "it has a scalar operand";
  MlirType root = mlirValueGetType(tileMemoryRoot(operand));
  if (!mlirTypeIsAMemRef(root) || !isStatic(root, &rootOffset) || rootOffset || isViewedByAddress(operand) ||
      !tileLaunchPlaceOf(rounds, operand, &place) || !isStaticBesideOffset(rounds, type) ||
      !isStaticBesideOffset(rounds, parameter))
    return "an operand's sizes or place are not known";
  if (!mlirOperationIsNull(rounds->loop) && isInside(tileMemoryRoot(operand), rounds->loop))
    return "an operand's memory is another one in each round";
  return NULL;
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

int64_t tileKernelWarps(MlirOperation kernel) {
  int64_t warps = 0;
  tileIntegerOf(kernel, "warps", &warps);
  return warps;
}

void tileKernelLooksAt(MlirOperation kernel, bool *isLaidOut, bool *isOpen) {
  Contents contents = contentsOf(kernel);
  *isLaidOut |= contents.isLaidOut;
  *isOpen |= contents.isOpen;
}

static const char *whyKernelStays(const Scheduling *s, MlirOperation kernel) {
  if (mlirOperationIsNull(kernel) || mlirBlockIsNull(tileKernelBody(kernel)) ||
      !mlirBlockIsNull(mlirBlockGetNextInRegion(tileKernelBody(kernel))))
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
  for (intptr_t i = 0; !why && i < tileLaunchOperandCount(launch); ++i)
    why = whyOperandStays(rounds, launch, i);
  return why;
}

//===--- runs of launches -------------------------------------------------------------===//

intptr_t tileProgramRootOf(Program *program, MlirValue memref) {
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
  for (intptr_t i = 0; i < tileLaunchOperandCount(launch); ++i)
    if (tileProgramRootOf(program, tileLaunchOperand(launch, i)) < 0) {
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
  return isOpen && tileKernelWarps(kernel) != tileKernelWarps(first) ? "it has other warps, and tiles without layouts"
                                                                     : NULL;
}

static void addTask(Program *program, const TileLaunchOrder *order, intptr_t step) {
  Task task = {.launch = order->steps[step].op, .step = step};
  task.kernel = kernelOf(task.launch);
  readGrid(task.launch, task.grid, &task.programs);
  program->tasks = tessera_grow(program->tasks, program->count, sizeof *program->tasks);
  program->tasks[program->count++] = task;
  intptr_t inputs = tileLaunchOpGetNumInputs(task.launch);
  for (intptr_t i = inputs; i < tileLaunchOperandCount(task.launch); ++i)
    program->isWritten[tileProgramRootOf(program, tileLaunchOperand(task.launch, i))] = true;
}

// Two lanes share a core, so that one loads while the other one waits, if their kernel stays small: products take
// shared memory, and 128 registers suffice for other bodies.
static bool shareCores(const Scheduling *s, const Program *program) {
  int64_t threads = s->target.search.lanes, warps = 0;
  for (intptr_t i = 0; i < program->count; ++i) {
    warps = tessera_max(warps, tileKernelWarps(program->tasks[i].kernel));
    if (contentsOf(program->tasks[i].kernel).hasProduct)
      return false;
  }
  threads *= warps;
  return warps && LanesOfCore * threads * ThreadRegisters <= s->target.search.registersPerCore;
}

static int64_t lanesOf(const Scheduling *s, Program *program) {
  int64_t sum = 0, lanes = s->lanes ? s->lanes : s->target.search.cores;
  for (intptr_t i = 0; i < program->count; ++i)
    sum += program->tasks[i].programs;
  if (!s->lanes && LanesOfCore * lanes <= MostLanes && LanesOfCore * lanes <= sum && shareCores(s, program)) {
    lanes *= LanesOfCore;
    program->registers = ThreadRegisters;
  }
  return tessera_min(tessera_min(lanes, tessera_max(sum, 1)), MostLanes);
}

//===--- a block ----------------------------------------------------------------------===//

// Launches on the longest path: those of one depth could all run at once.
static int64_t frontsOf(const Program *program, const TileLaunchOrder *order) {
  int64_t first = INT64_MAX, last = 0;
  for (intptr_t i = 0; i < program->count; ++i) {
    int64_t depth = order->steps[program->tasks[i].step].depth;
    first = tessera_min(first, depth);
    last = tessera_max(last, depth);
  }
  return last - first + 1;
}

static bool buildProgram(const Scheduling *s, Program *program, const TileLaunchOrder *order) {
  if (!tileProgramBuildPlan(program, order, lanesOf(s, program)) ||
      !tileProgramBuildLaunch(s->module, program, s->target.search.lanes))
    return false;
  mlirExtPassAddStatistic(s->pass, Statistic_Programs, 1);
  mlirExtPassAddStatistic(s->pass, Statistic_Launches, (uint64_t)program->count);
  mlirExtPassAddStatistic(s->pass, Statistic_Kinds, (uint64_t)program->numKinds);
  mlirExtPassAddStatistic(s->pass, Statistic_Awaits, (uint64_t)program->lanes->awaitCount);
  mlirExtPassAddStatistic(s->pass, Statistic_Fronts, (uint64_t)frontsOf(program, order));
  return true;
}

// The program's launches become one step of the order.
static bool schedule(Scheduling *s, const TileLaunchOrder *order, intptr_t *nodes, Program *program) {
  bool ok = true;
  if (program->count > 1) {
    for (intptr_t i = 0; i < program->count; ++i)
      nodes[program->tasks[i].step] = program->tasks[program->count - 1].step;
    ok = buildProgram(s, program, order);
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
    ok = buildProgram(s, &program, &order);
    *isDone = ok;
  }
  tileProgramFree(&program);
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
    tileProgramFree(&runs.items[i]);
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
                              "kinds: bodies in their kernels", "awaits: counts that lanes wait for",
                              "fronts: launches on the longest paths", NULL},
    .dialects = (const char *const[]){"arith", "scf", "memref", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
