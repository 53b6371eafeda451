// Which lane reads from which, against the pictures of the manuals written out as arrays, and warp reductions.
#include "lib/emulator/lanes/exchange.h"
#include "test/check.h"

#include <math.h>

static void testShuffle(void) {
  bool in_range;
  for (int lane = 0; lane < 32; ++lane) {
    // CUDA's __shfl_*_sync of width w pass c = ((32 - w) << 8) | 31, up: | 0.
    for (int width = 1; width <= 32; width *= 2) {
      uint32_t segment = (uint32_t)(32 - width) << 8;
      int first = lane / width * width, within = lane % width;
      for (int b = 0; b < 32; ++b) {
        CHECK(tessera_shuffle_source(TESSERA_SHUFFLE_INDEX, lane, b, segment | 31, &in_range) == first + b % width);
        CHECK(in_range);
        int up = tessera_shuffle_source(TESSERA_SHUFFLE_UP, lane, b, segment, &in_range);
        CHECK(up == (b <= within ? lane - b : lane) && in_range == (b <= within), "up %d %d %d", lane, b, width);
        int down = tessera_shuffle_source(TESSERA_SHUFFLE_DOWN, lane, b, segment | 31, &in_range);
        CHECK(down == (within + b < width ? lane + b : lane) && in_range == (within + b < width));
        int butterfly = tessera_shuffle_source(TESSERA_SHUFFLE_BUTTERFLY, lane, b, segment | 31, &in_range);
        bool inside = (lane ^ b) <= first + width - 1; // PTX lets it reach lower segments
        CHECK(butterfly == (inside ? lane ^ b : lane) && in_range == inside);
      }
    }
  }
  CHECK(tessera_shuffle_source(TESSERA_SHUFFLE_DOWN, 3, 2, 4, &in_range) == 3 && !in_range); // clamp 4
  CHECK(tessera_shuffle_source(TESSERA_SHUFFLE_DOWN, 2, 2, 4, &in_range) == 4 && in_range);
}

static void testRedux(void) {
  uint32_t minus = (uint32_t)-3;
  CHECK(tessera_redux(TESSERA_REDUX_ADD, 0, 0, 0xffffffff, 2) == 1);
  CHECK(tessera_redux(TESSERA_REDUX_MIN, 0, 0, minus, 2) == minus &&
        tessera_redux(TESSERA_REDUX_UMIN, 0, 0, minus, 2) == 2);
  CHECK(tessera_redux(TESSERA_REDUX_MAX, 0, 0, minus, 2) == 2 &&
        tessera_redux(TESSERA_REDUX_UMAX, 0, 0, minus, 2) == minus);
  CHECK(tessera_redux(TESSERA_REDUX_AND, 0, 0, 6, 3) == 2 && tessera_redux(TESSERA_REDUX_OR, 0, 0, 6, 3) == 7 &&
        tessera_redux(TESSERA_REDUX_XOR, 0, 0, 6, 3) == 5);
  const uint32_t one = 0x3f800000, minus_two = 0xc0000000, nan = 0x7fc00000, zero = 0, minus_zero = 0x80000000;
  CHECK(tessera_redux(TESSERA_REDUX_FMIN, 0, 0, one, minus_two) == minus_two);
  CHECK(tessera_redux(TESSERA_REDUX_FMAX, 1, 0, one, minus_two) == 0x40000000);
  CHECK(tessera_redux(TESSERA_REDUX_FMAX, 0, 0, nan, one) == one &&
        tessera_redux(TESSERA_REDUX_FMIN, 0, 0, one, nan) == one);
  CHECK(tessera_redux(TESSERA_REDUX_FMAX, 0, 1, nan, one) == 0x7fffffff);
  CHECK(tessera_redux(TESSERA_REDUX_FMAX, 0, 0, minus_zero, zero) == zero &&
        tessera_redux(TESSERA_REDUX_FMAX, 0, 0, zero, minus_zero) == zero);
  CHECK(tessera_redux(TESSERA_REDUX_FMIN, 0, 0, minus_zero, zero) == minus_zero &&
        tessera_redux(TESSERA_REDUX_FMIN, 0, 0, zero, minus_zero) == minus_zero);
}

enum { NONE = TESSERA_NO_LANE };
typedef struct row_case_t {
  uint32_t control;
  int8_t first_row[16]; // of lanes 0 to 15
} row_case_t;

static void testRows(void) {
  static const row_case_t cases[] = {
      {0x1b, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12}}, // quad_perm [3, 2, 1, 0]
      {0x101, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, NONE}},
      {0x112, {NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
      {0x121, {15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
      {0x140, {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {0x141, {7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}},
      {0x153, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}},
      {0x161, {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    for (int lane = 0; lane < 64; ++lane) {
      int want = cases[i].first_row[lane % 16], got = tessera_dpp_source(cases[i].control, lane, 64);
      CHECK(got == (want == NONE ? NONE : (lane & ~15) + want), "dpp 0x%x lane %d: %d", cases[i].control, lane, got);
    }
}

static void testWaves(void) {
  for (int lane = 0; lane < 64; ++lane) {
    CHECK(tessera_dpp_source(0x130, lane, 64) == (lane == 63 ? NONE : lane + 1));
    CHECK(tessera_dpp_source(0x134, lane, 64) == (lane + 1) % 64);
    CHECK(tessera_dpp_source(0x138, lane, 64) == lane - 1);
    CHECK(tessera_dpp_source(0x13c, lane, 64) == (lane + 63) % 64);
    CHECK(tessera_dpp_source(0x142, lane, 64) == (lane < 16 ? NONE : lane / 16 * 16 - 1));
    CHECK(tessera_dpp_source(0x143, lane, 64) == (lane < 32 ? NONE : 31));
    CHECK(tessera_dpp_source(0x150 + 0x20, lane, 64) == TESSERA_DPP_UNKNOWN);
    CHECK(tessera_swizzle_source(0x801f | 0x8000, lane) >= 0);
    CHECK(tessera_swizzle_source(0x041f, lane) == (lane ^ 1));               // xor 1
    CHECK(tessera_swizzle_source(0x0000 | 5 << 5, lane) == (lane & 32) + 5); // broadcast lane 5
    CHECK(tessera_swizzle_source(0x8000 | 0x4e, lane) == (lane ^ 2));        // quad [2, 3, 0, 1]
    CHECK(tessera_swizzle_source(0xc000, lane) == NONE);
    CHECK(tessera_bpermute_source((uint32_t)(4 * (63 - lane)), 64) == 63 - lane);
    CHECK(tessera_bpermute_source((uint32_t)(4 * (lane + 64) + 3), 64) == lane); // wraps, low bits do not matter
    CHECK(tessera_permlanex16_source(0x76543210, 0xfedcba98, lane) == (lane ^ 16));
    CHECK(tessera_permlanex16_source(0, 0xffffffff, lane) == ((lane & ~15) ^ 16) + (lane & 8 ? 15 : 0));
  }
}

int main(void) {
  testShuffle();
  testRedux();
  testRows();
  testWaves();
  return checkResult(20000);
}
