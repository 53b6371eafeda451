// Indices of the lowering: a base value plus a constant, so that unrolled code shares its address arithmetic.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/vector.h"

#include "mlir-c/BuiltinAttributes.h"

#include <string.h>

//===--- arithmetic -----------------------------------------------------------===//

bool vecCoordEquals(VecCoord a, VecCoord b) { return mlirValueEqual(a.base, b.base) && a.offset == b.offset; }

VecCoord vecCoordPlus(VecCoord a, int64_t offset) { return (VecCoord){a.base, a.offset + offset}; }

VecCoord vecCoordSum(TileBuilder *builder, VecCoord a, VecCoord b) {
  int64_t offset = a.offset + b.offset;
  if (mlirValueIsNull(a.base) || mlirValueIsNull(b.base))
    return (VecCoord){mlirValueIsNull(a.base) ? b.base : a.base, offset};
  return (VecCoord){tileBuildAdd(builder, a.base, b.base), offset};
}

VecCoord vecCoordTimes(TileBuilder *builder, VecCoord a, int64_t factor) {
  if (factor == 1)
    return a;
  if (mlirValueIsNull(a.base) || factor == 0)
    return vecCoordConstant(a.offset * factor);
  return (VecCoord){tileBuildMul(builder, a.base, tileBuildIndex(builder, factor)), a.offset * factor};
}

VecCoord vecCoordDivide(TileBuilder *builder, VecCoord a, int64_t divisor) {
  if (divisor == 1)
    return a;
  if (mlirValueIsNull(a.base))
    return vecCoordConstant(a.offset / divisor);
  return vecCoordOf(arithDivUIOpBuild(builder, vecCoordValue(builder, a), tileBuildIndex(builder, divisor)));
}

VecCoord vecCoordModulo(TileBuilder *builder, VecCoord a, int64_t modulus) {
  if (modulus == 0)
    return a;
  if (mlirValueIsNull(a.base))
    return vecCoordConstant(a.offset % modulus);
  return vecCoordOf(arithRemUIOpBuild(builder, vecCoordValue(builder, a), tileBuildIndex(builder, modulus)));
}

MlirValue vecCoordValue(TileBuilder *builder, VecCoord coord) {
  if (mlirValueIsNull(coord.base))
    return tileBuildIndex(builder, coord.offset);
  return coord.offset ? tileBuildAdd(builder, coord.base, tileBuildIndex(builder, coord.offset)) : coord.base;
}

//===--- small builders --------------------------------------------------------===//

MlirValue vecBuildAnd(TileBuilder *builder, MlirValue a, MlirValue b) {
  if (mlirValueIsNull(a) || mlirValueIsNull(b))
    return mlirValueIsNull(a) ? b : a;
  return arithAndIOpBuild(builder, a, b);
}

MlirValue vecBuildSplat(TileBuilder *builder, MlirValue scalar, int64_t width) {
  if (!width)
    return scalar;
  return vectorBroadcastOpBuild(builder, vecVectorOf(mlirValueGetType(scalar), width), scalar);
}

MlirValue vecBuildZero(TileBuilder *builder, MlirType type) {
  MlirType element = mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeIsAFloat(element))
    return tileBuildFloat(builder, type, 0.0);
  return tileBuildInteger(builder, type, 0);
}
