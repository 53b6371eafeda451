// Products of warpgroups, as collectives of each of their warps. See instructions.h, and machine/engines/products.h for
// when they are computed.
#include "lib/emulator/lanes/wgmma.h"
#include "lib/emulator/instructions/instructions.h"
#include "lib/emulator/machine/engines/products.h"

#include <string.h>

enum { GROUP_WARPS = 4, PIECE = 16 };

static emu_thread_t *first_of(const tessera_emu_group_t *group) {
  return emu_of(group->lane[__builtin_ctzll(group->mask)]);
}

static bool is_whole(const tessera_emu_group_t *group, const char *name) {
  emu_thread_t *lane = first_of(group);
  if (__builtin_popcountll(group->mask) != TESSERA_WGMMA_LANES)
    tessera_emu_report(&lane->view, group->site, "%s needs all 32 lanes of a warp, %d are there", name,
                       __builtin_popcountll(group->mask));
  else if ((lane->view.own_warp / GROUP_WARPS + 1) * GROUP_WARPS > lane->worker->launch->member_warps)
    tessera_emu_report(&lane->view, group->site, "%s needs groups of four warps; the block has %u warps", name,
                       lane->worker->launch->member_warps);
  else
    return true;
  return false;
}

//===--- Computing -------------------------------------------------------===//

static void multiply(emu_product_t *product, const char *shared) {
  const tessera_wgmma_t *op = product->op;
  uint32_t a[TESSERA_WGMMA_ROWS * TESSERA_WGMMA_MOST_K];
  uint32_t b[TESSERA_WGMMA_MOST_K * TESSERA_WGMMA_MOST_N];
  const void *pieces[EMU_PRODUCT_PLACES];
  for (uint32_t i = 0; i < product->place_count; ++i)
    pieces[i] = shared + product->places[i];
  if (!op->a_is_held)
    tessera_wgmma_gather(op->a, op->a_is_column, TESSERA_WGMMA_ROWS, op->k, pieces, false, a);
  tessera_wgmma_gather(op->b, op->b_is_row, op->n, op->k, pieces + product->left_count, true, b);
  tessera_wgmma_multiply(op, op->a_is_held ? product->held : a, b, product->sums->values);
}

//===--- Issuing ---------------------------------------------------------===//

static bool agree(const tessera_emu_group_t *group) {
  const tessera_emu_product_t *first = group->contribution[0];
  for (int lane = 1; lane < TESSERA_WGMMA_LANES; ++lane) {
    const tessera_emu_product_t *other = group->contribution[lane];
    if (other->descriptor[0] != first->descriptor[0] || other->descriptor[1] != first->descriptor[1])
      return false;
  }
  return true;
}

// Do all lanes hold the marks of all sums?
static bool are_marks(const tessera_emu_group_t *group, const emu_sums_t *sums, int first) {
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane) {
    const uint32_t *words = ((const tessera_emu_product_t *)group->contribution[lane])->sums + first;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < sums->columns / 2; ++i)
      differ |= words[i] ^ emu_mark(sums, i);
    if (differ)
      return false;
  }
  return true;
}

static uint32_t value_of(emu_thread_t *lane, uint32_t word, uint32_t site);

static void take_values(const tessera_emu_group_t *group, const tessera_wgmma_t *op, emu_sums_t *sums) {
  const uint32_t *words[TESSERA_WGMMA_LANES];
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane) {
    uint32_t *own = ((const tessera_emu_product_t *)group->contribution[lane])->sums;
    for (int i = 0; i < op->n / 2; ++i)
      if (emu_is_mark(own[i]))
        own[i] = value_of(emu_of(group->lane[lane]), own[i], group->site);
    words[lane] = own;
  }
  tessera_wgmma_gather_sums(op->n, words, sums->values);
}

// The sums that the product goes on from: those under way that the lanes have marks of, or new ones.
static emu_sums_t *sums_for(const tessera_emu_group_t *group, const tessera_wgmma_t *op) {
  emu_thread_t *lane = first_of(group);
  const tessera_emu_product_t *first = group->contribution[0];
  emu_sums_t *sums = NULL;
  if (!op->from_zero && emu_is_mark(first->sums[0]))
    sums = emu_sums_of_mark(emu_products_of(lane), first->sums[0]);
  if (sums && sums->under_way && (int)sums->columns == op->n && are_marks(group, sums, 0))
    return sums;
  emu_products_check_fenced(lane, group->site);
  sums = emu_sums_create(lane, (uint32_t)op->n, group->site);
  if (sums && !op->from_zero)
    take_values(group, op, sums);
  return sums;
}

static bool place_operand(const tessera_emu_group_t *group, emu_product_t *product, uint64_t descriptor,
                          bool along_rows, int first, int rows) {
  tessera_error_t error;
  uint32_t count =
      tessera_wgmma_places(descriptor, along_rows, first, rows, product->places + product->place_count, &error);
  if (!count)
    tessera_emu_report(&first_of(group)->view, group->site, "%s", error.text);
  product->place_count += count;
  return count;
}

static bool place_operands(const tessera_emu_group_t *group, const tessera_wgmma_t *op, emu_product_t *product) {
  const tessera_emu_product_t *first = group->contribution[0];
  int row = (int)(first_of(group)->view.own_warp % GROUP_WARPS) * TESSERA_WGMMA_ROWS;
  product->place_count = product->left_count = 0;
  if (!op->a_is_held && !place_operand(group, product, first->descriptor[0], op->a_is_column, row, TESSERA_WGMMA_ROWS))
    return false;
  product->left_count = product->place_count;
  return place_operand(group, product, first->descriptor[1], op->b_is_row, 0, op->n);
}

static void hold(const tessera_emu_group_t *group, const tessera_wgmma_t *op, emu_product_t *product) {
  const uint32_t *words[TESSERA_WGMMA_LANES];
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane)
    words[lane] = ((const tessera_emu_product_t *)group->contribution[lane])->held;
  tessera_wgmma_gather_held(op->a, op->k, words, product->held);
}

static void mark(const tessera_emu_group_t *group, const emu_sums_t *sums) {
  for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane) {
    uint32_t *words = ((const tessera_emu_product_t *)group->contribution[lane])->sums;
    for (uint32_t i = 0; i < sums->columns / 2; ++i)
      words[i] = emu_mark(sums, i);
  }
}

// A warpgroup reads B once for its four warps.
static void count(emu_thread_t *lane, const tessera_wgmma_t *op, const emu_product_t *product, uint32_t site) {
  uint32_t right = product->place_count - product->left_count, is_first = lane->view.own_warp % GROUP_WARPS == 0;
  lane->worker->counters.shared_bytes_read += PIECE * (product->left_count + is_first * right);
  tessera_emu_count_mma(&lane->view, 2ull * TESSERA_WGMMA_ROWS * (uint64_t)op->n * (uint64_t)op->k, (uint32_t)op->a,
                        site);
}

void tessera_emu_multiply_async(const tessera_emu_group_t *group, const void *parameter) {
  const tessera_wgmma_t *op = parameter;
  emu_thread_t *lane = first_of(group);
  if (!is_whole(group, "wgmma.mma_async"))
    return;
  if (!agree(group)) {
    tessera_emu_report(&lane->view, group->site, "lanes of a warp have different matrix descriptors");
    return;
  }
  emu_product_t *product = emu_product_create(lane, group->site);
  product->op = op;
  product->run = multiply;
  if (!place_operands(group, op, product) || !(product->sums = sums_for(group, op)))
    return;
  if (op->a_is_held) {
    emu_products_check_fenced(lane, group->site);
    hold(group, op, product);
  }
  count(lane, op, product, group->site);
  emu_product_issue(lane, product);
  mark(group, product->sums);
}

void tessera_emu_products_fence(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "wgmma.fence"))
    emu_products_fence(first_of(group));
}

//===--- Groups ----------------------------------------------------------===//

void tessera_emu_products_commit(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (is_whole(group, "wgmma.commit_group"))
    emu_products_commit(first_of(group));
}

// Sums that are there take the place of their marks.
static void deliver(const tessera_emu_group_t *group, struct emu_products_t *products) {
  const tessera_emu_product_t *first = group->contribution[0];
  uint32_t *words[TESSERA_WGMMA_LANES];
  for (uint32_t at = 0; at < first->count; ++at) {
    emu_sums_t *sums = emu_is_mark(first->sums[at]) ? emu_sums_of_mark(products, first->sums[at]) : NULL;
    if (!sums || sums->under_way || at + sums->columns / 2 > first->count || !are_marks(group, sums, (int)at))
      continue;
    for (int lane = 0; lane < TESSERA_WGMMA_LANES; ++lane)
      words[lane] = ((const tessera_emu_product_t *)group->contribution[lane])->sums + at;
    tessera_wgmma_scatter_sums((int)sums->columns, sums->values, words);
    at += sums->columns / 2 - 1;
    sums->id = 0;
  }
}

void tessera_emu_products_wait(const tessera_emu_group_t *group, const void *parameter) {
  (void)parameter;
  if (!is_whole(group, "wgmma.wait_group"))
    return;
  emu_products_wait(first_of(group), ((const tessera_emu_product_t *)group->contribution[0])->pending);
  deliver(group, emu_products_of(first_of(group)));
}

//===--- Looking at sums -------------------------------------------------===//

static uint32_t value_of(emu_thread_t *lane, uint32_t word, uint32_t site) {
  struct emu_products_t *products = emu_products_of(lane);
  emu_sums_t *sums = emu_sums_of_mark(products, word);
  if (sums && !sums->under_way)
    return tessera_wgmma_sum((int)sums->columns, sums->values, (int)lane->view.lane, (int)emu_mark_index(word));
  uint32_t id = (word & ~EMU_MARK) >> EMU_MARK_INDEX_BITS;
  if (sums)
    emu_find(lane, TESSERA_EMULATOR_EARLY_READ, site, 0, 0, 0,
             "a sum of a product under way is used: no wait covers it");
  else if (id && id <= products->last_id)
    emu_find(lane, TESSERA_EMULATOR_EARLY_READ, site, 0, 0, 0,
             "a sum is used that was copied while its product was under way");
  else
    return word;
  return UINT32_C(0x7fc00000);
}

uint32_t tessera_emu_sum(tessera_emu_thread_t *self, uint32_t word, uint32_t site) {
  return emu_is_mark(word) ? value_of(emu_of(self), word, site <= TESSERA_EMULATOR_SITES ? site : 0) : word;
}

void tessera_emu_sums(tessera_emu_thread_t *self, uint32_t *words, uint32_t count, uint32_t site) {
  for (uint32_t i = 0; i < count; ++i)
    words[i] = tessera_emu_sum(self, words[i], site);
}
