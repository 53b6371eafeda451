// Tiles between registers and memory, for the ops that move them.
#pragma once

#include "lib/conversion/tile_to_gpu/cells.h"
#include "lib/layout/access.h"

// Between a view, a buffer or a part of one and the registers of a tile in this layout, as `op` says how. An element is
// stored by one of the threads that hold it. False after a diagnostic.
bool gpuLoadTile(Gpu *g, MlirOperation op, MlirValue source, const TileLayout *layout, MlirValue *registers);
bool gpuStoreTile(Gpu *g, MlirOperation op, MlirValue destination, const TileLayout *layout,
                  const MlirValue *registers);
// By ldmatrix; matrices.c. The register that an instruction fills with this slot of the word of a matrix.
uint32_t gpuMatrixRegister(const TileMatrixPlan *plan, uint32_t instruction, uint32_t matrix, uint32_t slot);
void gpuStoreMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *plan, const MlirValue *registers);
void gpuLoadMatrices(Gpu *g, const Buffer *buffer, const TileMatrixPlan *plan, uint32_t instruction,
                     MlirValue *registers);
MlirValue gpuViewSize(Gpu *g, const View *view, intptr_t axis); // in the view's elements
// Narrow elements in words; packed.c.
bool gpuPackView(Gpu *g, MlirOperation op, View *view);
GpuCell gpuPackedCell(Gpu *g, const View *view, const MlirValue *positions);
// The register that reads the word of register `reg` first, of a packed window: `reg` without the bits that move within
// a word. `bits`: where the element lies behind that register's element.
intptr_t gpuPackedFirst(const Window *window, const TileLayout *layout, intptr_t reg, int64_t *bits);
GpuCell gpuWindowCell(Gpu *g, const Window *window, const Map *map, intptr_t reg);
// A load from a buffer that is planned; its registers are read as they are asked for.
typedef struct BufferLoad BufferLoad;
void gpuLoadRegister(Gpu *g, BufferLoad *load, intptr_t reg);
void gpuLoadAll(Gpu *g, BufferLoad *load);
bool gpuMissesVector(MlirOperation op, int64_t vector, int64_t proved); // reports it
bool gpuStoreCombining(Gpu *g, MlirOperation op, const Window *window, const TileLayout *layout,
                       const MlirValue *registers); // atomics.c

// One element combined with memory as the op's `combine` says, in any order; atomics.c.
bool gpuCombineInMemory(Gpu *g, MlirOperation op, const GpuCell *cell, MlirValue value);
