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
// By ldmatrix, where the layouts are such; matrices.c. `exchanged` (2: none): the bit of registers that bit 2 is
// exchanged with before instructions take them in a row.
typedef struct Matrices {
  TileMatrixAccess plan;
  uint32_t exchanged;
  TileLayout rows; // where a row lies whose address a lane holds, as a layout of offsets
} Matrices;
bool gpuFindMatrices(const Gpu *g, const Buffer *buffer, const TileLayout *layout, uint32_t exchanged,
                     Matrices *matrices);
// The register that an instruction fills with this slot of the word of a matrix.
uint32_t gpuMatrixRegister(const Matrices *matrices, uint32_t instruction, uint32_t matrix, uint32_t slot);
void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const Matrices *matrices, uint32_t instruction,
                     MlirValue *registers);
MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis); // in the view's elements
// Narrow elements in words; packed.c.
bool gpuPackView(Gpu *g, MlirOperation op, View *view);
GpuCell gpuPackedCell(Gpu *g, const View *view, const MlirValue *positions);
GpuCell gpuWindowCell(Gpu *g, const Window *window, const Map *map, intptr_t reg);
bool gpuLoadBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers);
// As above, instruction by instruction: planned, then read as registers are asked for. Null after a diagnostic.
typedef struct BufferLoad BufferLoad;
BufferLoad *gpuPlanLoad(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout, MlirValue *registers);
void gpuLoadRegister(Gpu *g, BufferLoad *load, intptr_t reg);
void gpuLoadAll(Gpu *g, BufferLoad *load);
bool gpuStoreBuffer(Gpu *g, MlirOperation op, const Buffer *buffer, const TileLayout *layout,
                    const MlirValue *registers);
bool gpuStoreCombining(Gpu *g, MlirOperation op, const Window *window, const TileLayout *layout,
                       const MlirValue *registers); // atomics.c

// One element combined with memory as the op's `combine` says, in any order; atomics.c.
bool gpuCombineInMemory(Gpu *g, MlirOperation op, const GpuCell *cell, MlirValue value);
