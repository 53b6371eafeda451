// Tiles between registers and memory, for the ops that move them.
#pragma once

#include "lib/conversion/tile_to_gpu/cells.h"
#include "lib/layout/access.h"

void gpuLoadWindow(Gpu *g, const Window *window, const TileLayout *layout, MlirValue *registers);
// By one of the threads that hold an element.
void gpuStoreWindow(Gpu *g, const Window *window, const TileLayout *layout, const MlirValue *registers);
// Calls `visit` for each element that exists, in one of the threads that hold it.
typedef void (*GpuVisitElement)(Gpu *g, const GpuCell *cell, MlirValue value, const void *data);
void gpuVisitWindow(Gpu *g, const Window *window, const TileLayout *layout, const MlirValue *registers,
                    GpuVisitElement visit, const void *data);
// By ldmatrix; matrices.c. The register that an instruction fills with this slot of the word of a matrix.
uint32_t gpuMatrixRegister(const TileMatrixPlan *plan, uint32_t instruction, uint32_t matrix, uint32_t slot);
void gpuStoreMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *plan, const MlirValue *registers);
void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *plan, uint32_t instruction,
                     MlirValue *registers);
MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis); // in the view's elements
// Narrow elements in words; packed.c.
bool gpuPackView(Gpu *g, MlirOperation op, View *view);
GpuCell gpuPackedCell(Gpu *g, const View *view, const MlirValue *positions);
GpuCell gpuWindowCell(Gpu *g, const Window *window, const Map *map, intptr_t reg);
bool gpuLoadBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers);
// A load from a buffer that is planned; its registers are read as they are asked for.
typedef struct BufferLoad BufferLoad;
void gpuLoadRegister(Gpu *g, BufferLoad *load, intptr_t reg);
void gpuLoadAll(Gpu *g, BufferLoad *load);
bool gpuStoreBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                    const MlirValue *registers);
bool gpuMissesVector(MlirOperation op, int64_t vector, int64_t proved); // reports it
bool gpuStoreCombining(Gpu *g, MlirOperation op, const Window *window, const TileLayout *layout,
                       const MlirValue *registers); // atomics.c

// One element combined with memory as the op's `combine` says, in any order; atomics.c.
bool gpuCombineInMemory(Gpu *g, MlirOperation op, const GpuCell *cell, MlirValue value);
