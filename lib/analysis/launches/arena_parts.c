// See arena_parts.h.
#include "lib/analysis/launches/arena_parts.h"

#include "dialects/tile/ops.h"
#include "lib/ir/builder.h"
#include "lib/ir/op_query.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/memref.h"

static bool hasPlainElements(MlirType type) {
  MlirType element = mlirShapedTypeGetElementType(type);
  unsigned width = tileElementWidth(element);
  return mlirTypeIsAIndex(element) || (width >= 1 && width <= 64);
}

bool tileAllocationMayMove(MlirOperation alloc) {
  MlirType type = memrefAllocOpGetMemrefType(alloc);
  int64_t alignment = TileArenaAlignment;
  MlirAttribute asked = tileOpAttribute(alloc, "alignment");
  if (!mlirAttributeIsNull(asked))
    alignment = mlirIntegerAttrGetValueInt(asked);
  return mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type)) &&
         mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)) && hasPlainElements(type) &&
         alignment <= TileArenaAlignment;
}

MlirOperation tileAllocationFree(MlirOperation alloc) {
  MlirOperation found = {NULL};
  MlirValue memory = tileOnlyResult(alloc);
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!memrefDeallocOpIsA(user))
      continue;
    if (!mlirOperationIsNull(found) || !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(alloc)))
      return (MlirOperation){NULL};
    found = user;
  }
  return found;
}

int64_t tileArenaAskedBytes(MlirType type) {
  int64_t bytes = tileMemoryBytes(type);
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(type); ++d)
    if (__builtin_mul_overflow(bytes, mlirShapedTypeGetDimSize(type, d), &bytes))
      return INT64_MAX;
  return bytes;
}

int64_t tileArenaBytes(MlirType type) {
  int64_t bytes = tileArenaAskedBytes(type);
  return bytes > INT64_MAX - TileArenaAlignment
             ? INT64_MAX
             : (bytes + TileArenaAlignment - 1) / TileArenaAlignment * TileArenaAlignment;
}

static bool isOfLaunches(MlirValue memory, MlirOperation dealloc) {
  for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirValue viewed = tileOpViewedMemory(user);
    bool isView = !mlirValueIsNull(viewed) && mlirValueEqual(viewed, memory) && !memrefViewOpIsA(user);
    if (!mlirOperationEqual(user, dealloc) && !tileLaunchOpIsA(user) &&
        !(isView && isOfLaunches(tileFirstResult(user), (MlirOperation){NULL})))
      return false;
  }
  return true;
}

bool tileAllocationIsOfLaunches(MlirOperation alloc) {
  MlirOperation dealloc = tileAllocationFree(alloc);
  return !mlirOperationIsNull(dealloc) && mlirShapedTypeHasStaticShape(memrefAllocOpGetMemrefType(alloc)) &&
         tileAllocationMayMove(alloc) && isOfLaunches(tileOnlyResult(alloc), dealloc);
}

static bool beginsAt(MlirOperation view, int64_t *bytes) {
  return tileConstantIndex(memrefViewOpGetByteShift(view), bytes) && memrefViewOpGetNumSizes(view) == 0;
}

MlirValue tileMemoryPart(MlirValue memref, int64_t *bytes) {
  MlirValue part = memref;
  *bytes = 0;
  for (MlirOperation op = tileDefiningOp(part); !mlirOperationIsNull(op); op = tileDefiningOp(part)) {
    MlirValue viewed = tileOpViewedMemory(op);
    if (mlirValueIsNull(viewed))
      return part;
    if (memrefViewOpIsA(op)) {
      bool isOfRoot = mlirValueEqual(tileMemoryRoot(viewed), viewed);
      return isOfRoot && beginsAt(op, bytes) ? part : (MlirValue){NULL};
    }
    part = viewed;
  }
  return part;
}
