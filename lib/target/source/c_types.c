// Types and constants of emitted source. Integers are unsigned, since C's signed ones may not wrap. See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"

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
                              int64_t count, bool isSigned) {
  const char *name =
      tileArenaPrintf(&w->arena, "%s%sx%lld", isSigned ? "s" : "", isSigned ? element + 1 : element, (long long)count);
  declare(w, type, name,
          w->language->hasVectors
              ? tileArenaPrintf(&w->arena, "typedef %s %s __attribute__((vector_size(sizeof(%s) * %lld)));",
                                elementType, name, elementType, (long long)count)
              : tileArenaPrintf(&w->arena, "typedef vec<%s, %lld> %s;", elementType, (long long)count, name));
  return name;
}

// A structure of LLVM whose members are of one type is a vector; any other has members e0, e1, ….
static const char *structType(SourceWriter *w, MlirType type, MlirOperation at) {
  intptr_t count = mlirLLVMStructTypeGetNumElementTypes(type);
  MlirType first = mlirLLVMStructTypeGetElementType(type, 0);
  bool isUniform = true;
  for (intptr_t i = 1; i < count; ++i)
    isUniform &= mlirTypeEqual(first, mlirLLVMStructTypeGetElementType(type, i));
  if (isUniform && !w->language->hasVectors) {
    const char *element = tileSourceType(w, first, at);
    return element ? vectorType(w, type, tileSourceElementName(w, first), element, count, false) : NULL;
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
  if (mlirTypeIsAVector(type) && mlirShapedTypeGetRank(type) == 1) {
    MlirType element = mlirShapedTypeGetElementType(type);
    const char *text = tileSourceType(w, element, at);
    return text ? vectorType(w, type, tileSourceElementName(w, element), text, mlirShapedTypeGetDimSize(type, 0), false)
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
  bool isDouble = mlirTypeIsAF64(type), isSingle = mlirTypeIsAF32(type);
  char text[64];
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
