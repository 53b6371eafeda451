// What stands for an old value; types, words and numbers of the other language; ops one by one. See export.h.
#include "lib/conversion/kernel_export/export.h"

//===--- values -----------------------------------------------------------------------===//

void exportSet(ExportKernel *k, MlirValue old, MlirValue value) {
  tileTableSet(&k->values, old.ptr, (void *)value.ptr);
}

bool exportSetResult(ExportKernel *k, MlirOperation op, MlirValue value) {
  exportSet(k, tileOnlyResult(op), value);
  return !mlirValueIsNull(value);
}

void exportSetResults(ExportKernel *k, MlirOperation op, MlirOperation made) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    exportSet(k, mlirOperationGetResult(op, i), mlirOperationGetResult(made, i));
}

void exportSetArguments(ExportKernel *k, MlirBlock old, MlirBlock made) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(old); ++i)
    exportSet(k, mlirBlockGetArgument(old, i), mlirBlockGetArgument(made, i));
}

MlirValue exportGet(ExportKernel *k, MlirValue old) {
  MlirValue value = {tileTableFind(&k->values, old.ptr)};
  if (mlirValueIsNull(value))
    tileErrorAt(k->b.location, "takes a value of type %s, which has no conversion to %s",
                tileTypeText(mlirValueGetType(old), (char[128]){0}, 128), k->v->dialect);
  return value;
}

bool exportGetOptional(ExportKernel *k, MlirValue old, MlirValue *value) {
  *value = mlirValueIsNull(old) ? old : exportGet(k, old);
  return mlirValueIsNull(old) == mlirValueIsNull(*value);
}

bool exportGetAll(ExportKernel *k, MlirOperation op, intptr_t first, MlirValue *values, intptr_t *count) {
  *count = 0;
  for (intptr_t i = first; i < mlirOperationGetNumOperands(op); ++i)
    if (mlirValueIsNull(values[(*count)++] = exportGet(k, mlirOperationGetOperand(op, i))))
      return false;
  return true;
}

MlirValue *exportNewValues(ExportKernel *k, MlirOperation op) {
  return tileArenaAllocate(&k->arena, sizeof(MlirValue) * (size_t)(mlirOperationGetNumOperands(op) + 1));
}

MlirType *exportResultTypes(ExportKernel *k, MlirOperation op) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirType *types = tileArenaAllocate(&k->arena, sizeof *types * (size_t)(count + 1));
  for (intptr_t i = 0; i < count; ++i)
    if (mlirTypeIsNull(types[i] = exportType(k, op, tileResultType(op, i))))
      return NULL;
  return types;
}

ExportMemory *exportNewMemory(ExportKernel *k, MlirValue old) {
  ExportMemory *memory = tileArenaAllocate(&k->arena, sizeof *memory);
  tileTableSet(&k->memories, old.ptr, memory);
  return memory;
}

ExportMemory *exportMemory(ExportKernel *k, MlirValue old) {
  ExportMemory *memory = tileTableFind(&k->memories, old.ptr);
  if (!memory)
    tileErrorAt(k->b.location, "accesses memory that is no part of a parameter, which has no conversion to %s",
                k->v->dialect);
  return memory;
}

//===--- types --------------------------------------------------------------------------===//

MlirExtShape exportShape(MlirType type) {
  MlirExtShape shape = {0};
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape))
    shape.element = type;
  return shape;
}

intptr_t exportRank(MlirType type) { return exportShape(type).rank; }
MlirType exportElement(MlirType type) { return exportShape(type).element; }

MlirType exportSized(ExportKernel *k, intptr_t rank, const int64_t *sizes, MlirType element) {
  return k->v->tile(rank, sizes, element);
}

MlirType exportShaped(ExportKernel *k, MlirType like, MlirType element) {
  MlirExtShape shape = exportShape(like);
  return exportSized(k, shape.rank, shape.sizes, element);
}

MlirType exportWithout(ExportKernel *k, MlirType type, int64_t axis) {
  MlirExtShape shape = exportShape(type);
  int64_t sizes[ExportMaxRank];
  intptr_t rank = 0;
  for (intptr_t i = 0; i < shape.rank; ++i)
    if (i != axis)
      sizes[rank++] = shape.sizes[i];
  return exportSized(k, rank, sizes, shape.element);
}

MlirType exportInteger(ExportKernel *k, unsigned bits) { return mlirIntegerTypeGet(k->b.context, bits); }

MlirType exportStored(ExportKernel *k, MlirType old) {
  MlirType element = k->v->element(old);
  bool isWhole = !mlirTypeIsNull(element) && tileElementWidth(element) == tileElementWidth(old);
  return isWhole ? element : (MlirType){NULL};
}

MlirType exportType(ExportKernel *k, MlirOperation at, MlirType old) {
  MlirExtShape shape = exportShape(old);
  MlirType element = k->v->element(mlirTypeIsAIndex(shape.element) ? exportInteger(k, 64) : shape.element);
  bool hasLayout = mlirTypeIsARankedTensor(old) && !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(old));
  if (mlirTypeIsNull(element) || hasLayout || shape.rank > ExportMaxRank) {
    tileError(at, "has the type %s, which %s does not have", tileTypeText(old, (char[128]){0}, 128), k->v->language);
    return (MlirType){NULL};
  }
  int64_t sizes[ExportMaxRank];
  for (intptr_t i = 0; i < shape.rank; ++i)
    sizes[i] = exportPaddedSize(shape.sizes[i]);
  return exportSized(k, shape.rank, sizes, element);
}

//===--- words, numbers -------------------------------------------------------------------===//

MlirAttribute exportWord(ExportKernel *k, const char *word) {
  return mlirStringAttrGet(k->b.context, tileString(word));
}
bool exportIs(MlirAttribute word, const char *text) {
  return !mlirAttributeIsNull(word) && tileStringEquals(mlirStringAttrGetValue(word), text);
}

MlirValue exportFill(ExportKernel *k, MlirType type, int64_t value) {
  return k->v->fill(k, type, mlirIntegerAttrGet(exportElement(type), value));
}
MlirValue exportFillFloat(ExportKernel *k, MlirType type, double value) {
  return k->v->fill(k, type, mlirFloatAttrDoubleGet(k->b.context, exportElement(type), value));
}
MlirValue exportNumber(ExportKernel *k, int64_t value) {
  return exportFill(k, exportSized(k, 0, NULL, exportInteger(k, 64)), value);
}

// A known number is made where it is needed: a value made elsewhere may not be visible there.
MlirValue exportSizeValue(ExportKernel *k, const ExportSize *size) {
  if (!size->isKnown && mlirValueIsNull(size->value))
    tileErrorAt(k->b.location, "takes the size of memory of which only a pointer is known");
  return size->isKnown ? exportNumber(k, size->number) : size->value;
}

MlirValue exportCombine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y) {
  MlirValue result = {NULL};
  k->v->combine(k, kind, x, y, &result);
  return result;
}

MlirValue exportSplat(ExportKernel *k, MlirValue scalar, MlirType type) {
  return exportRank(type) ? k->v->splat(k, scalar, type) : scalar;
}

MlirValue exportAlong(ExportKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType element = exportElement(mlirValueGetType(line));
  int64_t shape[ExportMaxRank];
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = i == axis ? sizes[i] : 1;
  MlirType thin = exportSized(k, rank, shape, element), full = exportSized(k, rank, sizes, element);
  MlirValue value = rank == 1 ? line : k->v->reshape(k, thin, line);
  return mlirTypeEqual(thin, full) ? value : k->v->broadcast(&k->b, full, value);
}

MlirValue exportRange(ExportKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis) {
  MlirType line = exportSized(k, 1, &sizes[axis], exportInteger(k, 64));
  return exportAlong(k, k->v->iota(k, line), rank, sizes, axis);
}

MlirValue exportWiden(ExportKernel *k, MlirValue integer) {
  return k->v->resize(k, integer, exportShaped(k, mlirValueGetType(integer), exportInteger(k, 64)), true);
}

//===--- ops ------------------------------------------------------------------------------===//

static bool convertOp(ExportKernel *k, MlirOperation op) {
  static const TileConvertOp conversions[] = {exportShapes, exportViews, exportElements, exportControl, NULL};
  bool isKnown = false;
  ExportGuards guards = {.count = 0};
  k->b.location = mlirOperationGetLocation(op);
  bool ok = exportGuard(k, op, &guards) && tileConvertBy(k->v->own, k, op, &isKnown);
  if (ok && !isKnown)
    ok = tileConvertBy(conversions, k, op, &isKnown);
  exportUnguard(k, &guards);
  return ok && (isKnown || tileError(op, "has no conversion to %s", k->v->dialect));
}

bool exportConvertBlock(ExportKernel *k, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
  for (; !mlirOperationIsNull(op) && !mlirOperationEqual(op, end); op = mlirOperationGetNextInBlock(op))
    if (!convertOp(k, op))
      return false;
  return true;
}

bool exportConvertRegion(ExportKernel *k, MlirBlock block, ExportEnd end) {
  MlirOperation terminator = mlirBlockGetTerminator(block);
  MlirValue *values = exportNewValues(k, terminator);
  intptr_t count;
  if (!exportConvertBlock(k, block) || !exportGetAll(k, terminator, 0, values, &count))
    return false;
  k->v->end(k, end, count, values);
  return true;
}
