// Sums of four neighbours of bytes, and sums of lanes for many rows at once: the parts of a product whose lanes run
// along k (lib/conversion/linalg_to_tile/coded_dots.c).
//   fours    tile.reduce {arith.addi} axes [last] of extui(a) · extsi(b) : … x 16 x 4 x i32, where a and b are reshapes
//   of
//            … x 64 x i8. Waits for its user; with vpdpbusd each vector is one instruction, which adds to what an
//            arith.addi adds to it. Elsewhere: widened products, added by halves.
//   turned   tile.reduce {arith.addi} axes [1] of G x 16 / G x 16, a reshape of the transpose of 16 x 16 x i32: row n's
//            lanes are added up by G-ths, n becomes the lane. Two rounds of shuffles within 128 bits add four lanes of
//            four rows, a third one exchanges quarters: 45 instructions where 16 reductions take 128.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

enum { Four = 4, Square = 16, Block = 4 };

static bool isInteger(MlirType element, unsigned width) {
  return mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == width;
}

static bool addsIntegers(MlirOperation op, int64_t axis) {
  MlirAttribute axes = tileReduceOpGetAxes(op), operation = tileReduceOpGetOperation(op);
  return tileReduceOpGetNumInputs(op) == 1 && vecKeywordIs(operation, tileUpstreamName(ArithOp_AddI)) &&
         mlirDenseArrayGetNumElements(axes) == 1 && mlirDenseI64ArrayGetElement(axes, 0) == axis;
}

//===--- fours --------------------------------------------------------------------------------------===//

typedef struct Fours {
  MlirValue bytes[2]; // in the kernel: unsigned, signed; the last axis has four for each sum
} Fours;

// The bytes behind `value`, … x L x 4, as … x 4L.
static bool readBytes(MlirValue value, Fours *fours) {
  MlirOperation extension = tileDefiningOp(value);
  bool isUnsigned = arithExtUIOpIsA(extension);
  if (!isUnsigned && !arithExtSIOpIsA(extension))
    return false;
  MlirOperation reshape = tileDefiningOp(tileOnlyOperand(extension));
  MlirType type = tileOnlyOperandType(extension);
  if (!tileReshapeOpIsA(reshape) || !isInteger(mlirShapedTypeGetElementType(type), 8))
    return false;
  MlirType whole = mlirValueGetType(tileReshapeOpGetInput(reshape));
  intptr_t rank = mlirShapedTypeGetRank(type);
  bool fits = vecIsTile(whole) && mlirShapedTypeGetRank(whole) == rank - 1 &&
              mlirShapedTypeGetDimSize(whole, rank - 2) == Four * mlirShapedTypeGetDimSize(type, rank - 2);
  for (intptr_t i = 0; fits && i < rank - 2; ++i)
    fits = mlirShapedTypeGetDimSize(whole, i) == mlirShapedTypeGetDimSize(type, i);
  fours->bytes[!isUnsigned] = tileReshapeOpGetInput(reshape);
  return fits;
}

static bool readFours(MlirOperation op, Fours *fours) {
  *fours = (Fours){{{NULL}, {NULL}}};
  if (!tileReduceOpIsA(op) || tileReduceOpGetNumInputs(op) != 1)
    return false;
  MlirValue products = tileReduceOpGetInputs(op, 0);
  MlirType type = mlirValueGetType(products);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirOperation multiply = tileDefiningOp(products);
  if (rank < 2 || !isInteger(mlirShapedTypeGetElementType(type), 32) || !arithMulIOpIsA(multiply) ||
      mlirShapedTypeGetDimSize(type, rank - 1) != Four || mlirShapedTypeGetDimSize(type, rank - 2) % Lanes ||
      !addsIntegers(op, rank - 1))
    return false;
  return readBytes(tileBinaryLhs(multiply), fours) && readBytes(tileBinaryRhs(multiply), fours) &&
         !mlirValueIsNull(fours->bytes[0]) && !mlirValueIsNull(fours->bytes[1]);
}

bool vecIsFours(MlirOperation op) {
  Fours fours;
  return readFours(op, &fours);
}

// Every second element, from the first or the second one on.
static MlirValue everySecond(TileBuilder *builder, MlirValue vector, int64_t width, int64_t first) {
  int64_t numbers[4 * Lanes];
  for (int64_t i = 0; i < width / 2; ++i)
    numbers[i] = 2 * i + first;
  return vectorShuffleOpBuild(builder, vector, vector, mlirDenseI64ArrayGet(builder->context, width / 2, numbers));
}

static MlirValue sumOfFours(TileBuilder *builder, const MlirValue *bytes) {
  MlirType wide = vecVectorOf(mlirIntegerTypeGet(builder->context, 32), Four * Lanes);
  MlirValue sums =
      arithMulIOpBuild(builder, arithExtUIOpBuild(builder, wide, bytes[0]), arithExtSIOpBuild(builder, wide, bytes[1]));
  for (int64_t width = Four * Lanes; width > Lanes; width /= 2)
    sums = arithAddIOpBuild(builder, everySecond(builder, sums, width, 0), everySecond(builder, sums, width, 1));
  return sums;
}

// `sum` (null: zero) + a vector of sums of fours.
static MlirValue addFours(VecBody *body, MlirOperation op, MlirValue sum, const VecCoord *coords, intptr_t axis) {
  VecLowering *lowering = body->lowering;
  TileBuilder *builder = &lowering->builder;
  Fours fours;
  MlirValue bytes[2];
  VecCoord at[MaxRank];
  readFours(op, &fours);
  for (intptr_t d = 0; d < axis; ++d)
    at[d] = coords[d];
  at[axis] = vecCoordTimes(builder, coords[axis], Four);
  for (int i = 0; i < 2; ++i)
    bytes[i] = vecEvaluateOperand(body, fours.bytes[i], at, axis, Four * Lanes);
  if (tileDotOfFours(lowering->widths.hasDot)) {
    if (mlirValueIsNull(sum))
      sum = vecBuildZero(builder, vecVectorOf(mlirIntegerTypeGet(builder->context, 32), Lanes));
    return vecCallIntrinsic(builder, "llvm.x86.avx512.vpdpbusd.512", 3, (MlirValue[]){sum, bytes[0], bytes[1]});
  }
  MlirValue own = sumOfFours(builder, bytes);
  return mlirValueIsNull(sum) ? own : arithAddIOpBuild(builder, sum, own);
}

static bool isVector(const VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  (void)coords;
  return axis == record->shape.rank - 1 && width == Lanes;
}

MlirValue vecEvaluateFours(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width) {
  TileBuilder *builder = &body->lowering->builder;
  intptr_t last = record->shape.rank - 1;
  if (isVector(record, coords, axis, width))
    return addFours(body, record->op, (MlirValue){NULL}, coords, axis);
  if (axis == last || axis < 0) { // one element, or several: of the vector that it is in
    int64_t count = width ? width : 1;
    MlirValue elements[4 * Lanes];
    for (int64_t i = 0; i < count; ++i) {
      VecCoord at[MaxRank];
      for (intptr_t d = 0; d < last; ++d)
        at[d] = coords[d];
      VecCoord place = vecCoordPlus(coords[last], i), lane = vecCoordModulo(builder, place, Lanes);
      at[last] = vecCoordTimes(builder, vecCoordDivide(builder, place, Lanes), Lanes);
      MlirValue vector = vecEvaluate(body, record, at, last, Lanes);
      int64_t open = mlirShapedTypeGetDynamicSize();
      elements[i] = vectorExtractOpBuild(builder, vector, 1, (MlirValue[]){vecCoordValue(builder, lane)},
                                         mlirDenseI64ArrayGet(builder->context, 1, &open));
    }
    return width ? vectorFromElementsOpBuild(builder, vecVectorOf(record->shape.element, width), width, elements)
                 : elements[0];
  }
  return vecEvaluateLanes(body, record, coords, axis, width);
}

// An arith.addi one of whose operands is a sum of fours, which no other op uses: one instruction.
MlirValue vecEvaluateAddedFours(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                                int64_t width) {
  MlirValue none = {NULL}, sides[2];
  if (!arithAddIOpIsA(record->op) || !isVector(record, coords, axis, width))
    return none;
  sides[0] = tileBinaryLhs(record->op);
  sides[1] = tileBinaryRhs(record->op);
  for (int i = 0; i < 2; ++i) {
    const VecRecord *side = vecRecordOf(body->lowering, sides[i]);
    if (side->kind != VecRecord_Lazy || !vecIsFours(side->op) || !tileHasOneUse(sides[i]))
      continue;
    return addFours(body, side->op, vecEvaluateOperand(body, sides[!i], coords, axis, width), coords, axis);
  }
  return none;
}

//===--- turned ---------------------------------------------------------------------------------------===//

// The 16 x 16 whose rows' lanes `op` adds up; null: another reduction.
static MlirValue readTurned(MlirOperation op) {
  MlirValue none = {NULL};
  if (tileReduceOpGetNumInputs(op) != 1 || !addsIntegers(op, 1))
    return none;
  MlirOperation reshape = tileDefiningOp(tileReduceOpGetInputs(op, 0));
  MlirType type = mlirValueGetType(tileReduceOpGetInputs(op, 0));
  if (!tileReshapeOpIsA(reshape) || mlirShapedTypeGetRank(type) != 3 || mlirShapedTypeGetDimSize(type, 2) != Square ||
      mlirShapedTypeGetDimSize(type, 0) > Block || !isInteger(mlirShapedTypeGetElementType(type), 32))
    return none;
  MlirOperation transpose = tileDefiningOp(tileReshapeOpGetInput(reshape));
  if (!tileTransposeOpIsA(transpose))
    return none;
  MlirType square = mlirValueGetType(tileTransposeOpGetInput(transpose));
  bool fits = mlirShapedTypeGetRank(square) == 2 && mlirShapedTypeGetDimSize(square, 0) == Square &&
              mlirShapedTypeGetDimSize(square, 1) == Square;
  return fits ? tileTransposeOpGetInput(transpose) : none;
}

// Lanes of `a` (below 16) and `b`, by their numbers in each block of four.
static MlirValue pick(TileBuilder *builder, MlirValue a, MlirValue b, const int *lanes) {
  int64_t numbers[Square];
  for (int i = 0; i < Square; ++i) {
    int lane = lanes[i % Block];
    numbers[i] = i / Block * Block + lane % Block + (lane >= Block ? Square : 0);
  }
  return vectorShuffleOpBuild(builder, a, b, mlirDenseI64ArrayGet(builder->context, Square, numbers));
}

static MlirValue addPicked(TileBuilder *builder, MlirValue a, MlirValue b, const int *first, const int *second) {
  return arithAddIOpBuild(builder, pick(builder, a, b, first), pick(builder, a, b, second));
}

// Whole blocks of `a` (below 4) and `b`.
static MlirValue pickBlocks(TileBuilder *builder, MlirValue a, MlirValue b, const int *blocks) {
  int64_t numbers[Square];
  for (int i = 0; i < Square; ++i)
    numbers[i] = blocks[i / Block] * Block + i % Block;
  return vectorShuffleOpBuild(builder, a, b, mlirDenseI64ArrayGet(builder->context, Square, numbers));
}

// Block b of the result q: the sums of block b's lanes, of rows 4q to 4q + 3.
static void addWithinBlocks(TileBuilder *builder, MlirValue *rows) {
  static const int low[] = {0, 4, 1, 5}, high[] = {2, 6, 3, 7}, first[] = {0, 1, 4, 5}, second[] = {2, 3, 6, 7};
  for (int q = 0; q < Block; ++q) {
    MlirValue *four = &rows[q * Block];
    MlirValue a = addPicked(builder, four[0], four[1], low, high), b = addPicked(builder, four[2], four[3], low, high);
    rows[q] = addPicked(builder, a, b, first, second);
  }
}

// The sums of each `1 / groups` of the blocks, into sums[0 … groups - 1]: lane n is row n's.
static void addBlocks(TileBuilder *builder, const MlirValue *rows, int64_t groups, MlirValue *sums) {
  static const int lower[] = {0, 1, 4, 5}, upper[] = {2, 3, 6, 7}, even[] = {0, 2, 4, 6}, odd[] = {1, 3, 5, 7};
  MlirValue pairs[2][2]; // of rows 0 to 7, 8 to 15: blocks 0 and 1, 2 and 3
  for (int i = 0; i < 2; ++i) {
    pairs[i][0] = pickBlocks(builder, rows[2 * i], rows[2 * i + 1], lower);
    pairs[i][1] = pickBlocks(builder, rows[2 * i], rows[2 * i + 1], upper);
    if (groups == 1)
      pairs[i][0] = arithAddIOpBuild(builder, pairs[i][0], pairs[i][1]);
  }
  for (int half = 0; half < (groups == 1 ? 1 : 2); ++half) {
    MlirValue a = pickBlocks(builder, pairs[0][half], pairs[1][half], even);
    MlirValue b = pickBlocks(builder, pairs[0][half], pairs[1][half], odd);
    if (groups == Block) {
      sums[2 * half] = a;
      sums[2 * half + 1] = b;
    } else {
      sums[half] = arithAddIOpBuild(builder, a, b);
    }
  }
}

bool vecLowerTurnedSums(VecLowering *lowering, MlirOperation op) {
  MlirValue source = readTurned(op), rows[Square];
  if (mlirValueIsNull(source) || lowering->widths.lanes != Square)
    return false;
  VecRecord *record = vecRecordOf(lowering, source);
  intptr_t mark = vecSpill(lowering, record, true);
  VecBody body = vecBodyBegin(lowering, !vecMayLeave(lowering, record));
  for (int n = 0; n < Square; ++n)
    rows[n] = vecEvaluate(&body, record, (VecCoord[]){vecCoordConstant(n), vecCoordConstant(0)}, 1, Square);
  vecBodyEnd(&body);
  vecUnspill(lowering, mark);
  VecRecord *result = vecRecordNew(lowering, tileReduceOpGetResults(op, 0), VecRecord_Registers);
  result->registers = vecLoweringAllocate(lowering, Block * sizeof *result->registers);
  addWithinBlocks(&lowering->builder, rows);
  addBlocks(&lowering->builder, rows, result->shape.sizes[0], result->registers);
  return true;
}
