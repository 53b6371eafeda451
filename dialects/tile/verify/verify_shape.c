// Verifiers of the ops that move elements without computing: iota, broadcast, reshape, transpose, slice, insert, cat,
// bitcast.
// Why: the result's shape follows from the source's; an encoding (layout) must follow in the same way.
// Expects: the row's own checks done. Leaves: true, or a diagnostic with value seen and value wanted, and false.
#include "dialects/tile/hooks.h"
#include "dialects/tile/layouts.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/op_format.h"

bool tileIotaOpVerify(MlirOperation op) {
  MlirType result = tileIotaOpGetResultType(op);
  int64_t dim = 0;
  tileIntegerOf(op, "dim", &dim);
  return tileExpectIntegral(op, "the result", result) &&
         tileExpectInteger(op, "dim", dim, 0, tileTypeGetRank(result) - 1);
}

//===--- broadcast ----------------------------------------------------------===//

// The result without the new axes is the source.
static bool isBroadcast(MlirOperation op, MlirType source, MlirType result) {
  intptr_t kept = 0, rank = tileTypeGetRank(source), resultRank = tileTypeGetRank(result);
  MlirAttribute axes = tileOpAttribute(op, "axes");
  for (intptr_t i = 0; i < resultRank; ++i) {
    if (tileListContains(axes, i))
      continue;
    if (kept >= rank || tileTypeGetSize(source, kept) != tileTypeGetSize(result, i))
      return false;
    ++kept;
  }
  return kept == rank;
}

bool tileBroadcastOpVerify(MlirOperation op) {
  MlirValue source = tileBroadcastOpGetInput(op);
  MlirType type = mlirValueGetType(source), result = tileBroadcastOpGetResultType(op);
  bool isScalar = tileTypeIsAScalar(type);
  if (isScalar && tileArrayCount(op, "axes"))
    return tileError(op, "names axes, expected none: all axes of a broadcast scalar are new");
  if (!tileExpectAxes(op, "axes", tileTypeGetRank(result)))
    return false;
  if (!isScalar && !isBroadcast(op, type, result))
    return tileErrorWithNote(op, mlirValueGetLocation(source), "the source is defined here",
                             "the result has shape %s, expected one that is the source's, %s, without the named axes",
                             TILE_SHAPE_TEXT(result), TILE_SHAPE_TEXT(type));
  return tileExpectElementOf(op, "the result", result, "the source", source) &&
         (isScalar || tileExpectFreedLayout(op, tileBroadcastOpGetResult(op), source));
}

//===--- reshape, transpose, bitcast ----------------------------------------===//

// Tiles become tiles and buffers buffers, in the same level.
static bool expectKind(MlirOperation op) {
  MlirType source = mlirValueGetType(tileMovedTile(op)), result = tileOnlyResultType(op);
  if (tileTypeIsABuffer(source) != tileTypeIsABuffer(result))
    return tileError(op, "makes %s of %s, expected a tile of a tile or a buffer of a buffer", TILE_TYPE_TEXT(result),
                     TILE_TYPE_TEXT(source));
  if (!tileTypeIsABuffer(source))
    return true;
  MlirStringRef seen = tileBufferTypeGetLevel(result), wanted = tileBufferTypeGetLevel(source);
  if (!mlirStringRefEqual(seen, wanted))
    return tileError(op, "the result lies in %.*s, expected the source's level, %.*s: no data moves", (int)seen.length,
                     seen.data, (int)wanted.length, wanted.data);
  return tileExpectNoRing(op, "the source", tileMovedTile(op));
}

bool tileReshapeOpVerify(MlirOperation op) {
  MlirValue source = tileReshapeOpGetInput(op);
  MlirType type = mlirValueGetType(source), result = tileReshapeOpGetResultType(op);
  if (!expectKind(op) || !tileExpectElementOf(op, "the result", result, "the source", source))
    return false;
  if (tileTypeGetCount(type) != tileTypeGetCount(result))
    return tileErrorWithNote(op, mlirValueGetLocation(source), "the source is defined here",
                             "the result has %lld elements (%s), expected the source's %lld (%s)",
                             (long long)tileTypeGetCount(result), TILE_SHAPE_TEXT(result),
                             (long long)tileTypeGetCount(type), TILE_SHAPE_TEXT(type));
  return tileExpectReshapedLayout(op, tileReshapeOpGetResult(op), source);
}

bool tileTransposeOpVerify(MlirOperation op) {
  MlirValue source = tileTransposeOpGetInput(op);
  MlirType type = mlirValueGetType(source), result = tileTransposeOpGetResultType(op);
  intptr_t rank = tileTypeGetRank(type);
  if (!expectKind(op) || !tileExpectPermutation(op, "permutation", rank) ||
      !tileExpectElementOf(op, "the result", result, "the source", source))
    return false;
  bool fits = tileTypeGetRank(result) == rank;
  for (intptr_t i = 0; fits && i < rank; ++i)
    fits = tileTypeGetSize(result, i) == tileTypeGetSize(type, tileArrayAt(op, "permutation", i));
  if (!fits)
    return tileErrorWithNote(op, mlirValueGetLocation(source), "the source is defined here",
                             "the result has shape %s, expected the source's, %s, permuted", TILE_SHAPE_TEXT(result),
                             TILE_SHAPE_TEXT(type));
  return tileExpectPermutedLayout(op, tileTransposeOpGetResult(op), source);
}

bool tileBitcastOpVerify(MlirOperation op) {
  MlirValue source = tileBitcastOpGetInput(op);
  MlirType type = mlirValueGetType(source), result = tileBitcastOpGetResultType(op);
  intptr_t rank = tileTypeGetRank(type), last = rank - 1;
  unsigned from = tileElementWidth(tileTypeGetElement(type)), to = tileElementWidth(tileTypeGetElement(result));
  if (!from || !to || !rank)
    return tileError(op, "casts %s to %s, expected tiles whose elements have a known width", TILE_TYPE_TEXT(type),
                     TILE_TYPE_TEXT(result));
  if (from == to)
    return tileError(op, "keeps the width of %u bits, expected another one: arith.bitcast says this", from);
  uint64_t seen = (uint64_t)tileTypeGetSize(result, last) * to, wanted = (uint64_t)tileTypeGetSize(type, last) * from;
  if (tileTypeHasSameShapeBut(result, type, last) && seen == wanted)
    return true;
  return tileErrorWithNote(op, mlirValueGetLocation(source), "the source is defined here",
                           "the result is %s, expected as many bits along the last axis as %s and no other change",
                           TILE_TYPE_TEXT(result), TILE_TYPE_TEXT(type));
}

//===--- slice, insert, cat -------------------------------------------------===//

static bool expectWithin(MlirOperation op, intptr_t axis, int64_t offset, int64_t size, MlirValue whole) {
  int64_t limit = tileTypeGetSize(mlirValueGetType(whole), axis);
  if (offset >= 0 && size <= limit && offset <= limit - size)
    return true;
  return tileErrorWithNote(
      op, mlirValueGetLocation(whole), "the whole is defined here",
      "the part covers %lld elements from %lld on of axis %d, expected it within the whole's size, %lld",
      (long long)size, (long long)offset, (int)axis, (long long)limit);
}

// A part of shape `part` at the op's offsets must lie within `whole`. Dynamic offsets are the program's promise.
static bool expectInside(MlirOperation op, MlirType part, MlirValue whole) {
  MlirType type = mlirValueGetType(whole);
  intptr_t rank = tileTypeGetRank(type), dynamic = 0, begin, count;
  tileOpOperands(op, "offsets", &begin, &count);
  if (tileTypeGetRank(part) != rank || tileArrayCount(op, "static_offsets") != rank)
    return tileErrorWithNote(op, mlirValueGetLocation(whole), "the whole is defined here",
                             "has a part of rank %d at %d offsets, expected %d, the rank of the whole",
                             (int)tileTypeGetRank(part), (int)tileArrayCount(op, "static_offsets"), (int)rank);
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t offset = tileArrayAt(op, "static_offsets", i);
    bool isDynamic = mlirShapedTypeIsDynamicSize(offset);
    dynamic += isDynamic;
    if (!expectWithin(op, i, isDynamic ? 0 : offset, tileTypeGetSize(part, i), whole))
      return false;
  }
  return dynamic == count || tileError(op, "has %d dynamic offsets, expected %d", (int)count, (int)dynamic);
}

bool tileSliceOpVerify(MlirOperation op) {
  MlirValue source = tileSliceOpGetInput(op);
  MlirType result = tileSliceOpGetResultType(op);
  return expectKind(op) && tileExpectElementOf(op, "the result", result, "the source", source) &&
         expectInside(op, result, source);
}

bool tileInsertOpVerify(MlirOperation op) {
  MlirValue destination = tileInsertOpGetDestination(op);
  MlirType part = tileInsertOpGetInputType(op);
  return tileExpectElementOf(op, "the part", part, "the destination", destination) &&
         expectInside(op, part, destination);
}

static bool expectPiece(MlirOperation op, MlirValue piece, int64_t axis) {
  MlirType type = mlirValueGetType(piece), result = tileCatOpGetResultType(op);
  if (!tileTypeHasSameShapeBut(type, result, axis))
    return tileErrorWithNote(op, mlirValueGetLocation(piece), "the piece is defined here",
                             "a piece has shape %s, expected the result's, %s, but along axis %lld",
                             TILE_SHAPE_TEXT(type), TILE_SHAPE_TEXT(result), (long long)axis);
  return tileExpectElementOf(op, "the result", result, "a piece", piece);
}

bool tileCatOpVerify(MlirOperation op) {
  int64_t axis = 0, sum = 0;
  MlirType result = tileCatOpGetResultType(op);
  tileIntegerOf(op, "axis", &axis);
  if (!tileExpectInteger(op, "axis", axis, 0, tileTypeGetRank(result) - 1) ||
      !tileExpectInteger(op, "the number of pieces", mlirOperationGetNumOperands(op), 1, INT64_MAX))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    if (!expectPiece(op, mlirOperationGetOperand(op, i), axis))
      return false;
    sum += tileTypeGetSize(tileOperandType(op, i), axis);
  }
  int64_t seen = tileTypeGetSize(result, axis);
  return seen == sum || tileError(op, "the result has size %lld along axis %lld, expected the sum of the pieces', %lld",
                                  (long long)seen, (long long)axis, (long long)sum);
}
