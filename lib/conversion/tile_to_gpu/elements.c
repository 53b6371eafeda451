// What the values of a kernel are held as, by value; what one element is held as, how it lies in memory, and how it
// travels between lanes.
#include "lib/conversion/tile_to_gpu/accesses.h"

#include "dialects/tile/questions.h"
#include "lib/ir/emit/number.h"

#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"

//===--- records ----------------------------------------------------------------===//

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

//===--- types ------------------------------------------------------------------===//

unsigned gpuBits(MlirType element) {
  unsigned width = tileElementWidth(element);
  return mlirTypeIsATF32(element) ? 32 : width ? width : 64;
}

bool gpuIsSmallFloat(MlirType element) { return mlirTypeIsAFloat(element) && gpuBits(element) <= 8; }

MlirType gpuHeldType(Gpu *g, MlirType element) {
  return mlirTypeIsATF32(element) ? mlirF32TypeGet(g->context) : element;
}

MlirType gpuStoredType(Gpu *g, MlirType element) {
  if (mlirTypeIsAIndex(element))
    return g->i64;
  bool isOdd = mlirTypeIsAInteger(element) && gpuBits(element) < 8 * tileStoredBytes(element);
  return isOdd || gpuBits(element) <= 8 ? mlirIntegerTypeGet(g->context, 8 * (unsigned)tileStoredBytes(element))
                                        : gpuHeldType(g, element);
}

//===--- constants ------------------------------------------------------------------===//

MlirValue gpuConstant(Gpu *g, MlirAttribute element) {
  MlirType type = mlirAttributeGetType(element);
  if (mlirTypeIsATF32(type))
    return tileBuildFloat(&g->builder, gpuHeldType(g, type), mlirFloatAttrGetValueDouble(element));
  return tileBuildConstant(&g->builder, element);
}

MlirValue gpuZero(Gpu *g, MlirType element) {
  MlirType held = gpuHeldType(g, element);
  return mlirTypeIsAFloat(held) ? tileBuildFloat(&g->builder, held, 0) : gpuInteger(g, held, 0);
}

//===--- memory ---------------------------------------------------------------------===//

static MlirType integerOf(Gpu *g, unsigned bits) { return mlirIntegerTypeGet(g->context, bits); }

MlirValue gpuToStored(Gpu *g, MlirValue value, MlirType element) {
  MlirType stored = gpuStoredType(g, element), held = mlirValueGetType(value);
  if (mlirTypeEqual(held, stored))
    return value;
  if (gpuIsSmallFloat(element))
    value = gpuOp(g, ArithOp_Bitcast, integerOf(g, gpuBits(element)), value);
  return gpuCast(g, value, stored, mlirTypeIsAIndex(element));
}

MlirValue gpuFromStored(Gpu *g, MlirValue value, MlirType element) {
  MlirType held = gpuHeldType(g, element), stored = mlirValueGetType(value);
  if (mlirTypeEqual(held, stored))
    return value;
  if (mlirTypeEqual(held, g->i1))
    return gpuCompare(g, ArithCmpI_Ne, value, gpuInteger(g, stored, 0));
  if (gpuIsSmallFloat(element))
    return gpuOp(g, ArithOp_Bitcast, held, gpuCast(g, value, integerOf(g, gpuBits(element)), false));
  return gpuCast(g, value, held, true);
}

// The vector that these are the elements of, all and in order; null: they are not.
static MlirValue takenFrom(intptr_t count, const MlirValue *elements) {
  MlirValue vector = {NULL};
  for (intptr_t i = 0; i < count; ++i) {
    MlirOperation op = tileDefiningOp(elements[i]);
    int64_t index;
    if (!llvmExtractElementOpIsA(op) || !tileConstantIndex(llvmExtractElementOpGetPosition(op), &index) || index != i ||
        (i && !mlirValueEqual(llvmExtractElementOpGetVector(op), vector)))
      return (MlirValue){NULL};
    vector = llvmExtractElementOpGetVector(op);
  }
  return mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0) == count ? vector : (MlirValue){NULL};
}

MlirValue gpuVectorOf(TileBuilder *builder, intptr_t count, const MlirValue *elements) {
  MlirValue whole = takenFrom(count, elements);
  if (!mlirValueIsNull(whole))
    return whole;
  int64_t size = count;
  MlirType type = mlirVectorTypeGet(1, &size, mlirValueGetType(elements[0]));
  MlirValue vector = llvmUndefOpBuild(builder, type);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue at = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 32), i);
    vector = llvmInsertElementOpBuild(builder, vector, elements[i], at);
  }
  return vector;
}

MlirValue gpuElementOf(TileBuilder *builder, MlirValue vector, intptr_t index) {
  MlirValue at = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 32), index);
  return llvmExtractElementOpBuild(builder, vector, at);
}

MlirType gpuStoredTypeOf(Gpu *g, MlirType element, intptr_t count) {
  int64_t size = count;
  MlirType stored = gpuStoredType(g, element);
  return count == 1 ? stored : mlirVectorTypeGet(1, &size, stored);
}

MlirValue gpuJoinElements(Gpu *g, MlirType element, intptr_t count, const MlirValue *values) {
  MlirValue stored[64];
  for (intptr_t i = 0; i < count; ++i)
    stored[i] = gpuToStored(g, values[i], element);
  return count == 1 ? stored[0] : gpuVectorOf(&g->builder, count, stored);
}

void gpuSplitElements(Gpu *g, MlirType element, intptr_t count, MlirValue stored, MlirValue *values) {
  bool isVector = mlirTypeIsAVector(mlirValueGetType(stored));
  for (intptr_t i = 0; i < count; ++i)
    values[i] = gpuFromStored(g, isVector ? gpuElementOf(&g->builder, stored, i) : stored, element);
}

void gpuLoadElements(Gpu *g, MlirType element, intptr_t count, MlirValue address, int64_t align, MlirValue *values) {
  gpuSplitElements(g, element, count, gpuLoad(g, gpuStoredTypeOf(g, element, count), address, align), values);
}

void gpuStoreElements(Gpu *g, MlirType element, intptr_t count, const MlirValue *values, MlirValue address,
                      int64_t align) {
  gpuStore(g, gpuJoinElements(g, element, count, values), address, align);
}

//===--- memory, where a condition holds ---------------------------------------------------===//

static MlirValue splat(Gpu *g, intptr_t count, MlirValue value) {
  MlirValue copies[64];
  for (intptr_t i = 0; i < count; ++i)
    copies[i] = value;
  return gpuVectorOf(&g->builder, count, copies);
}

void gpuLoadWhere(Gpu *g, MlirValue condition, MlirType element, intptr_t count, MlirValue address, int64_t align,
                  MlirValue otherwise, MlirValue *values) {
  if (mlirValueIsNull(condition)) {
    gpuLoadElements(g, element, count, address, align, values);
    return;
  }
  MlirValue masks = splat(g, count, condition), others = splat(g, count, gpuToStored(g, otherwise, element));
  MlirValue vector = llvmMaskedLoadOpBuild(&g->builder, mlirValueGetType(others), address, masks, others,
                                           mlirIntegerAttrGet(g->i32, align));
  gpuSplitElements(g, element, count, vector, values);
}

void gpuStoreWhere(Gpu *g, MlirValue condition, MlirType element, intptr_t count, const MlirValue *values,
                   MlirValue address, int64_t align) {
  if (mlirValueIsNull(condition)) {
    gpuStoreElements(g, element, count, values, address, align);
    return;
  }
  MlirValue stored = gpuJoinElements(g, element, count, values), masks = splat(g, count, condition);
  MlirValue vector = count == 1 ? gpuVectorOf(&g->builder, 1, &stored) : stored;
  llvmMaskedStoreOpBuild(&g->builder, vector, address, masks, mlirIntegerAttrGet(g->i32, align));
}

//===--- words ----------------------------------------------------------------------===//

MlirValue gpuAsInteger(Gpu *g, MlirValue value) {
  return mlirTypeIsAIndex(mlirValueGetType(value)) ? gpuCast(g, value, g->i64, true)
                                                   : tileBuildBits(&g->builder, value);
}

intptr_t gpuWords(Gpu *g, MlirValue value, MlirValue *words) {
  MlirValue integer = gpuAsInteger(g, value);
  words[0] = gpuCast(g, integer, g->i32, false);
  if (mlirIntegerTypeGetWidth(mlirValueGetType(integer)) <= 32)
    return 1;
  words[1] = gpuCast(g, gpuShiftRight(g, integer, 32), g->i32, false);
  return 2;
}

MlirValue gpuFromWords(Gpu *g, const MlirValue *words, MlirType held) {
  unsigned bits = gpuBits(held);
  MlirValue integer = gpuCast(g, words[0], integerOf(g, bits > 32 ? 64 : bits), false);
  if (bits > 32) {
    MlirValue high = gpuShiftLeft(g, gpuCast(g, words[1], g->i64, false), 32);
    integer = gpuCast(g, gpuBinary(g, ArithOp_OrI, integer, high), integerOf(g, bits), false);
  }
  if (mlirTypeIsAFloat(held))
    return gpuOp(g, ArithOp_Bitcast, held, integer);
  return gpuCast(g, integer, held, true);
}

intptr_t gpuWordsOf(TileBuilder *builder, intptr_t count, const MlirValue *elements, unsigned bits, MlirValue *words) {
  MlirContext context = builder->context;
  MlirType word = mlirIntegerTypeGet(context, 32), integer = mlirIntegerTypeGet(context, bits);
  intptr_t each = 32 / (intptr_t)bits;
  for (intptr_t w = 0; w < count / each; ++w) {
    MlirValue parts[32];
    for (intptr_t i = 0; i < each; ++i) {
      MlirValue part = elements[w * each + i];
      MlirType type = mlirValueGetType(part);
      bool isNarrow = mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > bits;
      parts[i] = isNarrow ? arithTruncIOpBuild(builder, integer, part) : part;
    }
    MlirValue whole = each == 1 ? parts[0] : gpuVectorOf(builder, each, parts);
    bool isWord = mlirTypeEqual(mlirValueGetType(whole), word);
    words[w] = isWord ? whole : llvmBitcastOpBuild(builder, word, whole);
  }
  return count / each;
}

// From the lane (null: lane ^ mask), word by word.
static MlirValue shuffle(Gpu *g, MlirValue value, MlirValue lane, int64_t mask) {
  MlirValue words[2];
  intptr_t count = gpuWords(g, value, words);
  for (intptr_t i = 0; i < count; ++i)
    words[i] = mlirValueIsNull(lane) ? g->vocabulary->shuffleXor(&g->builder, words[i], mask)
                                     : g->vocabulary->shuffleFrom(&g->builder, words[i], lane);
  return gpuFromWords(g, words, mlirValueGetType(value));
}

MlirValue gpuShuffleXor(Gpu *g, MlirValue value, int64_t mask) { return shuffle(g, value, (MlirValue){NULL}, mask); }

MlirValue gpuShuffleFrom(Gpu *g, MlirValue value, MlirValue lane) { return shuffle(g, value, lane, 0); }
