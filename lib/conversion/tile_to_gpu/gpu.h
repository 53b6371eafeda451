// From scheduled tile kernels to a gpu.module: the engine that convert-tile-to-nvvm and convert-tile-to-rocdl share,
// and the vocabulary in which the two differ. What a value of a kernel becomes, and the ABI: docs/gpu.md.
//
//   static const GpuVocabulary nvvm = {.isa = "ptx", .chip = "sm_80", .threadId = …, .barrier = …, …};
//   bool ok = tileKernelsToGpu(module, pass, &nvvm);
//
// Expects: kernels in which every tile has a layout, for the machine given. Leaves: one gpu.module holding, per kernel,
// an llvm.func of llvm, the vocabulary's dialect, and arith, math, cf and scf on scalars, which upstream's passes
// lower. A kernel that something refers to (tile.launch) stays as a declaration. Nothing names a chip: widths, atoms,
// engines and limits are the machine's.
#pragma once

#include "lib/analysis/machine_of_op.h"
#include "lib/capi/pass.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"
#include "lib/machine/machine.h"
#include "upstream/builtin.h"

// One product of an atom: fragments as they lie in a lane's registers, element by element; floats of 8 bits and fewer
// come as integers of their width, tf32 as f32. `d` receives as many values as `c` has.
// A fragment as the instruction takes it: what packs it first leaves it here for the next instruction with the same.
enum { GpuMaxFragment = 64 };
typedef struct GpuPacked {
  intptr_t count; // 0: not packed yet
  MlirValue values[GpuMaxFragment];
} GpuPacked;

typedef struct GpuProduct {
  const TileMachineAtom *atom;
  const char *name;    // "mma.sync.m16n8k16"
  MlirType element[3]; // of A, B and C in the kernel
  intptr_t count[3];
  const MlirValue *a, *b, *c;
  const MlirValue *places; // of a sparse product: bytes that say where the elements of A stand (tile.mma_sparse)
  intptr_t numPlaces;
  const MlirValue *scales[2]; // of A and B, as bytes, where the instruction takes them; null: it takes none
  intptr_t numScales;         // of each
  GpuPacked *packed[3];       // of A, B and the places
  const TileMachine *machine;
  MlirValue *d;
} GpuProduct;

// One product that runs by itself, of a warpgroup or on tensor memory: factors by their descriptors in shared memory
// (lib/layout/descriptor.h); the left one may be in registers, a fragment packed into words.
typedef struct GpuAsyncProduct {
  const TileMachineAtom *atom;
  const char *name;        // "wgmma.m64n256k16"
  MlirType element[3];     // of A, B and C in the kernel
  MlirValue descriptor[2]; // i64; of A null where it is in registers
  intptr_t numWords;       // of A; 0: it lies in memory
  const MlirValue *words;  // i32
  bool isAlongDepth[2];    // neighbours in the buffer are neighbours along k
  bool isFromZero;         // the sums before are zero and need not be read
  intptr_t count;
  MlirValue *sums;   // the accumulator's registers before, and after
  MlirValue address; // i32: sums in tensor memory instead; null: in registers
  MlirValue adds;    // i1: to what is there
  MlirValue left;    // i32: A in tensor memory; null: in shared memory or registers
} GpuAsyncProduct;

// What works by itself beside the threads. Barriers are addresses in shared memory (ptr<3>) of 8 bytes; `map`: the
// address of a tensor map, a hidden parameter (docs/gpu.md); coordinates are i32, the fastest axis first.
typedef struct GpuEngines {
  void (*barrierCreate)(TileBuilder *builder, MlirValue barrier, int64_t arrivals); // by one thread
  void (*barriersCreated)(TileBuilder *builder);                                    // by that thread, after the last
  void (*barrierArrive)(TileBuilder *builder, MlirValue barrier, int64_t count);
  void (*barrierExpect)(TileBuilder *builder, MlirValue barrier, int64_t bytes); // arrives once, too
  void (*barrierWait)(TileBuilder *builder, MlirValue barrier, MlirValue parity);
  // `blocks`: i16, a bit for each block of the cluster that receives the box; null: this one.
  void (*copyBoxIn)(TileBuilder *builder, MlirValue shared, MlirValue map, intptr_t rank, const MlirValue *at,
                    MlirValue barrier, MlirValue blocks);
  void (*copyBoxOut)(TileBuilder *builder, MlirValue map, MlirValue shared, intptr_t rank, const MlirValue *at);
  void (*commitBoxes)(TileBuilder *builder); // those that were copied out, by this thread
  void (*waitBoxes)(TileBuilder *builder, int64_t pending, bool isForReads); // of shared memory, or whole
  void (*fenceEngines)(TileBuilder *builder); // what this thread wrote is there for the engines
  // `values`: registers that the products take, which must not be computed later. They are replaced.
  void (*beginProducts)(TileBuilder *builder, intptr_t count, MlirValue *values);
  bool (*multiplyAsync)(TileBuilder *builder, MlirOperation at, const GpuAsyncProduct *product);
  void (*commitProducts)(TileBuilder *builder);
  void (*waitProducts)(TileBuilder *builder, int64_t pending, intptr_t count, MlirValue *sums);
  void (*partitionBarrier)(TileBuilder *builder, int64_t number, int64_t threads);
  void (*warpBarrier)(TileBuilder *builder);
  void (*setRegisters)(TileBuilder *builder, int64_t registers, bool isMore); // of this warp's threads
  // Clusters: blocks of the kernel along each axis of the grid; where this block is among them along one axis, i32.
  void (*setCluster)(MlirOperation function, const int64_t sizes[3]);
  MlirValue (*clusterPlace)(TileBuilder *builder, int axis);
  void (*clusterBarrier)(TileBuilder *builder);
  // `block`: its number, i32. `ordersMemory`: what threads did before is ordered before what waits for the barrier.
  void (*barrierArriveAt)(TileBuilder *builder, MlirValue barrier, MlirValue block, int64_t count, bool ordersMemory);
  // As barrierWait, where threads of other blocks have arrived, too, and order memory.
  void (*barrierWaitForBlocks)(TileBuilder *builder, MlirValue barrier, MlirValue parity);
  // Tensor memory. Addresses are words, lane << 16 | column. By one warp: the machine writes the address to `place`
  // (ptr<3>). Loads of 32 lanes, a word of each column for each lane, which have come once they went through the wait.
  void (*tensorAllocate)(TileBuilder *builder, MlirValue place, int64_t columns);
  void (*tensorGiveBack)(TileBuilder *builder, MlirValue address, int64_t columns);
  void (*tensorFence)(TileBuilder *builder, bool isAfter); // what others told; else before this thread tells others
  void (*tensorLoad)(TileBuilder *builder, MlirValue address, int64_t columns, MlirValue *words);
  void (*tensorWait)(TileBuilder *builder, intptr_t count, MlirValue *words);
  void (*tensorStore)(TileBuilder *builder, MlirValue address, int64_t columns, const MlirValue *words);
  void (*tensorWaitStores)(TileBuilder *builder);
  void (*tensorCommit)(TileBuilder *builder, MlirValue barrier); // arrives once this thread's products are done
} GpuEngines;

// Each function emits at the builder's place. Words are i32. Null where the machine has no such thing.
typedef struct GpuVocabulary {
  const char *isa, *chip;                                                          // the chip where a module names none
  unsigned privateSpace;                                                           // where a thread's own memory is
  MlirAttribute (*target)(const TileBuilder *builder, const TileMachine *machine); // of the gpu.module
  // Marks `function` as a kernel of so many threads in a block.
  void (*markKernel)(MlirOperation function, int64_t threads);
  void (*limitRegisters)(MlirOperation function, int64_t registers); // of a thread; null: the assembler is not told
  MlirValue (*threadId)(TileBuilder *builder);
  MlirValue (*programId)(TileBuilder *builder, int axis);
  MlirValue (*numPrograms)(TileBuilder *builder, int axis);
  void (*barrier)(TileBuilder *builder);                      // of the block; memory accesses are ordered across it
  MlirValue (*powerOfTwo)(TileBuilder *builder, MlirValue x); // 2^x of f32 to 2 ulp, subnormals 0; null: math.exp2
  MlirValue (*shuffleXor)(TileBuilder *builder, MlirValue word, int64_t mask);    // from lane ^ mask
  MlirValue (*shuffleFrom)(TileBuilder *builder, MlirValue word, MlirValue lane); // from that lane
  bool (*mma)(TileBuilder *builder, MlirOperation at, const GpuProduct *product); // false after a diagnostic
  // Atoms with this prefix start a loop's sums, all zero, by products of zeros: one instruction for a whole fragment.
  // Null: a move for each register.
  const char *zeroingAtoms;
  // Four (or `count`) 8x8 matrices of 16-bit elements from rows of 16 bytes, whose addresses the lanes hold: `count`
  // words. The other way round for stores. Null: not there.
  void (*loadMatrix)(TileBuilder *builder, MlirValue address, int count, bool transposed, MlirValue *words);
  void (*storeMatrix)(TileBuilder *builder, MlirValue address, int count, bool transposed, const MlirValue *words);
  // Asynchronous copies to shared memory: `bytes` bytes, read if `valid` (i1; null: true), else zero.
  void (*copyAsync)(TileBuilder *builder, MlirValue shared, MlirValue global, int64_t bytes, MlirValue valid);
  void (*commitCopies)(TileBuilder *builder);
  void (*waitCopies)(TileBuilder *builder, int64_t pending); // groups that may still be under way
  // Memory from `base` on, which all lanes share, whose hardware checks bounds: a load outside gives zeros, a store
  // outside does nothing. `offset`: bytes, i32; values of 1, 2, 4, 8 or 16 bytes. Null: not there.
  MlirValue (*boundedMemory)(TileBuilder *builder, const TileMachine *machine, MlirValue base, int64_t bytes);
  MlirValue (*boundedLoad)(TileBuilder *builder, MlirType type, MlirValue memory, MlirValue offset);
  void (*boundedStore)(TileBuilder *builder, MlirValue value, MlirValue memory, MlirValue offset);
  const char *(*scope)(MlirStringRef scope); // LLVM's name of a memory scope: "block" -> "workgroup"
  void (*prefetch)(TileBuilder *builder, MlirValue address);
  const GpuEngines *engines; // null: none
} GpuVocabulary;

// What was converted; shared memory is that of one block of each kernel.
typedef struct GpuCounts {
  int64_t kernels, sharedBytes;
  int64_t apartBytes; // what it would be if every buffer had its own
} GpuCounts;

// The statistics of both passes.
extern const char *const gpuStatistics[];
// Converts every tile.kernel of the module that has a body, for the machine of the module
// (lib/analysis/machine_of_op.h), else of its kernels, else the vocabulary's chip. False after a diagnostic.
bool tileKernelsToGpu(MlirOperation module, MlirExtPass pass, const GpuVocabulary *vocabulary);

// The definition of convert-tile-to-DIALECT, which runs tileKernelsToGpu with the vocabulary of that dialect.
#define GPU_CONVERSION(dialect, vendor, function)                                                                      \
  {.argument = "convert-tile-to-" dialect,                                                                             \
   .summary = "Convert scheduled tile kernels to a gpu.module for an " vendor " chip",                                 \
   .anchor = builtinModuleOpName,                                                                                      \
   .options = (const MlirExtPassOption[]){TILE_CHIP_OPTION, {NULL}},                                                   \
   .statistics = gpuStatistics,                                                                                        \
   .dialects = (const char *const[]){"llvm", dialect, "gpu", "arith", "math", "scf", "ub", NULL},                      \
   .run = function}

//===--- for vocabularies -----------------------------------------------------===//
MlirValue gpuVectorOf(TileBuilder *builder, intptr_t count, const MlirValue *elements); // vector<count x type>
MlirValue gpuElementOf(TileBuilder *builder, MlirValue vector, intptr_t index);
// `count` elements, lowest bits first, as words of 32 bits; returns how many words. Sub-byte: `bits` of each i8.
intptr_t gpuWordsOf(TileBuilder *builder, intptr_t count, const MlirValue *elements, unsigned bits, MlirValue *words);
