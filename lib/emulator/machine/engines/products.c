// products.c - products in flight: see products.h. Costs: one comparison for each piece of 16 bytes at the issue, one
// store at the wait.
#include "lib/emulator/machine/engines/products.h"

#include "lib/emulator/machine/access.h"
#include "lib/emulator/machine/shadow.h"

enum { PIECE = 16, MOST_COLUMNS = 256, ROWS = 16 };

struct emu_products_t *emu_products_of(emu_thread_t *lane) {
  struct emu_products_t *products = lane->in_warp->products;
  if (products)
    return products;
  products = lane->in_warp->products = emu_arena_take(lane->worker, &lane->worker->block_arena, sizeof *products);
  products->end = &products->first;
  return products;
}

//===--- Sums ------------------------------------------------------------===//

// Those nobody adds to are free to go when others need the place: who still has marks of them is told so.
static emu_sums_t *find_free(struct emu_products_t *products) {
  emu_sums_t *oldest = NULL;
  for (emu_sums_t *sums = products->sums; sums < products->sums + EMU_MOST_SUMS; ++sums) {
    if (!sums->id)
      return sums;
    if (!sums->under_way && (!oldest || sums->id < oldest->id))
      oldest = sums;
  }
  return oldest;
}

emu_sums_t *emu_sums_create(emu_thread_t *lane, uint32_t columns, uint32_t site) {
  emu_sums_t *sums = find_free(emu_products_of(lane));
  if (!sums) {
    emu_find(lane, TESSERA_EMULATOR_BAD_OPERAND, site, 0, 0, 0,
             "more than %d accumulators of products are under way in a warp", EMU_MOST_SUMS);
    return NULL;
  }
  if (!sums->values)
    sums->values = emu_arena_take(lane->worker, &lane->worker->block_arena, sizeof *sums->values * ROWS * MOST_COLUMNS);
  sums->id = 0;
  sums->columns = columns;
  return sums;
}

emu_sums_t *emu_sums_of_mark(struct emu_products_t *products, uint32_t word) {
  uint32_t id = (word & ~EMU_MARK) >> EMU_MARK_INDEX_BITS;
  for (emu_sums_t *sums = products->sums; sums < products->sums + EMU_MOST_SUMS; ++sums)
    if (sums->id && sums->id % EMU_MARK_IDS == id && emu_mark_index(word) < sums->columns / 2)
      return sums;
  return NULL;
}

//===--- Products --------------------------------------------------------===//

emu_product_t *emu_product_create(emu_thread_t *lane, uint32_t site) {
  struct emu_products_t *products = emu_products_of(lane);
  emu_product_t *product = products->free;
  if (product)
    products->free = product->next;
  else
    product = emu_arena_take(lane->worker, &lane->worker->block_arena, sizeof *product);
  product->next = NULL;
  product->group = products->groups;
  product->site = site;
  product->is_computed = false;
  return product;
}

static void compute(const emu_thread_t *lane, emu_product_t *product) {
  if (!product->is_computed)
    product->run(product, lane->view.block->shared);
  product->is_computed = true;
}

// All that come before it on its sums, and it.
static void compute_up_to(const emu_thread_t *lane, emu_product_t *from, const emu_product_t *last) {
  for (emu_product_t *product = from;; product = product->next) {
    if (product->sums == last->sums)
      compute(lane, product);
    if (product == last)
      return;
  }
}

// A place outside of shared memory is read as the first one, after a finding.
static void check_places(emu_thread_t *lane, emu_product_t *product) {
  const tessera_emulator_launch_t *given = lane->worker->launch->given;
  for (uint32_t i = 0; i < product->place_count; ++i)
    if (product->places[i] + PIECE > given->shared_bytes) {
      emu_find(lane, TESSERA_EMULATOR_OUT_OF_BOUNDS, product->site, 0, product->places[i], 0,
               "the product reads shared+%u, but the block has %u bytes of shared memory",
               emu_shared_offset(lane->worker->launch, product->places[i]),
               given->shared_bytes - given->shared_added_bytes);
      product->places[i] = 0;
    }
}

void emu_product_issue(emu_thread_t *lane, emu_product_t *product) {
  struct emu_products_t *products = emu_products_of(lane);
  check_places(lane, product);
  if (lane->worker->launch->checks)
    emu_shadow_product_begins(lane, product->places, product->place_count, product->site);
  product->sums->id = ++products->last_id;
  ++product->sums->under_way;
  *products->end = product;
  products->end = &product->next;
  if (emu_random(lane->worker) & 1)
    compute_up_to(lane, products->first, product);
}

void emu_products_fence(emu_thread_t *lane) { emu_products_of(lane)->is_fenced = true; }

void emu_products_check_fenced(emu_thread_t *lane, uint32_t site) {
  if (!emu_products_of(lane)->is_fenced)
    emu_find(lane, TESSERA_EMULATOR_UNFENCED, site, 0, 0, 0,
             "a product takes registers, and no wgmma.fence lies between it and the warp's last wait for products");
}

void emu_products_commit(emu_thread_t *lane) { emu_products_of(lane)->groups++; }

static void end(emu_thread_t *lane, struct emu_products_t *products) {
  emu_product_t *product = products->first;
  compute(lane, product);
  if (lane->worker->launch->checks)
    emu_shadow_product_ends(lane, product->places, product->place_count, products->waits);
  --product->sums->under_way;
  products->first = product->next;
  if (!products->first)
    products->end = &products->first;
  product->next = products->free;
  products->free = product;
}

void emu_products_wait(emu_thread_t *lane, uint32_t pending) {
  struct emu_products_t *products = emu_products_of(lane);
  uint32_t last = products->groups > pending ? products->groups - pending : 0;
  products->is_fenced = false;
  ++products->waits;
  while (products->first && products->first->group < last)
    end(lane, products);
}

void emu_products_block_ended(emu_worker_t *worker) {
  for (uint32_t w = 0; w < worker->launch->warps; ++w) {
    emu_thread_t *lane = &worker->threads[w << worker->launch->warp_shift];
    while (worker->warps[w].products && worker->warps[w].products->first) {
      emu_find(lane, TESSERA_EMULATOR_EARLY_READ, worker->warps[w].products->first->site, 0, 0, 0,
               "the block has ended, and a product is under way: nobody waited for it");
      end(lane, worker->warps[w].products);
    }
    worker->warps[w].products = NULL;
  }
}
