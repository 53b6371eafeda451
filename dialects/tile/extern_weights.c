// Globals of ml_program whose data lie in a file. See extern_weights.h.
#include "dialects/tile/extern_weights.h"

#include "dialects/tile/discardable.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/ml_program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { Alignment = 64 }; // what bufferization gives constants

//===--- the source -----------------------------------------------------------===//

static MlirNamedAttribute named(MlirContext context, const char *name, MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(context, tileString(name)), value);
}

MlirAttribute tileWeightsSource(MlirContext context, const tessera_weights_source_t *source) {
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  char checksum[17];
  snprintf(checksum, sizeof checksum, "%016" PRIx64, source->checksum);
  const MlirNamedAttribute entries[] = {
      named(context, "file", mlirStringAttrGet(context, tileString(source->file))),
      named(context, "offset", mlirIntegerAttrGet(i64, (int64_t)source->offset)),
      named(context, "bytes", mlirIntegerAttrGet(i64, (int64_t)source->bytes)),
      named(context, "checksum", mlirStringAttrGet(context, tileString(checksum))),
  };
  return mlirDictionaryAttrGet(context, sizeof entries / sizeof *entries, entries);
}

static bool readNumber(MlirAttribute dictionary, const char *name, uint64_t *number) {
  MlirAttribute value = mlirDictionaryAttrGetElementByName(dictionary, tileString(name));
  bool is = !mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value) &&
            mlirTypeIsAInteger(mlirAttributeGetType(value)) && mlirIntegerAttrGetValueInt(value) >= 0;
  *number = is ? (uint64_t)mlirIntegerAttrGetValueInt(value) : 0;
  return is;
}

// Sixteen digits, as they are written.
static bool readChecksum(MlirAttribute dictionary, uint64_t *checksum) {
  MlirAttribute value = mlirDictionaryAttrGetElementByName(dictionary, tileString("checksum"));
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAString(value))
    return false;
  MlirStringRef text = mlirStringAttrGetValue(value);
  *checksum = 0;
  for (size_t i = 0; i < text.length; ++i) {
    const char *digit = text.data[i] ? strchr("0123456789abcdef", text.data[i]) : NULL;
    if (!digit)
      return false;
    *checksum = *checksum << 4 | (uint64_t)(digit - "0123456789abcdef");
  }
  return text.length == 16;
}

bool tileWeightsSourceOf(MlirAttribute attribute, tessera_weights_source_t *source) {
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsADictionary(attribute))
    return false;
  MlirAttribute file = mlirDictionaryAttrGetElementByName(attribute, tileString("file"));
  bool hasFile = !mlirAttributeIsNull(file) && mlirAttributeIsAString(file);
  source->file = hasFile ? mlirStringAttrGetValue(file).data : NULL; // ends in a zero byte
  return hasFile && strlen(source->file) == mlirStringAttrGetValue(file).length &&
         mlirDictionaryAttrGetNumElements(attribute) == 4 && readNumber(attribute, "offset", &source->offset) &&
         readNumber(attribute, "bytes", &source->bytes) && readChecksum(attribute, &source->checksum);
}

bool tileWeightsIsSource(MlirAttribute attribute) {
  tessera_weights_source_t source;
  return tileWeightsSourceOf(attribute, &source);
}

//===--- globals --------------------------------------------------------------===//

MlirOperation tileWeightsBuildGlobal(TileBuilder *builder, MlirSymbolTable symbols, MlirStringRef name, MlirType type,
                                     MlirAttribute source) {
  MlirContext context = builder->context;
  MlirOperation global =
      mlProgramGlobalOpCreate(builder, mlirStringAttrGet(context, name), mlirTypeAttrGet(type), mlirAttributeGetNull(),
                              tileExternAttribute(type), mlirStringAttrGet(context, tileString("private")));
  tileOpSetSource(global, source);
  mlirSymbolTableInsert(symbols, global); // gives it a name that is new
  return global;
}

bool tileWeightsIsExtern(MlirOperation op) {
  if (!mlProgramGlobalOpIsA(op) || mlProgramGlobalOpHasIsMutable(op))
    return false;
  MlirAttribute value = mlProgramGlobalOpGetValue(op);
  return !mlirAttributeIsNull(value) && !mlirAttributeIsAElements(value) &&
         mlirAttributeEqual(value, tileExternAttribute(mlProgramGlobalOpGetTypeValue(op)));
}

//===--- data -----------------------------------------------------------------===//

// How many bytes the elements take; false where that is not known, or no whole bytes each.
static bool bytesOf(MlirType type, uint64_t *bytes) {
  if (!mlirTypeIsARankedTensor(type) || !mlirShapedTypeHasStaticShape(type))
    return false;
  unsigned bits = tileElementWidth(mlirShapedTypeGetElementType(type));
  *bytes = bits / 8;
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (__builtin_mul_overflow(*bytes, (uint64_t)mlirShapedTypeGetDimSize(type, d), bytes))
      return false;
  return bits && bits % 8 == 0;
}

static void release(void *userData, const void *data, size_t size, size_t alignment) {
  (void)userData, (void)alignment;
  tessera_weights_release(data, size);
}

MlirAttribute tileWeightsRead(MlirOperation global) {
  MlirType type = mlProgramGlobalOpGetTypeValue(global);
  MlirStringRef name = mlProgramGlobalOpGetSymNameValue(global);
  tessera_weights_source_t source;
  tessera_error_t error;
  uint64_t wanted;
  MlirAttribute none = mlirAttributeGetNull();
  if (!bytesOf(type, &wanted) || !wanted)
    return tileError(global, "'%.*s': its type has no known number of bytes", (int)name.length, name.data), none;
  if (!tileWeightsSourceOf(tileOpGetSource(global), &source))
    return tileError(global, "'%.*s' has no data: tile.source or --weights says where they are", (int)name.length,
                     name.data),
           none;
  if (source.bytes != wanted)
    return tileError(global, "'%.*s' has %" PRIu64 " bytes of data in %s; its type takes %" PRIu64, (int)name.length,
                     name.data, source.bytes, source.file, wanted),
           none;
  const void *data = tessera_weights_take(&source, Alignment, &error);
  if (!data)
    return tileError(global, "'%.*s': %s", (int)name.length, name.data, error.text), none;
  return mlirUnmanagedDenseResourceElementsAttrGet(type, name, (void *)(uintptr_t)data, source.bytes, Alignment, false,
                                                   release, NULL);
}
