// The table of element types. See types.h.
#include "lib/import/onnx/types.h"

#include "mlir-c/BuiltinTypes.h"

static MlirType i1Type(MlirContext context) { return mlirIntegerTypeGet(context, 1); }
static MlirType i8Type(MlirContext context) { return mlirIntegerTypeGet(context, 8); }
static MlirType i16Type(MlirContext context) { return mlirIntegerTypeGet(context, 16); }
static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }
static MlirType i64Type(MlirContext context) { return mlirIntegerTypeGet(context, 64); }

static const struct {
  const char *name;
  MlirType (*mlir)(MlirContext context);
  OnnxTypeKind kind;
} types[] = {
#define X(number, enumerator, text, type, group) [number] = {text, type, OnnxType_##group},
    ONNX_TYPES(X)
#undef X
};

static bool isKnown(OnnxType type) { return type > 0 && type < (OnnxType)(sizeof types / sizeof *types); }

const char *onnxTypeName(OnnxType type) { return isKnown(type) ? types[type].name : "unknown"; }
OnnxTypeKind onnxTypeKind(OnnxType type) { return isKnown(type) ? types[type].kind : OnnxType_Other; }

MlirType onnxTypeMlir(MlirContext context, OnnxType type) {
  if (!isKnown(type) || !types[type].mlir)
    return (MlirType){NULL};
  return types[type].mlir(context);
}

int onnxTypeBytes(OnnxType type) {
  if (!isKnown(type) || !types[type].mlir)
    return 0;
  switch (type) {
  case Onnx_F64:
  case Onnx_I64:
  case Onnx_U64:
    return 8;
  case Onnx_F32:
  case Onnx_I32:
  case Onnx_U32:
    return 4;
  case Onnx_F16:
  case Onnx_BF16:
  case Onnx_I16:
  case Onnx_U16:
    return 2;
  default:
    return 1;
  }
}

int onnxTypeBits(OnnxType type) {
  switch (type) {
  case Onnx_U4:
  case Onnx_I4:
  case Onnx_F4E2M1:
    return 4;
  case Onnx_U2:
  case Onnx_I2:
    return 2;
  default:
    return 8 * onnxTypeBytes(type);
  }
}

double onnxTypeLargest(OnnxType type) {
  switch (type) {
  case Onnx_F8E4M3FN:
    return 448;
  case Onnx_F8E4M3FNUZ:
    return 240;
  case Onnx_F8E5M2:
  case Onnx_F8E5M2FNUZ:
    return 57344;
  case Onnx_F4E2M1:
    return 6;
  default:
    return 0;
  }
}

bool onnxTypeIsCode(OnnxType type) {
  int bits = onnxTypeBits(type);
  return (bits > 0 && bits < 8) || type == Onnx_F8E4M3FNUZ || type == Onnx_F8E5M2FNUZ || type == Onnx_F8E8M0;
}
