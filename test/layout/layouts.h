// What the layout tests share: parsing that must succeed, printing, random layouts, and an evaluator of the text form
// that shares no code with lib/layout: it reads `N:term+term` mode by mode, by division and remainder.
#pragma once

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/layout/algebra.h"
#include "lib/layout/text.h"
#include "test/check.h"

static inline TileLayout parsed(const char *text) {
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  TileError error = {0};
  CHECK(tileLayoutParseAnyKind(text, strlen(text), &layout, &error), "%s: column %zu: %s", text, error.column,
        error.text);
  return layout;
}

typedef struct {
  char text[8192];
} Text;

static inline Text printed(const TileLayout *layout) {
  Text text;
  size_t length = tileLayoutPrint(layout, text.text, sizeof text.text);
  CHECK(length < sizeof text.text, "text of %zu characters", length);
  return text;
}

// XORs or adds the contribution of one dimension's modes (the text after '[') at position i.
static inline void evaluateModes(const char *modes, uint64_t i, TileLayoutPoint *bits, TileLayoutPoint *odd) {
  while (*modes && *modes != ']') {
    char *end;
    uint64_t size = strtoull(modes, &end, 10), x = i % size;
    i /= size;
    for (modes = end + 1; *modes && *modes != ',' && *modes != ']';) {
      if (*modes++ != 'd')
        continue;
      uint32_t axis = (uint32_t)strtoul(modes, &end, 10), stride = 1;
      if (*end == '*')
        stride = (uint32_t)strtoul(end + 1, &end, 10);
      modes = end;
      if (size & (size - 1))
        odd->at[axis] += (uint32_t)x * stride;
      else
        bits->at[axis] ^= (uint32_t)x * stride;
    }
    modes += *modes == ',' ? 2 : 0;
  }
}

static inline TileLayoutPoint evaluate(const char *text, TileLayoutKind kind, TileLayoutPoint index) {
  TileLayoutPoint bits = {{0}}, odd = {{0}};
  const char *name;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS && (name = tileLayoutDimName(kind, dim)); ++dim) {
    char opening[16];
    snprintf(opening, sizeof opening, "%s [", name);
    const char *found = strstr(text, opening);
    if (found)
      evaluateModes(found + strlen(opening), index.at[dim], &bits, &odd);
  }
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    bits.at[axis] += odd.at[axis];
  return bits;
}

static inline bool samePoint(TileLayoutPoint a, TileLayoutPoint b) { return !memcmp(&a, &b, sizeof a); }

// The next index of a layout in the order of its dimensions; false after the last.
static inline bool nextIndex(const TileLayout *layout, TileLayoutPoint *index) {
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim) {
    if (++index->at[dim] < tileLayoutDimSize(layout, dim))
      return true;
    index->at[dim] = 0;
  }
  return false;
}

// Any layout of at most `maxBits` bits over 3 axes of 4 bits: steps of several bits, copies, an odd factor now and
// then.
static inline TileLayout randomLayout(uint64_t *seed, uint32_t maxBits) {
  TileLayout layout = tileLayoutEmpty(checkRandom(seed) % 2 ? TileLayoutValues : TileLayoutMemory);
  uint32_t bits = (uint32_t)(checkRandom(seed) % (maxBits + 1)), dims = layout.kind == TileLayoutValues ? 4 : 1;
  for (uint32_t i = 0; i < bits; ++i) {
    TileLayoutPoint step = {{0}};
    for (uint32_t terms = checkRandom(seed) % 3, t = 0; t < terms; ++t)
      step.at[checkRandom(seed) % 3] ^= 1u << checkRandom(seed) % 4;
    tileLayoutAppendBit(&layout, (uint32_t)(checkRandom(seed) % dims), step, NULL);
  }
  if (checkRandom(seed) % 3 == 0) {
    TileLayoutRepeat repeat = {.dim = 0, .count = 3 + 2 * (uint32_t)(checkRandom(seed) % 3)};
    repeat.axis = (int32_t)(checkRandom(seed) % 4) - 1;
    repeat.stride = 16;
    tileLayoutAppendRepeat(&layout, repeat, NULL);
  }
  return layout;
}
