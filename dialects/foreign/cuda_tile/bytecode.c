// Questions about the encoding of an op, answered from its row. See bytecode.h.
#include "dialects/foreign/cuda_tile/bytecode.h"

#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "lib/ir/support.h"

#include <stdlib.h>

//===--- types ------------------------------------------------------------------===//

MlirType cudaTileSimpleType(MlirContext context, unsigned tag) {
  switch (tag) {
  case CudaTileTag_I1:
    return mlirIntegerTypeGet(context, 1);
  case CudaTileTag_I4:
    return mlirIntegerTypeGet(context, 4);
  case CudaTileTag_I8:
    return mlirIntegerTypeGet(context, 8);
  case CudaTileTag_I16:
    return mlirIntegerTypeGet(context, 16);
  case CudaTileTag_I32:
    return mlirIntegerTypeGet(context, 32);
  case CudaTileTag_I64:
    return mlirIntegerTypeGet(context, 64);
  case CudaTileTag_F16:
    return mlirF16TypeGet(context);
  case CudaTileTag_BF16:
    return mlirBF16TypeGet(context);
  case CudaTileTag_F32:
    return mlirF32TypeGet(context);
  case CudaTileTag_TF32:
    return mlirTF32TypeGet(context);
  case CudaTileTag_F64:
    return mlirF64TypeGet(context);
  case CudaTileTag_F8E4M3FN:
    return mlirFloat8E4M3FNTypeGet(context);
  case CudaTileTag_F8E5M2:
    return mlirFloat8E5M2TypeGet(context);
  case CudaTileTag_F8E8M0FNU:
    return mlirFloat8E8M0FNUTypeGet(context);
  case CudaTileTag_F4E2M1FN:
    return mlirFloat4E2M1FNTypeGet(context);
  case CudaTileTag_Token:
    return cudaTileTokenTypeGet(context);
  default:
    return (MlirType){NULL};
  }
}

int cudaTileSimpleTag(MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  for (unsigned tag = 0; tag <= CudaTileTag_I4; ++tag) {
    MlirType simple = cudaTileSimpleType(context, tag);
    if (!mlirTypeIsNull(simple) && mlirTypeEqual(simple, type))
      return (int)tag;
  }
  return -1;
}

//===--- the column `bytecode` ----------------------------------------------------===//

unsigned cudaTileOpcode(const TileOpSpec *spec) { return (unsigned)strtoul(spec->row->bytecode, NULL, 10); }

// "43 since 13.2, saturating since 13.4".
static int versionBehind(const char *text) {
  static const char since[] = " since 13.";
  return strncmp(text, since, sizeof since - 1) == 0 ? atoi(text + sizeof since - 1) : CudaTileOldest;
}

int cudaTileSince(const TileOpSpec *spec, const char *nameOrNull) {
  const char *text = spec->row->bytecode + strspn(spec->row->bytecode, "0123456789");
  int op = versionBehind(text);
  for (const char *entry = nameOrNull ? strchr(text, ',') : NULL; entry; entry = strchr(entry + 1, ','))
    if (strncmp(entry + 2, nameOrNull, strlen(nameOrNull)) == 0 && entry[2 + strlen(nameOrNull)] == ' ')
      return versionBehind(entry + 2 + strlen(nameOrNull));
  return op;
}

//===--- flags, counts --------------------------------------------------------------===//

bool cudaTileCountsResults(const TileOpSpec *spec) {
  bool counts = false;
  for (int i = 0; i < spec->numOperands; ++i)
    counts |= spec->operands[i].arity == TileArity_Variadic;
  for (int i = 0; i < spec->numResults; ++i)
    counts |= spec->results[i].arity == TileArity_Variadic;
  return counts;
}

bool cudaTileAttributeIsFlagged(const TileAttributeSpec *attribute) {
  return attribute->isUnit ||
         (attribute->isOptional && !attribute->defaultText && cudaTileEncodingOf(attribute) != CudaTileEncoding_Flags);
}

bool cudaTileHasFlags(const TileOpSpec *spec, int version) {
  bool has = false;
  for (int i = 0; i < spec->numAttributes; ++i)
    has |= cudaTileAttributeIsFlagged(&spec->attributes[i]) && cudaTileSince(spec, spec->attributes[i].name) <= version;
  for (int i = 0; spec->operandSegments && i < spec->numOperands; ++i)
    has |= spec->operands[i].arity == TileArity_Optional && cudaTileSince(spec, spec->operands[i].name) <= version;
  return has;
}

CudaTileEncoding cudaTileEncodingOf(const TileAttributeSpec *attribute) {
  static const struct {
    const char *kind;
    CudaTileEncoding encoding;
  } kinds[] = {
      {"i64", CudaTileEncoding_Number},         {"bool", CudaTileEncoding_Bool},
      {"string", CudaTileEncoding_String},      {"symbol", CudaTileEncoding_Symbol},
      {"i32 array", CudaTileEncoding_I32Array}, {"flags", CudaTileEncoding_Flags},
      {"elements", CudaTileEncoding_Constant},  {"array", CudaTileEncoding_Array},
      {"assumption", CudaTileEncoding_Tagged},  {"dictionary", CudaTileEncoding_Hints},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(attribute->kindName, kinds[i].kind) == 0)
      return kinds[i].encoding;
  return CudaTileEncoding_Word;
}
