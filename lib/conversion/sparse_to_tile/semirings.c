// Semirings as ops of arith.
#include "lib/conversion/sparse_to_tile/lowerings.h"

typedef struct Row {
  const char *name, *add, *addf, *multiply, *multiplyf;
} Row;
static const Row rows[] = {
    {"add_mul", "arith.addi", "arith.addf", "arith.muli", "arith.mulf"},
    {"max_plus", "arith.maxsi", "arith.maximumf", "arith.addi", "arith.addf"},
    {"min_plus", "arith.minsi", "arith.minimumf", "arith.addi", "arith.addf"},
    {"max_mul", "arith.maxsi", "arith.maximumf", "arith.muli", "arith.mulf"},
    {"min_mul", "arith.minsi", "arith.minimumf", "arith.muli", "arith.mulf"},
    {"or_and", "arith.ori", NULL, "arith.andi", NULL},
    {"mean_mul", "arith.addi", "arith.addf", "arith.muli", "arith.mulf"},
};
// What sparse.reduce combines by has the ⊕ of one.
static const struct {
  const char *combine, *semiring;
} combines[] = {{"add", "add_mul"}, {"max", "max_mul"}, {"min", "min_mul"}, {"mean", "mean_mul"}};

static SparseSemiring semiringNamed(MlirStringRef name, MlirType element) {
  const Row *row = rows;
  while (!tileStringEquals(name, row->name))
    ++row;
  bool isFloat = mlirTypeIsAFloat(element), isMean = tileStringEquals(name, "mean_mul");
  return (SparseSemiring){.add = isFloat ? row->addf : row->add,
                          .multiply = isFloat ? row->multiplyf : row->multiply,
                          .isMean = isMean,
                          .isSum = isMean || row == rows};
}

SparseSemiring sparseSemiring(MlirOperation op, MlirType element) {
  MlirAttribute named = tileOpAttribute(op, "semiring"), combine = tileOpAttribute(op, "combine");
  for (size_t i = 0; combine.ptr && i < sizeof combines / sizeof *combines; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(combine), combines[i].combine))
      return semiringNamed(tileString(combines[i].semiring), element);
  return semiringNamed(named.ptr ? mlirStringAttrGetValue(named) : tileString("add_mul"), element);
}

const char *sparseWidenOp(MlirType from, MlirType to) {
  if (mlirTypeEqual(from, to))
    return "arith.bitcast"; // folds
  return mlirTypeIsAFloat(from) ? "arith.extf" : "arith.extsi";
}
