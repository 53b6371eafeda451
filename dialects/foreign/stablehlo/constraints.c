// What the values of StableHLO's and CHLO's ops may be: the names that the columns of ops.def use.
#include "dialects/foreign/stablehlo/parts.h"

static MlirType elementOf(MlirType type) {
  MlirExtShape shape;
  return mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) && shape.rank <= StablehloMaxRank
             ? shape.element
             : (MlirType){NULL};
}

static bool isComplexElement(MlirType element) {
  return mlirTypeIsAComplex(element) && mlirTypeIsAFloat(mlirComplexTypeGetElementType(element));
}
static bool isPredicateElement(MlirType element) {
  return mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1;
}
static bool isIntegerElement(MlirType element) {
  return mlirTypeIsAInteger(element) && !isPredicateElement(element) && mlirIntegerTypeGetWidth(element) <= 64;
}
static bool isNumberElement(MlirType element) {
  return isIntegerElement(element) || mlirTypeIsAFloat(element) || isComplexElement(element);
}

#define ELEMENT(Name, condition)                                                                                       \
  static bool is##Name(MlirType type) {                                                                                \
    MlirType element = elementOf(type);                                                                                \
    return !mlirTypeIsNull(element) && (condition);                                                                    \
  }
ELEMENT(Tensor, isNumberElement(element) || isPredicateElement(element))
ELEMENT(Number, isNumberElement(element))
ELEMENT(Integer, isIntegerElement(element))
ELEMENT(Predicate, isPredicateElement(element))
ELEMENT(Bits, isIntegerElement(element) || isPredicateElement(element))
ELEMENT(Float, mlirTypeIsAFloat(element))
ELEMENT(Complex, isComplexElement(element))
ELEMENT(Inexact, mlirTypeIsAFloat(element) || isComplexElement(element))
ELEMENT(Scalar, isIntegerElement(element) && mlirShapedTypeGetRank(type) == 0)
ELEMENT(IndexList, (isIntegerElement(element) || mlirTypeIsAIndex(element)) && mlirShapedTypeGetRank(type) == 1)

const TileConstraint stablehloConstraints[] = {
    {"tensor", isTensor, "a ranked tensor of integers, floats, complex numbers or i1"},
    {"number tensor", isNumber, "a ranked tensor of integers, floats or complex numbers"},
    {"integer tensor", isInteger, "a ranked tensor of integers of 2 to 64 bits"},
    {"predicate", isPredicate, "a ranked tensor of i1"},
    {"integer or predicate", isBits, "a ranked tensor of integers or i1"},
    {"float tensor", isFloat, "a ranked tensor of floats"},
    {"complex tensor", isComplex, "a ranked tensor of complex numbers"},
    {"inexact tensor", isInexact, "a ranked tensor of floats or complex numbers"},
    {"scalar tensor", isScalar, "a tensor of one integer, of rank 0"},
    {"index list", isIndexList, "a tensor of integers of rank 1"},
    {NULL},
};
