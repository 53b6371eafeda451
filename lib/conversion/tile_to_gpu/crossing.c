// Exchanges across the steps of an axis: shuffles between lanes, shared memory between warps. See crossing.h.
#include "lib/conversion/tile_to_gpu/crossing.h"

//===--- crossing ---------------------------------------------------------------------------------===//

MlirValue gpuIsFar(Gpu *g, const TileLayoutStep *step) {
  uint32_t bit = step->dim == TileLayoutLane ? step->bit : step->bit + g->laneBits;
  return gpuCompare(g, ArithCmpI_Ne, gpuAnd(g, g->thread, 1ll << bit), gpuI32(g, 0));
}

// Each thread leaves its values in its own row of the scratch and reads the other's.
static void acrossWarps(Gpu *g, const TileLayoutStep *step, intptr_t count, const MlirValue *values,
                        const MlirType *elements, MlirValue *others) {
  int64_t bytes = 0, offset = 0;
  for (intptr_t i = 0; i < count; ++i)
    bytes += tileStoredBytes(elements[i]) * g->threads;
  MlirValue scratch = gpuScratch(g, bytes);
  MlirValue other = gpuXor(g, g->thread, gpuI32(g, g->width << step->bit));
  for (intptr_t i = 0; i < count; ++i) {
    int64_t size = tileStoredBytes(elements[i]);
    MlirValue at = gpuAdd(g, gpuMul(g, g->thread, gpuI32(g, size)), gpuI32(g, offset));
    gpuStoreElements(g, elements[i], 1, &values[i], gpuAddress(g, scratch, at), size);
    offset += size * g->threads;
  }
  gpuBarrier(g);
  offset = 0;
  for (intptr_t i = 0; i < count; ++i) {
    int64_t size = tileStoredBytes(elements[i]);
    MlirValue at = gpuAdd(g, gpuMul(g, other, gpuI32(g, size)), gpuI32(g, offset));
    gpuLoadElements(g, elements[i], 1, gpuAddress(g, scratch, at), size, &others[i]);
    offset += size * g->threads;
  }
}

void gpuAcross(Gpu *g, const TileLayoutStep *step, intptr_t count, const MlirValue *values, const MlirType *elements,
               MlirValue *others) {
  if (step->dim == TileLayoutWarp) {
    acrossWarps(g, step, count, values, elements, others);
    return;
  }
  for (intptr_t i = 0; i < count; ++i)
    others[i] = gpuShuffleXor(g, values[i], 1ll << step->bit);
}
