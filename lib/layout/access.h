// Accesses of values to a memory: which registers travel together, to which offset, and what the banks make of it.
// Why: the same questions decide a conversion through shared memory, a load from a buffer and a load from global
// memory, and their answers follow from the layouts.
// Expects: layouts of values and of memory over one shape, both covering it. Leaves: plain values, nothing on the heap.
//
//   TileAccess access; TileError error;
//   TileAccessLimits limits = {.elementBytes = 2, .vectorBytes = 16, .banks = 32, .bankBytes = 4};
//   if (!tileAccessPlan(&fragment, &buffer, shape, 2, &limits, &access, &error)) return report(&error);
//   for (uint32_t n = 0; n < access.count; ++n)                      // one instruction each
//     for (uint32_t slot = 0; slot < 1u << access.vectorBits; ++slot)
//       move(tileAccessRegister(&access, n, slot), tileAccessOffset(&access, n, thread) + slot);
//
// A thread is lane + lanes * warp. Registers, threads and offsets (unit: elements) are indices of the layouts.
#pragma once

#include "lib/layout/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// What an instruction can do and how the memory is built, from the machine file. A memory without banks has banks = 0.
typedef struct TileAccessLimits {
  uint32_t elementBytes; // a power of two
  uint32_t vectorBytes;  // of the widest instruction, a power of two
  uint32_t banks, bankBytes;
  bool isOfRegisters; // values come from registers and go to registers; false: an engine may copy them
} TileAccessLimits;

// The registers of one layout as vectors of 2^vectorBits neighbouring elements of a memory.
typedef struct TileAccess {
  uint32_t vectorBits;                         // log2 of the elements of one instruction
  uint32_t count;                              // instructions that move the whole tile
  uint32_t slotStep[TILE_LAYOUT_MAX_BITS];     // bit i of the slot is worth this XOR of the register
  uint32_t registerBits, threadBits;           // of the layout of values: log2 of the linear part, log2 of threads
  uint32_t registerMask;                       // the bits of the register that number the instructions
  uint32_t copyMask;                           // register bits that hold copies: register r equals r & ~copyMask
  uint32_t ownerMask;                          // threads t with t & ownerMask hold copies of what others hold
  uint64_t registerStep[TILE_LAYOUT_MAX_BITS]; // what a register bit is worth, XORed into the offset
  uint64_t threadStep[TILE_LAYOUT_MAX_BITS];   // the same for a bit of the thread
  uint32_t digitCount;                         // odd factors of the registers, innermost first
  uint32_t digitSize[TILE_LAYOUT_MAX_REPEATS];
  uint64_t digitStep[TILE_LAYOUT_MAX_REPEATS]; // added to the offset for each position of the digit
  uint32_t padAmount, padEvery;                // of the memory's layout
} TileAccess;

// Plans the widest accesses that the layouts and limits allow: neighbouring offsets in one thread, aligned to their
// own size (as long as the buffer begins aligned to it). Fails where either layout does not cover the shape.
bool tileAccessPlan(const TileLayout *values, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                    const TileAccessLimits *limits, TileAccess *access, TileError *error);
// As above, of values that are known to cover the shape. `inverse` is the memory's right inverse, which plans share.
bool tileAccessPlanByInverse(const TileLayout *values, const TileLayout *memory, const TileLayout *inverse,
                             const TileAccessLimits *limits, TileAccess *access, TileError *error);

// The register that lies in this slot of instruction n.
uint32_t tileAccessRegister(const TileAccess *access, uint32_t n, uint32_t slot);

// The offset of slot 0 of instruction n in parts a compiler can use: in thread t the offset is
// (XOR of threadStep[i] over the set bits i of t, XOR *linear) + *odd, before padding.
void tileAccessOffsetParts(const TileAccess *access, uint32_t n, uint64_t *linear, uint64_t *odd);
// As above, as one number, with the memory's padding counted.
uint64_t tileAccessOffset(const TileAccess *access, uint32_t n, uint32_t thread);

// Wavefronts of one warp that moves the whole tile once, without and with what bank conflicts add; docs/numerics.md
// defines a conflict of one phase as the largest number of different words that one bank gives, minus one. A phase is
// as many lanes as one row of banks serves.
typedef struct TileAccessTraffic {
  uint64_t instructions, phases, conflicts; // of one warp; wavefronts = phases + conflicts
  uint32_t worst;                           // conflicts of the worst phase
} TileAccessTraffic;
// Counted for warp 0 of `lanes` lanes: by rank where the memory is linear, lane by lane where it is padded.
TileAccessTraffic tileAccessTraffic(const TileAccess *access, uint32_t lanes, const TileAccessLimits *limits);

// What is known of a memory that is not a buffer of ours: which axis moves by one element, and how exact that is.
typedef struct TileMemoryFacts {
  uint32_t axis;      // neighbouring elements of this axis are neighbours in memory
  uint64_t alignment; // bytes that divide the address of the tile's first element and every other stride
  uint64_t bound;     // elements: the axis is cut off (by an edge or a mask) at multiples of this only; 0 = nowhere
} TileMemoryFacts;
// The widest legal vector access, in elements: consecutive along the axis, in one thread, aligned, never half outside.
// `slotStep` (may be NULL, room for 8) receives the registers as in TileAccess.
uint32_t tileAccessWidest(const TileLayout *values, const TileMemoryFacts *facts, const TileAccessLimits *limits,
                          uint32_t *slotStep);

// How far the elements of a buffer lie apart along an axis, in elements, padding counted; 0: not everywhere equally
// far.
int64_t tileLayoutStrideAlong(const TileLayout *layout, uint32_t axis);

//===--- matrices of rows -----------------------------------------------------===//

// ldmatrix and stmatrix: whether a fragment can be read from (written to) a buffer by rows of 16 bytes, and how.
// Why: one such instruction moves four 8x8 matrices of 16-bit elements; lane i names the address of row i % 8 of matrix
//   i / 8, and lane l receives of each matrix the word l % 4 of row l / 4 or, transposed, the rows 2 * (l % 4) and the
//   next of column l / 4. In terms of layouts that is an access by another layout, the one of the rows.
// Expects: 32 lanes; elements of 8, 16 or 32 bits (transposed: 16). Leaves: plain values.
//
//   TileMatrixAccess plan;
//   if (tileMatrixAccessPlan(&fragment, &buffer, shape, 2, 2, &plan, NULL))
//     for (uint32_t n = 0; n < plan.rows.count; ++n)      // thread t: address tileAccessOffset(&plan.rows, n, t)
//       for (uint32_t m = 0; m < 1u << plan.matrixBits; ++m)
//         word m of the result → registers tileMatrixRegister(&plan, n, m, slot), slot = 0 … elements of a word - 1

typedef struct TileMatrixAccess {
  bool transposed;
  uint32_t matrixBits;                         // 2^matrixBits matrices in one instruction: x1, x2, x4
  uint32_t slotBits;                           // log2 of the elements of a word
  TileAccess rows;                             // of row addresses; its registers are not the fragment's
  uint32_t slotStep[2];                        // fragment register of bit i of the slot
  uint32_t matrixStep[2];                      // of bit i of the matrix
  uint32_t rowBits;                            // lowest register bits of `rows`, which are inside a row
  uint32_t registerStep[TILE_LAYOUT_MAX_BITS]; // of bit rowBits + i of a register of `rows`
  uint32_t fragmentBits;                       // register bits of the fragment, below its odd factors
} TileMatrixAccess;

// The layout of whole rows: register bits first walk 16 bytes of a row, lanes name rows and matrices. To choose a
// buffer that ldmatrix reads without conflicts, give this to tileLayoutSwizzle in the fragment's place. Fails if the
// fragment is not made of such matrices.
bool tileMatrixRows(const TileLayout *fragment, uint32_t elementBytes, bool transposed, TileLayout *rows,
                    TileError *error);

// Plain if that fits, else transposed. Fails where rows of 16 bytes do not lie together and aligned in the buffer.
bool tileMatrixAccessPlan(const TileLayout *fragment, const TileLayout *memory, const int64_t *shape, uint32_t rank,
                          uint32_t elementBytes, TileMatrixAccess *plan, TileError *error);

// The fragment's register that holds this slot of the word of a matrix.
uint32_t tileMatrixRegister(const TileMatrixAccess *plan, uint32_t n, uint32_t matrix, uint32_t slot);

#ifdef __cplusplus
}
#endif
