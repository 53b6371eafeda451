// ONNX's element types. Unsigned integers are signless in the program; the importer remembers which are. An integer of
// 2 or 4 bits takes a byte, with its sign; weights of the file are unpacked by the program.
#pragma once

#include "lib/capi/common.h"
#include "lib/import/onnx/model.h"

// number in TensorProto.DataType, enumerator, name in messages, type in MLIR (null: none we can run), kind
#define ONNX_TYPES(X)                                                                                                  \
  X(1, F32, "float32", mlirF32TypeGet, Float)                                                                          \
  X(2, U8, "uint8", i8Type, Unsigned)                                                                                  \
  X(3, I8, "int8", i8Type, Signed)                                                                                     \
  X(4, U16, "uint16", i16Type, Unsigned)                                                                               \
  X(5, I16, "int16", i16Type, Signed)                                                                                  \
  X(6, I32, "int32", i32Type, Signed)                                                                                  \
  X(7, I64, "int64", i64Type, Signed)                                                                                  \
  X(8, String, "string", NULL, Other)                                                                                  \
  X(9, Bool, "bool", i1Type, Bool)                                                                                     \
  X(10, F16, "float16", mlirF16TypeGet, Float)                                                                         \
  X(11, F64, "float64", mlirF64TypeGet, Float)                                                                         \
  X(12, U32, "uint32", i32Type, Unsigned)                                                                              \
  X(13, U64, "uint64", i64Type, Unsigned)                                                                              \
  X(14, C64, "complex64", NULL, Other)                                                                                 \
  X(15, C128, "complex128", NULL, Other)                                                                               \
  X(16, BF16, "bfloat16", mlirBF16TypeGet, Float)                                                                      \
  X(17, F8E4M3FN, "float8e4m3fn", mlirFloat8E4M3FNTypeGet, Float)                                                      \
  X(18, F8E4M3FNUZ, "float8e4m3fnuz", mlirFloat8E4M3FNUZTypeGet, Float)                                                \
  X(19, F8E5M2, "float8e5m2", mlirFloat8E5M2TypeGet, Float)                                                            \
  X(20, F8E5M2FNUZ, "float8e5m2fnuz", mlirFloat8E5M2FNUZTypeGet, Float)                                                \
  X(21, U4, "uint4", i8Type, Unsigned)                                                                                 \
  X(22, I4, "int4", i8Type, Signed)                                                                                    \
  X(23, F4E2M1, "float4e2m1", mlirFloat4E2M1FNTypeGet, Float)                                                          \
  X(24, F8E8M0, "float8e8m0", i8Type, Float)                                                                           \
  X(25, U2, "uint2", i8Type, Unsigned)                                                                                 \
  X(26, I2, "int2", i8Type, Signed)

enum {
#define X(number, enumerator, name, mlir, kind) Onnx_##enumerator = number,
  ONNX_TYPES(X)
#undef X
};

typedef enum OnnxTypeKind {
  OnnxType_Other, // strings, complex numbers, types that no target runs
  OnnxType_Float,
  OnnxType_Signed,
  OnnxType_Unsigned,
  OnnxType_Bool
} OnnxTypeKind;

const char *onnxTypeName(OnnxType type); // "float32"; "type 99" is "unknown"
OnnxTypeKind onnxTypeKind(OnnxType type);
MlirType onnxTypeMlir(MlirContext context, OnnxType type); // null: none
int onnxTypeBytes(OnnxType type);                          // of an element in the program; 0: none we can run
int onnxTypeBits(OnnxType type);                           // of an element in raw_data
// The greatest number of a float of 8 bits or fewer, to which casts saturate; 0 of other types.
double onnxTypeLargest(OnnxType type);
// Elements of fewer than 8 bits, the floats of AMD's GPUs, and powers of two (float8e8m0, bytes in the program): only
// what moves and converts elements takes them, and they cross the entry as bytes, one each.
bool onnxTypeIsCode(OnnxType type);

static inline bool onnxIsFloat(OnnxType type) { return onnxTypeKind(type) == OnnxType_Float; }
static inline bool onnxIsUnsigned(OnnxType type) { return onnxTypeKind(type) == OnnxType_Unsigned; }
static inline bool onnxIsInteger(OnnxType type) { // no bool
  return onnxTypeKind(type) == OnnxType_Signed || onnxTypeKind(type) == OnnxType_Unsigned;
}
