// How convert-cuda-tile-to-tt stands for the values of CUDA Tile IR, and what its files share.
//
// A tile of rank 0 is a scalar, a tile of tf32 one of f32 (products then say that they split so). Tokens are nothing:
// accesses keep their order. A tensor view is a pointer with sizes and strides; what is read and written of a view
// becomes a descriptor, or a tile of pointers where descriptors cannot say it.
#pragma once

#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/ops.h"
#include "dialects/foreign/tt/ops.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/builder.h"
#include "lib/ir/convert_by.h"
#include "lib/ir/op_arena.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "lib/ir/upstream.h"

typedef struct CudaTileTensor {
  MlirValue base; // !tt.ptr
  intptr_t rank;
  bool isWide;                                                // sizes are i64
  MlirValue sizes[CudaTileMaxRank], strides[CudaTileMaxRank]; // i32 or i64; i64
} CudaTileTensor;

enum { CudaTileMaxValues = 64 }; // that one op carries or prints

// Where break and continue go, in functions whose control flow is branches.
typedef struct CudaTileLoop {
  MlirBlock header, exit;
  MlirValue step, counter; // of `for`; null: none
  bool isLeft;             // something goes to the exit
} CudaTileLoop;

typedef struct CudaTileKernel {
  TileBuilder b;
  MlirOperation entry;
  bool usesPointers;  // descriptors never
  TileTable values;   // old value → new value
  TileTable tensors;  // old tensor view or view → CudaTileTensor
  TileArena arena;    // of what lives as long as the kernel
  CudaTileLoop *loop; // the one around; null: none
  bool isDead;        // what follows in the block is never reached
} CudaTileKernel;

void cudaTileSet(CudaTileKernel *k, MlirValue old, MlirValue value);
MlirValue cudaTileGet(CudaTileKernel *k, MlirValue old); // null after an error
bool cudaTileGetAll(CudaTileKernel *k, intptr_t count, MlirValue (*at)(MlirOperation op, intptr_t i), MlirOperation op,
                    MlirValue *values);
const CudaTileTensor *cudaTileGetTensor(CudaTileKernel *k, MlirValue old);

MlirType cudaTileConvertType(MlirType old); // null: a token, a view
MlirType cudaTileShaped(MlirType like, MlirType element);
MlirType cudaTileElement(MlirType type); // of a tile; a scalar itself
MlirValue cudaTileSplat(CudaTileKernel *k, MlirValue scalar, MlirType type);
MlirValue cudaTileWiden(CudaTileKernel *k, MlirValue integer, unsigned bits); // signed; i32 or i64
MlirAttribute cudaTileI32(CudaTileKernel *k, int64_t value);
// 0 to size - 1 along `axis` of a tile of these sizes, in integers of `bits`.
MlirValue cudaTileRange(CudaTileKernel *k, intptr_t rank, const int64_t *sizes, intptr_t axis, unsigned bits);
// A tile of these sizes, with `line`, a tile of one dimension, along `axis`.
MlirValue cudaTileAlong(CudaTileKernel *k, MlirValue line, intptr_t rank, const int64_t *sizes, intptr_t axis);
MlirValue cudaTileRoundQuotient(CudaTileKernel *k, MlirValue x, MlirValue y, bool isSigned, bool roundsUp);
bool cudaTileWordIs(MlirAttribute word, const char *text);

typedef struct CudaTileOrder {
  bool isWeak;
  MlirAttribute semantic, scope; // of tt
} CudaTileOrder;
CudaTileOrder cudaTileOrderOf(CudaTileKernel *k, MlirAttribute semantics, MlirAttribute scope);
// Accesses in this order. `other`: what lanes without mask give; null: nothing.
MlirValue cudaTileRead(CudaTileKernel *k, MlirType type, MlirValue pointer, MlirValue mask, MlirValue other,
                       CudaTileOrder order);
void cudaTileWrite(CudaTileKernel *k, MlirValue pointer, MlirValue value, MlirValue mask, CudaTileOrder order);
int64_t cudaTileAtomicMode(MlirAttribute word); // TtRmw_…

// Conversions of ops of their kinds (lib/ir/convert_by.h), of a CudaTileKernel.
bool cudaTileArithmetic(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileProducts(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileParts(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileShapes(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileMemory(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileViews(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileControl(void *kernel, MlirOperation op, bool *isKnown);
bool cudaTileConvertBlock(CudaTileKernel *k, MlirBlock block); // with its terminator, unless that is the caller's
// Whether all control flow in the regions of `op` is loops and conditions that end at their ends.
bool cudaTileIsStructured(MlirOperation op);
