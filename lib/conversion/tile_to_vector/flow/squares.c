// Writes a tile whose source lies in memory along another axis than its target. Squares of `lanes` × `lanes` elements
// are read along the axis of the source, turned in registers, and written along the axis of the target, so that neither
// side gathers.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

enum { ElementBits = 32, MostLanes = 16 };

//===--- along which axis a source is contiguous -------------------------------------------------===//

typedef struct Reads {
  intptr_t along, across; // loads that are contiguous along the axis, and that are not
  bool isKnown;           // nothing but loads, constants, elementwise ops, transposes and broadcasts
} Reads;

static void countReads(VecLowering *lowering, VecRecord *record, intptr_t axis, Reads *reads);

static void countOperands(VecLowering *lowering, VecRecord *record, intptr_t axis, Reads *reads) {
  VecCoord coords[MaxRank] = {{{NULL}, 0}}, at[MaxRank];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(record->op); ++i) {
    MlirValue operand = mlirOperationGetOperand(record->op, i);
    intptr_t operandAxis;
    if (!vecIsTile(mlirValueGetType(operand)))
      continue;
    vecPlaceInOperand(lowering, record->op, coords, axis, lowering->widths.lanes, at, &operandAxis);
    if (operandAxis >= 0)
      countReads(lowering, vecRecordOf(lowering, operand), operandAxis, reads);
  }
}

static void countReads(VecLowering *lowering, VecRecord *record, intptr_t axis, Reads *reads) {
  if (vecIsRead(record)) {
    *(vecAccessIsContiguous(record->access, axis, lowering->widths.lanes) ? &reads->along : &reads->across) += 1;
    return;
  }
  bool mapsAxes = record->kind == VecRecord_Lazy && (vecIsElementwise(record->op) || tileTransposeOpIsA(record->op) ||
                                                     tileBroadcastOpIsA(record->op) || tileBitcastOpIsA(record->op));
  if (mapsAxes)
    countOperands(lowering, record, axis, reads);
  else
    reads->isKnown = reads->isKnown && record->kind == VecRecord_Lazy && arithConstantOpIsA(record->op);
}

static Reads readsAlong(VecLowering *lowering, VecRecord *record, intptr_t axis) {
  Reads reads = {.isKnown = true};
  countReads(lowering, record, axis, &reads);
  return reads;
}

// The axis that the source is to be read along where it is not the one to write along; -1: no need.
static intptr_t findSourceAxis(VecLowering *lowering, VecRecord *record, const VecAccess *target) {
  intptr_t last = target->shape.rank - 1, before = last - 1;
  Reads along = readsAlong(lowering, record, last), across = readsAlong(lowering, record, before);
  if (!along.isKnown || !across.isKnown)
    return -1;
  if (vecAccessIsContiguous(target, last, lowering->widths.lanes))
    return along.across > 0 && across.along > 0 && across.across == 0 ? before : -1;
  return vecAccessIsContiguous(target, before, lowering->widths.lanes) && along.across == 0 ? last : -1;
}

//===--- a square --------------------------------------------------------------------------------===//

static MlirValue shuffle(TileBuilder *builder, MlirValue a, MlirValue b, const int64_t *mask, int64_t lanes) {
  return vectorShuffleOpBuild(builder, a, b, mlirDenseI64ArrayGet(builder->context, lanes, mask));
}

// Exchanges the halves off the diagonal of ever smaller squares.
static void turn(TileBuilder *builder, MlirValue *rows, int64_t lanes) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      int64_t low[MostLanes], high[MostLanes];
      if (i & half)
        continue;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        low[lane] = lane & half ? lanes + lane - half : lane;
        high[lane] = lane & half ? lanes + lane : lane + half;
      }
      MlirValue a = rows[i], b = rows[i + half];
      rows[i] = shuffle(builder, a, b, low, lanes);
      rows[i + half] = shuffle(builder, a, b, high, lanes);
    }
}

static void writeSquare(VecLowering *lowering, VecRecord *record, const VecAccess *target, intptr_t from,
                        const VecCoord *coords) {
  intptr_t rank = target->shape.rank, to = from == rank - 1 ? rank - 2 : rank - 1;
  MlirValue rows[MostLanes];
  VecCoord at[MaxRank];
  VecBody body = vecBodyBegin(lowering, true);
  for (intptr_t d = 0; d < rank; ++d)
    at[d] = coords[d];
  for (int64_t i = 0; i < lowering->widths.lanes; ++i) {
    at[to] = vecCoordPlus(coords[to], i);
    rows[i] = vecEvaluate(&body, record, at, from, lowering->widths.lanes);
  }
  turn(&lowering->builder, rows, lowering->widths.lanes);
  at[to] = coords[to];
  for (int64_t i = 0; i < lowering->widths.lanes; ++i) {
    at[from] = vecCoordPlus(coords[from], i);
    vecAccessStore(&body, target, at, to, lowering->widths.lanes, rows[i]);
  }
  vecBodyEnd(&body);
}

// Loop number `depth`. A buffer of the kernel's own is near: there squares follow each other as they lie in the source,
// whose lines are far; else as they lie in the target.
static intptr_t dimOfLoop(const VecAccess *target, intptr_t from, intptr_t depth) {
  intptr_t rank = target->shape.rank, other = from == rank - 1 ? rank - 2 : rank - 1;
  bool isOwn = mlirValueIsNull(target->root) || tileAllocOpIsA(tileDefiningOp(target->root));
  if (depth < rank - 2 || !isOwn)
    return depth;
  return depth == rank - 1 ? from : other;
}

static void writeSquares(VecLowering *lowering, VecRecord *record, const VecAccess *target, intptr_t from,
                         intptr_t depth, VecCoord *coords) {
  intptr_t rank = target->shape.rank;
  if (depth == rank) {
    writeSquare(lowering, record, target, from, coords);
    return;
  }
  intptr_t d = dimOfLoop(target, from, depth);
  int64_t step = d >= rank - 2 ? lowering->widths.lanes : 1;
  MlirBlock block = vecBuildLoop(&lowering->builder, tileBuildIndex(&lowering->builder, 0),
                                 tileBuildIndex(&lowering->builder, target->shape.sizes[d]), step);
  TileBuilder outer = vecEnter(lowering, block);
  coords[d] = vecCoordOf(mlirBlockGetArgument(block, 0));
  writeSquares(lowering, record, target, from, depth + 1, coords);
  tileBuildYield(&lowering->builder, 0, NULL);
  lowering->builder = outer;
}

//===--- the whole -------------------------------------------------------------------------------===//

bool vecWriteTransposed(VecLowering *lowering, VecRecord *record, const VecAccess *target, void (*otherwise)(void *),
                        void *data) {
  const VecShape *shape = &target->shape;
  intptr_t rank = shape->rank;
  VecCoord coords[MaxRank];
  if (rank < 2 || lowering->widths.lanes != MostLanes || vecBitsOf(shape->element) != ElementBits || target->packing ||
      shape->sizes[rank - 1] % MostLanes || shape->sizes[rank - 2] % MostLanes)
    return false;
  intptr_t from = findSourceAxis(lowering, record, target);
  if (from < 0)
    return false;
  MlirValue inside =
      vecBuildAnd(&lowering->builder, vecAllInside(lowering, record), vecAccessIsInside(&lowering->builder, target));
  if (mlirValueIsNull(inside)) {
    writeSquares(lowering, record, target, from, 0, coords);
    return true;
  }
  MlirBlock branches[2];
  vecBuildIf(&lowering->builder, inside, 0, NULL, &branches[0], &branches[1]);
  for (int i = 0; i < 2; ++i) {
    TileBuilder outer = vecEnter(lowering, branches[i]);
    if (i == 0)
      writeSquares(lowering, record, target, from, 0, coords);
    else
      otherwise(data);
    tileBuildYield(&lowering->builder, 0, NULL);
    lowering->builder = outer;
  }
  return true;
}
