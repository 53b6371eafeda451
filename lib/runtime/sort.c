// sort.c - a stable merge sort of positions by their keys, and insertion into a short list where few are wanted.
// Why positions: any number of payloads then moves by the same order. Expects: memory from the caller, nothing shared.
// Cost: n log n comparisons; with few wanted about n, at worst n times wanted. Leaves: |order|; |scratch| is undefined.
#include "lib/runtime/sort.h"

#include "lib/support/integer.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 32 }; // wanted at most: then a sorted list of them is cheaper than sorting all

static bool comes_before(int64_t a, int64_t b, bool descending) { return descending ? a > b : a < b; }

// Inserts position |i| behind all that come before it or equal it; the list holds |length| of at most |wanted|.
static int64_t insert(const int64_t *keys, int64_t *list, int64_t length, int64_t wanted, int64_t i, bool descending) {
  int64_t at = length < wanted ? length++ : wanted - 1;
  for (; at > 0 && comes_before(keys[i], keys[list[at - 1]], descending); --at)
    list[at] = list[at - 1];
  list[at] = i;
  return length;
}

static void select_few(const int64_t *keys, int64_t *list, int64_t count, int64_t wanted, bool descending) {
  int64_t length = 0;
  for (int64_t i = 0; i < count; ++i)
    if (length < wanted || comes_before(keys[i], keys[list[wanted - 1]], descending))
      length = insert(keys, list, length, wanted, i, descending);
}

// Merges the runs [begin, middle) and [middle, end); of equal keys the left run's come first.
static void merge(const int64_t *keys, const int64_t *from, int64_t *to, int64_t begin, int64_t middle, int64_t end,
                  bool descending) {
  int64_t left = begin, right = middle;
  for (int64_t i = begin; i < end; ++i) {
    bool take_right = left == middle || (right < end && comes_before(keys[from[right]], keys[from[left]], descending));
    to[i] = from[take_right ? right++ : left++];
  }
}

static void sort_all(const int64_t *keys, int64_t *order, int64_t *scratch, int64_t count, bool descending) {
  int64_t *from = order, *to = scratch;
  for (int64_t i = 0; i < count; ++i)
    order[i] = i;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run)
      merge(keys, from, to, begin, tessera_min(begin + run, count), tessera_min(begin + 2 * run, count), descending);
    int64_t *sorted = to;
    to = from;
    from = sorted;
  }
  if (from != order)
    memcpy(order, from, (size_t)count * sizeof *order);
}

void tessera_sort_order(const int64_t *keys, int64_t *order, int64_t *scratch, int64_t count, int64_t wanted,
                        int64_t descending) {
  if (wanted < 1)
    return;
  if (wanted <= FEW && wanted < count)
    select_few(keys, order, count, wanted, descending != 0);
  else
    sort_all(keys, order, scratch, count, descending != 0);
}
