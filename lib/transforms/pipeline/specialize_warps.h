// What tile-specialize-warps decides for a kernel (specialize_warps.c, specialize_warps_memory.c), and what it makes of
// that (specialize_warps_build.c).
#pragma once

#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/layout/layout.h"
#include "lib/machine/machine.h"

enum { SpecializeGroupWarps = 4 }; // of the group that loads, and of each that multiplies
enum { SpecializeProducts = 4 };   // of a loop, at most
enum { SpecializeRows = 4 };       // of a round, at most

// What a product multiplies: a tile that an engine brings, or one that the loop computes in registers.
typedef struct SpecializeFactor {
  MlirOperation load; // null: in registers
  bool isKept;        // loaded once, before the loop
  TileLayout layout;  // of one stage in shared memory
} SpecializeFactor;

typedef struct SpecializeProduct {
  MlirOperation op;
  SpecializeFactor factors[2];
  TileMachineAtom atom;
  char name[64];    // of the atom
  MlirType sums;    // of the accumulator: wider than the product's where the atom adds in f32 only
  int64_t expected; // bytes that a round brings; 0: all its factors are kept or in registers
} SpecializeProduct;

// A second loop of the same products, behind the first one; it may have no rounds. Its left factors are what the first
// one's are, its right factors go through the same rings.
typedef struct SpecializeTail {
  MlirOperation loop; // null: there is none
  MlirOperation products[SpecializeProducts], loads[SpecializeProducts];
} SpecializeTail;

// A loop of products whose factors an engine loads and which run by themselves.
typedef struct SpecializePlan {
  MlirOperation kernel, loop;
  SpecializeProduct products[SpecializeProducts];
  int count;
  SpecializeTail tail;
  bool isSum;          // one product, added up from round to round: rounds overlap
  MlirOperation store; // of what goes out through shared memory; null: nothing
  TileOps inside;      // ops of the kernel that the partition that multiplies takes over, the loop among them
  TileLayout result;   // of what is stored
  int64_t stages, expected, kept;     // bytes that a round brings, and that come once
  int64_t groups;                     // of warps that multiply
  int64_t registers[2];               // of a thread that loads, and of one that multiplies; 0: as they are
  bool isTensor;                      // sums are in tensor memory: one thread multiplies, groups take the sums
  int64_t sumStages;                  // then: places for sums; of two products, for those of the first one
  MlirOperation rows[SpecializeRows]; // loads of rows that an engine brings, beside the factors of several products
  int rowCount;
  int64_t rowBytes;      // of a round
  MlirOperation rescale; // of two products: what multiplies the sums of the second one in each round, or null
} SpecializePlan;

// Whether the factor's memory suits the engine and its tile the atom; `layout` is then known.
bool tileSpecializeFactor(const SpecializePlan *plan, const TileMachine *machine, SpecializeProduct *product, int side);
// Whether the engine can take a tile that is stored behind the loop; `store`, of the largest one, and `result` are then
// known.
bool tileSpecializeResult(SpecializePlan *plan, const TileMachine *machine);
// Whether the load is of a row that the engine can bring.
bool tileSpecializeIsRow(const TileMachine *machine, MlirOperation load);

// Two walks in an outer loop of two rounds, which hold these products, become two loops.
void tileSpecializeUnrollWalks(const TileOps *products);

void tileSpecializeBuild(const SpecializePlan *plan);

//===--- what the files that build share ----------------------------------------------------------------===//

// What one product's loaded factors go through.
typedef struct SpecializeRing {
  MlirValue buffers[2], full, empty;
} SpecializeRing;

typedef struct SpecializeMade {
  const SpecializePlan *plan;
  SpecializeRing rings[SpecializeProducts];
  MlirValue kept, result; // the barrier of what is loaded once; the result's buffer
  MlirValue rows[SpecializeRows], rowsFull, rowsEmpty;
  MlirValue end, told;         // where the second loop ends, in shared memory, and the barrier that says so
  MlirValue sums, done, taken; // in tensor memory: the sums, and the barriers that say that they are there, and free
  MlirValue rounds;            // of the loop; of a sum in tensor memory at least one
  MlirValue any;               // whether the loop has rounds; null: it is known to
  // Of two products in tensor memory: the computed factor, and the barrier that says that it is there; the sums of the
  // second product, and the barrier that says that a round's product is done.
  MlirValue weights, given, outs, added;
  MlirRegion regions[3]; // load, multiply, finish
} SpecializeMade;

// A buffer in tensor memory: columns, those of the next 128 rows behind them; then lanes.
MlirValue tileSpecializeTensor(TileBuilder *builder, MlirType tile, int64_t stages);
MlirValue tileSpecializeRound(TileBuilder *builder, const SpecializePlan *plan, MlirOperation loop, MlirValue index);
bool tileSpecializeIsZero(MlirValue tile);

// Two products whose sums are in tensor memory (specialize_warps_tensor.c). Whether the loop's sums are known to suit
// that; `rescale` is then known.
bool tileSpecializeSuitsTensor(SpecializePlan *plan);
void tileSpecializeTensorMemory(SpecializeMade *made, TileBuilder *builder);
void tileSpecializeTensorProducts(const SpecializeMade *made, TileBuilder builder); // by one thread
void tileSpecializeTensorLoop(const SpecializeMade *made, TileBuilder *builder);    // by the others
