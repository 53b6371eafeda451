// Order between the threads of a program: memory order is program order within an instance (docs/numerics.md §6), but
// another thread may read what this one wrote. Where that can happen through one memory, a barrier stands between.
// Parameters may share memory unless one is marked llvm.noalias; memory at an address may be any.
#include "lib/conversion/tile_to_gpu/engine.h"

#include "dialects/tile/questions.h"

MlirValue gpuRootOf(MlirValue memory) {
  static const char *const through[] = {"tile.view", "tile.assume", "memref.cast", "memref.subview"};
  MlirOperation op = tileDefiningOp(memory);
  if (!op.ptr)
    return memory;
  for (size_t i = 0; i < sizeof through / sizeof *through; ++i)
    if (tileOpIs(op, through[i]))
      return gpuRootOf(mlirOperationGetOperand(op, 0));
  return (MlirValue){NULL};
}

static bool meets(const Roots *roots, MlirValue root) {
  for (intptr_t i = 0; i < roots->count; ++i)
    if (!root.ptr || !roots->items[i].ptr || tileParametersMayOverlap(root, roots->items[i]))
      return true;
  return false;
}

static void add(Roots *roots, MlirValue root) {
  for (intptr_t i = 0; i < roots->count; ++i)
    if (roots->items[i].ptr == root.ptr)
      return;
  if (roots->count == MaxRoots)
    roots->items[0] = (MlirValue){NULL};
  else
    roots->items[roots->count++] = root;
}

void gpuReadsGlobal(Gpu *g, MlirValue root) {
  if (meets(&g->hazards.written, root))
    gpuBarrier(g);
  add(&g->hazards.read, root);
}

void gpuWritesGlobal(Gpu *g, MlirValue root) {
  if (meets(&g->hazards.read, root) || meets(&g->hazards.written, root))
    gpuBarrier(g);
  add(&g->hazards.written, root);
}

static void passBarrier(Gpu *g, const Buffer *buffer) {
  gpuBarrier(g);
  gpuTouchBuffer(g, buffer->number);
}

void gpuReadsBuffer(Gpu *g, const Buffer *buffer) {
  gpuTouchBuffer(g, buffer->number);
  if (!buffer->isLocal)
    return;
  if (g->hazards.localWritten)
    passBarrier(g, buffer);
  g->hazards.localRead = true;
}

void gpuWritesBuffer(Gpu *g, const Buffer *buffer) {
  gpuTouchBuffer(g, buffer->number);
  if (!buffer->isLocal)
    return;
  if (g->hazards.localWritten || g->hazards.localRead)
    passBarrier(g, buffer);
  g->hazards.localWritten = true;
}

Hazards gpuJoinHazards(const Hazards *a, const Hazards *b) {
  Hazards both = *a;
  gpuJoinTouched(&both, b);
  both.localRead |= b->localRead;
  both.localWritten |= b->localWritten;
  for (intptr_t i = 0; i < b->read.count; ++i)
    add(&both.read, b->read.items[i]);
  for (intptr_t i = 0; i < b->written.count; ++i)
    add(&both.written, b->written.items[i]);
  return both;
}

//===--- loops ----------------------------------------------------------------------===//

static bool isMemory(MlirType type) { return mlirTypeIsAMemRef(type) || tileTypeIsAView(type); }

// Roots of the memories that an op names: where it reads only, its operands are read.
static MlirWalkResult expect(MlirOperation op, void *data) {
  static const char *const reads[] = {"tile.load", "memref.load", "tile.gather", "tile.atomic_load"};
  static const char *const writes[] = {"tile.store",      "memref.store",      "tile.scatter",    "tile.copy",
                                       "tile.atomic_rmw", "tile.atomic_store", "tile.atomic_cas", "tile.copy_async"};
  Hazards *hazards = data;
  bool isRead = false, isWrite = false;
  for (size_t i = 0; i < sizeof reads / sizeof *reads; ++i)
    isRead |= tileOpIs(op, reads[i]);
  for (size_t i = 0; i < sizeof writes / sizeof *writes; ++i)
    isWrite |= tileOpIs(op, writes[i]);
  bool isCopyIn = (tileOpIs(op, "tile.copy") || tileOpIs(op, "tile.copy_async")) && isMemory(tileOperandType(op, 0));
  for (intptr_t i = 0; (isRead || isWrite) && i < mlirOperationGetNumOperands(op); ++i)
    if (isMemory(tileOperandType(op, i)))
      add(isWrite && !isCopyIn ? &hazards->written : &hazards->read, gpuRootOf(mlirOperationGetOperand(op, i)));
  if (tileOpIs(op, "tile.call"))
    add(&hazards->written, (MlirValue){NULL});
  return MlirWalkResultAdvance;
}

void gpuExpectHazards(Gpu *g, MlirOperation loop) {
  g->hazards.localRead = g->hazards.localWritten = true;
  gpuTouchLoop(g, loop);
  mlirOperationWalk(loop, expect, &g->hazards, MlirWalkPreOrder);
}
