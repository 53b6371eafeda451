// Arithmetic on lanes (lanes.h): each function builds the one or few ops that its name says.
#include "lib/transforms/math/lanes.h"

static MlirValue binary(TileLanes *lanes, const char *name, MlirType type, MlirValue a, MlirValue b) {
  return tileBuildValue(&lanes->builder, name, type, 2, (MlirValue[]){a, b}, NULL);
}

static MlirValue unary(TileLanes *lanes, const char *name, MlirType type, MlirValue a) {
  return tileBuildValue(&lanes->builder, name, type, 1, &a, NULL);
}

//===--- types --------------------------------------------------------------===//
MlirType tileLanesElement(MlirType type) {
  bool isFixedVector = mlirTypeIsAVector(type) && !mlirVectorTypeIsScalable(type);
  return isFixedVector ? mlirShapedTypeGetElementType(type) : type;
}

MlirType tileLanesLike(MlirType like, MlirType element) {
  if (!mlirTypeIsAVector(like))
    return element;
  int64_t rank = mlirShapedTypeGetRank(like), sizes[rank ? rank : 1];
  for (int64_t i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(like, i);
  return mlirVectorTypeGet(rank, sizes, element);
}

static TileLanes lanesOf(TileBuilder builder, MlirType like, MlirType real, unsigned width) {
  return (TileLanes){
      .builder = builder,
      .real = tileLanesLike(like, real),
      .bits = tileLanesLike(like, mlirIntegerTypeGet(builder.context, width)),
      .i1 = tileLanesLike(like, mlirIntegerTypeGet(builder.context, 1)),
  };
}

TileLanes tileLanesOf(TileBuilder builder, MlirType like) {
  return lanesOf(builder, like, mlirF64TypeGet(builder.context), 64);
}

TileLanes tileLanesSingleOf(TileBuilder builder, MlirType like) {
  return lanesOf(builder, like, mlirF32TypeGet(builder.context), 32);
}

//===--- floats -------------------------------------------------------------===//
MlirValue tileLanesFloat(TileLanes *lanes, double value) { return tileBuildFloat(&lanes->builder, lanes->real, value); }

MlirValue tileLanesAdd(TileLanes *lanes, MlirValue a, MlirValue b) {
  return binary(lanes, "arith.addf", lanes->real, a, b);
}
MlirValue tileLanesSub(TileLanes *lanes, MlirValue a, MlirValue b) {
  return binary(lanes, "arith.subf", lanes->real, a, b);
}
MlirValue tileLanesMul(TileLanes *lanes, MlirValue a, MlirValue b) {
  return binary(lanes, "arith.mulf", lanes->real, a, b);
}
MlirValue tileLanesDiv(TileLanes *lanes, MlirValue a, MlirValue b) {
  return binary(lanes, "arith.divf", lanes->real, a, b);
}
MlirValue tileLanesFma(TileLanes *lanes, MlirValue a, MlirValue b, MlirValue c) {
  return tileBuildValue(&lanes->builder, "math.fma", lanes->real, 3, (MlirValue[]){a, b, c}, NULL);
}
MlirValue tileLanesSqrt(TileLanes *lanes, MlirValue a) { return unary(lanes, "math.sqrt", lanes->real, a); }
MlirValue tileLanesFloor(TileLanes *lanes, MlirValue a) { return unary(lanes, "math.floor", lanes->real, a); }
MlirValue tileLanesAbs(TileLanes *lanes, MlirValue a) { return unary(lanes, "math.absf", lanes->real, a); }

MlirValue tileLanesClamp(TileLanes *lanes, MlirValue a, double low, double high) {
  MlirValue least = tileLanesFloat(lanes, low), most = tileLanesFloat(lanes, high);
  a = tileLanesSelect(lanes, tileLanesIs(lanes, a, TileLanes_Greater, most), most, a);
  return tileLanesSelect(lanes, tileLanesIs(lanes, a, TileLanes_Less, least), least, a);
}

MlirValue tileLanesPolynomial(TileLanes *lanes, MlirValue x, intptr_t count, const double *coefficients) {
  MlirValue value = tileLanesFloat(lanes, coefficients[count - 1]);
  for (intptr_t i = count - 2; i >= 0; --i)
    value = tileLanesFma(lanes, value, x, tileLanesFloat(lanes, coefficients[i]));
  return value;
}

//===--- conditions ---------------------------------------------------------===//
MlirValue tileLanesIs(TileLanes *lanes, MlirValue a, TileLanesPredicate predicate, MlirValue b) {
  MlirAttribute value = mlirIntegerAttrGet(mlirIntegerTypeGet(lanes->builder.context, 64), predicate);
  TileAttributeEntry attributes[] = {{"predicate", value}, {NULL}};
  return tileBuildValue(&lanes->builder, "arith.cmpf", lanes->i1, 2, (MlirValue[]){a, b}, attributes);
}

MlirValue tileLanesSelect(TileLanes *lanes, MlirValue condition, MlirValue a, MlirValue b) {
  return tileBuildValue(&lanes->builder, "arith.select", mlirValueGetType(a), 3, (MlirValue[]){condition, a, b}, NULL);
}

MlirValue tileLanesBoth(TileLanes *lanes, MlirValue a, MlirValue b) {
  return binary(lanes, "arith.andi", lanes->i1, a, b);
}

//===--- bits ---------------------------------------------------------------===//
MlirValue tileLanesInteger(TileLanes *lanes, int64_t value) {
  return tileBuildInteger(&lanes->builder, lanes->bits, value);
}
MlirValue tileLanesBits(TileLanes *lanes, MlirValue a) { return unary(lanes, "arith.bitcast", lanes->bits, a); }
MlirValue tileLanesFromBits(TileLanes *lanes, MlirValue bits) {
  return unary(lanes, "arith.bitcast", lanes->real, bits);
}
MlirValue tileLanesToFloat(TileLanes *lanes, MlirValue a) { return unary(lanes, "arith.sitofp", lanes->real, a); }

MlirValue tileLanesOnIntegers(TileLanes *lanes, const char *name, MlirValue a, MlirValue b) {
  return binary(lanes, name, lanes->bits, a, b);
}
MlirValue tileLanesOnInteger(TileLanes *lanes, const char *name, MlirValue a, int64_t b) {
  return binary(lanes, name, lanes->bits, a, tileLanesInteger(lanes, b));
}
