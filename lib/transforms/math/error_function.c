// erf on f64 lanes (families.h).
//
// erf x = x q(x^2 / 8 - 1) for |x| <= 4; beyond, as at 4, it is 1 - 2e-8, which rounds to 1. One polynomial in a
// centred variable serves the whole range without cancellation that matters. q: minimax, degree 20, error 9.44e-12.
#include "lib/transforms/math/families.h"

static const double errorFunction[] = {
    0x1.6a040781a0821p-2,  -0x1.69a0ccd7e2592p-3,  0x1.0dabaf0c20e10p-3,  -0x1.b92e972790576p-4,
    0x1.717efb11f47d0p-4,  -0x1.3215b9a20b085p-4,  0x1.ea980ec686ce7p-5,  -0x1.76eadaa8cbb59p-5,
    0x1.0ed4a8e9b6db9p-5,  -0x1.7019b649bb876p-6,  0x1.d637b387621cdp-7,  -0x1.1ab69b3e58b21p-7,
    0x1.3e2b92a129fd9p-8,  -0x1.4c22e8ca3d3a6p-9,  0x1.513682da39e59p-10, -0x1.5f1b9bfc1a1a8p-11,
    0x1.2cea62a12f28ap-12, -0x1.3696729f33544p-14, 0x1.35d5f13ccabffp-15, -0x1.30de12c3398bbp-15,
    0x1.94b991c6c4d91p-17,
};

MlirValue tileExpandErf(TileLanes *lanes, const MlirValue *x) {
  MlirValue clamped = tileLanesClamp(lanes, *x, -4, 4), square = tileLanesMul(lanes, clamped, clamped);
  MlirValue centred = tileLanesFma(lanes, square, tileLanesFloat(lanes, 0.125), tileLanesFloat(lanes, -1));
  MlirValue q = tileLanesPolynomial(lanes, centred, sizeof errorFunction / sizeof *errorFunction, errorFunction);
  return tileLanesMul(lanes, clamped, q);
}
