// Shapes, operand groups, attributes and expectations of the Tile dialect (questions.h).
// Why here: every verifier and fold asks the same few things, and says the same sentence when the answer is wrong.
#include "dialects/tile/questions.h"
#include "dialects/tile/ops.h"
#include "lib/ir/op_format.h"
#include "lib/ir/op_query.h"

#include "upstream/linalg.h"
#include "upstream/math.h"
#include <stdio.h>
#include <string.h>

//===--- shapes -------------------------------------------------------------===//

bool tileTypeIsIntegral(MlirType type) {
  MlirType element = tileTypeGetElement(type);
  return mlirTypeIsAIndex(element) || mlirTypeIsAInteger(element);
}

bool tileOpHasTiles(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileTypeIsATile(tileOperandType(op, i)))
      return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (tileTypeIsATile(tileResultType(op, i)))
      return true;
  return false;
}

int64_t tileTypeGetCount(MlirType type) {
  uint64_t count = 1; // unsigned: absurd sizes wrap around instead of being undefined
  for (intptr_t i = 0, rank = tileTypeGetRank(type); i < rank; ++i)
    count *= (uint64_t)tileTypeGetSize(type, i);
  return (int64_t)count;
}

bool tileTypeHasSameShapeBut(MlirType a, MlirType b, intptr_t axis) {
  intptr_t rank = tileTypeGetRank(a);
  if (rank != tileTypeGetRank(b))
    return false;
  for (intptr_t i = 0; i < rank; ++i)
    if (i != axis && tileTypeGetSize(a, i) != tileTypeGetSize(b, i))
      return false;
  return true;
}

bool tileSizesCover(MlirType type, MlirType seen) {
  intptr_t rank = mlirShapedTypeGetRank(seen);
  bool covers = rank == mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; covers && i < rank; ++i)
    covers =
        mlirShapedTypeIsDynamicDim(type, i) || mlirShapedTypeGetDimSize(type, i) == mlirShapedTypeGetDimSize(seen, i);
  return covers;
}

const char *tileShapeText(MlirType type, char *buffer, size_t capacity) {
  intptr_t rank = tileTypeGetRank(type);
  size_t length = 0;
  snprintf(buffer, capacity, "%s", rank < 0 ? "no shape" : "scalar");
  for (intptr_t i = 0; i < rank && length < capacity; ++i) {
    int64_t size = tileTypeGetSize(type, i);
    const char *times = i ? "x" : "";
    int written = size < 0 ? snprintf(buffer + length, capacity - length, "%s?", times)
                           : snprintf(buffer + length, capacity - length, "%s%lld", times, (long long)size);
    length += (size_t)written;
  }
  return buffer;
}

//===--- attributes ---------------------------------------------------------===//

static intptr_t countOf(MlirAttribute array) {
  return mlirAttributeIsNull(array) ? 0 : mlirDenseArrayGetNumElements(array);
}

intptr_t tileArrayCount(MlirOperation op, const char *name) { return countOf(tileOpAttribute(op, name)); }

int64_t tileArrayAt(MlirOperation op, const char *name, intptr_t index) {
  return mlirDenseI64ArrayGetElement(tileOpAttribute(op, name), index);
}

bool tileArrayContains(MlirOperation op, const char *name, int64_t value) {
  return tileListContains(tileOpAttribute(op, name), value);
}

bool tileListContains(MlirAttribute array, int64_t value) {
  for (intptr_t i = 0, count = countOf(array); i < count; ++i)
    if (mlirDenseI64ArrayGetElement(array, i) == value)
      return true;
  return false;
}

bool tileIntegerOf(MlirOperation op, const char *name, int64_t *value) {
  MlirAttribute attribute = tileOpAttribute(op, name);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAInteger(attribute))
    return false;
  *value = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

bool tileHas(MlirOperation op, const char *name) { return !mlirAttributeIsNull(tileOpAttribute(op, name)); }

MlirStringRef tileKeywordOf(MlirOperation op, const char *name) {
  MlirAttribute attribute = tileOpAttribute(op, name);
  bool isText = !mlirAttributeIsNull(attribute) && mlirAttributeIsAString(attribute);
  return isText ? mlirStringAttrGetValue(attribute) : mlirStringRefCreate("", 0);
}

bool tileKeywordIs(MlirOperation op, const char *name, const char *text) {
  return tileStringEquals(tileKeywordOf(op, name), text);
}

// The index is arith's number of the rounding.
TileNumberConversion tileConversionOf(MlirOperation op) {
  static const char *const names[] = {"nearest_even", "down", "up", "toward_zero", "nearest_away"};
  static const TileUpstream ops[] = {MathOp_RoundEven, MathOp_Floor, MathOp_Ceil, MathOp_Trunc, MathOp_Round};
  TileNumberConversion conversion = {.to = tileTypeGetElement(tileConvertTypeOpGetResultType(op)),
                                     .saturates = tileConvertTypeOpHasSaturate(op),
                                     .direction = TileUpstream_None};
  for (int i = 0; i < 5; ++i)
    if (tileKeywordIs(op, "rounding", names[i])) {
      conversion.rounding = i;
      conversion.direction = ops[i];
    }
  return conversion;
}

bool tileIsProduct(MlirOperation op) { return tileMmaOpIsA(op) || tileMmaSparseOpIsA(op); }

bool tileIsFactor(MlirOpOperand operand) {
  return tileIsProduct(mlirOpOperandGetOwner(operand)) && mlirOpOperandGetOperandNumber(operand) < 2;
}

bool tileIsPrivateKernel(MlirOperation op) {
  return tileKernelOpIsA(op) && !tileSymbolIsPublic(op) &&
         !mlirBlockIsNull(mlirRegionGetFirstBlock(tileKernelOpGetBody(op)));
}

const char *tileFactorPart(MlirOperation mma) {
  if (tileMmaScaledOpIsA(mma))
    return "f16";
  MlirStringRef precision = tileKeywordOf(mma, "precision");
  if (precision.length >= 4 && !strncmp(precision.data, "tf32", 4))
    return "tf32";
  return precision.length >= 4 && !strncmp(precision.data, "bf16", 4) ? "bf16" : NULL;
}

int64_t tileScaleParts(MlirType scale) { return mlirTypeIsAF32(tileTypeGetElement(scale)) ? 2 : 1; }

bool tileHasScales(MlirOperation op, const char *type, int64_t block) {
  return tileMmaScaledOpGetBlockValue(op) == block &&
         !strcmp(TILE_TYPE_TEXT(tileTypeGetElement(tileMmaScaledOpGetLhsScaleType(op))), type) &&
         !strcmp(TILE_TYPE_TEXT(tileTypeGetElement(tileMmaScaledOpGetRhsScaleType(op))), type);
}

const TileDot tileDots[TileNumDots] = {{"tdpbf16ps", 2, "bf16", "f32", .losesSubnormals = true, .isByTiles = true},
                                       {"tdpbssd", 4, "i8", "i32", .isByTiles = true},
                                       {"tdpbusd", 4, "i8", "i32", .isUnsigned = {true, false}, .isByTiles = true},
                                       {"tdpbsud", 4, "i8", "i32", .isUnsigned = {false, true}, .isByTiles = true},
                                       {"tdpbuud", 4, "i8", "i32", .isUnsigned = {true, true}, .isByTiles = true},
                                       {"tdpfp16ps", 2, "f16", "f32", .isByTiles = true},
                                       {"vdpbf16ps", 2, "bf16", "f32", .losesSubnormals = true},
                                       {"vpdpbusd", 4, "i8", "i32", .isUnsigned = {true, false}},
                                       {"vfmaddph", 2, "f16", "f16", .isByHalves = true}};

const TileDot *tileDotOf(MlirOperation mma) {
  for (int i = 0; i < TileNumDots; ++i)
    if (tileKeywordIs(mma, "atom", tileDots[i].atom))
      return &tileDots[i];
  return NULL;
}

bool tileDotTakes(const TileDot *dot, MlirType element, MlirType sum) {
  return !strcmp(TILE_TYPE_TEXT(element), dot->element) && !strcmp(TILE_TYPE_TEXT(sum), dot->sum);
}

const TileDot *tileDotOfFours(const bool hasDot[TileNumDots]) {
  enum { Four = 4 };
  for (int i = 0; i < TileNumDots; ++i)
    if (hasDot[i] && tileDots[i].group == Four && !tileDots[i].isByTiles)
      return &tileDots[i];
  return NULL;
}

bool tileAttributeIsSplat(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && mlirAttributeIsADenseElements(attribute) &&
         mlirDenseElementsAttrIsSplat(attribute);
}

bool tileConstantIsTrue(MlirAttribute constant) {
  if (mlirAttributeIsNull(constant))
    return false;
  if (tileAttributeIsSplat(constant))
    return mlirDenseElementsAttrGetBoolSplatValue(constant);
  return mlirAttributeIsAInteger(constant) && mlirIntegerAttrGetValueInt(constant) != 0;
}

//===--- linalg -----------------------------------------------------------------===//

bool tileIteratorIsReduction(MlirAttribute iterators, intptr_t dim) {
  return linalgIteratorTypeOf(mlirArrayAttrGetElement(iterators, dim)) == LinalgIteratorType_Reduction;
}

bool tileGenericIsParallel(MlirOperation op) {
  MlirAttribute types = tileOpAttribute(op, "iterator_types");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(types); ++i)
    if (tileIteratorIsReduction(types, i))
      return false;
  return true;
}

//===--- operands -----------------------------------------------------------===//

intptr_t tileGroupCount(MlirOperation op, intptr_t group) {
  intptr_t begin, count;
  tileOpOperandGroup(op, group, &begin, &count);
  return count;
}

intptr_t tileGroupBegin(MlirOperation op, intptr_t group) {
  intptr_t begin, count;
  tileOpOperandGroup(op, group, &begin, &count);
  return begin;
}

MlirValue tileMovedTile(MlirOperation op) {
  switch (tileOpKind(op)) {
  case TileOp_Broadcast:
    return tileBroadcastOpGetInput(op);
  case TileOp_Transpose:
    return tileTransposeOpGetInput(op);
  case TileOp_Slice:
    return tileSliceOpGetInput(op);
  case TileOp_Reshape:
    return tileReshapeOpGetInput(op);
  default:
    return (MlirValue){NULL};
  }
}

MlirValue tileSortKeys(MlirOperation op) {
  return tileSortOpIsA(op) ? tileSortOpGetInputs(op, 0) : tileTopkOpGetInputs(op, 0);
}

bool tileOpsEqualAttributes(MlirOperation a, MlirOperation b) {
  intptr_t count = mlirOperationGetNumAttributes(a);
  if (count != mlirOperationGetNumAttributes(b))
    return false;
  for (intptr_t i = 0; i < count; ++i) {
    MlirNamedAttribute x = mlirOperationGetAttribute(a, i);
    MlirAttribute y = mlirOperationGetAttributeByName(b, mlirIdentifierStr(x.name));
    if (!mlirAttributeEqual(x.attribute, y))
      return false;
  }
  return true;
}

MlirValue tileRootOf(MlirValue memory) {
  for (;;) {
    memory = tileMemoryRoot(memory);
    MlirValue outside = mlirValueIsNull(memory) ? memory : tileCapturedValue(memory);
    if (mlirValueEqual(outside, memory))
      return memory;
    memory = outside;
  }
}

static bool isMarkedNoAlias(MlirValue parameter) {
  MlirOperation function = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(parameter));
  MlirAttribute all = tileOpAttribute(function, "arg_attrs");
  if (mlirAttributeIsNull(all))
    return false;
  MlirAttribute own = mlirArrayAttrGetElement(all, mlirBlockArgumentGetArgNumber(parameter));
  return !mlirAttributeIsNull(mlirDictionaryAttrGetElementByName(own, tileString("llvm.noalias")));
}

static bool isTakenByJoin(MlirValue token) {
  for (MlirOpOperand use = mlirValueGetFirstUse(token); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (tileJoinOpIsA(mlirOpOperandGetOwner(use)))
      return true;
  return false;
}

bool tileEndsCopyGroup(MlirOperation op) {
  if (tileCopyAsyncOpIsA(op))
    return mlirOperationGetNumResults(op) == 0 || !isTakenByJoin(tileCopyAsyncOpGetToken(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (tileCopyAsyncOpIsA(tileDefiningOp(mlirOperationGetOperand(op, i))))
      return true;
  return false;
}

//===--- partitions of warps ------------------------------------------------===//

MlirValue tileCapturedValue(MlirValue value) {
  while (mlirValueIsABlockArgument(value)) {
    MlirOperation around = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
    if (mlirOperationIsNull(around) || !tileWarpSpecializeOpIsA(around))
      break;
    value = mlirOperationGetOperand(around, mlirBlockArgumentGetArgNumber(value));
  }
  return value;
}

MlirOperation tilePartitionAround(MlirOperation op, intptr_t *partition) {
  while (!tileKernelOpIsA(op)) {
    MlirBlock block = mlirOperationGetBlock(op);
    op = mlirOperationGetParentOperation(op);
    for (intptr_t i = 0; tileWarpSpecializeOpIsA(op) && i < mlirOperationGetNumRegions(op); ++i)
      if (mlirBlockEqual(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)), block)) {
        *partition = i;
        return op;
      }
  }
  *partition = -1;
  return op;
}

int64_t tileWarpsOf(MlirOperation op) {
  intptr_t partition;
  int64_t warps = 0;
  MlirOperation around = tilePartitionAround(op, &partition);
  if (partition >= 0)
    return tileArrayAt(around, "warps", partition);
  tileIntegerOf(around, "warps", &warps);
  return warps;
}

static MlirWalkResult findDivided(MlirOperation op, void *found) {
  bool isCopy = tileCopyOpIsA(op) || (tileCopyAsyncOpIsA(op) && !tileKeywordIs(op, "engine", "tma"));
  if (!isCopy && !tileOpHasTiles(op))
    return MlirWalkResultAdvance;
  *(MlirOperation *)found = op;
  return MlirWalkResultInterrupt;
}

MlirOperation tilePartitionDividedOp(MlirOperation partitions, intptr_t partition) {
  MlirOperation found = {NULL};
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(partitions, partition));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op) && mlirOperationIsNull(found);
       op = mlirOperationGetNextInBlock(op))
    mlirOperationWalk(op, findDivided, &found, MlirWalkPreOrder);
  return found;
}

bool tileParametersMayOverlap(MlirValue a, MlirValue b) {
  return mlirValueEqual(a, b) || (!isMarkedNoAlias(a) && !isMarkedNoAlias(b));
}

bool tileLaunches(MlirOperation launch, MlirOperation kernel) {
  return mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(tileLaunchOpGetKernel(launch)),
                            tileKernelOpGetSymNameValue(kernel));
}

//===--- expectations -------------------------------------------------------===//

bool tileExpectShapeOf(MlirOperation op, const char *what, MlirType seen, const char *whose, MlirValue reference) {
  MlirType wanted = mlirValueGetType(reference);
  if (tileTypeHasSameShape(seen, wanted))
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(reference), "the other one is defined here",
                           "%s has shape %s (%s), expected the shape of %s, %s (%s)", what, TILE_SHAPE_TEXT(seen),
                           TILE_TYPE_TEXT(seen), whose, TILE_SHAPE_TEXT(wanted), TILE_TYPE_TEXT(wanted));
}

bool tileExpectElementOf(MlirOperation op, const char *what, MlirType seen, const char *whose, MlirValue reference) {
  MlirType element = tileTypeGetElement(seen), wanted = tileTypeGetElement(mlirValueGetType(reference));
  if (mlirTypeEqual(element, wanted))
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(reference), "the other one is defined here",
                           "%s has elements of type %s, expected those of %s, %s", what, TILE_TYPE_TEXT(element), whose,
                           TILE_TYPE_TEXT(wanted));
}

bool tileExpectElement(MlirOperation op, const char *what, MlirType seen, MlirType wanted) {
  MlirType element = tileTypeGetElement(seen);
  if (mlirTypeEqual(element, wanted))
    return true;
  return tileError(op, "%s has elements of type %s, expected %s", what, TILE_TYPE_TEXT(element),
                   TILE_TYPE_TEXT(wanted));
}

bool tileExpectType(MlirOperation op, const char *what, MlirType seen, MlirType wanted) {
  if (mlirTypeEqual(seen, wanted))
    return true;
  return tileError(op, "%s is %s, expected %s", what, TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(wanted));
}

bool tileExpectInteger(MlirOperation op, const char *what, int64_t seen, int64_t minimum, int64_t maximum) {
  if (seen >= minimum && seen <= maximum)
    return true;
  if (maximum == INT64_MAX)
    return tileError(op, "%s is %lld, expected at least %lld", what, (long long)seen, (long long)minimum);
  return tileError(op, "%s is %lld, expected %lld to %lld", what, (long long)seen, (long long)minimum,
                   (long long)maximum);
}

bool tileExpectIntegral(MlirOperation op, const char *what, MlirType seen) {
  return tileTypeIsIntegral(seen) ||
         tileError(op, "%s is %s, expected integer or index elements", what, TILE_TYPE_TEXT(seen));
}

bool tileExpectNoRing(MlirOperation op, const char *what, MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  if (!tileTypeIsABuffer(type) || tileBufferTypeGetStages(type) == 0)
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(buffer), "the ring is defined here",
                           "%s is a ring of %lld stages, expected one stage: take it with tile.slot", what,
                           (long long)tileBufferTypeGetStages(type));
}

bool tileExpectIndices(MlirOperation op, MlirValue memory, intptr_t count) {
  MlirType type = mlirValueGetType(memory);
  intptr_t wanted = tileTypeIsABuffer(type) ? 0 : tileTypeGetRank(type);
  if (count != wanted)
    return tileErrorWithNote(
        op, mlirValueGetLocation(memory), "it is defined here",
        "has %lld indices, expected %lld: one per dimension of a view or memref, none for a buffer (%s)",
        (long long)count, (long long)wanted, TILE_TYPE_TEXT(type));
  return tileExpectNoRing(op, "the buffer", memory);
}

bool tileExpectVector(MlirOperation op, MlirType tile) {
  int64_t vector = 1;
  if (!tileIntegerOf(op, "vector", &vector))
    return true;
  if (mlirAttributeIsNull(tileTypeGetLayout(tile)))
    return tileError(op, "moves %lld elements at once, but %s has no layout; expected a kernel at the scheduled level",
                     (long long)vector, TILE_TYPE_TEXT(tile));
  return (vector > 0 && !(vector & (vector - 1))) ||
         tileError(op, "vector is %lld; expected a power of two", (long long)vector);
}

bool tileExpectAxes(MlirOperation op, const char *name, intptr_t rank) {
  int64_t before = -1;
  MlirAttribute array = tileOpAttribute(op, name);
  for (intptr_t i = 0, count = countOf(array); i < count; ++i) {
    int64_t axis = mlirDenseI64ArrayGetElement(array, i);
    if (axis < 0 || axis >= rank)
      return tileError(op, "%s has %lld, expected 0 to %lld", name, (long long)axis, (long long)rank - 1);
    if (axis <= before)
      return tileError(op, "%s has %lld after %lld, expected ascending order", name, (long long)axis,
                       (long long)before);
    before = axis;
  }
  return true;
}

bool tileExpectPermutation(MlirOperation op, const char *name, intptr_t rank) {
  intptr_t count = tileArrayCount(op, name);
  if (count != rank)
    return tileError(op, "%s has %lld entries, expected %lld", name, (long long)count, (long long)rank);
  for (intptr_t i = 0; i < rank; ++i)
    if (!tileArrayContains(op, name, i))
      return tileError(op, "%s lacks %lld, expected a permutation of 0 to %lld", name, (long long)i,
                       (long long)rank - 1);
  return true;
}
