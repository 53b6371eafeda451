// One function per math op of f64: builds its expansion on f64 lanes (lanes.h).
//
// Unlike ../families.h, whose f64 is more than f32 needs, these round at their own precision: arguments are reduced to
// pairs of f64 (pair.h) and what is small beside the result is added last, so that errors stay between 0.5 and 2.5 ulp
// (docs/numerics.md §7). Subnormal operands and results are numbers like others; special values follow C's Annex F.
// Polynomials are minimax, by ../minimax.py, whose errors are named with them; no tables, no branches, no calls.
// Papers: Dekker 1971 (pairs); Cody and Waite 1980; Payne and Hanek 1983; Sun's fdlibm (1993) for forms of sums.
#pragma once

#include "lib/transforms/math/lanes.h"

// exponential.c
MlirValue tileExpandF64Exp(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Exp2(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Expm1(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Sinh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Cosh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Tanh(TileLanes *lanes, const MlirValue *x);
// logarithm.c
MlirValue tileExpandF64Log(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Log2(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Log10(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Log1p(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Asinh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Acosh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Atanh(TileLanes *lanes, const MlirValue *x);
// power.c
MlirValue tileExpandF64Pow(TileLanes *lanes, const MlirValue *xAndY);
MlirValue tileExpandF64Cbrt(TileLanes *lanes, const MlirValue *x);
// error_function.c
MlirValue tileExpandF64Erf(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Erfc(TileLanes *lanes, const MlirValue *x);
// trigonometric.c
MlirValue tileExpandF64Sin(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Cos(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Tan(TileLanes *lanes, const MlirValue *x);
// inverse.c
MlirValue tileExpandF64Asin(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Acos(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Atan(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandF64Atan2(TileLanes *lanes, const MlirValue *yAndX);
