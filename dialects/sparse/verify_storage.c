// Verifiers of what stores, converts, takes apart and puts together. Expects: the row's own checks done. Leaves: true,
// or a diagnostic with value seen and value wanted, and false.
#include "dialects/sparse/hooks.h"
#include "dialects/sparse/invariants.h"
#include "dialects/sparse/ops.h"
#include "dialects/sparse/sparse.h"
#include "dialects/tile/questions.h"
#include "upstream/arith.h"

static bool expectSameTensor(MlirOperation op, MlirType input, MlirType result) {
  MlirType seen = sparseTypeWithEncoding(result, mlirAttributeGetNull());
  MlirType wanted = sparseTypeWithEncoding(input, mlirAttributeGetNull());
  return mlirTypeEqual(seen, wanted) || tileError(op, "result is %s, expected the input's shape and elements, %s",
                                                  TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(wanted));
}

static bool expectNoSum(MlirOperation op, MlirType result) {
  return !sparseEncodingIs(sparseTypeGetEncoding(result), SparseScheme_Parts) ||
         tileError(op,
                   "result is a #sparse.sum, which does not say which part takes an entry: assemble it from its parts");
}

SPARSE_VERIFY(Pack) {
  MlirType input = tileOnlyOperandType(op), result = tileOnlyResultType(op);
  if (!expectSameTensor(op, input, result) || !expectNoSum(op, result))
    return false;
  MlirOperation constant = tileDefiningOp(tileOnlyOperand(op));
  MlirAttribute value = arithConstantOpIsA(constant) ? arithConstantOpGetValue(constant) : mlirAttributeGetNull();
  bool looks = !mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) &&
               sparseEncodingIs(sparseTypeGetEncoding(result), SparseScheme_Windows);
  return !looks || sparseVerifyWindows(op, result, value);
}

SPARSE_VERIFY(Prune) {
  MlirType input = tileOnlyOperandType(op), result = tileOnlyResultType(op);
  MlirType element = mlirShapedTypeGetElementType(input);
  MlirAttribute encoding = sparseTypeGetEncoding(result);
  if (!expectSameTensor(op, input, result))
    return false;
  if (!sparseEncodingIs(encoding, SparseScheme_Windows))
    return tileError(op, "result is %s, expected a #sparse.nm", TILE_TYPE_TEXT(result));
  if (!mlirTypeIsAF32(element) && !mlirTypeIsAF16(element) && !mlirTypeIsABF16(element))
    return tileError(op, "input has elements of %s; accepted are f16, bf16 and f32", TILE_TYPE_TEXT(element));
  SparseWindows w = sparseEncodingGetWindows(encoding);
  for (intptr_t axis = 0; axis < 2; ++axis) {
    int64_t size = mlirShapedTypeGetDimSize(input, axis), whole = axis == w.axis ? w.m : w.lines;
    if (mlirShapedTypeIsDynamicSize(size) || size % whole)
      return tileError(op, "input is %s; axis %ld requires a known multiple of %lld", TILE_TYPE_TEXT(input), (long)axis,
                       (long long)whole);
  }
  return true;
}

SPARSE_VERIFY(Unpack) { return expectSameTensor(op, sparseUnpackOpGetInputType(op), sparseUnpackOpGetResultType(op)); }

SPARSE_VERIFY(Convert) {
  MlirType input = tileOnlyOperandType(op), result = tileOnlyResultType(op);
  MlirAttribute encoding = sparseTypeGetEncoding(input);
  if (!expectSameTensor(op, input, result) || !expectNoSum(op, result))
    return false;
  return sparseEncodingMayRepeat(encoding) || !tileHas(op, "duplicates") ||
         tileError(op, "says what becomes of duplicates, but %s has none", TILE_TYPE_TEXT(input));
}

//===--- components ---------------------------------------------------------===//

// Sizes that either leaves open may meet at run time.
static bool isCompatible(MlirType seen, MlirType wanted) {
  if (mlirShapedTypeGetRank(seen) != mlirShapedTypeGetRank(wanted) ||
      !mlirTypeEqual(mlirShapedTypeGetElementType(seen), mlirShapedTypeGetElementType(wanted)))
    return false;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(seen); ++axis) {
    int64_t a = mlirShapedTypeGetDimSize(seen, axis), b = mlirShapedTypeGetDimSize(wanted, axis);
    if (a != b && !mlirShapedTypeIsDynamicSize(a) && !mlirShapedTypeIsDynamicSize(b))
      return false;
  }
  return true;
}

typedef MlirType (*TypeAt)(MlirOperation op, intptr_t index);

static bool expectComponents(MlirOperation op, MlirType encoded, intptr_t count, TypeAt typeAt) {
  SparseComponent components[SPARSE_MAX_COMPONENTS];
  intptr_t wanted = sparseTypeGetComponents(encoded, components);
  if (count != wanted)
    return tileError(op, "has %d components, expected %d of %s", (int)count, (int)wanted, TILE_TYPE_TEXT(encoded));
  for (intptr_t i = 0; i < count; ++i)
    if (!isCompatible(typeAt(op, i), components[i].type))
      return tileError(op, "component #%d (%s) is %s, expected %s", (int)i, components[i].name,
                       TILE_TYPE_TEXT(typeAt(op, i)), TILE_TYPE_TEXT(components[i].type));
  return true;
}

// Each entry has a coordinate (of bsr and coo along its last axis) and a value.
static bool expectEqualCounts(MlirOperation op, MlirType type, intptr_t first) {
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  for (intptr_t i = 0; sparseEncodingIs(encoding, SparseScheme_Parts) && i < sparseEncodingGetNumParts(encoding); ++i) {
    MlirType part = sparseTypeWithEncoding(type, sparseEncodingGetPart(encoding, i));
    if (!expectEqualCounts(op, part, first))
      return false;
    first += sparseTypeGetComponents(part, unused);
  }
  bool coo = sparseEncodingIs(encoding, SparseScheme_Coordinates);
  bool compressed = sparseEncodingIs(encoding, SparseScheme_Segments);
  if (!coo && !compressed)
    return true;
  intptr_t at = first + (compressed ? 1 : 0);
  int64_t coordinates = mlirShapedTypeGetDimSize(tileOperandType(op, at), coo ? 1 : 0);
  int64_t values = mlirShapedTypeGetDimSize(tileOperandType(op, at + 1), 0);
  return coordinates == values || mlirShapedTypeIsDynamicSize(coordinates) || mlirShapedTypeIsDynamicSize(values) ||
         tileError(op, "has %ld coordinates, expected one per value: %ld", (long)coordinates, (long)values);
}

static intptr_t countDynamic(MlirType type) {
  intptr_t count = 0;
  for (intptr_t axis = 0; axis < mlirShapedTypeGetRank(type); ++axis)
    count += mlirShapedTypeIsDynamicDim(type, axis);
  return count;
}

SPARSE_VERIFY(Assemble) {
  MlirType result = sparseAssembleOpGetResultType(op);
  if (!expectComponents(op, result, tileGroupCount(op, 0), tileOperandType) || !expectEqualCounts(op, result, 0))
    return false;
  if (tileGroupCount(op, 1) != countDynamic(result))
    return tileError(op, "has %d sizes, expected one per dynamic size of the result: %d", (int)tileGroupCount(op, 1),
                     (int)countDynamic(result));
  return sparseVerifyConstants(op, result, 0);
}

SPARSE_VERIFY(Disassemble) {
  return expectComponents(op, sparseDisassembleOpGetInputType(op), mlirOperationGetNumResults(op), tileResultType);
}

//===--- transpose ----------------------------------------------------------===//

SPARSE_VERIFY(Transpose) {
  MlirType input = tileOnlyOperandType(op), result = tileOnlyResultType(op);
  if (mlirShapedTypeGetRank(input) != 2)
    return tileError(op, "input has rank %d, expected 2", (int)mlirShapedTypeGetRank(input));
  const int64_t swapped[] = {mlirShapedTypeGetDimSize(input, 1), mlirShapedTypeGetDimSize(input, 0)};
  MlirType wanted = mlirRankedTensorTypeGet(2, swapped, mlirShapedTypeGetElementType(input), mlirAttributeGetNull());
  MlirType seen = sparseTypeWithEncoding(result, mlirAttributeGetNull());
  return (mlirTypeEqual(seen, wanted) || tileError(op, "result is %s, expected the input's axes swapped, %s",
                                                   TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(wanted))) &&
         expectNoSum(op, result);
}
