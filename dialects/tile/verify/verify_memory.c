// Verifiers of the ops that reach memory: view, num_tiles, in_bounds, memref_at, load, store, gather, scatter, atomics.
// Why: shapes, elements and index counts must agree between a tile and the memory it comes from or goes to.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/assembly_parts.h"
#include "lib/ir/op_format.h"

#include <stdlib.h>

//===--- view ---------------------------------------------------------------===//

// A packed view unpacks narrow elements out of wider words, a whole number of them per word.
static bool verifyViewElement(MlirOperation op) {
  MlirType view = tileViewOpGetResultType(op), source = tileViewOpGetSourceType(op);
  MlirType seen = tileTypeGetElement(view), word = tileTypeGetElement(source);
  if (mlirAttributeIsNull(tileViewTypeGetPacked(view)))
    return tileExpectElementOf(op, "the view", view, "the memref", tileViewOpGetSource(op));
  unsigned narrow = tileElementWidth(seen), wide = tileElementWidth(word);
  if (narrow && narrow < wide && wide % narrow == 0)
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(tileViewOpGetSource(op)), "the memref is defined here",
                           "unpacks %s from words of %s, expected an element whose width divides the word's",
                           TILE_TYPE_TEXT(seen), TILE_TYPE_TEXT(word));
}

bool tileViewOpVerify(MlirOperation op) {
  MlirType source = tileViewOpGetSourceType(op), view = tileViewOpGetResultType(op);
  intptr_t rank = tileTypeGetRank(source), fixed = tileArrayCount(op, "fixed");
  intptr_t indices = mlirOperationGetNumOperands(op) - 1;
  if (!tileExpectAxes(op, "fixed", rank))
    return false;
  if (fixed != indices)
    return tileError(op, "has %d indices, expected %d, one per fixed dimension", (int)indices, (int)fixed);
  if (rank - fixed != tileTypeGetRank(view))
    return tileErrorWithNote(op, mlirValueGetLocation(tileViewOpGetSource(op)), "the memref is defined here",
                             "keeps %d of the memref's %d dimensions, expected the view's rank, %d (%s)",
                             (int)(rank - fixed), (int)rank, (int)tileTypeGetRank(view), TILE_TYPE_TEXT(view));
  return verifyViewElement(op);
}

bool tileNumTilesOpVerify(MlirOperation op) {
  int64_t dim = 0;
  tileIntegerOf(op, "dim", &dim);
  intptr_t rank = tileTypeGetRank(tileNumTilesOpGetViewType(op));
  if (dim >= 0 && dim < rank)
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(tileNumTilesOpGetView(op)), "the view is defined here",
                           "dim is %lld, expected less than the view's rank, %d", (long long)dim, (int)rank);
}

bool tileInBoundsOpVerify(MlirOperation op) {
  MlirValue view = tileInBoundsOpGetView(op);
  MlirType result = tileInBoundsOpGetResultType(op);
  return tileExpectIndices(op, view, mlirOperationGetNumOperands(op) - 1) &&
         tileExpectShapeOf(op, "the result", result, "the view", view) &&
         tileExpectElement(op, "the result", result, mlirIntegerTypeGet(mlirOperationGetContext(op), 1));
}

//===--- memref_at ----------------------------------------------------------===//

static bool expectCount(MlirOperation op, const char *group, intptr_t wanted) {
  intptr_t begin, seen;
  tileOpOperands(op, group, &begin, &seen);
  return seen == wanted || tileError(op, "gives %d %s, expected %d, one per dynamic one of %s", (int)seen, group,
                                     (int)wanted, TILE_TYPE_TEXT(tileOnlyResultType(op)));
}

static intptr_t countDynamic(intptr_t count, const int64_t *values) {
  intptr_t dynamic = 0;
  for (intptr_t i = 0; i < count; ++i)
    dynamic += mlirShapedTypeIsDynamicStrideOrOffset(values[i]);
  return dynamic;
}

// Strides are given where the type leaves them open; an identity layout's follow from the sizes.
static bool countStrides(MlirType memref, intptr_t *count) {
  *count = 0;
  intptr_t rank = mlirShapedTypeGetRank(memref);
  if (mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(memref)))
    return true;
  int64_t offset, *strides = malloc(sizeof *strides * (size_t)(rank + 1));
  bool isStrided = mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(memref, strides, &offset));
  if (isStrided)
    *count = countDynamic(rank, strides);
  free(strides);
  return isStrided && offset == 0;
}

bool tileMemrefAtOpVerify(MlirOperation op) {
  MlirType memref = tileMemrefAtOpGetResultType(op);
  intptr_t sizes = 0, strides;
  for (intptr_t i = 0, rank = mlirShapedTypeGetRank(memref); i < rank; ++i)
    sizes += mlirShapedTypeIsDynamicDim(memref, i);
  if (!countStrides(memref, &strides))
    return tileError(op, "makes %s, expected strides and no offset: the address says where it begins",
                     TILE_TYPE_TEXT(memref));
  return expectCount(op, "sizes", sizes) && expectCount(op, "strides", strides);
}

//===--- load and store -----------------------------------------------------===//

// `matrices` and `late` are about fragments that are read from buffers.
static bool verifyFragment(MlirOperation op, MlirType source, MlirType result) {
  int64_t third = 2;
  bool byMatrices = tileIntegerOf(op, "matrices", &third);
  if (!byMatrices && !tileHas(op, "late"))
    return true;
  if (!tileTypeIsABuffer(source) || mlirAttributeIsNull(tileTypeGetLayout(result)))
    return tileError(op,
                     "has `%s` but reads %s into %s; `%s` applies to a buffer that is read into a tile with a layout",
                     byMatrices ? "matrices" : "late", TILE_TYPE_TEXT(source), TILE_TYPE_TEXT(result),
                     byMatrices ? "matrices" : "late");
  if (byMatrices && tileHas(op, "vector"))
    return tileError(op, "has both `vector` and `matrices`; an instruction moves either");
  TileLayout layout = tileLayoutAttrGetLayout(tileTypeGetLayout(result));
  int64_t bits = layout.bits[TileLayoutReg];
  return !byMatrices || tileExpectInteger(op, "matrices", third, 2, bits > 3 ? bits - 1 : 2);
}

bool tileLoadOpVerify(MlirOperation op) {
  MlirValue source = tileLoadOpGetSource(op);
  MlirType result = tileLoadOpGetResultType(op);
  return tileExpectIndices(op, source, mlirOperationGetNumOperands(op) - 1) &&
         tileExpectShapeOf(op, "the result", result, "the source", source) &&
         tileExpectElementOf(op, "the result", result, "the source", source) && tileExpectVector(op, result) &&
         verifyFragment(op, mlirValueGetType(source), result);
}

// add, max and min take integers and floats; the others want integers.
static bool verifyCombine(MlirOperation op, MlirType value) {
  static const char *const ofAnything[] = {"add", "max", "min", NULL};
  MlirStringRef combine = tileKeywordOf(op, "combine");
  return !tileHas(op, "combine") || tileIsOneOf(combine, ofAnything) || tileTypeIsIntegral(value) ||
         tileError(op, "combine(%.*s) of %s, expected integer elements", (int)combine.length, combine.data,
                   TILE_TYPE_TEXT(tileTypeGetElement(value)));
}

bool tileStoreOpVerify(MlirOperation op) {
  MlirValue destination = tileStoreOpGetDestination(op);
  MlirType value = tileStoreOpGetValueType(op);
  return tileExpectIndices(op, destination, mlirOperationGetNumOperands(op) - 2) &&
         tileExpectShapeOf(op, "the value", value, "the destination", destination) &&
         tileExpectElementOf(op, "the value", value, "the destination", destination) && verifyCombine(op, value) &&
         tileExpectVector(op, value);
}

//===--- gather, scatter, atomics: what is reached, and how it is indexed ----===//

typedef struct Access {
  MlirOperation op;
  MlirValue base;        // view, memref, tile of addresses, or (gather) the tile gathered from
  intptr_t begin, count; // of the indices among the operands
  const char *what;      // "the result", "the value"
  MlirType type;         // of the tile or scalar that is read or written
  bool mayBeScalar;      // atomics
} Access;

static MlirType indexType(const Access *access, intptr_t i) { return tileOperandType(access->op, access->begin + i); }

static bool expectIndexElement(const Access *access, intptr_t i) {
  MlirType type = indexType(access, i);
  return tileTypeIsIntegral(type) ||
         tileError(access->op, "index #%d is %s, expected index, or a tile of integers", (int)i, TILE_TYPE_TEXT(type));
}

// On a view: a tile index (scalar), or a tile of element numbers as long as its dimension.
static bool verifyViewIndex(const Access *access, intptr_t i) {
  MlirType type = indexType(access, i), view = mlirValueGetType(access->base);
  if (mlirTypeIsAIndex(type))
    return true;
  if (!expectIndexElement(access, i))
    return false;
  if (tileTypeIsATile(type) && tileTypeGetRank(type) == 1 && tileTypeGetSize(type, 0) == tileTypeGetSize(view, i))
    return true;
  return tileErrorWithNote(access->op, mlirValueGetLocation(access->base), "the view is defined here",
                           "index #%d is %s, expected index, or a tile of %lld element numbers", (int)i,
                           TILE_TYPE_TEXT(type), (long long)tileTypeGetSize(view, i));
}

static bool verifyOnView(const Access *access) {
  bool hasTile = false;
  if (!tileExpectIndices(access->op, access->base, access->count))
    return false;
  for (intptr_t i = 0; i < access->count; ++i) {
    if (!verifyViewIndex(access, i))
      return false;
    hasTile |= tileTypeIsATile(indexType(access, i));
  }
  if (!hasTile && !access->mayBeScalar)
    return tileError(access->op, "has tile indices only, expected a tile of element numbers in at least one dimension: "
                                 "without one, tile.load and tile.store say it");
  return tileExpectShapeOf(access->op, access->what, access->type, "the view", access->base) &&
         tileExpectElementOf(access->op, access->what, access->type, "the view", access->base);
}

// On a memref: one index per dimension, all of the shape of what is read or written.
static bool verifyOnMemref(const Access *access) {
  if (!tileExpectIndices(access->op, access->base, access->count))
    return false;
  if (!access->mayBeScalar && !tileTypeIsATile(access->type))
    return tileError(access->op, "%s is %s, expected a tile: memref.load and memref.store reach one element",
                     access->what, TILE_TYPE_TEXT(access->type));
  for (intptr_t i = 0; i < access->count; ++i) {
    if (!expectIndexElement(access, i))
      return false;
    if (!tileTypeHasSameShape(indexType(access, i), access->type))
      return tileError(access->op, "index #%d has shape %s, expected that of %s, %s", (int)i,
                       TILE_SHAPE_TEXT(indexType(access, i)), access->what, TILE_SHAPE_TEXT(access->type));
  }
  return tileExpectElementOf(access->op, access->what, access->type, "the memref", access->base);
}

static bool verifyOnAddresses(const Access *access) {
  MlirType addresses = mlirValueGetType(access->base), element = tileTypeGetElement(addresses);
  if (access->count)
    return tileError(access->op, "indexes a tile of addresses with %d indices, expected none", (int)access->count);
  if (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != 64)
    return tileError(access->op, "reaches %s, expected a view, a memref or a tile of i64 addresses",
                     TILE_TYPE_TEXT(addresses));
  return tileExpectShapeOf(access->op, access->what, access->type, "the addresses", access->base);
}

static bool verifyAccess(const Access *access) {
  MlirType base = mlirValueGetType(access->base);
  if (tileTypeIsAView(base))
    return verifyOnView(access);
  return mlirTypeIsAMemRef(base) ? verifyOnMemref(access) : verifyOnAddresses(access);
}

// Along `axis` of a tile: an index tile of the result's shape.
static bool verifyOnChip(MlirOperation op, int64_t axis) {
  MlirValue source = tileGatherOpGetSource(op);
  MlirType type = mlirValueGetType(source), result = tileGatherOpGetResultType(op);
  intptr_t begin, count;
  tileOpOperands(op, "indices", &begin, &count);
  if (!tileTypeIsATile(type))
    return tileError(op, "has an axis but reaches %s, expected a tile: views and memrefs take an index per dimension",
                     TILE_TYPE_TEXT(type));
  if (!tileExpectInteger(op, "axis", axis, 0, tileTypeGetRank(type) - 1) ||
      !tileExpectInteger(op, "the number of indices", count, 1, 1))
    return false;
  if (!tileTypeHasSameShapeBut(result, type, axis))
    return tileError(op, "the result has shape %s, expected that of the source, %s, but along axis %lld",
                     TILE_SHAPE_TEXT(result), TILE_SHAPE_TEXT(type), (long long)axis);
  return tileExpectIntegral(op, "the index", tileOperandType(op, begin)) &&
         tileExpectShapeOf(op, "the result", result, "the index", mlirOperationGetOperand(op, begin)) &&
         tileExpectElementOf(op, "the result", result, "the source", source);
}

static bool verifyOther(MlirOperation op) {
  bool isUsed = !mlirValueIsNull(tileOpOperand(op, "mask")) || tileKeywordIs(op, "bounds", "drop");
  return isUsed || mlirValueIsNull(tileOpOperand(op, "other")) ||
         tileError(op, "has `other` but neither a mask nor bounds(drop): nothing would take its value");
}

bool tileGatherOpVerify(MlirOperation op) {
  Access access = {
      .op = op, .base = tileGatherOpGetSource(op), .what = "the result", .type = tileGatherOpGetResultType(op)};
  int64_t axis;
  tileOpOperands(op, "indices", &access.begin, &access.count);
  if (tileIntegerOf(op, "axis", &axis) ? !verifyOnChip(op, axis) : !verifyAccess(&access))
    return false;
  return verifyOther(op);
}

static bool verifyWritten(MlirOperation op, MlirValue base, MlirValue value, bool mayBeScalar) {
  Access access = {
      .op = op, .base = base, .what = "the value", .type = mlirValueGetType(value), .mayBeScalar = mayBeScalar};
  tileOpOperands(op, "indices", &access.begin, &access.count);
  return verifyAccess(&access);
}

bool tileScatterOpVerify(MlirOperation op) {
  MlirType value = tileScatterOpGetValueType(op);
  if (tileKeywordIs(op, "bounds", "clamp"))
    return tileError(op, "has bounds(clamp), expected trap or drop: a clamped store would overwrite the edge");
  return verifyWritten(op, tileScatterOpGetDestination(op), tileScatterOpGetValue(op), false) &&
         verifyCombine(op, value);
}

//===--- atomics ------------------------------------------------------------===//

static bool verifyKind(MlirOperation op, MlirType element) {
  MlirStringRef kind = tileKeywordOf(op, "kind");
  bool isFloat = mlirTypeIsAFloat(element);
  if (tileStringEquals(kind, "xchg") || isFloat == tileStringEquals(kind, "fadd"))
    return true;
  return tileError(op, "%.*s of %s, expected %s", (int)kind.length, kind.data, TILE_TYPE_TEXT(element),
                   isFloat ? "fadd or xchg for floats" : "an integer kind");
}

bool tileAtomicRmwOpVerify(MlirOperation op) {
  MlirValue value = tileOpOperand(op, "value");
  return verifyWritten(op, tileOpOperand(op, "memory"), value, true) &&
         verifyKind(op, tileTypeGetElement(mlirValueGetType(value)));
}

bool tileAtomicCasOpVerify(MlirOperation op) {
  return verifyWritten(op, tileOpOperand(op, "memory"), tileOpOperand(op, "value"), true);
}

// A load may acquire, a store may release; neither does the other's half.
static bool verifyOrder(MlirOperation op, const char *wanted) {
  MlirStringRef order = tileKeywordOf(op, "order");
  return tileStringEquals(order, "relaxed") || tileStringEquals(order, wanted) ||
         tileError(op, "has order %.*s, expected relaxed or %s", (int)order.length, order.data, wanted);
}

bool tileAtomicLoadOpVerify(MlirOperation op) {
  Access access = {.op = op,
                   .base = tileOpOperand(op, "memory"),
                   .what = "the result",
                   .type = tileAtomicLoadOpGetResultType(op),
                   .mayBeScalar = true};
  tileOpOperands(op, "indices", &access.begin, &access.count);
  return verifyOrder(op, "acquire") && verifyAccess(&access);
}

bool tileAtomicWaitOpVerify(MlirOperation op) {
  MlirType type = tileAtomicWaitOpGetLeastType(op);
  unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
  if (width != 32 && width != 64)
    return tileError(op, "waits for a number of type %s; accepts i32 and i64", TILE_TYPE_TEXT(type));
  return verifyOrder(op, "acquire") && verifyWritten(op, tileOpOperand(op, "memory"), tileOpOperand(op, "least"), true);
}

bool tileAtomicStoreOpVerify(MlirOperation op) {
  return verifyOrder(op, "release") && verifyWritten(op, tileOpOperand(op, "memory"), tileOpOperand(op, "value"), true);
}
