// What the elements of a constant may be. See cells.h. Cost: one look at each element, and for constants with some
// zeros, infinities or nans a hash of each row and column.
#include "lib/analysis/sparsity/cells.h"

#include "lib/capi/elements.h"
#include "lib/ir/support.h"

#include <stdlib.h>

// How an element is classified by its bits.
typedef struct Format {
  unsigned bytes;
  uint64_t sign, exponent; // 0: integers
} Format;

static bool formatOf(MlirType element, Format *format) {
  unsigned bits = tileElementWidth(element);
  *format = (Format){.bytes = bits / 8};
  if (mlirTypeIsAF64(element))
    *format = (Format){8, UINT64_C(1) << 63, UINT64_C(0x7ff) << 52};
  else if (mlirTypeIsAF32(element))
    *format = (Format){4, UINT64_C(1) << 31, UINT64_C(0xff) << 23};
  else if (mlirTypeIsAF16(element))
    *format = (Format){2, UINT64_C(1) << 15, UINT64_C(0x1f) << 10};
  else if (mlirTypeIsABF16(element))
    *format = (Format){2, UINT64_C(1) << 15, UINT64_C(0xff) << 7};
  else
    return mlirTypeIsAInteger(element) && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
  return true;
}

static uint8_t classify(const Format *format, const unsigned char *bytes) {
  uint64_t bits = 0;
  memcpy(&bits, bytes, format->bytes); // little-endian hosts only, as is the raw data
  if ((bits & ~format->sign) == 0)
    return SparseMay_Zero;
  if (!format->exponent || (bits & format->exponent) != format->exponent)
    return SparseMay_NonZero;
  if ((bits & ~format->sign) != format->exponent)
    return SparseMay_NonZero | SparseMay_Nan;
  return SparseMay_NonZero | (bits & format->sign ? SparseMay_MinusInf : SparseMay_Inf);
}

static bool classifyBools(MlirAttribute attribute, uint8_t *facts, int64_t count) {
  if (!mlirAttributeIsADenseElements(attribute))
    return false;
  for (int64_t i = 0; i < count; ++i)
    facts[i] = mlirDenseElementsAttrGetBoolValue(attribute, i) ? SparseMay_NonZero : SparseMay_Zero;
  return true;
}

static bool classifyAll(MlirAttribute attribute, MlirType element, uint8_t *facts, int64_t count) {
  Format format;
  size_t size = 0;
  const unsigned char *bytes = mlirExtElementsGetBytes(attribute, &size);
  if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1)
    return classifyBools(attribute, facts, count);
  if (!formatOf(element, &format) || !bytes || size != (size_t)count * format.bytes)
    return false;
  for (int64_t i = 0; i < count; ++i)
    facts[i] = classify(&format, bytes + (size_t)i * format.bytes);
  return true;
}

// Gives every index a class of its own.
static void separate(SparseCells *cells, uint8_t *facts) {
  for (intptr_t axis = 0; axis < cells->rank; ++axis) {
    cells->numClasses[axis] = cells->sizes[axis];
    cells->classOf[axis] = malloc((size_t)cells->sizes[axis] * sizeof(int32_t));
    for (int64_t i = 0; i < cells->sizes[axis]; ++i)
      cells->classOf[axis][i] = (int32_t)i;
  }
  free(cells->cells);
  cells->cells = facts;
}

static SparseCells *ofSplat(MlirAttribute attribute, MlirType type, MlirType element) {
  Format format;
  if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1)
    return sparseCellsCreate(type,
                             mlirDenseElementsAttrGetBoolSplatValue(attribute) ? SparseMay_NonZero : SparseMay_Zero);
  return formatOf(element, &format)
             ? sparseCellsCreate(type, classify(&format, mlirDenseElementsAttrGetRawData(attribute)))
             : NULL;
}

SparseCells *sparseCellsOfConstant(MlirAttribute attribute) {
  MlirExtShape shape;
  MlirType type = mlirAttributeGetType(attribute);
  if (!mlirExtTypeGetShape(type, &shape) || !mlirShapedTypeHasStaticShape(type))
    return NULL;
  int64_t count = mlirElementsAttrGetNumElements(attribute);
  if (mlirAttributeIsADenseElements(attribute) && mlirDenseElementsAttrIsSplat(attribute) && count > 0)
    return ofSplat(attribute, type, shape.element);
  uint8_t *facts = malloc((size_t)count + 1);
  bool isUniform = true;
  if (!facts || !classifyAll(attribute, shape.element, facts, count)) {
    free(facts);
    return NULL;
  }
  for (int64_t i = 1; i < count && isUniform; ++i)
    isUniform = facts[i] == facts[0];
  SparseCells *cells = sparseCellsCreate(type, count ? facts[0] : SparseMay_Zero);
  if (!cells || isUniform) {
    free(facts);
    return cells;
  }
  separate(cells, facts);
  sparseCellsCompress(cells, SparseMaxCells);
  return cells;
}

bool sparseConstantContradicts(MlirAttribute attribute, const SparseCells *said, int64_t *index) {
  MlirExtShape shape;
  bool found = false;
  if (!mlirExtTypeGetShape(mlirAttributeGetType(attribute), &shape) || shape.rank != said->rank)
    return false;
  SparseCells *whole = sparseCellsOfConstant(attribute);
  int64_t count = mlirElementsAttrGetNumElements(attribute);
  bool isSplat = mlirAttributeIsADenseElements(attribute) && mlirDenseElementsAttrIsSplat(attribute);
  uint8_t *facts = malloc((size_t)count + 1);
  if (isSplat && whole && count)
    memset(facts, whole->cells[0], (size_t)count);
  else if (!facts || !classifyAll(attribute, shape.element, facts, count))
    count = 0;
  for (int64_t i = 0; i < count && !found; ++i) {
    int64_t rest = i;
    for (intptr_t axis = shape.rank - 1; axis >= 0; --axis) {
      index[axis] = rest % shape.sizes[axis];
      rest /= shape.sizes[axis];
    }
    found = facts[i] != SparseMay_Zero && sparseCellsAt(said, index) == SparseMay_Zero;
  }
  free(facts);
  sparseCellsDestroy(whole);
  return found;
}
