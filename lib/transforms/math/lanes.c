// Arithmetic on lanes (lanes.h): each function builds the one or few ops that its name says.
#include "lib/transforms/math/lanes.h"
#include "lib/ir/support.h"
#include "upstream/llvm.h"
#include "upstream/math.h"

//===--- types --------------------------------------------------------------===//
MlirType tileLanesElement(MlirType type) {
  bool isFixedVector = mlirTypeIsAVector(type) && !mlirVectorTypeIsScalable(type);
  return isFixedVector ? mlirShapedTypeGetElementType(type) : type;
}

MlirType tileLanesElementOfTile(MlirType type) {
  return mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetElementType(type) : tileLanesElement(type);
}

MlirType tileLanesLike(MlirType like, MlirType element) {
  if (!mlirTypeIsAVector(like) && !mlirTypeIsARankedTensor(like))
    return element;
  int64_t rank = mlirShapedTypeGetRank(like), sizes[rank ? rank : 1];
  for (int64_t i = 0; i < rank; ++i)
    sizes[i] = mlirShapedTypeGetDimSize(like, i);
  return mlirTypeIsAVector(like) ? mlirVectorTypeGet(rank, sizes, element)
                                 : mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
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

MlirValue tileLanesAdd(TileLanes *lanes, MlirValue a, MlirValue b) { return arithAddFOpBuild(&lanes->builder, a, b); }
MlirValue tileLanesSub(TileLanes *lanes, MlirValue a, MlirValue b) { return arithSubFOpBuild(&lanes->builder, a, b); }
MlirValue tileLanesMul(TileLanes *lanes, MlirValue a, MlirValue b) { return arithMulFOpBuild(&lanes->builder, a, b); }
MlirValue tileLanesDiv(TileLanes *lanes, MlirValue a, MlirValue b) { return arithDivFOpBuild(&lanes->builder, a, b); }
MlirValue tileLanesFma(TileLanes *lanes, MlirValue a, MlirValue b, MlirValue c) {
  return mathFmaOpBuild(&lanes->builder, a, b, c);
}
MlirValue tileLanesSqrt(TileLanes *lanes, MlirValue a) { return mathSqrtOpBuild(&lanes->builder, a); }
MlirValue tileLanesFloor(TileLanes *lanes, MlirValue a) { return mathFloorOpBuild(&lanes->builder, a); }
MlirValue tileLanesAbs(TileLanes *lanes, MlirValue a) { return mathAbsFOpBuild(&lanes->builder, a); }

MlirValue tileLanesClamp(TileLanes *lanes, MlirValue a, double low, double high) {
  MlirValue least = tileLanesFloat(lanes, low), most = tileLanesFloat(lanes, high);
  a = tileLanesSelect(lanes, tileLanesIs(lanes, a, ArithCmpF_Ogt, most), most, a);
  return tileLanesSelect(lanes, tileLanesIs(lanes, a, ArithCmpF_Olt, least), least, a);
}

MlirValue tileLanesPolynomial(TileLanes *lanes, MlirValue x, intptr_t count, const double *coefficients) {
  MlirValue value = tileLanesFloat(lanes, coefficients[count - 1]);
  for (intptr_t i = count - 2; i >= 0; --i)
    value = tileLanesFma(lanes, value, x, tileLanesFloat(lanes, coefficients[i]));
  return value;
}

//===--- conditions ---------------------------------------------------------===//
MlirValue tileLanesIs(TileLanes *lanes, MlirValue a, ArithCmpF predicate, MlirValue b) {
  return arithCmpFOpBuild(&lanes->builder, a, b, predicate);
}

MlirValue tileLanesSelect(TileLanes *lanes, MlirValue condition, MlirValue a, MlirValue b) {
  return arithSelectOpBuild(&lanes->builder, condition, a, b);
}

MlirValue tileLanesBoth(TileLanes *lanes, MlirValue a, MlirValue b) { return arithAndIOpBuild(&lanes->builder, a, b); }

//===--- bits ---------------------------------------------------------------===//
MlirValue tileLanesInteger(TileLanes *lanes, int64_t value) {
  return tileBuildInteger(&lanes->builder, lanes->bits, value);
}
MlirValue tileLanesBits(TileLanes *lanes, MlirValue a) { return arithBitcastOpBuild(&lanes->builder, lanes->bits, a); }
MlirValue tileLanesFromBits(TileLanes *lanes, MlirValue bits) {
  return arithBitcastOpBuild(&lanes->builder, lanes->real, bits);
}
MlirValue tileLanesToFloat(TileLanes *lanes, MlirValue a) {
  return arithSIToFPOpBuild(&lanes->builder, lanes->real, a);
}

MlirValue tileLanesOnIntegers(TileLanes *lanes, TileUpstream op, MlirValue a, MlirValue b) {
  return tileBuildBinary(&lanes->builder, op, a, b);
}
MlirValue tileLanesOnInteger(TileLanes *lanes, TileUpstream op, MlirValue a, int64_t b) {
  return tileBuildBinary(&lanes->builder, op, a, tileLanesInteger(lanes, b));
}

//===--- tables -------------------------------------------------------------===//
enum { LookUpLanes = TileLookUpEntries / 2 };

bool tileLanesCanLookUp(MlirType type) {
  return mlirTypeIsAVector(type) && !mlirVectorTypeIsScalable(type) && mlirShapedTypeGetRank(type) == 1 &&
         mlirShapedTypeGetDimSize(type, 0) == LookUpLanes;
}

MlirValue tileLanesLookUp(TileLanes *lanes, MlirValue index, const float table[TileLookUpEntries]) {
  TileBuilder *builder = &lanes->builder;
  MlirValue halves[2];
  for (int i = 0; i < 2; ++i)
    halves[i] = tileBuildConstant(
        builder, mlirDenseElementsAttrFloatGet(lanes->real, LookUpLanes, (float *)table + i * LookUpLanes));
  MlirAttribute name = mlirStringAttrGet(builder->context, tileString("llvm.x86.avx512.vpermi2var.ps.512"));
  return llvmCallIntrinsicOpGetResults(llvmCallIntrinsicOpBuild(builder, lanes->real, 3,
                                                                (MlirValue[]){halves[0], index, halves[1]}, 0, NULL,
                                                                name, mlirDenseI32ArrayGet(builder->context, 0, NULL)));
}
