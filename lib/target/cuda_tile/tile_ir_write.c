// The writer of CUDA Tile IR's bytecode: ops are encoded by their rows (dialects/foreign/cuda_tile/bytecode.h), types,
// strings and constants are numbered as they are met. See tile_ir_write.h.
#include "lib/target/cuda_tile/tile_ir_write.h"

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/support/grow.h"

#include <stdlib.h>

//===--- bytes --------------------------------------------------------------------===//

typedef struct Bytes {
  uint8_t *items;
  int64_t count;
} Bytes;

static void putByte(Bytes *bytes, unsigned byte) {
  bytes->items = tessera_grow(bytes->items, bytes->count, 1);
  bytes->items[bytes->count++] = (uint8_t)byte;
}
static void putAll(Bytes *bytes, const void *data, size_t size) {
  for (size_t i = 0; i < size; ++i)
    putByte(bytes, ((const uint8_t *)data)[i]);
}
static void putNumber(Bytes *bytes, uint64_t value) {
  for (; value > 0x7F; value >>= 7)
    putByte(bytes, (value & 0x7F) | 0x80);
  putByte(bytes, (unsigned)value);
}
static void putSigned(Bytes *bytes, int64_t value) {
  putNumber(bytes, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}
static void putFixed(Bytes *bytes, uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i)
    putByte(bytes, value >> (8 * i) & 0xFF);
}
static void putList(Bytes *bytes, intptr_t count, const int64_t *values, unsigned width) {
  putNumber(bytes, (uint64_t)count);
  for (intptr_t i = 0; i < count; ++i)
    putFixed(bytes, (uint64_t)values[i], width);
}
static void pad(Bytes *bytes, int64_t alignment) {
  while (bytes->count % alignment)
    putByte(bytes, CudaTilePadding);
}

//===--- tables -------------------------------------------------------------------===//

// Items in the order in which they were first met.
typedef struct Items {
  Bytes *items;
  int64_t count;
} Items;

static uint64_t numberOf(Items *table, const Bytes *item) { // takes the item over
  for (int64_t i = 0; i < table->count; ++i)
    if (table->items[i].count == item->count && memcmp(table->items[i].items, item->items, (size_t)item->count) == 0) {
      free(item->items);
      return (uint64_t)i;
    }
  table->items = tessera_grow(table->items, table->count, sizeof *table->items);
  table->items[table->count] = *item;
  return (uint64_t)table->count++;
}

static void putTable(Bytes *bytes, const Items *table, unsigned width) {
  uint64_t offset = 0;
  putNumber(bytes, (uint64_t)table->count);
  pad(bytes, width);
  for (int64_t i = 0; i < table->count; offset += (uint64_t)table->items[i++].count)
    putFixed(bytes, offset, width);
  for (int64_t i = 0; i < table->count; ++i)
    putAll(bytes, table->items[i].items, (size_t)table->items[i].count);
}

static void freeItems(Items *table) {
  for (int64_t i = 0; i < table->count; ++i)
    free(table->items[i].items);
  free(table->items);
}

typedef struct Writer {
  int version;
  Items strings, types, constants, debug;
  TileTable values;   // value → its number + 1
  uint64_t numValues; // of the function
  uint64_t *places;   // debug attributes of functions and their ops, in order
  int64_t numPlaces;
  uint64_t *firstPlaces; // of each function
  int64_t numFunctions;
} Writer;

static uint64_t stringNumber(Writer *w, MlirStringRef text) {
  Bytes item = {0};
  putAll(&item, text.data, text.length);
  return numberOf(&w->strings, &item);
}

//===--- types --------------------------------------------------------------------===//

static bool putType(Writer *w, Bytes *bytes, MlirType type, MlirOperation at);

static bool refuse(MlirOperation at, MlirType type, const char *why) {
  return tileError(at, "has the type %s, %s", tileTypeText(type, (char[128]){0}, 128), why);
}

static bool encodeTensor(Writer *w, Bytes *item, MlirType type, MlirOperation at) {
  int64_t sizes[CudaTileMaxRank], strides[CudaTileMaxRank];
  intptr_t rank = cudaTileTensorViewTypeGetRank(type);
  for (intptr_t i = 0; i < rank; ++i) {
    sizes[i] = cudaTileTensorViewTypeGetSize(type, i);
    strides[i] = cudaTileTensorViewTypeGetStride(type, i);
  }
  putNumber(item, CudaTileTag_TensorView);
  if (w->version >= 4)
    putNumber(item, 0);
  if (!putType(w, item, cudaTileTensorViewTypeGetElement(type), at))
    return false;
  putList(item, rank, sizes, 8);
  putList(item, rank, strides, 8);
  return true;
}

static void putPadding(Bytes *item, const char *padding) {
  unsigned at = 0;
  while (padding && strcmp(padding, cudaTilePaddingNames[at]) != 0)
    ++at;
  if (padding)
    putByte(item, at);
}

static bool encodeView(Writer *w, Bytes *item, MlirType type, MlirOperation at) {
  static const unsigned tags[] = {[CudaTileView_Partition] = CudaTileTag_PartitionView,
                                  [CudaTileView_Strided] = CudaTileTag_StridedView,
                                  [CudaTileView_GatherScatter] = CudaTileTag_GatherScatterView};
  CudaTileViewSpec spec = cudaTileViewTypeGetSpec(type);
  bool hasFlags = w->version >= 3;
  if (!hasFlags && spec.kind != CudaTileView_Partition)
    return refuse(at, type, "which version 13.3 brings");
  putNumber(item, tags[spec.kind]);
  if (hasFlags)
    putNumber(item, spec.padding != NULL);
  putList(item, spec.rank, spec.tile, 4);
  if (spec.kind == CudaTileView_Strided)
    putList(item, spec.rank, spec.steps, 4);
  if (!putType(w, item, spec.tensor, at))
    return false;
  if (spec.kind == CudaTileView_GatherScatter)
    putNumber(item, (uint64_t)spec.sparse);
  else
    putList(item, spec.rank, spec.map, 4);
  if (!hasFlags)
    putNumber(item, spec.padding != NULL);
  putPadding(item, spec.padding);
  return true;
}

static bool encodeTile(Writer *w, Bytes *item, MlirType type, MlirOperation at) {
  MlirExtShape shape;
  mlirExtTypeGetShape(type, &shape);
  putNumber(item, CudaTileTag_Tile);
  if (!putType(w, item, shape.element, at))
    return false;
  putList(item, shape.rank, shape.sizes, 8);
  return true;
}

static bool encodeFunction(Writer *w, Bytes *item, MlirType type, MlirOperation at) {
  intptr_t inputs = mlirFunctionTypeGetNumInputs(type);
  bool ok = true;
  putNumber(item, CudaTileTag_Function);
  putNumber(item, (uint64_t)inputs);
  for (intptr_t i = 0; ok && i < inputs; ++i)
    ok = putType(w, item, mlirFunctionTypeGetInput(type, i), at);
  putNumber(item, 0);
  return ok;
}

static bool encodeType(Writer *w, Bytes *item, MlirType type, MlirOperation at) {
  int tag = cudaTileSimpleTag(type);
  if (tag >= 0) {
    int since = tag == CudaTileTag_F8E8M0FNU ? 2 : tag == CudaTileTag_F4E2M1FN || tag == CudaTileTag_I4 ? 3 : 1;
    if (since > w->version)
      return refuse(at, type, "which a later version brings");
    putNumber(item, (uint64_t)tag);
    return true;
  }
  if (cudaTileTypeIsAPointer(type)) {
    putNumber(item, CudaTileTag_Pointer);
    if (w->version >= 4)
      putNumber(item, 0);
    return putType(w, item, cudaTilePointerTypeGetPointee(type), at);
  }
  if (mlirTypeIsARankedTensor(type))
    return encodeTile(w, item, type, at);
  if (cudaTileTypeIsATensorView(type))
    return encodeTensor(w, item, type, at);
  if (cudaTileTypeIsAView(type))
    return encodeView(w, item, type, at);
  return mlirTypeIsAFunction(type) ? encodeFunction(w, item, type, at)
                                   : refuse(at, type, "which CUDA Tile IR does not have");
}

static bool putType(Writer *w, Bytes *bytes, MlirType type, MlirOperation at) {
  Bytes item = {0};
  if (!encodeType(w, &item, type, at)) {
    free(item.items);
    return false;
  }
  putNumber(bytes, numberOf(&w->types, &item));
  return true;
}

//===--- attributes ---------------------------------------------------------------===//

static bool putTagged(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at);

static bool putConstant(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  MlirType type = mlirAttributeGetType(value);
  if (!mlirAttributeIsADenseElements(value))
    return tileError(at, "has no elements that can be written");
  unsigned bits = tileElementWidth(mlirShapedTypeGetElementType(type));
  bool isSplat = mlirDenseElementsAttrIsSplat(value);
  size_t count = isSplat ? 1 : (size_t)mlirElementsAttrGetNumElements(value);
  size_t size = bits == 1 && !isSplat ? (count + 7) / 8 : count * ((bits + 7) / 8);
  Bytes item = {0};
  putNumber(&item, size);
  if (bits == 1)
    for (size_t i = 0; i < size; ++i) {
      unsigned byte = 0;
      for (size_t b = 0; !isSplat && b < 8 && 8 * i + b < count; ++b)
        byte |= (unsigned)mlirDenseElementsAttrGetBoolValue(value, (intptr_t)(8 * i + b)) << b;
      putByte(&item, isSplat ? (mlirDenseElementsAttrGetBoolSplatValue(value) ? 0xFF : 0) : byte);
    }
  else
    putAll(&item, mlirDenseElementsAttrGetRawData(value), size);
  putNumber(bytes, numberOf(&w->constants, &item));
  return true;
}

static bool putFloat(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  MlirType type = mlirAttributeGetType(value), one = mlirRankedTensorTypeGet(0, NULL, type, mlirAttributeGetNull());
  unsigned width = mlirFloatTypeGetWidth(type);
  uint64_t bits = 0;
  memcpy(&bits, mlirDenseElementsAttrGetRawData(mlirDenseElementsAttrSplatGet(one, value)), (width + 7) / 8);
  putByte(bytes, CudaTileAttribute_Float);
  if (!putType(w, bytes, type, at))
    return false;
  if (width <= 8)
    putByte(bytes, (unsigned)bits);
  else
    putSigned(bytes, (int64_t)bits);
  return true;
}

static bool putInteger(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  MlirType type = mlirAttributeGetType(value);
  if (!mlirTypeIsAInteger(type))
    return tileError(at, "has an attribute of type index, expected an integer");
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (width == 1) {
    putByte(bytes, CudaTileAttribute_Bool);
    putByte(bytes, mlirBoolAttrGetValue(value));
    return true;
  }
  putByte(bytes, CudaTileAttribute_Integer);
  if (!putType(w, bytes, type, at))
    return false;
  putNumber(bytes, (uint64_t)mlirIntegerAttrGetValueSInt(value) & (width == 64 ? UINT64_MAX : (1ull << width) - 1));
  return true;
}

static bool putDictionary(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  intptr_t count = mlirDictionaryAttrGetNumElements(value);
  bool ok = true;
  putNumber(bytes, (uint64_t)count);
  for (intptr_t i = 0; ok && i < count; ++i) {
    MlirNamedAttribute each = mlirDictionaryAttrGetElement(value, i);
    putNumber(bytes, stringNumber(w, mlirIdentifierStr(each.name)));
    ok = putTagged(w, bytes, each.attribute, at);
  }
  return ok;
}

static bool putArray(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  intptr_t count = mlirArrayAttrGetNumElements(value);
  bool ok = true;
  putNumber(bytes, (uint64_t)count);
  for (intptr_t i = 0; ok && i < count; ++i)
    ok = putTagged(w, bytes, mlirArrayAttrGetElement(value, i), at);
  return ok;
}

static bool putAssumption(Bytes *bytes, MlirAttribute value, MlirOperation at) {
  CudaTileAssumption of = cudaTileAssumptionAttrGetSpec(value);
  if (of.kind == CudaTileAssumption_SameElements)
    return tileError(at, "says same_elements, which cannot be written");
  putByte(bytes, of.kind == CudaTileAssumption_DivBy ? CudaTileAttribute_DivBy : CudaTileAttribute_Bounded);
  if (of.kind == CudaTileAssumption_DivBy)
    putNumber(bytes, (uint64_t)of.divisor);
  putByte(bytes, of.hasFirst | of.hasSecond << 1);
  if (of.hasFirst)
    putSigned(bytes, of.first);
  if (of.hasSecond)
    putSigned(bytes, of.second);
  return true;
}

static bool putTagged(Writer *w, Bytes *bytes, MlirAttribute value, MlirOperation at) {
  if (cudaTileAttrIsAnAssumption(value))
    return putAssumption(bytes, value, at);
  if (mlirAttributeIsAFloat(value))
    return putFloat(w, bytes, value, at);
  if (mlirAttributeIsAInteger(value) || mlirAttributeIsABool(value))
    return putInteger(w, bytes, value, at);
  if (mlirAttributeIsAString(value)) {
    putByte(bytes, CudaTileAttribute_String);
    putNumber(bytes, stringNumber(w, mlirStringAttrGetValue(value)));
    return true;
  }
  if (mlirAttributeIsADictionary(value)) {
    putByte(bytes, CudaTileAttribute_Dictionary);
    return putDictionary(w, bytes, value, at);
  }
  if (mlirAttributeIsAArray(value)) {
    putByte(bytes, CudaTileAttribute_Array);
    return putArray(w, bytes, value, at);
  }
  return tileError(at, "has an attribute that CUDA Tile IR does not have");
}

//===--- places -------------------------------------------------------------------===//

static uint64_t debugNumber(Writer *w, Bytes *item) { return numberOf(&w->debug, item) + 1; }

static MlirAttribute partOf(MlirAttribute function, const char *key) {
  return mlirDictionaryAttrGetElementByName(function, tileString(key));
}
static void putTextOf(Writer *w, Bytes *bytes, MlirAttribute function, const char *key) {
  putNumber(bytes, stringNumber(w, mlirStringAttrGetValue(partOf(function, key))));
}
static void putLineOf(Bytes *bytes, MlirAttribute function, const char *key) {
  putNumber(bytes, (uint64_t)mlirIntegerAttrGetValueInt(partOf(function, key)));
}

// Whether the dictionary tells a function as bytecode.h says it.
static bool isFunction(MlirAttribute function) {
  static const char *const texts[] = {CUDA_TILE_DEBUG_FILE, CUDA_TILE_DEBUG_DIRECTORY, CUDA_TILE_DEBUG_NAME,
                                      CUDA_TILE_DEBUG_LINKAGE};
  static const char *const lines[] = {CUDA_TILE_DEBUG_LINE, CUDA_TILE_DEBUG_SCOPE};
  bool ok = !mlirAttributeIsNull(function) && mlirAttributeIsADictionary(function);
  for (size_t i = 0; ok && i < sizeof texts / sizeof *texts; ++i)
    ok = !mlirAttributeIsNull(partOf(function, texts[i])) && mlirAttributeIsAString(partOf(function, texts[i]));
  for (size_t i = 0; ok && i < sizeof lines / sizeof *lines; ++i)
    ok = !mlirAttributeIsNull(partOf(function, lines[i])) && mlirAttributeIsAInteger(partOf(function, lines[i]));
  return ok;
}

static uint64_t functionNumber(Writer *w, MlirAttribute function) {
  Bytes file = {0}, unit = {0}, item = {0};
  putByte(&file, CudaTileDebug_File);
  putTextOf(w, &file, function, CUDA_TILE_DEBUG_FILE);
  putTextOf(w, &file, function, CUDA_TILE_DEBUG_DIRECTORY);
  uint64_t fileNumber = debugNumber(w, &file);
  putByte(&unit, CudaTileDebug_CompileUnit);
  putNumber(&unit, fileNumber);
  uint64_t unitNumber = debugNumber(w, &unit);
  putByte(&item, CudaTileDebug_Subprogram);
  putNumber(&item, fileNumber);
  putLineOf(&item, function, CUDA_TILE_DEBUG_LINE);
  putTextOf(w, &item, function, CUDA_TILE_DEBUG_NAME);
  putTextOf(w, &item, function, CUDA_TILE_DEBUG_LINKAGE);
  putNumber(&item, unitNumber);
  putLineOf(&item, function, CUDA_TILE_DEBUG_SCOPE);
  if (w->version >= 5)
    putNumber(&item, 0);
  return debugNumber(w, &item);
}

// The number of a location's debug attribute; 0: the location names no function.
static uint64_t placeNumber(Writer *w, MlirLocation location) {
  Bytes item = {0};
  if (mlirLocationIsACallSite(location)) {
    uint64_t callee = placeNumber(w, mlirLocationCallSiteGetCallee(location));
    uint64_t caller = placeNumber(w, mlirLocationCallSiteGetCaller(location));
    if (!callee || !caller)
      return callee;
    putByte(&item, CudaTileDebug_CallSite);
    putNumber(&item, callee);
    putNumber(&item, caller);
    return debugNumber(w, &item);
  }
  MlirLocation place;
  if (!mlirLocationIsAFused(location) || mlirLocationFusedGetNumLocations(location) != 1 ||
      !isFunction(mlirLocationFusedGetMetadata(location)))
    return 0;
  mlirLocationFusedGetLocations(location, &place);
  if (!mlirLocationIsAFileLineColRange(place))
    return 0;
  uint64_t function = functionNumber(w, mlirLocationFusedGetMetadata(location));
  putByte(&item, CudaTileDebug_Location);
  putNumber(&item, function);
  putNumber(&item, stringNumber(w, mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place))));
  putNumber(&item, (uint64_t)mlirLocationFileLineColRangeGetStartLine(place));
  putNumber(&item, (uint64_t)mlirLocationFileLineColRangeGetStartColumn(place));
  return debugNumber(w, &item);
}

static void addPlace(Writer *w, MlirOperation op) {
  w->places = tessera_grow(w->places, w->numPlaces, sizeof *w->places);
  w->places[w->numPlaces++] = placeNumber(w, mlirOperationGetLocation(op));
}

//===--- ops ----------------------------------------------------------------------===//

typedef struct Encoding {
  Writer *w;
  Bytes *bytes;
  MlirOperation op;
  const TileOpSpec *spec;
} Encoding;

static bool isThere(const Encoding *e, const char *name) { return cudaTileSince(e->spec, name) <= e->w->version; }

static void putWord(Bytes *bytes, const TileAttributeSpec *attribute, MlirAttribute value) {
  const char *const *words = cudaTileWordsOf(attribute->kindName);
  unsigned at = 0;
  while (words[at] && !tileStringEquals(mlirStringAttrGetValue(value), words[at]))
    ++at;
  putByte(bytes, at);
}

// As many flags as the op has indices, all false where it has none.
static void putFlags(const Encoding *e, MlirAttribute value) {
  intptr_t begin, count = 0;
  int index = tileSpecFindValue(e->spec->operands, e->spec->numOperands, "index");
  if (index >= 0)
    tileSpecOperandGroup(e->spec, e->op, index, &begin, &count);
  if (!mlirAttributeIsNull(value))
    count = mlirDenseArrayGetNumElements(value);
  putNumber(e->bytes, (uint64_t)count);
  for (intptr_t i = 0; i < count; ++i)
    putByte(e->bytes, !mlirAttributeIsNull(value) && mlirDenseBoolArrayGetElement(value, i));
}

static bool putAttribute(const Encoding *e, const TileAttributeSpec *attribute, MlirAttribute value) {
  Bytes *bytes = e->bytes;
  switch (cudaTileEncodingOf(attribute)) {
  case CudaTileEncoding_Word:
    putWord(bytes, attribute, value);
    return true;
  case CudaTileEncoding_Number:
    putNumber(bytes, (uint64_t)mlirIntegerAttrGetValueInt(value));
    return true;
  case CudaTileEncoding_Bool:
    putByte(bytes, mlirBoolAttrGetValue(value));
    return true;
  case CudaTileEncoding_String:
    putNumber(bytes, stringNumber(e->w, mlirStringAttrGetValue(value)));
    return true;
  case CudaTileEncoding_Symbol:
    putNumber(bytes, stringNumber(e->w, mlirFlatSymbolRefAttrGetValue(value)));
    return true;
  case CudaTileEncoding_I32Array:
    putNumber(bytes, (uint64_t)mlirDenseArrayGetNumElements(value));
    for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(value); ++i)
      putFixed(bytes, (uint64_t)mlirDenseI32ArrayGetElement(value, i), 4);
    return true;
  case CudaTileEncoding_Flags:
    putFlags(e, value);
    return true;
  case CudaTileEncoding_Constant:
    return putConstant(e->w, bytes, value, e->op);
  case CudaTileEncoding_Array:
    return putArray(e->w, bytes, value, e->op);
  case CudaTileEncoding_Tagged:
    return putTagged(e->w, bytes, value, e->op);
  case CudaTileEncoding_Hints:
    return putDictionary(e->w, bytes, value, e->op);
  }
  return true;
}

static bool isDefault(const Encoding *e, const TileAttributeSpec *attribute, MlirAttribute value) {
  return mlirAttributeIsNull(value) ||
         mlirAttributeEqual(value, tileSpecDefault(attribute, mlirOperationGetContext(e->op)));
}

static intptr_t countOf(const Encoding *e, int operand) {
  intptr_t begin, count;
  tileSpecOperandGroup(e->spec, e->op, operand, &begin, &count);
  return count;
}

static void name(Writer *w, MlirValue value) { tileTableSet(&w->values, value.ptr, (void *)(uintptr_t)++w->numValues); }

// A token that a later version brought as a result is always there from that version on.
static intptr_t numResultsOf(const Encoding *e) {
  intptr_t count = 0;
  for (int i = 0; i < e->spec->numResults; ++i) {
    if (e->spec->results[i].arity == TileArity_Variadic)
      return mlirOperationGetNumResults(e->op);
    count += isThere(e, e->spec->results[i].name);
  }
  return count;
}

static void putResultTypes(const Encoding *e, bool *ok) {
  intptr_t count = numResultsOf(e), given = mlirOperationGetNumResults(e->op);
  if (cudaTileCountsResults(e->spec))
    putNumber(e->bytes, (uint64_t)count);
  for (intptr_t i = count; *ok && i < given; ++i)
    *ok = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(e->op, i))) ||
          tileError(e->op, "gives a token, which a later version than 13.%d brings", e->w->version);
  MlirType token = cudaTileTokenTypeGet(mlirOperationGetContext(e->op));
  for (intptr_t i = 0; *ok && i < count; ++i)
    *ok = putType(e->w, e->bytes, i < given ? tileResultType(e->op, i) : token, e->op);
}

static void nameResults(const Encoding *e) {
  intptr_t count = numResultsOf(e), given = mlirOperationGetNumResults(e->op);
  for (intptr_t i = 0; i < count && i < given; ++i)
    name(e->w, mlirOperationGetResult(e->op, i));
  e->w->numValues += count > given ? count - given : 0;
}

static void putFlagBits(const Encoding *e) {
  uint64_t flags = 0, bit = 1;
  for (int i = 0; i < e->spec->numAttributes; ++i)
    if (cudaTileAttributeIsFlagged(&e->spec->attributes[i]) && isThere(e, e->spec->attributes[i].name)) {
      flags |= mlirAttributeIsNull(tileSpecAttribute(&e->spec->attributes[i], e->op)) ? 0 : bit;
      bit <<= 1;
    }
  for (int i = 0; e->spec->operandSegments && i < e->spec->numOperands; ++i)
    if (e->spec->operands[i].arity == TileArity_Optional && isThere(e, e->spec->operands[i].name)) {
      flags |= countOf(e, i) ? bit : 0;
      bit <<= 1;
    }
  if (cudaTileHasFlags(e->spec, e->w->version))
    putNumber(e->bytes, flags);
}

static bool putAttributes(const Encoding *e) {
  for (int i = 0; i < e->spec->numAttributes; ++i) {
    const TileAttributeSpec *attribute = &e->spec->attributes[i];
    MlirAttribute value = tileSpecAttribute(attribute, e->op);
    if (!isThere(e, attribute->name)) {
      if (!isDefault(e, attribute, value))
        return tileError(e->op, "has the attribute %s, which version 13.%d brings; this is version 13.%d",
                         attribute->name, cudaTileSince(e->spec, attribute->name), e->w->version);
      continue;
    }
    if (attribute->isUnit || (mlirAttributeIsNull(value) && cudaTileAttributeIsFlagged(attribute)))
      continue;
    if (mlirAttributeIsNull(value) && attribute->defaultText)
      value = tileSpecDefault(attribute, mlirOperationGetContext(e->op));
    if (!putAttribute(e, attribute, value))
      return false;
  }
  return true;
}

static void putOperands(const Encoding *e) {
  const TileOpSpec *spec = e->spec;
  if (!spec->operandSegments && spec->looseOperand >= 0)
    putNumber(e->bytes, (uint64_t)mlirOperationGetNumOperands(e->op));
  for (int i = 0, at = 0; i < spec->numOperands; ++i) {
    intptr_t count = countOf(e, i);
    if (spec->operandSegments && spec->operands[i].arity == TileArity_Variadic)
      putNumber(e->bytes, (uint64_t)count);
    for (; count > 0; --count)
      putNumber(e->bytes, (uintptr_t)tileTableFind(&e->w->values, mlirOperationGetOperand(e->op, at++).ptr) - 1);
  }
}

static bool putOps(Writer *w, Bytes *bytes, MlirBlock block);

static bool putRegion(Writer *w, Bytes *bytes, MlirRegion region, MlirOperation at) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  uint64_t before = w->numValues, count = 0;
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(at, "has a region that is not one block");
  putNumber(bytes, 1);
  putNumber(bytes, (uint64_t)mlirBlockGetNumArguments(block));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
    if (!putType(w, bytes, mlirValueGetType(mlirBlockGetArgument(block, i)), at))
      return false;
    name(w, mlirBlockGetArgument(block, i));
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    ++count;
  putNumber(bytes, count);
  bool ok = putOps(w, bytes, block);
  w->numValues = before;
  return ok;
}

static bool putOp(Writer *w, Bytes *bytes, MlirOperation op) {
  Encoding e = {w, bytes, op, tileSpecOf(op)};
  if (!e.spec || cudaTileOpKind(op) == CudaTileOp_None)
    return tileError(op, "is no op of CUDA Tile IR");
  if (!isThere(&e, NULL))
    return tileError(op, "is an op of version 13.%d; this is version 13.%d", cudaTileSince(e.spec, NULL), w->version);
  addPlace(w, op);
  bool ok = true;
  putNumber(bytes, cudaTileOpcode(e.spec));
  putResultTypes(&e, &ok);
  putFlagBits(&e);
  if (!ok || !putAttributes(&e))
    return false;
  putOperands(&e);
  if (e.spec->numRegions)
    putNumber(bytes, (uint64_t)e.spec->numRegions);
  for (int i = 0; i < e.spec->numRegions; ++i)
    if (!putRegion(w, bytes, mlirOperationGetRegion(op, i), op))
      return false;
  nameResults(&e);
  return true;
}

static bool putOps(Writer *w, Bytes *bytes, MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  while (!mlirOperationIsNull(op) && putOp(w, bytes, op))
    op = mlirOperationGetNextInBlock(op);
  return mlirOperationIsNull(op);
}

//===--- functions, sections --------------------------------------------------------===//

static bool putEntry(Writer *w, Bytes *bytes, MlirOperation entry) {
  MlirBlock block = mlirRegionGetFirstBlock(cudaTileEntryOpGetBody(entry));
  MlirAttribute hints = cudaTileEntryOpGetOptimizationHints(entry);
  bool isNew = w->version >= 5, hasHints = !mlirAttributeIsNull(hints);
  Bytes body = {0};
  w->firstPlaces = tessera_grow(w->firstPlaces, w->numFunctions, sizeof *w->firstPlaces);
  w->firstPlaces[w->numFunctions++] = (uint64_t)w->numPlaces;
  addPlace(w, entry);
  putNumber(bytes, stringNumber(w, mlirStringAttrGetValue(cudaTileEntryOpGetSymName(entry))));
  if (!putType(w, bytes, mlirTypeAttrGetValue(cudaTileEntryOpGetFunctionType(entry)), entry))
    return false;
  putByte(bytes, CudaTileFlagEntry | (hasHints && !isNew ? CudaTileFlagHints : 0));
  putNumber(bytes, (uint64_t)w->numFunctions);
  if (hasHints || isNew)
    putByte(bytes, CudaTileAttribute_Hints);
  if (hasHints ? !putDictionary(w, bytes, hints, entry) : isNew)
    putNumber(bytes, 0);
  if (isNew) {
    putByte(bytes, CudaTileAttribute_Array);
    putNumber(bytes, 0);
  }
  w->numValues = 0;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    name(w, mlirBlockGetArgument(block, i));
  bool ok = putOps(w, &body, block);
  putNumber(bytes, (uint64_t)body.count);
  putAll(bytes, body.items, (size_t)body.count);
  free(body.items);
  return ok;
}

static bool putGlobal(Writer *w, Bytes *bytes, MlirOperation global) {
  MlirAttribute value = cudaTileGlobalOpGetValue(global);
  bool isPrivate = tileStringEquals(mlirStringAttrGetValue(cudaTileGlobalOpGetVisibility(global)), "private");
  bool isConstant = cudaTileGlobalOpHasConstant(global);
  if (w->version < 3 && (isPrivate || isConstant))
    return tileError(global, "is constant or private, which version 13.3 brings");
  putNumber(bytes, stringNumber(w, mlirStringAttrGetValue(cudaTileGlobalOpGetSymName(global))));
  if (!putType(w, bytes, mlirAttributeGetType(value), global) || !putConstant(w, bytes, value, global))
    return false;
  putNumber(bytes, (uint64_t)cudaTileGlobalOpGetAlignmentValue(global));
  if (w->version >= 3) {
    putByte(bytes, isPrivate);
    putNumber(bytes, isConstant);
  }
  return true;
}

static void putSection(Bytes *file, CudaTileSection section, unsigned alignment, const Bytes *payload) {
  putByte(file, section | (alignment > 1 ? CudaTileSectionIsAligned : 0));
  putNumber(file, (uint64_t)payload->count);
  if (alignment > 1) {
    putNumber(file, alignment);
    pad(file, alignment);
  }
  putAll(file, payload->items, (size_t)payload->count);
}

static void putTableSection(Bytes *file, CudaTileSection section, unsigned width, const Items *table) {
  Bytes payload = {0};
  putTable(&payload, table, width);
  putSection(file, section, width, &payload);
  free(payload.items);
}

// Where no place is known, readers want one attribute all the same.
static void putDebugSection(Bytes *file, const Writer *w) {
  Bytes payload = {0};
  const Items one = {(Bytes[]){{(uint8_t[]){0}, 1}}, 1};
  putNumber(&payload, (uint64_t)w->numFunctions);
  pad(&payload, 4);
  for (int64_t i = 0; i < w->numFunctions; ++i)
    putFixed(&payload, w->firstPlaces[i], 4);
  putNumber(&payload, (uint64_t)w->numPlaces);
  pad(&payload, 8);
  for (int64_t i = 0; i < w->numPlaces; ++i)
    putFixed(&payload, w->places[i], 8);
  putTable(&payload, w->debug.count ? &w->debug : &one, 4);
  putSection(file, CudaTileSection_Debug, 8, &payload);
  free(payload.items);
}

static bool putCode(Writer *w, MlirOperation module, Bytes *functions, Bytes *globals, int64_t *numGlobals) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
  TileOps entries = tileCollectOps(module, cudaTileEntryOpIsA);
  putNumber(functions, (uint64_t)entries.count);
  bool ok = entries.count || tileError(module, "has no cuda_tile.entry");
  tileOpsFree(&entries);
  for (; ok && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (cudaTileGlobalOpIsA(op))
      ok = ++*numGlobals && putGlobal(w, globals, op);
    else
      ok = cudaTileEntryOpIsA(op) ? putEntry(w, functions, op) : tileError(op, "is no kernel of CUDA Tile IR");
  return ok;
}

bool tileIrWrite(MlirOperation module, int version, TileArtifact *artifact, tessera_error_t *error) {
  Writer w = {.version = version};
  Bytes file = {0}, functions = {0}, globals = {0}, counted = {0};
  int64_t numGlobals = 0;
  const Bytes i1 = {(uint8_t *)memcpy(malloc(1), (uint8_t[]){CudaTileTag_I1}, 1), 1};
  const Bytes i32 = {(uint8_t *)memcpy(malloc(1), (uint8_t[]){CudaTileTag_I32}, 1), 1};
  numberOf(&w.types, &i1);
  numberOf(&w.types, &i32);
  bool ok = putCode(&w, module, &functions, &globals, &numGlobals) ||
            tessera_fail(error, "this is no program of CUDA Tile IR 13.%d", version);
  if (ok) {
    putAll(&file, cudaTileMagic, sizeof cudaTileMagic);
    putAll(&file, (uint8_t[]){13, (uint8_t)version, 0, 0}, 4);
    putSection(&file, CudaTileSection_Functions, 8, &functions);
    putNumber(&counted, (uint64_t)numGlobals);
    putAll(&counted, globals.items, (size_t)globals.count);
    if (numGlobals)
      putSection(&file, CudaTileSection_Global, 1, &counted);
    putTableSection(&file, CudaTileSection_Constant, 8, &w.constants);
    putDebugSection(&file, &w);
    putTableSection(&file, CudaTileSection_Type, 4, &w.types);
    putTableSection(&file, CudaTileSection_String, 4, &w.strings);
    putByte(&file, CudaTileSection_End);
    ok = tileArtifactCopy(artifact, file.items, (size_t)file.count, error);
  }
  freeItems(&w.strings);
  freeItems(&w.types);
  freeItems(&w.constants);
  freeItems(&w.debug);
  tileTableFree(&w.values);
  free(w.places);
  free(w.firstPlaces);
  free(file.items);
  free(functions.items);
  free(globals.items);
  free(counted.items);
  return ok;
}
