// products.h - products of warpgroups (wgmma) in flight: what they read, whose group they are, where their sums are.
//
// A warp issues products, commits them to groups and waits for groups; in between they read shared memory, at any time,
// and their sums are in no register. So a product is computed at its issue or at its wait, as the seed has it. What the
// program has for sums in the meantime are marks: words that name the product that wrote them last and the sum's index.
// A product that takes marks goes on from the sums they stand for. The wait puts the sums in their place; whoever looks
// at a mark before is reported, and so is who kept a copy of one.
//
// The four warps of a group are apart: each is one row of products of its own.
#pragma once

#include "lib/emulator/machine/clock.h"

enum { EMU_PRODUCT_PLACES = 544, EMU_MOST_SUMS = 64, EMU_HELD_WORDS = 512 };

// Sums of one product after another, a warp's: a matrix of 16 rows.
typedef struct emu_sums_t {
  uint32_t id; // of the last product that takes part; 0: free
  uint32_t columns, under_way;
  uint32_t *values;
} emu_sums_t;

typedef struct emu_product_t {
  struct emu_product_t *next;
  const void *op; // what is multiplied: run's
  void (*run)(struct emu_product_t *product, const char *shared);
  emu_sums_t *sums;
  uint32_t group, site;
  bool is_computed;
  uint32_t place_count, left_count; // pieces of 16 bytes that it reads; of the left factor, the first ones
  uint32_t places[EMU_PRODUCT_PLACES];
  uint32_t held[EMU_HELD_WORDS]; // the left factor, where it comes from registers
} emu_product_t;

struct emu_products_t { // of a warp
  emu_product_t *first, **end, *free;
  uint32_t groups, last_id;
  uint32_t waits; // so far
  bool is_fenced; // since the last wait: registers may be given to a product
  emu_sums_t sums[EMU_MOST_SUMS];
};

struct emu_products_t *emu_products_of(emu_thread_t *lane);

// One to be filled in: places, held, op, run, sums.
emu_product_t *emu_product_create(emu_thread_t *lane, uint32_t site);
// It is under way: its reads are checked, its sums are marked by a new id.
void emu_product_issue(emu_thread_t *lane, emu_product_t *product);
// wgmma.fence: the warp's registers may be given to products, until its next wait.
void emu_products_fence(emu_thread_t *lane);
// A product takes values from registers, not only sums that are under way.
void emu_products_check_fenced(emu_thread_t *lane, uint32_t site);
void emu_products_commit(emu_thread_t *lane);
// Ends all products of groups but the |pending| youngest.
void emu_products_wait(emu_thread_t *lane, uint32_t pending);
void emu_products_block_ended(emu_worker_t *worker);

// Sums of so many columns that no product has yet; null, after a finding, when there are too many.
emu_sums_t *emu_sums_create(emu_thread_t *lane, uint32_t columns, uint32_t site);

//===--- Marks -----------------------------------------------------------===//

// A signalling nan of f32 that nobody makes otherwise: 0x7f9, id, index.
enum { EMU_MARK_INDEX_BITS = 7, EMU_MARK_IDS = 1 << 13 };
#define EMU_MARK UINT32_C(0x7f900000)
static inline bool emu_is_mark(uint32_t word) { return (word & UINT32_C(0xfff00000)) == EMU_MARK; }
static inline uint32_t emu_mark(const emu_sums_t *sums, uint32_t index) {
  return EMU_MARK | sums->id % EMU_MARK_IDS << EMU_MARK_INDEX_BITS | index;
}
static inline uint32_t emu_mark_index(uint32_t word) { return word & ((1u << EMU_MARK_INDEX_BITS) - 1); }
// The sums that the mark names; null: there are none any more.
emu_sums_t *emu_sums_of_mark(struct emu_products_t *products, uint32_t word);
