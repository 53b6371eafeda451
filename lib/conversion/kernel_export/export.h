// The engine of convert-tile-to-tt and convert-tile-to-cuda-tile: how it stands for the values of a tile kernel, and
// what its files share. Each of the two conversions fills it with its own vocabulary.
//
// Every value of the other language is a tile or a scalar (in CUDA Tile IR a tile of rank 0), and an index is an i64.
// Memory is a pointer with sizes and strides; what a type knows of them stays a number.
#pragma once

#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "lib/ir/convert_by.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"
#include "upstream/arith.h"

enum { ExportMaxRank = TILE_LAYOUT_MAX_AXES, ExportMaxCombined = 8, ExportMaxPrinted = 64 };

typedef struct ExportSize {
  bool isKnown;
  int64_t number;
  MlirValue value; // an i64; null: a known number, or the size of memory behind a pointer alone
} ExportSize;

typedef struct ExportMemory {
  MlirValue base; // a pointer
  intptr_t rank;
  ExportSize sizes[ExportMaxRank], strides[ExportMaxRank];
  intptr_t axes[ExportMaxRank]; // of a view: the dimension of each axis
  MlirValue view;               // a view of the language's own; null: there is none, and pointers say it
} ExportMemory;

typedef struct ExportVocabulary ExportVocabulary;

typedef struct ExportKernel {
  TileBuilder b;
  const ExportVocabulary *v;
  int64_t version;    // of the language: what the program may use
  bool isBare;        // a memref of one open size is a pointer alone
  bool hasViews;      // tiles of memory are the language's own views where those can say it
  TileTable values;   // old value → new value
  TileTable memories; // old memref or view → ExportMemory
  TileArena arena;    // of what lives as long as the kernel
} ExportKernel;

// A tile at places of memory, and which of them lie inside (a tile of i1; null: all).
typedef struct ExportPlaces {
  MlirValue pointers, inside;
} ExportPlaces;

// How an atomic op sees others, in tile's words; null: relaxed, of the device.
typedef struct ExportOrder {
  MlirAttribute order, scope;
} ExportOrder;

// Operands of an op on padded tiles for which others stand while the op is converted.
typedef struct ExportGuards {
  MlirValue olds[ExportMaxCombined], values[ExportMaxCombined];
  intptr_t count;
} ExportGuards;

typedef enum ExportEnd { ExportEnd_Loop, ExportEnd_Branch, ExportEnd_Reduce, ExportEnd_Scan } ExportEnd;

// What a language has. Functions that may refuse report an error at the op and give null.
struct ExportVocabulary {
  const char *dialect, *language;
  const TileConvertOp *own;                                                // asked before the engine's; ends with null
  MlirType (*element)(MlirType old);                                       // what stands for it; null: nothing does
  MlirType (*tile)(intptr_t rank, const int64_t *sizes, MlirType element); // rank 0: of a scalar
  MlirType (*pointerTo)(MlirType element);

  MlirValue (*fill)(ExportKernel *k, MlirType type, MlirAttribute element);
  MlirValue (*constant)(ExportKernel *k, MlirAttribute elements);
  MlirValue (*iota)(ExportKernel *k, MlirType line); // 0, 1, … in integers
  MlirValue (*id)(ExportKernel *k, int64_t axis, bool isCount);
  MlirValue (*splat)(ExportKernel *k, MlirValue scalar, MlirType type);
  MlirValue (*broadcast)(TileBuilder *b, MlirType type, MlirValue x);
  MlirValue (*reshape)(ExportKernel *k, MlirType type, MlirValue x);
  MlirValue (*permute)(TileBuilder *b, MlirType type, MlirValue x, MlirAttribute order);

  bool (*combine)(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result); // false: no such op
  MlirValue (*compare)(ExportKernel *k, ArithCmpI predicate, MlirValue x, MlirValue y);
  MlirValue (*choose)(ExportKernel *k, MlirValue condition, MlirValue yes, MlirValue no); // lane by lane
  MlirValue (*resize)(ExportKernel *k, MlirValue x, MlirType type, bool isSigned);        // of integers

  MlirValue (*offset)(TileBuilder *b, MlirValue pointers, MlirValue by);
  MlirValue (*toPointer)(TileBuilder *b, MlirType type, MlirValue address);
  MlirValue (*toInteger)(TileBuilder *b, MlirType type, MlirValue pointer);
  MlirValue (*load)(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other);
  void (*store)(ExportKernel *k, const ExportPlaces *places, MlirValue value);
  // `mode`: a word of tile.atomic_rmw or of a store's `combine`.
  MlirValue (*atomic)(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value,
                      MlirAttribute mode, ExportOrder order);
  MlirValue (*swap)(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue expected, MlirValue value,
                    ExportOrder order);
  MlirValue (*atomicLoad)(ExportKernel *k, const ExportPlaces *places, MlirType tile, ExportOrder order);
  void (*atomicStore)(ExportKernel *k, const ExportPlaces *places, MlirValue value, ExportOrder order);
  void (*check)(ExportKernel *k, MlirValue condition, MlirAttribute message);
  bool (*print)(ExportKernel *k, MlirStringRef message, intptr_t count, const MlirValue *values); // as tile.print's

  MlirValue (*cut)(ExportKernel *k, const ExportMemory *memory, MlirType view); // null: views cannot say it
  MlirValue (*loadView)(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirType tile, MlirValue *indices);
  void (*storeView)(ExportKernel *k, const ExportMemory *memory, MlirType view, MlirValue value, MlirValue *indices);

  // `values`: the bounds and the step, then what the loop carries.
  MlirOperation (*loop)(ExportKernel *k, MlirOperation op, intptr_t count, MlirValue *values, MlirRegion region);
  MlirOperation (*branch)(TileBuilder *b, intptr_t count, const MlirType *types, MlirValue condition, MlirRegion yes,
                          MlirRegion no);
  void (*end)(ExportKernel *k, ExportEnd kind, intptr_t count, const MlirValue *values);
  intptr_t (*argument)(intptr_t i, intptr_t count); // which argument of a combining region is tile's number i
  MlirOperation (*reduce)(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                          const MlirValue *inputs, int64_t axis, MlirRegion region);
  MlirOperation (*scan)(ExportKernel *k, MlirOperation op, intptr_t count, const MlirType *types,
                        const MlirValue *inputs, MlirRegion region);
  // The function around the body. `block`: the body's, whose parameters are complete.
  void (*finish)(ExportKernel *k, TileBuilder *b, MlirOperation kernel, MlirBlock block, MlirRegion body);
};

// Replaces each tile.kernel of the module and deletes what belongs to the host. False after an error.
bool exportModule(MlirOperation module, const ExportKernel *options);

MlirAttribute exportFunctionType(ExportKernel *k, MlirBlock block); // of the block's parameters, without results

//===--- values -----------------------------------------------------------------------===//

void exportSet(ExportKernel *k, MlirValue old, MlirValue value);
bool exportSetResult(ExportKernel *k, MlirOperation op, MlirValue value); // of one result; false for null
void exportSetResults(ExportKernel *k, MlirOperation op, MlirOperation made);
void exportSetArguments(ExportKernel *k, MlirBlock old, MlirBlock made);
MlirValue exportGet(ExportKernel *k, MlirValue old); // null after an error
// Null stays null. False after an error.
bool exportGetOptional(ExportKernel *k, MlirValue old, MlirValue *value);
bool exportGetAll(ExportKernel *k, MlirOperation op, intptr_t first, MlirValue *values, intptr_t *count);
MlirValue *exportNewValues(ExportKernel *k, MlirOperation op);  // room for all operands
MlirType *exportResultTypes(ExportKernel *k, MlirOperation op); // null after an error
ExportMemory *exportNewMemory(ExportKernel *k, MlirValue old);
ExportMemory *exportMemory(ExportKernel *k, MlirValue old); // null after an error

//===--- types ------------------------------------------------------------------------===//

// Sizes become powers of two. Null after an error: no such element.
MlirType exportType(ExportKernel *k, MlirOperation at, MlirType old);
MlirExtShape exportShape(MlirType type); // of a scalar: rank 0
intptr_t exportRank(MlirType type);
MlirType exportElement(MlirType type); // of a scalar: itself
// What stands for an element in memory, in as many bits; null: nothing does.
MlirType exportStored(ExportKernel *k, MlirType old);
MlirType exportShaped(ExportKernel *k, MlirType like, MlirType element);
MlirType exportSized(ExportKernel *k, intptr_t rank, const int64_t *sizes, MlirType element);
MlirType exportWithout(ExportKernel *k, MlirType type, int64_t axis);
MlirType exportInteger(ExportKernel *k, unsigned bits);

//===--- padding ----------------------------------------------------------------------===//

int64_t exportPaddedSize(int64_t size); // the next power of two
bool exportIsPadded(MlirType old);
MlirValue exportRealLanes(ExportKernel *k, MlirType old); // a tile of i1; null: all
// Both stand around the conversion of an op. False after an error.
bool exportGuard(ExportKernel *k, MlirOperation op, ExportGuards *guards);
void exportUnguard(ExportKernel *k, const ExportGuards *guards);

//===--- words, numbers ---------------------------------------------------------------===//

MlirAttribute exportWord(ExportKernel *k, const char *word);
bool exportIs(MlirAttribute word, const char *text); // false for null
MlirValue exportFill(ExportKernel *k, MlirType type, int64_t value);
MlirValue exportFillFloat(ExportKernel *k, MlirType type, double value);
MlirValue exportNumber(ExportKernel *k, int64_t value);                                // a scalar i64
MlirValue exportSizeValue(ExportKernel *k, const ExportSize *size);                    // null after an error
MlirValue exportCombine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y); // an op that every language has
MlirValue exportSplat(ExportKernel *k, MlirValue scalar, MlirType type);
// 0, 1, … along `axis`, in i64; a tile along one axis of the others.
MlirValue exportRange(ExportKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis);
MlirValue exportAlong(ExportKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis);
MlirValue exportWiden(ExportKernel *k, MlirValue integer); // to i64, by its sign

bool exportIsPlaceholder(MlirStringRef message, size_t at); // a value of tile.print stands there

//===--- ops --------------------------------------------------------------------------===//

bool exportConvertBlock(ExportKernel *k, MlirBlock block); // all but the terminator
// All of the block into the builder's, then an end with the values of its terminator.
bool exportConvertRegion(ExportKernel *k, MlirBlock block, ExportEnd end);
bool exportShapes(void *kernel, MlirOperation op, bool *isKnown);
bool exportViews(void *kernel, MlirOperation op, bool *isKnown);
bool exportElements(void *kernel, MlirOperation op, bool *isKnown);
bool exportControl(void *kernel, MlirOperation op, bool *isKnown);

// The places of tile `indices` of a view. An index may be a tile of element numbers along its axis.
bool exportPlacesOfView(ExportKernel *k, MlirOperation op, MlirValue view, MlirType tile,
                        MlirValue (*at)(MlirOperation op, intptr_t i), ExportPlaces *places);
MlirValue exportIsInside(ExportKernel *k, MlirValue place, MlirValue size);
MlirValue exportPadding(ExportKernel *k, MlirType view, MlirType tile);
int exportPadOf(MlirType view);                                         // where its padding stands in tilePadNames
MlirValue exportBoth(ExportKernel *k, MlirValue mask, MlirValue other); // null: all true
