// log and log2 on f64 lanes (families.h).
//
// x = 2^k m with sqrt(1/2) <= m < sqrt(2) by integer arithmetic on the bits; s = (m - 1) / (m + 1), and
// log m = 2 atanh s = s q(s^2). q: minimax, degree 5, error 2.66e-14. Around x = 1, k is 0: nothing cancels.
#include "lib/transforms/math/families.h"
#include <math.h>

static const double ln2 = 0x1.62e42fefa39efp-1, log2OfE = 0x1.71547652b82fep+0;
static const int64_t bitsOfSqrtHalf = 0x3fe6a09e667f3bcd;

static const double logarithm[] = {
    0x1.fffffffffff10p+0, 0x1.5555555672d60p-1, 0x1.99999628ac4cap-2,
    0x1.2494396111915p-2, 0x1.c6208bfbb2242p-3, 0x1.9198255e3e2aep-3,
};

// k, as a float, and the logarithm of m.
static MlirValue splitLogarithm(TileLanes *lanes, MlirValue x, MlirValue *logarithmOfM) {
  MlirValue bits = tileLanesBits(lanes, x), one = tileLanesFloat(lanes, 1);
  MlirValue distance = tileLanesOnInteger(lanes, ArithOp_SubI, bits, bitsOfSqrtHalf);
  MlirValue k = tileLanesOnInteger(lanes, ArithOp_ShRSI, distance, 52);
  MlirValue exponent = tileLanesOnInteger(lanes, ArithOp_ShLI, k, 52);
  MlirValue m = tileLanesFromBits(lanes, tileLanesOnIntegers(lanes, ArithOp_SubI, bits, exponent));
  MlirValue s = tileLanesDiv(lanes, tileLanesSub(lanes, m, one), tileLanesAdd(lanes, m, one));
  MlirValue square = tileLanesMul(lanes, s, s);
  MlirValue q = tileLanesPolynomial(lanes, square, sizeof logarithm / sizeof *logarithm, logarithm);
  *logarithmOfM = tileLanesMul(lanes, s, q);
  return tileLanesToFloat(lanes, k);
}

// log(±0) = -inf, log(x < 0) = NaN; +inf and NaN are their own logarithms.
static MlirValue specialValues(TileLanes *lanes, MlirValue x, MlirValue y) {
  MlirValue zero = tileLanesFloat(lanes, 0), infinity = tileLanesFloat(lanes, INFINITY);
  MlirValue negative = tileLanesIs(lanes, x, ArithCmpF_Olt, zero);
  y = tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Olt, infinity), y, x);
  y = tileLanesSelect(lanes, negative, tileLanesFloat(lanes, NAN), y);
  return tileLanesSelect(lanes, tileLanesIs(lanes, x, ArithCmpF_Oeq, zero), tileLanesFloat(lanes, -INFINITY), y);
}

MlirValue tileExpandLog(TileLanes *lanes, const MlirValue *x) {
  MlirValue logarithmOfM, k = splitLogarithm(lanes, *x, &logarithmOfM);
  return specialValues(lanes, *x, tileLanesFma(lanes, k, tileLanesFloat(lanes, ln2), logarithmOfM));
}

MlirValue tileExpandLog2(TileLanes *lanes, const MlirValue *x) {
  MlirValue logarithmOfM, k = splitLogarithm(lanes, *x, &logarithmOfM);
  return specialValues(lanes, *x, tileLanesFma(lanes, logarithmOfM, tileLanesFloat(lanes, log2OfE), k));
}
