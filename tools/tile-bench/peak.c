// What this machine can do at most, measured: multiply-adds of f32 and f16, dot instructions of bf16 and 8-bit
// integers, and bytes read from memory. Each function does `rounds` rounds and returns the operations (bytes) it did;
// the caller times it. Compiled by tile-bench with -march=native: what the machine has no instruction for returns 0.
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { Chains = 16 };

#if defined(__AVX512F__)
typedef __m512 real_t;
#define MULTIPLY_ADD _mm512_fmadd_ps
#define SET _mm512_set1_ps
enum { Lanes = 16 };
#elif defined(__FMA__)
typedef __m256 real_t;
#define MULTIPLY_ADD _mm256_fmadd_ps
#define SET _mm256_set1_ps
enum { Lanes = 8 };
#endif

#define CHAIN(type, start, step)                                                                                       \
  type sum[Chains];                                                                                                    \
  for (int i = 0; i < Chains; ++i)                                                                                     \
    sum[i] = start;                                                                                                    \
  for (int64_t round = 0; round < rounds; ++round)                                                                     \
    _Pragma("clang loop unroll(full)") for (int i = 0; i < Chains; ++i) {                                              \
      step;                                                                                                            \
      __asm__ volatile("" : "+v"(sum[i]));                                                                             \
    }

int64_t peak_f32(int64_t rounds) {
#if defined(__FMA__)
  real_t a = SET(0.5f), b = SET(0.25f);
  __asm__ volatile("" : "+v"(a), "+v"(b));
  CHAIN(real_t, SET(1.0f), sum[i] = MULTIPLY_ADD(a, b, sum[i]))
  return rounds * Chains * Lanes * 2;
#else
  return rounds * 0;
#endif
}

int64_t peak_f16(int64_t rounds) {
#if defined(__AVX512FP16__)
  __m512h a = _mm512_set1_ph((_Float16)0.5f);
  __asm__ volatile("" : "+v"(a));
  CHAIN(__m512h, a, sum[i] = _mm512_fmadd_ph(a, a, sum[i]))
  return rounds * Chains * 32 * 2;
#else
  return rounds * 0;
#endif
}

int64_t peak_bf16(int64_t rounds) {
#if defined(__AVX512BF16__)
  __m512bh a = (__m512bh)_mm512_set1_epi32(0x3f003f00);
  __asm__ volatile("" : "+v"(a));
  CHAIN(__m512, _mm512_set1_ps(1.0f), sum[i] = _mm512_dpbf16_ps(sum[i], a, a))
  return rounds * Chains * 16 * 4;
#else
  return rounds * 0;
#endif
}

int64_t peak_i8(int64_t rounds) {
#if defined(__AVX512VNNI__)
  __m512i a = _mm512_set1_epi8(1);
  __asm__ volatile("" : "+v"(a));
  CHAIN(__m512i, a, sum[i] = _mm512_dpbusd_epi32(sum[i], a, a))
  return rounds * Chains * 16 * 8;
#else
  return rounds * 0;
#endif
}

// Reads `bytes` at `memory` once a round.
int64_t peak_read(int64_t rounds, const uint64_t *memory, int64_t bytes) {
  enum { Sums = 64 };
  uint64_t sum[Sums] = {0};
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i + Sums <= bytes / 8; i += Sums)
      for (int j = 0; j < Sums; ++j)
        sum[j] += memory[i + j];
  for (int j = 0; j < Sums; ++j)
    __asm__ volatile("" : : "r"(sum[j]));
  return rounds * bytes;
}
