// The vocabulary of convert-tile-to-tt: what its files share. See lib/conversion/kernel_export/export.h.
#pragma once

#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/conversion/kernel_export/export.h"

MlirAttribute ttirI32(ExportKernel *k, int64_t value);
MlirValue ttirResize(ExportKernel *k, MlirValue x, MlirType type, bool isSigned);
bool ttirCompute(ExportKernel *k, MlirOperation op, bool *isKnown);

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
