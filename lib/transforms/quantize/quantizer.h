// Numbers of few bits for a matrix of weights. Pure C.
//
//   TileQuantizer quantizer = {.bits = 4, .group = 128, .isSymmetric = true};
//   TileQuantized q;
//   if (tileQuantize(&quantizer, columns, depth, weights, hessian, &q)) …   // false: no memory, or see `fault`
//   … (q.codes[n * depth + k] - q.zeros[n * groups + k / group]) * q.scales[n * groups + k / group] …
//   tileQuantizedFree(&q);
//
// Without a Hessian each weight becomes the nearest number of its group. With H = Xᵀ·X (depth × depth) of the rows x
// that the weights meet, GPTQ (Frantar et al., ICLR 2023): columns of k are rounded one after the other, and what each
// loses is made up for by those that follow. Or AWQ (Lin et al., MLSys 2024): inputs are divided and weights multiplied
// by a power of the inputs' size, the one of MostPowers that loses least, and weights become the nearest numbers.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct TileQuantizer {
  int bits;            // of a code: 0 … 2^bits - 1
  int64_t group;       // neighbours along k that share scale and zero; divides k
  bool isSymmetric;    // the zero is 2^(bits - 1)
  bool isByActivation; // with a Hessian: the inputs that matter most first; groups from the weights as they are
  bool isScaled;       // with a Hessian: AWQ in place of GPTQ
} TileQuantizer;

typedef struct TileQuantized {
  unsigned char *codes, *zeros; // columns × depth, columns × groups
  float *scales;                // columns × groups
  float *inputs;                // depth: what each input is to be divided by; null: nothing
  double error;                 // ‖X(W - Q)ᵀ‖ / ‖XWᵀ‖ of at most 256 columns, without a Hessian of X = 1
  const char *fault;            // why there is none; null: memory
} TileQuantized;

// `weights`: columns × depth. `hessian`: depth × depth, or null. False where a weight is no number, or the damped
// Hessian is not positive definite; nothing is to be freed then.
bool tileQuantize(const TileQuantizer *quantizer, int64_t columns, int64_t depth, const float *weights,
                  const float *hessian, TileQuantized *quantized);
void tileQuantizedFree(TileQuantized *quantized);
