// linalg.pack and linalg.unpack: copies between a plain tensor and one of tiles.
//
// Both loop over the tiled tensor, whose axes are the dimensions; axis a of the plain one is at outer · size + inner.
// What lies past the plain tensor's end is read as zero and never written. Expects: static inner tiles, and zero or no
// padding value. Leaves: kernel and launch; other pads and dynamic tiles stay (upstream has no loops for them).
#include "lib/conversion/linalg_to_tile/kernel.h"
#include "lib/conversion/linalg_to_tile/lowerings.h"
#include "upstream/arith.h"
#include "upstream/linalg.h"

#include <math.h>

static bool isZeroConstant(MlirValue value) {
  MlirOperation op = tileDefiningOp(value);
  if (!arithConstantOpIsA(op))
    return false;
  MlirAttribute constant = tileOpAttribute(op, "value");
  if (mlirAttributeIsAFloat(constant))
    return mlirFloatAttrGetValueDouble(constant) == 0.0 && !signbit(mlirFloatAttrGetValueDouble(constant));
  return mlirAttributeIsAInteger(constant) && mlirIntegerAttrGetValueInt(constant) == 0;
}

// Source, destination and perhaps a padding value; no sizes of tiles among the operands.
static bool hasPlainOperands(MlirOperation op, bool isPack) {
  MlirAttribute tiles = tileOpAttribute(op, "static_inner_tiles");
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(tiles); ++i)
    if (mlirShapedTypeIsDynamicSize(mlirDenseI64ArrayGetElement(tiles, i)))
      return false;
  intptr_t count = mlirOperationGetNumOperands(op);
  return mlirOperationGetNumResults(op) == 1 &&
         (count == 2 || (isPack && count == 3 && isZeroConstant(linalgPackOpGetPaddingValue(op))));
}

static int64_t entryOf(MlirAttribute array, intptr_t index, int64_t otherwise) {
  bool isGiven = !mlirAttributeIsNull(array) && index < mlirDenseArrayGetNumElements(array);
  return isGiven ? mlirDenseI64ArrayGetElement(array, index) : otherwise;
}

// Axis a of the plain tensor: the outer dimension that walks it, times its tile, plus the inner one.
static void describePlain(MlirOperation op, TileOperand *plain) {
  MlirAttribute order = tileOpAttribute(op, "outer_dims_perm"), axes = tileOpAttribute(op, "inner_dims_pos");
  MlirAttribute tiles = tileOpAttribute(op, "static_inner_tiles");
  for (int outer = 0; outer < plain->rank; ++outer)
    tileOperandSetAxis(plain, (int)entryOf(order, outer, outer), outer);
  for (intptr_t j = 0; j < mlirDenseArrayGetNumElements(tiles); ++j) {
    int64_t axis = mlirDenseI64ArrayGetElement(axes, j);
    plain->factors[axis][plain->results[axis]] = mlirDenseI64ArrayGetElement(tiles, j);
    plain->factors[axis][plain->rank + j] = 1;
    plain->results[axis] = -1;
  }
}

static bool describe(MlirOperation op, const TileTarget *target, bool isPack, TileStructured *s) {
  *s = tileStructuredCreate(op, target, 2);
  s->numInputs = s->numOutputs = 1;
  int tiled = isPack ? 1 : 0;
  for (int i = 0; i < 2; ++i) {
    MlirType type = tileOperandType(op, i);
    if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > MaxOperandRank)
      return false;
    s->operands[i] = (TileOperand){.value = mlirOperationGetOperand(op, i), .isTensor = true};
    s->operands[i].rank = (int)mlirShapedTypeGetRank(type);
  }
  s->numDims = s->operands[tiled].rank;
  for (int d = 0; d < s->numDims; ++d) {
    tileOperandSetAxis(&s->operands[tiled], d, d);
    int64_t extent = mlirShapedTypeGetDimSize(tileOperandType(op, tiled), d);
    s->dims[d] = (TileDim){.extent = extent, .panels = 1, .operand = tiled, .result = d};
  }
  describePlain(op, &s->operands[1 - tiled]);
  return true;
}

// Wide along the tiled tensor's last dimension, and along one that the plain tensor has on another axis.
static void chooseTiles(TileStructured *s, const TileOperand *tiled) {
  int vector = tileOperandLastDim(s, tiled), row = -1;
  for (int d = s->numDims - 1; d >= 0 && row < 0 && vector >= 0; --d)
    if (d != vector && s->dims[d].extent != 1 && tileStructuredCanTile(s, d, vector))
      row = d;
  tileStructuredSetTiles(s, vector, s->target->search.model.columns, row, s->target->search.model.rows);
}

bool tileLowerRelayout(MlirOperation op, const TileTarget *target) {
  TileStructured s;
  bool isPack = linalgPackOpIsA(op);
  if ((!isPack && !linalgUnPackOpIsA(op)) || !hasPlainOperands(op, isPack) || !describe(op, target, isPack, &s))
    return false;
  chooseTiles(&s, &s.operands[isPack ? 1 : 0]);
  TileKernelEmission e;
  tileKernelBegin(&e, &s, isPack ? "pack" : "unpack");
  tileKernelStore(&e, 1, tileKernelLoad(&e, 0, NULL, false));
  tileKernelEnd(&e);
  return true;
}
