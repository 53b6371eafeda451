// tile-merge-parallel-kernels{chip=NAME large=N remarks=false}: launches without a path between them become one grid.
//
//   tile.launch @a grid(%c8) …                 tile.launch @merged_0 grid(%c20) ins(of both) outs(of both)
//   tile.launch @b grid(%c4, %c3) …      →     tile.kernel @merged_0: programs 0 to 7 run the body of @a, 8 to 19 that
//   of
//                                                @b, with the numbers that they had
//
// Why: a launch of few programs leaves cores idle, and each launch costs. Small grids side by side fill the machine.
// Expects: host functions on buffers, freed; kernels at kernel level. Leaves: merged launches at the place of the last
// of them, what depends on the others behind it, all else in its order. Launches merge if they have as many launches
// before them, and therefore no path between them: neither reads nor writes what the other one writes
// (launches/launch_order.h). The merged kernel has the most warps, registers and stages of its parts. Left alone:
// grids that fill the machine (`large` programs a core), kernels that wait for each other (`cooperative`), clusters,
// kernels with buffers of their own on a GPU, or with layouts beside others without, products of a GPU that partitions
// of warps compute. Cost: linear in the ops, the pairs in order, and the bodies of the merged kernels. Paper:
// horizontal fusion, as AITemplate's groups of products; fronts of a program as in Rammer (OSDI 2020).
#include "dialects/tile/discardable.h"
#include "dialects/tile/layouts.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/launches/launch_order.h"
#include "lib/analysis/target_of_pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/support/grow.h"
#include "lib/transforms/schedule/schedule.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Statistic_Merged, Statistic_Launches };
enum { GridRank = 3, MostMembers = 16, MostOperands = 48 };

// Launches that become one.
typedef struct Set {
  int64_t depth;
  intptr_t count, operands;
  intptr_t steps[MostMembers];
  MlirOperation merged;
} Set;

typedef struct Merging {
  MlirOperation module;
  MlirExtPass pass;
  TileTarget target;
  int64_t large;
  bool remarks;
  TileTable kernels; // text of what is merged → kernel, as texts are unique in the context
} Merging;

//===--- questions ----------------------------------------------------------------===//

static MlirOperation kernelOf(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileLaunchOpGetKernel(launch));
  return tileKernelOpIsA(kernel) ? kernel : (MlirOperation){NULL};
}

static MlirBlock bodyOf(MlirOperation kernel) { return mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel)); }

static bool hasOneBlock(MlirOperation kernel) {
  MlirBlock body = bodyOf(kernel);
  return !mlirBlockIsNull(body) && mlirBlockIsNull(mlirBlockGetNextInRegion(body));
}

typedef struct Contents {
  bool isScheduled, hasProduct, isLaidOut;
} Contents;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Contents *contents = userData;
  contents->isScheduled |= tileAllocOpIsA(op) || tileWarpSpecializeOpIsA(op) || tileSyncOpIsA(op);
  contents->hasProduct |= tileIsProduct(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    contents->isLaidOut |= !mlirAttributeIsNull(tileTypeGetLayout(tileResultType(op, i)));
  return MlirWalkResultAdvance;
}

// Null: the kernel can be a part of another one.
static const char *whyKernelStays(const Merging *m, MlirOperation kernel) {
  Contents contents = {false};
  if (mlirOperationIsNull(kernel) || !hasOneBlock(kernel))
    return "its kernel is not in this module";
  if (!mlirAttributeIsNull(tileOpAttribute(kernel, "cooperative")))
    return "its kernel is cooperative";
  if (!m->target.search.isGpu)
    return NULL;
  mlirOperationWalk(kernel, look, &contents, MlirWalkPreOrder);
  if (contents.isScheduled || tileKernelOpHasOrdered(kernel))
    return "its kernel is scheduled already";
  if (contents.hasProduct && tileMachineListHas(m->target.machine, "engines", "tma"))
    return "partitions of warps compute its product";
  return NULL;
}

// The programs of a launch; -1: not known.
static int64_t programsOf(MlirOperation launch) {
  int64_t programs = 1, size;
  for (intptr_t i = 0; i < tileLaunchOpGetNumGrid(launch); ++i) {
    if (!tileConstantIndex(tileLaunchOpGetGrid(launch, i), &size))
      return -1;
    if (size < 0 || (size > 0 && programs > INT32_MAX / size))
      return size < 0 ? 0 : INT64_MAX;
    programs *= size;
  }
  return programs;
}

static const char *whyStays(const Merging *m, MlirOperation launch) {
  if (!mlirAttributeIsNull(tileLaunchOpGetCluster(launch)))
    return "it has clusters";
  if (!mlirAttributeIsNull(tileLaunchOpGetMeets(launch)))
    return "it says where tiles meet";
  if (tileLaunchOpGetNumResults(launch))
    return "it is on tensors";
  if (programsOf(launch) >= m->large * m->target.search.cores)
    return "it fills the machine";
  return whyKernelStays(m, kernelOf(launch));
}

// A number that a kernel may have; -1: it has none.
static int64_t numberOf(MlirOperation kernel, const char *name) {
  int64_t number;
  return tileIntegerOf(kernel, name, &number) ? number : -1;
}

static int64_t stagesOf(MlirOperation kernel) {
  MlirAttribute schedule = tileKernelOpGetSchedule(kernel);
  return mlirAttributeIsNull(schedule) ? -1 : tileScheduleAttrGetInteger(schedule, "stages", -1);
}

static bool isLaidOut(MlirOperation kernel) {
  Contents contents = {false};
  mlirOperationWalk(kernel, look, &contents, MlirWalkPreOrder);
  return contents.isLaidOut;
}

// One kernel can have the bodies of both: on the warps of the larger one.
static bool areAlike(MlirOperation a, MlirOperation b) {
  return mlirAttributeEqual(tileKernelOpGetMachine(a), tileKernelOpGetMachine(b)) &&
         (numberOf(a, "warps") < 0) == (numberOf(b, "warps") < 0) && isLaidOut(a) == isLaidOut(b);
}

static intptr_t operandsOf(MlirOperation launch) {
  return tileLaunchOpGetNumInputs(launch) + tileLaunchOpGetNumOutputs(launch) + tileLaunchOpGetNumGrid(launch);
}

static bool fits(const TileLaunchOrder *order, const Set *set, const TileStep *step) {
  MlirOperation first = order->steps[set->steps[0]].op;
  return set->depth == step->depth && set->count < MostMembers &&
         set->operands + operandsOf(step->op) <= MostOperands && areAlike(kernelOf(first), kernelOf(step->op));
}

//===--- the merged kernel ---------------------------------------------------------===//

// What the merged launch and its kernel have: the operands, and of each member where its own are among them.
typedef struct Plan {
  const Set *set;
  MlirOperation members[MostMembers];
  intptr_t numInputs, numOutputs;
  MlirValue inputs[MostOperands], outputs[MostOperands];
  MlirType inputTypes[MostOperands], outputTypes[MostOperands];
  intptr_t places[MostMembers][MostOperands]; // of a member's operands behind its grid; outputs count from 0 too
  intptr_t sizes[MostMembers][GridRank];      // of an open size: which input; -1: constant
  int64_t constants[MostMembers][GridRank];
  intptr_t numOverwritten;
  int64_t overwritten[MostOperands];
} Plan;

static intptr_t addInput(Plan *plan, MlirValue value, MlirType type) {
  for (intptr_t i = 0; i < plan->numInputs; ++i)
    if (mlirValueEqual(plan->inputs[i], value) && mlirTypeEqual(plan->inputTypes[i], type))
      return i;
  plan->inputs[plan->numInputs] = value;
  plan->inputTypes[plan->numInputs] = type;
  return plan->numInputs++;
}

static void planGrid(Plan *plan, intptr_t member, TileBuilder *host) {
  MlirOperation launch = plan->members[member];
  for (intptr_t d = 0; d < GridRank; ++d) {
    MlirValue size = d < tileLaunchOpGetNumGrid(launch) ? tileLaunchOpGetGrid(launch, d) : (MlirValue){NULL};
    plan->sizes[member][d] = -1;
    plan->constants[member][d] = 1;
    if (!mlirValueIsNull(size) && !tileConstantIndex(size, &plan->constants[member][d])) {
      size = tileBuildMax(host, size, tileBuildIndex(host, 0));
      plan->sizes[member][d] = addInput(plan, size, mlirValueGetType(size));
    } else if (plan->constants[member][d] < 0) {
      plan->constants[member][d] = 0;
    }
  }
}

static void planOverwritten(Plan *plan, MlirOperation launch, intptr_t firstOutput) {
  MlirAttribute overwrites = tileOpGetOverwrites(launch);
  for (intptr_t i = 0; !mlirAttributeIsNull(overwrites) && i < mlirArrayAttrGetNumElements(overwrites); ++i)
    plan->overwritten[plan->numOverwritten++] =
        firstOutput + mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(overwrites, i));
}

static void planMember(Plan *plan, intptr_t member, TileBuilder *host) {
  MlirOperation launch = plan->members[member];
  MlirBlock body = bodyOf(kernelOf(launch));
  intptr_t at = 0, firstOutput = plan->numOutputs;
  planGrid(plan, member, host);
  for (intptr_t i = 0; i < tileLaunchOpGetNumInputs(launch); ++i, ++at)
    plan->places[member][at] =
        addInput(plan, tileLaunchOpGetInputs(launch, i), mlirValueGetType(mlirBlockGetArgument(body, at)));
  for (intptr_t i = 0; i < tileLaunchOpGetNumOutputs(launch); ++i, ++at) {
    plan->outputs[plan->numOutputs] = tileLaunchOpGetOutputs(launch, i);
    plan->outputTypes[plan->numOutputs] = mlirValueGetType(mlirBlockGetArgument(body, at));
    plan->places[member][at] = plan->numOutputs++;
  }
  planOverwritten(plan, launch, firstOutput);
}

// Programs before the member's, on the host and in the kernel; sizes are constants or inputs.
static MlirValue sizeOf(const Plan *plan, TileBuilder *b, intptr_t member, intptr_t axis, const MlirValue *inputs) {
  intptr_t input = plan->sizes[member][axis];
  return input < 0 ? tileBuildIndex(b, plan->constants[member][axis]) : inputs[input];
}

static MlirValue programsBefore(const Plan *plan, TileBuilder *b, intptr_t member, const MlirValue *inputs) {
  MlirValue sum = tileBuildIndex(b, 0);
  for (intptr_t i = 0; i < member; ++i) {
    MlirValue programs = tileBuildIndex(b, 1);
    for (intptr_t d = 0; d < GridRank; ++d)
      programs = tileBuildMul(b, programs, sizeOf(plan, b, i, d, inputs));
    sum = tileBuildAdd(b, sum, programs);
  }
  return sum;
}

static MlirValue withRange(TileBuilder *b, MlirValue value, int64_t most) {
  MlirAttribute none = {NULL};
  return tileOnlyResult(
      tileAssumeOpCreate(b, value, none, none, none, none, mlirDenseI64ArrayGet(b->context, 2, (int64_t[]){0, most})));
}

static bool isOne(const Plan *plan, intptr_t member, intptr_t axis) {
  return plan->sizes[member][axis] < 0 && plan->constants[member][axis] == 1;
}

// The member's program ids from its program's number.
static void buildIds(const Plan *plan, TileBuilder *b, intptr_t member, MlirValue number, const MlirValue *inputs,
                     MlirValue *ids) {
  for (intptr_t d = 0; d < GridRank; ++d) {
    bool isKnown = plan->sizes[member][d] < 0;
    MlirValue size = sizeOf(plan, b, member, d, inputs);
    bool isLast = true;
    for (intptr_t next = d + 1; next < GridRank; ++next)
      isLast &= isOne(plan, member, next);
    ids[d] = isOne(plan, member, d) ? tileBuildIndex(b, 0) : isLast ? number : arithRemUIOpBuild(b, number, size);
    if (!isOne(plan, member, d))
      ids[d] = withRange(b, ids[d], isKnown ? plan->constants[member][d] - 1 : INT32_MAX - 1);
    if (!isLast && !isOne(plan, member, d))
      number = arithDivUIOpBuild(b, number, size);
  }
}

static void replaceIds(MlirOperation copy, const MlirValue *ids, const MlirValue *sizes) {
  TileOps programs = tileCollectOps(copy, tileProgramIdOpIsA), counts = tileCollectOps(copy, tileNumProgramsOpIsA);
  for (intptr_t i = 0; i < programs.count; ++i) {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(programs.items[i]),
                                  ids[tileProgramIdOpGetAxisValue(programs.items[i])]);
    mlirOperationDestroy(programs.items[i]);
  }
  for (intptr_t i = 0; i < counts.count; ++i) {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(counts.items[i]),
                                  sizes[tileNumProgramsOpGetAxisValue(counts.items[i])]);
    mlirOperationDestroy(counts.items[i]);
  }
  tileOpsFree(&programs);
  tileOpsFree(&counts);
}

// The most that a member's kernel has of it; -1: one leaves it open.
static int64_t mostOf(const Plan *plan, const char *name) {
  int64_t most = 0;
  for (intptr_t k = 0; k < plan->set->count && most >= 0; ++k) {
    int64_t number = numberOf(kernelOf(plan->members[k]), name);
    most = number < 0 ? -1 : number > most ? number : most;
  }
  return most;
}

// Moves a copy of the member's body to the end of the builder's block.
static void buildBody(const Plan *plan, TileBuilder *b, intptr_t member, MlirValue number, const MlirValue *inputs,
                      const MlirValue *outputs) {
  MlirOperation launch = plan->members[member], copy = mlirOperationClone(kernelOf(launch));
  tileCopyTilesToWarps(copy, mostOf(plan, "warps"));
  MlirBlock body = bodyOf(copy);
  MlirValue ids[GridRank], sizes[GridRank];
  intptr_t numInputs = tileLaunchOpGetNumInputs(launch);
  for (intptr_t d = 0; d < GridRank; ++d)
    sizes[d] = sizeOf(plan, b, member, d, inputs);
  buildIds(plan, b, member, number, inputs, ids);
  replaceIds(copy, ids, sizes);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i),
                                  (i < numInputs ? inputs : outputs)[plan->places[member][i]]);
  MlirOperation end = mlirBlockGetTerminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    tileBuilderInsert(b, op);
  }
  mlirOperationDestroy(copy);
}

// if number < programs of the member … else the next members.
static void buildParts(const Plan *plan, TileBuilder *b, intptr_t member, MlirValue program, const MlirValue *inputs,
                       const MlirValue *outputs) {
  MlirValue number = tileBuildSub(b, program, programsBefore(plan, b, member, inputs));
  if (member + 1 == plan->set->count) {
    buildBody(plan, b, member, number, inputs, outputs);
    return;
  }
  MlirValue end = programsBefore(plan, b, member + 1, inputs);
  MlirValue isMine = arithCmpIOpBuild(b, program, end, ArithCmpI_Slt);
  MlirRegion regions[2];
  TileBuilder mine = tileBuilderInRegion(b, &regions[0], 0, NULL),
              others = tileBuilderInRegion(b, &regions[1], 0, NULL);
  buildBody(plan, &mine, member, number, inputs, outputs);
  tileBuildYield(&mine, 0, NULL);
  buildParts(plan, &others, member + 1, program, inputs, outputs);
  tileBuildYield(&others, 0, NULL);
  scfIfOpBuild(b, 0, NULL, isMine, regions[0], regions[1]);
}

// The most warps and registers of the members, none where one member leaves them open; the schedule with most stages.
static void label(const Plan *plan, MlirOperation kernel) {
  static const char *const numbers[] = {"warps", "registers"};
  MlirOperation staged = kernelOf(plan->members[0]);
  MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(kernel), 32);
  for (int i = 0; i < 2; ++i) {
    int64_t most = mostOf(plan, numbers[i]);
    if (most >= 0)
      mlirOperationSetAttributeByName(kernel, tileString(numbers[i]), mlirIntegerAttrGet(i32, most));
  }
  for (intptr_t k = 1; k < plan->set->count; ++k)
    if (stagesOf(kernelOf(plan->members[k])) > stagesOf(staged))
      staged = kernelOf(plan->members[k]);
  if (!mlirAttributeIsNull(tileKernelOpGetSchedule(staged)))
    tileKernelOpSetSchedule(kernel, tileKernelOpGetSchedule(staged));
  if (!mlirAttributeIsNull(tileKernelOpGetMachine(staged)))
    tileKernelOpSetMachine(kernel, tileKernelOpGetMachine(staged));
}

static MlirOperation buildKernel(Merging *m, const Plan *plan) {
  MlirOperation first = kernelOf(plan->members[0]);
  TileBuilder outside = tileBuilderAfter(first);
  MlirRegion region;
  MlirType types[2 * MostOperands];
  MlirValue inputs[MostOperands], outputs[MostOperands];
  intptr_t count = plan->numInputs + plan->numOutputs;
  memcpy(types, plan->inputTypes, (size_t)plan->numInputs * sizeof *types);
  memcpy(types + plan->numInputs, plan->outputTypes, (size_t)plan->numOutputs * sizeof *types);
  TileBuilder b = tileBuilderInRegion(&outside, &region, count, types);
  for (intptr_t i = 0; i < count; ++i)
    *(i < plan->numInputs ? &inputs[i] : &outputs[i - plan->numInputs]) = mlirBlockGetArgument(b.block, i);
  MlirType i64 = mlirIntegerTypeGet(b.context, 64);
  MlirValue program = tileProgramIdOpBuild(&b, mlirIntegerAttrGet(i64, 0));
  buildParts(plan, &b, 0, program, inputs, outputs);
  tileReturnOpBuild(&b, 0, NULL);
  MlirType type = mlirFunctionTypeGet(b.context, count, types, 0, NULL);
  MlirOperation kernel =
      tileKernelOpBuild(&outside, tileFreshSymbol(m->module, "merged"), mlirTypeAttrGet(type), region);
  label(plan, kernel);
  tileKernelOpSetSymVisibility(kernel, mlirStringAttrGet(b.context, tileString("private")));
  return kernel;
}

// Equal merges share a kernel (none without memory): the members' kernels, grids and places say what it is.
static MlirAttribute keyOf(const Plan *plan, MlirContext context) {
  tessera_text_t text = {NULL};
  for (intptr_t i = 0; i < plan->set->count; ++i) {
    MlirOperation launch = plan->members[i];
    MlirStringRef name = tileLaunchOpGetKernelValue(launch);
    tessera_text_format(&text, "%.*s", (int)name.length, name.data);
    for (intptr_t d = 0; d < GridRank; ++d)
      tessera_text_format(&text, " %td:%lld", plan->sizes[i][d], (long long)plan->constants[i][d]);
    for (intptr_t k = 0; k < tileLaunchOpGetNumInputs(launch) + tileLaunchOpGetNumOutputs(launch); ++k)
      tessera_text_format(&text, ",%td", plan->places[i][k]);
    tessera_text_append(&text, "\n", 1);
  }
  MlirAttribute key = {NULL};
  if (!text.failed)
    key = mlirStringAttrGet(context, mlirStringRefCreate(text.data, text.size));
  tessera_text_free(&text);
  return key;
}

static MlirOperation kernelFor(Merging *m, const Plan *plan) {
  MlirAttribute key = keyOf(plan, mlirOperationGetContext(m->module));
  MlirOperation kernel = {mlirAttributeIsNull(key) ? NULL : tileTableFind(&m->kernels, key.ptr)};
  if (mlirOperationIsNull(kernel)) {
    kernel = buildKernel(m, plan);
    if (!mlirAttributeIsNull(key))
      tileTableSet(&m->kernels, key.ptr, kernel.ptr);
  }
  return kernel;
}

// The merged launch ahead of the last member; the members stay for now.
static void merge(Merging *m, const TileLaunchOrder *order, Set *set) {
  Plan plan = {.set = set};
  for (intptr_t i = 0; i < set->count; ++i)
    plan.members[i] = order->steps[set->steps[i]].op;
  TileBuilder host = tileBuilderBefore(plan.members[set->count - 1]);
  for (intptr_t i = 0; i < set->count; ++i)
    planMember(&plan, i, &host);
  MlirValue grid = programsBefore(&plan, &host, set->count, plan.inputs);
  MlirAttribute kernel = mlirFlatSymbolRefAttrGet(host.context, tileKernelOpGetSymNameValue(kernelFor(m, &plan)));
  set->merged =
      tileLaunchOpBuild(&host, 0, NULL, 1, &grid, plan.numInputs, plan.inputs, plan.numOutputs, plan.outputs, kernel);
  MlirAttribute numbers[MostOperands];
  for (intptr_t i = 0; i < plan.numOverwritten; ++i)
    numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(host.context, 64), plan.overwritten[i]);
  if (plan.numOverwritten)
    tileOpSetOverwrites(set->merged, mlirArrayAttrGet(host.context, plan.numOverwritten, numbers));
  mlirExtPassAddStatistic(m->pass, Statistic_Merged, 1);
  mlirExtPassAddStatistic(m->pass, Statistic_Launches, (uint64_t)set->count);
}

//===--- a block ------------------------------------------------------------------===//

typedef struct Sets {
  Set *items;
  intptr_t count;
} Sets;

static void addTo(const TileLaunchOrder *order, Sets *sets, intptr_t step) {
  intptr_t i = 0;
  while (i < sets->count && !fits(order, &sets->items[i], &order->steps[step]))
    ++i;
  if (i == sets->count) {
    sets->items = tessera_grow(sets->items, sets->count, sizeof *sets->items);
    sets->items[sets->count++] = (Set){.depth = order->steps[step].depth};
  }
  Set *set = &sets->items[i];
  set->steps[set->count++] = step;
  set->operands += operandsOf(order->steps[step].op);
}

static Sets setsOf(const Merging *m, const TileLaunchOrder *order) {
  Sets sets = {NULL};
  for (intptr_t i = 0; i < order->count; ++i) {
    MlirOperation op = order->steps[i].op;
    const char *why = tileLaunchOpIsA(op) ? whyStays(m, op) : NULL;
    if (tileLaunchOpIsA(op) && !why)
      addTo(order, &sets, i);
    else if (why && m->remarks)
      tileRemark(op, "is not merged: %s", why);
  }
  return sets;
}

// The members are in order now: each merged launch goes to its last member's place, the members go.
static void placeMerged(const TileLaunchOrder *order, const Sets *sets) {
  for (intptr_t i = 0; i < sets->count; ++i) {
    const Set *set = &sets->items[i];
    for (intptr_t k = 0; set->count > 1 && k < set->count; ++k)
      mlirOperationDestroy(order->steps[set->steps[k]].op);
  }
}

static void contract(const TileLaunchOrder *order, const Sets *sets) {
  intptr_t *nodes = malloc((size_t)order->count * sizeof *nodes);
  for (intptr_t i = 0; i < order->count; ++i)
    nodes[i] = i;
  for (intptr_t i = 0; i < sets->count; ++i)
    for (intptr_t k = 0; k < sets->items[i].count; ++k)
      nodes[sets->items[i].steps[k]] = sets->items[i].steps[sets->items[i].count - 1];
  tileLaunchOrderContract(order, nodes);
  free(nodes);
}

static void runOnBlock(Merging *m, MlirBlock block) {
  TileLaunchOrder order = tileLaunchOrderOf(block);
  Sets sets = setsOf(m, &order), merged = {NULL};
  for (intptr_t i = 0; i < sets.count; ++i)
    if (sets.items[i].count > 1) {
      merged.items = tessera_grow(merged.items, merged.count, sizeof *merged.items);
      merged.items[merged.count++] = sets.items[i];
    }
  if (merged.count) {
    contract(&order, &merged);
    for (intptr_t i = 0; i < merged.count; ++i)
      merge(m, &order, &merged.items[i]);
    placeMerged(&order, &merged);
  }
  free(sets.items);
  free(merged.items);
  tileLaunchOrderFree(&order);
}

//===--- the pass ------------------------------------------------------------------===//

typedef struct Blocks {
  MlirBlock *items;
  intptr_t count;
} Blocks;

static void addBlock(Blocks *blocks, MlirBlock block) {
  for (intptr_t i = blocks->count; i-- > 0;)
    if (mlirBlockEqual(blocks->items[i], block))
      return;
  blocks->items = tessera_grow(blocks->items, blocks->count, sizeof *blocks->items);
  blocks->items[blocks->count++] = block;
}

static void dropUnlaunched(MlirOperation module) {
  TileOps kernels = tileCollectOps(module, tileKernelOpIsA), launches = tileCollectOps(module, tileLaunchOpIsA);
  TileTable used = {0};
  for (intptr_t i = 0; i < launches.count; ++i)
    tileTableSet(&used, kernelOf(launches.items[i]).ptr, module.ptr);
  for (intptr_t i = 0; i < kernels.count; ++i)
    if (!tileSymbolIsPublic(kernels.items[i]) && !tileTableFind(&used, kernels.items[i].ptr))
      mlirOperationDestroy(kernels.items[i]);
  tileTableFree(&used);
  tileOpsFree(&kernels);
  tileOpsFree(&launches);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  Merging m = {.module = module,
               .pass = pass,
               .large = mlirExtPassGetInteger(pass, "large"),
               .remarks = mlirExtPassGetBool(pass, "remarks")};
  Blocks blocks = {NULL};
  if (!tileTargetOfPass(module, pass, &m.target))
    return false;
  TileOps launches = tileCollectOps(module, tileLaunchOpIsA);
  for (intptr_t i = 0; i < launches.count; ++i)
    if (!mlirOperationIsNull(tileParentOp(launches.items[i], funcFuncOpIsA)))
      addBlock(&blocks, mlirOperationGetBlock(launches.items[i]));
  for (intptr_t i = 0; i < blocks.count; ++i)
    runOnBlock(&m, blocks.items[i]);
  dropUnlaunched(module);
  free(blocks.items);
  tileOpsFree(&launches);
  tileTableFree(&m.kernels);
  tileTargetFree(&m.target);
  return true;
}

const MlirExtPassDefinition tileMergeParallelKernelsPass = {
    .argument = "tile-merge-parallel-kernels",
    .summary = "Make one grid of launches without a path between them",
    .anchor = builtinModuleOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"large", "programs a core from which on a grid is left alone", MlirExtOption_Integer, "4"},
            {"remarks", "says which launches are not merged, and why", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics =
        (const char *const[]){"merged: launches that are several", "launches: launches that became one", NULL},
    .dialects = (const char *const[]){"arith", "scf", NULL},
    .registerDialects = tileRegisterDialect,
    .run = run,
};
