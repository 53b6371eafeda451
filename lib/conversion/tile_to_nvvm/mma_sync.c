// mma.sync: the fragments of an atom packed into the registers that the instruction takes.
// PTX ISA, "Warp-level matrix instructions: mma": two f16 a register, or 32 bits of anything narrower; f32, i32 and f64
// as they are. Which element a register holds is the machine file's fragment. mma.sp.sync: its metadata is four bytes
// of places. 8-bit floats: nvvm has no form of the instruction with them, LLVM's intrinsic is called by name.
#include "lib/conversion/tile_to_nvvm/nvvm.h"

#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MaxFragment = 64 };

typedef struct Operands {
  intptr_t count[3];
  MlirValue values[3 * MaxFragment];
} Operands;

//===--- types ------------------------------------------------------------------------------===//

typedef struct ElementName {
  bool (*is)(MlirType type);
  const char *ptx;
  unsigned bits;
  NvvmMMATypes type;
} ElementName;

static bool isI8(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 8; }
static bool isI4(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 4; }
static bool isI32(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32; }

static const ElementName elements[] = {
    {mlirTypeIsAF16, "f16", 16, NvvmMMATypes_F16},
    {mlirTypeIsABF16, "bf16", 16, NvvmMMATypes_Bf16},
    {mlirTypeIsATF32, "tf32", 32, NvvmMMATypes_Tf32},
    {mlirTypeIsAF64, "f64", 64, NvvmMMATypes_F64},
    {mlirTypeIsAF32, "f32", 32, NvvmMMATypes_F32},
    {isI8, "s8", 8, NvvmMMATypes_S8},
    {isI4, "s4", 4, NvvmMMATypes_S4},
    {isI32, "s32", 32, NvvmMMATypes_S32},
    {mlirTypeIsAFloat8E4M3FN, "e4m3", 8, NvvmMMATypes_E4m3},
    {mlirTypeIsAFloat8E5M2, "e5m2", 8, NvvmMMATypes_E5m2},
    {mlirTypeIsAFloat6E2M3FN, "e2m3", 6, NvvmMMATypes_E2m3},
    {mlirTypeIsAFloat6E3M2FN, "e3m2", 6, NvvmMMATypes_E3m2},
    {mlirTypeIsAFloat4E2M1FN, "e2m1", 4, NvvmMMATypes_E2m1},
};

static const ElementName *nameOf(MlirType type) {
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i)
    if (elements[i].is(type))
      return &elements[i];
  return NULL;
}

//===--- registers ----------------------------------------------------------------------------===//

static void addF16Pairs(TileBuilder *builder, intptr_t count, const MlirValue *values, MlirValue *out) {
  for (intptr_t i = 0; i < count; i += 2)
    out[i / 2] = gpuVectorOf(builder, 2, values + i);
}

static intptr_t pack(TileBuilder *builder, const ElementName *name, bool isAccumulator, intptr_t count,
                     const MlirValue *values, MlirValue *out) {
  if (!strcmp(name->ptx, "f16")) {
    addF16Pairs(builder, count, values, out);
    return count / 2;
  }
  if (isAccumulator || name->bits == 64) {
    memcpy(out, values, (size_t)count * sizeof *out);
    return count;
  }
  return gpuWordsOf(builder, count, values, name->bits, out);
}

static void unpack(TileBuilder *builder, const GpuProduct *product, MlirValue result, intptr_t numRegisters,
                   MlirType type) {
  for (intptr_t i = 0, at = 0; i < numRegisters; ++i) {
    int64_t position = i;
    MlirValue one =
        llvmExtractValueOpBuild(builder, type, result, mlirDenseI64ArrayGet(builder->context, 1, &position));
    if (!mlirTypeIsAVector(type)) {
      product->d[at++] = one;
      continue;
    }
    product->d[at++] = gpuElementOf(builder, one, 0);
    product->d[at++] = gpuElementOf(builder, one, 1);
  }
}

//===--- the instruction ------------------------------------------------------------------------===//

static MlirAttribute shapeAttribute(const TileBuilder *builder, const TileMachineAtom *atom) {
  return nvvmMMAShapeAttr(builder, atom->m, atom->n, atom->k);
}

// Integers wrap; null for floats.
static MlirAttribute overflowAttribute(const TileBuilder *builder, const ElementName *sum) {
  return sum->ptx[0] == 's' ? nvvmMMAIntOverflowAttr(builder, NvvmMMAIntOverflow_Wrapped) : (MlirAttribute){NULL};
}

static MlirValue buildMma(TileBuilder *builder, const GpuProduct *product, const Operands *operands,
                          const ElementName *const *names, MlirType result) {
  const intptr_t *count = operands->count;
  const MlirValue *a = operands->values, *b = a + count[0], *c = b + count[1];
  MlirValue value = nvvmMmaOpBuild(builder, result, count[0], a, count[1], b, count[2], c,
                                   shapeAttribute(builder, product->atom), NvvmMMALayout_Row, NvvmMMALayout_Col);
  MlirOperation op = mlirOpResultGetOwner(value);
  nvvmMmaOpSetMultiplicandAPtxType(op, nvvmMMATypesAttr(builder, names[0]->type));
  nvvmMmaOpSetMultiplicandBPtxType(op, nvvmMMATypesAttr(builder, names[1]->type));
  nvvmMmaOpSetIntOverflowBehavior(op, overflowAttribute(builder, names[2]));
  return value;
}

// LLVM's intrinsic by its name; `form`: "" or ".sp" and the like.
static MlirValue buildIntrinsic(TileBuilder *builder, const TileMachineAtom *atom, const char *form, intptr_t count,
                                const MlirValue *values, const ElementName *const *names, MlirType result) {
  MlirContext context = builder->context;
  char name[128];
  snprintf(name, sizeof name, "llvm.nvvm.mma%s.m%dn%dk%d.row.col.%s.%s.%s.%s", form, (int)atom->m, (int)atom->n,
           (int)atom->k, names[2]->ptx, names[0]->ptx, names[1]->ptx, names[2]->ptx);
  MlirOperation call =
      llvmCallIntrinsicOpBuild(builder, result, count, values, 0, NULL, mlirStringAttrGet(context, tileString(name)),
                               mlirDenseI32ArrayGet(context, 0, NULL));
  return llvmCallIntrinsicOpGetResults(call);
}

static MlirValue buildSmallFloatMma(TileBuilder *builder, const GpuProduct *product, const Operands *operands,
                                    const ElementName *const *names, MlirType result) {
  intptr_t count = operands->count[0] + operands->count[1] + operands->count[2];
  return buildIntrinsic(builder, product->atom, "", count, operands->values, names, result);
}

static bool isSmallFloat(const ElementName *name) { return name->bits == 8 && name->ptx[0] == 'e'; }

// PTX 8.5 has the form that takes ascending places only, as ours are, and may be the faster one.
static bool hasOrderedMetadata(const TileMachine *machine) {
  const char *features = tileMachineGetText(machine, "features"), *version = features ? strstr(features, "+ptx") : NULL;
  return version && atoi(version + 4) >= 85;
}

// Selector 0: what the fragment of places in the machine's file is for.
static MlirValue buildSparseMma(TileBuilder *builder, const GpuProduct *product, const Operands *operands,
                                const ElementName *const *names, MlirType result) {
  MlirContext context = builder->context;
  MlirValue values[3 * MaxFragment + 2];
  intptr_t count = operands->count[0] + operands->count[1] + operands->count[2];
  GpuPacked *known = product->packed[2];
  if (!known->count)
    known->count = gpuWordsOf(builder, product->numPlaces, product->places, 8, known->values);
  memcpy(values, operands->values, (size_t)count * sizeof *values);
  values[count] = known->values[0];
  values[count + 1] = tileBuildInteger(builder, mlirIntegerTypeGet(context, 32), 0);
  bool isOrdered = hasOrderedMetadata(product->machine);
  if (isSmallFloat(names[0])) // LLVM 22's verifier takes the op for one of bytes half as long
    return buildIntrinsic(builder, product->atom, isOrdered ? ".sp.ordered.metadata" : ".sp", count + 2, values, names,
                          result);
  const intptr_t *counts = operands->count;
  const MlirValue *a = values, *b = a + counts[0], *c = b + counts[1];
  MlirValue value = nvvmMmaSpOpBuild(builder, result, counts[0], a, counts[1], b, counts[2], c, values[count],
                                     values[count + 1], shapeAttribute(builder, product->atom));
  MlirOperation op = mlirOpResultGetOwner(value);
  nvvmMmaSpOpSetMultiplicandAPtxType(op, nvvmMMATypesAttr(builder, names[0]->type));
  nvvmMmaSpOpSetMultiplicandBPtxType(op, nvvmMMATypesAttr(builder, names[1]->type));
  nvvmMmaSpOpSetIntOverflowBehavior(op, overflowAttribute(builder, names[2]));
  if (isOrdered)
    nvvmMmaSpOpSetOrderedMetadata(op, mlirUnitAttrGet(context));
  return value;
}

//===--- block scales -----------------------------------------------------------------------===//

// PTX ISA, "mma with block scaling": in the form for 8, 6 and 4 bits each element has a byte, one of 4 bits at bits 2
// to 5; in the forms for 4 bits alone eight share a word.
typedef struct ScaledForm {
  const char *name, *kind, *scale;
  unsigned bits; // of an element in a register
} ScaledForm;

static const ScaledForm scaledForms[] = {
    {"mma.scaled.m16n8k32", "mxf8f6f4", "ue8m0", 8},
    {"mma.scaled.m16n8k64", "mxf4.scale.2x", "ue8m0", 4},
    {"mma.scaled.nv.m16n8k64", "mxf4nvf4.scale.4x", "ue4m3", 4},
};

static const ScaledForm *scaledFormOf(const char *name) {
  for (size_t i = 0; i < sizeof scaledForms / sizeof *scaledForms; ++i)
    if (!strcmp(scaledForms[i].name, name))
      return &scaledForms[i];
  return NULL;
}

static MlirValue inByte(TileBuilder *builder, MlirValue bits) {
  MlirType byte = mlirIntegerTypeGet(builder->context, 8);
  unsigned width = mlirIntegerTypeGetWidth(mlirValueGetType(bits));
  MlirValue value = width < 8 ? arithExtUIOpBuild(builder, byte, bits) : bits;
  return width == 4 ? arithShLIOpBuild(builder, value, tileBuildInteger(builder, byte, 2)) : value;
}

// The values side by side in a word, the first in the lowest bits. LLVM would take vectors of i4 through memory.
static MlirValue packWord(TileBuilder *builder, intptr_t count, const MlirValue *values, int64_t bits) {
  MlirType word = mlirIntegerTypeGet(builder->context, 32);
  MlirValue all = arithExtUIOpBuild(builder, word, values[0]);
  for (intptr_t i = 1; i < count; ++i) {
    MlirValue one = arithExtUIOpBuild(builder, word, values[i]);
    all = arithOrIOpBuild(builder, all, arithShLIOpBuild(builder, one, tileBuildInteger(builder, word, bits * i)));
  }
  return all;
}

static intptr_t packScaled(TileBuilder *builder, const ScaledForm *form, intptr_t count, const MlirValue *values,
                           GpuPacked *known) {
  MlirValue bytes[MaxFragment];
  enum { Nibbles = 8 };
  if (known->count)
    return known->count;
  for (intptr_t i = 0; form->bits == 4 && i < count; i += Nibbles)
    known->values[known->count++] = packWord(builder, Nibbles, values + i, form->bits);
  if (known->count)
    return known->count;
  for (intptr_t i = 0; i < count; ++i)
    bytes[i] = inByte(builder, values[i]);
  return known->count = gpuWordsOf(builder, count, bytes, form->bits, known->values);
}

// Selectors 0, as the fragments of scales in the machine's file are for.
static bool buildScaledMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product) {
  const ScaledForm *form = scaledFormOf(product->name);
  const ElementName *names[] = {nameOf(product->element[0]), nameOf(product->element[1])};
  if (!form || !names[0] || !names[1])
    return tileError(at, "not converted to nvvm yet: atom \"%s\" on these types", product->name);
  MlirContext context = builder->context;
  MlirType f32 = mlirF32TypeGet(context), types[MaxFragment];
  MlirValue values[3 * MaxFragment], none = tileBuildInteger(builder, mlirIntegerTypeGet(context, 16), 0);
  const MlirValue *factors[] = {product->a, product->b};
  intptr_t count = 0, numSums = product->count[2];
  for (int i = 0; i < 2; ++i) {
    intptr_t words = packScaled(builder, form, product->count[i], factors[i], product->packed[i]);
    memcpy(values + count, product->packed[i]->values, (size_t)words * sizeof *values);
    count += words;
  }
  for (intptr_t i = 0; i < numSums; ++i) {
    values[count++] = product->c[i];
    types[i] = f32;
  }
  for (int i = 0; i < 2; ++i) {
    values[count++] = packWord(builder, product->numScales, product->scales[i], 8);
    values[count++] = none;
    values[count++] = none;
  }
  char name[128];
  snprintf(name, sizeof name, "llvm.nvvm.mma.block.scale.m%dn%dk%d.row.col.%s.f32.%s.%s.f32.%s", (int)product->atom->m,
           (int)product->atom->n, (int)product->atom->k, form->kind, names[0]->ptx, names[1]->ptx, form->scale);
  MlirType result = mlirLLVMStructTypeLiteralGet(context, numSums, types, false);
  MlirOperation call =
      llvmCallIntrinsicOpBuild(builder, result, count, values, 0, NULL, mlirStringAttrGet(context, tileString(name)),
                               mlirDenseI32ArrayGet(context, 0, NULL));
  unpack(builder, product, llvmCallIntrinsicOpGetResults(call), numSums, f32);
  return true;
}

bool tileNvvmMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product) {
  if (product->scales[0])
    return buildScaledMma(builder, at, product);
  const ElementName *names[3];
  const MlirValue *fragments[] = {product->a, product->b, product->c};
  Operands operands = {{0}};
  intptr_t next = 0;
  for (int i = 0; i < 3; ++i) {
    GpuPacked *known = i < 2 ? product->packed[i] : NULL;
    names[i] = nameOf(product->element[i]);
    if (!names[i] || strncmp(product->name, product->places ? "mma.sp." : "mma.sync.", product->places ? 7 : 9) != 0)
      return tileError(at, "not converted to nvvm yet: atom \"%s\" on these types", product->name);
    operands.count[i] = known ? known->count : 0;
    if (operands.count[i])
      memcpy(operands.values + next, known->values, (size_t)known->count * sizeof *known->values);
    else
      operands.count[i] = pack(builder, names[i], i == 2, product->count[i], fragments[i], operands.values + next);
    if (known && !known->count) {
      known->count = operands.count[i];
      memcpy(known->values, operands.values + next, (size_t)known->count * sizeof *known->values);
    }
    next += operands.count[i];
  }
  intptr_t numRegisters = operands.count[2];
  MlirType type = mlirValueGetType(operands.values[next - 1]), types[MaxFragment];
  for (intptr_t i = 0; i < numRegisters; ++i)
    types[i] = type;
  MlirType result = mlirLLVMStructTypeLiteralGet(builder->context, numRegisters, types, false);
  MlirValue d = (product->places          ? buildSparseMma
                 : isSmallFloat(names[0]) ? buildSmallFloatMma
                                          : buildMma)(builder, product, &operands, names, result);
  unpack(builder, product, d, numRegisters, type);
  return true;
}
