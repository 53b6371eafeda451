// Integer ranges (InferIntRangeInterface) of program_id, num_programs, num_tiles, iota and assume.
// Why: index arithmetic is 64 bits wide until a range says that 32 are enough (OPS.md §9.17).
// Expects: ranges of the operands. Leaves: ranges that hold for every program of every legal launch.
#include "dialects/tile/hooks.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/support/integer.h"

// Nonnegative, so that signed and unsigned bounds are the same.
static MlirExtIntegerRange rangeOf(int64_t minimum, int64_t maximum) {
  return (MlirExtIntegerRange){(uint64_t)minimum, (uint64_t)maximum, minimum, maximum};
}

// A launch has at most INT32_MAX programs along an axis (verify_structure.c; a runtime checks what is not constant).
void tileProgramIdOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  results[0] = rangeOf(0, INT32_MAX - 1);
}

void tileNumProgramsOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands,
                                    MlirExtIntegerRange *results) {
  results[0] = rangeOf(1, INT32_MAX);
}

void tileNumTilesOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  results[0] = rangeOf(0, INT64_MAX);
}

//===--- iota ---------------------------------------------------------------===//

static MlirExtIntegerRange fullRange(unsigned width) {
  uint64_t ones = UINT64_MAX >> (64 - width);
  int64_t largest = (int64_t)(ones >> 1);
  return (MlirExtIntegerRange){0, ones, -largest - 1, largest};
}

// from … from + size - 1, unless that may wrap around.
void tileIotaOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  MlirType type = tileIotaOpGetResultType(op);
  unsigned width = tileElementWidth(tileTypeGetElement(type));
  MlirExtIntegerRange full = fullRange(width ? width : 64);
  MlirExtIntegerRange from = mlirOperationGetNumOperands(op) ? operands[0] : rangeOf(0, 0);
  int64_t dim = 0;
  tileIntegerOf(op, "dim", &dim);
  int64_t last = tileTypeGetSize(type, dim) - 1;
  bool fitsSigned = from.signedMax <= full.signedMax - last;
  bool fitsUnsigned = from.unsignedMax <= full.unsignedMax - (uint64_t)last;
  results[0] = full;
  if (fitsSigned && last <= full.signedMax) {
    results[0].signedMin = from.signedMin;
    results[0].signedMax = from.signedMax + last;
  }
  if (fitsUnsigned && (uint64_t)last <= full.unsignedMax) {
    results[0].unsignedMin = from.unsignedMin;
    results[0].unsignedMax = from.unsignedMax + (uint64_t)last;
  }
}

//===--- assume -------------------------------------------------------------===//

// The operand's range cut by `range [lower, upper]` (signed). Disjoint ranges: nothing is claimed.
void tileAssumeOpIntegerRanges(MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results) {
  if (mlirTypeIsAMemRef(tileAssumeOpGetResultType(op)))
    return;
  results[0] = operands[0];
  if (!tileHas(op, "range"))
    return;
  int64_t lower = tessera_max(operands[0].signedMin, tileArrayAt(op, "range", 0));
  int64_t upper = tessera_min(operands[0].signedMax, tileArrayAt(op, "range", 1));
  if (lower > upper)
    return;
  results[0].signedMin = lower;
  results[0].signedMax = upper;
  if (lower >= 0) {
    results[0].unsignedMin = (uint64_t)lower;
    results[0].unsignedMax = (uint64_t)upper;
  }
}
