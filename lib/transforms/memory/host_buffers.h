// What is known of the host's buffers: where they begin, what divides their sizes and strides, which may overlap.
//
//   HostBuffers buffers = tileHostBuffersOf(module, 16);
//   BufferFacts facts = tileHostBufferFacts(&buffers, memref);     // facts.align == 64
//   if (!tileHostBuffersMayOverlap(&buffers, a, b)) …
//   tileHostBuffersFree(&buffers);
//
// Answers hold for every run. They follow a buffer through views, loops, branches, and calls of private functions.
#pragma once

#include "lib/ir/support.h"
#include "lib/support/array.h"

enum { HostMaxRank = TESSERA_MAX_RANK };

// Divisors are powers of two up to 4096, or the number itself where it is a constant. 0: the number is 0.
typedef struct BufferFacts {
  intptr_t rank;
  int64_t align; // bytes, of the first element's address
  int64_t sizes[HostMaxRank], strides[HostMaxRank];
} BufferFacts;

typedef struct HostBuffers {
  int64_t entryAlignment; // bytes at whose multiples arguments of entries begin: the host's contract
  TileOps calls;          // func.call
  bool hasFunctionValues; // func.constant: private functions may be called from anywhere
  MlirValue *arguments;   // of entries, whose alignment an answer rests on
  intptr_t count;         // of `arguments`
  intptr_t steps;         // towards the answer at hand
} HostBuffers;

HostBuffers tileHostBuffersOf(MlirOperation module, int64_t entryAlignment);
void tileHostBuffersFree(HostBuffers *buffers);

// Of a memref; of one with more than HostMaxRank dimensions only `align` (rank is 0 then).
BufferFacts tileHostBufferFacts(HostBuffers *buffers, MlirValue memref);
int64_t tileHostIndexDivisor(HostBuffers *buffers, MlirValue index);
bool tileHostBuffersMayOverlap(HostBuffers *buffers, MlirValue a, MlirValue b);
