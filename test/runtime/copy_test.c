// memrefCopy: every pair of strides and ranks against the definition, element by element; gaps stay untouched.
#include "lib/runtime/copy.h"
#include "test/check.h"

enum { Size = 4096 };

static void testSmallest(void) {
  double from[2] = {7, 8}, to[2] = {0, 0};
  int64_t a[3] = {0, (int64_t)(intptr_t)from, 1}, b[3] = {0, (int64_t)(intptr_t)to, 0};
  memrefCopy(8, &(tessera_unranked_memref_t){0, a}, &(tessera_unranked_memref_t){0, b});
  CHECK(to[0] == 8 && to[1] == 0);
}

// Rank 3 with the given sizes; strides include gaps, transposition and a broadcast source (stride 0).
static void testStrides(const int64_t sizes[3], const int64_t from_strides[3], const int64_t to_strides[3]) {
  static int16_t from[Size], to[Size], expected[Size];
  uint64_t seed = 99;
  for (int i = 0; i < Size; ++i) {
    from[i] = (int16_t)checkRandom(&seed);
    to[i] = expected[i] = -1;
  }
  int64_t a[9] = {0, (int64_t)(intptr_t)from, 5}, b[9] = {0, (int64_t)(intptr_t)to, 3};
  for (int i = 0; i < 3; ++i) {
    a[3 + i] = b[3 + i] = sizes[i];
    a[6 + i] = from_strides[i];
    b[6 + i] = to_strides[i];
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1]; ++j)
      for (int64_t k = 0; k < sizes[2]; ++k)
        expected[3 + i * to_strides[0] + j * to_strides[1] + k * to_strides[2]] =
            from[5 + i * from_strides[0] + j * from_strides[1] + k * from_strides[2]];
  memrefCopy(2, &(tessera_unranked_memref_t){3, a}, &(tessera_unranked_memref_t){3, b});
  CHECK(memcmp(to, expected, sizeof to) == 0, "sizes %d %d %d", (int)sizes[0], (int)sizes[1], (int)sizes[2]);
}

int main(void) {
  static const int64_t sizes[][3] = {{3, 5, 7}, {1, 1, 1}, {0, 5, 7}, {3, 0, 7}, {3, 5, 0}, {2, 1, 13}};
  static const int64_t strides[][3] = {{91, 13, 1}, {200, 17, 2}, {1, 13, 91}, {0, 7, 1}};
  testSmallest();
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
    for (size_t f = 0; f < 4; ++f)
      for (size_t t = 0; t < 3; ++t) // a target's elements are distinct
        testStrides(sizes[s], strides[f], strides[t]);
  return checkResult(73);
}
