// Types and constants of emitted source. Integers are unsigned, since C's signed ones may not wrap. See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <math.h>
#include <string.h>

//===--- names --------------------------------------------------------------------------------------===//

typedef struct Scalar {
  const char *name, *type, *signedType;
} Scalar;

static const Scalar *scalarOf(MlirType type) {
  static const Scalar boolean = {"bool", "bool", "int32_t"}, half = {"f16", "f16", NULL},
                      brain = {"bf16", "bf16", NULL}, single = {"f32", "float", NULL}, real = {"f64", "double", NULL},
                      integers[] = {{"u8", "uint8_t", "int8_t"},
                                    {"u16", "uint16_t", "int16_t"},
                                    {"u32", "uint32_t", "int32_t"},
                                    {"u64", "uint64_t", "int64_t"}};
  if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type))
    return mlirTypeIsAF16(type) ? &half : &brain;
  if (mlirTypeIsAF32(type) || mlirTypeIsAF64(type))
    return mlirTypeIsAF32(type) ? &single : &real;
  unsigned width = mlirTypeIsAIndex(type) ? 64 : tileElementWidth(type);
  for (int i = 0; i < 4; ++i)
    if (width == 8u << i && (i == 0 || mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type)))
      return &integers[i]; // a float of 8 bits is its bits
  return width == 1 ? &boolean : NULL;
}

// Writes the type once; `name` must outlive the writer.
static void declare(SourceWriter *w, MlirType type, const char *name, const char *text) {
  MlirIdentifier unique = mlirIdentifierGet(mlirTypeGetContext(type), tileString(name));
  tileTableSet(&w->symbols, type.ptr, (void *)name);
  if (tileTableFind(&w->symbols, unique.ptr))
    return;
  tileTableSet(&w->symbols, unique.ptr, (void *)name);
  fprintf(w->types, "%s\n", text);
}

static const char *vectorType(SourceWriter *w, MlirType type, const char *element, const char *elementType,
                              int64_t count) {
  const char *name = tileArenaPrintf(&w->arena, "%sx%lld", element, (long long)count);
  declare(w, type, name, tileArenaPrintf(&w->arena, "typedef vec<%s, %lld> %s;", elementType, (long long)count, name));
  return name;
}

//===--- vectors of C ---------------------------------------------------------------------------------===//

enum { DefaultMaskBits = 32 };

bool tileSourceIsMask(MlirType type) {
  return mlirTypeIsAVector(type) && tileElementWidth(mlirShapedTypeGetElementType(type)) == 1;
}

int64_t tileSourceNumLanes(MlirType vector) {
  return mlirShapedTypeGetRank(vector) ? mlirShapedTypeGetDimSize(vector, 0) : 1;
}

int64_t tileSourceLanes(MlirType vector) {
  int64_t lanes = 1;
  while (lanes < tileSourceNumLanes(vector))
    lanes *= 2;
  return lanes;
}

static int laneBits(MlirType vector) {
  MlirType element = mlirShapedTypeGetElementType(vector);
  return mlirTypeIsAIndex(element) ? 64 : (int)tileElementWidth(element);
}

// Comparing gives integers as wide as what is compared; logic keeps the width of its first operand.
int tileSourceMaskBits(MlirValue mask) {
  MlirOperation op = tileDefiningOp(mask);
  static const TileUpstream comparisons[] = {ArithOp_CmpF, ArithOp_CmpI, TileUpstream_None},
                            logic[] = {ArithOp_AndI, ArithOp_OrI, ArithOp_XOrI, TileUpstream_None};
  while (!mlirOperationIsNull(op) && tileUpstreamIsOneOf(op, logic)) {
    mask = tileBinaryLhs(op);
    op = tileDefiningOp(mask);
  }
  if (mlirOperationIsNull(op) || !tileUpstreamIsOneOf(op, comparisons) || tileSourceIsMask(tileFirstOperandType(op)))
    return DefaultMaskBits;
  return laneBits(tileFirstOperandType(op));
}

// Elements lie at multiples of their size in memory, so vectors there have a type of their own.
static const char *laneType(SourceWriter *w, MlirContext context, const char *stem, int bits, const char *elementType,
                            int64_t lanes) {
  const char *name = bits ? tileArenaPrintf(&w->arena, "%s%dx%lld", stem, bits, (long long)lanes)
                          : tileArenaPrintf(&w->arena, "%sx%lld", stem, (long long)lanes);
  MlirIdentifier unique = mlirIdentifierGet(context, tileString(name));
  if (tileTableFind(&w->symbols, unique.ptr))
    return name;
  tileTableSet(&w->symbols, unique.ptr, (void *)name);
  fprintf(w->types,
          "typedef %s %s __attribute__((vector_size(sizeof(%s) * %lld)));\n"
          "typedef %s %s_in_memory __attribute__((aligned(sizeof(%s)), may_alias));\n",
          elementType, name, elementType, (long long)lanes, name, name, elementType);
  return name;
}

static const char *maskType(SourceWriter *w, MlirType type, int bits) {
  return laneType(w, mlirTypeGetContext(type), "s", bits, tileArenaPrintf(&w->arena, "int%d_t", bits),
                  tileSourceLanes(type));
}

const char *tileSourceWordsType(SourceWriter *w, MlirType vector) { return maskType(w, vector, 32); }

const char *tileSourceMaskText(SourceWriter *w, MlirValue mask, int bits) {
  const char *text = tileSourceTextOf(w, mask)->text;
  if (!tileSourceIsMask(mlirValueGetType(mask)) || bits == tileSourceMaskBits(mask))
    return text;
  return tileArenaPrintf(&w->arena, "convert(%s, %s)", maskType(w, mlirValueGetType(mask), bits), text);
}

static const char *cVectorType(SourceWriter *w, MlirType type, bool isSigned, MlirOperation at) {
  MlirType element = mlirShapedTypeGetElementType(type);
  const Scalar *scalar = scalarOf(element);
  if (!scalar || mlirShapedTypeGetRank(type) > 1) {
    tileError(at, "has the type %s, which %s does not have", tileTypeText(type, (char[128]){0}, 128),
              w->language->name);
    return NULL;
  }
  if (scalar->signedType && tileElementWidth(element) == 1)
    return maskType(w, type, DefaultMaskBits);
  if (isSigned && scalar->signedType)
    return maskType(w, type, laneBits(type));
  return laneType(w, mlirTypeGetContext(type), scalar->name, 0, scalar->type, tileSourceLanes(type));
}

const char *tileSourceTypeOf(SourceWriter *w, MlirValue value, MlirOperation at) {
  MlirType type = mlirValueGetType(value);
  return w->language->isC && tileSourceIsMask(type) ? maskType(w, type, tileSourceMaskBits(value))
                                                    : tileSourceType(w, type, at);
}

//===--- structures and pointers ----------------------------------------------------------------------===//

// A structure of LLVM whose members are of one type is a vector; any other has members e0, e1, ….
static const char *structType(SourceWriter *w, MlirType type, MlirOperation at) {
  intptr_t count = mlirLLVMStructTypeGetNumElementTypes(type);
  MlirType first = mlirLLVMStructTypeGetElementType(type, 0);
  bool isUniform = true;
  for (intptr_t i = 1; i < count; ++i)
    isUniform &= mlirTypeEqual(first, mlirLLVMStructTypeGetElementType(type, i));
  if (isUniform && !w->language->isC) {
    const char *element = tileSourceType(w, first, at);
    return element ? vectorType(w, type, tileSourceElementName(w, first), element, count) : NULL;
  }
  const char *name = "", *members = "";
  for (intptr_t i = 0; i < count; ++i) {
    MlirType member = mlirLLVMStructTypeGetElementType(type, i);
    const char *text = tileSourceType(w, member, at);
    if (!text)
      return NULL;
    name = tileArenaPrintf(&w->arena, "%s%s%s", name, i ? "_" : "", tileSourceElementName(w, member));
    members = tileArenaPrintf(&w->arena, "%s %s e%lld;", members, text, (long long)i);
  }
  declare(w, type, name, tileArenaPrintf(&w->arena, "typedef struct {%s } %s;", members, name));
  return name;
}

static bool isPointer(MlirType type) { return mlirTypeIsALLVMPointerType(type); }

static const char *makeType(SourceWriter *w, MlirType type, MlirOperation at) {
  enum { BufferSpace = 8 };
  const Scalar *scalar = scalarOf(type);
  if (scalar)
    return scalar->type;
  if (isPointer(type))
    return mlirLLVMPointerTypeGetAddressSpace(type) == BufferSpace ? "__amdgpu_buffer_rsrc_t" : "char *";
  if (mlirTypeIsAVector(type) && w->language->isC)
    return cVectorType(w, type, false, at);
  if (mlirTypeIsAMemRef(type) && w->language->isC) {
    const char *element = tileSourceType(w, mlirShapedTypeGetElementType(type), at);
    return element ? tileArenaPrintf(&w->arena, "%s *", element) : NULL;
  }
  if (mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) == 1) {
    MlirType element = mlirShapedTypeGetElementType(type);
    const char *text = tileSourceType(w, element, at);
    return text ? vectorType(w, type, tileSourceElementName(w, element), text, mlirShapedTypeGetDimSize(type, 0))
                : NULL;
  }
  if (mlirTypeIsALLVMStructType(type) && mlirLLVMStructTypeGetNumElementTypes(type))
    return structType(w, type, at);
  tileError(at, "has the type %s, which %s does not have", tileTypeText(type, (char[128]){0}, 128), w->language->name);
  return NULL;
}

const char *tileSourceType(SourceWriter *w, MlirType type, MlirOperation at) {
  const char *known = tileTableFind(&w->symbols, type.ptr);
  return known ? known : makeType(w, type, at);
}

const char *tileSourceElementName(SourceWriter *w, MlirType type) {
  const Scalar *scalar = scalarOf(type);
  if (scalar || isPointer(type))
    return scalar ? scalar->name : "ptr";
  if (mlirTypeIsALLVMStructType(type))
    return tileSourceElementName(w, mlirLLVMStructTypeGetElementType(type, 0));
  if (!mlirTypeIsAVector(type))
    return "other";
  return tileArenaPrintf(&w->arena, "%sx%lld", tileSourceElementName(w, mlirShapedTypeGetElementType(type)),
                         (long long)mlirShapedTypeGetDimSize(type, 0));
}

const char *tileSourceSignedType(SourceWriter *w, MlirType type, MlirOperation at) {
  const Scalar *scalar = scalarOf(type);
  if (scalar && scalar->signedType)
    return scalar->signedType;
  if (w->language->isC && mlirTypeIsAVector(type))
    return cVectorType(w, type, true, at);
  return tileSourceType(w, type, at);
}

//===--- constants ----------------------------------------------------------------------------------===//

static const char *integerLiteral(SourceWriter *w, MlirAttribute value, MlirType type) {
  unsigned width = mlirTypeIsAIndex(type) ? 64 : tileElementWidth(type);
  int64_t number = mlirIntegerAttrGetValueInt(value);
  if (width == 1)
    return number ? "true" : "false";
  if (width < 32)
    return tileArenaPrintf(&w->arena, "%llu", (unsigned long long)number & ((1ull << width) - 1));
  if (number == INT64_MIN || (width == 32 && number == INT32_MIN))
    return width == 32 ? "0x80000000u" : "0x8000000000000000u";
  bool isLong = number > INT32_MAX || number < INT32_MIN;
  return tileArenaPrintf(&w->arena, "%lld%s", (long long)number, isLong && number > 0 ? "ul" : "");
}

// The shortest text that reads back as the number.
static const char *floatLiteral(SourceWriter *w, double number, MlirType type) {
  if (w->language->isC && (mlirTypeIsABF16(type) || mlirTypeIsAF16(type))) { // its bits
    float single = (float)number;
    _Float16 half = (_Float16)number;
    uint32_t bits;
    uint16_t halfBits;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&halfBits, &half, sizeof halfBits);
    return tileArenaPrintf(&w->arena, "0x%04x", mlirTypeIsABF16(type) ? bits >> 16 : halfBits);
  }
  bool isDouble = mlirTypeIsAF64(type), isSingle = mlirTypeIsAF32(type);
  char text[64];
  if (!isfinite(number) && w->language->isC) { // also what an array begins with
    const char *ending = isDouble ? "" : "f";
    return isnan(number) ? tileArenaPrintf(&w->arena, "__builtin_nan%s(\"\")", ending)
                         : tileArenaPrintf(&w->arena, "%s__builtin_inf%s()", number < 0 ? "-" : "", ending);
  }
  if (!isfinite(number)) {
    const char *bits = isnan(number) ? "0x7fc00000u" : number < 0 ? "0xff800000u" : "0x7f800000u";
    return isSingle ? tileArenaPrintf(&w->arena, "bits(float, (uint32_t)%s)", bits)
                    : tileArenaPrintf(&w->arena, "(%s)bits(float, (uint32_t)%s)", scalarOf(type)->type, bits);
  }
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    double back = strtod(text, NULL);
    if (isDouble ? back == number : (float)back == (float)number)
      break;
  }
  const char *point = strpbrk(text, ".e") ? "" : ".0";
  if (isSingle || isDouble)
    return tileArenaPrintf(&w->arena, "%s%s%s", text, point, isSingle ? "f" : "");
  return tileArenaPrintf(&w->arena, "(%s)%s%sf", scalarOf(type)->type, text, point);
}

const char *tileSourceLiteral(SourceWriter *w, MlirAttribute value, MlirType type) {
  if (!scalarOf(type))
    return NULL;
  if (mlirAttributeIsAInteger(value))
    return integerLiteral(w, value, type);
  if (mlirAttributeIsABool(value))
    return mlirBoolAttrGetValue(value) ? "true" : "false";
  return mlirAttributeIsAFloat(value) && tileElementWidth(type) > 8
             ? floatLiteral(w, mlirFloatAttrGetValueDouble(value), type)
             : NULL;
}
