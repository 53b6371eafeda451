// Executes each instruction on tile registers (AMX) and compares with plain loops; or does what a processor refuses.
//   tile_instructions products | unconfigured | palette | groups | twice | unreleased | denied
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { Rows = 13, Groups = 11, Columns = 16, Pitch = 80 }; // of A and C; of A and B; of C

static uint8_t a[Rows * Pitch], b[Groups * Pitch], c[Rows * Pitch], result[Rows * Pitch];

static uint32_t next(void) {
  static uint32_t state = 12345;
  return (state = state * 1664525 + 1013904223) >> 8;
}

static void configure(int groupsOfB, int palette) {
  _Alignas(64) uint8_t configuration[64] = {(uint8_t)palette};
  for (int i = 0; i < 8; ++i) {
    configuration[16 + 2 * i] = i == 1 ? Groups * 4 : Columns * 4;
    configuration[48 + i] = (uint8_t)(i == 2 ? groupsOfB : Rows);
  }
  __asm__ volatile("ldtilecfg (%0)" ::"r"(configuration) : "memory");
}

// C in register 0, A in 1, B in 2; the addresses have an index, a scale and displacements.
#define MULTIPLY(instruction)                                                                                          \
  __asm__ volatile(                                                                                                    \
      "tileloadd (%0,%3), %%tmm0\n tileloadd -16(%1,%4,4), %%tmm1\n tileloaddt1 1000(%2,%3), %%tmm2\n" instruction     \
      " %%tmm2, %%tmm1, %%tmm0\n tilestored %%tmm0, (%5,%3)\n"                                                         \
      "tilezero %%tmm0\n"                                                                                              \
      :                                                                                                                \
      : "r"(c), "r"(a + 16), "r"(b - 1000), "r"((int64_t)Pitch), "r"((int64_t)Pitch / 4), "r"(result)                  \
      : "memory")

static int32_t ofByte(uint8_t x, int isSigned) { return isSigned ? (int8_t)x : x; }

static int compareBytes(const char *name, int aIsSigned, int bIsSigned) {
  for (int m = 0; m < Rows; ++m)
    for (int n = 0; n < Columns; ++n) {
      uint32_t sum, seen;
      memcpy(&sum, c + m * Pitch + 4 * n, 4);
      memcpy(&seen, result + m * Pitch + 4 * n, 4);
      for (int k = 0; k < 4 * Groups; ++k)
        sum += (uint32_t)(ofByte(a[m * Pitch + k], aIsSigned) * ofByte(b[k / 4 * Pitch + 4 * n + k % 4], bIsSigned));
      if (sum != seen)
        return printf("%s: wrong at %d, %d: %u, expected %u\n", name, m, n, seen, sum), 1;
    }
  return printf("%s: right\n", name), 0;
}

// Numbers that are small integers are exact in any order.
static double ofHalf(const uint8_t *at, int isBf16) {
  uint16_t half;
  memcpy(&half, at, 2);
  if (!isBf16) {
    _Float16 x;
    memcpy(&x, at, 2);
    return (double)x;
  }
  uint32_t bits = (uint32_t)half << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

static int compareHalves(const char *name, int isBf16) {
  for (int m = 0; m < Rows; ++m)
    for (int n = 0; n < Columns; ++n) {
      float start, seen;
      memcpy(&start, c + m * Pitch + 4 * n, 4);
      memcpy(&seen, result + m * Pitch + 4 * n, 4);
      double sum = start;
      for (int k = 0; k < 2 * Groups; ++k)
        sum += ofHalf(a + m * Pitch + 2 * k, isBf16) * ofHalf(b + k / 2 * Pitch + 4 * n + 2 * (k % 2), isBf16);
      if ((double)seen != sum)
        return printf("%s: wrong at %d, %d: %g, expected %g\n", name, m, n, seen, sum), 1;
    }
  return printf("%s: right\n", name), 0;
}

static void fillHalves(uint8_t *to, int count, int isBf16) {
  for (int i = 0; i < count; ++i) {
    float x = (float)(int)(next() % 17) - 8;
    _Float16 half = (_Float16)x;
    uint32_t bits;
    memcpy(&bits, &x, 4);
    uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(to + 2 * i, isBf16 ? (void *)&upper : (void *)&half, 2);
  }
}

static void fillBytes(uint8_t *to, int count) {
  for (int i = 0; i < count; ++i)
    to[i] = (uint8_t)next();
}

static int products(void) {
  int wrong = 0;
  fillBytes(a, sizeof a), fillBytes(b, sizeof b), fillBytes(c, sizeof c);
  configure(Groups, 1);
  MULTIPLY("tdpbssd");
  wrong += compareBytes("tdpbssd", 1, 1);
  MULTIPLY("tdpbsud");
  wrong += compareBytes("tdpbsud", 1, 0);
  MULTIPLY("tdpbusd");
  wrong += compareBytes("tdpbusd", 0, 1);
  MULTIPLY("tdpbuud");
  wrong += compareBytes("tdpbuud", 0, 0);
  for (int isBf16 = 0; isBf16 < 2; ++isBf16) {
    fillHalves(a, sizeof a / 2, isBf16), fillHalves(b, sizeof b / 2, isBf16);
    for (int i = 0; i < (int)sizeof c / 4; ++i)
      memcpy(c + 4 * i, &(float){(float)(next() % 999)}, 4);
    if (isBf16)
      MULTIPLY("tdpbf16ps");
    else
      MULTIPLY("tdpfp16ps");
    wrong += compareHalves(isBf16 ? "tdpbf16ps" : "tdpfp16ps", isBf16);
  }
  uint8_t stored[64];
  __asm__ volatile("sttilecfg (%0)\n tilerelease" ::"r"(stored) : "memory");
  wrong += stored[0] != 1 || stored[48] != Rows || stored[18] != Groups * 4;
  __asm__ volatile("sttilecfg (%0)" ::"r"(stored) : "memory");
  return wrong + (stored[0] != 0);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  syscall(SYS_arch_prctl, 0x1023, 18); // where a processor has them
  if (!strcmp(what, "products"))
    return products();
  if (!strcmp(what, "unconfigured") || !strcmp(what, "denied"))
    __asm__ volatile("tilezero %tmm0");
  else if (!strcmp(what, "palette"))
    configure(Groups, 2);
  else if (!strcmp(what, "unreleased"))
    configure(Groups, 1);
  else if (!strcmp(what, "groups")) {
    configure(Groups - 1, 1);
    MULTIPLY("tdpbssd");
  } else if (!strcmp(what, "twice")) {
    configure(Groups, 1);
    __asm__ volatile(".byte 0xc4, 0xe2, 0x73, 0x5e, 0xc1"); // tdpbssd %tmm1, %tmm1, %tmm0: no assembler takes it
  }
  return 0;
}
