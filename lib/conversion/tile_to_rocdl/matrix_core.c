// mfma, smfmac and wmma: the fragments of an atom packed into the vectors that the instruction takes.
// Sources: LLVM's AMDGPU intrinsics (IntrinsicsAMDGPU.td) and the rocdl dialect for names and operand types: 16-bit
// floats as vectors (bf16 as i16 where the instruction is older than the type), anything narrower as 32-bit words or
// one i64. Which element a register holds is the machine file's fragment; an instruction is known by its shape, its
// elements and how many of them a lane holds, so no chip is named here.
#include "lib/conversion/tile_to_rocdl/rocdl.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"

#include <stdio.h>
#include <string.h>

// Of A or B: `count` elements in a lane make one operand of this type. The op's name ends with what A's row says as
// left and B's as right operand.
typedef struct Form {
  const char *element;
  intptr_t count;
  const char *left, *right;
  int64_t lanes; // of the register's vector; 1: a scalar
  MlirType (*lane)(MlirContext context);
} Form;

static MlirType i16Type(MlirContext context) { return mlirIntegerTypeGet(context, 16); }
static MlirType i32Type(MlirContext context) { return mlirIntegerTypeGet(context, 32); }
static MlirType i64Type(MlirContext context) { return mlirIntegerTypeGet(context, 64); }

static const Form mfmaForms[] = {
    {"f32", 1, "f32", "", 1, mlirF32TypeGet},
    {"f64", 1, "f64", "", 1, mlirF64TypeGet},
    {"tf32", 2, ".xf32", "", 2, mlirF32TypeGet},
    {"f16", 4, "f16", "", 4, mlirF16TypeGet},
    {"f16", 8, ".f16", "", 8, mlirF16TypeGet},
    {"bf16", 4, "bf16.1k", "", 4, i16Type},
    {"bf16", 8, ".bf16", "", 8, mlirBF16TypeGet},
    {"i8", 4, "i8", "", 1, i32Type},
    {"i8", 8, ".i8", "", 1, i64Type},
    {"i8", 16, ".i8", "", 4, i32Type},
    {"f8E4M3FNUZ", 8, ".fp8", ".fp8", 1, i64Type},
    {"f8E5M2FNUZ", 8, ".bf8", ".bf8", 1, i64Type},
    {"f8E4M3FN", 8, ".fp8", ".fp8", 1, i64Type},
    {"f8E5M2", 8, ".bf8", ".bf8", 1, i64Type},
    {NULL},
};
static const Form smfmacLeft[] = {
    {"f16", 4, ".f16", "", 4, mlirF16TypeGet}, {"bf16", 4, ".bf16", "", 4, i16Type},
    {"i8", 8, ".i8", "", 2, i32Type},          {"f8E4M3FNUZ", 8, ".fp8", "", 2, i32Type},
    {"f8E5M2FNUZ", 8, ".bf8", "", 2, i32Type}, {"f8E4M3FN", 8, ".fp8", "", 2, i32Type},
    {"f8E5M2", 8, ".bf8", "", 2, i32Type},     {NULL},
};
static const Form smfmacRight[] = {
    {"f16", 8, "", "", 8, mlirF16TypeGet},
    {"bf16", 8, "", "", 8, i16Type},
    {"i8", 16, "", "", 4, i32Type},
    {"f8E4M3FNUZ", 16, "", ".fp8", 4, i32Type},
    {"f8E5M2FNUZ", 16, "", ".bf8", 4, i32Type},
    {"f8E4M3FN", 16, "", ".fp8", 4, i32Type},
    {"f8E5M2", 16, "", ".bf8", 4, i32Type},
    {NULL},
};
static const Form wmmaForms[] = {
    {"f16", 16, ".f16", "", 16, mlirF16TypeGet},
    {"f16", 8, ".f16", "", 8, mlirF16TypeGet},
    {"bf16", 16, ".bf16", "", 16, i16Type},
    {"bf16", 8, ".bf16", "", 8, i16Type},
    {"i8", 16, ".iu8", "", 4, i32Type},
    {"i8", 8, ".iu8", "", 2, i32Type},
    {"i4", 16, ".iu4", "", 2, i32Type},
    {"i4", 8, ".iu4", "", 1, i32Type},
    {"f8E4M3FN", 8, ".fp8", "_fp8", 2, i32Type},
    {"f8E5M2", 8, ".bf8", "_bf8", 2, i32Type},
    {NULL},
};

static const Form *formOf(const Form *forms, MlirType element, intptr_t count) {
  char text[32];
  tileTypeText(element, text, sizeof text);
  for (const Form *form = forms; form->element; ++form)
    if (form->count == count && !strcmp(form->element, text))
      return form;
  return NULL;
}

//===--- operands -------------------------------------------------------------------------------===//

static MlirValue pack(TileBuilder *builder, const Form *form, const MlirValue *values, GpuPacked *known) {
  if (known->count)
    return known->values[0];
  MlirType type = form->lane(builder->context);
  if (form->lanes > 1)
    type = mlirVectorTypeGet(1, &form->lanes, type);
  MlirValue vector = form->count == 1 ? values[0] : gpuVectorOf(builder, form->count, values);
  bool fits = form->count == 1 || mlirTypeEqual(mlirValueGetType(vector), type);
  known->count = 1;
  known->values[0] = fits ? vector : llvmBitcastOpBuild(builder, type, vector);
  return known->values[0];
}

static void unpack(TileBuilder *builder, const GpuProduct *product, MlirValue result) {
  for (intptr_t i = 0; i < product->count[2]; ++i)
    product->d[i] = gpuElementOf(builder, result, i);
}

//===--- the instructions -------------------------------------------------------------------------===//

// cbsz, abid and blgp: no broadcast of blocks, no other order, no signs changed.
static MlirValue buildMfma(TileBuilder *builder, const char *name, MlirValue a, MlirValue b, MlirValue c) {
  MlirValue zero = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 32), 0);
  MlirValue operands[] = {a, b, c, zero, zero, zero};
  return tileBuildValue(builder, name, mlirValueGetType(c), 6, operands, NULL);
}

static MlirValue buildWmma(TileBuilder *builder, const char *name, MlirValue a, MlirValue b, MlirValue c,
                           bool isInteger) {
  MlirAttribute isSigned = mlirBoolAttrGet(builder->context, 1);
  TileAttributeEntry attributes[] = {{"signA", isSigned}, {"signB", isSigned}, {NULL}};
  return tileBuildValue(builder, name, mlirValueGetType(c), 3, (MlirValue[]){a, b, c}, isInteger ? attributes : NULL);
}

// The places of a lane's kept elements, lowest first, in the low bits of a word.
static MlirValue packPlaces(TileBuilder *builder, const GpuProduct *product) {
  MlirType word = mlirIntegerTypeGet(builder->context, 32);
  GpuPacked *known = product->packed[2];
  if (known->count)
    return known->values[0];
  MlirValue bits = product->places[0];
  if (product->numPlaces > 1) {
    MlirValue bytes = gpuVectorOf(builder, product->numPlaces, product->places);
    MlirType whole = mlirIntegerTypeGet(builder->context, 8 * (unsigned)product->numPlaces);
    bits = llvmBitcastOpBuild(builder, whole, bytes);
  }
  known->count = 1;
  known->values[0] = llvmZExtOpBuild(builder, word, bits);
  return known->values[0];
}

// cbsz and abid: the first of the sets of indices that the register has room for.
static MlirValue buildSmfmac(TileBuilder *builder, const char *name, MlirValue a, MlirValue b, MlirValue c,
                             MlirValue places) {
  MlirValue zero = tileBuildInteger(builder, mlirIntegerTypeGet(builder->context, 32), 0);
  MlirValue operands[] = {a, b, c, places, zero, zero};
  return tileBuildValue(builder, name, mlirValueGetType(c), 6, operands, NULL);
}

//===--- block scales ---------------------------------------------------------------------------===//

// The number by which the instruction knows the elements' type; -1: it does not.
static int64_t formatOf(MlirType element) {
  static const char *const names[] = {"f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"};
  char text[32];
  tileTypeText(element, text, sizeof text);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strcmp(names[i], text))
      return (int64_t)i;
  return -1;
}

static MlirValue shifted(TileBuilder *builder, MlirValue word, int64_t left) {
  MlirType type = mlirValueGetType(word);
  if (!left)
    return word;
  return left > 0 ? arithShLIOpBuild(builder, word, tileBuildInteger(builder, type, left))
                  : arithShRUIOpBuild(builder, word, tileBuildInteger(builder, type, -left));
}

// Elements side by side in words, the first in the lowest bits; one of 6 bits may lie in two words.
static MlirValue packBits(TileBuilder *builder, intptr_t count, const MlirValue *values, GpuPacked *known) {
  enum { WordBits = 32, MostWords = 8 };
  MlirType type = mlirIntegerTypeGet(builder->context, WordBits);
  MlirValue words[MostWords] = {{NULL}};
  int64_t bits = mlirIntegerTypeGetWidth(mlirValueGetType(values[0])), numWords = count * bits / WordBits;
  if (known->count)
    return known->values[0];
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue value = llvmZExtOpBuild(builder, type, values[i]);
    for (int64_t w = i * bits / WordBits; w <= ((i + 1) * bits - 1) / WordBits; ++w) {
      MlirValue part = shifted(builder, value, i * bits - w * WordBits);
      words[w] = mlirValueIsNull(words[w]) ? part : llvmOrOpBuild(builder, words[w], part);
    }
  }
  known->count = 1;
  return known->values[0] = gpuVectorOf(builder, numWords, words);
}

// Selectors 0: the lowest byte of a lane's word is its scale.
static bool buildScaledMfma(TileBuilder *builder, MlirOperation at, const GpuProduct *product) {
  int64_t left = formatOf(product->element[0]), right = formatOf(product->element[1]);
  if (left < 0 || right < 0 || product->numScales != 1 || strncmp(product->name, "mfma.scale.", 11) != 0)
    return tileError(at, "not converted to rocdl yet: atom \"%s\" on these types", product->name);
  MlirType word = mlirIntegerTypeGet(builder->context, 32);
  MlirValue zero = tileBuildInteger(builder, word, 0), c = gpuVectorOf(builder, product->count[2], product->c);
  MlirValue operands[] = {packBits(builder, product->count[0], product->a, product->packed[0]),
                          packBits(builder, product->count[1], product->b, product->packed[1]),
                          c,
                          tileBuildInteger(builder, word, left),
                          tileBuildInteger(builder, word, right),
                          zero,
                          llvmZExtOpBuild(builder, word, product->scales[0][0]),
                          zero,
                          llvmZExtOpBuild(builder, word, product->scales[1][0])};
  char name[64];
  const TileMachineAtom *atom = product->atom;
  snprintf(name, sizeof name, "rocdl.mfma.scale.f32.%dx%dx%d.f8f6f4", (int)atom->m, (int)atom->n, (int)atom->k);
  unpack(builder, product, tileBuildValue(builder, name, mlirValueGetType(c), 9, operands, NULL));
  return true;
}

bool tileRocdlMma(TileBuilder *builder, MlirOperation at, const GpuProduct *product) {
  if (product->scales[0])
    return buildScaledMfma(builder, at, product);
  bool isMfma = !strncmp(product->name, "mfma.", 5), isSmfmac = !strncmp(product->name, "smfmac.", 7);
  const Form *forms = isMfma ? mfmaForms : wmmaForms;
  const Form *left = formOf(isSmfmac ? smfmacLeft : forms, product->element[0], product->count[0]);
  const Form *right = formOf(isSmfmac ? smfmacRight : forms, product->element[1], product->count[1]);
  if (!left || !right || (!isMfma && !isSmfmac && strncmp(product->name, "wmma.", 5) != 0) ||
      isSmfmac != !!product->places)
    return tileError(at, "not converted to rocdl yet: atom \"%s\" on these types", product->name);
  char sum[16], name[96];
  const TileMachineAtom *atom = product->atom;
  snprintf(name, sizeof name, "rocdl.%.*s.%s.%dx%dx%d%s%s", (int)strcspn(product->name, "."), product->name,
           tileTypeText(product->element[2], sum, sizeof sum), (int)atom->m, (int)atom->n, (int)atom->k, left->left,
           right->right);
  MlirValue a = pack(builder, left, product->a, product->packed[0]);
  MlirValue b = pack(builder, right, product->b, product->packed[1]);
  MlirValue c = gpuVectorOf(builder, product->count[2], product->c);
  if (isSmfmac) {
    unpack(builder, product, buildSmfmac(builder, name, a, b, c, packPlaces(builder, product)));
    return true;
  }
  unpack(builder, product,
         isMfma ? buildMfma(builder, name, a, b, c) : buildWmma(builder, name, a, b, c, sum[0] == 'i'));
  return true;
}
