// What the files of this room share: how a tile value of a kernel is held while its kernel becomes a function.
//
// Every value of the kernel has a Record. A tile is
//   Lazy       nothing is emitted yet; whoever needs elements evaluates the expression at their coordinates,
//   Registers  vectors of `lanes` elements, rows × chunks, as SSA values (accumulators, loop-carried small tiles),
//   Memory     a buffer of the function (results of reductions, large loop-carried tiles).
// A view or buffer is an Access: how a tile's coordinates become indices of a memref, and where its edges are.
// Stores, reductions, products, copies and yields ("roots") generate the loops; inside them expressions are evaluated
// through a Body, which remembers what it has evaluated.
#ifndef TESSERA_CONVERSION_TILE_TO_VECTOR_LOWERING_H
#define TESSERA_CONVERSION_TILE_TO_VECTOR_LOWERING_H

#include "lib/ir/builder.h"
#include "lib/ir/support.h"

enum {
  MaxRank = 8,
  MaxDigits = 4,           // modes of one dimension of a buffer's layout
  MaxRegisters = 32,       // vectors a tile held in registers may have
  LocalStackBytes = 16384, // buffers up to this size (all together) live on the stack
};

typedef struct Shape {
  intptr_t rank;
  int64_t sizes[MaxRank];
  MlirType element;
} Shape;

// An index: `base` (null: 0) plus a constant.
typedef struct Coord {
  MlirValue base;
  int64_t offset;
} Coord;

// Position p in a dimension adds (p / divisor) % modulus to index `memrefDim` of the memref (modulus 0: no wrap).
typedef struct Digit {
  int64_t divisor, modulus;
  intptr_t memrefDim;
} Digit;

// Dimension d of a tile: coordinate c is at position p = origin + c * stride, and inside while low <= p < size.
typedef struct AccessDim {
  Coord origin;
  int64_t stride;
  intptr_t numDigits;
  Digit digits[MaxDigits];
  MlirValue size;         // null: any position is inside
  bool mayUnder, mayOver; // positions below 0, or from `size` on, are possible
  int64_t originMultiple; // the origin is a multiple of this (0: it is 0)
} AccessDim;

// How narrow elements lie in a word: (position / divisor) % count of an axis, times the stride, in elements.
typedef struct PackingRun {
  intptr_t axis;
  int64_t divisor, count, stride;
} PackingRun;

typedef struct Packing {
  int64_t width; // of an element, in bits
  intptr_t numRuns;
  PackingRun runs[MaxRank];
} Packing;

typedef struct Access {
  MlirValue memref;
  Shape shape; // of the tile
  AccessDim dims[MaxRank];
  MlirValue fixed[MaxRank]; // by memref dimension; null: 0
  intptr_t memrefRank;
  int64_t strides[MaxRank]; // of the memref, in elements; dynamic: mlirShapedTypeGetDynamicStrideOrOffset()
  double pad;
  MlirType storage; // element type of the memref (i8 for i1 tiles held in memory)
  MlirValue root;   // kernel parameter or tile.alloc it views, in the kernel (old); null for buffers of the lowering
  const Packing *packing; // null: elements lie as they are
  int64_t steps[MaxRank]; // views: how far the origin moves by one tile index
} Access;

typedef enum RecordKind {
  Record_Scalar,
  Record_Lazy,
  Record_Registers,
  Record_Memory,
  Record_Access, // views and buffers
} RecordKind;

typedef struct Record {
  RecordKind kind;
  MlirValue source; // in the kernel
  Shape shape;      // tiles
  MlirValue value;  // scalar or memref: in the function
  MlirOperation op; // Lazy: what defines it
  Access *access;   // Access, Memory, and Lazy loads
  MlirValue *registers;
  bool isShared;    // other values stand for it too: its memory must not be written over
  uint64_t visited; // stamp of the last walk that met it
} Record;

typedef struct Lowering {
  MlirContext context;
  MlirOperation kernel;
  MlirValue programIds[3], gridSizes[3]; // index
  TileBuilder entry;                     // once per call: where buffers are made
  TileBuilder exit;                      // … and given back
  TileBuilder builder;                   // where code goes now
  int64_t lanes;
  int64_t stackBytes;
  bool usesLocalMemory;
  int numConstants; // globals made so far
  TileOps inlined;  // copies of device functions, one per call
  int callDepth;
  uint64_t walks;
  Record **spilled; // registers that are read from memory while a root is emitted
  intptr_t numSpilled, maxSpilled;
  struct Table *table; // Record by kernel value
} Lowering;

// One place where expressions are evaluated: a loop body.
typedef struct Evaluation {
  const Record *record;
  Coord coords[MaxRank];
  intptr_t axis;
  int64_t width;
  MlirValue result;
} Evaluation;

typedef struct Body {
  Lowering *lowering;
  bool inside; // no access leaves its memref: no masks
  Evaluation *done;
  intptr_t numDone, capacity;
} Body;

//===--- records.c: values, shapes, buffers -----------------------------------===//
Lowering loweringCreate(MlirOperation kernel);
void loweringDestroy(Lowering *lowering);
// Memory that lives as long as the lowering.
void *loweringAllocate(Lowering *lowering, size_t bytes);
Record *recordOf(Lowering *lowering, MlirValue source);                 // null when there is none
void recordAlias(Lowering *lowering, MlirValue source, Record *record); // `source` stands for the same
Record *recordScalar(Lowering *lowering, MlirValue source, MlirValue value);
Record *recordNew(Lowering *lowering, MlirValue source, RecordKind kind);
Record *recordMemory(Lowering *lowering, MlirValue source, Access *access);
MlirValue scalarOf(Lowering *lowering, MlirValue source); // null when it is none
bool isTile(MlirType type);
int64_t integerAttribute(MlirOperation op, const char *name);
Shape shapeOf(MlirType tile);
int64_t shapeCount(const Shape *shape);
int64_t shapeLast(const Shape *shape); // size of the last dimension
int64_t shapeRows(const Shape *shape); // product of the others
int64_t bitsOf(MlirType element);
int64_t bytesOf(MlirType element);                  // that it takes in memory
MlirType vectorOf(MlirType element, int64_t width); // width 0: the element itself
bool fitsRegisters(const Lowering *lowering, const Shape *shape);
int64_t numRegisters(const Lowering *lowering, const Shape *shape);
// A dense memref as a tile in memory.
Access *denseAccess(Lowering *lowering, const Shape *shape, MlirValue memref, MlirType storage);
// What an element is held as in the function's own memory: itself, or the next larger integer of 8, 16, 32, … bits,
// as vectors of elements that do not fill such a word would be packed.
bool isOddlyWide(MlirType element);
MlirType storageOf(MlirType element);
// A buffer of the function, row-major, contents undefined.
Access *bufferNew(Lowering *lowering, const Shape *shape);
MlirValue memrefNew(Lowering *lowering, MlirType type, int64_t bytes);

//===--- coordinates.c: indices -----------------------------------------------===//
static inline Coord coordConstant(int64_t offset) { return (Coord){{NULL}, offset}; }
static inline Coord coordOf(MlirValue base) { return (Coord){base, 0}; }
bool coordEquals(Coord a, Coord b);
Coord coordPlus(Coord a, int64_t offset);
Coord coordSum(TileBuilder *builder, Coord a, Coord b);
Coord coordTimes(TileBuilder *builder, Coord a, int64_t factor);
Coord coordDivide(TileBuilder *builder, Coord a, int64_t divisor);
Coord coordModulo(TileBuilder *builder, Coord a, int64_t modulus);
MlirValue coordValue(TileBuilder *builder, Coord coord);
MlirValue compareIndex(TileBuilder *builder, const char *predicate, MlirValue a, MlirValue b); // slt, sge, …
MlirValue buildAnd(TileBuilder *builder, MlirValue a, MlirValue b);                            // i1; null is true
MlirValue buildUnary(TileBuilder *builder, const char *name, MlirType type, MlirValue a);
MlirValue buildBinary(TileBuilder *builder, const char *name, MlirValue a, MlirValue b);
MlirValue buildSelect(TileBuilder *builder, MlirValue condition, MlirValue a, MlirValue b);
MlirValue buildSplat(TileBuilder *builder, MlirValue scalar, int64_t width); // width 0: itself
MlirValue buildZero(TileBuilder *builder, MlirType type);                    // scalar or vector
MlirAttribute namedAttribute(MlirContext context, const char *text);         // parsed
// What is known of an index of the kernel: bounds (INT64_MIN/MAX: none) and a factor.
typedef struct IndexFacts {
  int64_t low, high, multiple; // inclusive; multiple 0: the value is 0
} IndexFacts;
IndexFacts indexFacts(MlirValue index);

//===--- access.c: views and buffers ------------------------------------------===//
bool accessOfView(Lowering *lowering, MlirOperation view);
bool accessOfBuffer(Lowering *lowering, MlirOperation alloc);
bool accessOfReinterpretation(Lowering *lowering, MlirOperation op); // slice, transpose, slot of a buffer
// The tile of `access` at tile indices operand [first, first + rank) of `op`.
Access *accessAt(Lowering *lowering, const Access *access, MlirOperation op, intptr_t first);
MlirValue sizeOfMemref(TileBuilder *builder, MlirValue memref, intptr_t d);
bool accessMayLeave(const Access *access);
// True where the whole tile is inside; null when it always is.
MlirValue accessIsInside(TileBuilder *builder, const Access *access);
// Elements along `axis` (width 0: one) from `coords` on.
MlirValue accessLoad(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width);
void accessStore(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width, MlirValue value);
MlirValue accessLoadScalar(Body *body, const Access *access, const Coord *coords); // as stored; the padding outside
MlirValue accessElementInside(TileBuilder *builder, const Access *access, const Coord *coords); // null: it is
MlirValue buildLane(TileBuilder *builder, MlirValue vector, int64_t lane);
bool packAccess(Lowering *lowering, MlirOperation view, Access *access); // packed.c; false after a diagnostic
struct TileLayout;
bool runsOfPacking(const struct TileLayout *layout, Packing *packing); // false: not made of plain strides
MlirValue packedShift(TileBuilder *builder, const Access *access, const Coord *coords); // of an element in its word
MlirValue packedLoad(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width);
void packedStore(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width, MlirValue value);
void accessPrefetch(Lowering *lowering, const Access *access, bool write);
bool accessIsContiguous(const Access *access, intptr_t axis, int64_t width);
MlirValue accessMask(Body *body, const Access *access, const Coord *coords, intptr_t axis, int64_t width);
// The same tile as a memref of its own that begins where the tile does, so that addresses in a loop are a base and
// small numbers: LLVM spills where each step of k computes indices anew (512³ in blocks: 143 against 225 GFLOP/s). Null
// where nothing is gained, or where it may leave its memref.
Access *accessFromOrigin(Lowering *lowering, const Access *access);
// memref.extract_strided_metadata of its memref: base, offset, sizes…, strides….
MlirOperation accessMetadata(TileBuilder *builder, const Access *access);
intptr_t accessIndices(TileBuilder *builder, const Access *access, const Coord *coords, MlirValue *indices);

//===--- expressions.c: evaluation --------------------------------------------===//
Body bodyBegin(Lowering *lowering, bool inside);
void bodyEnd(Body *body);
MlirValue evaluate(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width);
// The same, one lane after the other: for what cannot be read as a vector.
MlirValue evaluateLanes(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width);
MlirValue evaluateOperand(Body *body, MlirValue source, const Coord *coords, intptr_t axis, int64_t width);
bool isEvaluable(MlirOperation op); // an op that may stay lazy
bool isShapeOp(MlirOperation op);   // broadcast, transpose, slice, reshape of tiles
bool isElementwise(MlirOperation op);
MlirValue convertElement(TileBuilder *builder, MlirValue value, MlirType element, int64_t width);
// The records that evaluating `record` meets, each once, operands first. Memory of the lowering.
typedef struct Records {
  Record **items;
  intptr_t count;
} Records;
Records recordsBehind(Lowering *lowering, Record *record);
bool isRead(const Record *record); // a load, or a tile in memory
// What a body has evaluated at a place (null: nothing), and how it remembers.
MlirValue remembered(const Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width);
void remember(Body *body, const Record *record, const Coord *coords, intptr_t axis, int64_t width, MlirValue result);
bool mayLeave(Lowering *lowering, Record *record);       // some access that is read may
MlirValue allInside(Lowering *lowering, Record *record); // none does, for the whole tile; null: that is known
// Registers are read at coordinates known now only. Before a root whose loops run over coordinates, spill copies them
// to memory (all that `record` meets, `unrolled`: only those not read chunk by chunk); unspill ends that.
intptr_t spill(Lowering *lowering, Record *record, bool unrolled); // returns the mark for unspill
void unspill(Lowering *lowering, intptr_t mark);
// How operand `operand` of `op` is read when `op` is evaluated at a place: Exact for every place of the row, Chunk for
// this vector only, Lanes: not as a vector. Axis -1: the operand is the same in all lanes.
// Of the row at `coords`, how many elements can be read from `record` (may be null) and written to `target` (may be
// null) in vectors of `width` without masks, a multiple of it; null: all. Evaluates nothing.
MlirValue unmaskedCount(Lowering *lowering, Record *record, const Access *target, const Coord *coords, int64_t width);
// From which element on, a multiple of `width` and perhaps beyond the end, the row of `record` at `coords` is the same
// everywhere because all that it reads is padding; null when there is no such place.
MlirValue paddedFrom(Lowering *lowering, Record *record, const Coord *coords, int64_t width);
typedef enum Placement { Placement_Exact, Placement_Chunk, Placement_Lanes } Placement;
Placement placeInOperand(Lowering *lowering, MlirOperation op, const Coord *coords, intptr_t axis, int64_t width,
                         Coord *operandCoords, intptr_t *operandAxis);

//===--- loops.c: roots that write tiles --------------------------------------===//
typedef void (*VectorVisitor)(Body *body, Record *source, const Access *target, const Coord *coords, int64_t width,
                              void *data);
// Calls `visit` for vectors along the last dimension that cover `target`, inside loops: masked only where `source` or
// `target` may leave their memory. `target` comes back as it is known there.
void forEachVector(Lowering *lowering, Record *source, const Access *target, VectorVisitor visit, void *data);
void writeTile(Lowering *lowering, Record *record, const Access *target);
void addToTile(Lowering *lowering, Record *record, const Access *target, MlirStringRef combine); // atomically
// writeTile where source and target are contiguous along different axes (transpose.c); `otherwise` emits what is to be
// done where the tile crosses an edge. False, nothing emitted, where there is no need.
bool writeTransposed(Lowering *lowering, Record *record, const Access *target, void (*otherwise)(void *), void *data);
// writeTile to a target that has groups of rows side by side (dot.c); false, nothing emitted, where it has not.
bool writeInterleaved(Lowering *lowering, Record *record, const Access *target);
Access *materialize(Lowering *lowering, Record *record, MlirType element); // null element: as it is
void recordCopy(Lowering *lowering, Record *record); // a lazy one becomes what it is now, in memory
MlirValue *evaluateRegisters(Lowering *lowering, Record *record);
// The buffer behind `value` that a result of the same shape may overwrite, element by element: nothing else reads it
// afterwards. Null when there is none.
Access *inPlaceTarget(Lowering *lowering, MlirValue value);
// A record of no value of the kernel: `access` as if it were a tile in memory.
Record *recordOfAccess(Lowering *lowering, Access *access);
// Moves the builder to the end of `block`; returns where it was.
TileBuilder enter(Lowering *lowering, MlirBlock block);
MlirOperation buildIf(TileBuilder *builder, MlirValue condition, intptr_t count, const MlirType *types,
                      MlirBlock *thenBlock, MlirBlock *elseBlock);
// A loop without results; fill its body with a builder at its end, then tileBuildYield.
MlirBlock buildLoop(TileBuilder *builder, MlirValue lower, MlirValue upper, int64_t step);

//===--- elements.c: roots that work on one element at a time ------------------------------------===//
typedef void (*ElementVisitor)(Body *body, const Coord *coords, void *data);
// Calls `visit` inside loops over the coordinates of `shape`; But: dimension `skipped` stays at 0 (-1: none).
void forEachElement(Lowering *lowering, const Shape *shape, ElementVisitor visit, void *data);
void forEachElementBut(Lowering *lowering, const Shape *shape, intptr_t skipped, ElementVisitor visit, void *data);
// A loop over `size` coordinates (none for one); returns the builder for closeElements.
TileBuilder openElements(Lowering *lowering, int64_t size, Coord *coord);
void closeElements(Lowering *lowering, int64_t size, TileBuilder before);
intptr_t spillOperands(Lowering *lowering, MlirOperation op); // all tiles among them; returns the mark for unspill
// forEachElement where the operands of `op` can be read at any place.
void forEachElementOf(Lowering *lowering, MlirOperation op, const Shape *shape, ElementVisitor visit, void *data);
MlirValue elementAt(Body *body, MlirValue source, const Coord *coords);
Shape shapeOfValue(MlirValue value); // a scalar: rank 0
// Code between the two runs where `condition` holds; null: always.
TileBuilder openIf(Lowering *lowering, MlirValue condition);
void closeIf(Lowering *lowering, MlirValue condition, TileBuilder before);
enum { CompareEqual = 0, CompareSignedLess = 2, CompareUnsignedLess = 6 }; // arith.cmpi's numbers
MlirValue compareIntegers(TileBuilder *builder, int64_t predicate, MlirValue a, MlirValue b);
MlirType bitsTypeOf(MlirType element);                                         // the integer of its width
MlirValue bitsOfValue(TileBuilder *builder, MlirValue value);                  // floats as integers; scalar or vector
MlirValue valueOfBits(TileBuilder *builder, MlirValue bits, MlirType element); // and back
// Integers and index, or vectors of them; `type` is the element's.
MlirValue integerCast(TileBuilder *builder, MlirValue value, MlirType type, bool isSigned);
bool lowerRandom(Lowering *lowering, MlirOperation op);
bool lowerSort(Lowering *lowering, MlirOperation op); // sort, topk
bool lowerMemrefAt(Lowering *lowering, MlirOperation op);
bool lowerAssert(Lowering *lowering, MlirOperation op);
bool lowerPrint(Lowering *lowering, MlirOperation op);
bool lowerConvertType(Lowering *lowering, MlirOperation op);
// What tile.convert_type makes of operands already evaluated; `bits` may be null.
MlirValue buildConversion(TileBuilder *builder, MlirOperation op, MlirValue value, MlirValue bits, int64_t width);
bool lowerBitcast(Lowering *lowering, MlirOperation op);
bool lowerHistogram(Lowering *lowering, MlirOperation op);

//===--- scheduled.c: tokens and layouts, which one thread does not need ----------------------------===//
// Whoever used the result of a tile.convert_layout uses its operand; false after a diagnostic when the kernel needs
// more than one thread.
bool scheduleForOne(MlirOperation kernel);
bool lowerCopyAsync(Lowering *lowering, MlirOperation op);
bool lowerJoin(Lowering *lowering, MlirOperation op);
bool lowerFence(Lowering *lowering, MlirOperation op);
bool lowerNothing(Lowering *lowering, MlirOperation op);

//===--- runtime.c: calls of lib/runtime ----------------------------------------------------------===//
void callRuntime(Lowering *lowering, const char *name, intptr_t count, const MlirValue *operands);
MlirValue pointerOfAddress(TileBuilder *builder, MlirValue address); // i64
MlirValue pointerOfBuffer(TileBuilder *builder, MlirValue memref);   // of offset 0
MlirValue pointerOfText(Lowering *lowering, const char *text);
// "file:line:column: message detail" as a failure of the program (lib/runtime/call.h); may return when nobody caught
// it.
void raiseAt(Lowering *lowering, MlirOperation op, const char *message, MlirStringRef detail);

//===--- reduce.c, scan.c, gather.c, mma.c, control.c, body.c, function.c ------------------------===//
// The neutral element of input `input` of a reduce or scan, a scalar; null when it has none.
MlirValue neutralElement(TileBuilder *builder, MlirOperation op, intptr_t input, MlirType element);
bool lowerReduceByElement(Lowering *lowering, MlirOperation op);
bool lowerReduce(Lowering *lowering, MlirOperation op);
bool lowerScan(Lowering *lowering, MlirOperation op);
bool lowerGather(Lowering *lowering, MlirOperation op);
MlirValue evaluateGather(Body *body, Record *record, const Coord *coords, intptr_t axis, int64_t width);
// A memref as a view of tiles of one element; null after a diagnostic.
Access *accessOfMemref(Lowering *lowering, MlirOperation op, MlirValue source);
bool lowerScatter(Lowering *lowering, MlirOperation op);
bool lowerAtomic(Lowering *lowering, MlirOperation op); // rmw, cas, load, store
bool lowerMma(Lowering *lowering, MlirOperation op);
// sum += lhs * rhs, all in memory, of one element type, never beyond it.
void multiplyInto(Lowering *lowering, Record *lhs, Record *rhs, Record *sum);
bool lowerMmaScaled(Lowering *lowering, MlirOperation op);
bool lowerCall(Lowering *lowering, MlirOperation op);
void destroyInlined(Lowering *lowering);
bool lowerFor(Lowering *lowering, MlirOperation op);
bool lowerIf(Lowering *lowering, MlirOperation op);
bool lowerWhile(Lowering *lowering, MlirOperation op);
bool lowerCopy(Lowering *lowering, MlirOperation op);
bool lowerBlock(Lowering *lowering, MlirBlock block); // all but its terminator
// True when memory that `load` reads may be written before the last use of what is computed from it.
bool isOverwrittenBeforeUse(MlirOperation load);
MlirValue rootOfMemory(MlirValue value); // the parameter or tile.alloc behind a view, buffer or memref; in the kernel
// True when evaluating the result of `op` at each use would repeat expensive work.
bool isWorthStoring(Lowering *lowering, MlirOperation op);
bool lowerLazy(Lowering *lowering, MlirOperation op); // its result waits for its users, unless that would repeat work
bool lowerKernel(MlirOperation kernel);

#endif
