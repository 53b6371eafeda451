// The encoding #tile.quantized: text, verifier, getters, and the parts of a tensor. See quantized.h.
#include "dialects/tile/quantized.h"

#include "dialects/tile/definitions.h"
#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

enum { Codes, Group, Scale, Zero, ZeroAfterScale, TensorScale, Table, Order, NumKeys };
static const char *const keys[] = {"codes",        "group", "scale", "zero", "zero_after_scale",
                                   "tensor_scale", "table", "order", NULL};

//===--- text ---------------------------------------------------------------===//

static bool isAbsent(MlirAttribute value) { return mlirAttributeIsAUnit(value); }

static bool parseType(MlirExtParser parser, MlirAttribute *value) {
  MlirType type;
  if (!mlirExtParserParseType(parser, &type))
    return false;
  *value = mlirTypeAttrGet(type);
  return true;
}

static bool parseValue(MlirExtParser parser, int key, const void *data, MlirAttribute *value) {
  if (key == ZeroAfterScale) {
    *value = mlirBoolAttrGet(mlirExtParserGetContext(parser), true);
    return true;
  }
  return mlirExtParserParseToken(parser, "=") &&
         (key == Group ? tileParseIntegers(parser, /*allowUnknown=*/false, value) : parseType(parser, value));
}

bool tileQuantizedParse(MlirExtParser parser, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute values[NumKeys] = {{NULL}}, absent = mlirUnitAttrGet(mlirExtParserGetContext(parser));
  if (!mlirExtParserParseToken(parser, "<") ||
      !tileParseKeys(parser, "#tile.quantized", keys, parseValue, NULL, values))
    return false;
  for (int key = Codes; key <= Scale; ++key)
    if (mlirAttributeIsNull(values[key]))
      return tileParseFail(parser, location, "#tile.quantized without '%s'", keys[key]);
  for (int key = 0; key < NumKeys; ++key)
    mlirExtAttributeListAppend(list, mlirAttributeIsNull(values[key]) ? absent : values[key]);
  return true;
}

void tileQuantizedPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values) {
  for (intptr_t key = 0; key < count; ++key) {
    if (isAbsent(values[key]))
      continue;
    tilePrintText(printer, key ? ", " : "<");
    tilePrintText(printer, keys[key]);
    if (key == ZeroAfterScale)
      continue;
    tilePrintText(printer, " = ");
    if (key == Group)
      tilePrintIntegers(printer, values[key]);
    else
      mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(values[key]));
  }
  tilePrintText(printer, ">");
}

//===--- verifiers ----------------------------------------------------------===//

static bool isNarrowInteger(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) <= 8; }

static bool isCode(MlirType type) {
  return isNarrowInteger(type) || (mlirTypeIsAFloat(type) && tileElementWidth(type) <= 8);
}

static bool isReal(MlirType type) { return mlirTypeIsAF32(type) || mlirTypeIsAF16(type) || mlirTypeIsABF16(type); }

static bool isScale(MlirType type) {
  return isReal(type) || mlirTypeIsAFloat8E8M0FNU(type) || mlirTypeIsAFloat8E4M3FN(type);
}

static bool expect(MlirExtEmitter emitter, const MlirAttribute *values, int key, bool (*isA)(MlirType type),
                   const char *wanted) {
  char text[64];
  return isAbsent(values[key]) || isA(mlirTypeAttrGetValue(values[key])) ||
         tileEmit(emitter, "%s is %s; accepted are %s", keys[key],
                  tileTypeText(mlirTypeAttrGetValue(values[key]), text, sizeof text), wanted);
}

static bool isZero(MlirType type) { return isNarrowInteger(type) || isReal(type); }
static bool isF32(MlirType type) { return mlirTypeIsAF32(type); }
static bool isI32(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32; }

bool tileQuantizedVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values) {
  if (!expect(emitter, values, Codes, isCode, "integers and floats of at most 8 bits") ||
      !expect(emitter, values, Scale, isScale, "f32, f16, bf16, f8E8M0FNU and f8E4M3FN") ||
      !expect(emitter, values, Zero, isZero, "integers of at most 8 bits, f32, f16 and bf16") ||
      !expect(emitter, values, TensorScale, isF32, "f32") || !expect(emitter, values, Table, isF32, "f32") ||
      !expect(emitter, values, Order, isI32, "i32"))
    return false;
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(values[Group]); ++i)
    if (mlirDenseI64ArrayGetElement(values[Group], i) < 0)
      return tileEmit(emitter, "group has size %ld; accepted are 0 (all of the axis) and more",
                      (long)mlirDenseI64ArrayGetElement(values[Group], i));
  if (isAbsent(values[Zero]) && !isAbsent(values[ZeroAfterScale]))
    return tileEmit(emitter, "zero_after_scale without a zero");
  bool isInteger = mlirTypeIsAInteger(mlirTypeAttrGetValue(values[Codes]));
  return isAbsent(values[Table]) || (isInteger && isAbsent(values[Zero])) ||
         tileEmit(emitter, "a table requires codes that are integers, and no zero");
}

bool tileQuantizedVerifyEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                                 MlirType element) {
  intptr_t groups = mlirDenseArrayGetNumElements(mlirExtAttributeGetParameter(self, Group));
  char text[64];
  if (rank > TileQuantizedMaxRank)
    return tileEmit(emitter, "a quantized tensor has rank %ld, at most %d are supported", (long)rank,
                    TileQuantizedMaxRank);
  if (groups != rank)
    return tileEmit(emitter, "group has %ld sizes, expected one for each of the tensor's %ld axes", (long)groups,
                    (long)rank);
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (shape[axis] == mlirShapedTypeGetDynamicSize())
      return tileEmit(emitter, "a quantized tensor has a dynamic size on axis %ld, expected a static shape",
                      (long)axis);
  int ordered = 0;
  for (intptr_t axis = 0; axis < rank; ++axis) {
    int64_t group = mlirDenseI64ArrayGetElement(mlirExtAttributeGetParameter(self, Group), axis);
    ordered += group > 1 && group < shape[axis];
  }
  if (!isAbsent(mlirExtAttributeGetParameter(self, Order)) && ordered != 1)
    return tileEmit(emitter, "order requires one axis with several groups of several elements, got %d", ordered);
  return isReal(element) || mlirTypeIsAF64(element) ||
         tileEmit(emitter, "a quantized tensor has elements of %s; accepted are f16, bf16, f32 and f64",
                  tileTypeText(element, text, sizeof text));
}

//===--- getters ------------------------------------------------------------===//

static MlirAttribute encodingOf(MlirType type) {
  return !mlirTypeIsNull(type) && mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type)
                                                                : mlirAttributeGetNull();
}

bool tileAttributeIsAQuantized(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) &&
         mlirExtAttributeIsA(attribute, &tileAttributeDefinitions[TileQuantizedAttribute]);
}

// The type of a key; null where it is absent. Integers lose their sign.
static MlirType typeOf(MlirAttribute encoding, int key, bool *isUnsigned) {
  MlirAttribute value = mlirExtAttributeGetParameter(encoding, key);
  if (isAbsent(value))
    return (MlirType){NULL};
  MlirType type = mlirTypeAttrGetValue(value);
  bool isInteger = mlirTypeIsAInteger(type);
  if (isUnsigned)
    *isUnsigned = isInteger && mlirIntegerTypeIsUnsigned(type);
  return isInteger ? mlirIntegerTypeGet(mlirTypeGetContext(type), mlirIntegerTypeGetWidth(type)) : type;
}

TileQuantization tileQuantizedTypeGet(MlirType type) {
  TileQuantization q = {.rank = mlirShapedTypeGetRank(type), .orderAxis = -1};
  MlirAttribute encoding = encodingOf(type), group = mlirExtAttributeGetParameter(encoding, Group);
  q.codes = typeOf(encoding, Codes, &q.isUnsigned);
  q.scale = typeOf(encoding, Scale, NULL);
  q.zero = typeOf(encoding, Zero, &q.isZeroUnsigned);
  q.tensorScale = typeOf(encoding, TensorScale, NULL);
  q.table = typeOf(encoding, Table, NULL);
  q.order = typeOf(encoding, Order, NULL);
  q.isZeroAfterScale = !isAbsent(mlirExtAttributeGetParameter(encoding, ZeroAfterScale));
  for (intptr_t axis = 0; axis < q.rank; ++axis) {
    int64_t size = mlirShapedTypeGetDimSize(type, axis), given = mlirDenseI64ArrayGetElement(group, axis);
    q.group[axis] = given && given < size ? given : size ? size : 1;
    if (!mlirTypeIsNull(q.order) && given > 1 && given < size)
      q.orderAxis = axis;
  }
  return q;
}

intptr_t tileQuantizedTypeGetParts(MlirType type, TileQuantizedPart *parts) {
  TileQuantization q = tileQuantizedTypeGet(type);
  int64_t sizes[TileQuantizedMaxRank], groups[TileQuantizedMaxRank], entries = INT64_C(1) << tileElementWidth(q.codes);
  MlirAttribute none = mlirAttributeGetNull();
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < q.rank; ++axis) {
    sizes[axis] = mlirShapedTypeGetDimSize(type, axis);
    groups[axis] = (sizes[axis] + q.group[axis] - 1) / q.group[axis];
  }
  parts[count++] = (TileQuantizedPart){TileQuantized_Codes, mlirRankedTensorTypeGet(q.rank, sizes, q.codes, none)};
  parts[count++] = (TileQuantizedPart){TileQuantized_Scales, mlirRankedTensorTypeGet(q.rank, groups, q.scale, none)};
  if (!mlirTypeIsNull(q.zero))
    parts[count++] = (TileQuantizedPart){TileQuantized_Zeros, mlirRankedTensorTypeGet(q.rank, groups, q.zero, none)};
  if (!mlirTypeIsNull(q.tensorScale))
    parts[count++] =
        (TileQuantizedPart){TileQuantized_TensorScale, mlirRankedTensorTypeGet(0, NULL, q.tensorScale, none)};
  if (!mlirTypeIsNull(q.table))
    parts[count++] = (TileQuantizedPart){TileQuantized_Table, mlirRankedTensorTypeGet(1, &entries, q.table, none)};
  if (q.orderAxis >= 0)
    parts[count++] =
        (TileQuantizedPart){TileQuantized_Order, mlirRankedTensorTypeGet(1, &sizes[q.orderAxis], q.order, none)};
  return count;
}

MlirType tileQuantizedTypeGetDense(MlirType type) {
  int64_t sizes[TileQuantizedMaxRank];
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    sizes[axis] = mlirShapedTypeGetDimSize(type, axis);
  return mlirRankedTensorTypeGet(mlirShapedTypeGetRank(type), sizes, mlirShapedTypeGetElementType(type),
                                 mlirAttributeGetNull());
}
