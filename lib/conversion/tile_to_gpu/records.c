// What the values of a kernel are held as, by value.
#include "lib/conversion/tile_to_gpu/accesses.h"

void *gpuAllocate(Gpu *g, size_t bytes) { return tileArenaAllocate(&g->arena, bytes); }

void gpuRecordAlias(Gpu *g, MlirValue source, Record *record) { tileTableSet(&g->records, source.ptr, record); }

Record *gpuRecord(Gpu *g, MlirValue source) { return tileTableFind(&g->records, source.ptr); }

Record *gpuRecordNew(Gpu *g, MlirValue source, RecordKind kind) {
  Record *record = gpuAllocate(g, sizeof *record);
  record->kind = kind;
  record->type = mlirValueGetType(source);
  gpuRecordAlias(g, source, record);
  return record;
}

//===--- kinds --------------------------------------------------------------------===//

void gpuRecordScalar(Gpu *g, MlirValue source, MlirValue value) { gpuRecordTile(g, source)[0] = value; }

void gpuRecordSame(Gpu *g, MlirValue source, MlirValue value) {
  MlirValue *registers = gpuRecordTile(g, source);
  for (intptr_t reg = 0; reg < gpuRegisters(mlirValueGetType(source)); ++reg)
    registers[reg] = value;
}

MlirValue *gpuRecordTile(Gpu *g, MlirValue source) {
  Record *record = gpuRecordNew(g, source, Record_Number);
  record->count = gpuRegisters(record->type);
  record->registers = gpuAllocate(g, (size_t)record->count * sizeof *record->registers);
  return record->registers;
}

MlirValue gpuScalar(Gpu *g, MlirValue source) {
  Record *record = gpuRecord(g, source);
  return record ? record->registers[0] : (MlirValue){NULL};
}

MlirValue *gpuTile(Gpu *g, MlirValue source) {
  Record *record = gpuRecord(g, source);
  if (record->pending)
    gpuLoadAll(g, record->pending);
  record->pending = NULL;
  return record->registers;
}

MlirValue gpuRegisterOf(Gpu *g, MlirValue source, intptr_t reg) {
  if (mlirValueIsNull(source))
    return source;
  return gpuTile(g, source)[gpuIsTile(mlirValueGetType(source)) ? reg : 0];
}

bool gpuIsTile(MlirType type) { return mlirTypeIsATensor(type); }

MlirType gpuElementType(MlirType type) { return gpuIsTile(type) ? tileTypeGetElement(type) : type; }

TileLayout gpuLayoutOf(MlirType type) {
  return gpuIsTile(type) ? tileLayoutAttrGetLayout(tileTypeGetLayout(type)) : tileLayoutEmpty(TileLayoutValues);
}

intptr_t gpuRegisters(MlirType type) {
  TileLayout layout = gpuLayoutOf(type);
  return (intptr_t)tileLayoutDimSize(&layout, TileLayoutReg);
}
