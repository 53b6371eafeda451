// Memory and conversions of tile-exchange-in-shared-memory. See exchange_memory.h.
#include "lib/transforms/pipeline/exchange_memory.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/analysis/moves.h"
#include "lib/layout/algebra.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"

#include <string.h>

static void count(const Exchange *x, intptr_t statistic) { mlirExtPassAddStatistic(x->pass, statistic, 1); }

//===--- types ----------------------------------------------------------------------------------------===//

intptr_t tileExchangeSizesOf(MlirType type, int64_t *sizes) {
  intptr_t rank = tileTypeGetRank(type);
  for (intptr_t axis = 0; axis < rank; ++axis)
    sizes[axis] = tileTypeGetSize(type, axis);
  return rank;
}

MlirType tileExchangeTileOf(MlirType like, intptr_t rank, const int64_t *sizes, const TileLayout *layout) {
  MlirType element = tileTypeGetElement(like);
  return tileTileTypeGet(rank, sizes, element, tileLayoutAttrGet(mlirTypeGetContext(like), layout));
}

TileLayout tileExchangeLayoutOf(MlirType tile) { return tileLayoutAttrGetLayout(tileTypeGetLayout(tile)); }

//===--- memory ---------------------------------------------------------------------------------------===//

void tileExchangeOrigin(Exchange *x, MlirValue *origin) {
  MlirValue zero = tileBuildIndex(&x->builder, 0);
  for (intptr_t axis = 0; axis < MaxRank; ++axis)
    origin[axis] = zero;
}

// Tiles of the shape of `like`, one element apart, so that an index is the number of an element.
MlirValue tileExchangeViewOf(Exchange *x, MlirValue memref, MlirType like) {
  int64_t sizes[MaxRank], ones[MaxRank];
  intptr_t rank = tileExchangeSizesOf(like, sizes);
  for (intptr_t axis = 0; axis < rank; ++axis)
    ones[axis] = 1;
  const TileViewSpec spec = {.rank = rank, .shape = sizes, .element = tileTypeGetElement(like), .steps = ones};
  return tileViewOpBuild(&x->builder, tileViewTypeGet(x->builder.context, &spec), memref, 0, NULL,
                         mlirDenseI64ArrayGet(x->builder.context, 0, NULL));
}

MlirValue tileExchangeLoadAt(Exchange *x, MlirValue memref, MlirType type, const MlirValue *origin) {
  return tileLoadOpBuild(&x->builder, type, tileExchangeViewOf(x, memref, type), tileTypeGetRank(type), origin);
}

void tileExchangeStoreAt(Exchange *x, MlirValue tile, MlirValue memref, const MlirValue *origin) {
  MlirType type = mlirValueGetType(tile);
  tileStoreOpBuild(&x->builder, tile, tileExchangeViewOf(x, memref, type), tileTypeGetRank(type), origin);
}

MlirValue tileExchangeMemrefLike(Exchange *x, MlirType tile) {
  int64_t sizes[MaxRank];
  intptr_t rank = tileExchangeSizesOf(tile, sizes);
  return tileAllocOpBuild(&x->builder,
                          mlirMemRefTypeContiguousGet(tileTypeGetElement(tile), rank, sizes, mlirAttributeGetNull()));
}

// Memory that holds the tile, row by row.
MlirValue tileExchangeShare(Exchange *x, MlirValue tile) {
  MlirValue memref = tileExchangeMemrefLike(x, mlirValueGetType(tile)), origin[MaxRank];
  tileExchangeOrigin(x, origin);
  tileExchangeStoreAt(x, tile, memref, origin);
  return memref;
}

//===--- numbers --------------------------------------------------------------------------------------===//

MlirValue tileExchangeIota(Exchange *x, MlirType like, int64_t axis) {
  MlirType type = tileTypeWithElement(like, mlirIndexTypeGet(x->builder.context));
  MlirAttribute dim = mlirIntegerAttrGet(mlirIntegerTypeGet(x->builder.context, 64), axis);
  return tileIotaOpBuild(&x->builder, type, (MlirValue){NULL}, dim);
}

MlirValue tileExchangeNumbers(Exchange *x, MlirType tile) {
  MlirValue number = {NULL};
  int64_t factor = 1;
  for (intptr_t axis = tileTypeGetRank(tile); axis-- > 0; factor *= tileTypeGetSize(tile, axis)) {
    MlirValue part = tileExchangeIota(x, tile, axis);
    MlirType type = mlirValueGetType(part);
    part = factor == 1 ? part : arithMulIOpBuild(&x->builder, part, tileBuildInteger(&x->builder, type, factor));
    number = mlirValueIsNull(number) ? part : arithAddIOpBuild(&x->builder, number, part);
  }
  return number;
}

MlirValue tileExchangeGatherNumbers(Exchange *x, MlirType type, MlirValue memref, MlirValue number) {
  MlirType from = mlirValueGetType(memref), index = mlirValueGetType(number);
  MlirValue places[MaxRank];
  for (intptr_t axis = tileTypeGetRank(from); axis-- > 0;) {
    MlirValue size = tileBuildInteger(&x->builder, index, tileTypeGetSize(from, axis));
    places[axis] = axis ? arithRemUIOpBuild(&x->builder, number, size) : number;
    number = axis ? arithDivUIOpBuild(&x->builder, number, size) : number;
  }
  return tileGatherOpBuild(&x->builder, type, memref, tileTypeGetRank(from), places, (MlirValue){NULL},
                           (MlirValue){NULL}, tileExchangeKeyword(x, "drop"));
}

MlirAttribute tileExchangeKeyword(const Exchange *x, const char *word) {
  return mlirStringAttrGet(x->builder.context, tileString(word));
}

//===--- conversions of layouts -----------------------------------------------------------------------===//

static MlirValue convert(Exchange *x, MlirValue value, MlirType to);

static MlirValue throughBuffer(Exchange *x, MlirValue value, MlirType to, const TileLayout *memory) {
  int64_t sizes[MaxRank];
  intptr_t rank = tileExchangeSizesOf(to, sizes);
  MlirAttribute layout = tileLayoutAttrGet(x->builder.context, memory);
  MlirType type = tileBufferTypeGet(rank, sizes, tileTypeGetElement(to), layout, "local", 0);
  MlirValue buffer = tileAllocOpBuild(&x->builder, type);
  tileStoreOpBuild(&x->builder, value, buffer, 0, NULL);
  count(x, Statistic_Conversions);
  return tileLoadOpBuild(&x->builder, to, buffer, 0, NULL);
}

static MlirValue throughRows(Exchange *x, MlirValue value, MlirType to) {
  MlirValue origin[MaxRank], memref = tileExchangeShare(x, value);
  tileExchangeOrigin(x, origin);
  count(x, Statistic_Conversions);
  return tileExchangeLoadAt(x, memref, to, origin);
}

// A tile whose axis `axis` is seen as three: what lies above one bit of its coordinates, the bit, and what lies below.
typedef struct Split {
  intptr_t axis, rank; // of the tile
  int64_t whole[MaxRank], half[MaxRank], apart[MaxRank], one[MaxRank];
} Split;

static bool splitAt(MlirType type, const TileLayoutPoint *step, Split *split) {
  split->rank = tileExchangeSizesOf(type, split->whole);
  split->axis = 0;
  while (!step->at[split->axis])
    ++split->axis;
  int64_t below = step->at[split->axis], size = split->whole[split->axis];
  if (split->rank + 2 > MaxRank || size % (2 * below))
    return false;
  memcpy(split->half, split->whole, sizeof split->half);
  split->half[split->axis] /= 2;
  for (intptr_t axis = 0, at = 0; axis < split->rank; ++axis) {
    if (axis != split->axis) {
      split->apart[at++] = split->whole[axis];
      continue;
    }
    split->apart[at++] = size / (2 * below);
    split->apart[at++] = 2;
    split->apart[at++] = below;
  }
  memcpy(split->one, split->apart, sizeof split->one);
  split->one[split->axis + 1] = 1;
  return true;
}

static MlirType reshaped(MlirType like, const TileLayout *layout, intptr_t fromRank, const int64_t *from, intptr_t rank,
                         const int64_t *to) {
  TileLayout result;
  if (!tileLayoutReshape(layout, from, (uint32_t)fromRank, to, (uint32_t)rank, &result, NULL))
    return (MlirType){NULL};
  return tileExchangeTileOf(like, rank, to, &result);
}

// Null where the layouts have no bit that parts the tile.
static MlirValue inHalves(Exchange *x, MlirValue value, MlirType to, const TileChange *change) {
  TileChangeHalves halves;
  Split s;
  MlirType from = mlirValueGetType(value);
  if (!tileChangeHalve(change, &halves) || !splitAt(from, &change->before.steps[halves.before], &s))
    return (MlirValue){NULL};
  const TileLayout *before = &halves.half.before, *after = &halves.half.after;
  intptr_t apart = s.rank + 2;
  MlirType wide = reshaped(from, &change->before, s.rank, s.whole, apart, s.apart);
  MlirType wideAfter = reshaped(from, &change->after, s.rank, s.whole, apart, s.apart);
  MlirType one = reshaped(from, before, s.rank, s.half, apart, s.one);
  MlirType oneAfter = reshaped(from, after, s.rank, s.half, apart, s.one);
  if (mlirTypeIsNull(wide) || mlirTypeIsNull(wideAfter) || mlirTypeIsNull(one) || mlirTypeIsNull(oneAfter))
    return (MlirValue){NULL};
  MlirValue whole = tileReshapeOpBuild(&x->builder, wide, value), parts[2];
  count(x, Statistic_Halves);
  for (int64_t half = 0; half < 2; ++half) {
    int64_t offsets[MaxRank] = {0};
    offsets[s.axis + 1] = half;
    MlirAttribute at = mlirDenseI64ArrayGet(x->builder.context, apart, offsets);
    MlirValue part = tileSliceOpBuild(&x->builder, one, whole, 0, NULL, at);
    part = tileReshapeOpBuild(&x->builder, tileExchangeTileOf(from, s.rank, s.half, before), part);
    part = convert(x, part, tileExchangeTileOf(from, s.rank, s.half, after));
    parts[half] = tileReshapeOpBuild(&x->builder, oneAfter, part);
  }
  MlirAttribute axis = mlirIntegerAttrGet(mlirIntegerTypeGet(x->builder.context, 64), s.axis + 1);
  MlirValue joined = tileCatOpBuild(&x->builder, wideAfter, 2, parts, axis);
  return tileReshapeOpBuild(&x->builder, to, joined);
}

// Null where registers and lanes suffice.
MlirValue tileExchangeConvertInMemory(Exchange *x, MlirValue value, MlirType to) {
  MlirValue none = {NULL}, halves = none;
  TileChange change = tileChangeOf(mlirValueGetType(value), to);
  TileConversion plan;
  if (tileMovesBetween(&change.before, &change.after, x->threads.lanes, x->threads.warps, NULL))
    return none;
  if (!tileChangePlan(&x->threads, &change, &plan))
    return throughRows(x, value, to);
  if (plan.kind != TileConversionShared)
    return none;
  if ((int64_t)plan.shared.bytes > x->room)
    halves = inHalves(x, value, to, &change);
  return mlirValueIsNull(halves) ? throughBuffer(x, value, to, &plan.shared.memory) : halves;
}

MlirValue tileExchangeConvertInRows(Exchange *x, MlirOperation op) {
  MlirType to = tileConvertLayoutOpGetResultType(op);
  TileLayout turned, memory;
  int64_t sizes[MaxRank];
  intptr_t rank = tileExchangeSizesOf(to, sizes);
  return tileExchangePlanRows(x, op, &turned, &memory)
             ? throughBuffer(x, tileConvertLayoutOpGetInput(op), tileExchangeTileOf(to, rank, sizes, &turned), &memory)
             : (MlirValue){NULL};
}

static MlirValue convert(Exchange *x, MlirValue value, MlirType to) {
  if (mlirTypeEqual(mlirValueGetType(value), to))
    return value;
  MlirValue result = tileExchangeConvertInMemory(x, value, to);
  return mlirValueIsNull(result) ? tileConvertLayoutOpBuild(&x->builder, to, value) : result;
}

// In the layout of `type`, with its own elements.
MlirValue tileExchangeConvertLike(Exchange *x, MlirValue value, MlirType type) {
  return convert(x, value, tileTypeWithElement(type, tileTypeGetElement(mlirValueGetType(value))));
}
