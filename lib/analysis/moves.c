// See moves.h.
#include "lib/analysis/moves.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "mlir-c/BuiltinAttributes.h"

#include <stdlib.h>
#include <string.h>

// What the op does to coordinates: `place` gives those in the operand of what lies at `to` in the result. An affine
// one maps the bits of a coordinate to bits.
typedef struct Move Move;
struct Move {
  bool (*place)(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from); // false: nothing of the operand
  bool isAffine;
  MlirAttribute list;                                               // axes or permutation
  intptr_t rank;                                                    // of the result, or batch axes of a product
  int64_t small[TILE_LAYOUT_MAX_AXES], large[TILE_LAYOUT_MAX_AXES]; // sizes of operand and result
  int64_t offsets[TILE_LAYOUT_MAX_AXES], part, factor;
};

//===--- kinds of moves -------------------------------------------------------------------------------===//

static bool stay(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  (void)move;
  *from = *to;
  return true;
}

static bool dropAxes(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  intptr_t at = 0;
  for (intptr_t axis = 0; axis < move->rank; ++axis)
    if (!tileListContains(move->list, axis))
      from->at[at++] = to->at[axis];
  return true;
}

static bool permute(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  for (intptr_t axis = 0; axis < mlirDenseArrayGetNumElements(move->list); ++axis)
    from->at[mlirDenseI64ArrayGetElement(move->list, axis)] = to->at[axis];
  return true;
}

static bool renumber(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  int64_t number = 0;
  for (intptr_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    number = number * move->large[axis] + to->at[axis];
  for (intptr_t axis = TILE_LAYOUT_MAX_AXES; axis-- > 0; number /= move->small[axis])
    from->at[axis] = (uint32_t)(number % move->small[axis]);
  return true;
}

static bool shiftInto(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  for (intptr_t axis = 0; axis < move->rank; ++axis)
    from->at[axis] = to->at[axis] + (uint32_t)move->offsets[axis];
  return true;
}

static bool shiftOut(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  for (intptr_t axis = 0; axis < move->rank; ++axis) {
    from->at[axis] = to->at[axis] - (uint32_t)move->offsets[axis];
    if (from->at[axis] >= move->small[axis])
      return false;
  }
  return true;
}

static bool widen(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  *from = *to;
  from->at[move->rank - 1] = to->at[move->rank - 1] * (uint32_t)move->factor + (uint32_t)move->part;
  return true;
}

static bool narrow(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  *from = *to;
  from->at[move->rank - 1] = to->at[move->rank - 1] / (uint32_t)move->factor;
  return true;
}

static bool factorOfRow(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  *from = *to;
  from->at[move->rank + 1] = (uint32_t)move->part;
  return true;
}

static bool factorOfColumn(const Move *move, const TileLayoutPoint *to, TileLayoutPoint *from) {
  *from = *to;
  from->at[move->rank] = (uint32_t)move->part;
  return true;
}

//===--- reading ops ----------------------------------------------------------------------------------===//

static void sizesOf(MlirType type, int64_t *sizes) {
  for (intptr_t axis = 0; axis < tileTypeGetRank(type); ++axis)
    sizes[axis] = tileTypeGetSize(type, axis);
}

static void sizesAndOnes(MlirType type, int64_t *sizes) {
  for (intptr_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    sizes[axis] = axis < tileTypeGetRank(type) ? tileTypeGetSize(type, axis) : 1;
}

static bool readOffsets(MlirAttribute offsets, Move *move) {
  for (intptr_t axis = 0; axis < move->rank; ++axis) {
    move->offsets[axis] = mlirDenseI64ArrayGetElement(offsets, axis);
    if (move->offsets[axis] == mlirShapedTypeGetDynamicSize())
      return false;
  }
  return true;
}

TileCast tileCastOf(MlirOperation bitcast) {
  int64_t from = tileElementWidth(tileTypeGetElement(tileBitcastOpGetInputType(bitcast)));
  int64_t to = tileElementWidth(tileTypeGetElement(tileBitcastOpGetResultType(bitcast)));
  from = from ? from : 64;
  to = to ? to : 64;
  TileCast cast = {.narrows = from > to};
  int64_t wide = cast.narrows ? from : to, thin = cast.narrows ? to : from;
  cast.factor = wide % thin ? 0 : wide / thin;
  if (cast.factor & (cast.factor - 1))
    cast.factor = 0;
  return cast;
}

static bool readCat(MlirOperation op, intptr_t operand, Move *move) {
  intptr_t axis = tileCatOpGetAxisValue(op);
  sizesOf(tileOperandType(op, operand), move->small);
  for (intptr_t i = 0; i < operand; ++i)
    move->offsets[axis] += tileTypeGetSize(tileOperandType(op, i), axis);
  return true;
}

// lhs, rhs, accumulator; with scales: lhs, lhs_scale, rhs, rhs_scale.
static void readFactor(MlirOperation op, intptr_t operand, Move *move) {
  bool isScaled = tileMmaScaledOpIsA(op), isLeft = isScaled ? operand < 2 : operand == 0;
  bool isScale = isScaled && operand % 2;
  move->rank -= 2;
  if (isScale)
    move->part = move->part * tileScaleParts(tileOperandType(op, operand)) / tileMmaScaledOpGetBlockValue(op);
  move->place = isLeft ? factorOfRow : factorOfColumn;
  move->isAffine = true;
}

static bool readMove(MlirOperation op, intptr_t operand, Move *move) {
  MlirType result = tileOnlyResultType(op);
  move->rank = tileTypeGetRank(result);
  switch (tileOpKind(op)) {
  case TileOp_Broadcast:
    move->place = dropAxes;
    move->isAffine = true;
    move->list = tileBroadcastOpGetAxes(op);
    return true;
  case TileOp_Transpose:
    move->place = permute;
    move->isAffine = true;
    move->list = tileTransposeOpGetPermutation(op);
    return true;
  case TileOp_Reshape:
    move->place = renumber;
    sizesAndOnes(tileReshapeOpGetInputType(op), move->small);
    sizesAndOnes(result, move->large);
    return true;
  case TileOp_Slice:
    move->place = shiftInto;
    return readOffsets(tileSliceOpGetStaticOffsets(op), move);
  case TileOp_Insert:
    move->place = operand ? stay : shiftOut;
    sizesOf(tileInsertOpGetInputType(op), move->small);
    return readOffsets(tileInsertOpGetStaticOffsets(op), move);
  case TileOp_Cat:
    move->place = shiftOut;
    return readCat(op, operand, move);
  case TileOp_Bitcast: {
    TileCast cast = tileCastOf(op);
    move->factor = cast.factor;
    move->place = cast.narrows ? narrow : widen;
    move->isAffine = true;
    return cast.factor > 0;
  }
  case TileOp_Mma:
  case TileOp_MmaScaled:
    readFactor(op, operand, move);
    return true;
  default:
    return false;
  }
}

bool tileInsertsInPlace(MlirOperation insert) {
  MlirAttribute layout = tileTypeGetLayout(tileInsertOpGetResultType(insert)), offsets;
  offsets = tileInsertOpGetStaticOffsets(insert);
  for (intptr_t axis = 0; axis < mlirDenseArrayGetNumElements(offsets); ++axis)
    if (mlirDenseI64ArrayGetElement(offsets, axis))
      return false;
  return mlirAttributeEqual(tileTypeGetLayout(tileInsertOpGetInputType(insert)), layout) &&
         mlirAttributeEqual(tileTypeGetLayout(tileInsertOpGetDestinationType(insert)), layout);
}

//===--- registers ------------------------------------------------------------------------------------===//

typedef struct Found {
  TileLayoutPoint point;
  intptr_t reg;
} Found;

typedef struct Search {
  const TileLayout *from, *to;
  const Move *move;
  uint32_t lanes, warps;
  bool isAffine; // then the bits of lane and warp decide
} Search;

static int comparePoints(const void *a, const void *b) { return memcmp(a, b, sizeof(TileLayoutPoint)); }

static int compareFound(const void *a, const void *b) {
  const Found *x = a, *y = b;
  int order = comparePoints(&x->point, &y->point);
  return order ? order : (x->reg > y->reg) - (x->reg < y->reg);
}

static TileLayoutPoint pointOf(const TileLayout *layout, uint32_t reg, uint32_t lane, uint32_t warp) {
  TileLayoutPoint index = {{reg, lane, warp}};
  return tileLayoutApply(layout, index);
}

// Registers of the first thread by the element they hold; the lowest of several copies first.
static Found *registersByElement(const TileLayout *layout, intptr_t count) {
  Found *found = calloc((size_t)count, sizeof *found);
  for (intptr_t reg = 0; reg < count; ++reg)
    found[reg] = (Found){pointOf(layout, (uint32_t)reg, 0, 0), reg};
  qsort(found, (size_t)count, sizeof *found, compareFound);
  return found;
}

static intptr_t lookUp(const Found *found, intptr_t count, TileLayoutPoint point) {
  intptr_t low = 0, high = count;
  while (low < high) {
    intptr_t middle = (low + high) / 2;
    if (comparePoints(&found[middle].point, &point) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && !comparePoints(&found[low].point, &point) ? found[low].reg : -2;
}

static bool holdsAt(const Search *search, uint32_t reg, intptr_t source, uint32_t lane, uint32_t warp) {
  TileLayoutPoint to = pointOf(search->to, reg, lane, warp), wanted = {{0}};
  bool isThere = search->move->place(search->move, &to, &wanted);
  if (!isThere || source < 0)
    return !isThere && source == -1;
  TileLayoutPoint from = pointOf(search->from, (uint32_t)source, lane, warp);
  return !comparePoints(&from, &wanted);
}

// Affine moves agree everywhere if they agree at each bit of the thread; others are tried in every thread.
static bool holdsEverywhere(const Search *search, uint32_t reg, intptr_t source) {
  if (search->isAffine) {
    for (uint32_t lane = 1; lane < search->lanes; lane *= 2)
      if (!holdsAt(search, reg, source, lane, 0))
        return false;
    for (uint32_t warp = 1; warp < search->warps; warp *= 2)
      if (!holdsAt(search, reg, source, 0, warp))
        return false;
    return holdsAt(search, reg, source, 0, 0);
  }
  for (uint32_t lane = 0; lane < search->lanes; ++lane)
    for (uint32_t warp = 0; warp < search->warps; ++warp)
      if (!holdsAt(search, reg, source, lane, warp))
        return false;
  return true;
}

static bool find(const TileLayout *from, const TileLayout *to, const Move *move, uint32_t lanes, uint32_t warps,
                 intptr_t *table) {
  const bool isAffine = move->isAffine && !from->repeatCount && !to->repeatCount;
  const Search search = {from, to, move, lanes, warps, isAffine};
  intptr_t numFrom = (intptr_t)tileLayoutDimSize(from, TileLayoutReg);
  intptr_t numTo = (intptr_t)tileLayoutDimSize(to, TileLayoutReg);
  Found *found = registersByElement(from, numFrom);
  bool ok = true;
  for (intptr_t reg = 0; reg < numTo && ok; ++reg) {
    TileLayoutPoint place = pointOf(to, (uint32_t)reg, 0, 0), wanted = {{0}};
    intptr_t source = move->place(move, &place, &wanted) ? lookUp(found, numFrom, wanted) : -1;
    ok = source >= -1 && holdsEverywhere(&search, (uint32_t)reg, source);
    if (table)
      table[reg] = source;
  }
  free(found);
  return ok;
}

//===--- asking ---------------------------------------------------------------------------------------===//

bool tileMovesBetween(const TileLayout *from, const TileLayout *to, uint32_t lanes, uint32_t warps, intptr_t *table) {
  const Move move = {.place = stay, .isAffine = true};
  return find(from, to, &move, lanes, warps, table);
}

bool tileMovesOf(MlirOperation op, intptr_t operand, int64_t part, uint32_t lanes, uint32_t warps, intptr_t *table) {
  TileLayout before = tileLayoutAttrGetLayout(tileTypeGetLayout(tileOperandType(op, operand)));
  TileLayout after = tileLayoutAttrGetLayout(tileTypeGetLayout(tileOnlyResultType(op)));
  Move move = {.part = part};
  return readMove(op, operand, &move) && find(&before, &after, &move, lanes, warps, table);
}
