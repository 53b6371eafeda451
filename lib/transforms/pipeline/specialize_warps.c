// tile-specialize-warps{chip=NAME stages=N}: products that run by themselves (wgmma), fed by an engine (TMA).
// Expects: tile kernels without layouts, where one loop along k loads both factors from views and multiplies them.
// Leaves: a tile.warp_specialize of two partitions. One group of warps loads the factors into rings of shared memory;
//   one or two groups multiply what has landed and do all that follows the loop. A round is full when its bytes have
//   landed, and empty when the product that read it is done. The result goes out through shared memory by the engine
//   where that has room. tile-assign-layouts gives the tiles layouts over the warps that multiply.
// A kernel stays as it is where the chip has no such product for the types, where a tensor's address, strides, padding
//   or tile do not suit the engine for all that is known, or where the loop does anything else.
// Source: CUTLASS's sm_90 mainloop (sm90_mma_tma_gmma_ss_warpspecialized.hpp) and its setmaxnreg; rings after OPS.md.
// Cost: linear in the ops.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/op.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/layout/box.h"
#include "lib/layout/descriptor.h"
#include "lib/machine/machine.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/loops.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Specialized, Stages, Stores };

static const char *const statistics[] = {
    "specialized: kernels whose warps load or multiply",
    "stages: stages of their rings",
    "stores: results that leave through shared memory",
    NULL,
};

// Shared memory: what exchanges between threads may take behind the loop, and the pattern that buffers begin at.
enum { ExchangeBytes = 8192, PatternBytes = 1024, SwizzleBytes = 128, PieceBytes = 16, PatternRows = 8 };
// Registers: of a thread that only starts copies; of sums in one that multiplies, which needs some beside them.
enum { LoadRegisters = 40, MostSums = 128, RegisterGrain = 8 };
enum { MostStages = 8, FewestStages = 2, FewestBesideResult = 3, MostColumns = 256, GroupSize = 64 };

typedef struct Search {
  MlirExtPass pass;
  const TileMachine *machine;
  TileMachineAtom atom;
  int64_t columns; // of the tile that one group multiplies
  int64_t sums;    // of a thread
  int64_t blocks;  // that a core is to hold
  SpecializePlan plan;
} Search;

//===--- the loop -----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

// From 0 on by ones, with one tile that goes round.
static bool isPlainLoop(MlirOperation op) {
  int64_t first, step;
  return scfForOpIsA(op) && scfForOpGetNumResults(op) == 1 && tileConstantIndex(scfForOpGetLowerBound(op), &first) &&
         first == 0 && tileConstantIndex(scfForOpGetStep(op), &step) && step == 1 &&
         mlirAttributeIsNull(scfForOpGetUnsignedCmp(op));
}

// The load in this block that only the product takes; null where the factor is something else.
static MlirOperation loadOf(MlirOperation product, MlirValue factor) {
  MlirOperation op = tileDefiningOp(factor);
  bool isLoad = tileLoadOpIsA(op) && tileHasOneUse(factor) && tileTypeIsAView(tileLoadOpGetSourceType(op)) &&
                mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(product));
  return isLoad ? op : (MlirOperation){NULL};
}

// Sums go from round to round and to nowhere else.
static bool isLoopOfProduct(SpecializePlan *plan) {
  MlirOperation product = plan->product, end = mlirBlockGetTerminator(bodyOf(plan->loop));
  MlirValue sums = mlirBlockGetArgument(bodyOf(plan->loop), 1);
  if (!mlirValueEqual(tileMmaOpGetAccumulator(product), sums) || !tileHasOneUse(sums) ||
      !tileHasOneUse(tileMmaOpGetResult(product)) ||
      !mlirValueEqual(scfYieldOpGetResults(end, 0), tileMmaOpGetResult(product)))
    return false;
  plan->loads[0] = loadOf(product, tileMmaOpGetLhs(product));
  plan->loads[1] = loadOf(product, tileMmaOpGetRhs(product));
  return !mlirOperationIsNull(plan->loads[0]) && !mlirOperationIsNull(plan->loads[1]);
}

// Everything else in the loop is about where its tiles lie.
static bool isAllScalars(const SpecializePlan *plan) {
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(plan->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool isKnown = mlirOperationEqual(op, plan->product) || mlirOperationEqual(op, plan->loads[0]) ||
                   mlirOperationEqual(op, plan->loads[1]) || scfYieldOpIsA(op);
    if (!isKnown && (tileOpHasTiles(op) || !mlirExtOperationIsPure(op) || mlirOperationGetNumRegions(op)))
      return false;
  }
  return true;
}

static bool findLoop(SpecializePlan *plan) {
  TileOps products = tileCollectOps(plan->kernel, tileIsProduct);
  bool isOne = products.count == 1 && tileMmaOpIsA(products.items[0]);
  plan->product = isOne ? products.items[0] : (MlirOperation){NULL};
  tileOpsFree(&products);
  if (!isOne)
    return false;
  plan->loop = mlirOperationGetParentOperation(plan->product);
  return isPlainLoop(plan->loop) && tileKernelOpIsA(mlirOperationGetParentOperation(plan->loop)) &&
         isLoopOfProduct(plan) && isAllScalars(plan);
}

//===--- the rest of the kernel ---------------------------------------------------------------===//

static bool isInside(const SpecializePlan *plan, MlirValue value) {
  MlirOperation maker = tileDefiningOp(value);
  for (intptr_t i = 0; !mlirOperationIsNull(maker) && i < plan->inside.count; ++i)
    if (mlirOperationEqual(plan->inside.items[i], maker))
      return true;
  return false;
}

static bool takesInside(const SpecializePlan *plan, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (isInside(plan, mlirOperationGetOperand(op, i)))
      return true;
  return false;
}

// What makes no tile, has no effect, and needs nothing from inside, stays outside of the partitions. False where an op
// does what partitions are not known to bear: memory is loaded and stored, and written behind the loop only.
static bool collectInside(SpecializePlan *plan) {
  MlirBlock block = mlirOperationGetBlock(plan->loop);
  bool isBehind = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(mlirOperationGetNextInBlock(op));
       op = mlirOperationGetNextInBlock(op)) {
    bool isLoop = mlirOperationEqual(op, plan->loop);
    isBehind |= isLoop;
    if (!isLoop && (mlirOperationGetNumRegions(op) ||
                    (tileOpHasEffects(op) && !tileLoadOpIsA(op) && !(isBehind && tileStoreOpIsA(op)))))
      return false;
    if (isLoop || tileOpHasTiles(op) || tileOpHasEffects(op) || takesInside(plan, op))
      tileOpsAppend(&plan->inside, op);
  }
  return true;
}

// Both partitions run the loop, and one computes where its tiles lie: from what stands outside.
static bool isLoopKnownOutside(const SpecializePlan *plan) {
  if (isInside(plan, scfForOpGetUpperBound(plan->loop)))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(plan->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (takesInside(plan, op))
      return false;
  return true;
}

//===--- atoms --------------------------------------------------------------------------------===//

static bool takes(const TileMachineAtom *atom, MlirOperation product, MlirType sum) {
  char text[3][32];
  MlirType types[] = {tileTypeGetElement(tileMmaOpGetLhsType(product)),
                      tileTypeGetElement(tileMmaOpGetRhsType(product)), sum};
  for (int i = 0; i < 3; ++i)
    tileTypeText(types[i], text[i], sizeof text[i]);
  return tileMachineAtomTakes(atom, text[0], text[1], text[2]);
}

// Sums of f16 and bf16 are held in f32, and rounded once.
static MlirType sumOf(MlirOperation product) {
  MlirType sum = tileTypeGetElement(tileMmaOpGetAccumulatorType(product));
  return mlirTypeIsAF16(sum) || mlirTypeIsABF16(sum) ? mlirF32TypeGet(mlirTypeGetContext(sum)) : sum;
}

// A product of matrices without layouts, atom or precision.
static bool isPlainProduct(MlirOperation product) {
  MlirType sums = tileMmaOpGetAccumulatorType(product);
  return tileTypeGetRank(sums) == 2 && mlirAttributeIsNull(tileTypeGetLayout(sums)) &&
         mlirAttributeIsNull(tileMmaOpGetAtom(product)) && mlirAttributeIsNull(tileMmaOpGetPrecision(product));
}

// The warps that the kernel was to have multiply; where nobody said how many, two groups where each has rows. Each
// group has rows of its own, or where these are too few, columns.
static bool chooseGroups(Search *search) {
  SpecializePlan *plan = &search->plan;
  MlirType sums = tileMmaOpGetAccumulatorType(plan->product);
  int64_t warps = tileWarpsOf(plan->kernel), rows = tileTypeGetSize(sums, 0) / GroupSize;
  plan->groups = warps ? warps / SpecializeGroupWarps : tessera_min(rows, 2);
  if (plan->groups < 1 || plan->groups > 2 || warps % SpecializeGroupWarps || rows < 1)
    return false;
  search->columns = tileTypeGetSize(sums, 1) / (plan->groups / tessera_min(plan->groups, rows));
  search->sums = tileTypeGetCount(sums) / (plan->groups * SpecializeGroupWarps * 32);
  return search->sums <= MostSums;
}

// An atom of several warps with a free number of columns, as many as a group has or the atom takes.
static bool findAtom(Search *search) {
  MlirOperation product = search->plan.product;
  MlirType sums = tileMmaOpGetAccumulatorType(product), sum = sumOf(product);
  int64_t m = tileTypeGetSize(sums, 0), k = tileTypeGetSize(tileMmaOpGetLhsType(product), 1);
  for (size_t i = 0; i < tileMachineGetKeyCount(search->machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(search->machine, i, &value), *star = strchr(key, '*');
    if (strncmp(key, "atom.wgmma.", 11) || !star)
      continue;
    char *name = search->plan.atom;
    snprintf(name, sizeof search->plan.atom, "%.*s%lld%s", (int)(star - key) - 5, key + 5,
             (long long)tessera_min(search->columns, MostColumns), star + 1);
    TileMachineAtom *atom = &search->atom;
    if (tileMachineFindAtom(search->machine, name, atom, NULL) && atom->warps == SpecializeGroupWarps &&
        takes(atom, product, sum) && m % atom->m == 0 && search->columns % atom->n == 0 && k % atom->k == 0) {
      search->plan.sums = tileTypeWithElement(sums, sum);
      return true;
    }
  }
  return false;
}

// All registers of a core go to two groups that multiply. One group leaves half of the core to another block.
static void chooseRegisters(Search *search) {
  SpecializePlan *plan = &search->plan;
  int64_t registers = 0, perThread = 0, groups = 1 + plan->groups, threads = groups * SpecializeGroupWarps * 32;
  search->blocks = plan->groups == 1 && search->sums <= MostSums / 2 ? 2 : 1;
  if (plan->groups == 1)
    return;
  tileMachineGetInteger(search->machine, "registers.per_core", &registers);
  tileMachineGetInteger(search->machine, "registers.per_thread", &perThread);
  int64_t entry = tessera_min(registers / threads, perThread) / RegisterGrain * RegisterGrain;
  plan->registers[0] = LoadRegisters;
  plan->registers[1] = (entry * groups - LoadRegisters) / plan->groups / RegisterGrain * RegisterGrain;
}

//===--- memory -------------------------------------------------------------------------------===//

static bool isParameter(MlirValue memref, MlirOperation kernel) {
  for (MlirOperation op = tileDefiningOp(memref); tileAssumeOpIsA(op) || memrefCastOpIsA(op);
       op = tileDefiningOp(memref))
    memref = tileOnlyOperand(op);
  return mlirValueIsABlockArgument(memref) &&
         mlirOperationEqual(mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(memref)), kernel);
}

// Address and strides suit the engine for all that is known.
static bool isAligned(const Search *search, const TileKnownMemory *memory) {
  int64_t align = PieceBytes, rank = 0;
  tileMachineGetInteger(search->machine, "engine.tma.align", &align);
  tileMachineGetInteger(search->machine, "engine.tma.rank", &rank);
  if (memory->rank < 1 || memory->rank > rank || memory->align % align || !memory->isUnit[memory->rank - 1])
    return false;
  for (intptr_t d = 0; d + 1 < memory->rank; ++d)
    if (!memory->stride[d] || tileDivisorOfProduct(memory->stride[d], memory->elementBytes) % align)
      return false;
  return true;
}

// Whether boxes of the view's memory are its tiles. `fast` receives the axis whose elements are neighbours.
static bool suitsEngine(const Search *search, MlirValue view, uint32_t *fast) {
  MlirOperation op = tileDefiningOp(view);
  MlirType type = mlirValueGetType(view);
  if (!tileViewOpIsA(op) || tileTypeGetRank(type) != 2 || !mlirAttributeIsNull(tileViewTypeGetPacked(type)) ||
      !tileStringEquals(tileViewTypeGetPad(type), "zero") || tileViewTypeGetStride(type, 0) != 1 ||
      tileViewTypeGetStride(type, 1) != 1 || !isParameter(tileViewOpGetSource(op), search->plan.kernel))
    return false;
  TileKnownMemory memory = tileKnownMemory(tileViewOpGetSource(op));
  *fast = tileViewDimension(op, 0) == memory.rank - 1 ? 0 : 1;
  return isAligned(search, &memory) && tileViewDimension(op, *fast) == memory.rank - 1;
}

// Boxes one behind the other: rows of up to 128 bytes along the fast axis, whose pieces of 16 bytes are permuted by
// the row. Sizes are powers of two.
static bool boxLayout(MlirType tile, uint32_t fast, TileLayout *layout) {
  int64_t bytes = tileStoredBytes(tileTypeGetElement(tile));
  int64_t rows = tileTypeGetSize(tile, 1 - fast), columns = tileTypeGetSize(tile, fast);
  if (!tessera_is_power_of_two(rows) || !tessera_is_power_of_two(columns) || rows < PatternRows ||
      columns * bytes < PieceBytes)
    return false;
  int64_t width = tessera_min(columns, SwizzleBytes / bytes), piece = PieceBytes / bytes;
  uint32_t swizzled = tessera_log2((uint64_t)(width / piece)), unswizzled = 3 - swizzled;
  *layout = tileLayoutEmpty(TileLayoutMemory);
  bool ok = tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)width, (int32_t)fast, 1, NULL);
  for (uint32_t bit = 0; ok && bit < 3; ++bit) {
    TileLayoutPoint step = {{0}};
    step.at[1 - fast] = 1u << bit;
    step.at[fast] = bit >= unswizzled ? (uint32_t)piece << (bit - unswizzled) : 0;
    ok = tileLayoutAppendBit(layout, TileLayoutOffset, step, NULL);
  }
  return ok &&
         tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)rows / PatternRows, (int32_t)(1 - fast), PatternRows,
                              NULL) &&
         tileLayoutAppendWalk(layout, TileLayoutOffset, (uint64_t)(columns / width), (int32_t)fast, (uint64_t)width,
                              NULL);
}

static bool fillsBoxes(const Search *search, MlirType tile, uint32_t fast, const TileLayout *layout) {
  TileBoxPlan boxes;
  int64_t most = 256;
  tileMachineGetInteger(search->machine, "engine.tma.box", &most);
  const uint32_t axes[] = {fast, 1 - fast};
  return tileBoxPlan(layout, axes, 2, (uint32_t)tileStoredBytes(tileTypeGetElement(tile)), (uint32_t)most, &boxes,
                     NULL);
}

static bool planFactor(Search *search, int side) {
  MlirOperation load = search->plan.loads[side];
  MlirType tile = tileLoadOpGetResultType(load);
  TileLayout *layout = &search->plan.factors[side];
  TileDescriptorPlan descriptor;
  uint32_t fast;
  int64_t sizes[] = {tileTypeGetSize(tile, 0), tileTypeGetSize(tile, 1)};
  TileDescriptorShape shape = {.rowAxis = (uint32_t)side,
                               .rows = (uint32_t)(side ? search->atom.n : search->atom.m),
                               .depth = (uint32_t)search->atom.k,
                               .elementBytes = (uint32_t)tileStoredBytes(tileTypeGetElement(tile))};
  return suitsEngine(search, tileLoadOpGetSource(load), &fast) && boxLayout(tile, fast, layout) &&
         fillsBoxes(search, tile, fast, layout) && tileDescriptorPlan(layout, sizes, &shape, &descriptor, NULL) &&
         tileDenseBytes(tile) % PatternBytes == 0;
}

// The last op with an effect, if it stores a tile that boxes of its memory can take.
static bool planResult(Search *search) {
  SpecializePlan *plan = &search->plan;
  MlirOperation last = {NULL};
  uint32_t fast;
  for (intptr_t i = 0; i < plan->inside.count; ++i)
    if (mlirOperationEqual(plan->inside.items[i], plan->loop))
      last = (MlirOperation){NULL};
    else if (tileOpHasEffects(plan->inside.items[i]))
      last = plan->inside.items[i];
  if (mlirOperationIsNull(last) || !tileStoreOpIsA(last) || !mlirAttributeIsNull(tileStoreOpGetCombine(last)) ||
      !tileTypeIsATile(tileStoreOpGetValueType(last)) || !tileTypeIsAView(tileStoreOpGetDestinationType(last)))
    return false;
  MlirType tile = tileStoreOpGetValueType(last);
  if (tileElementWidth(tileTypeGetElement(tile)) < 8 || !suitsEngine(search, tileStoreOpGetDestination(last), &fast) ||
      !boxLayout(tile, fast, &plan->result) || !fillsBoxes(search, tile, fast, &plan->result))
    return false;
  plan->store = last;
  return true;
}

//===--- stages -------------------------------------------------------------------------------===//

static int64_t stagesThatFit(const Search *search, int64_t bytesBeside) {
  const SpecializePlan *plan = &search->plan;
  int64_t limit = 0, core = 0, rounds;
  tileMachineGetInteger(search->machine, "shared.per_block.bytes", &limit);
  tileMachineGetInteger(search->machine, "shared.bytes", &core);
  if (search->blocks > 1)
    limit = core / search->blocks - (core - limit); // the system takes some of each block's
  // A barrier of 8 bytes for what is full and one for what is empty, each ring at a pattern of its own.
  int64_t stages = (limit - ExchangeBytes - PatternBytes - bytesBeside) / (plan->expected + 16);
  if (tileConstantIndex(scfForOpGetUpperBound(plan->loop), &rounds))
    stages = tessera_min(stages, tessera_max(rounds, 1));
  return tessera_min(stages, MostStages);
}

// As many as fit. The result leaves through shared memory where that takes no stage that the loop needs.
static bool chooseStages(Search *search) {
  SpecializePlan *plan = &search->plan;
  chooseRegisters(search);
  plan->expected =
      tileDenseBytes(tileLoadOpGetResultType(plan->loads[0])) + tileDenseBytes(tileLoadOpGetResultType(plan->loads[1]));
  int64_t most = stagesThatFit(search, 0), wanted = mlirExtPassGetInteger(search->pass, "stages");
  plan->stages = most;
  if (planResult(search)) {
    plan->stages = stagesThatFit(search, tileDenseBytes(tileStoreOpGetValueType(plan->store)));
    if (plan->stages < tessera_min(most, FewestBesideResult)) {
      plan->store = (MlirOperation){NULL};
      plan->stages = most;
    }
  }
  if (wanted > 0)
    plan->stages = tessera_min(plan->stages, wanted);
  return plan->stages >= 1 && plan->stages >= tessera_min(FewestStages, most);
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool decide(Search *search) {
  SpecializePlan *plan = &search->plan;
  return findLoop(plan) && isPlainProduct(plan->product) && chooseGroups(search) && findAtom(search) &&
         collectInside(plan) && isLoopKnownOutside(plan) && planFactor(search, 0) && planFactor(search, 1) &&
         chooseStages(search);
}

static void specialize(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine) {
  Search search = {.pass = pass, .machine = machine, .plan = {.kernel = kernel}};
  if (decide(&search)) {
    tileSpecializeBuild(&search.plan);
    mlirExtPassAddStatistic(pass, Specialized, 1);
    mlirExtPassAddStatistic(pass, Stages, (uint64_t)search.plan.stages);
    mlirExtPassAddStatistic(pass, Stores, !mlirOperationIsNull(search.plan.store));
  }
  tileOpsFree(&search.plan.inside);
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute attribute;
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))))
    return true;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  if (!mlirAttributeIsNull(attribute) && tileMachineListHas(machine, "engines", "tma"))
    specialize(kernel, pass, machine);
  tileMachineDestroy(machine);
  return true;
}

const MlirExtPassDefinition tileSpecializeWarpsPass = {
    .argument = "tile-specialize-warps",
    .summary = "Let one group of warps load a product's factors by an engine, and others multiply them",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                           {"stages", "the most stages of the rings; 0: as many as fit",
                                            MlirExtOption_Integer, "0"},
                                           {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
