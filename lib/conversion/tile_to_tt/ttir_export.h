// How convert-tile-to-tt stands for the values of a tile kernel, and what its files share. An index is an i64. Memory
// is a pointer with sizes and strides, all i64.
#pragma once

#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/tt.h"
#include "dialects/tile/ops.h"
#include "dialects/tile/tile.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"

typedef struct TtirMemory {
  MlirValue base; // !tt.ptr
  intptr_t rank;
  MlirValue sizes[TtMaxRank], strides[TtMaxRank];
} TtirMemory;

typedef struct TtirKernel {
  TileBuilder b;
  TileTable values;   // old value → new value
  TileTable memories; // old memref or view → TtirMemory
  TileArena arena;    // of what lives as long as the kernel
} TtirKernel;

void ttirSet(TtirKernel *k, MlirValue old, MlirValue value);
MlirValue ttirGet(TtirKernel *k, MlirValue old); // null after an error
TtirMemory *ttirNewMemory(TtirKernel *k, MlirValue old);
const TtirMemory *ttirMemory(TtirKernel *k, MlirValue old); // null after an error
MlirType ttirType(MlirOperation at, MlirType old);  // null after an error: a size that is no power of two, a layout
MlirValue ttirNumber(TtirKernel *k, int64_t value); // i64
MlirValue ttirSplat(TtirKernel *k, MlirValue scalar, MlirType type);
MlirType ttirShaped(MlirType like, MlirType element);
MlirType ttirElement(MlirType type);
MlirAttribute ttirI32(TtirKernel *k, int64_t value);
// 0, 1, … along `axis` of an i64 tile of these sizes.
MlirValue ttirRange(TtirKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis);

bool ttirConvertBlock(TtirKernel *k, MlirBlock block); // all but the terminator
// Set `isKnown` false, and do nothing, where the op is another's.
typedef bool (*TtirConvert)(TtirKernel *k, MlirOperation op, bool *isKnown);
bool ttirAccess(TtirKernel *k, MlirOperation op, bool *isKnown);
bool ttirCompute(TtirKernel *k, MlirOperation op, bool *isKnown);
