// What the files of this room share: how the lowering holds a tile value of a kernel while the kernel becomes a
// function.
//
// Every value of the kernel has a VecRecord. A tile is
//   Lazy       nothing is emitted yet; a user that needs elements evaluates the expression at their coordinates,
//   Registers  vectors of `lanes` elements, rows × chunks, as SSA values (accumulators, small loop-carried tiles),
//   Memory     a buffer of the function (results of reductions, large loop-carried tiles).
// A view or buffer is a VecAccess: how the coordinates of a tile become indices of a memref, and where its edges are.
// Stores, reductions, products, copies and yields ("roots") generate the loops. Inside the loops a VecBody evaluates
// expressions and remembers the results.
#pragma once

#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/ir/builder.h"
#include "lib/ir/emit/number.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/layout/layout.h"
#include "upstream/arith.h"
#include "upstream/vector.h"

enum {
  MaxRank = TILE_LAYOUT_MAX_AXES,
  Lanes = 16,              // elements of a vector: 16 f32 are one register of AVX-512 and two of AVX2
  MaxDigits = 4,           // modes of one dimension of a buffer's layout
  MaxRegisters = 32,       // vectors a tile held in registers may have
  LineBytes = 64,          // of a cache: buffers begin at one
  LocalStackBytes = 16384, // buffers up to this size (all together) live on the stack
};

typedef struct VecShape {
  intptr_t rank;
  int64_t sizes[MaxRank];
  MlirType element;
} VecShape;

// An index: `base` (null: 0) plus a constant.
typedef struct VecCoord {
  MlirValue base;
  int64_t offset;
} VecCoord;

// Position p in a dimension adds (p / divisor) % modulus to index `memrefDim` of the memref (modulus 0: no wrap).
typedef struct VecDigit {
  int64_t divisor, modulus;
  intptr_t memrefDim;
} VecDigit;

// Dimension d of a tile: coordinate c is at position p = origin + c * stride, and inside while low <= p < size.
typedef struct VecAccessDim {
  VecCoord origin;
  int64_t stride;
  intptr_t numDigits;
  VecDigit digits[MaxDigits];
  MlirValue size;         // null: any position is inside
  bool mayUnder, mayOver; // positions below 0, or from `size` on, are possible
  int64_t originMultiple; // the origin is a multiple of this (0: it is 0)
} VecAccessDim;

// How narrow elements lie in a word: (position / divisor) % count of an axis, times the stride, in elements.
typedef struct VecPackingRun {
  intptr_t axis;
  int64_t divisor, count, stride;
} VecPackingRun;

typedef struct VecPacking {
  int64_t width; // of an element, in bits
  intptr_t numRuns;
  VecPackingRun runs[MaxRank];
} VecPacking;

typedef struct VecAccess {
  MlirValue memref;
  VecShape shape; // of the tile
  VecAccessDim dims[MaxRank];
  MlirValue fixed[MaxRank]; // by memref dimension; null: 0
  intptr_t memrefRank;
  int64_t strides[MaxRank]; // of the memref, in elements; dynamic: mlirShapedTypeGetDynamicStrideOrOffset()
  double pad;
  MlirType storage; // element type of the memref (i8 for i1 tiles held in memory)
  MlirValue root; // the kernel parameter or tile.alloc behind the memref, in the kernel; null: a buffer of the lowering
  const VecPacking *packing; // null: elements lie as they are
  int64_t steps[MaxRank];    // views: how far the origin moves by one tile index
} VecAccess;

typedef enum VecRecordKind {
  VecRecord_Scalar,
  VecRecord_Lazy,
  VecRecord_Registers,
  VecRecord_Memory,
  VecRecord_Access, // views and buffers
} VecRecordKind;

typedef struct VecRecord {
  VecRecordKind kind;
  MlirValue source;  // in the kernel
  VecShape shape;    // tiles
  MlirValue value;   // scalar or memref: in the function
  MlirOperation op;  // Lazy: what defines it
  VecAccess *access; // Access, Memory, and Lazy loads
  MlirValue *registers;
  bool isShared;    // other values use the same record: its memory must not be overwritten
  uint64_t visited; // stamp of the last walk that met it
} VecRecord;

// The widths that the code of a kernel is made for: those of the machine, unless the kernel's schedule states others.
typedef struct VecWidths {
  int64_t lanes;         // elements of a vector: equal on all machines, as is the order of a reduction
  int64_t rows, columns; // of the register tile of a product whose result is in memory: schedule key `register`
  int64_t unroll;        // steps of k in one iteration of a product's loop
  int64_t vectorBytes;   // of a register; 0: not known
  bool hasDot[TileNumDots];
} VecWidths;

// Tile registers of a product: rows of A's and of the sums, groups along k of A's and B's.
typedef struct VecTileShape {
  int64_t rows, groups;
} VecTileShape;

typedef struct VecLowering {
  MlirContext context;
  MlirOperation kernel;
  MlirValue programIds[3], gridSizes[3]; // index
  TileBuilder entry;                     // once per call: where buffers are made
  TileBuilder exit;                      // where buffers are released
  TileBuilder builder;                   // where code goes now
  VecWidths widths;
  MlirValue tileKinds, mayUseTiles; // what tessera_tiles gave, and whether it is any; null: no product uses them
  MlirValue tileMemory;             // for configurations
  VecTileShape tileShape;           // loaded where the function begins
  int64_t stackBytes;
  int numConstants; // globals made so far
  TileOps inlined;  // copies of device functions, one per call
  int callDepth;
  uint64_t walks;
  VecRecord **spilled; // registers that are read from memory while a root is emitted
  intptr_t numSpilled, maxSpilled;
  TileTable records; // VecRecord by value of the kernel
  TileArena arena;
} VecLowering;

// One place where expressions are evaluated: a loop body.
typedef struct VecEvaluation {
  const VecRecord *record;
  VecCoord coords[MaxRank];
  intptr_t axis;
  int64_t width;
  MlirValue result;
} VecEvaluation;

typedef struct VecBody {
  VecLowering *lowering;
  bool inside; // no access leaves its memref: no masks
  VecEvaluation *done;
  intptr_t numDone;
} VecBody;

//===--- records.c: values, shapes, buffers -----------------------------------===//
VecLowering vecLoweringCreate(MlirOperation kernel, const VecWidths *widths);
bool vecReadSchedule(VecLowering *lowering); // of the kernel; false after a diagnostic
void vecLoweringDestroy(VecLowering *lowering);
// Memory that lives as long as the lowering.
void *vecLoweringAllocate(VecLowering *lowering, size_t bytes);
VecRecord *vecRecordOf(VecLowering *lowering, MlirValue source);                 // null when there is none
void vecRecordAlias(VecLowering *lowering, MlirValue source, VecRecord *record); // a second value of the record
VecRecord *vecRecordScalar(VecLowering *lowering, MlirValue source, MlirValue value);
VecRecord *vecRecordNew(VecLowering *lowering, MlirValue source, VecRecordKind kind);
VecRecord *vecRecordMemory(VecLowering *lowering, MlirValue source, VecAccess *access);
MlirValue vecScalarOf(VecLowering *lowering, MlirValue source); // null when it is none
bool vecIsTile(MlirType type);
// Whether a keyword, which an op may lack, is `text`; element `i` of an i64 array.
static inline bool vecKeywordIs(MlirAttribute keyword, const char *text) {
  return !mlirAttributeIsNull(keyword) && tileStringEquals(mlirStringAttrGetValue(keyword), text);
}
VecShape vecShapeOf(MlirType tile);
int64_t vecShapeCount(const VecShape *shape);
int64_t vecShapeLast(const VecShape *shape); // size of the last dimension
int64_t vecShapeRows(const VecShape *shape); // product of the others
int64_t vecBitsOf(MlirType element);
int64_t vecBytesOf(MlirType element);                  // that it takes in memory
MlirType vecVectorOf(MlirType element, int64_t width); // width 0: the element itself
bool vecFitsRegisters(const VecLowering *lowering, const VecShape *shape);
int64_t vecNumRegisters(const VecLowering *lowering, const VecShape *shape);
// A dense memref as a tile in memory.
VecAccess *vecDenseAccess(VecLowering *lowering, const VecShape *shape, MlirValue memref, MlirType storage);
// The type that holds an element in the function's own memory: the element's own, or the next larger integer of 8, 16,
// 32, … bits, because a vector of elements that do not fill such a word would be packed.
bool vecIsOddlyWide(MlirType element);
MlirType vecStorageOf(MlirType element);
// A buffer of the function, row-major, contents undefined.
VecAccess *vecBufferNew(VecLowering *lowering, const VecShape *shape);
MlirValue vecMemrefNew(VecLowering *lowering, MlirType type, int64_t bytes);

//===--- coordinates.c: indices -----------------------------------------------===//
static inline VecCoord vecCoordConstant(int64_t offset) { return (VecCoord){{NULL}, offset}; }
static inline VecCoord vecCoordOf(MlirValue base) { return (VecCoord){base, 0}; }
bool vecCoordEquals(VecCoord a, VecCoord b);
VecCoord vecCoordPlus(VecCoord a, int64_t offset);
VecCoord vecCoordSum(TileBuilder *builder, VecCoord a, VecCoord b);
VecCoord vecCoordTimes(TileBuilder *builder, VecCoord a, int64_t factor);
VecCoord vecCoordDivide(TileBuilder *builder, VecCoord a, int64_t divisor);
VecCoord vecCoordModulo(TileBuilder *builder, VecCoord a, int64_t modulus);
MlirValue vecCoordValue(TileBuilder *builder, VecCoord coord);
MlirValue vecBuildAnd(TileBuilder *builder, MlirValue a, MlirValue b);          // i1; null is true
MlirValue vecBuildSplat(TileBuilder *builder, MlirValue scalar, int64_t width); // width 0: itself
MlirValue vecBuildZero(TileBuilder *builder, MlirType type);                    // scalar or vector

//===--- memory/load_store.c: views and buffers ------------------------------------------===//
bool vecAccessOfView(VecLowering *lowering, MlirOperation view);
bool vecAccessOfBuffer(VecLowering *lowering, MlirOperation alloc);
bool vecAccessOfReinterpretation(VecLowering *lowering, MlirOperation op); // slice, transpose, slot of a buffer
// The tile of `access` at tile indices operand [first, first + rank) of `op`.
VecAccess *vecAccessAt(VecLowering *lowering, const VecAccess *access, MlirOperation op, intptr_t first);
bool vecAccessMayLeave(const VecAccess *access);
// True where the whole tile is inside; null when it always is.
MlirValue vecAccessIsInside(TileBuilder *builder, const VecAccess *access);
// Elements along `axis` (width 0: one) from `coords` on.
MlirValue vecAccessLoad(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width);
void vecAccessStore(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width,
                    MlirValue value);
MlirValue vecAccessLoadScalar(VecBody *body, const VecAccess *access,
                              const VecCoord *coords); // as stored; the padding outside
MlirValue vecAccessElementInside(TileBuilder *builder, const VecAccess *access, const VecCoord *coords); // null: it is
MlirValue vecBuildLane(TileBuilder *builder, MlirValue vector, int64_t lane);
MlirValue vecBuildLanes(TileBuilder *builder, MlirValue vector, int64_t from, int64_t width); // neighbours, as a vector
bool vecPackAccess(VecLowering *lowering, MlirOperation view,
                   VecAccess *access); // memory/packed.c; false after a diagnostic
struct TileLayout;
bool vecRunsOfPacking(const struct TileLayout *layout, VecPacking *packing); // false: not made of plain strides
MlirValue vecPackedShift(TileBuilder *builder, const VecAccess *access,
                         const VecCoord *coords); // of an element in its word
MlirValue vecPackedLoad(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width);
void vecPackedStore(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width,
                    MlirValue value);
void vecAccessPrefetch(VecLowering *lowering, const VecAccess *access, bool write);
bool vecAccessIsContiguous(const VecAccess *access, intptr_t axis, int64_t width);
MlirValue vecAccessMask(VecBody *body, const VecAccess *access, const VecCoord *coords, intptr_t axis, int64_t width);
// The tile as a memref of its own that begins where the tile begins, so that addresses in a loop are a base and small
// numbers. LLVM spills if each step of k computes new indices (512³ in blocks: 143 against 225 GFLOP/s). Null if
// nothing is gained, or if the tile may leave its memref.
VecAccess *vecAccessFromOrigin(VecLowering *lowering, const VecAccess *access);
// memref.extract_strided_metadata of its memref: base, offset, sizes…, strides….
MlirOperation vecAccessMetadata(TileBuilder *builder, const VecAccess *access);
intptr_t vecAccessIndices(TileBuilder *builder, const VecAccess *access, const VecCoord *coords, MlirValue *indices);

//===--- expressions.c: evaluation --------------------------------------------===//
VecBody vecBodyBegin(VecLowering *lowering, bool inside);
void vecBodyEnd(VecBody *body);
MlirValue vecEvaluate(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width);
// Evaluates one lane after the other, for a record that cannot be read as a vector.
MlirValue vecEvaluateLanes(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width);
MlirValue vecEvaluateOperand(VecBody *body, MlirValue source, const VecCoord *coords, intptr_t axis, int64_t width);
bool vecIsEvaluable(MlirOperation op); // an op that may stay lazy
bool vecIsShapeOp(MlirOperation op);   // broadcast, transpose, slice, reshape of tiles
bool vecIsElementwise(MlirOperation op);
MlirValue vecConvertElement(TileBuilder *builder, MlirValue value, MlirType element, int64_t width);
// The records that evaluating `record` meets, each once, operands first. Memory of the lowering.
typedef struct VecRecords {
  VecRecord **items;
  intptr_t count;
} VecRecords;
VecRecords vecRecordsBehind(VecLowering *lowering, VecRecord *record);
bool vecIsRead(const VecRecord *record); // a load, or a tile in memory
// The value that a body has evaluated at a place (null: none), and how the body remembers one.
MlirValue vecRemembered(const VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                        int64_t width);
void vecRemember(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width,
                 MlirValue result);
bool vecMayLeave(VecLowering *lowering, VecRecord *record);       // some access that is read may
MlirValue vecAllInside(VecLowering *lowering, VecRecord *record); // none does, for the whole tile; null: that is known
// Registers can be read only at coordinates that are constants. Before a root whose loops run over coordinates, spill
// copies the registers behind `record` to memory (`unrolled`: only if they are not read chunk by chunk). unspill ends
// that.
intptr_t vecSpill(VecLowering *lowering, VecRecord *record, bool unrolled); // returns the mark for unspill
void vecUnspill(VecLowering *lowering, intptr_t mark);
// How many elements of the row at `coords` can be read from `record` (may be null) and written to `target` (may be
// null) in vectors of `width` without masks: a multiple of `width`; null: all. Evaluates nothing.
MlirValue vecUnmaskedCount(VecLowering *lowering, VecRecord *record, const VecAccess *target, const VecCoord *coords,
                           int64_t width);
// The element, a multiple of `width` and perhaps beyond the end, from which on the row of `record` at `coords` has one
// value, because the row reads only padding there; null if there is no such element.
MlirValue vecPaddedFrom(VecLowering *lowering, VecRecord *record, const VecCoord *coords, int64_t width);
// How an op that is evaluated at a place reads its operand: Exact: at `operandCoords` for every place of the row;
// Chunk: for this vector only; Lanes: not as a vector. Axis -1: the operand is the same in all lanes.
typedef enum VecPlacement { VecPlacement_Exact, VecPlacement_Chunk, VecPlacement_Lanes } VecPlacement;
VecPlacement vecPlaceInOperand(VecLowering *lowering, MlirOperation op, const VecCoord *coords, intptr_t axis,
                               int64_t width, VecCoord *operandCoords, intptr_t *operandAxis);

//===--- flow/loops.c: roots that write tiles --------------------------------------===//
typedef void (*VecVectorVisitor)(VecBody *body, VecRecord *source, const VecAccess *target, const VecCoord *coords,
                                 int64_t width, void *data);
// Calls `visit` inside loops for the vectors along the last dimension that cover `target`. A vector is masked only if
// `source` or `target` may leave their memory. `visit` gets `target` with the edges that are still possible there.
void vecForEachVector(VecLowering *lowering, VecRecord *source, const VecAccess *target, VecVectorVisitor visit,
                      void *data);
void vecWriteTile(VecLowering *lowering, VecRecord *record, const VecAccess *target);
void vecAddToTile(VecLowering *lowering, VecRecord *record, const VecAccess *target,
                  MlirStringRef combine); // atomically
// writeTile where source and target are contiguous along different axes (flow/squares.c); `otherwise` emits what is to
// be done where the tile crosses an edge. False, nothing emitted, where there is no need.
bool vecWriteTransposed(VecLowering *lowering, VecRecord *record, const VecAccess *target, void (*otherwise)(void *),
                        void *data);
// writeTile to a target that has groups of rows side by side (products/groups.c); false, nothing emitted, where it has
// not.
bool vecWriteInterleaved(VecLowering *lowering, VecRecord *record, const VecAccess *target);
VecAccess *vecMaterialize(VecLowering *lowering, VecRecord *record, MlirType element); // null element: as it is
void vecRecordCopy(VecLowering *lowering, VecRecord *record); // a lazy one becomes what it is now, in memory
MlirValue *vecEvaluateRegisters(VecLowering *lowering, VecRecord *record);
// The buffer behind `value` that a result of the same shape may overwrite element by element, because no other op reads
// the buffer afterwards. Null if there is none.
VecAccess *vecInPlaceTarget(VecLowering *lowering, MlirValue value);
// A record that belongs to no value of the kernel: `access` as a tile in memory.
VecRecord *vecRecordOfAccess(VecLowering *lowering, VecAccess *access);
// Moves the builder to the end of `block`; returns where it was.
TileBuilder vecEnter(VecLowering *lowering, MlirBlock block);
MlirOperation vecBuildIf(TileBuilder *builder, MlirValue condition, intptr_t count, const MlirType *types,
                         MlirBlock *thenBlock, MlirBlock *elseBlock);
// A loop without results; fill its body with a builder at its end, then tileBuildYield.
MlirBlock vecBuildLoop(TileBuilder *builder, MlirValue lower, MlirValue upper, int64_t step);

//===--- flow/per_element.c: roots that work on one element at a time ------------------------------------===//
typedef void (*VecElementVisitor)(VecBody *body, const VecCoord *coords, void *data);
// Calls `visit` inside loops over the coordinates of `shape`. But: dimension `skipped` stays at 0 (-1: none).
void vecForEachElement(VecLowering *lowering, const VecShape *shape, VecElementVisitor visit, void *data);
void vecForEachElementBut(VecLowering *lowering, const VecShape *shape, intptr_t skipped, VecElementVisitor visit,
                          void *data);
// A loop over `size` coordinates (none for one); returns the builder for vecCloseElements.
TileBuilder vecOpenElements(VecLowering *lowering, int64_t size, VecCoord *coord);
void vecCloseElements(VecLowering *lowering, int64_t size, TileBuilder before);
intptr_t vecSpillOperands(VecLowering *lowering,
                          MlirOperation op); // all tiles among them; returns the mark for unspill
// vecForEachElement where the operands of `op` can be read at any place.
void vecForEachElementOf(VecLowering *lowering, MlirOperation op, const VecShape *shape, VecElementVisitor visit,
                         void *data);
MlirValue vecElementAt(VecBody *body, MlirValue source, const VecCoord *coords);
VecShape vecShapeOfValue(MlirValue value); // a scalar: rank 0
// The code between openIf and closeIf runs if `condition` holds; null: always.
TileBuilder vecOpenIf(VecLowering *lowering, MlirValue condition);
void vecCloseIf(VecLowering *lowering, MlirValue condition, TileBuilder before);
bool vecLowerRandom(VecLowering *lowering, MlirOperation op);
bool vecLowerSort(VecLowering *lowering, MlirOperation op);
bool vecLowerTopk(VecLowering *lowering, MlirOperation op);
bool vecLowerMemrefAt(VecLowering *lowering, MlirOperation op);
bool vecLowerAssert(VecLowering *lowering, MlirOperation op);
bool vecLowerPrint(VecLowering *lowering, MlirOperation op);
bool vecLowerConvertType(VecLowering *lowering, MlirOperation op);
bool vecLowerBitcast(VecLowering *lowering, MlirOperation op);
// A tile.bitcast between words of 32 bits and bytes, which its users evaluate.
bool vecIsWords(MlirOperation op);
MlirValue vecEvaluateWords(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width);
bool vecLowerHistogram(VecLowering *lowering, MlirOperation op);

//===--- flow/scheduled.c: tokens and layouts, which one thread does not need ----------------------------===//
// Users of the result of a tile.convert_layout get its operand. False after a diagnostic if the kernel needs more than
// one thread.
bool vecScheduleForOne(MlirOperation kernel);
bool vecLowerCopyAsync(VecLowering *lowering, MlirOperation op);
bool vecLowerJoin(VecLowering *lowering, MlirOperation op);
bool vecLowerFence(VecLowering *lowering, MlirOperation op);
bool vecLowerNothing(VecLowering *lowering, MlirOperation op);

//===--- runtime.c: calls of lib/runtime ----------------------------------------------------------===//
// A call of a function that the module declares at its first use; a null result type: none.
MlirOperation vecCallFunction(VecLowering *lowering, TileBuilder *builder, const char *name, intptr_t count,
                              const MlirValue *operands, MlirType result);
void vecCallRuntime(VecLowering *lowering, const char *name, intptr_t count, const MlirValue *operands);
// An intrinsic of LLVM whose result has the type of the first operand.
MlirValue vecCallIntrinsic(TileBuilder *builder, const char *name, intptr_t count, MlirValue *operands);
MlirValue vecPointerOfAddress(TileBuilder *builder, MlirValue address); // i64
MlirValue vecPointerOfBuffer(TileBuilder *builder, MlirValue memref);   // of offset 0
// The descriptor of a memref as a struct of LLVM; a memref of that type whose memory begins at `pointer`, of `sizes`
// and `strides` (i64).
MlirType vecDescriptorType(MlirContext context, intptr_t rank);
MlirValue vecMemrefOfPointer(TileBuilder *builder, MlirType type, MlirValue pointer, const MlirValue *sizes,
                             const MlirValue *strides);
MlirValue vecPointerOfText(VecLowering *lowering, const char *text);
// Reports "file:line:column: message detail" as a failure of the program (lib/runtime/call.h). The code may return if
// nobody caught the failure.
void vecRaiseAt(VecLowering *lowering, MlirOperation op, const char *message, MlirStringRef detail);

//===--- ops/reductions.c, ops/folds.c, memory/gather.c, products/blocks.c, flow/structured.c, body.c, function.c
//------------------------===//
// The neutral element of input `input` of a reduce or scan, a scalar: an element of `neutral`, or what `operation`
// says; null when both are null or `operation` has none.
MlirValue vecNeutralElement(TileBuilder *builder, MlirAttribute neutral, MlirAttribute operation, intptr_t input,
                            MlirType element);
bool vecLowerReduceByElement(VecLowering *lowering, MlirOperation op);
// The lanes of a vector, combined as `word` says ("#vector.kind<add>"), in any order.
MlirValue vecBuildReduction(TileBuilder *builder, MlirType element, MlirValue vector,
                            VectorCombiningKind word); // sums, maxima, … of one vector
bool vecLowerReduce(VecLowering *lowering, MlirOperation op);
bool vecLowerScan(VecLowering *lowering, MlirOperation op);
bool vecLowerGather(VecLowering *lowering, MlirOperation op);
MlirValue vecEvaluateGather(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width);
// A memref as a view of tiles of one element; null after a diagnostic.
VecAccess *vecAccessOfMemref(VecLowering *lowering, MlirOperation op, MlirValue source);
bool vecLowerScatter(VecLowering *lowering, MlirOperation op);
bool vecLowerAtomicRmw(VecLowering *lowering, MlirOperation op);
bool vecLowerAtomicCas(VecLowering *lowering, MlirOperation op);
bool vecLowerAtomicLoad(VecLowering *lowering, MlirOperation op);
bool vecLowerAtomicStore(VecLowering *lowering, MlirOperation op);
bool vecLowerAtomicWait(VecLowering *lowering, MlirOperation op);
bool vecLowerMma(VecLowering *lowering, MlirOperation op);
// sum += lhs * rhs, all in memory, of one element type, never beyond it.
void vecMultiplyInto(VecLowering *lowering, VecRecord *lhs, VecRecord *rhs, VecRecord *sum);
bool vecLowerMmaScaled(VecLowering *lowering, MlirOperation op);
// products/fours.c: sums of products of four neighbours of bytes, evaluated by their users; an arith.addi of one (null:
// another op, or not a whole vector); a reduction of lanes of 16 rows at once (false: another one).
bool vecIsFours(MlirOperation op);
MlirValue vecEvaluateFours(VecBody *body, VecRecord *record, const VecCoord *coords, intptr_t axis, int64_t width);
MlirValue vecEvaluateAddedFours(VecBody *body, const VecRecord *record, const VecCoord *coords, intptr_t axis,
                                int64_t width);
bool vecLowerTurnedSums(VecLowering *lowering, MlirOperation op);
bool vecLowerCall(VecLowering *lowering, MlirOperation op);
bool vecLowerFor(VecLowering *lowering, MlirOperation op);
bool vecLowerIf(VecLowering *lowering, MlirOperation op);
bool vecLowerWhile(VecLowering *lowering, MlirOperation op);
// A copy of a tile between a view and a buffer; the view's indices are `op`'s operands from `first` on.
bool vecCopy(VecLowering *lowering, MlirOperation op, MlirValue source, MlirValue destination, intptr_t first);
bool vecLowerBlock(VecLowering *lowering, MlirBlock block); // all but its terminator
// True if the memory that `load` reads may be written before the last use of a value computed from the load.
bool vecIsOverwrittenBeforeUse(MlirOperation load);
MlirValue tileMemoryRoot(MlirValue value); // the parameter or tile.alloc behind a view, buffer or memref; in the kernel
// True if evaluating the result of `op` at each use would repeat expensive work.
bool vecIsWorthStoring(VecLowering *lowering, MlirOperation op);
bool vecHasHeavyOps(VecLowering *lowering, VecRecord *record); // evaluating `record` calls a function such as math.exp
bool vecLowerLazy(VecLowering *lowering,
                  MlirOperation op); // its result waits for its users, unless that would repeat work
bool vecLowerKernel(MlirOperation kernel, const VecWidths *widths, bool hasPlainArguments);
