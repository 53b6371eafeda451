// The rules of each format on constant components: positions ascend and end at the number of entries, coordinates
// ascend within their segment and are in range, an n:m window keeps n.
// Cost: once over the constants, at each verification of the op that holds them.
#include "dialects/sparse/invariants.h"

#include "upstream/arith.h"

#include <inttypes.h>

#include "dialects/sparse/sparse.h"
#include "lib/ir/support.h"

//===--- constants ----------------------------------------------------------===//

// The value of operand `index` where it is a constant that can be read element by element; else null.
static MlirAttribute constantOf(MlirOperation op, intptr_t index) {
  MlirOperation constant = tileDefiningOp(mlirOperationGetOperand(op, index));
  if (!arithConstantOpIsA(constant))
    return mlirAttributeGetNull();
  MlirAttribute value = arithConstantOpGetValue(constant);
  return mlirAttributeIsADenseElements(value) ? value : mlirAttributeGetNull();
}

static int64_t at(MlirAttribute integers, int64_t index) {
  bool splat = mlirDenseElementsAttrIsSplat(integers);
  switch (mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(integers)))) {
  case 8: // coordinates within a window have no sign
    return (uint8_t)(splat ? mlirDenseElementsAttrGetInt8SplatValue(integers)
                           : mlirDenseElementsAttrGetInt8Value(integers, index));
  case 16:
    return (uint16_t)mlirDenseElementsAttrGetInt16Value(integers, splat ? 0 : index);
  case 32:
    return splat ? mlirDenseElementsAttrGetInt32SplatValue(integers)
                 : mlirDenseElementsAttrGetInt32Value(integers, index);
  default:
    return splat ? mlirDenseElementsAttrGetInt64SplatValue(integers)
                 : mlirDenseElementsAttrGetInt64Value(integers, index);
  }
}

static int64_t count(MlirAttribute elements) {
  return mlirAttributeIsNull(elements) ? -1 : mlirElementsAttrGetNumElements(elements);
}

static int64_t sizeAt(MlirType type, intptr_t axis) { return mlirShapedTypeGetDimSize(type, axis); }
static bool isKnown(int64_t size) { return !mlirShapedTypeIsDynamicSize(size); }

//===--- csr, csc, bsr ------------------------------------------------------===//

static bool verifyPositions(MlirOperation op, MlirAttribute positions, int64_t entries) {
  int64_t before = 0, last = count(positions) - 1;
  if (at(positions, 0) != 0)
    return tileError(op, "positions begin with %" PRId64 ", expected 0", at(positions, 0));
  for (int64_t i = 1; i <= last; before = at(positions, i), ++i)
    if (at(positions, i) < before)
      return tileError(op, "position %" PRId64 " is %" PRId64 ", less than the one before it, %" PRId64, i,
                       at(positions, i), before);
  return entries < 0 || before == entries ||
         tileError(op, "positions end with %" PRId64 ", expected the number of entries, %" PRId64, before, entries);
}

static bool verifyInRange(MlirOperation op, MlirAttribute coordinates, int64_t first, int64_t number, int64_t size) {
  for (int64_t i = first; i < first + number; ++i)
    if (at(coordinates, i) < 0 || (isKnown(size) && at(coordinates, i) >= size))
      return tileError(op, "coordinate %" PRId64 " is %" PRId64 ", expected 0 to %" PRId64, i, at(coordinates, i),
                       size - 1);
  return true;
}

static bool verifySegments(MlirOperation op, MlirAttribute positions, MlirAttribute coordinates) {
  for (int64_t segment = 0; segment + 1 < count(positions); ++segment)
    for (int64_t i = at(positions, segment) + 1; i < at(positions, segment + 1); ++i)
      if (at(coordinates, i) <= at(coordinates, i - 1))
        return tileError(
            op, "coordinate %" PRId64 " is %" PRId64 ", not above the one before it in segment %" PRId64 ", %" PRId64,
            i, at(coordinates, i), segment, at(coordinates, i - 1));
  return true;
}

// `size`: along the coordinates' axis, in what they count (elements or blocks).
static bool verifyCompressed(MlirOperation op, intptr_t first, int64_t size) {
  MlirAttribute positions = constantOf(op, first), coordinates = constantOf(op, first + 1);
  bool both = count(positions) >= 0 && count(coordinates) >= 0;
  if (count(positions) == 0)
    return tileError(op, "has no positions, expected at least one");
  return (count(positions) < 0 || verifyPositions(op, positions, count(coordinates))) &&
         (count(coordinates) < 0 || verifyInRange(op, coordinates, 0, count(coordinates), size)) &&
         (!both || verifySegments(op, positions, coordinates));
}

//===--- coo ----------------------------------------------------------------===//

// The order of entries `i` and `i - 1`: negative when ascending.
static int order(MlirAttribute coordinates, intptr_t rank, int64_t entries, int64_t i) {
  for (intptr_t axis = 0; axis < rank; ++axis) {
    int64_t before = at(coordinates, axis * entries + i - 1), here = at(coordinates, axis * entries + i);
    if (before != here)
      return before < here ? -1 : 1;
  }
  return 0;
}

static bool verifyCoordinates(MlirOperation op, MlirType type, intptr_t first) {
  MlirAttribute coordinates = constantOf(op, first);
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (mlirAttributeIsNull(coordinates))
    return true;
  int64_t entries = count(coordinates) / rank;
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (!verifyInRange(op, coordinates, axis * entries, entries, sizeAt(type, axis)))
      return false;
  if (sparseEncodingGetFlag(sparseTypeGetEncoding(type), "unordered"))
    return true;
  for (int64_t i = 1; i < entries; ++i)
    if (order(coordinates, rank, entries, i) >= 0)
      return tileError(op, "entry %" PRId64 " of #sparse.coo stands not after the one before it in row-major order", i);
  return true;
}

//===--- nm -----------------------------------------------------------------===//

static bool verifyWindowCoordinates(MlirOperation op, MlirAttribute encoding, intptr_t first) {
  MlirAttribute coordinates = constantOf(op, first);
  SparseWindows windows = sparseEncodingGetWindows(encoding);
  int64_t kept = windows.n / windows.together, places = windows.m / windows.together;
  for (int64_t i = 0; i < count(coordinates); ++i) {
    if (!verifyInRange(op, coordinates, i, 1, places))
      return false;
    if (i % kept && at(coordinates, i) <= at(coordinates, i - 1))
      return tileError(
          op, "coordinate %" PRId64 " is %" PRId64 ", not above the one before it in window %" PRId64 ", %" PRId64, i,
          at(coordinates, i), i / kept, at(coordinates, i - 1));
  }
  return true;
}

// Constants of i1 and of odd floats are read as what they print; one of no such type is not looked at.
static bool isZero(MlirAttribute constant, int64_t index) {
  MlirType element = mlirShapedTypeGetElementType(mlirAttributeGetType(constant));
  if (mlirTypeIsAF32(element))
    return mlirDenseElementsAttrGetFloatValue(constant, index) == 0;
  if (mlirTypeIsAF64(element))
    return mlirDenseElementsAttrGetDoubleValue(constant, index) == 0;
  return at(constant, index) == 0;
}

static bool canRead(MlirAttribute constant) {
  MlirType element = mlirShapedTypeGetElementType(mlirAttributeGetType(constant));
  unsigned width = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element) : 0;
  return !mlirDenseElementsAttrIsSplat(constant) && (mlirTypeIsAF32(element) || mlirTypeIsAF64(element) || width == 8 ||
                                                     width == 16 || width == 32 || width == 64);
}

// Whether what lies in one place of a constant matrix, `lines` × `together` elements, is zero.
static bool isPlaceZero(MlirType type, MlirAttribute constant, SparseWindows windows, int64_t group, int64_t along) {
  int64_t columns = sizeAt(type, 1), lineEnd = sizeAt(type, 1 - windows.axis), end = sizeAt(type, windows.axis);
  for (int64_t line = group * windows.lines; line < (group + 1) * windows.lines && line < lineEnd; ++line)
    for (int64_t i = along; i < along + windows.together && i < end; ++i)
      if (!isZero(constant, windows.axis ? line * columns + i : i * columns + line))
        return false;
  return true;
}

bool sparseVerifyWindows(MlirOperation op, MlirType type, MlirAttribute constant) {
  SparseWindows windows = sparseEncodingGetWindows(sparseTypeGetEncoding(type));
  int64_t across = sizeAt(type, 1 - windows.axis), size = sizeAt(type, windows.axis);
  if (!canRead(constant))
    return true;
  for (int64_t group = 0; group * windows.lines < across; ++group)
    for (int64_t window = 0; window * windows.m < size; ++window) {
      int64_t kept = 0, begin = window * windows.m;
      for (int64_t i = begin; i < begin + windows.m && i < size; i += windows.together)
        kept += isPlaceZero(type, constant, windows, group, i) ? 0 : windows.together;
      if (kept > windows.n)
        return tileError(op,
                         "window %" PRId64 " of group %" PRId64 " holds %" PRId64
                         " elements that are not zero, expected at most %" PRId64 " (sparse-prune-nm drops the others)",
                         window, group, kept, windows.n);
    }
  return true;
}

//===--- by scheme ----------------------------------------------------------===//

bool sparseVerifyConstants(MlirOperation op, MlirType type, intptr_t first) {
  MlirAttribute encoding = sparseTypeGetEncoding(type);
  SparseComponent unused[SPARSE_MAX_COMPONENTS];
  SparseStorage storage = sparseEncodingGetStorage(encoding);
  int64_t size, cell;
  switch (storage.scheme) {
  case SparseScheme_Segments:
    size = sizeAt(type, 1 - storage.major);
    cell = storage.cell[1 - storage.major];
    return verifyCompressed(op, first, isKnown(size) ? (size + cell - 1) / cell : size);
  case SparseScheme_Coordinates:
    return verifyCoordinates(op, type, first);
  case SparseScheme_Windows:
    return verifyWindowCoordinates(op, encoding, first);
  case SparseScheme_Parts:
    for (intptr_t i = 0; i < sparseEncodingGetNumParts(encoding); ++i) {
      MlirType part = sparseTypeWithEncoding(type, sparseEncodingGetPart(encoding, i));
      if (!sparseVerifyConstants(op, part, first))
        return false;
      first += sparseTypeGetComponents(part, unused);
    }
    return true;
  case SparseScheme_Tiles: // a mask says nothing that its sizes do not
    return true;
  }
  return true;
}
