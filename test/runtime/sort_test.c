// sort_test.c - the order of keys: every length and every number wanted against a plain insertion sort of all; ties.
#include "lib/runtime/sort.h"

#include "test/check.h"

#include <stdbool.h>

enum { LARGEST = 70 };

// A permutation of the positions, sorted and stable, found by comparing each with all others.
static int64_t place_of(const int64_t *keys, int64_t count, int64_t i, bool descending) {
  int64_t before = 0;
  for (int64_t j = 0; j < count; ++j) {
    bool less = descending ? keys[j] > keys[i] : keys[j] < keys[i];
    before += less || (keys[j] == keys[i] && j < i);
  }
  return before;
}

static void check_order(const int64_t *keys, int64_t count, int64_t wanted, bool descending) {
  int64_t order[LARGEST + 1], scratch[LARGEST];
  order[count] = -7;
  tessera_sort_order(keys, order, scratch, count, wanted, descending);
  for (int64_t i = 0; i < wanted; ++i)
    CHECK(order[i] >= 0 && order[i] < count && place_of(keys, count, order[i], descending) == i);
  CHECK(order[count] == -7);
}

static void fill(int64_t *keys, int64_t count, uint64_t *state, int kind) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = (int64_t)checkRandom(state);
    keys[i] = kind == 0 ? number : kind == 1 ? number % 3 : kind == 2 ? i : -i;
  }
  if (count > 2 && kind == 0)
    keys[0] = INT64_MAX, keys[1] = INT64_MIN;
}

int main(void) {
  int64_t keys[LARGEST];
  uint64_t state = 1;
  for (int64_t count = 0; count <= LARGEST; ++count)
    for (int kind = 0; kind < 4; ++kind)
      for (int64_t wanted = 0; wanted <= count; wanted += 1 + wanted / 4) {
        fill(keys, count, &state, kind);
        check_order(keys, count, wanted, false);
        check_order(keys, count, wanted, true);
        check_order(keys, count, count, kind % 2);
      }
  return checkResult(1000);
}
