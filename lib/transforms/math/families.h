// One function per math op: builds its expansion on f64 lanes and returns the value before the one rounding to f32.
//
// Operands are f32 numbers held in f64, so a subnormal f32 is an ordinary number here and a result beyond f32's range
// becomes infinity or zero (or subnormal) in the rounding. Coefficients are minimax, by minimax.py beside this file;
// errors given with them are relative, and 6e-8 would be one ulp of f32. All special values follow C's Annex F.
#pragma once

#include "lib/transforms/math/lanes.h"

// exponential.c
MlirValue tileExpandExp(TileLanes *lanes, const MlirValue *x);  // of |x| <= 200, or NaN
MlirValue tileExpandExp2(TileLanes *lanes, const MlirValue *x); // likewise
MlirValue tileExpandTanh(TileLanes *lanes, const MlirValue *x); // of |x| <= 10, or NaN
// logarithm.c
MlirValue tileExpandLog(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandLog2(TileLanes *lanes, const MlirValue *x);
// power.c
MlirValue tileExpandPow(TileLanes *lanes, const MlirValue *xAndY);
MlirValue tileExpandRsqrt(TileLanes *lanes, const MlirValue *x);
// error_function.c
MlirValue tileExpandErf(TileLanes *lanes, const MlirValue *x);
// trigonometric.c
MlirValue tileExpandSin(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandCos(TileLanes *lanes, const MlirValue *x);
// near_zero.c; of f64 too
MlirValue tileExpandLog1p(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandExpm1(TileLanes *lanes, const MlirValue *x);
// integer_power.c: of i64 lanes that hold integers of `width` bits
// Exact; tiles have no such ops (tile_roundings.c).
MlirValue tileExpandTrunc(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandRoundEven(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandRound(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandCopySign(TileLanes *lanes, const MlirValue *xAndSign);
MlirValue tileExpandIntegerPower(TileLanes *lanes, const MlirValue *xAndN, unsigned width);

// single.c: on f32 lanes, to 1 ulp
MlirValue tileExpandSingleExp(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandSingleExp2(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandSingleTanh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandSingleErf(TileLanes *lanes, const MlirValue *x);

// tables.c: on 16 f32 lanes of a machine that looks tables up (tileLanesCanLookUp), to 0.51 ulp
MlirValue tileExpandTableExp(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandTableExp2(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandTableTanh(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandTableErf(TileLanes *lanes, const MlirValue *x);
MlirValue tileExpandTableLog(TileLanes *lanes, const MlirValue *x);
