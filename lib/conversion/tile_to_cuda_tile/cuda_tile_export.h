// The vocabulary of convert-tile-to-cuda-tile: what its files share. See lib/conversion/kernel_export/export.h.
#pragma once

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "lib/conversion/kernel_export/export.h"

MlirAttribute cudaTileI64(ExportKernel *k, int64_t value);
MlirAttribute cudaTileSign(ExportKernel *k, bool isSigned);

// The op of arith or math of that kind on two tiles of one type; false: CUDA Tile IR has no such op.
bool cudaTileCombine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result);
MlirValue cudaTileCompare(ExportKernel *k, ArithCmpI predicate, MlirValue x, MlirValue y);
MlirValue cudaTileResize(ExportKernel *k, MlirValue x, MlirType type, bool isSigned);

bool cudaTilePrint(ExportKernel *k, MlirStringRef message, intptr_t count, const MlirValue *values);
bool cudaTileExportArithmetic(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileExportParts(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileExportStandIns(void *kernel, MlirOperation op, bool *isKnown);

// Memory: accesses of CUDA Tile IR, without tokens, and views.
MlirValue cudaTileLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other);
void cudaTileStore(ExportKernel *k, const ExportPlaces *places, MlirValue value);
MlirValue cudaTileAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value,
                         MlirAttribute mode, ExportOrder order);
MlirValue cudaTileSwap(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue expected,
                       MlirValue value, ExportOrder order);
MlirValue cudaTileAtomicLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, ExportOrder order);
void cudaTileAtomicStore(ExportKernel *k, const ExportPlaces *places, MlirValue value, ExportOrder order);
MlirValue cudaTileCut(ExportKernel *k, const ExportMemory *memory, MlirType view);
MlirValue cudaTileLoadView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirType tile,
                           MlirValue *indices);
void cudaTileStoreView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue value, MlirValue *indices);
