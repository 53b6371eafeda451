// See memory_plan.h.
#include "lib/search/memory_plan.h"

#include <stdlib.h>
#include <string.h>

enum { Rounds = 64, MostPairs = 1 << 25 };
typedef enum Order { Order_Size, Order_Neighbours, Order_Given, Orders } Order;

typedef struct Ranked {
  int64_t buffer;
  double rank;
} Ranked;

static int compare(const void *a, const void *b) {
  const Ranked *x = a, *y = b;
  return x->rank != y->rank ? (x->rank < y->rank) - (x->rank > y->rank)
                            : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

// The bytes of the buffers in use together with this one.
static double weightAround(const TileMemoryPlan *plan, int64_t buffer) {
  double bytes = 0;
  for (int64_t i = 0; i < plan->count; ++i)
    if (i != buffer && plan->areTogether(plan->data, i, buffer))
      bytes += (double)plan->bytes[i];
  return bytes;
}

static void rank(const TileMemoryPlan *plan, Order order, Ranked *ranked) {
  for (int64_t i = 0; i < plan->count; ++i)
    ranked[i] = (Ranked){i, order == Order_Size         ? (double)plan->bytes[i]
                            : order == Order_Neighbours ? weightAround(plan, i) + (double)plan->bytes[i]
                                                        : -(double)i};
  qsort(ranked, (size_t)plan->count, sizeof *ranked, compare);
}

// The smallest hole that takes the buffer; behind all others where there is none. `placed`: by offset.
static int64_t placeOf(const TileMemoryPlan *plan, const int64_t *offsets, const int64_t *placed, int64_t count,
                       int64_t buffer) {
  int64_t end = 0, best = -1, least = INT64_MAX;
  for (int64_t i = 0; i < count; ++i) {
    int64_t other = placed[i];
    if (!plan->areTogether(plan->data, other, buffer))
      continue;
    int64_t hole = offsets[other] - end;
    if (hole >= plan->bytes[buffer] && hole < least)
      best = end, least = hole;
    if (offsets[other] + plan->bytes[other] > end)
      end = offsets[other] + plan->bytes[other];
  }
  return best < 0 ? end : best;
}

static int64_t placeAll(const TileMemoryPlan *plan, const Ranked *ranked, int64_t *placed, int64_t *offsets) {
  int64_t arena = 0;
  for (int64_t i = 0; i < plan->count; ++i) {
    int64_t buffer = ranked[i].buffer, at = i;
    offsets[buffer] = placeOf(plan, offsets, placed, i, buffer);
    for (; at > 0 && offsets[placed[at - 1]] > offsets[buffer]; --at)
      placed[at] = placed[at - 1];
    placed[at] = buffer;
    if (offsets[buffer] + plan->bytes[buffer] > arena)
      arena = offsets[buffer] + plan->bytes[buffer];
  }
  return arena;
}

// Places the buffers again and again; each time one that reaches the arena's end goes ahead of all others.
static void improve(TileMemoryPlan *plan, Ranked *ranked, int64_t *placed, int64_t *offsets, int64_t *least) {
  for (int round = 0; round < Rounds; ++round) {
    int64_t arena = placeAll(plan, ranked, placed, offsets), last = 0;
    if (arena < *least) {
      *least = arena;
      memcpy(plan->offsets, offsets, (size_t)plan->count * sizeof *offsets);
    }
    if (!plan->isThorough || *least <= plan->least || plan->count * plan->count > MostPairs / (round + 1))
      return;
    while (offsets[ranked[last].buffer] + plan->bytes[ranked[last].buffer] < arena)
      ++last;
    Ranked first = ranked[last];
    memmove(ranked + 1, ranked, (size_t)last * sizeof *ranked);
    ranked[0] = first;
  }
}

int64_t tileMemoryPlanFind(TileMemoryPlan *plan) {
  size_t count = (size_t)plan->count + 1;
  Ranked *ranked = malloc(count * sizeof *ranked);
  int64_t *placed = malloc(2 * count * sizeof *placed), least = plan->count ? INT64_MAX : 0;
  for (Order order = 0; plan->count && ranked && placed && order < (plan->isThorough ? Orders : 1); ++order) {
    rank(plan, order, ranked);
    improve(plan, ranked, placed, placed + count, &least);
  }
  free(ranked);
  free(placed);
  return least;
}
