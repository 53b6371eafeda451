// tile-specialize-warps{chip=NAME stages=N}: products that run by themselves (wgmma, tcgen05), fed by an engine (TMA).
// Expects: tile kernels without layouts, with one loop of products whose factors are loaded from views. Either one
//   product of two loaded factors is added up from round to round; or there are several products, whose right factors
//   are loaded and whose left ones are loaded or computed (attention: Q times K, weights times V).
// Leaves: a tile.warp_specialize of two partitions. One group of warps loads the factors into rings of shared memory;
//   one or two groups multiply what has landed and do everything else. A round is full when its bytes have landed, and
//   empty when the product that read it is done. A ring has the schedule's `stages`, or else as many as fit. A factor
//   that all rounds use is loaded once. A result goes out through shared memory by the engine where that has room.
//   tile-assign-layouts gives the tiles layouts over the warps that multiply.
//   A sum in tensor memory has three partitions: one thread loads, one multiplies, and groups of warps take the sums.
// A kernel stays as it is where the chip has no such product for the types, where a tensor's address, strides, padding
//   or tile do not suit the engine for all that is known, or where the loop does what partitions are not known to bear.
// Sources: CUTLASS's sm_90 mainloop (sm90_mma_tma_gmma_ss_warpspecialized.hpp) and its setmaxnreg; FlashAttention-3
//   (Shah et al. 2024); rings after OPS.md.
// Cost: linear in the ops.
#include "lib/transforms/pipeline/specialize_warps.h"

#include "dialects/tile/discardable.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/capi/op.h"
#include "lib/ir/enclosing.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"
#include "lib/ir/pass.h"
#include "lib/machine/machine.h"
#include "lib/search/target.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/create_partitions.h"
#include "lib/transforms/pipeline/pipeline.h"
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

// Two stages are the fewest that let a copy run beside a product. A group's instruction multiplies 64 rows.
enum { FewestStages = 2, MostColumns = 256, GroupSize = 64 };

typedef struct Search {
  MlirExtPass pass;
  const TileMachine *machine;
  TileSearchTarget target;
  int64_t sums;       // of a thread, and its factors in registers
  int64_t blocks;     // that a core is to hold
  bool isAlternating; // the schedule wants two groups that multiply tiles in turn (tile-alternate-partitions)
  SpecializePlan plan;
} Search;

// A scalar from memory that nobody writes while the kernel runs: any partition may load it.
static bool isConstantLoad(MlirOperation op) { return !mlirAttributeIsNull(tileOpGetRoundsAhead(op)); }

//===--- the loop -----------------------------------------------------------------------------===//

static MlirBlock bodyOf(MlirOperation loop) { return mlirRegionGetFirstBlock(scfForOpGetRegion(loop)); }

static bool isPlainLoop(MlirOperation op) {
  int64_t step;
  return scfForOpIsA(op) && tileConstantIndex(scfForOpGetStep(op), &step) && step == 1 &&
         mlirAttributeIsNull(scfForOpGetUnsignedCmp(op)) && tileKernelOpIsA(mlirOperationGetParentOperation(op));
}

static bool isInLoop(const SpecializePlan *plan, MlirOperation op) {
  return mlirBlockEqual(mlirOperationGetBlock(op), bodyOf(plan->loop));
}

// Products of both loops may take a factor that is loaded once.
static bool isTakenOnce(const SpecializePlan *plan, MlirValue factor) {
  int uses = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(factor); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use), ++uses)
    if (!tileMmaOpIsA(mlirOpOperandGetOwner(use)))
      return false;
  return uses == (mlirOperationIsNull(plan->tail.loop) ? 1 : 2);
}

// The load in the loop or ahead of it that only the product takes. Null where the factor is something else.
static SpecializeFactor factorOf(const SpecializePlan *plan, MlirValue factor) {
  MlirOperation op = tileDefiningOp(factor);
  bool isLoad = !mlirOperationIsNull(op) && tileLoadOpIsA(op) && tileTypeIsAView(tileLoadOpGetSourceType(op)),
       isKept = isLoad && mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(plan->loop));
  isKept = isKept && isTakenOnce(plan, factor);
  isLoad = isLoad && tileHasOneUse(factor);
  return isKept || (isLoad && isInLoop(plan, op)) ? (SpecializeFactor){.load = op, .isKept = isKept}
                                                  : (SpecializeFactor){.load = {NULL}};
}

static bool isLoad(const SpecializePlan *plan, MlirOperation op) {
  for (int i = 0; i < 2 * plan->count; ++i)
    if (mlirOperationEqual(plan->products[i / 2].factors[i % 2].load, op))
      return true;
  return false;
}

// One product, from 0 on, of factors that every round loads: sums go from round to round and to nowhere else.
static bool isSum(const SpecializePlan *plan) {
  const SpecializeProduct *product = &plan->products[0];
  MlirOperation end = mlirBlockGetTerminator(bodyOf(plan->loop));
  int64_t first;
  if (plan->count != 1 || scfForOpGetNumResults(plan->loop) != 1 ||
      !tileConstantIndex(scfForOpGetLowerBound(plan->loop), &first) || first != 0)
    return false;
  MlirValue sums = mlirBlockGetArgument(bodyOf(plan->loop), 1);
  for (int side = 0; side < 2; ++side)
    if (mlirOperationIsNull(product->factors[side].load) || product->factors[side].isKept)
      return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(plan->loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (!mlirOperationEqual(op, product->op) && !isLoad(plan, op) && tileOpHasTiles(op) && !scfYieldOpIsA(op))
      return false;
  return mlirValueEqual(tileMmaOpGetAccumulator(product->op), sums) && tileHasOneUse(sums) &&
         tileHasOneUse(tileMmaOpGetResult(product->op)) &&
         mlirValueEqual(scfYieldOpGetResults(end, 0), tileMmaOpGetResult(product->op));
}

// Several products, whose right factors the engine brings.
static bool isChain(const SpecializePlan *plan) {
  for (int i = 0; i < plan->count; ++i)
    if (mlirOperationIsNull(plan->products[i].factors[1].load))
      return false;
  return plan->count > 1;
}

// The rest of the loop is arithmetic and loads.
static bool isWithoutEffects(MlirOperation loop) {
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(loop)); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool isKnown = tileMmaOpIsA(op) || tileLoadOpIsA(op) || scfYieldOpIsA(op) || tileReduceOpIsA(op);
    if (!isKnown && ((tileOpHasEffects(op) && !isConstantLoad(op)) || mlirOperationGetNumRegions(op)))
      return false;
  }
  return true;
}

// The loop of a product: the first one's, or one other.
static bool addProduct(SpecializePlan *plan, MlirOperation op, int *inTail) {
  MlirOperation loop = mlirOperationGetParentOperation(op);
  if (!tileMmaOpIsA(op) || !isPlainLoop(loop))
    return false;
  if (mlirOperationIsNull(plan->loop))
    plan->loop = loop;
  if (mlirOperationEqual(plan->loop, loop)) {
    plan->products[plan->count++].op = op;
    return mlirOperationIsNull(plan->tail.loop);
  }
  if (mlirOperationIsNull(plan->tail.loop))
    plan->tail.loop = loop;
  plan->tail.products[(*inTail)++] = op;
  return mlirOperationEqual(plan->tail.loop, loop);
}

// The second loop's products take what the first one's take: a factor that is loaded once, one that is loaded in every
// round in the same way, or one that is computed.
static bool isTailAlike(SpecializePlan *plan) {
  SpecializeTail *tail = &plan->tail;
  for (int i = 0; i < plan->count && !mlirOperationIsNull(tail->loop); ++i) {
    const SpecializeProduct *product = &plan->products[i];
    MlirValue left = tileMmaOpGetLhs(tail->products[i]);
    MlirOperation load = tileDefiningOp(tileMmaOpGetRhs(tail->products[i])), maker = tileDefiningOp(left);
    const SpecializeFactor *factors = product->factors;
    bool isComputed = mlirOperationIsNull(factors[0].load);
    bool isLeft = isComputed ? !mlirOperationIsNull(maker) && !tileLoadOpIsA(maker) &&
                                   mlirBlockEqual(mlirOperationGetBlock(maker), bodyOf(tail->loop))
                             : factors[0].isKept && mlirOperationEqual(maker, factors[0].load);
    if (!isLeft || factors[1].isKept || mlirOperationIsNull(load) || !tileLoadOpIsA(load) ||
        !tileHasOneUse(tileOnlyResult(load)) || !mlirBlockEqual(mlirOperationGetBlock(load), bodyOf(tail->loop)) ||
        !mlirTypeEqual(tileLoadOpGetSourceType(load), tileLoadOpGetSourceType(factors[1].load)) ||
        !mlirTypeEqual(mlirValueGetType(tileMmaOpGetResult(tail->products[i])),
                       mlirValueGetType(tileMmaOpGetResult(product->op))))
      return false;
    tail->loads[i] = load;
  }
  return mlirOperationIsNull(tail->loop) || isWithoutEffects(tail->loop);
}

static bool findLoop(SpecializePlan *plan) {
  TileOps products = tileCollectOps(plan->kernel, tileIsProduct);
  bool ok = products.count >= 1 && products.count <= SpecializeProducts;
  int inTail = 0;
  for (intptr_t i = 0; ok && i < products.count; ++i)
    ok = addProduct(plan, products.items[i], &inTail);
  tileOpsFree(&products);
  if (!ok || (inTail && inTail != plan->count))
    return false;
  for (int i = 0; i < plan->count; ++i) {
    plan->products[i].factors[0] = factorOf(plan, tileMmaOpGetLhs(plan->products[i].op));
    plan->products[i].factors[1] = factorOf(plan, tileMmaOpGetRhs(plan->products[i].op));
  }
  plan->isSum = isSum(plan);
  return ((plan->isSum && !inTail) || isChain(plan)) && isWithoutEffects(plan->loop) && isTailAlike(plan);
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

// What makes no tile, has no effect, and needs nothing from inside, stays outside of the partitions; so do scalars that
// are read ahead of the loop. False where an op does what partitions are not known to bear: memory is loaded and
// stored, and written behind the loop only.
static bool collectInside(SpecializePlan *plan) {
  MlirBlock block = mlirOperationGetBlock(plan->loop);
  bool isBehind = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(mlirOperationGetNextInBlock(op));
       op = mlirOperationGetNextInBlock(op)) {
    bool isLoop = mlirOperationEqual(op, plan->loop) || mlirOperationEqual(op, plan->tail.loop),
         hasEffects = tileOpHasEffects(op) && !isConstantLoad(op);
    isBehind |= isLoop;
    if (!isLoop && ((mlirOperationGetNumRegions(op) && !tileReduceOpIsA(op)) ||
                    (hasEffects && !tileLoadOpIsA(op) && !(isBehind && tileStoreOpIsA(op)))))
      return false;
    if (isLoop || tileOpHasTiles(op) || (hasEffects && (isBehind || !tileLoadOpIsA(op))) || takesInside(plan, op))
      tileOpsAppend(&plan->inside, op);
  }
  return true;
}

// Whether the partition that loads can compute the value, too: from the round and from scalars outside.
static bool isKnownToLoads(const SpecializePlan *plan, MlirOperation loop, MlirValue value) {
  if (mlirValueEqual(value, mlirBlockGetArgument(bodyOf(loop), 0)))
    return true;
  if (tileIsOutside(loop, value))
    return !isInside(plan, value);
  MlirOperation op = tileDefiningOp(value);
  bool isKnown = !mlirOperationIsNull(op) && mlirBlockEqual(mlirOperationGetBlock(op), bodyOf(loop)) &&
                 (!tileOpHasEffects(op) || isConstantLoad(op)) && !mlirOperationGetNumRegions(op) &&
                 !tileOpHasTiles(op);
  for (intptr_t i = 0; isKnown && i < mlirOperationGetNumOperands(op); ++i)
    isKnown = isKnownToLoads(plan, loop, mlirOperationGetOperand(op, i));
  return isKnown;
}

// Both partitions run the loop, and one computes where its tiles lie: from what stands outside.
static bool isLoopKnownOutside(const SpecializePlan *plan) {
  bool isKnown =
      !isInside(plan, scfForOpGetLowerBound(plan->loop)) && !isInside(plan, scfForOpGetUpperBound(plan->loop));
  for (int i = 0; i < 2 * plan->count; ++i) {
    MlirOperation load = plan->products[i / 2].factors[i % 2].load;
    for (intptr_t o = 0; !mlirOperationIsNull(load) && isKnown && o < mlirOperationGetNumOperands(load); ++o)
      isKnown = isKnownToLoads(plan, plan->loop, mlirOperationGetOperand(load, o));
  }
  if (mlirOperationIsNull(plan->tail.loop))
    return isKnown;
  // Where the second loop ends may depend on what the first one computed: the partition that multiplies tells.
  isKnown &= !isInside(plan, scfForOpGetLowerBound(plan->tail.loop));
  for (int i = 0; i < plan->count; ++i)
    for (intptr_t o = 0; isKnown && o < mlirOperationGetNumOperands(plan->tail.loads[i]); ++o)
      isKnown = isKnownToLoads(plan, plan->tail.loop, mlirOperationGetOperand(plan->tail.loads[i], o));
  return isKnown;
}

//===--- atoms --------------------------------------------------------------------------------===//

static bool takes(const TileMachineAtom *atom, MlirOperation product, MlirType sum) {
  char text[3][32];
  MlirType types[] = {tileTypeGetElement(tileMmaOpGetLhsType(product)),
                      tileTypeGetElement(tileMmaOpGetRhsType(product)), sum};
  const char *part = tileFactorPart(product); // of f32, where the product's precision allows it
  for (int i = 0; i < 3; ++i)
    tileTypeText(types[i], text[i], sizeof text[i]);
  return tileMachineAtomTakes(atom, part ? part : text[0], part ? part : text[1], text[2]);
}

// Sums of f16 and bf16 are held in f32, and rounded once.
static MlirType sumOf(MlirOperation product) {
  MlirType sum = tileTypeGetElement(tileMmaOpGetAccumulatorType(product));
  return mlirTypeIsAF16(sum) || mlirTypeIsABF16(sum) ? mlirF32TypeGet(mlirTypeGetContext(sum)) : sum;
}

// A product of matrices without layouts or atom, whose factors are not split.
static bool isPlainProduct(MlirOperation product) {
  MlirType sums = tileMmaOpGetAccumulatorType(product);
  MlirAttribute precision = tileMmaOpGetPrecision(product);
  return tileTypeGetRank(sums) == 2 && mlirAttributeIsNull(tileTypeGetLayout(sums)) &&
         mlirAttributeIsNull(tileMmaOpGetAtom(product)) &&
         (mlirAttributeIsNull(precision) || tileStringEquals(mlirStringAttrGetValue(precision), "tf32"));
}

static int64_t columnsOf(const SpecializePlan *plan, MlirOperation product) {
  MlirType sums = tileMmaOpGetAccumulatorType(product);
  int64_t rows = tileTypeGetSize(sums, 0) / GroupSize;
  return tileTypeGetSize(sums, 1) / (plan->groups / tessera_min(plan->groups, rows));
}

// Registers of a thread for the product's sums and its factor, if that is in registers. In a loop of two
// products the factor stays for the next round (tile-overlap-products). In a loop of more products the factor takes the
// place of the scores that it is computed from.
static int64_t registersOf(const Search *search, const SpecializeProduct *product) {
  const SpecializePlan *plan = &search->plan;
  int64_t threads = plan->groups * SpecializeGroupWarps * search->target.lanes;
  MlirType left = tileMmaOpGetLhsType(product->op);
  int64_t count = tileTypeGetCount(tileMmaOpGetAccumulatorType(product->op)) / threads;
  if (mlirOperationIsNull(product->factors[0].load) && plan->count == 2)
    count += tileTypeGetCount(left) * tileStoredBytes(tileTypeGetElement(left)) / 4 / threads;
  return count;
}

// The warps that the kernel was to have multiply; where nobody said how many, two groups where each has rows. Each
// group has rows of its own, or where these are too few, columns: then all warps need a computed factor.
static bool chooseGroups(Search *search) {
  SpecializePlan *plan = &search->plan;
  MlirType sums = tileMmaOpGetAccumulatorType(plan->products[0].op);
  int64_t warps = tileWarpsOf(plan->kernel), rows = tileTypeGetSize(sums, 0) / GroupSize;
  plan->groups = warps ? warps / SpecializeGroupWarps : tessera_min(rows, 2);
  if (plan->groups < 1 || plan->groups > 2 || warps % SpecializeGroupWarps || rows < 1 ||
      (!plan->isSum && rows < plan->groups))
    return false;
  for (int i = 0; i < plan->count; ++i) {
    if (tileTypeGetSize(tileMmaOpGetAccumulatorType(plan->products[i].op), 0) != tileTypeGetSize(sums, 0))
      return false;
    search->sums += registersOf(search, &plan->products[i]);
  }
  return true;
}

// An atom without a left factor in registers has its sums in tensor memory.
static bool isTensorAtom(const TileMachine *machine, const char *key, const char *star) {
  TileMachineAtom atom;
  char name[64];
  snprintf(name, sizeof name, "%.*s64%s", (int)(star - key) - 5, key + 5, star + 1);
  return tileMachineFindAtom(machine, name, &atom, NULL) && atom.warps > 1 && !atom.fragment[0][0];
}

// An atom of several warps with a free number of columns, as many as a group has or the atom takes.
static bool findAtom(Search *search, SpecializeProduct *product) {
  MlirType sums = tileMmaOpGetAccumulatorType(product->op), sum = sumOf(product->op);
  int64_t m = tileTypeGetSize(sums, 0), k = tileTypeGetSize(tileMmaOpGetLhsType(product->op), 1);
  int64_t columns = columnsOf(&search->plan, product->op), all = tileTypeGetSize(sums, 1);
  for (size_t i = 0; i < tileMachineGetKeyCount(search->machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(search->machine, i, &value), *star = strchr(key, '*');
    if (strncmp(key, "atom.", 5) || !star)
      continue;
    bool isTensor = isTensorAtom(search->machine, key, star);
    int64_t width = isTensor ? all : columns;
    snprintf(product->name, sizeof product->name, "%.*s%lld%s", (int)(star - key) - 5, key + 5,
             (long long)tessera_min(width, MostColumns), star + 1);
    TileMachineAtom *atom = &product->atom;
    if (tileMachineFindAtom(search->machine, product->name, atom, NULL) && atom->warps == SpecializeGroupWarps &&
        takes(atom, product->op, sum) && m % atom->m == 0 && width % atom->n == 0 && k % atom->k == 0) {
      product->sums = tileTypeWithElement(sums, sum);
      search->plan.isTensor = isTensor;
      return search->plan.isSum ||
             (mlirTypeEqual(product->sums, sums) && (!isTensor || tileSpecializeSuitsTensor(&search->plan)));
    }
  }
  return false;
}

static bool findAtoms(Search *search) {
  for (int i = 0; i < search->plan.count; ++i)
    if (!isPlainProduct(search->plan.products[i].op) || !findAtom(search, &search->plan.products[i]))
      return false;
  return true;
}

// The most programs along an axis of the grid, for all that the kernel knows; 0: not known.
static int64_t programsAlong(MlirOperation id) {
  for (MlirOpOperand use = mlirValueGetFirstUse(tileOnlyResult(id)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (tileAssumeOpIsA(user) && tileIndexFacts(tileOnlyResult(user)).high < INT32_MAX)
      return tileIndexFacts(tileOnlyResult(user)).high + 1;
  }
  return 0;
}

// Whether every program of the kernel has a core for itself.
static bool areFewPrograms(const Search *search) {
  int64_t programs = 1, cores = search->target.cores;
  TileOps ids = tileCollectOps(search->plan.kernel, tileProgramIdOpIsA);
  for (intptr_t i = 0; i < ids.count && programs <= cores; ++i) {
    int64_t along = programsAlong(ids.items[i]);
    programs = along ? programs * along : cores + 1;
  }
  tileOpsFree(&ids);
  return programs <= cores;
}

// Sums of the next tile beside those of this one, where all programs of a core have room.
static bool chooseSums(Search *search) {
  enum { Lanes = 128 };
  SpecializePlan *plan = &search->plan;
  int64_t columns = 0, wanted = tileTypeGetCount(plan->products[0].sums) / Lanes, beside = 0;
  if (!plan->isTensor)
    return true;
  if (!plan->isSum) // sums of the second product, and weights of half a word
    beside = tileTypeGetCount(plan->products[1].sums) / Lanes + wanted / 2;
  tileMachineGetInteger(search->machine, "tmem.columns", &columns);
  plan->sumStages = (2 * wanted + beside) * search->blocks <= columns ? 2 : 1;
  return plan->isSum ? wanted * search->blocks <= columns : plan->sumStages == 2;
}

// All registers of a core go to two groups that multiply. One group leaves half of the core to another block, if there
// is one.
static bool chooseRegisters(Search *search) {
  SpecializePlan *plan = &search->plan;
  const TileSearchModel *model = &search->target.model;
  if (plan->isTensor && !plan->isSum) { // a row in each thread: of scores, or of sums that are rescaled
    plan->groups = 1;
    search->blocks = 1;
    int64_t scores = tileTypeGetSize(plan->products[0].sums, 1), sums = tileTypeGetSize(plan->products[1].sums, 1);
    return tessera_max(scores, sums) <= model->groupSumRegisters &&
           scores + sums <= model->groupSumRegisters + model->groupBesideRegisters;
  }
  search->blocks = plan->groups == 1 && !search->isAlternating && search->sums <= model->groupSumRegisters / 2 &&
                           !areFewPrograms(search)
                       ? 2
                       : 1;
  if (plan->groups == 1 && !search->isAlternating)
    return search->sums <= model->groupSumRegisters;
  plan->registers[0] = model->groupLoadRegisters;
  plan->registers[1] = tileSearchGroupRegisters(&search->target, 2);
  return search->sums <= (plan->isSum ? model->groupSumRegisters : plan->registers[1] - model->groupBesideRegisters);
}

//===--- stages -------------------------------------------------------------------------------===//

// Bytes of the largest tile that is stored beside the result that the engine takes: it changes threads on its way.
static int64_t otherResultBytes(const SpecializePlan *plan) {
  int64_t most = 0;
  for (intptr_t i = 0; i < plan->inside.count; ++i) {
    MlirOperation op = plan->inside.items[i];
    bool isOther = tileStoreOpIsA(op) && !mlirOperationEqual(op, plan->store) && !mlirOperationIsNull(plan->store);
    if (isOther && tileTypeIsATile(tileStoreOpGetValueType(op)))
      most = tessera_max(most, tileDenseBytes(tileStoreOpGetValueType(op)));
  }
  return most;
}

// Stages that a block has room for if `blocks` share a core.
static int64_t stagesInRoom(const Search *search, int64_t blocks, int64_t bytesBeside) {
  const SpecializePlan *plan = &search->plan;
  int64_t limit = search->target.sharedPerBlock, core = 0;
  tileMachineGetInteger(search->machine, "shared.bytes", &core);
  if (blocks > 1)
    limit = core / blocks - (core - limit); // the system takes some of each block's
  enum { Pattern = 1024 };                  // where each ring begins
  limit -= plan->rowCount * Pattern;
  if (plan->rowCount) // which take the room that other results had
    limit -= tessera_max(otherResultBytes(plan) - search->target.model.groupExchange, 0);
  // Barriers of 8 bytes for what is full and what is empty, each ring at a pattern of its own.
  return (limit - search->target.model.groupExchange - plan->kept - bytesBeside) /
         (plan->expected + 16 * (plan->count + 1));
}

// Rounds of the loop; 0: not known.
static int64_t knownRounds(const SpecializePlan *plan) {
  int64_t first, rounds;
  bool isKnown = tileConstantIndex(scfForOpGetLowerBound(plan->loop), &first) && first == 0 &&
                 tileConstantIndex(scfForOpGetUpperBound(plan->loop), &rounds);
  return isKnown ? tessera_max(rounds, 1) : 0;
}

static int64_t stagesThatFit(const Search *search, int64_t bytesBeside) {
  int64_t stages = stagesInRoom(search, search->blocks, bytesBeside), rounds = knownRounds(&search->plan);
  return tessera_min(rounds ? tessera_min(stages, rounds) : stages, search->target.model.groupStages);
}

// In a loop of more than two products, rows that scores are compared with or that sums begin with.
static void planRows(Search *search) {
  SpecializePlan *plan = &search->plan;
  for (MlirOperation op = mlirBlockGetFirstOperation(bodyOf(plan->loop));
       plan->count > 2 && mlirOperationIsNull(plan->tail.loop) && !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool isKnown = plan->rowCount < SpecializeRows && tileSpecializeIsRow(search->machine, op);
    for (intptr_t o = 0; isKnown && o < mlirOperationGetNumOperands(op); ++o)
      isKnown = isKnownToLoads(plan, plan->loop, mlirOperationGetOperand(op, o));
    if (!isKnown)
      continue;
    plan->rows[plan->rowCount++] = op;
    plan->rowBytes += tileDenseBytes(tileLoadOpGetResultType(op));
  }
  plan->expected += plan->rowBytes;
}

static bool planFactors(Search *search) {
  SpecializePlan *plan = &search->plan;
  for (int i = 0; i < 2 * plan->count; ++i) {
    SpecializeProduct *product = &plan->products[i / 2];
    SpecializeFactor *factor = &product->factors[i % 2];
    if (mlirOperationIsNull(factor->load))
      continue;
    if (!tileSpecializeFactor(plan, search->machine, product, i % 2))
      return false;
    int64_t bytes = tileDenseBytes(tileLoadOpGetResultType(factor->load));
    *(factor->isKept ? &plan->kept : &product->expected) += bytes;
    plan->expected += factor->isKept ? 0 : bytes;
  }
  planRows(search);
  return plan->expected > 0;
}

// The result leaves through shared memory where that takes no stage that the loop needs.
static bool chooseStages(Search *search) {
  SpecializePlan *plan = &search->plan;
  int64_t most = stagesThatFit(search, 0), wanted = mlirExtPassGetInteger(search->pass, "stages");
  plan->stages = most;
  if (tileSpecializeResult(plan, search->machine)) {
    plan->stages = stagesThatFit(search, tileDenseBytes(tileStoreOpGetValueType(plan->store)));
    if (plan->stages < tessera_min(most, plan->isSum ? search->target.model.groupStagesStore : FewestStages)) {
      plan->store = (MlirOperation){NULL};
      plan->stages = most;
    }
  }
  if (wanted > 0)
    plan->stages = tessera_min(plan->stages, wanted);
  return plan->stages >= 1 && plan->stages >= tessera_min(FewestStages, most);
}

// Bytes that a result takes beside the ring, however it leaves: narrower than its sums, it changes threads on the way.
static int64_t resultBytes(const SpecializePlan *plan) {
  if (mlirOperationIsNull(plan->store))
    return 0;
  MlirType stored = tileStoreOpGetValueType(plan->store), sums = plan->products[0].sums;
  bool isNarrow = tileStoredBytes(tileTypeGetElement(stored)) < tileStoredBytes(tileTypeGetElement(sums));
  return isNarrow ? tileDenseBytes(stored) : 0;
}

// The schedule's stages take the place of these, also where a second block on the core or a wide result then lacks
// room. A sum's products overlap, so that a ring of one stage would wait for ever. An error where they do not fit.
static bool obeyStages(Search *search) {
  SpecializePlan *plan = &search->plan;
  MlirAttribute schedule = tileOpAttribute(plan->kernel, "schedule");
  int64_t written = mlirAttributeIsNull(schedule) ? 0 : tileScheduleAttrGetInteger(schedule, "stages", 0);
  if (written < 1 || mlirExtPassGetInteger(search->pass, "stages") > 0)
    return true;
  int64_t least = plan->isSum && knownRounds(plan) != 1 ? FewestStages : 1,
          most = stagesInRoom(search, 1, resultBytes(plan));
  if (written < least || written > most)
    return tileError(
        plan->loop,
        "schedule: `stages` is %lld; the ring of this product has %lld to %lld stages of %lld bytes in the "
        "shared memory of %s",
        (long long)written, (long long)least, (long long)most, (long long)plan->expected,
        tileMachineGetName(search->machine));
  plan->stages = written;
  if (!mlirOperationIsNull(plan->store) &&
      written > stagesInRoom(search, 1, tileDenseBytes(tileStoreOpGetValueType(plan->store))))
    plan->store = (MlirOperation){NULL};
  return true;
}

//===--- the pass -----------------------------------------------------------------------------===//

static bool decide(Search *search) {
  SpecializePlan *plan = &search->plan;
  return findLoop(plan) && chooseGroups(search) && findAtoms(search) && collectInside(plan) &&
         isLoopKnownOutside(plan) && planFactors(search) && chooseRegisters(search) && chooseSums(search) &&
         chooseStages(search);
}

static bool specialize(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine) {
  Search search = {.pass = pass, .machine = machine, .plan = {.kernel = kernel}};
  TileError error;
  if (!tileSearchReadTarget(machine, &search.target, &error))
    return tileError(kernel, "%s", error.text);
  TileOps products = tileCollectOps(kernel, tileIsProduct);
  if (products.count > 1)
    tileSpecializeUnrollWalks(&products);
  tileOpsFree(&products);
  search.isAlternating = tileSchedulesTurns(kernel);
  bool isDecided = decide(&search), ok = !isDecided || obeyStages(&search);
  bool isObeyed =
      isDecided && (!search.isAlternating || (search.plan.isSum && search.plan.groups == 1 && !search.plan.isTensor));
  if (tileSchedulesPartitions(kernel) && !isObeyed)
    ok =
        tileError(kernel, "schedule: `specialize` names partitions, but this kernel is no plain product that an engine "
                          "loads and these groups of warps multiply");
  if (isDecided && ok) {
    tileSpecializeBuild(&search.plan);
    mlirExtPassAddStatistic(pass, Specialized, 1);
    mlirExtPassAddStatistic(pass, Stages, (uint64_t)search.plan.stages);
    mlirExtPassAddStatistic(pass, Stores, !mlirOperationIsNull(search.plan.store));
  }
  tileOpsFree(&search.plan.inside);
  return ok;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  MlirAttribute attribute;
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))))
    return true;
  TileMachine *machine = tileMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  bool ok = mlirAttributeIsNull(attribute) || !tileMachineListHas(machine, "engines", "tma") ||
            specialize(kernel, pass, machine);
  tileMachineDestroy(machine);
  return ok;
}

const MlirExtPassDefinition tileSpecializeWarpsPass = {
    .argument = "tile-specialize-warps",
    .summary = "Let one group of warps load a product's factors by an engine, and others multiply them",
    .anchor = tileKernelOpName,
    .options =
        (const MlirExtPassOption[]){TILE_CHIP_OPTION,
                                    {"stages", "the most stages of the rings; 0: the schedule's, or as many as fit",
                                     MlirExtOption_Integer, "0"},
                                    {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
