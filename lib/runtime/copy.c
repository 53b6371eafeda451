// copy.c - strided memory to strided memory, dimension by dimension; a last dimension without gaps is one block.
// Expects: descriptors as compiled code makes them. Leaves: the target's elements written, nothing else touched.
#include "lib/runtime/copy.h"

#include <string.h>

typedef struct plan_t {
  int64_t rank, bytes;
  const int64_t *sizes, *source_strides, *target_strides; // in elements
} plan_t;

static void copy_row(const plan_t *plan, const char *source, char *target) {
  int64_t last = plan->rank - 1, bytes = plan->bytes;
  int64_t from = plan->source_strides[last], to = plan->target_strides[last], size = plan->sizes[last];
  if (from == 1 && to == 1) {
    memmove(target, source, (size_t)(size * bytes));
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    memmove(target + i * to * bytes, source + i * from * bytes, (size_t)bytes);
}

static void copy_from(const plan_t *plan, int64_t dim, const char *source, char *target) {
  if (dim == plan->rank - 1) {
    copy_row(plan, source, target);
    return;
  }
  for (int64_t i = 0; i < plan->sizes[dim]; ++i)
    copy_from(plan, dim + 1, source + i * plan->source_strides[dim] * plan->bytes,
              target + i * plan->target_strides[dim] * plan->bytes);
}

void memrefCopy(int64_t bytes, const tessera_unranked_memref_t *source, const tessera_unranked_memref_t *target) {
  const int64_t *from = source->descriptor, *to = target->descriptor;
  int64_t rank = source->rank;
  const char *first = (const char *)(intptr_t)from[1] + from[2] * bytes;
  char *out = (char *)(intptr_t)to[1] + to[2] * bytes;
  plan_t plan = {.rank = rank,
                 .bytes = bytes,
                 .sizes = from + 3,
                 .source_strides = from + 3 + rank,
                 .target_strides = to + 3 + rank};
  for (int64_t i = 0; i < rank; ++i)
    if (plan.sizes[i] == 0)
      return;
  if (rank == 0)
    memmove(out, first, (size_t)bytes);
  else
    copy_from(&plan, 0, first, out);
}
