// What the files share that convert what works by itself beside the threads: barriers in memory, copies of boxes,
// products of warpgroups, and partitions of warps.
#pragma once

#include "lib/conversion/tile_to_gpu/engine.h"

enum { BarrierBytes = 8 };

// Each partition has `share` of the arrivals that complete a round, which its warps divide.
typedef struct BarrierRing {
  MlirValue base; // llvm.ptr<3>
  int64_t stages, share;
  bool isReached; // arrivals of other blocks' threads order memory
} BarrierRing;

// A hidden parameter: the map of a tensor in boxes.
typedef struct TensorMap {
  struct TensorMap *next;
  MlirAttribute what; // array<i64: parameter of the kernel, element, swizzle, fill, box, the fastest axis first>
  MlirValue argument;
} TensorMap;

// The machine's engines; null after a diagnostic that it has none.
const GpuEngines *gpuEngines(Gpu *g, MlirOperation op);

//===--- partitions.c: barriers -------------------------------------------------------===//
bool gpuMakeBarrier(Gpu *g, MlirOperation alloc);
// Which stage of a ring its use is, i32.
MlirValue gpuStageOf(Gpu *g, MlirValue use, int64_t stages);
MlirValue gpuBarrierOf(Gpu *g, MlirValue barrier, MlirValue use); // its address

// Inside of what one thread runs: the machine arrives at the barrier once the thread's products are done. Null: none.
bool gpuTellProducts(Gpu *g, MlirOperation op, MlirValue barrier, MlirValue use);

//===--- tensor_memory.c --------------------------------------------------------===//
static inline bool gpuIsTensorBuffer(MlirType type) {
  return tileTypeIsABuffer(type) && tileStringEquals(tileBufferTypeGetLevel(type), "tmem");
}
bool gpuExpectTensors(Gpu *g, MlirOperation op); // that the machine has tensor memory
bool gpuAllocTensor(Gpu *g, MlirOperation alloc);
void gpuFindTensor(Gpu *g);     // behind a tile.sync, where the kernel has allocated some
void gpuGiveBackTensor(Gpu *g); // at the end of a kernel that has allocated some
bool gpuLoadTensor(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers);
bool gpuStoreTensor(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                    const MlirValue *registers);
// Both factors of a product, and their descriptors from a row (of the right one: a column) and a step of k on.
typedef struct GpuTensorFactors {
  int64_t depth;
  MlirValue (*descriptor)(Gpu *g, const struct GpuTensorFactors *factors, int side, int64_t row, int64_t k);
  const void *context;
  const Buffer *left; // the left factor, where it lies in tensor memory; null: in shared memory
} GpuTensorFactors;
// tile.mma_async on tensor memory: `product` has atom, name, elements and orders.
bool gpuMultiplyInTensor(Gpu *g, MlirOperation op, GpuAsyncProduct *product, const GpuTensorFactors *factors);

//===--- boxes.c ----------------------------------------------------------------===//
bool gpuCopyBoxes(Gpu *g, MlirOperation op); // tile.copy_async engine "tma"
bool gpuWaitBoxes(Gpu *g, MlirOperation op); // tile.wait for such copies
void gpuFinishTensorMaps(Gpu *g);            // as parameters of the function
