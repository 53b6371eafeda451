// Verifiers of matrix products: mma, mma_sparse, mma_scaled, mma_async, mma_wait.
// Why: shapes of three operands must fit, and only some element types multiply into some accumulators on any machine.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
// Whether the machine has the atom, and whether layouts are its fragments, is for analysis/: it knows the machine.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

//===--- element types ------------------------------------------------------===//

static bool isByteFloat(MlirType type) {
  return mlirTypeIsAFloat8E4M3FN(type) || mlirTypeIsAFloat8E5M2(type) || mlirTypeIsAFloat8E4M3FNUZ(type) ||
         mlirTypeIsAFloat8E5M2FNUZ(type);
}

static bool isNarrowFloat(MlirType type) {
  return mlirTypeIsAFloat4E2M1FN(type) || mlirTypeIsAFloat6E2M3FN(type) || mlirTypeIsAFloat6E3M2FN(type);
}

static bool isSignless(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) == width;
}

// The legal list: what two equal (or both 8 bits and narrower) element types may accumulate into.
//   f64 -> f64; f32, tf32, bf16 -> f32; f16 -> f16, f32; 8-bit floats -> f16, f32; 6- and 4-bit floats -> f32
//   i4, i8, i16 -> i32; i32 -> i32; i64 -> i64
static bool accumulatesFloat(MlirType element, MlirType sum) {
  if (mlirTypeIsAF64(element))
    return mlirTypeIsAF64(sum);
  if (mlirTypeIsAF16(element) || isByteFloat(element))
    return mlirTypeIsAF16(sum) || mlirTypeIsAF32(sum);
  return mlirTypeIsAF32(sum) &&
         (mlirTypeIsAF32(element) || mlirTypeIsATF32(element) || mlirTypeIsABF16(element) || isNarrowFloat(element));
}

static bool accumulatesInteger(MlirType element, MlirType sum) {
  if (isSignless(element, 64))
    return isSignless(sum, 64);
  return isSignless(sum, 32) &&
         (isSignless(element, 4) || isSignless(element, 8) || isSignless(element, 16) || isSignless(element, 32));
}

static bool isLegalProduct(MlirType left, MlirType right, MlirType sum) {
  bool isSmall = (isByteFloat(left) || isNarrowFloat(left)) && (isByteFloat(right) || isNarrowFloat(right));
  if (!isSmall && !mlirTypeEqual(left, right))
    return false;
  return accumulatesInteger(left, sum) || (accumulatesFloat(left, sum) && accumulatesFloat(right, sum));
}

static bool expectProduct(MlirOperation op, MlirType lhs, MlirType rhs, MlirType accumulator) {
  MlirType left = tileTypeGetElement(lhs), right = tileTypeGetElement(rhs), sum = tileTypeGetElement(accumulator);
  return isLegalProduct(left, right, sum) ||
         tileError(op,
                   "multiplies %s by %s into %s, expected one of f64 into f64; f32, tf32, bf16 into f32; f16 or 8-bit "
                   "floats into f16 or f32; narrower floats into f32; i4, i8, i16, i32 into i32; i64 into i64",
                   TILE_TYPE_TEXT(left), TILE_TYPE_TEXT(right), TILE_TYPE_TEXT(sum));
}

//===--- shapes -------------------------------------------------------------===//

static bool expectRank(MlirOperation op, const char *what, MlirType type, intptr_t rank) {
  return tileTypeGetRank(type) == rank || tileError(op, "%s has rank %d (%s), expected %d, the accumulator's", what,
                                                    (int)tileTypeGetRank(type), TILE_TYPE_TEXT(type), (int)rank);
}

typedef struct Side {
  const char *name;
  MlirValue value;
} Side;

// Size of a's axis i must be that of b's axis j.
static bool expectSize(MlirOperation op, Side a, intptr_t i, Side b, intptr_t j) {
  int64_t seen = tileTypeGetSize(mlirValueGetType(a.value), i), wanted = tileTypeGetSize(mlirValueGetType(b.value), j);
  return seen == wanted || tileErrorWithNote(op, mlirValueGetLocation(b.value), "the other one is defined here",
                                             "axis %d of %s has size %lld, expected %lld, axis %d of %s", (int)i,
                                             a.name, (long long)seen, (long long)wanted, (int)j, b.name);
}

// [batch,] M x K times [batch,] K x N into [batch,] M x N.
static bool expectShapes(MlirOperation op, Side lhs, Side rhs, Side accumulator) {
  intptr_t rank = tileTypeGetRank(mlirValueGetType(accumulator.value)), m = rank - 2, n = rank - 1;
  if (!tileExpectInteger(op, "the accumulator's rank", rank, 2, 3))
    return false;
  if (!expectRank(op, lhs.name, mlirValueGetType(lhs.value), rank) ||
      !expectRank(op, rhs.name, mlirValueGetType(rhs.value), rank))
    return false;
  if (rank == 3 && (!expectSize(op, lhs, 0, accumulator, 0) || !expectSize(op, rhs, 0, accumulator, 0)))
    return false;
  return expectSize(op, rhs, m, lhs, n) && expectSize(op, lhs, m, accumulator, m) &&
         expectSize(op, rhs, n, accumulator, n);
}

static Side side(MlirOperation op, const char *name) { return (Side){name, tileOpOperand(op, name)}; }

//===--- mma ----------------------------------------------------------------===//

// A CPU's dot instruction: its types, and no layouts, as one thread has the whole tile.
static bool verifyDot(MlirOperation op, const TileDot *dot) {
  MlirType element = tileTypeGetElement(tileMmaOpGetLhsType(op)), sum = tileTypeGetElement(tileOnlyResultType(op));
  if (!tileDotTakes(dot, element, sum))
    return tileError(op, "has atom %s, which multiplies %s into %s, for %s into %s", dot->atom, dot->element, dot->sum,
                     TILE_TYPE_TEXT(element), TILE_TYPE_TEXT(sum));
  return mlirAttributeIsNull(tileTypeGetLayout(tileOnlyResultType(op))) ||
         tileError(op, "has layouts and atom %s, expected no layouts: it is a CPU's", dot->atom);
}

// `atom` names the instruction whose fragments the layouts are: there is one exactly when there are layouts.
static bool verifyAtom(MlirOperation op) {
  bool hasLayouts = !mlirAttributeIsNull(tileTypeGetLayout(tileOnlyResultType(op)));
  const TileDot *dot = tileDotOf(op);
  if (dot)
    return verifyDot(op, dot);
  if (hasLayouts == tileHas(op, "atom"))
    return true;
  return hasLayouts ? tileError(op, "has layouts but no atom, expected the instruction whose fragments they are")
                    : tileError(op, "has an atom but no layouts, expected no atom before layouts are assigned");
}

static bool verifyPrecision(MlirOperation op) {
  MlirType element = tileTypeGetElement(mlirValueGetType(tileOpOperand(op, "lhs")));
  MlirStringRef precision = tileKeywordOf(op, "precision");
  return !tileHas(op, "precision") || mlirTypeIsAF32(element) ||
         tileError(op, "has precision %.*s for %s, expected it for f32 only", (int)precision.length, precision.data,
                   TILE_TYPE_TEXT(element));
}

bool tileMmaOpVerify(MlirOperation op) {
  Side lhs = side(op, "lhs"), rhs = side(op, "rhs"), accumulator = side(op, "accumulator");
  MlirType sum = mlirValueGetType(accumulator.value);
  return expectShapes(op, lhs, rhs, accumulator) &&
         expectProduct(op, mlirValueGetType(lhs.value), mlirValueGetType(rhs.value), sum) && verifyPrecision(op) &&
         verifyAtom(op);
}

//===--- mma_sparse ---------------------------------------------------------===//

// `type` is M x K / divisor, where `rhs` is K x N.
static bool expectKept(MlirOperation op, Side kept, Side rhs, Side accumulator, int64_t divisor) {
  int64_t k = tileTypeGetSize(mlirValueGetType(rhs.value), 0), m = tileTypeGetSize(tileOnlyResultType(op), 0);
  MlirType type = mlirValueGetType(kept.value);
  if (!expectRank(op, kept.name, type, 2) || !expectSize(op, kept, 0, accumulator, 0))
    return false;
  return tileTypeGetSize(type, 1) * divisor == k ||
         tileErrorWithNote(op, mlirValueGetLocation(rhs.value), "the right factor is defined here",
                           "%s has shape %s, expected %lldx%lld, as 2 of 4 of %lld are kept", kept.name,
                           TILE_SHAPE_TEXT(type), (long long)m, (long long)(k / divisor), (long long)k);
}

bool tileMmaSparseOpVerify(MlirOperation op) {
  Side lhs = side(op, "lhs"), rhs = side(op, "rhs"), accumulator = side(op, "accumulator"), places = side(op, "places");
  MlirType sum = mlirValueGetType(accumulator.value);
  if (!tileExpectInteger(op, "the accumulator's rank", tileTypeGetRank(sum), 2, 2) ||
      !expectRank(op, rhs.name, mlirValueGetType(rhs.value), 2) || !expectSize(op, rhs, 1, accumulator, 1))
    return false;
  int64_t k = tileTypeGetSize(mlirValueGetType(rhs.value), 0);
  if (k % 8)
    return tileError(op, "rhs has %lld rows, expected a multiple of 8: a byte of places is for as many", (long long)k);
  return expectKept(op, lhs, rhs, accumulator, 2) && expectKept(op, places, rhs, accumulator, 8) &&
         tileExpectElement(op, places.name, mlirValueGetType(places.value),
                           mlirIntegerTypeGet(mlirOperationGetContext(op), 8)) &&
         expectProduct(op, mlirValueGetType(lhs.value), mlirValueGetType(rhs.value), sum) && verifyAtom(op);
}

//===--- mma_scaled ---------------------------------------------------------===//

static bool expectScaleType(MlirOperation op, Side scale) {
  MlirType element = tileTypeGetElement(mlirValueGetType(scale.value));
  return mlirTypeIsAFloat8E8M0FNU(element) || mlirTypeIsAFloat8E4M3FN(element) || mlirTypeIsAF32(element) ||
         tileError(op, "%s has elements of type %s, expected f8E8M0FNU, f8E4M3FN or f32", scale.name,
                   TILE_TYPE_TEXT(element));
}

// The scale has the operand's shape, with axis `k` counted in blocks.
static bool expectScaleShape(MlirOperation op, Side scale, Side operand, intptr_t k, int64_t block) {
  MlirType seen = mlirValueGetType(scale.value), type = mlirValueGetType(operand.value);
  int64_t size = tileTypeGetSize(type, k);
  if (size % block)
    return tileError(op, "axis %d of %s has size %lld, expected a multiple of the block, %lld", (int)k, operand.name,
                     (long long)size, (long long)block);
  if (tileTypeHasSameShapeBut(seen, type, k) && tileTypeGetSize(seen, k) == size / block * tileScaleParts(seen))
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(operand.value), "what it scales is defined here",
                           "%s has shape %s, expected that of %s, %s, with axis %d divided by the block, %lld%s",
                           scale.name, TILE_SHAPE_TEXT(seen), operand.name, TILE_SHAPE_TEXT(type), (int)k,
                           (long long)block, tileScaleParts(seen) == 2 ? ", times 2 for scales of f32" : "");
}

static bool expectScale(MlirOperation op, Side scale, Side operand, intptr_t k, int64_t block) {
  MlirType element = tileTypeGetElement(mlirValueGetType(operand.value));
  if (!isByteFloat(element) && !isNarrowFloat(element) && !mlirTypeIsAF16(element))
    return tileError(op, "%s has elements of type %s, expected floats of 8 bits or fewer, or f16", operand.name,
                     TILE_TYPE_TEXT(element));
  return expectScaleType(op, scale) && expectScaleShape(op, scale, operand, k, block);
}

bool tileMmaScaledOpVerify(MlirOperation op) {
  Side lhs = side(op, "lhs"), rhs = side(op, "rhs"), accumulator = side(op, "accumulator");
  MlirType sum = mlirValueGetType(accumulator.value);
  intptr_t rank = tileTypeGetRank(sum);
  int64_t block = 0;
  tileIntegerOf(op, "block", &block);
  if (block != 16 && block != 32)
    return tileError(op, "block is %lld, expected 16 or 32", (long long)block);
  return expectShapes(op, lhs, rhs, accumulator) &&
         tileExpectElement(op, "the accumulator", sum, mlirF32TypeGet(mlirOperationGetContext(op))) &&
         expectScale(op, side(op, "lhs_scale"), lhs, rank - 1, block) &&
         expectScale(op, side(op, "rhs_scale"), rhs, rank - 2, block);
}

//===--- mma_async, mma_wait ------------------------------------------------===//

static bool expectLevel(MlirOperation op, Side buffer, bool mayBeTensorMemory) {
  MlirType type = mlirValueGetType(buffer.value);
  if (!tileTypeIsABuffer(type))
    return true;
  MlirStringRef level = tileBufferTypeGetLevel(type);
  if (tileStringEquals(level, "shared") || (mayBeTensorMemory && tileStringEquals(level, "tmem")))
    return tileExpectNoRing(op, buffer.name, buffer.value);
  return tileErrorWithNote(op, mlirValueGetLocation(buffer.value), "the buffer is defined here",
                           "%s lies in %.*s, expected shared%s", buffer.name, (int)level.length, level.data,
                           mayBeTensorMemory ? " or tmem" : "");
}

// Accumulators in registers are threaded through as tensors; those in tensor memory change in place and signal.
static bool verifyAccumulator(MlirOperation op, Side accumulator) {
  MlirType type = mlirValueGetType(accumulator.value);
  intptr_t results = mlirOperationGetNumResults(op);
  bool signals = !mlirValueIsNull(tileOpOperand(op, "barrier"));
  if (!tileTypeIsABuffer(type) && !mlirValueIsNull(tileOpOperand(op, "adds")))
    return tileError(op, "has `adds`, expected none: its accumulator is a tile, which may be zero");
  if (!tileTypeIsABuffer(type))
    return results == 1 ? tileExpectType(op, "the result", tileOnlyResultType(op), type)
                        : tileError(op, "has no result, expected one: its accumulator is a tile");
  if (!tileStringEquals(tileBufferTypeGetLevel(type), "tmem"))
    return tileError(op, "accumulates into %s, expected a tile or a buffer in tmem", TILE_TYPE_TEXT(type));
  if (results)
    return tileError(op, "has a result, expected none: its accumulator, %s, changes in place", TILE_TYPE_TEXT(type));
  return signals ? tileExpectNoRing(op, accumulator.name, accumulator.value)
                 : tileError(op, "signals no barrier, expected one: its accumulator lies in tmem");
}

bool tileMmaAsyncOpVerify(MlirOperation op) {
  Side lhs = side(op, "lhs"), rhs = side(op, "rhs"), accumulator = side(op, "accumulator");
  return expectShapes(op, lhs, rhs, accumulator) &&
         expectProduct(op, mlirValueGetType(lhs.value), mlirValueGetType(rhs.value),
                       mlirValueGetType(accumulator.value)) &&
         expectLevel(op, lhs, true) && expectLevel(op, rhs, false) && verifyAccumulator(op, accumulator);
}

bool tileMmaWaitOpVerify(MlirOperation op) {
  int64_t pending = 0;
  tileIntegerOf(op, "pending", &pending);
  return tileExpectInteger(op, "pending", pending, 0, 7);
}
