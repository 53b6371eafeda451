// The dialect cuda_tile, CUDA Tile IR, for other rooms: registration, what its types and attributes say.
//
//   tensor<64x32xf16>                                 a tile; its text within ops is tile<64x32xf16>
//   tensor<64x !cuda_tile ptr<f32>>                   a tile of pointers: tile<64xptr<f32>>
//   tensor_view<?x?xf16, strides=[?,1]>               a tensor in memory
//   partition_view<tile=(64x32), padding_value = zero, tensor_view<…>>    that tensor, cut into tiles
#pragma once

#include "lib/capi/common.h"
#include "lib/layout/layout.h"

enum { CudaTileMaxRank = TILE_LAYOUT_MAX_AXES, CudaTileMaxElements = 1 << 24 }; // of a tile

void cudaTileRegisterDialect(MlirDialectRegistry registry);

// An attribute of a parameter of an entry between convert-tile-to-cuda-tile and tile-order-by-tokens, which removes it:
// no other parameter shares its memory. As in kernels of the dialect tile.
static const char cudaTileNoAlias[] = "llvm.noalias";

// Constructors give null after a diagnostic if the parameters are wrong.
bool cudaTileTypeIsAPointer(MlirType type);
MlirType cudaTilePointerTypeGet(MlirType pointee);
MlirType cudaTilePointerTypeGetPointee(MlirType type);
bool cudaTileTypeIsAToken(MlirType type);
MlirType cudaTileTokenTypeGet(MlirContext context);

// Sizes and strides that are not known: mlirShapedTypeGetDynamicSize().
bool cudaTileTypeIsATensorView(MlirType type);
MlirType cudaTileTensorViewTypeGet(MlirType element, intptr_t rank, const int64_t *sizes, const int64_t *strides);
MlirType cudaTileTensorViewTypeGetElement(MlirType type);
intptr_t cudaTileTensorViewTypeGetRank(MlirType type);
int64_t cudaTileTensorViewTypeGetSize(MlirType type, intptr_t axis);
int64_t cudaTileTensorViewTypeGetStride(MlirType type, intptr_t axis);

// Views that are read and written in tiles.
typedef enum CudaTileViewKind {
  CudaTileView_Partition,     // tiles beside each other
  CudaTileView_Strided,       // tiles that begin at multiples of `steps`
  CudaTileView_GatherScatter, // a tile of indices says where its places along dimension `sparse` are
  CudaTileView_NumKinds
} CudaTileViewKind;
typedef struct CudaTileViewSpec {
  CudaTileViewKind kind;
  MlirType tensor; // the tensor view
  intptr_t rank;
  int64_t tile[CudaTileMaxRank], map[CudaTileMaxRank], steps[CudaTileMaxRank]; // map: the tensor's axis of each axis
  int64_t sparse;
  const char *padding; // what reads outside the tensor give, one of cudaTilePaddingNames; null: anything
} CudaTileViewSpec;
bool cudaTileTypeIsAView(MlirType type);
MlirType cudaTileViewTypeGet(const CudaTileViewSpec *spec);
CudaTileViewSpec cudaTileViewTypeGetSpec(MlirType type);

// What is known of a value: #cuda_tile.div_by<16>, div_by<16, every 4 along 0>, bounded<0, ?>.
typedef enum CudaTileAssumptionKind {
  CudaTileAssumption_DivBy,
  CudaTileAssumption_Bounded,
  CudaTileAssumption_SameElements,
  CudaTileAssumption_NumKinds
} CudaTileAssumptionKind;
typedef struct CudaTileAssumption {
  CudaTileAssumptionKind kind;
  int64_t divisor;
  bool hasFirst, hasSecond; // every, along; lower bound, upper bound
  int64_t first, second;
  intptr_t count; // of values
  int64_t values[CudaTileMaxRank];
} CudaTileAssumption;
MlirAttribute cudaTileAssumptionAttrGet(MlirContext context, const CudaTileAssumption *assumption);
bool cudaTileAttrIsAnAssumption(MlirAttribute attribute);
CudaTileAssumption cudaTileAssumptionAttrGetSpec(MlirAttribute attribute);

// Words of attributes, in the order of their numbers in the bytecode; each list ends with null.
extern const char *const cudaTilePaddingNames[];
// The words of the attribute kind of that name ("rounding", "scope", …); null: the kind has no words.
const char *const *cudaTileWordsOf(const char *kind);
