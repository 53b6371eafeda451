// Composition of layouts, and what is built on it: conversion and reshape. See algebra.h.
// How: a step of the result is outer applied to a step of inner. An odd factor of inner must run through odd factors of
// outer; it is split where those change. Cost: one application per bit.
#include <inttypes.h>

#include "lib/layout/algebra.h"

static bool stepFits(const TileLayout *outer, const TileLayoutPoint *step, TileError *error) {
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim) {
    const char *name = tileLayoutDimName(outer->kind, dim);
    if ((uint64_t)step->at[dim] >> outer->bits[dim] == 0)
      continue;
    if (step->at[dim] < tileLayoutDimSize(outer, dim))
      return tileErrorSet(error, 0, 0, "index %u of %s lies in an odd factor of the outer layout: not linear",
                          step->at[dim], name ? name : "a dimension");
    return tileErrorSet(error, 0, 0,
                        "the inner layout reaches index %u of dimension %u (%s), which has %" PRIu64 " positions",
                        step->at[dim], dim, name ? name : "absent", tileLayoutDimSize(outer, dim));
  }
  return true;
}

static bool composeBits(const TileLayout *outer, const TileLayout *inner, TileLayout *result, TileError *error) {
  const TileLayoutPoint *step = inner->steps;
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; ++dim)
    for (uint32_t bit = 0; bit < inner->bits[dim]; ++bit, ++step)
      if (!stepFits(outer, step, error) || !tileLayoutAppendBit(result, dim, tileLayoutApply(outer, *step), error))
        return false;
  return true;
}

// For the outer digit that begins at position `start`, the part that a walk of `left` steps of `stride` uses; 0 = none.
static uint32_t digitsShared(const TileLayoutRepeat *digit, uint64_t start, uint64_t stride, uint32_t left) {
  if (stride < start || stride % start || stride / start >= digit->count || digit->count % (stride / start))
    return 0;
  uint32_t available = digit->count / (uint32_t)(stride / start);
  if (left % available == 0)
    return available;
  return available % left == 0 ? left : 0;
}

// One odd factor of inner, whose axis is dimension walk.axis of outer.
static bool composeRepeat(const TileLayout *outer, TileLayoutRepeat walk, TileLayout *result, TileError *error) {
  uint32_t dim = (uint32_t)walk.axis, left = walk.count;
  uint64_t start = UINT64_C(1) << outer->bits[dim], stride = walk.stride;
  for (uint32_t i = 0; i < outer->repeatCount && left > 1; ++i) {
    const TileLayoutRepeat *digit = &outer->repeats[i];
    if (digit->dim != dim)
      continue;
    uint32_t taken = digitsShared(digit, start, stride, left);
    if (taken) {
      TileLayoutRepeat part = {.dim = walk.dim, .count = taken, .axis = digit->axis};
      part.stride = (uint32_t)(stride / start) * digit->stride;
      if (!tileLayoutAppendRepeat(result, part, error))
        return false;
      left /= taken;
      stride *= taken;
    }
    start *= digit->count;
  }
  return left == 1 ||
         tileErrorSet(error, 0, 0,
                      "%u steps of %u through dimension %u of the outer layout do not meet an odd factor there",
                      walk.count, walk.stride, dim);
}

bool tileLayoutCompose(const TileLayout *outer, const TileLayout *inner, TileLayout *result, TileError *error) {
  TileLayout composed = tileLayoutEmpty(inner->kind);
  composed.padAmount = inner->padAmount;
  composed.padEvery = inner->padEvery;
  if (!composeBits(outer, inner, &composed, error))
    return false;
  for (uint32_t i = 0; i < inner->repeatCount; ++i) {
    bool copies = inner->repeats[i].axis == TILE_LAYOUT_COPIES;
    if (copies ? !tileLayoutAppendRepeat(&composed, inner->repeats[i], error)
               : !composeRepeat(outer, inner->repeats[i], &composed, error))
      return false;
  }
  if (!tileLayoutCheck(&composed, NULL, error))
    return false;
  *result = composed;
  return true;
}

bool tileLayoutConvert(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                       TileLayout *result, TileError *error) {
  TileLayout inverse;
  return tileLayoutCovers(from, shape, rank, NULL, error) && tileLayoutRightInverse(to, shape, rank, &inverse, error) &&
         tileLayoutCompose(&inverse, from, result, error);
}

static int64_t elementCount(const int64_t *shape, uint32_t rank) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i)
    count *= shape[i];
  return count;
}

bool tileLayoutReshape(const TileLayout *layout, const int64_t *from, uint32_t fromRank, const int64_t *to,
                       uint32_t toRank, TileLayout *result, TileError *error) {
  TileLayout source, target, place;
  if (elementCount(from, fromRank) != elementCount(to, toRank))
    return tileErrorSet(error, 0, 0, "a reshape keeps the number of elements: %" PRId64 " are not %" PRId64,
                        elementCount(from, fromRank), elementCount(to, toRank));
  return tileLayoutDense(from, fromRank, NULL, &source, error) && tileLayoutDense(to, toRank, NULL, &target, error) &&
         tileLayoutConvert(layout, &source, from, fromRank, &place, error) &&
         tileLayoutCompose(&target, &place, result, error);
}

bool tileLayoutIsReshapeLinear(const int64_t *from, uint32_t fromRank, const int64_t *to, uint32_t toRank) {
  TileLayout inRegisters, reshaped;
  // Offsets and registers are both dimension 0 and may both have odd factors.
  if (!tileLayoutDense(from, fromRank, NULL, &inRegisters, NULL))
    return false;
  inRegisters.kind = TileLayoutValues;
  return tileLayoutReshape(&inRegisters, from, fromRank, to, toRank, &reshaped, NULL);
}
