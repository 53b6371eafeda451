// Factors of block-scaled products in the form that the machine's instructions take. Expects: tile.mma_scaled without
// layouts. Leaves: the same products.
//   - Where no instruction multiplies the elements, they become f16, which has all their numbers. The conversion is an
//     op of its own, so that layouts decide where it stands: each element is converted once for all warps, and the
//     warps exchange f16.
//   - Powers of two as scales of sums become two f32 each (lib/conversion/tile_to_gpu/scales.c says why), computed once
//     for all warps as well.
//   - An instruction that takes scales of f8E4M3FN reads them without their sign (NVFP4's ue4m3). The sign of a scale
//     moves to the elements of its block.
#include "lib/transforms/layout/scaled_factors.h"

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/op_format.h"
#include "lib/ir/upstream.h"
#include "lib/transforms/layout/graph.h"
#include "mlir-c/BuiltinAttributes.h"
#include "upstream/arith.h"

enum { Lhs, LhsScale, Rhs, RhsScale, SignBit = 7 };

static MlirType withBits(MlirType tile, unsigned width) {
  return tileTypeWithElement(tile, mlirIntegerTypeGet(mlirTypeGetContext(tile), width));
}

//===--- elements as f16 ----------------------------------------------------------------------------===//

static void widen(MlirOperation op, intptr_t operand) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue factor = mlirOperationGetOperand(op, operand);
  MlirType half = tileTypeWithElement(mlirValueGetType(factor), mlirF16TypeGet(b.context));
  mlirOperationSetOperand(op, operand, tileBuildCast(&b, ArithOp_ExtF, factor, half));
}

//===--- scales as two factors ------------------------------------------------------------------------===//

// 2^(byte - 127) as 2^(ceil(byte / 2) - 64) and the rest, nan where the byte is 255.
static void splitPowers(MlirOperation op, intptr_t operand, intptr_t axis) {
  enum { Bias = 127, Fraction = 23, Exponents = 0x7f800000, Nan = 0x7fc00000 };
  TileBuilder b = tileBuilderBefore(op);
  MlirValue scale = mlirOperationGetOperand(op, operand), none = {NULL};
  MlirType type = mlirValueGetType(scale), i64 = mlirIntegerTypeGet(b.context, 64);
  int64_t shape[3], flat[2], both = axis + 1;
  for (intptr_t i = 0, to = 0; i < 2; ++i) {
    flat[i] = shape[to++] = tileTypeGetSize(type, i);
    if (i == axis) {
      shape[to++] = 2;
      flat[i] *= 2;
    }
  }
  MlirType bytes = tileTileTypeGet(3, shape, mlirIntegerTypeGet(b.context, 8), mlirAttributeGetNull());
  MlirType words = withBits(bytes, 32), floats = tileTypeWithElement(bytes, mlirF32TypeGet(b.context));
  MlirValue bits = arithBitcastOpBuild(&b, withBits(type, 8), scale);
  bits = tileOnlyResult(tileBroadcastOpCreate(&b, bytes, bits, mlirDenseI64ArrayGet(b.context, 1, &both)));
  MlirValue byte = arithExtUIOpBuild(&b, words, bits);
  MlirValue part = tileIotaOpBuild(&b, words, none, mlirIntegerAttrGet(i64, both));
  MlirValue sum = arithAddIOpBuild(&b, arithAddIOpBuild(&b, byte, part), tileBuildInteger(&b, words, Bias));
  MlirValue power = arithAndIOpBuild(&b, arithShLIOpBuild(&b, sum, tileBuildInteger(&b, words, Fraction - 1)),
                                     tileBuildInteger(&b, words, Exponents));
  MlirValue isNan = arithCmpIOpBuild(&b, byte, tileBuildInteger(&b, words, 255), ArithCmpI_Eq);
  power = arithSelectOpBuild(&b, isNan, tileBuildInteger(&b, words, Nan), power);
  power = arithBitcastOpBuild(&b, floats, power);
  mlirOperationSetOperand(
      op, operand,
      tileReshapeOpBuild(&b, tileTileTypeGet(2, flat, mlirF32TypeGet(b.context), mlirAttributeGetNull()), power));
}

//===--- signs of scales ----------------------------------------------------------------------------===//

// One number for each scale of `along`'s axis as one for each element of the factor.
static MlirValue spread(TileBuilder *b, MlirValue numbers, MlirType factor, intptr_t axis, int64_t block) {
  int64_t shape[4], place = axis + 1;
  intptr_t rank = 0;
  MlirType type = mlirValueGetType(numbers), element = tileTypeGetElement(type);
  for (intptr_t i = 0; i < tileTypeGetRank(type); ++i) {
    shape[rank++] = tileTypeGetSize(type, i);
    if (i == axis)
      shape[rank++] = block;
  }
  MlirType blocks = tileTileTypeGet(rank, shape, element, mlirAttributeGetNull());
  MlirValue wide =
      tileOnlyResult(tileBroadcastOpCreate(b, blocks, numbers, mlirDenseI64ArrayGet(b->context, 1, &place)));
  return tileReshapeOpBuild(b, tileTypeWithElement(factor, element), wide);
}

static void moveSigns(MlirOperation op, intptr_t operand, intptr_t axis) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue factor = mlirOperationGetOperand(op, operand), scale = mlirOperationGetOperand(op, operand + 1);
  MlirType type = mlirValueGetType(factor), scales = mlirValueGetType(scale), bytes = withBits(scales, 8);
  unsigned width = tileElementWidth(tileTypeGetElement(type));
  MlirValue bits = arithBitcastOpBuild(&b, bytes, scale), signs, codes;
  signs = arithShRUIOpBuild(&b, bits, tileBuildInteger(&b, bytes, SignBit));
  signs = arithShLIOpBuild(&b, signs, tileBuildInteger(&b, bytes, width - 1));
  if (width < 8)
    signs = arithTruncIOpBuild(&b, withBits(scales, width), signs);
  signs = spread(&b, signs, type, axis, tileMmaScaledOpGetBlockValue(op));
  codes = arithXOrIOpBuild(&b, arithBitcastOpBuild(&b, withBits(type, width), factor), signs);
  bits = arithAndIOpBuild(&b, bits, tileBuildInteger(&b, bytes, (1 << SignBit) - 1));
  mlirOperationSetOperand(op, operand, arithBitcastOpBuild(&b, type, codes));
  mlirOperationSetOperand(op, operand + 1, arithBitcastOpBuild(&b, scales, bits));
}

//===--- all products -------------------------------------------------------------------------------===//

static bool takesElements(const TileMachineAtom *atom, MlirOperation op) {
  char left[32], right[32];
  tileTypeText(tileTypeGetElement(tileMmaScaledOpGetLhsType(op)), left, sizeof left);
  tileTypeText(tileTypeGetElement(tileMmaScaledOpGetRhsType(op)), right, sizeof right);
  return tileMachineAtomTakes(atom, left, right, "f32");
}

void layoutPrepareScaledProducts(const TileOps *products, const TileMachine *machine, uint32_t warps) {
  for (intptr_t i = 0; i < products->count; ++i) {
    MlirOperation op = products->items[i];
    intptr_t rank = tileTypeGetRank(tileOnlyResultType(op));
    char name[48];
    TileMachineAtom atom;
    if (!layoutFindAtom(machine, op, warps, true, name, sizeof name, &atom))
      continue;
    for (int side = 0; !atom.scales[0] && side < 2 && rank == 2; ++side)
      if (mlirTypeIsAFloat8E8M0FNU(tileTypeGetElement(mlirValueGetType(mlirOperationGetOperand(op, 2 * side + 1)))))
        splitPowers(op, 2 * side + 1, 1 - side);
    if (atom.scales[0] && mlirTypeIsAFloat8E4M3FN(tileTypeGetElement(tileMmaScaledOpGetLhsScaleType(op)))) {
      moveSigns(op, Lhs, rank - 1);
      moveSigns(op, Rhs, rank - 2);
    } else if (!takesElements(&atom, op)) {
      widen(op, Lhs);
      widen(op, Rhs);
    }
  }
}
