// Loops that the compiler vectorizes, for processors with wider vectors: a function marked TESSERA_WIDE beside the same
// for any processor. Without fma: the two give the same bits.
#pragma once

#include <stdbool.h>

#if defined(__x86_64__)
#define TESSERA_WIDE __attribute__((target("avx2")))
static inline bool tessera_has_wide_vectors(void) { return __builtin_cpu_supports("avx2"); }
#else
#define TESSERA_WIDE
static inline bool tessera_has_wide_vectors(void) { return false; }
#endif
