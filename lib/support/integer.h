// Integer arithmetic that every room needs: one definition each.
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline int64_t tessera_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tessera_max(int64_t a, int64_t b) { return a > b ? a : b; }

// Rounds the quotient of non-negative `a` and positive `b` up.
static inline int64_t tessera_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The least multiple of positive `to` that is not below non-negative `value`.
static inline int64_t tessera_round_up(int64_t value, int64_t to) { return tessera_ceil_div(value, to) * to; }

static inline bool tessera_is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }
// The least power of two not below the size: what an extent that is not known is planned for (its bucket).
static inline int64_t tessera_bucket(int64_t size) {
  int64_t bucket = 1;
  while (bucket < size)
    bucket *= 2;
  return bucket;
}
// The largest n with 2^n <= value; 0 for 0.
static inline uint32_t tessera_log2(uint64_t value) { return value ? 63u - (uint32_t)__builtin_clzll(value) : 0; }

// The greatest common divisor, not negative; that of 0 and b is |b|.
static inline int64_t tessera_gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}
