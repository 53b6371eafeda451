// The hidden parameters of kernels that copy boxes of tensors (docs/gpu.md): at each launch the host's part describes
// the tensor, in the fields of tessera_tensor_map_t (lib/support/tensor_map.h), and the runtime encodes it.
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"

#include "dialects/tile/discardable.h"
#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/support/tensor_map.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include <stddef.h>

// Numbers of the attribute before the box, and 64-bit words of the description.
enum { Parameter, Element, Swizzle, Fill, FirstBox };
enum {
  Address = 0,
  Sizes = offsetof(tessera_tensor_map_t, sizes) / 8,
  Strides = offsetof(tessera_tensor_map_t, strides) / 8,
  Boxes = offsetof(tessera_tensor_map_t, box) / 8,
  Words = sizeof(tessera_tensor_map_t) / 8,
  MapAlign = 64
};
_Static_assert(Words * 8 == sizeof(tessera_tensor_map_t), "whole words");

static MlirAttribute mapsOf(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileOpAttribute(launch, "kernel"));
  return mlirOperationIsNull(kernel) ? (MlirAttribute){NULL} : tileOpGetTensorMaps(kernel);
}

intptr_t launchTensorMaps(MlirOperation launch) {
  MlirAttribute maps = mapsOf(launch);
  return mlirAttributeIsNull(maps) ? 0 : mlirArrayAttrGetNumElements(maps);
}

//===--- the description ----------------------------------------------------------------------===//

typedef struct Description {
  TileBuilder *code;
  MlirType i64;
  MlirValue slot;
} Description;

static void setWord(const Description *description, int32_t at, MlirValue value) {
  llvmStoreOpBuild(description->code, value,
                   tileBuildElementAddress(description->code, description->slot, description->i64, at));
}

static void setIndex(const Description *description, int32_t at, MlirValue index) {
  setWord(description, at, arithIndexCastOpBuild(description->code, description->i64, index));
}

// The fields behind the strides are constants: their bytes as words.
static void setConstants(const Description *description, MlirAttribute map) {
  union {
    tessera_tensor_map_t map;
    uint64_t words[Words];
  } one = {.map = {.element = (uint8_t)mlirDenseI64ArrayGetElement(map, Element),
                   .swizzle = (uint8_t)mlirDenseI64ArrayGetElement(map, Swizzle),
                   .fill = (uint8_t)mlirDenseI64ArrayGetElement(map, Fill),
                   .rank = (uint8_t)(mlirDenseArrayGetNumElements(map) - FirstBox)}};
  for (int i = 0; i < one.map.rank; ++i)
    one.map.box[i] = (uint32_t)mlirDenseI64ArrayGetElement(map, FirstBox + i);
  for (int32_t i = Boxes; i < Words; ++i)
    setWord(description, i, tileBuildInteger(description->code, description->i64, (int64_t)one.words[i]));
}

static void setTensor(const Description *description, MlirValue memref) {
  TileBuilder *code = description->code;
  MlirType type = mlirValueGetType(memref);
  intptr_t rank = mlirShapedTypeGetRank(type);
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(code, memref);
  MlirValue bytes = tileBuildIndex(code, launchBytesOf(mlirShapedTypeGetElementType(type)));
  MlirValue offset = tileBuildMul(code, memrefExtractStridedMetadataOpGetOffset(parts), bytes);
  setIndex(description, Address, tileBuildAdd(code, memrefExtractAlignedPointerAsIndexOpBuild(code, memref), offset));
  for (intptr_t axis = 0; axis < rank; ++axis) {
    intptr_t d = rank - 1 - axis;
    setIndex(description, (int32_t)(Sizes + axis), memrefExtractStridedMetadataOpGetSizes(parts, d));
    if (axis)
      setIndex(description, (int32_t)(Strides + axis - 1),
               tileBuildMul(code, memrefExtractStridedMetadataOpGetStrides(parts, d), bytes));
  }
}

MlirValue launchBuildTensorMap(TileBuilder *slots, TileBuilder *code, MlirOperation launch, intptr_t index) {
  MlirAttribute map = mlirArrayAttrGetElement(mapsOf(launch), index);
  MlirType i64 = mlirIntegerTypeGet(code->context, 64), i8 = mlirIntegerTypeGet(code->context, 8);
  MlirValue slot = tileBuildAlloca(slots, mlirLLVMArrayTypeGet(i8, TESSERA_MAP_BYTES));
  llvmAllocaOpSetAlignment(mlirOpResultGetOwner(slot), mlirIntegerAttrGet(i64, MapAlign));
  Description description = {code, i64, tileBuildAlloca(slots, mlirLLVMArrayTypeGet(i64, Words))};
  setTensor(&description,
            gpuLaunchFuncOpGetKernelOperands(launch, (intptr_t)mlirDenseI64ArrayGetElement(map, Parameter)));
  setConstants(&description, map);
  MlirValue operands[] = {description.slot, slot};
  launchBuildRuntimeCall(code, launchTensorMapFunction, 2, operands);
  return slot;
}
