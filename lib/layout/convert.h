// Conversions: how a tile moves from one layout of values to another with the least traffic.
// Why: every operand that is not where an instruction wants it costs registers moves, shuffles or a trip through shared
//   memory, and which of them suffices is linear algebra (Zhou et al., "Linear Layouts", 2025, sections 5.2 to 5.4; the
//   factorization with lane-dependent registers is ours, docs/layouts.md).
// Expects: two layouts of values over one shape with as many lanes, warps and blocks as each other.
// Leaves: a plan, a plain value that the pass or the code generator carries out.
//
//   TileConversion plan; TileError error;
//   if (!tileConversionPlan(&from, &to, shape, 2, &target, &plan, &error)) return report(&error);
//   switch (plan.kind) {
//   case TileConversionNone:        result[r] = source[r];
//   case TileConversionRegisters:   result[r] = source[tileConversionSourceRegister(&plan, r)]; inside a lane
//   case TileConversionShuffles:    three steps, see below
//   case TileConversionShared:      plan.shared: store by one TileAccess, barrier, load by another
//   }
//
// Shuffles. With t = lane + lanes * warp (bits: lane bits first) and parity(x) = popcount(x) & 1:
//   1. before: for each of plan.before[i]: if parity(t & mask), exchange the source registers r and r ^ step, all r
//   2. for each word w: each slot s of it fills result register R = tileConversionWordRegister(&plan, w, s) with source
//      register tileConversionSourceRegister(&plan, R) of lane
//        tileConversionLaneXor(&plan, R) ^ XOR of plan.laneStep[i] over the set bits i of t
//      All slots of a word read the same lane: packed into 32 bits they are one shuffle. If tileConversionIsOwn(&plan,
//      R) the lane is the thread's own and nothing moves between lanes.
//   3. copies: result register r := result register r & ~plan.copyMask; after: turns as before, on the result registers
// Registers are the same plan with no turns and only own lanes.
#pragma once

#include "lib/layout/access.h"
#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TileConversionKind {
  TileConversionNone,
  TileConversionRegisters,
  TileConversionShuffles,
  TileConversionShared,
} TileConversionKind;

// What a conversion may use, from the machine file and the kernel.
typedef struct TileConversionTarget {
  uint32_t elementBits;    // of one register of the tile: 1, 4, 8, 16, 32, 64
  uint32_t shuffleBits;    // of one shuffle: 32; 0 = the machine has none
  TileAccessLimits shared; // vectorBytes and banks of shared memory; elementBytes is set by the planner
  bool forbidShared;       // no scratch memory: fail rather than use it
} TileConversionTarget;

// A step of selects: threads with parity(t & mask) exchange registers r and r ^ step.
typedef struct TileConversionTurn {
  uint32_t mask, step;
} TileConversionTurn;

// Through shared memory: store the source, barrier, load the result. Before the scratch is used again: barrier.
typedef struct TileConversionScratch {
  TileLayout memory;     // offset → coordinates; its swizzle has as few bank conflicts as the widths allow
  uint32_t elementBytes; // at least 1: elements below a byte travel as bytes
  uint64_t bytes;        // of scratch, to be aligned to 16
  TileAccess store, load;
} TileConversionScratch;

// What the conversion costs one warp.
typedef struct TileConversionCost {
  uint32_t moves;                 // register to register: free in SSA form
  uint32_t shuffles, selects;     // instructions
  uint32_t stores, loads;         // instructions on shared memory
  uint32_t wavefronts, conflicts; // of both; conflicts are among the wavefronts
  uint32_t barriers;
  double cycles; // by the rates in convert.c: what plans are compared by
} TileConversionCost;

enum { TILE_CONVERSION_MAX_TURNS = 12 };

typedef struct TileConversion {
  TileConversionKind kind;
  uint32_t sourceRegisters, resultRegisters; // per thread, copies and odd factors counted
  uint32_t laneBits, warpBits;
  TileConversionCost cost;

  // None, Registers and Shuffles.
  uint32_t beforeCount, afterCount;
  TileConversionTurn before[TILE_CONVERSION_MAX_TURNS], after[TILE_CONVERSION_MAX_TURNS];
  uint32_t registerBits;                       // log2 of the linear part of the result registers
  uint32_t registerStep[TILE_LAYOUT_MAX_BITS]; // bit i of a result register is worth this XOR of the source register
  uint32_t registerLane[TILE_LAYOUT_MAX_BITS]; // and this XOR of the source lane
  uint64_t laneStep[TILE_LAYOUT_MAX_BITS];     // bit i of the thread is worth this XOR of the source lane
  uint32_t copyMask;                           // bits of a result register that only make copies
  uint32_t wordBits;                           // 2^wordBits registers travel in one shuffle
  uint32_t wordStep[8];                        // XOR of the result register for each bit of the slot
  uint32_t digitCount;                         // odd factors of the result registers, innermost first
  TileLayoutRepeat digits[TILE_LAYOUT_MAX_REPEATS]; // of the result
  uint32_t sourceBits, sourceDigitCount;
  TileLayoutRepeat sourceDigits[TILE_LAYOUT_MAX_REPEATS]; // of the source

  TileConversionScratch shared; // of kind Shared only
} TileConversion;

// The cheapest plan. Fails if the layouts do not cover the shape, differ in lanes, warps or blocks, or if blocks would
// have to exchange elements.
bool tileConversionPlan(const TileLayout *from, const TileLayout *to, const int64_t *shape, uint32_t rank,
                        const TileConversionTarget *target, TileConversion *plan, TileError *error);

// "none", "registers", "shuffles", "shared".
const char *tileConversionKindName(TileConversionKind kind);

// The source register that fills a result register (of a word, before the turns `after`).
uint32_t tileConversionSourceRegister(const TileConversion *plan, uint32_t resultRegister);
// The part of the source lane that depends on the result register only.
uint32_t tileConversionLaneXor(const TileConversion *plan, uint32_t resultRegister);
// Whether every thread fills this result register from its own registers.
bool tileConversionIsOwn(const TileConversion *plan, uint32_t resultRegister);
// Words to fill, copies left out; each has 2^wordBits result registers.
uint32_t tileConversionWordCount(const TileConversion *plan);
uint32_t tileConversionWordRegister(const TileConversion *plan, uint32_t word, uint32_t slot);

// The memory for a tile that is stored from one layout and loaded by another: vectors as wide as both allow, no bank
// conflicts where that is possible, and the widths weighed against each other by the wavefronts they cost.
bool tileLayoutSwizzle(const TileLayout *store, const TileLayout *load, const int64_t *shape, uint32_t rank,
                       const TileAccessLimits *limits, TileLayout *memory, TileError *error);

#ifdef __cplusplus
}
#endif
