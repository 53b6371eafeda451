// What an op of a scheduled kernel does to memory that other threads of the kernel see, and what a list of such
// accesses means for the next one.
#ifndef TESSERA_TRANSFORMS_PIPELINE_ACCESSES_H
#define TESSERA_TRANSFORMS_PIPELINE_ACCESSES_H

#include "lib/transforms/pipeline/lifetimes.h"

// Program order holds within one program instance, across its threads too, for global memory and local buffers. A
// shared buffer is ordered by the program's own tile.sync and tile.wait; only what passes its place on is ordered here.
typedef enum AccessTo {
  Access_Global, // root: the parameter; null: any memory
  Access_Local,  // root: the alloc's result
  Access_Place,  // bytes of shared memory; root: the alloc's result; null: scratch
} AccessTo;

typedef struct MemoryAccess {
  AccessTo kind;
  MlirValue root;
  bool isWrite;
  int64_t offset, bytes;
  MlirOperation op; // a load or store of a view's tile whose elements one thread each accesses; null: not known
} MemoryAccess;

typedef struct Accesses {
  MemoryAccess *items;
  intptr_t count, capacity;
} Accesses;

void tileAccessesAdd(Accesses *accesses, MemoryAccess access); // once
void tileAccessesJoin(Accesses *accesses, const Accesses *more);
void tileAccessesKeepPlaces(Accesses *accesses);                    // drops all but bytes of shared memory
void tileAccessesNextRound(Accesses *accesses, MlirOperation loop); // indices of the loop have other values then
void tileAccessesFree(Accesses *accesses);
// Whether an access must wait until all threads are through with an earlier one.
bool tileAccessesConflict(const Accesses *earlier, const Accesses *later);

// What the op itself accesses, regions left out; where a barrier stands within the op, and what it needs around it.
typedef struct OpAccesses {
  Accesses accesses;
  bool hasBarrier;              // the op's own exchange: earlier accesses are through when it ends
  bool isOverAtBarrier;         // what the op itself accesses in memory is through, too
  bool needsBefore, needsAfter; // an atomic that releases or acquires: for every access
} OpAccesses;
void tileAccessesOf(const Lifetimes *lifetimes, MlirOperation op, OpAccesses *result);

#endif
