// Choosing a shared-memory layout for a tile that is stored from one layout and loaded by another. See convert.h.
// How (after Zhou et al. 2025, section 5.4): offsets count vectors first, then banks, then rows of banks. A side has no
//   bank conflicts if and only if no two lanes of a phase differ by rows alone: the rows H must meet span(vector,
//   lanes) of both sides only in the word. Two proper subspaces never cover a space, so H is picked vector by vector
//   outside both. Vectors may be longer on one side; all widths are tried, cheapest first, until one reaches its ideal
//   count.
// Expects: layouts that cover the shape. Leaves: a layout of memory. Cost: a few dozen eliminations of 64 bits.
#include <inttypes.h>

#include "lib/layout/algebra.h"
#include "lib/layout/bit_matrix.h"
#include "lib/layout/convert.h"
#include "lib/support/integer.h"

// One side of the memory: the columns of its layout of values, and the vector it is to use.
typedef struct {
  const TileLayout *layout;
  uint64_t columns[64];
  uint32_t registers, threads, lanes; // bits
  uint64_t instructions;              // at a vector of one element
  uint32_t vectorBits;
} Side;

typedef struct {
  Side side[2]; // store, load
  uint32_t width[TILE_LAYOUT_MAX_AXES], bits;
  uint32_t wordBits, bankBits; // log2 of the elements of a word, of a row of banks
  const TileAccessLimits *limits;
} Tile;

typedef struct {
  uint64_t vector[64];
  uint32_t count;
} Basis;

static void fillSide(const TileLayout *layout, const uint32_t *width, Side *side) {
  TileBitSpan span = {.size = 0};
  *side = (Side){.layout = layout, .registers = layout->bits[TileLayoutReg], .lanes = layout->bits[TileLayoutLane]};
  side->threads = side->lanes + layout->bits[TileLayoutWarp];
  tileLayoutColumns(layout, width, side->columns);
  for (uint32_t i = 0; i < side->registers; ++i)
    tileBitSpanAdd(&span, side->columns[i]);
  side->instructions = UINT64_C(1) << span.size;
}

static TileBitSpan registersOf(const Side *side) {
  TileBitSpan span = {.size = 0};
  for (uint32_t i = 0; i < side->registers; ++i)
    tileBitSpanAdd(&span, side->columns[i]);
  return span;
}

// Wavefronts of a side without conflicts.
static uint64_t idealOf(const Tile *tile, const Side *side, uint32_t vectorBits) {
  uint64_t bytes = (uint64_t)tile->limits->elementBytes << vectorBits;
  uint64_t word = tile->limits->bankBytes ? tile->limits->bankBytes : 1, row = word * tile->limits->banks;
  uint64_t phases = row ? (bytes > word ? bytes : word) * (UINT64_C(1) << side->lanes) / row : 1;
  return (side->instructions >> vectorBits) * (phases ? phases : 1);
}

// The vector: registers of both sides first, in the order of the side with the longer one, then those of that side.
static bool chooseVector(const Tile *tile, Basis *vector) {
  const Side *longer = &tile->side[tile->side[1].vectorBits >= tile->side[0].vectorBits];
  const Side *shorter = &tile->side[longer == &tile->side[0]];
  TileBitSpan left = registersOf(shorter), right = registersOf(longer), both = tileBitSpanMeet(&left, &right);
  TileBitSpan taken = {.size = 0};
  for (uint32_t i = 0; i < longer->registers + TILE_BIT_MATRIX_MAX && vector->count < shorter->vectorBits; ++i) {
    uint64_t step = i < longer->registers ? longer->columns[i] : both.value[i - longer->registers];
    if (step && !tileBitSpanReduce(&both, step) && tileBitSpanAdd(&taken, step))
      vector->vector[vector->count++] = step;
  }
  if (vector->count < shorter->vectorBits)
    return false;
  for (uint32_t i = 0; i < longer->registers && vector->count < longer->vectorBits; ++i)
    if (tileBitSpanAdd(&taken, longer->columns[i]))
      vector->vector[vector->count++] = longer->columns[i];
  return vector->count == longer->vectorBits;
}

// Completes the vector to a basis such that no thread of a side moves inside that side's vector; false if one must.
static bool completeBasis(const Tile *tile, const Basis *vector, Basis *rest) {
  TileBitMatrix basis = {.rows = 64, .columns = vector->count};
  // The longer vector's threads first, since they must keep out of all of it; else the storing ones: what is copied
  // from memory by neighbouring offsets is then read from there side by side.
  uint32_t first = tile->side[1].vectorBits > tile->side[0].vectorBits;
  for (uint32_t i = 0; i < vector->count; ++i)
    basis.column[i] = vector->vector[i];
  for (uint32_t k = 0; k < 3; ++k) {
    const Side *side = k < 2 ? &tile->side[first ^ k] : NULL;
    for (uint32_t i = 0; i < (side ? side->threads : tile->bits); ++i) {
      uint64_t recipe, step = side ? side->columns[side->registers + i] : UINT64_C(1) << i;
      if (!tileBitMatrixSolve(&basis, step, &recipe))
        rest->vector[rest->count++] = basis.column[basis.columns++] = step;
      else if (side && recipe & ((UINT64_C(1) << side->vectorBits) - 1))
        return false;
    }
  }
  return true;
}

// What the rows must avoid for a side: its vector, its lanes of one phase, and what shares a word.
static TileBitSpan avoidedBy(const Tile *tile, const Side *side, const Basis *vector, const Basis *rest) {
  TileBitSpan span = {.size = 0};
  uint32_t bytes = tile->limits->elementBytes << side->vectorBits, word = tile->limits->bankBytes;
  uint32_t served = tile->limits->banks * word / (bytes > word ? bytes : word);
  for (uint32_t i = 0; i < vector->count && (i < side->vectorBits || i < tile->wordBits); ++i)
    tileBitSpanAdd(&span, vector->vector[i]);
  for (uint32_t i = vector->count; i < tile->wordBits && i - vector->count < rest->count; ++i)
    tileBitSpanAdd(&span, rest->vector[i - vector->count]);
  for (uint32_t i = 0; i < side->lanes && i < tessera_log2(served); ++i)
    tileBitSpanAdd(&span, side->columns[side->registers + i]);
  return span;
}

static bool isOutside(const TileBitSpan *span, uint64_t x) { return tileBitSpanReduce(span, x) != 0; }

// A vector spanned by `rest` outside both subspaces; one that cannot be avoided any more is ignored.
static uint64_t pickOutside(const Basis *rest, TileBitSpan avoided[2], const TileBitSpan *taken) {
  uint64_t only[2] = {0, 0}, independent = 0;
  for (uint32_t i = rest->count; i-- > 0;) {
    uint64_t x = rest->vector[i];
    bool outside[2] = {isOutside(&avoided[0], x), isOutside(&avoided[1], x)};
    if (!isOutside(taken, x))
      continue;
    if (outside[0] && outside[1])
      return x;
    for (int k = 0; k < 2; ++k)
      only[k] = outside[k] && !only[k] ? x : only[k];
    independent = x;
  }
  if (only[0] && only[1])
    return only[0] ^ only[1];
  return only[0] ? only[0] : only[1] ? only[1] : independent;
}

// Orders the basis: vector, word, banks, rows.
static Basis arrange(const Tile *tile, const Basis *vector, const Basis *rest) {
  TileBitSpan avoided[2], taken = {.size = 0}, used;
  Basis rows = {.count = 0}, all = *vector;
  uint32_t inWord = vector->count < tile->wordBits ? tile->wordBits - vector->count : 0;
  uint32_t wanted = tile->bits > tile->bankBits ? tile->bits - tile->bankBits : 0;
  for (int k = 0; k < 2; ++k)
    avoided[k] = avoidedBy(tile, &tile->side[k], vector, rest);
  for (uint32_t i = 0; i < vector->count; ++i)
    tileBitSpanAdd(&taken, vector->vector[i]);
  for (uint32_t i = 0; i < inWord && i < rest->count; ++i) {
    tileBitSpanAdd(&taken, rest->vector[i]);
    all.vector[all.count++] = rest->vector[i];
  }
  used = taken;
  while (rows.count < wanted) {
    uint64_t row = pickOutside(rest, avoided, &used);
    rows.vector[rows.count++] = row;
    tileBitSpanAdd(&used, row);
    tileBitSpanAdd(&avoided[0], row);
    tileBitSpanAdd(&avoided[1], row);
  }
  for (uint32_t i = 0; i < rest->count; ++i)
    if (tileBitSpanAdd(&used, rest->vector[i]))
      all.vector[all.count++] = rest->vector[i];
  // Rows were picked from the far end: their own order is free.
  while (rows.count > 0)
    all.vector[all.count++] = rows.vector[--rows.count];
  return all;
}

static bool memoryOf(const Tile *tile, const Basis *basis, const int64_t *shape, uint32_t rank, TileLayout *memory,
                     TileError *error) {
  *memory = tileLayoutEmpty(TileLayoutMemory);
  for (uint32_t i = 0; i < basis->count; ++i) {
    TileLayoutPoint step = {{0}};
    uint64_t vector = basis->vector[i];
    for (uint32_t axis = 0; axis < rank; vector >>= tile->width[axis++])
      step.at[axis] = (uint32_t)(vector & ((UINT64_C(1) << tile->width[axis]) - 1));
    if (!tileLayoutAppendBit(memory, TileLayoutOffset, step, error))
      return false;
  }
  for (uint32_t axis = rank; axis-- > 0;) {
    TileLayoutRepeat odd = {.dim = TileLayoutOffset, .axis = (int32_t)axis, .stride = 1u << tile->width[axis]};
    odd.count = (uint32_t)(shape[axis] >> tile->width[axis]);
    if (!tileLayoutAppendRepeat(memory, odd, error))
      return false;
  }
  return true;
}

// Words that a thread moves because a vector's registers do not follow each other in the layout of values: other
// instructions take them in that order.
static uint64_t movesOf(const Tile *tile, const TileAccess *access, uint64_t instructions) {
  uint64_t bytes = (uint64_t)tile->limits->elementBytes << access->vectorBits, word = 4;
  for (uint32_t bit = 0; bit < access->vectorBits && tile->limits->isOfRegisters; ++bit)
    if (access->slotStep[bit] != 1u << bit)
      return instructions * (bytes > word ? bytes / word : 1);
  return 0;
}

static bool wavefrontsOf(const Tile *tile, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                         uint64_t *wavefronts, TileError *error) {
  TileLayout inverse; // both sides cover the shape
  *wavefronts = 0;
  if (!tileLayoutRightInverse(memory, shape, rank, &inverse, error))
    return false;
  for (int k = 0; k < 2; ++k) {
    TileAccess access;
    if (!tileAccessPlanByInverse(tile->side[k].layout, memory, &inverse, tile->limits, &access, error))
      return false;
    TileAccessTraffic traffic = tileAccessTraffic(&access, 1u << tile->side[k].lanes, tile->limits);
    // Instructions break ties: fewer ones for the same wavefronts.
    *wavefronts +=
        (traffic.phases + traffic.conflicts) * 64 + traffic.instructions + movesOf(tile, &access, traffic.instructions);
  }
  return true;
}

static bool tryWidths(Tile *tile, uint32_t store, uint32_t load, Basis *basis) {
  Basis vector = {.count = 0}, rest = {.count = 0};
  tile->side[0].vectorBits = store;
  tile->side[1].vectorBits = load;
  if (!chooseVector(tile, &vector) || !completeBasis(tile, &vector, &rest))
    return false;
  *basis = tile->limits->banks ? arrange(tile, &vector, &rest) : vector;
  for (uint32_t i = 0; !tile->limits->banks && i < rest.count; ++i)
    basis->vector[basis->count++] = rest.vector[i];
  return true;
}

// Priced as wavefrontsOf does.
static uint64_t idealPrice(const Tile *tile, uint32_t store, uint32_t load) {
  return (idealOf(tile, &tile->side[0], store) + idealOf(tile, &tile->side[1], load)) * 64 +
         (tile->side[0].instructions >> store) + (tile->side[1].instructions >> load);
}

bool tileLayoutSwizzle(const TileLayout *store, const TileLayout *load, const int64_t *shape, uint32_t rank,
                       const TileAccessLimits *limits, TileLayout *memory, TileError *error) {
  Tile tile = {.limits = limits};
  uint64_t best = UINT64_MAX, odd = 1;
  if (!tileLayoutCovers(store, shape, rank, NULL, error) || !tileLayoutCovers(load, shape, rank, NULL, error))
    return false;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    tile.width[axis] = (uint32_t)__builtin_ctzll((uint64_t)shape[axis]);
    tile.bits += tile.width[axis];
    odd *= (uint64_t)shape[axis] >> tile.width[axis];
  }
  tile.wordBits = limits->bankBytes > limits->elementBytes ? tessera_log2(limits->bankBytes / limits->elementBytes) : 0;
  tile.bankBits = tessera_log2((uint64_t)limits->banks * limits->bankBytes / limits->elementBytes);
  fillSide(store, tile.width, &tile.side[0]);
  fillSide(load, tile.width, &tile.side[1]);
  uint32_t most = tessera_log2(limits->vectorBytes / limits->elementBytes);
  for (uint32_t widths = (most + 1) * (most + 1); widths-- > 0;) {
    Basis basis;
    TileLayout candidate;
    uint64_t price, first = widths / (most + 1), second = widths % (most + 1);
    if (best <= idealPrice(&tile, (uint32_t)first, (uint32_t)second) * odd ||
        !tryWidths(&tile, (uint32_t)first, (uint32_t)second, &basis))
      continue;
    if (!memoryOf(&tile, &basis, shape, rank, &candidate, error) ||
        !wavefrontsOf(&tile, &candidate, shape, rank, &price, error))
      return false;
    if (price < best) {
      best = price;
      *memory = candidate;
    }
  }
  return best != UINT64_MAX ||
         tileErrorSet(error, 0, 0, "no memory layout serves both layouts of a tile of %u bits", tile.bits);
}
