// When the buffers of a kernel live, and where they lie in the memory of their level.
//
//   Lifetimes *lifetimes = tileLifetimes(kernel);          // of every tile.alloc of a buffer
//   tileLowestFree(lifetimes, level, bytes, align, life);  // an offset at which no placed buffer of that time lies
//   tileLifetimesDestroy(lifetimes);
#pragma once

#include "lib/capi/common.h"

// Ops are numbered in the order in which they are written; an op with regions has a span. A buffer lives from its first
// use to its last, or to the wait for its last copy. A use in a loop that the buffer was not made in counts for the
// whole loop; a use in a partition of warps counts for the whole tile.warp_specialize. Among themselves, buffers that
// are made in one partition live from use to use.
typedef struct Life {
  int64_t first, last;
  const void *partition; // the region, of what is made in it; null: anything else
  int64_t firstInside, lastInside;
} Life;

bool tileLivesMeet(Life a, Life b);

// Memories that are planned apart from each other.
typedef enum Level { Level_Shared, Level_Tensor, NumLevels } Level;
Level tileLevelOf(MlirType type); // local buffers and memrefs lie in the memory that the block shares

typedef struct BufferPlace {
  MlirOperation alloc;
  Level level;
  Life life;
  int64_t offset, bytes, align;
  bool isCopiedInto; // asynchronously
  bool isPlaced;
  bool isAddress; // no buffer: the word of shared memory that the machine writes tensor memory's address to
} BufferPlace;

typedef struct Lifetimes {
  struct Times *times;
  intptr_t numTimes;
  BufferPlace *places;
  intptr_t numPlaces;
  uint32_t lanes; // of a warp; 0: not known
} Lifetimes;

Lifetimes *tileLifetimes(MlirOperation kernel);
void tileLifetimesDestroy(Lifetimes *lifetimes);
Life tileLifeOf(const Lifetimes *lifetimes, MlirOperation op); // of what only this op uses
const BufferPlace *tilePlaceOf(const Lifetimes *lifetimes,
                               MlirValue buffer); // of a buffer, slot or view of one; or null
// The lowest offset of the level, a multiple of `align`, at which no placed buffer of that time lies.
int64_t tileLowestFree(const Lifetimes *lifetimes, Level level, int64_t bytes, int64_t align, Life life);
