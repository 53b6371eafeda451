// tile-assign-layouts: gives every tile of a kernel a layout, and every product an instruction of the machine.
// Expects: tile kernels without layouts; `chip` and `warps` as options or as the kernel's attributes (the option wins).
//   Where nobody says how many warps, there are four, or as many more as the tiles' registers ask for (lib/search).
// Leaves: scheduled kernels: layouts on all tiles, tile.convert_layout where a tile is wanted in two layouts, `atom` on
//   products, `machine` and `warps` on the kernel. Kernels that have layouts already stay as they are.
// How a layout is chosen: docs/layouts.md. Papers: linear layouts (Zhou et al. 2025) for what a conversion costs.
// Cost: about a millisecond per ten tile ops; conversions are planned once per pair of layouts.
#include "lib/transforms/layout/layout.h"
#include "upstream/scf.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "dialects/tile/sparse_product.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/registers.h"
#include "lib/capi/op.h"
#include "lib/ir/op_format.h"
#include "lib/ir/pass.h"
#include "lib/search/model.h"
#include "lib/support/integer.h"
#include "lib/transforms/layout/graph.h"
#include "lib/transforms/layout/scaled_factors.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdio.h>

//===--- what layouts require first: calls are inlined ------------------------===//

static void replaceUses(MlirValue from, MlirValue to) { mlirValueReplaceAllUsesOfWith(from, to); }

// Moves the ops of a copy of the callee before the call.
static void inlineOne(MlirOperation call, MlirOperation callee) {
  MlirOperation copy = mlirOperationClone(callee);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0)), block = mlirOperationGetBlock(call);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(call); ++i)
    replaceUses(mlirBlockGetArgument(body, i), mlirOperationGetOperand(call, i));
  MlirOperation end = mlirBlockGetTerminator(body);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(call); ++i)
    replaceUses(mlirOperationGetResult(call, i), mlirOperationGetOperand(end, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(body), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(block, call, op);
  }
  mlirOperationDestroy(call);
  mlirOperationDestroy(copy);
}

// False after a diagnostic.
static bool inlineCalls(MlirOperation kernel) {
  enum { MaxRounds = 64 };
  for (int round = 0;; ++round) {
    TileOps calls = tileCollectOps(kernel, tileCallOpIsA);
    if (!calls.count)
      return true;
    MlirOperation call = calls.items[0];
    tileOpsFree(&calls);
    MlirOperation callee = mlirExtSymbolLookup(kernel, tileOpAttribute(call, "callee"));
    bool hasBody =
        !mlirOperationIsNull(callee) && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0)));
    if (!hasBody)
      return tileError(call, "calls a function without a body here, expected one to inline");
    if (round == MaxRounds)
      return tileError(call, "calls too deep, expected no recursion: a GPU kernel holds all its code");
    inlineOne(call, callee);
  }
}

//===--- what layouts require first: products are padded up to their atom -----===//

static MlirAttribute offsets(MlirContext context, intptr_t rank) {
  int64_t zeros[TILE_LAYOUT_MAX_AXES] = {0};
  return mlirDenseI64ArrayGet(context, rank, zeros);
}

enum { IN_ORDER = 0x44 }; // places 0, 1, 0, 1: of what is padded, which must ascend as well

// The tile in the corner of a larger one that holds this number elsewhere.
static MlirValue padded(TileBuilder *builder, MlirValue value, const int64_t *shape, int64_t with) {
  MlirType type = mlirValueGetType(value), element = tileTypeGetElement(type);
  intptr_t rank = tileTypeGetRank(type);
  MlirType larger = tileTileTypeGet(rank, shape, element, (MlirAttribute){NULL});
  if (mlirTypeEqual(type, larger))
    return value;
  MlirAttribute number = mlirTypeIsAFloat(element) ? mlirFloatAttrDoubleGet(builder->context, element, (double)with)
                                                   : mlirIntegerAttrGet(element, with);
  MlirValue around = tileBuildConstant(builder, mlirDenseElementsAttrSplatGet(larger, number));
  return tileInsertOpBuild(builder, value, around, 0, NULL, offsets(builder->context, rank));
}

// What an operand of a product is padded up to, and with what.
typedef struct Side {
  int64_t shape[3], with;
} Side;

static bool isPadded(MlirOperation op) { return tileIsProduct(op) || tileMmaScaledOpIsA(op); }

static bool padProduct(MlirOperation op, const TileMachine *machine, uint32_t warps) {
  char name[48];
  TileMachineAtom atom;
  intptr_t numSides = mlirOperationGetNumOperands(op);
  bool isSparse = tileMmaSparseOpIsA(op), isScaled = tileMmaScaledOpIsA(op);
  MlirType result = tileOnlyResultType(op), rhs = mlirValueGetType(tileOpOperand(op, "rhs"));
  intptr_t rank = tileTypeGetRank(result);
  if (!layoutFindAtom(machine, op, warps, true, name, sizeof name, &atom))
    return false;
  int64_t m = tessera_round_up(tileTypeGetSize(result, rank - 2), atom.m),
          n = tessera_round_up(tileTypeGetSize(result, rank - 1), atom.n);
  int64_t k = tessera_round_up(tileTypeGetSize(rhs, rank - 2), atom.k), batch = tileTypeGetSize(result, 0);
  int64_t block = isScaled ? tileMmaScaledOpGetBlockValue(op) : 1;
  int64_t left = isScaled ? k / block * tileScaleParts(tileMmaScaledOpGetLhsScaleType(op)) : 0;
  int64_t right = isScaled ? k / block * tileScaleParts(tileMmaScaledOpGetRhsScaleType(op)) : 0;
  const Side plain[] = {{{batch, m, isSparse ? k / 2 : k}, 0},
                        {{batch, k, n}, 0},
                        {{batch, m, n}, 0},
                        {{batch, m, k / 8}, IN_ORDER}},
             scaled[] = {{{batch, m, k}, 0},
                         {{batch, m, left}, 1},
                         {{batch, k, n}, 0},
                         {{batch, right, n}, 1},
                         {{batch, m, n}, 0}},
             *sides = isScaled ? scaled : plain;
  TileBuilder builder = tileBuilderBefore(op);
  bool changed = false;
  for (intptr_t i = 0; i < numSides; ++i) {
    MlirValue side = mlirOperationGetOperand(op, i);
    MlirValue larger = padded(&builder, side, &sides[i].shape[3 - rank], sides[i].with);
    changed |= !mlirValueEqual(larger, side);
    mlirOperationSetOperand(op, i, larger);
  }
  MlirValue sum = tileOnlyResult(op);
  MlirType larger = mlirValueGetType(tileOpOperand(op, "accumulator"));
  if (mlirTypeEqual(larger, result))
    return changed;
  TileBuilder after = tileBuilderAfter(op);
  mlirValueSetType(sum, larger);
  MlirValue cut = tileSliceOpBuild(&after, result, sum, 0, NULL, offsets(builder.context, rank));
  mlirValueReplaceAllUsesExcept(sum, cut, 1, (MlirOperation[]){tileDefiningOp(cut)});
  return true;
}

static uint64_t padProducts(MlirOperation kernel, const TileMachine *machine, uint32_t warps) {
  uint64_t count = 0;
  TileOps products = tileCollectOps(kernel, isPadded);
  for (intptr_t i = 0; i < products.count; ++i)
    count += padProduct(products.items[i], machine, warps);
  tileOpsFree(&products);
  return count;
}

static void makeProductsDense(MlirOperation kernel, const TileMachine *machine, uint32_t warps) {
  TileOps products = tileCollectOps(kernel, tileMmaSparseOpIsA);
  for (intptr_t i = 0; i < products.count; ++i) {
    char name[48];
    TileMachineAtom atom;
    if (!layoutFindAtom(machine, products.items[i], warps, true, name, sizeof name, &atom))
      tileMakeSparseProductDense(products.items[i]);
  }
  tileOpsFree(&products);
}

enum { Assigned, Conversions, ByRegisters, ByShuffles, ByShared, Copies, Cycles, Padded };

static const char *const statistics[] = {
    "kernels: kernels that were given layouts",
    "conversions: tile.convert_layout inserted",
    "by_registers: of these, that move registers only",
    "by_shuffles: of these, by shuffles within warps",
    "by_shared_memory: of these, through shared memory",
    "rematerialized: tiles made anew instead of converted",
    "conversion_cycles: price of the conversions by the cost model, loops weighted",
    "padded: products padded up to an instruction",
    NULL,
};

//===--- questions ------------------------------------------------------------------===//

// Ops that make tiles: the first one, the type of its first tile, and one that runs on other warps, if there is one.
typedef struct Tiled {
  MlirOperation first, apart;
  MlirType type;
  MlirOperation partitions; // around it; the first op itself may be removed
} Tiled;

static MlirWalkResult findTile(MlirOperation op, void *data) {
  Tiled *tiled = data;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i))) {
      if (mlirOperationIsNull(tiled->first))
        *tiled = (Tiled){.first = op, .type = tileResultType(op, i)};
      else if (tileWarpsOf(op) != tileWarpsOf(tiled->first))
        tiled->apart = op;
      break;
    }
  return MlirWalkResultAdvance;
}

static Tiled tiledOf(MlirOperation kernel) {
  Tiled tiled = {.apart = {NULL}};
  mlirOperationWalk(kernel, findTile, &tiled, MlirWalkPreOrder);
  if (!mlirOperationIsNull(tiled.first))
    tiled.partitions = tileParentOp(tiled.first, tileWarpSpecializeOpIsA);
  return tiled;
}

static bool needsLayouts(const Tiled *tiled) {
  return !mlirOperationIsNull(tiled->first) && mlirAttributeIsNull(tileTypeGetLayout(tiled->type));
}

// The partition whose warps have the tiles; null: all warps have them.
static MlirOperation partitionsOf(const Tiled *tiled) { return tiled->partitions; }

// The partition's, the option, the kernel's attribute, the schedule's product, or 0: nobody says.
static int64_t warpsOf(MlirOperation kernel, MlirExtPass pass, const Tiled *tiled) {
  int64_t warps = mlirExtPassGetInteger(pass, "warps");
  MlirAttribute schedule = tileOpAttribute(kernel, "schedule");
  if (!mlirOperationIsNull(partitionsOf(tiled)))
    return tileWarpsOf(tiled->first);
  if (warps > 0 || tileIntegerOf(kernel, "warps", &warps))
    return warps > 0 ? warps : -1;
  MlirAttribute entry = mlirAttributeIsNull(schedule) ? schedule : tileScheduleAttrGetEntry(schedule, "warps");
  if (mlirAttributeIsNull(entry) || !mlirAttributeIsADenseI64Array(entry))
    return 0;
  warps = 1;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(entry); ++i)
    warps *= mlirDenseI64ArrayGetElement(entry, i);
  return warps;
}

// What the layouts of a kernel are chosen by on any number of warps: warp width, shared memory and prices, read from
// the machine once.
static bool readMachine(Graph *graph, MlirOperation kernel, const TileMachine *machine, TileSearchTarget *target) {
  int64_t width = 0;
  TileError error = {.text = ""};
  TileMachineLevel shared = {.banks = 0};
  *graph = (Graph){.kernel = kernel, .context = mlirOperationGetContext(kernel), .machine = machine};
  tileMachineGetLevel(machine, "shared", &shared);
  if (!tileMachineGetInteger(machine, "warp.width", &width) || !tessera_is_power_of_two(width) || width > 64)
    return tileError(kernel, "is for %s, which has no warps: layouts are for GPUs", tileMachineGetName(machine));
  if (!tileSearchReadTarget(machine, target, &error))
    return tileError(kernel, "%s", error.text);
  if (!target->isGpu)
    return tileError(kernel, "is for %s, which is a CPU: layouts are for GPUs", tileMachineGetName(machine));
  graph->model = target->model;
  graph->lanes = (uint32_t)width;
  graph->sharedBytes = INT64_MAX;
  tileMachineGetInteger(machine, "shared.per_block.bytes", &graph->sharedBytes);
  graph->target.shuffleBits = 32;
  graph->target.shared = (TileAccessLimits){.elementBytes = 1, .vectorBytes = 16, .banks = (uint32_t)shared.banks};
  graph->target.shared.bankBytes = shared.banks ? (uint32_t)shared.bankBytes : 4;
  return true;
}

//===--- remarks and statistics --------------------------------------------------------===//

static void label(MlirOperation kernel, const Graph *graph, MlirAttribute machine, const Tiled *tiled) {
  MlirType i32 = mlirIntegerTypeGet(graph->context, 32);
  tileKernelOpSetMachine(kernel, machine);
  if (mlirOperationIsNull(partitionsOf(tiled)))
    mlirOperationSetAttributeByName(kernel, tileString("warps"), mlirIntegerAttrGet(i32, graph->warps));
}

static void report(MlirOperation kernel, MlirExtPass pass, const LayoutCounts *counts) {
  mlirExtPassAddStatistic(pass, Assigned, 1);
  mlirExtPassAddStatistic(pass, Conversions, counts->conversions);
  mlirExtPassAddStatistic(pass, ByRegisters, counts->kinds[TileConversionRegisters]);
  mlirExtPassAddStatistic(pass, ByShuffles, counts->kinds[TileConversionShuffles]);
  mlirExtPassAddStatistic(pass, ByShared, counts->kinds[TileConversionShared]);
  mlirExtPassAddStatistic(pass, Copies, counts->copies);
  mlirExtPassAddStatistic(pass, Cycles, (uint64_t)counts->cycles);
  if (mlirExtPassGetBool(pass, "report"))
    tileRemark(kernel, "%llu conversions: %llu by registers, %llu by shuffles, %llu through shared memory; %.0f cycles",
               (unsigned long long)counts->conversions, (unsigned long long)counts->kinds[TileConversionRegisters],
               (unsigned long long)counts->kinds[TileConversionShuffles],
               (unsigned long long)counts->kinds[TileConversionShared], counts->cycles);
}

//===--- warps ------------------------------------------------------------------------===//

// Registers that the tile takes in a thread with the layout that was chosen.
static int64_t chosenRegisters(MlirValue tile, void *data) {
  Graph *graph = data;
  const Value *value = layoutValueOf(graph, tile);
  if (!value)
    return 0;
  uint64_t count = layoutRegisters(layoutOf(graph, layoutChosenAt(graph, value->definition)));
  return (int64_t)((count * layoutElementBits(mlirValueGetType(tile)) + 31) / 32);
}

// The fewest registers that any layout over these threads leaves the tile in one of them.
static int64_t fewestRegisters(MlirValue tile, void *data) {
  MlirType type = mlirValueGetType(tile);
  int64_t threads = *(const int64_t *)data;
  return (tileTypeGetCount(type) * layoutElementBits(type) / threads + 31) / 32;
}

typedef struct Largest {
  MlirValue tile; // of those that registers hold; null: none
  int64_t bits;
} Largest;

static int64_t noteLargest(MlirValue tile, void *data) {
  Largest *largest = data;
  int64_t bits = tileTypeGetCount(mlirValueGetType(tile)) * layoutElementBits(mlirValueGetType(tile));
  if (bits > largest->bits)
    *largest = (Largest){tile, bits};
  return 1;
}

// A thread has code for each element that it holds: code for a tile that no core can hold would take minutes to
// compile, and would only move data between memory and registers.
static bool expectTilesThatFit(MlirOperation kernel, const TileMachine *machine, const TileSearchTarget *target) {
  char text[128];
  Largest largest = {.bits = 0};
  const TileRegisterCount count = {.registersOf = noteLargest, .data = &largest, .willStage = true};
  tileBlockRegisters(&count, mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
  if (largest.bits <= 32 * target->registersPerCore)
    return true;
  MlirOperation op = tileDefiningOp(largest.tile);
  return tileError(
      mlirOperationIsNull(op) ? kernel : op,
      "makes a tile of type %s, %lld bytes; the registers of a core of %s hold %lld: make the tile smaller, "
      "or walk it in a loop",
      tileTypeText(mlirValueGetType(largest.tile), text, sizeof text), (long long)(largest.bits / 8),
      tileMachineGetName(machine), (long long)(4 * target->registersPerCore));
}

static MlirWalkResult findProduct(MlirOperation op, void *found) {
  *(bool *)found |= tileIsProduct(op);
  return *(bool *)found ? MlirWalkResultInterrupt : MlirWalkResultAdvance;
}

// Registers by which a thread would have too many; not above 0: they suffice.
static int64_t excessRegisters(MlirOperation kernel, const TileSearchTarget *target, int64_t warps,
                               const TileRegisterCount *count) {
  bool multiplies = false;
  mlirOperationWalk(kernel, findProduct, &multiplies, MlirWalkPreOrder);
  int64_t alive = tileBlockRegisters(count, mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)));
  int64_t needed = tileThreadRegisters(target, multiplies, (double)alive, (double)tileCopiedRegisters(count, kernel));
  needed -= tileRegisterLimit(target, multiplies, warps);
  return needed;
}

static bool isTooFew(MlirOperation kernel, const TileSearchTarget *target, int64_t warps) {
  int64_t threads = warps * target->lanes;
  return excessRegisters(kernel, target, warps,
                         &(TileRegisterCount){.registersOf = fewestRegisters, .data = &threads, .willStage = true}) > 0;
}

// `base`: a graph that readMachine left.
static bool decide(const Graph *base, int64_t warps, Graph *graph) {
  *graph = *base;
  graph->warps = (uint32_t)warps;
  if (!layoutGraphBuild(graph) || !layoutPropose(graph))
    return false;
  layoutChoose(graph);
  return true;
}

enum { Fewest = 4, Most = 16 };

// Layouts on the fewest warps, from four on, whose registers suffice; where none do, on those that lack fewest.
static bool decideWarps(const Graph *base, const TileSearchTarget *target, Graph *graph) {
  const TileRegisterCount count = {.registersOf = chosenRegisters, .data = graph, .willStage = true};
  int64_t warps = Fewest, most = Most, best = 0, least = INT64_MAX;
  while (most > Fewest && most * target->lanes > target->threadsPerBlock)
    most /= 2;
  while (warps < most && isTooFew(base->kernel, target, warps))
    warps *= 2;
  for (; warps <= most && least > 0; warps *= 2) {
    layoutGraphDestroy(graph);
    if (!decide(base, warps, graph))
      return false;
    int64_t excess = excessRegisters(base->kernel, target, warps, &count);
    if (excess >= least)
      continue;
    least = excess;
    best = warps;
  }
  if (graph->warps == best)
    return true;
  layoutGraphDestroy(graph);
  return decide(base, best, graph);
}

static bool assign(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine, MlirAttribute attribute,
                   const Tiled *tiled) {
  Graph base, graph = {.kernel = kernel};
  TileSearchTarget target;
  LayoutCounts counts = {.conversions = 0};
  int64_t warps = warpsOf(kernel, pass, tiled);
  if (!mlirOperationIsNull(tiled->apart))
    return tileErrorWithNote(tiled->apart, mlirOperationGetLocation(tiled->first), "the first tile is made here",
                             "makes a tile on %lld warps, but the kernel's first tile is on %lld; layouts are for "
                             "tiles of one partition",
                             (long long)tileWarpsOf(tiled->apart), (long long)tileWarpsOf(tiled->first));
  if (warps && (!tessera_is_power_of_two(warps) || warps > 64))
    return tileError(kernel, "is to run on %lld warps, expected a power of two up to 64", (long long)warps);
  if (!inlineCalls(kernel) || !readMachine(&base, kernel, machine, &target) ||
      !expectTilesThatFit(kernel, machine, &target))
    return false;
  makeProductsDense(kernel, machine, (uint32_t)(warps ? warps : Fewest));
  TileOps scaled = tileCollectOps(kernel, tileMmaScaledOpIsA);
  if (scaled.count)
    layoutPrepareScaledProducts(&scaled, machine, (uint32_t)(warps ? warps : Fewest));
  tileOpsFree(&scaled);
  mlirExtPassAddStatistic(pass, Padded, padProducts(kernel, machine, (uint32_t)(warps ? warps : Fewest)));
  bool ok = warps ? decide(&base, warps, &graph) : decideWarps(&base, &target, &graph);
  if (ok) {
    layoutApply(&graph, &counts);
    label(kernel, &graph, attribute, tiled);
    report(kernel, pass, &counts);
  }
  layoutGraphDestroy(&graph);
  return ok;
}

//===--- the pass ---------------------------------------------------------------------===//

//===--- small loads in loops -------------------------------------------------------------===//

enum { FewRegisters = 4 };

// A tile of few elements that a loop loads only to pass them between threads: each thread loads what it takes. The
// threads would wait for each other in every round, and no load could run ahead.
static bool loadsForOthers(MlirOperation convert) {
  MlirOperation load = tileDefiningOp(tileConvertLayoutOpGetInput(convert));
  if (mlirOperationIsNull(load) || !tileLoadOpIsA(load) || !tileHasOneUse(tileOnlyResult(load)) ||
      !tileTypeIsAView(tileLoadOpGetSourceType(load)) || !scfForOpIsA(mlirOperationGetParentOperation(load)) ||
      !mlirBlockEqual(mlirOperationGetBlock(load), mlirOperationGetBlock(convert)))
    return false;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(tileConvertLayoutOpGetResultType(convert)));
  return tileLayoutDimSize(&layout, TileLayoutReg) <= FewRegisters;
}

static void loadWhereTaken(MlirOperation kernel) {
  TileOps converts = tileCollectOps(kernel, tileConvertLayoutOpIsA);
  for (intptr_t i = 0; i < converts.count; ++i) {
    MlirOperation convert = converts.items[i];
    if (!loadsForOthers(convert))
      continue;
    MlirValue loaded = tileConvertLayoutOpGetInput(convert);
    mlirValueSetType(loaded, tileConvertLayoutOpGetResultType(convert));
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(convert), loaded);
    mlirOperationDestroy(convert);
  }
  tileOpsFree(&converts);
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  Tiled tiled = tiledOf(kernel);
  if (!needsLayouts(&tiled))
    return true;
  MlirAttribute attribute;
  TileMachine *machine = tileNamedMachineOf(kernel, pass, &attribute);
  if (!machine)
    return false;
  bool ok = assign(kernel, pass, machine, attribute, &tiled);
  tileMachineDestroy(machine);
  if (ok)
    loadWhereTaken(kernel);
  return ok;
}

const MlirExtPassDefinition tileAssignLayoutsPass = {
    .argument = "tile-assign-layouts",
    .summary = "Give every tile a layout and every product an instruction, with the cheapest conversions",
    .anchor = tileKernelOpName,
    .options =
        (const MlirExtPassOption[]){
            TILE_CHIP_OPTION,
            {"warps", "warps of a block; 0: the kernel's, its schedule's, or by its registers", MlirExtOption_Integer,
             "0"},
            {"report", "say in a remark what conversions were needed", MlirExtOption_Bool, "false"},
            {NULL}},
    .statistics = statistics,
    .registerDialects = tileRegisterDialect,
    .run = run,
};
