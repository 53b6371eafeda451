// The dialect tt, Triton's IR (TTIR), for other rooms: registration, what its types and attributes say.
//
//   !tt.ptr<f32>                pointer to an element; !tt.ptr<tensor<64x32xf16>>: a block pointer of Triton 3.5
//   tensor<64x!tt.ptr<f32>>     a tile of pointers
//   !tt.tensordesc<32x32xf16>   a descriptor: memory seen as a tensor, read and written in blocks
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"

enum { TtMaxRank = TILE_LAYOUT_MAX_AXES, TtMaxElements = 1 << 20 }; // of a tile, as in Triton

void ttRegisterDialect(MlirDialectRegistry registry);
void ttgRegisterDialect(MlirDialectRegistry registry);

bool ttTypeIsAPointer(MlirType type);
MlirType ttPointerTypeGet(MlirType pointee);
MlirType ttPointerTypeGetPointee(MlirType type); // an element; of a block pointer a tensor
bool ttTypeIsABlockPointer(MlirType type);
bool ttTypeIsADescriptor(MlirType type);
MlirType ttDescriptorTypeGet(MlirType block);
MlirType ttDescriptorTypeGetBlock(MlirType type); // a tensor
MlirType ttTypeGetElement(MlirType type);         // of a tensor; any other type itself
bool ttTypeIsPointerLike(MlirType type);          // a pointer to an element, or a tile of them

// The values of enum attributes, which are i32 as in Triton.
typedef enum TtRmw {
  TtRmw_And = 1,
  TtRmw_Or,
  TtRmw_Xor,
  TtRmw_Add,
  TtRmw_FAdd,
  TtRmw_Max,
  TtRmw_Min,
  TtRmw_UMax,
  TtRmw_UMin,
  TtRmw_Xchg
} TtRmw;
typedef enum TtSemantic {
  TtSemantic_Relaxed = 1,
  TtSemantic_Acquire,
  TtSemantic_Release,
  TtSemantic_AcquireRelease
} TtSemantic;
typedef enum TtScope { TtScope_Gpu = 1, TtScope_Cta, TtScope_System } TtScope;
typedef enum TtPrecision {
  TtPrecision_Tf32,
  TtPrecision_Tf32x3,
  TtPrecision_Ieee,
  TtPrecision_Bf16x3,
  TtPrecision_Bf16x6
} TtPrecision;
typedef enum TtScaled {
  TtScaled_E4M3,
  TtScaled_E5M2,
  TtScaled_E2M3,
  TtScaled_E3M2,
  TtScaled_E2M1,
  TtScaled_Bf16,
  TtScaled_Fp16
} TtScaled;
int64_t ttScaledOf(MlirType element); // the kind of factors of e4m3, e5m2 and e2m1; -1: another element
typedef enum TtReduceKind {
  TtReduceKind_Add = 1,
  TtReduceKind_Min,
  TtReduceKind_Max,
  TtReduceKind_Inc,
  TtReduceKind_Dec,
  TtReduceKind_And,
  TtReduceKind_Or,
  TtReduceKind_Xor
} TtReduceKind;
enum { TtPadding_Zero = 1, TtPadding_Nan = 2 };
enum { TtRounding_TowardZero = 0, TtRounding_NearestEven = 1 };
