// The vocabulary of convert-tile-to-tt: what its files share. See lib/conversion/kernel_export/export.h.
#pragma once

#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/conversion/kernel_export/export.h"

MlirAttribute ttirI32(ExportKernel *k, int64_t value);
MlirValue ttirResize(ExportKernel *k, MlirValue x, MlirType type, bool isSigned);

// Floats: those that Triton does not have are codes in bytes. False where an op computes with codes.
MlirType ttirElement(MlirType old);
MlirValue ttirPacked(ExportKernel *k, MlirValue codes); // of two codes of 4 bits a byte, along the last dimension
bool ttirFloats(void *kernel, MlirOperation op, bool *isKnown);

void ttirExtended(TileBuilder *b, bool isProduct, MlirValue x, MlirValue y, MlirValue values[2]); // low, high
bool ttirPrint(ExportKernel *k, MlirStringRef message, intptr_t count, const MlirValue *values);
bool ttirCompute(void *kernel, MlirOperation op, bool *isKnown);

// Memory: descriptors are its views.
MlirValue ttirCut(ExportKernel *k, const ExportMemory *memory, MlirType view);
MlirValue ttirLoadView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirType tile, MlirValue *indices);
void ttirStoreView(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue value, MlirValue *indices);
MlirValue ttirLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other);
void ttirStore(ExportKernel *k, const ExportPlaces *places, MlirValue value);
MlirValue ttirAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value, MlirAttribute mode,
                     ExportOrder order);
MlirValue ttirSwap(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue expected, MlirValue value,
                   ExportOrder order);
MlirValue ttirAtomicLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, ExportOrder order);
void ttirAtomicStore(ExportKernel *k, const ExportPlaces *places, MlirValue value, ExportOrder order);
