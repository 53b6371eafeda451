// tile-choose-accesses{chip=NAME}: how each access of a kernel moves its elements on a GPU.
// Expects: scheduled kernels whose buffers are placed. Leaves: on each tile.load and tile.store `vector`, the elements
// of
//   one instruction; on fragments `matrices` where the machine moves 8x8 matrices, and on loads `late` where the
//   product that takes the fragment can read it step by step; on copies `vector`, `threads` (which thread moves what),
//   and engine "cp.async" where the machine's engine takes the copy. An access that says how it moves its elements
//   stays.
// Why: widths, instructions and engines can then be read, edited and given back. The conversions choose none of them:
//   what an access leaves unsaid it does one element at a time, at once.
// Source: none. Cost: linear in the ops; a tile's registers are walked once.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/accesses.h"
#include "lib/analysis/machine_of_op.h"
#include "lib/analysis/scratch.h"
#include "lib/ir/pass.h"
#include "lib/support/integer.h"
#include "lib/transforms/pipeline/pipeline.h"
#include "mlir-c/BuiltinAttributes.h"

enum { Statistic_Vectors, Statistic_Matrices, Statistic_Late, Statistic_Copies, WideBytes = 8 };

static const char *const statistics[] = {
    "vectors: loads and stores of several elements at once",
    "matrices: loads and stores of fragments by matrices",
    "late: fragments that are read step by step",
    "copies: copies by an engine",
    NULL,
};

typedef struct Choice {
  MlirExtPass pass;
  const TileMachine *machine;
  uint32_t lanes;
} Choice;

//===--- questions ------------------------------------------------------------------------------------===//

// A tile whose elements are dealt out to threads already.
static bool hasLayout(MlirType type) { return tileTypeIsATile(type) && !mlirAttributeIsNull(tileTypeGetLayout(type)); }

static bool isDecided(MlirOperation op) {
  return tileHas(op, "vector") || tileHas(op, "matrices") || (tileLoadOpIsA(op) && tileLoadOpHasLate(op)) ||
         tileHas(op, "threads");
}

// Elements of one instruction between the registers of a tile and a view or a buffer.
static int64_t widest(MlirOperation op, MlirValue memory, MlirType tile) {
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(tile));
  MlirType type = mlirValueGetType(memory);
  MlirOperation slice = tileDefiningOp(tileCapturedValue(memory));
  if (tileTypeIsAView(type) || tileSliceOpIsA(slice)) {
    TileRuns runs = tileRunsInMemory(op, memory);
    return tileWidestRun(&runs, type, &layout, NULL);
  }
  TileLayout offsets = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  const TileAccessLimits limits = {.elementBytes = (uint32_t)tileStoredBytes(tileTypeGetElement(type)),
                                   .vectorBytes = TileWidestAccess};
  int64_t sizes[TILE_LAYOUT_MAX_AXES];
  uint32_t rank = tileBufferExtents(type, &offsets, sizes);
  TileAccess access;
  return tileAccessPlan(&layout, &offsets, sizes, rank, &limits, &access, NULL) ? 1ll << access.vectorBits : 1;
}

//===--- the ops --------------------------------------------------------------------------------------===//

static void setInteger(MlirOperation op, void (*set)(MlirOperation, MlirAttribute), int64_t value) {
  set(op, mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(op), 64), value));
}

static void count(const Choice *choice, intptr_t statistic, bool isCounted) {
  if (isCounted)
    mlirExtPassAddStatistic(choice->pass, statistic, 1);
}

// Plain accesses of 8 bytes do as well as matrices.
static bool chooseMatrices(const Choice *choice, MlirOperation op, MlirValue memory, MlirType tile, uint32_t third,
                           int64_t vector) {
  MlirType buffer = mlirValueGetType(memory);
  if (!tileTypeIsABuffer(buffer) || tileSliceOpIsA(tileDefiningOp(tileCapturedValue(memory))) ||
      vector * tileStoredBytes(tileTypeGetElement(buffer)) >= WideBytes)
    return false;
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(tile));
  TileLayout offsets = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(buffer));
  TileMatrixPlan plan;
  if (!tilePlanMatrices(choice->machine, op, buffer, &offsets, &layout, third, &plan))
    return false;
  setInteger(op, tileLoadOpIsA(op) ? tileLoadOpSetMatrices : tileStoreOpSetMatrices, third);
  return true;
}

static void chooseLoad(const Choice *choice, MlirOperation load) {
  if (!hasLayout(tileLoadOpGetResultType(load)))
    return;
  int64_t vector = widest(load, tileLoadOpGetSource(load), tileLoadOpGetResultType(load));
  bool isLate = tileTypeIsABuffer(tileLoadOpGetSourceType(load)) && tileMayLoadLate(load);
  bool byMatrices = chooseMatrices(choice, load, tileLoadOpGetSource(load), tileLoadOpGetResultType(load),
                                   tileThirdBitOf(choice->machine, load), vector);
  if (!byMatrices)
    setInteger(load, tileLoadOpSetVector, vector);
  if (isLate)
    tileLoadOpSetLate(load, mlirUnitAttrGet(mlirOperationGetContext(load)));
  count(choice, Statistic_Matrices, byMatrices);
  count(choice, Statistic_Vectors, !byMatrices && vector > 1);
  count(choice, Statistic_Late, isLate);
}

static void chooseStore(const Choice *choice, MlirOperation store) {
  if (!hasLayout(tileStoreOpGetValueType(store)) || !mlirAttributeIsNull(tileStoreOpGetCombine(store)))
    return;
  int64_t vector = widest(store, tileStoreOpGetDestination(store), tileStoreOpGetValueType(store));
  const uint32_t inOrder = 2; // the third bit as the layout has it
  bool byMatrices =
      chooseMatrices(choice, store, tileStoreOpGetDestination(store), tileStoreOpGetValueType(store), inOrder, vector);
  if (!byMatrices)
    setInteger(store, tileStoreOpSetVector, vector);
  count(choice, Statistic_Matrices, byMatrices);
  count(choice, Statistic_Vectors, !byMatrices && vector > 1);
}

// The threads, and the elements that each moves at once. Null where the threads cannot divide the buffer: the
// conversion reports that.
static MlirAttribute threadsOf(const Choice *choice, MlirOperation copy, int64_t vector) {
  TileLayout layout;
  uint32_t warps = (uint32_t)tessera_max(tileWarpsOf(copy), 1);
  return tileDealOutCopy(copy, vector, choice->lanes, warps, &layout)
             ? tileLayoutAttrGet(mlirOperationGetContext(copy), &layout)
             : (MlirAttribute){NULL};
}

static void chooseCopy(const Choice *choice, MlirOperation copy) {
  int64_t vector = tilePieceOfCopy(copy);
  setInteger(copy, tileCopyOpSetVector, vector);
  tileCopyOpSetThreads(copy, threadsOf(choice, copy, vector));
}

static void chooseCopyAsync(const Choice *choice, MlirOperation copy) {
  if (!mlirAttributeIsNull(tileCopyAsyncOpGetEngine(copy)) || !mlirOperationGetNumResults(copy))
    return;
  int64_t vector = tilePieceOfCopy(copy);
  bool byEngine = tileMachineListHas(choice->machine, "engines", "cp.async") &&
                  tileCopiesAsynchronously(choice->machine, copy, vector);
  setInteger(copy, tileCopyAsyncOpSetVector, vector);
  tileCopyAsyncOpSetThreads(copy, threadsOf(choice, copy, vector));
  if (byEngine)
    tileCopyAsyncOpSetEngine(copy, mlirStringAttrGet(mlirOperationGetContext(copy), tileString("cp.async")));
  count(choice, Statistic_Copies, byEngine);
}

static MlirWalkResult visit(MlirOperation op, void *choice) {
  static const struct {
    int kind;
    void (*choose)(const Choice *choice, MlirOperation op);
  } rows[] = {{TileOp_Load, chooseLoad},
              {TileOp_Store, chooseStore},
              {TileOp_Copy, chooseCopy},
              {TileOp_CopyAsync, chooseCopyAsync}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (tileOpKind(op) == rows[i].kind && !isDecided(op))
      rows[i].choose(choice, op);
  return MlirWalkResultAdvance;
}

//===--- the pass -------------------------------------------------------------------------------------===//

static bool choose(MlirOperation kernel, MlirExtPass pass, const TileMachine *machine) {
  int64_t width = 0;
  if (!tileMachineGetInteger(machine, "warp.width", &width))
    return tileError(kernel, "machine %s has no warp.width; threads access memory on GPUs only",
                     tileMachineGetName(machine));
  Choice choice = {pass, machine, (uint32_t)width};
  mlirOperationWalk(kernel, visit, &choice, MlirWalkPreOrder);
  return true;
}

static bool run(MlirOperation kernel, MlirExtPass pass) {
  if (mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel))))
    return true;
  TileMachine *machine = tileNamedMachineOf(kernel, pass, NULL);
  bool ok = machine && choose(kernel, pass, machine);
  tileMachineDestroy(machine);
  return ok;
}

const MlirExtPassDefinition tileChooseAccessesPass = {
    .argument = "tile-choose-accesses",
    .summary = "Write how each access moves its elements: vectors, matrices, engines, and which threads copy",
    .anchor = tileKernelOpName,
    .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},
    .statistics = statistics,
    .run = run,
};
