// Buffers, copies, tokens and the order of accesses of a scheduled kernel. What works by itself beyond cp.async stands
// in boxes.c, mma_async.c and partitions.c.
#include "lib/conversion/tile_to_gpu/accesses.h"
#include "lib/conversion/tile_to_gpu/asynchronous.h"

#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- buffers ------------------------------------------------------------------------------===//

static bool lowerAlloc(Gpu *g, MlirOperation op) {
  MlirType type = tileAllocOpGetResultType(op);
  if (tileTypeIsABarrier(type))
    return gpuMakeBarrier(g, op);
  if (mlirTypeIsAMemRef(type))
    return gpuAllocMemref(g, op);
  if (gpuIsTensorBuffer(type))
    return gpuAllocTensor(g, op);
  Record *record = gpuRecordNew(g, tileAllocOpGetResult(op), Record_Buffer);
  Buffer *buffer = record->buffer = gpuAllocate(g, sizeof *buffer);
  int64_t stages = tileBufferTypeGetStages(type);
  buffer->type = stages ? tileBufferTypeGetSlot(type) : type;
  buffer->layout = tileLayoutAttrGetLayout(tileBufferTypeGetLayout(type));
  buffer->stages = stages ? stages : 1;
  buffer->stageBytes = tileBufferBytes(type) / buffer->stages;
  int64_t offset = 0;
  if (!gpuPlaceAlloc(g, op, tileBufferBytes(type), &offset, &buffer->base))
    return false;
  buffer->align = offset ? tessera_min(offset & -offset, SharedAlign) : SharedAlign;
  return true;
}

// Use k is stage k mod stages; uses below 0 do not exist.
static bool lowerSlot(Gpu *g, MlirOperation op) {
  const Buffer *ring = gpuBufferOf(g, op, tileSlotOpGetBuffer(op));
  if (!ring)
    return false;
  Record *record = gpuRecordNew(g, tileSlotOpGetResult(op), Record_Buffer);
  record->buffer = gpuAllocate(g, sizeof *record->buffer);
  *record->buffer = *ring;
  record->buffer->stages = 1;
  MlirValue stage = gpuStageOf(g, gpuScalar(g, tileSlotOpGetUse(op)), ring->stages);
  record->buffer->stage = stage;
  if (gpuIsTensorBuffer(ring->type))
    return true;
  MlirValue offset = gpuMul(g, stage, gpuI32(g, ring->stageBytes));
  record->buffer->base = gpuAddress(g, ring->base, offset);
  record->buffer->ring = ring->base;
  return true;
}

//===--- copies ---------------------------------------------------------------------------------===//

typedef struct Copy {
  const Buffer *buffer; // null: a part of one
  Window window;        // of the view
  TileLayout layout;
} Copy;

// Which thread moves which elements: as the op says, or the buffer's offsets dealt out.
static bool readThreads(Gpu *g, MlirOperation op, int64_t vector, TileLayout *layout) {
  MlirAttribute threads = tileOpAttribute(op, "threads");
  if (mlirAttributeIsNull(threads))
    return tileDealOutCopy(op, vector, (uint32_t)g->width, (uint32_t)g->warps, layout) ||
           gpuRefuse(op, "a buffer whose layout cannot be dealt out to threads");
  *layout = tileLayoutAttrGetLayout(threads);
  return (layout->bits[TileLayoutLane] == g->laneBits && layout->bits[TileLayoutWarp] == g->warpBits) ||
         tileError(op, "has `threads` of %lld lanes and %lld warps; expected %lld lanes and %lld warps",
                   (long long)tileLayoutDimSize(layout, TileLayoutLane),
                   (long long)tileLayoutDimSize(layout, TileLayoutWarp), (long long)g->width, (long long)g->warps);
}

static bool readCopy(Gpu *g, MlirOperation op, Copy *copy) {
  MlirValue ends[] = {tileOpOperand(op, "source"), tileOpOperand(op, "destination")};
  bool toBuffer = tileTypeIsAView(mlirValueGetType(ends[0]));
  int64_t piece = tilePieceOfCopy(op);
  *copy = (Copy){.buffer = gpuRecord(g, ends[toBuffer])->buffer, .window = gpuWindow(g, ends[!toBuffer], op)};
  if (copy->window.vector > piece)
    return gpuMissesVector(op, copy->window.vector, piece);
  return readThreads(g, op, copy->window.vector, &copy->layout);
}

// By way of registers.
static bool copyNow(Gpu *g, MlirOperation op, const Copy *copy) {
  MlirValue *registers = gpuAllocate(g, tileLayoutDimSize(&copy->layout, TileLayoutReg) * sizeof *registers);
  return gpuLoadTile(g, op, tileOpOperand(op, "source"), &copy->layout, registers) &&
         gpuStoreTile(g, op, tileOpOperand(op, "destination"), &copy->layout, registers);
}

static bool lowerCopy(Gpu *g, MlirOperation op) {
  Copy copy;
  return readCopy(g, op, &copy) && copyNow(g, op, &copy);
}

// The first registers of each thread are a piece: neighbours in the buffer.
static bool hasPieces(const Copy *copy) {
  for (uint32_t bit = 0; 1ll << bit < copy->window.vector; ++bit)
    if (bit >= copy->layout.bits[TileLayoutReg] ||
        memcmp(&copy->layout.steps[bit], &copy->buffer->layout.steps[bit], sizeof *copy->layout.steps) != 0)
      return false;
  return true;
}

static bool expectPieces(Gpu *g, MlirOperation op, const Copy *copy) {
  int64_t bytes = tileStoredBytes(copy->window.element) * copy->window.vector;
  if (!g->vocabulary->copyAsync || !tileCopiesAsynchronously(g->machine, op, copy->window.vector))
    return tileError(
        op,
        "copies %lld bytes at once by engine \"cp.async\", which on %s copies whole buffers from views that "
        "pad with zero, in pieces of %s bytes",
        (long long)bytes, tileMachineGetName(g->machine), tileMachineGetText(g->machine, "engine.cp.async.sizes"));
  return hasPieces(copy) || tileError(op, "has `threads` whose first registers are not %lld neighbours in the buffer",
                                      (long long)copy->window.vector);
}

static bool copyPieces(Gpu *g, MlirOperation op, const Copy *copy) {
  TileLayout offsets;
  int64_t vector = copy->window.vector, bytes = tileStoredBytes(copy->window.element) * vector;
  if (!expectPieces(g, op, copy) || !gpuOffsets(op, &copy->layout, &copy->buffer->layout, copy->buffer->type, &offsets))
    return false;
  const Map *places = gpuMap(g, &offsets, 1), *map = gpuMap(g, &copy->layout, copy->window.rank);
  intptr_t count = (intptr_t)tileLayoutDimSize(&copy->layout, TileLayoutReg);
  WindowWalk walk = {.constant = 0};
  GpuIf owner = gpuIf(g, gpuIsOwner(g, &copy->layout), 0, NULL);
  for (intptr_t reg = 0; reg < count; reg += vector)
    g->vocabulary->copyAsync(&g->builder, gpuBufferAddress(g, copy->buffer, places, reg),
                             gpuWindowAddress(g, &copy->window, map, reg, &walk), bytes,
                             gpuWindowMask(g, &copy->window, map, reg));
  gpuEndIf(g, &owner, 0, NULL, NULL);
  return true;
}

static void endGroup(Gpu *g, MlirOperation op) {
  if (tileEndsCopyGroup(op) && g->vocabulary->commitCopies)
    g->vocabulary->commitCopies(&g->builder);
}

static bool lowerCopyAsync(Gpu *g, MlirOperation op) {
  MlirAttribute named = tileCopyAsyncOpGetEngine(op);
  MlirStringRef engine = mlirAttributeIsNull(named) ? tileString("") : mlirStringAttrGetValue(named);
  if (tileIsCopyOfBoxes(op))
    return gpuCopyBoxes(g, op);
  if (engine.length && !tileStringEquals(engine, "cp.async"))
    return tileError(op, "not converted to a GPU yet: engine \"%.*s\"", (int)engine.length, engine.data);
  if (!mlirOperationGetNumResults(op))
    return gpuRefuse(op, "a copy of cp.async that signals a barrier");
  Copy copy;
  if (!readCopy(g, op, &copy) || !(engine.length ? copyPieces(g, op, &copy) : copyNow(g, op, &copy)))
    return false;
  gpuRecordNew(g, tileCopyAsyncOpGetToken(op), Record_Token);
  endGroup(g, op);
  return true;
}

static bool lowerJoin(Gpu *g, MlirOperation op) {
  gpuRecordNew(g, tileJoinOpGetToken(op), Record_Token);
  endGroup(g, op);
  return true;
}

// Tokens of engines have ages of their own: one wait is for tokens of one engine.
static bool lowerWait(Gpu *g, MlirOperation op) {
  int64_t pending = 0, boxes = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirOperation copy = tileDefiningOp(mlirOperationGetOperand(op, i));
    boxes += tileIsCopyOfBoxes(copy);
  }
  if (boxes == mlirOperationGetNumOperands(op))
    return gpuWaitBoxes(g, op);
  if (boxes)
    return gpuRefuse(op, "a wait for copies of different engines");
  tileIntegerOf(op, "pending", &pending);
  if (g->vocabulary->waitCopies)
    g->vocabulary->waitCopies(&g->builder, pending);
  return true;
}

//===--- order ------------------------------------------------------------------------------------===//

static bool lowerSync(Gpu *g, MlirOperation op) {
  const GpuEngines *engines = tileHas(op, "scope") ? gpuEngines(g, op) : NULL;
  if (tileHas(op, "scope") && !engines)
    return false;
  if (engines)
    engines->clusterBarrier(&g->builder);
  else
    gpuBarrier(g);
  if (g->tensor.columns)
    gpuFindTensor(g);
  return true;
}

static bool lowerFence(Gpu *g, MlirOperation op) {
  MlirStringRef kind = tileKeywordOf(op, "kind");
  if (tileStringEquals(kind, "async")) {
    if (g->vocabulary->engines && tileMachineListHas(g->machine, "engines", "tma"))
      g->vocabulary->engines->fenceEngines(&g->builder);
    return true;
  }
  LlvmAtomicOrdering ordering = tileStringEquals(kind, "acquire")   ? LlvmAtomicOrdering_Acquire
                                : tileStringEquals(kind, "release") ? LlvmAtomicOrdering_Release
                                                                    : LlvmAtomicOrdering_AcqRel;
  const char *scope = g->vocabulary->scope(tileKeywordOf(op, "scope"));
  MlirOperation fence = llvmFenceOpBuild(&g->builder, ordering);
  if (*scope)
    llvmFenceOpSetSyncscope(fence, mlirStringAttrGet(g->context, tileString(scope)));
  return true;
}

const GpuRow gpuScheduledRows[] = {
    {TileOp_Alloc, lowerAlloc},         {TileOp_Slot, lowerSlot},   {TileOp_Copy, lowerCopy},
    {TileOp_CopyAsync, lowerCopyAsync}, {TileOp_Join, lowerJoin},   {TileOp_Wait, lowerWait},
    {TileOp_Sync, lowerSync},           {TileOp_Fence, lowerFence}, {.lower = NULL},
};
