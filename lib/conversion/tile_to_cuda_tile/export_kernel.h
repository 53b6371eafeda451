// How convert-tile-to-cuda-tile stands for the values of a tile kernel, and what its files share.
//
// Every value of CUDA Tile IR is a tile: a scalar has rank 0, an index is an i64. Memory is a pointer with sizes and
// strides; what a type knows of them stays a number, for the types of tensor views.
#pragma once

#include "dialects/foreign/cuda_tile/bytecode.h"
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"

typedef struct ExportSize {
  bool isKnown;
  int64_t number;
  MlirValue value; // a tile of rank 0 and i64; null: a known number, or the size of memory behind a pointer alone
} ExportSize;

typedef struct ExportMemory {
  MlirValue base; // a tile of rank 0 of pointers
  intptr_t rank;
  ExportSize sizes[CudaTileMaxRank], strides[CudaTileMaxRank];
  intptr_t axes[CudaTileMaxRank]; // of a view: the dimension of each axis
  MlirValue view;                 // a partition_view or strided_view; null: not needed yet, or not possible
} ExportMemory;

typedef struct ExportKernel {
  TileBuilder b;
  int64_t version;    // 13.N: what the program may use
  bool isBare;        // a memref of one open size is a pointer alone
  TileTable values;   // old value → new value
  TileTable memories; // old memref or view → ExportMemory
  TileArena arena;    // of what lives as long as the kernel
} ExportKernel;

void exportSet(ExportKernel *k, MlirValue old, MlirValue value);
bool exportSetResult(ExportKernel *k, MlirOperation op, MlirValue value); // of one result; true
MlirValue exportGet(ExportKernel *k, MlirValue old);                      // null after an error
// Null stays null. False after an error.
bool exportGetOptional(ExportKernel *k, MlirValue old, MlirValue *value);
bool exportGetAll(ExportKernel *k, MlirOperation op, intptr_t first, MlirValue *values, intptr_t *count);
ExportMemory *exportNewMemory(ExportKernel *k, MlirValue old);
ExportMemory *exportMemory(ExportKernel *k, MlirValue old); // null after an error

MlirType exportType(MlirOperation at, MlirType old); // null after an error: no power of two, no such element
MlirType exportShaped(MlirType like, MlirType element);
MlirType exportSized(intptr_t rank, const int64_t *sizes, MlirType element);
MlirType exportInteger(ExportKernel *k, unsigned bits);
intptr_t exportRank(MlirType type);
MlirAttribute exportWord(ExportKernel *k, const char *word);
bool exportIs(MlirAttribute word, const char *text); // false for null
MlirAttribute exportI64(ExportKernel *k, int64_t value);
MlirAttribute exportSign(ExportKernel *k, bool isSigned);

// Constants: all elements of a tile of that type.
MlirValue exportFill(ExportKernel *k, MlirType type, int64_t value);
MlirValue exportFillFloat(ExportKernel *k, MlirType type, double value);
MlirValue exportNumber(ExportKernel *k, int64_t value);             // of rank 0 and i64
MlirValue exportSizeValue(ExportKernel *k, const ExportSize *size); // null after an error
// A tile of rank 0 repeated; 0, 1, … along `axis`, in i64.
MlirValue exportSplat(ExportKernel *k, MlirValue scalar, MlirType type);
MlirValue exportRange(ExportKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis);
// A tile along one axis of the others.
MlirValue exportAlong(ExportKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis);
MlirValue exportWiden(ExportKernel *k, MlirValue integer); // to i64, by its sign

bool exportConvertBlock(ExportKernel *k, MlirBlock block); // all but the terminator
// The op of arith or math of that kind on two tiles of one type; false: CUDA Tile IR has no such op.
bool exportCombine(ExportKernel *k, TileUpstream kind, MlirValue x, MlirValue y, MlirValue *result);

// Convert ops of their kinds. Set `isKnown` false, and do nothing, where the op is another's.
typedef bool (*ExportConvert)(ExportKernel *k, MlirOperation op, bool *isKnown);
bool exportArithmetic(ExportKernel *k, MlirOperation op, bool *isKnown);
bool exportShapes(ExportKernel *k, MlirOperation op, bool *isKnown);
bool exportViews(ExportKernel *k, MlirOperation op, bool *isKnown);
bool exportElements(ExportKernel *k, MlirOperation op, bool *isKnown);
bool exportControl(ExportKernel *k, MlirOperation op, bool *isKnown);

// A tile at places of memory, and which of them lie inside (a tile of i1; null: all).
typedef struct ExportPlaces {
  MlirValue pointers, inside;
} ExportPlaces;
// The places of tile `indices` of a view. `isLine`: an index that is a tile of element numbers along its axis.
bool exportPlacesOfView(ExportKernel *k, MlirOperation op, MlirValue view, MlirType tile,
                        MlirValue (*at)(MlirOperation op, intptr_t i), ExportPlaces *places);
MlirValue exportPadding(ExportKernel *k, MlirType view, MlirType tile);
MlirValue exportBoth(ExportKernel *k, MlirValue mask, MlirValue other); // null: all true
// A load or store that other programs may not race with.
MlirValue exportLoad(ExportKernel *k, const ExportPlaces *places, MlirType tile, MlirValue other);
void exportStore(ExportKernel *k, const ExportPlaces *places, MlirValue value);
// Atomic: `mode` is a word of tile.atomic_rmw or of a store's `combine`; `order` and `scope` of tile (null: relaxed, of
// the device). Null after an error at the op.
MlirValue exportAtomic(ExportKernel *k, MlirOperation op, const ExportPlaces *places, MlirValue value,
                       MlirAttribute mode, MlirAttribute order, MlirAttribute scope);
