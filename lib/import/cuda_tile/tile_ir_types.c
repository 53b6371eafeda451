// Types and attributes of the bytecode. Types are decoded when they are first used.
#include "lib/import/cuda_tile/tile_ir_parts.h"

#include <stdlib.h>

static MlirType fail(TileIrBytes *bytes, const char *text) {
  tileIrFail(bytes, "%s", text);
  return (MlirType){NULL};
}

//===--- types ----------------------------------------------------------------------===//

static MlirType decodeTile(TileIrBytes *bytes) {
  int64_t sizes[CudaTileMaxRank], elements = 1;
  MlirType element = tileIrType(bytes);
  intptr_t rank = tileIrList(bytes, 8, sizes, CudaTileMaxRank);
  if (bytes->file->failed)
    return (MlirType){NULL};
  for (intptr_t i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > CudaTileMaxElements / elements)
      return fail(bytes, "a tile has no elements or too many");
    elements *= sizes[i];
  }
  if (!mlirTypeIsAInteger(element) && !mlirTypeIsAFloat(element) && !cudaTileTypeIsAPointer(element))
    return fail(bytes, "a tile of what is no integer, float or pointer");
  return mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
}

static bool takePointerFlags(TileIrBytes *bytes) {
  return bytes->file->version < 4 || tileIrNumber(bytes) == 0 ||
         tileIrFail(bytes, "a pointer has an attribute, which is not supported");
}

static MlirType decodeTensorView(TileIrBytes *bytes) {
  int64_t sizes[CudaTileMaxRank], strides[CudaTileMaxRank];
  if (!takePointerFlags(bytes))
    return (MlirType){NULL};
  MlirType element = tileIrType(bytes);
  intptr_t rank = tileIrList(bytes, 8, sizes, CudaTileMaxRank);
  if (tileIrList(bytes, 8, strides, CudaTileMaxRank) != rank)
    return fail(bytes, "a tensor_view has not as many strides as sizes");
  return bytes->file->failed ? (MlirType){NULL} : cudaTileTensorViewTypeGet(element, rank, sizes, strides);
}

static bool takePadding(TileIrBytes *bytes, uint64_t flags, const char **padding) {
  *padding = NULL;
  if (!(flags & 1))
    return true;
  unsigned number = tileIrByte(bytes);
  for (unsigned i = 0; i <= number; ++i)
    if (!(*padding = cudaTilePaddingNames[i]))
      return tileIrFail(bytes, "unknown padding %u", number);
  return true;
}

static MlirType decodeView(TileIrBytes *bytes, CudaTileViewKind kind) {
  CudaTileViewSpec spec = {.kind = kind, .sparse = -1};
  int64_t *tile = spec.tile;
  bool hasFlags = kind != CudaTileView_Partition || bytes->file->version >= 3;
  uint64_t flags = hasFlags ? tileIrNumber(bytes) : 0;
  spec.rank = tileIrList(bytes, 4, tile, CudaTileMaxRank);
  memcpy(spec.steps, spec.tile, sizeof spec.steps);
  for (int i = 0; i < CudaTileMaxRank; ++i)
    spec.map[i] = i;
  bool ok = kind != CudaTileView_Strided || tileIrList(bytes, 4, spec.steps, CudaTileMaxRank) == spec.rank;
  spec.tensor = tileIrType(bytes);
  if (kind == CudaTileView_GatherScatter)
    spec.sparse = (int64_t)(tileIrNumber(bytes) & INT32_MAX);
  else
    ok = ok && tileIrList(bytes, 4, spec.map, CudaTileMaxRank) == spec.rank;
  if (!ok)
    return fail(bytes, "the lists of a view differ in length");
  if (!hasFlags)
    flags = tileIrNumber(bytes);
  if (!takePadding(bytes, flags, &spec.padding) || bytes->file->failed)
    return (MlirType){NULL};
  return cudaTileTypeIsATensorView(spec.tensor) ? cudaTileViewTypeGet(&spec)
                                                : fail(bytes, "a view of what is no tensor_view");
}

static intptr_t decodeTypes(TileIrBytes *bytes, MlirType **types) {
  uint64_t count = tileIrCount(bytes, 1, "types");
  *types = calloc(count + 1, sizeof **types);
  for (uint64_t i = 0; i < count && !bytes->file->failed; ++i)
    (*types)[i] = tileIrType(bytes);
  return (intptr_t)count;
}

static MlirType decodeFunction(TileIrBytes *bytes) {
  MlirType *inputs, *results;
  intptr_t numInputs = decodeTypes(bytes, &inputs), numResults = decodeTypes(bytes, &results);
  MlirType type = bytes->file->failed
                      ? (MlirType){NULL}
                      : mlirFunctionTypeGet(bytes->file->context, numInputs, inputs, numResults, results);
  free(inputs);
  free(results);
  return type;
}

static MlirType decode(TileIrBytes *bytes) {
  uint64_t tag = tileIrNumber(bytes);
  switch (tag) {
  case CudaTileTag_Pointer: {
    MlirType pointee = takePointerFlags(bytes) ? tileIrType(bytes) : (MlirType){NULL};
    return mlirTypeIsNull(pointee) ? pointee : cudaTilePointerTypeGet(pointee);
  }
  case CudaTileTag_Tile:
    return decodeTile(bytes);
  case CudaTileTag_TensorView:
    return decodeTensorView(bytes);
  case CudaTileTag_PartitionView:
    return decodeView(bytes, CudaTileView_Partition);
  case CudaTileTag_StridedView:
    return decodeView(bytes, CudaTileView_Strided);
  case CudaTileTag_GatherScatterView:
    return decodeView(bytes, CudaTileView_GatherScatter);
  case CudaTileTag_Function:
    return decodeFunction(bytes);
  default: {
    MlirType simple =
        tag <= CudaTileTag_I4 ? cudaTileSimpleType(bytes->file->context, (unsigned)tag) : (MlirType){NULL};
    if (mlirTypeIsNull(simple))
      tileIrFail(bytes, "unknown type %lu", (unsigned long)tag);
    return simple;
  }
  }
}

MlirType tileIrType(TileIrBytes *bytes) {
  TileIrFile *file = bytes->file;
  uint64_t number = tileIrNumber(bytes);
  TileIrBytes item = tileIrItem(bytes, &file->types, number, "type");
  if (file->failed || !mlirTypeIsNull(file->decodedTypes[number]))
    return file->failed ? (MlirType){NULL} : file->decodedTypes[number];
  if (file->typeIsOpen[number])
    return fail(bytes, "a type holds itself");
  file->typeIsOpen[number] = true;
  MlirType type = decode(&item);
  file->typeIsOpen[number] = false;
  if (mlirTypeIsNull(type) && !file->failed)
    tileIrFail(&item, "this type does not exist");
  return file->failed ? (MlirType){NULL} : (file->decodedTypes[number] = type);
}

//===--- attributes -----------------------------------------------------------------===//

static MlirAttribute none(TileIrBytes *bytes, const char *text) {
  tileIrFail(bytes, "%s", text);
  return mlirAttributeGetNull();
}

// The float of these bits.
static MlirAttribute decodeFloat(TileIrBytes *bytes) {
  MlirType type = tileIrType(bytes);
  if (bytes->file->failed || !mlirTypeIsAFloat(type))
    return none(bytes, "a float of a type that is none");
  unsigned width = mlirFloatTypeGetWidth(type);
  uint64_t bits = width <= 8 ? tileIrByte(bytes) : (uint64_t)tileIrSigned(bytes);
  MlirType one = mlirRankedTensorTypeGet(0, NULL, type, mlirAttributeGetNull());
  MlirAttribute elements = mlirDenseElementsAttrRawBufferGet(one, (width + 7) / 8, &bits);
  return mlirAttributeIsNull(elements) ? none(bytes, "a float that does not exist")
                                       : mlirDenseElementsAttrGetSplatValue(elements);
}

static MlirAttribute decodeInteger(TileIrBytes *bytes) {
  MlirType type = tileIrType(bytes);
  uint64_t value = tileIrNumber(bytes);
  if (bytes->file->failed || !mlirTypeIsAInteger(type))
    return none(bytes, "an integer of a type that is none");
  unsigned unused = 64 - mlirIntegerTypeGetWidth(type);
  return mlirIntegerAttrGet(type, (int64_t)(value << unused) >> unused);
}

static MlirAttribute decodeArray(TileIrBytes *bytes, int depth);

static MlirAttribute decodeAssumption(TileIrBytes *bytes, CudaTileAssumptionKind kind) {
  CudaTileAssumption of = {.kind = kind};
  of.divisor = kind == CudaTileAssumption_DivBy ? (int64_t)(tileIrNumber(bytes) & INT64_MAX) : 0;
  unsigned flags = tileIrByte(bytes);
  of.hasFirst = flags & 1;
  of.hasSecond = flags & 2;
  of.first = of.hasFirst ? tileIrSigned(bytes) : 0;
  of.second = of.hasSecond ? tileIrSigned(bytes) : 0;
  if (bytes->file->failed)
    return mlirAttributeGetNull();
  if (kind == CudaTileAssumption_DivBy && (of.divisor <= 0 || (of.divisor & (of.divisor - 1))))
    return none(bytes, "a divisor that is no power of two");
  return cudaTileAssumptionAttrGet(bytes->file->context, &of);
}

static MlirAttribute decodeDictionary(TileIrBytes *bytes, int depth);

static MlirAttribute decodeTagged(TileIrBytes *bytes, int depth) {
  MlirContext context = bytes->file->context;
  unsigned tag = tileIrByte(bytes);
  if (depth > 16)
    return none(bytes, "attributes nest too deep");
  switch (tag) {
  case CudaTileAttribute_Integer:
    return decodeInteger(bytes);
  case CudaTileAttribute_Float:
    return decodeFloat(bytes);
  case CudaTileAttribute_Bool:
    return mlirBoolAttrGet(context, tileIrByte(bytes) != 0);
  case CudaTileAttribute_Type: {
    MlirType type = tileIrType(bytes);
    return mlirTypeIsNull(type) ? mlirAttributeGetNull() : mlirTypeAttrGet(type);
  }
  case CudaTileAttribute_String:
    return mlirStringAttrGet(context, tileIrString(bytes));
  case CudaTileAttribute_Array:
    return decodeArray(bytes, depth + 1);
  case CudaTileAttribute_Dictionary:
  case CudaTileAttribute_Hints:
    return decodeDictionary(bytes, depth + 1);
  case CudaTileAttribute_DivBy:
    return decodeAssumption(bytes, CudaTileAssumption_DivBy);
  case CudaTileAttribute_Bounded:
    return decodeAssumption(bytes, CudaTileAssumption_Bounded);
  default:
    tileIrFail(bytes, "attribute of kind %u, which is not supported", tag);
    return mlirAttributeGetNull();
  }
}

MlirAttribute tileIrTagged(TileIrBytes *bytes) { return decodeTagged(bytes, 0); }

static MlirAttribute decodeArray(TileIrBytes *bytes, int depth) {
  uint64_t count = tileIrCount(bytes, 1, "attributes");
  MlirAttribute *items = calloc(count + 1, sizeof *items);
  for (uint64_t i = 0; i < count && !bytes->file->failed; ++i)
    items[i] = decodeTagged(bytes, depth);
  MlirAttribute array =
      bytes->file->failed ? mlirAttributeGetNull() : mlirArrayAttrGet(bytes->file->context, (intptr_t)count, items);
  free(items);
  return array;
}

static MlirAttribute decodeDictionary(TileIrBytes *bytes, int depth) {
  TileIrFile *file = bytes->file;
  uint64_t count = tileIrCount(bytes, 2, "attributes");
  MlirNamedAttribute *items = calloc(count + 1, sizeof *items);
  bool isTwice = false;
  for (uint64_t i = 0; i < count && !file->failed; ++i) {
    MlirStringRef name = tileIrString(bytes);
    MlirAttribute value = decodeTagged(bytes, depth);
    if (file->failed)
      break;
    items[i] = mlirNamedAttributeGet(mlirIdentifierGet(file->context, name), value);
    for (uint64_t before = 0; before < i; ++before)
      isTwice |= mlirIdentifierEqual(items[before].name, items[i].name) || name.length == 0;
  }
  if (isTwice)
    tileIrFail(bytes, "two attributes have one name");
  MlirAttribute made =
      file->failed ? mlirAttributeGetNull() : mlirDictionaryAttrGet(file->context, (intptr_t)count, items);
  free(items);
  return made;
}

MlirAttribute tileIrDictionary(TileIrBytes *bytes) { return decodeDictionary(bytes, 0); }

MlirAttribute tileIrConstant(TileIrBytes *bytes, MlirType tile) {
  uint64_t number = tileIrNumber(bytes);
  TileIrBytes item = tileIrItem(bytes, &bytes->file->constants, number, "constant");
  uint64_t size = tileIrCount(&item, 1, "bytes");
  if (bytes->file->failed)
    return mlirAttributeGetNull();
  if (mlirTypeIsNull(tile) || !mlirTypeIsARankedTensor(tile) ||
      cudaTileTypeIsAPointer(mlirShapedTypeGetElementType(tile)))
    return none(bytes, "a constant that is no tile of numbers");
  MlirAttribute made = mlirDenseElementsAttrRawBufferGet(tile, size, item.at);
  if (mlirAttributeIsNull(made))
    tileIrFail(bytes, "a constant of %lu bytes, which its type does not have", (unsigned long)size);
  return made;
}
