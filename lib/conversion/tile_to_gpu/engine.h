// What the files of this room share: how a value of a kernel is held while its kernel becomes a device function.
//
// Every value of the kernel has a Record:
//   Number   of a scalar one value of the function (the same in all threads); of a tile one value per register of its
//            layout, in the order of the layout's `reg` positions,
//   Memory   a memref: pointer, sizes, strides and what is known of them,
//   View     a memory with the view's type and the part of the address that its fixed indices give,
//   Buffer   shared memory at the offset that its tile.alloc says,
//   Barrier  a ring of barriers in shared memory, and how many arrivals complete a round,
//   Token    asynchronous copies.
// Places in shared memory, barriers and the groups that a wait counts are in the kernel already:
// tile-plan-shared-memory, tile-insert-barriers and tile-count-waits wrote them. No op exchanges elements between warps
// any more: tile-exchange-in-shared-memory made stores and loads of that. The function's body is arith, math and scf on
// scalars, and llvm for memory: what upstream's passes lower. Which element a register holds follows from the layout
// (maps.c): a part that depends on the thread, computed once at the function's entry, and a constant part.
#pragma once

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/analysis/accesses.h"
#include "lib/analysis/facts.h"
#include "lib/analysis/scratch.h"
#include "lib/conversion/tile_to_gpu/gpu.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/table.h"
#include "lib/layout/layout.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"
#include "upstream/math.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

enum { MaxRank = TILE_LAYOUT_MAX_AXES, SharedSpace = 3, GlobalSpace = 1, SharedAlign = 1024 };

struct BufferLoad;

typedef struct Memory {
  MlirValue base; // llvm.ptr
  intptr_t rank;
  MlirType element;
  MlirValue sizes[MaxRank], strides[MaxRank]; // index; strides in elements
  TileKnownMemory facts;
  MlirValue root; // in the kernel: the parameter or tile.memref_at behind it; null: unknown
} Memory;

// Narrow elements in the words of a memory: how many a word spans along each axis, and in which order.
typedef struct Packing {
  TileLayout layout;
  unsigned width;
  int64_t extents[MaxRank];
} Packing;

typedef struct View {
  Memory memory;
  MlirOperation op; // the tile.view; null: a part of a buffer, which the view has one tile of
  MlirType type;
  intptr_t dims[MaxRank]; // of the memory, by axis
  MlirValue inside;       // i1: the fixed indices are; null: there are none
  const Packing *packing; // null: elements are the memory's
} View;

typedef struct Buffer {
  MlirType type;     // without stages
  MlirValue base;    // llvm.ptr<3>
  TileLayout layout; // offsets, of the type
  int64_t stages, stageBytes;
  MlirValue ring, stage; // of one stage of a ring: the ring's base and the stage's number, i32; null: no ring
  int64_t align;
  int64_t column; // in tensor memory, where there is no base
} Buffer;

typedef enum RecordKind {
  Record_Number, // a scalar, or a tile
  Record_Memory,
  Record_View,
  Record_Buffer,
  Record_Barrier,
  Record_Token
} RecordKind;

typedef struct Record {
  RecordKind kind;
  MlirType type;  // in the kernel
  intptr_t count; // registers; 1 of a scalar
  MlirValue *registers;
  struct BufferLoad
      *pending; // of a tile whose registers are read from a buffer when they are asked for; null: all read
  Memory *memory;
  View *view;
  Buffer *buffer;
  struct BarrierRing *ring;
} Record;

// A layout of values as places: coordinate = (thread ^ bits of the register) + its odd factors. `thread` null: 0.
typedef struct Map {
  TileLayout layout;
  intptr_t rank;
  MlirValue thread[MaxRank]; // i32
  uint32_t mask[MaxRank];    // bits that `thread` may have
} Map;

typedef struct Gpu {
  const TileMachine *machine;
  const GpuVocabulary *vocabulary;
  MlirContext context;
  MlirOperation kernel, module, function; // module: the gpu.module
  TileMemo *memo;                         // of the function
  TileBuilder builder;                    // where code goes now
  TileBuilder entry;                      // before everything that belongs to an op of the kernel
  int64_t warps, width, threads;
  unsigned laneBits, warpBits;
  MlirType i1, i8, i32, i64, index;
  MlirValue thread;  // i32
  TileTable records; // Record by value of the kernel
  TileArena arena;
  Map **maps;
  intptr_t numMaps;
  MlirValue shared;      // llvm.ptr<3>
  int64_t sharedBytes;   // in use so far
  int64_t apartBytes;    // of all buffers
  TileExchange exchange; // lanes and warps of this op
  bool hasFailed;        // after a diagnostic where the caller cannot stop
  MlirBlock body;        // of the function
  int64_t partition;     // number of its barrier; 0: code of the whole block
  bool isOneThread;      // a partition whose work one thread does
  struct TensorMap *tensorMaps;
  int64_t cluster[3]; // blocks of a cluster along each axis of the grid
  int64_t firstWarp;  // of the partition
  struct {
    int64_t columns;   // that the block allocates; 0: none
    MlirValue place;   // llvm.ptr<3>: where the machine writes the address
    MlirValue address; // i32; null: not known yet
  } tensor;            // tensor memory
} Gpu;

//===--- elements.c: records ------------------------------------------------------===//
void *gpuAllocate(Gpu *g, size_t bytes);     // zeroed; lives as long as the engine
Record *gpuRecord(Gpu *g, MlirValue source); // null when there is none
Record *gpuRecordNew(Gpu *g, MlirValue source, RecordKind kind);
void gpuRecordAlias(Gpu *g, MlirValue source, Record *record);
// A scalar is a tile of one register in the layout without bits: what does not matter to an op is not asked.
void gpuRecordScalar(Gpu *g, MlirValue source, MlirValue value);
MlirValue *gpuRecordTile(Gpu *g, MlirValue source); // room for its registers, to be filled
MlirValue gpuScalar(Gpu *g, MlirValue source);
MlirValue *gpuTile(Gpu *g, MlirValue source);
MlirValue gpuRegisterOf(Gpu *g, MlirValue source, intptr_t reg); // of a tile, or the scalar; null of a null source
void gpuRecordSame(Gpu *g, MlirValue source, MlirValue value);   // in all its registers
bool gpuIsTile(MlirType type);
MlirType gpuElementType(MlirType type); // of a tile its element
TileLayout gpuLayoutOf(MlirType type);
intptr_t gpuRegisters(MlirType type);

//===--- emit.c: arithmetic on scalars that folds constants, memory ---------------===//
void gpuEnter(Gpu *g, MlirBlock block); // code goes to its end from now on
MlirValue gpuI32(Gpu *g, int64_t value);
MlirValue gpuInteger(Gpu *g, MlirType type, int64_t value);
MlirValue gpuOp(Gpu *g, TileUpstream op, MlirType type, MlirValue a);
MlirValue gpuBinary(Gpu *g, TileUpstream op, MlirValue a, MlirValue b);
MlirValue gpuAdd(Gpu *g, MlirValue a, MlirValue b); // null operands count as 0
MlirValue gpuSub(Gpu *g, MlirValue a, MlirValue b);
MlirValue gpuMul(Gpu *g, MlirValue a, MlirValue b);
MlirValue gpuXor(Gpu *g, MlirValue a, MlirValue b);
MlirValue gpuAnd(Gpu *g, MlirValue a, int64_t mask);
MlirValue gpuShiftLeft(Gpu *g, MlirValue a, int64_t bits);
MlirValue gpuShiftRight(Gpu *g, MlirValue a, int64_t bits); // unsigned
MlirValue gpuCompare(Gpu *g, ArithCmpI predicate, MlirValue a, MlirValue b);
MlirValue gpuBoth(Gpu *g, MlirValue a, MlirValue b); // i1; null is true
MlirValue gpuNot(Gpu *g, MlirValue a);
MlirValue gpuSelect(Gpu *g, MlirValue condition, MlirValue a, MlirValue b);        // null condition is true
MlirValue gpuCast(Gpu *g, MlirValue value, MlirType type, bool isSigned);          // integers and index
MlirValue gpuAddress(Gpu *g, MlirValue base, MlirValue bytes);                     // bytes: i32 or i64; null: 0
MlirValue gpuElementAt(Gpu *g, MlirValue base, MlirValue place, MlirType element); // place: i32 or index, in elements
MlirValue gpuLoad(Gpu *g, MlirType type, MlirValue address, int64_t align);
void gpuStore(Gpu *g, MlirValue value, MlirValue address, int64_t align);
MlirRegion gpuRegion(Gpu *g, intptr_t count, const MlirType *types, MlirBlock *block); // of one block
// Code between the two runs where `condition` holds (null: always); gpuElse goes on where it does not.
typedef struct GpuIf {
  MlirOperation op;
  TileBuilder before;
} GpuIf;
GpuIf gpuIf(Gpu *g, MlirValue condition, intptr_t count, const MlirType *types);
void gpuElse(Gpu *g, GpuIf *branch, intptr_t count, const MlirValue *values);
void gpuEndIf(Gpu *g, GpuIf *branch, intptr_t count, const MlirValue *values, MlirValue *results);
// A loop of i32 from `low` to `high`, without results.
MlirValue gpuFor(Gpu *g, MlirValue low, MlirValue high, int64_t step, TileBuilder *before);
void gpuEndFor(Gpu *g, TileBuilder before);

//===--- elements.c: what elements are held as --------------------------------===//
// Held: f32 for tf32, the element itself otherwise (upstream's passes and ours lower what no machine has). Stored in
// memory: i8 for i1, i64 for index, a byte for what is narrower, the next power of two of bytes for other widths.
MlirType gpuHeldType(Gpu *g, MlirType element);
MlirType gpuStoredType(Gpu *g, MlirType element);
int64_t tileStoredBytes(MlirType element);
MlirValue gpuToStored(Gpu *g, MlirValue value, MlirType element);
MlirValue gpuFromStored(Gpu *g, MlirValue value, MlirType element);
bool gpuIsSmallFloat(MlirType element);               // 8 bits and fewer
unsigned gpuBits(MlirType element);                   // index: 64
MlirValue gpuConstant(Gpu *g, MlirAttribute element); // of an IntegerAttr or FloatAttr, as held
MlirValue gpuZero(Gpu *g, MlirType element);
// Elements as memory holds them, in one value: several as a vector.
MlirType gpuStoredTypeOf(Gpu *g, MlirType element, intptr_t count);
MlirValue gpuJoinElements(Gpu *g, MlirType element, intptr_t count, const MlirValue *values);
void gpuSplitElements(Gpu *g, MlirType element, intptr_t count, MlirValue stored, MlirValue *values);
// `count` elements in memory at once.
void gpuLoadElements(Gpu *g, MlirType element, intptr_t count, MlirValue address, int64_t align, MlirValue *values);
void gpuStoreElements(Gpu *g, MlirType element, intptr_t count, const MlirValue *values, MlirValue address,
                      int64_t align);
// As above, where `condition` holds (null: always): one instruction for all of them. `otherwise`: what is read
// elsewhere.
void gpuLoadWhere(Gpu *g, MlirValue condition, MlirType element, intptr_t count, MlirValue address, int64_t align,
                  MlirValue otherwise, MlirValue *values);
void gpuStoreWhere(Gpu *g, MlirValue condition, MlirType element, intptr_t count, const MlirValue *values,
                   MlirValue address, int64_t align);
MlirValue gpuAsInteger(Gpu *g, MlirValue value); // the bits of a held value, of its width; of an index i64
// A value of any element type as 32-bit words and back, for shuffles.
intptr_t gpuWords(Gpu *g, MlirValue value, MlirValue *words); // at most 2
MlirValue gpuFromWords(Gpu *g, const MlirValue *words, MlirType held);
MlirValue gpuShuffleXor(Gpu *g, MlirValue value, int64_t mask);
MlirValue gpuShuffleFrom(Gpu *g, MlirValue value, MlirValue lane);

//===--- maps.c: layouts as places --------------------------------------------===//
const Map *gpuMap(Gpu *g, const TileLayout *layout, intptr_t rank);
MlirValue gpuCoordinate(Gpu *g, const Map *map, intptr_t axis, intptr_t reg); // i32
// The same as a value (i32; null: 0) and a constant, their sum.
MlirValue gpuCoordinateParts(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, int64_t *constant);
uint32_t gpuRegisterCoordinate(const Map *map, intptr_t axis, intptr_t reg); // its constant part
// The first register whose element, in thread 0, is at that point; -1: none.
intptr_t gpuRegisterAt(const TileLayout *layout, TileLayoutPoint point);
// A layout may reach beyond its tile: whether (i1) the register's element is one of the tile's on these axes; null: it
// always is. What is void is never stored, never trapped on and never combined with elements.
enum { AllAxes = ~0u };
MlirValue gpuIsElement(Gpu *g, const Map *map, MlirType tile, uint32_t axes, intptr_t reg);
MlirValue gpuIsBelow(Gpu *g, const Map *map, intptr_t axis, intptr_t reg, int64_t size); // of one axis
bool gpuHasVoid(const TileLayout *layout, MlirType tile, uint32_t axes);
// True (i1) in one thread for each element; null: in all threads.
MlirValue gpuIsOwner(Gpu *g, const TileLayout *layout);
MlirValue gpuIsOwnerOf(Gpu *g, MlirType type); // of a tile; of a scalar as below
// True (i1) in one thread of the block or partition; null: it has one thread only.
MlirValue gpuIsElected(Gpu *g);

//===--- maps.c: shared memory ------------------------------------------------===//
void gpuBarrier(Gpu *g);
void gpuTakeShared(Gpu *g, int64_t offset, int64_t bytes); // the kernel has these bytes
// Where the tile.alloc says; false after a diagnostic.
bool gpuPlaceAlloc(Gpu *g, MlirOperation op, int64_t bytes, int64_t *offset, MlirValue *address);
// Reports that the op moves elements between threads: no op does when tile-exchange-in-shared-memory is through.
bool gpuMustExchange(MlirOperation op);
bool gpuMustBeExchanged(Gpu *g, MlirOperation op); // as a row
// The registers of a tile that must lie as `type` does; after a diagnostic at `op`, any.
const MlirValue *gpuTileLike(Gpu *g, MlirOperation op, MlirValue value, MlirType type);
// What tileMovesOf finds for the op in this kernel; null: elements would have to move between threads.
intptr_t *gpuMoves(Gpu *g, MlirOperation op, intptr_t operand, int64_t part);
// Where the elements of `layout` lie in a buffer of offsets: a layout whose axis 0 is the offset.
bool gpuOffsets(MlirOperation op, const TileLayout *layout, const TileLayout *offsets, MlirType shape,
                TileLayout *result);
MlirValue gpuBufferAddress(Gpu *g, const Buffer *buffer, const Map *places, intptr_t reg); // padding counted
// The buffer and its stages begin at multiples of `align`, as a swizzle of so many bytes needs; `what`: of the message.
bool gpuExpectAligned(MlirOperation op, const Buffer *buffer, int64_t align, uint32_t swizzleBytes, const char *what);

//===--- kernel.c ---------------------------------------------------------------------===//
void gpuLimitId(Gpu *g, MlirValue word, int64_t below); // says that an id is at least 0 and below
// The atom that a product names, and its name. An error lists the machine's atoms.
enum { GpuAtomName = 64 };
bool gpuFindAtom(const Gpu *g, MlirOperation product, char name[GpuAtomName], TileMachineAtom *atom, TileError *error);
MlirOperation gpuGlobal(TileBuilder *builder, const char *name, MlirType type); // internal to the module

//===--- report.c -----------------------------------------------------------------------===//
void gpuFail(Gpu *g, const char *text); // stops the program with a message

//===--- memrefs.c: memrefs and views ----------------------------------------------===//
// The tile.slice of a buffer: a view of the part. False after a diagnostic.
bool gpuSliceBuffer(Gpu *g, MlirOperation op);
// The whole buffer that the operand is; null after a diagnostic where it is a part of one.
const Buffer *gpuBufferOf(Gpu *g, MlirOperation op, MlirValue operand);
bool gpuAllocMemref(Gpu *g, MlirOperation op); // tile.alloc of a memref
// Elements from the memory's base to these positions (index) along `dims`; null: along the first dimensions.
MlirValue gpuOffset(Gpu *g, const Memory *memory, intptr_t count, const intptr_t *dims, const MlirValue *positions);
MlirValue gpuElementAddress(Gpu *g, const Memory *memory, MlirOperation op, intptr_t firstIndex);
bool gpuParameters(Gpu *g, MlirBlock body, MlirBlock entry);
intptr_t gpuParameterTypes(Gpu *g, MlirType type, MlirType *types); // of one kernel parameter

//===--- accesses.c: tiles of views in memory --------------------------------------===//
typedef struct Window {
  const View *view;
  MlirType element;
  MlirValue base;                        // address of the tile's element 0
  MlirValue strides[MaxRank];            // index: elements from one coordinate to the next
  MlirValue low[MaxRank], high[MaxRank]; // i32, null: no limit; coordinates that lie in memory
  MlirValue distance[MaxRank];           // i64, null: no limit but `high`; coordinates until memory ends
  MlirValue left[MaxRank];               // i32: the same, but between 0 and INT32_MAX
  MlirValue origins[MaxRank];            // index: positions of the tile's element 0
  intptr_t rank;
  TileRuns runs;  // elements that may be accessed at once
  int64_t vector; // how many of them the op accesses at once
} Window;
// At the op's indices. `memory`: the view, or the part of a buffer, that the op accesses.
Window gpuWindow(Gpu *g, MlirValue memory, MlirOperation op);
MlirValue gpuWindowMask(Gpu *g, const Window *window, const Map *map, intptr_t reg); // i1; null: inside
// The address of the register before, from which the next one is a sum away: two instructions, a product of 64 bits
// takes five. Begins as zeros.
typedef struct WindowWalk {
  MlirValue thread, address;
  int64_t constant;
  bool isKnown; // the axis and the thread's part of the address
} WindowWalk;
MlirValue gpuWindowAddress(Gpu *g, const Window *window, const Map *map, intptr_t reg, WindowWalk *walk); // null: alone
// Elements in a row that a thread holds, accessed at once: 2^n. slots[i], i < n: the register bit that moves by 2^i.
enum { MaxSlots = 4 };
int64_t gpuWindowVector(const Window *window, const TileLayout *layout, uint32_t *slots);
MlirValue gpuPadding(Gpu *g, const View *view);

//===--- ops: each lowers one kind; false after a diagnostic -----------------------===//
typedef bool (*GpuLower)(Gpu *g, MlirOperation op);
typedef struct GpuRow {
  int kind; // a TileOp; a TileUpstream in the rows of control flow, memrefs and elements
  GpuLower lower;
  bool needsEngines; // barriers in memory and what works beside the threads; refused on machines without
} GpuRow;
extern const GpuRow gpuMemoryRows[], gpuAccessRows[], gpuShapeRows[], gpuComputeRows[], gpuScheduledRows[],
    gpuBarrierRows[], gpuProductRows[], gpuPartitionRows[], gpuAtomicRows[], gpuGatherRows[], gpuReportRows[];
extern const GpuRow gpuControlRows[], gpuMemrefRows[], gpuElementRows[];
bool gpuLowerBlock(Gpu *g, MlirBlock block); // all but its terminator
bool gpuLowerElementwise(Gpu *g, MlirOperation op);
bool gpuRefuse(MlirOperation op, const char *why); // "not converted to a GPU yet: …"
bool gpuConvertKernel(MlirOperation kernel, MlirOperation module, const TileMachine *machine,
                      const GpuVocabulary *vocabulary, GpuCounts *counts);
