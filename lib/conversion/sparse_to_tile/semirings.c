// Semirings as ops of arith, and the words of kernels that use them.
#include <stdio.h>

#include "lib/conversion/sparse_to_tile/lowerings.h"

typedef struct Row {
  const char *name, *add, *addf, *multiply, *multiplyf;
} Row;
static const Row rows[] = {
    {"add_mul", "addi", "addf", "muli", "mulf"},       {"max_plus", "maxsi", "maximumf", "addi", "addf"},
    {"min_plus", "minsi", "minimumf", "addi", "addf"}, {"max_mul", "maxsi", "maximumf", "muli", "mulf"},
    {"min_mul", "minsi", "minimumf", "muli", "mulf"},  {"or_and", "ori", NULL, "andi", NULL},
    {"mean_mul", "addi", "addf", "muli", "mulf"},
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

static const char *widen(MlirType from, MlirType to) {
  if (mlirTypeEqual(from, to))
    return "arith.bitcast"; // folds
  return mlirTypeIsAFloat(from) ? "arith.extf" : "arith.extsi";
}

intptr_t sparseSemiringWords(MlirOperation op, MlirType element, MlirType sum, SparseWord *words) {
  SparseSemiring semiring = sparseSemiring(op, sum);
  bool isFloat = mlirTypeIsAFloat(sum), isWide = !isFloat && mlirIntegerTypeGetWidth(sum) == 64;
  SparseWord step = sparseTextWord("STEP", "%new = math.fma %lhs, %rhs, %acc");
  if (!isFloat || !semiring.isSum)
    snprintf(step.text, sizeof step.text,
             "%%term = arith.%s %%lhs, %%rhs : tensor<$SHAPEx$A>\n%%new = arith.%s %%acc, %%term", semiring.multiply,
             semiring.add);
  const SparseWord list[] = {
      sparseTypeWord("E", element),
      sparseTypeWord("A", sum),
      sparseTextWord("WIDEN", widen(element, sum)),
      step, // %new = %acc ⊕ (%lhs ⊗ %rhs); the type follows
      sparseTextWord("ADD", semiring.add),
      sparseTextWord("MULTIPLY", semiring.multiply),
      sparseTextWord("DIVIDE", isFloat ? "divf" : "divsi"),
      sparseTextWord("COUNT", isFloat  ? "arith.sitofp"
                              : isWide ? "arith.bitcast"
                                       : "arith.trunci"),
      sparseTextWord("FINISH", semiring.isMean // %total of %terms products
                                   ? "%count = $COUNT %terms : i64 to $A\n%result = arith.$DIVIDE %total, %count : $A"
                                   : "%result = arith.bitcast %total : $A to $A"),
      sparseZeroWord(sum),
  };
  enum { COUNT = sizeof list / sizeof *list };
  _Static_assert(COUNT == SPARSE_SEMIRING_WORDS, "room for all");
  for (intptr_t i = 0; i < COUNT; ++i)
    words[i] = list[i];
  return COUNT;
}
