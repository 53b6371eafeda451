// What a program says of addresses (memref.assume_alignment: of an entry's arguments the contract, docs/gpu.md) becomes
// an assertion: kernels access memory as wide as that allows, and on a GPU a wrong address would end the context.
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"

#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/memref.h"

#include "upstream/arith.h"
#include "upstream/cf.h"
#include <stdio.h>

static int64_t bytesOf(MlirType memref) {
  MlirType element = mlirShapedTypeGetElementType(memref);
  unsigned bits = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element)
                  : mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element)
                                              : 64;
  return (bits + 7) / 8;
}

static MlirValue offsetOf(TileBuilder *builder, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  if (mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return tileBuildIndex(builder, 0);
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(builder, memref);
  return tileBuildMul(builder, memrefExtractStridedMetadataOpGetOffset(parts), tileBuildIndex(builder, bytesOf(type)));
}

static void say(MlirValue memref, int64_t alignment, char *text, size_t capacity) {
  if (mlirValueIsABlockArgument(memref))
    snprintf(text, capacity, "argument #%d begins at an address that is not a multiple of %lld",
             (int)mlirBlockArgumentGetArgNumber(memref), (long long)alignment);
  else
    snprintf(text, capacity, "the buffer begins at an address that is not a multiple of %lld", (long long)alignment);
}

static void check(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirValue memref = memrefAssumeAlignmentOpGetMemref(op);
  int64_t alignment = memrefAssumeAlignmentOpGetAlignmentValue(op);
  MlirValue base = memrefExtractAlignedPointerAsIndexOpBuild(&builder, memref);
  MlirValue operands[] = {tileBuildAdd(&builder, base, offsetOf(&builder, memref)),
                          tileBuildIndex(&builder, alignment)};
  MlirValue rest = arithRemUIOpBuild(&builder, operands[0], operands[1]);
  MlirValue isAligned = arithCmpIOpBuild(&builder, rest, tileBuildIndex(&builder, 0), ArithCmpI_Eq);
  char text[128];
  say(memref, alignment, text, sizeof text);
  tileBuildAssert(&builder, isAligned, text);
  mlirValueReplaceAllUsesOfWith(memrefAssumeAlignmentOpGetResult(op), memref);
  mlirOperationDestroy(op);
}

uint64_t launchCheckAlignments(MlirOperation module) {
  TileOps assumed = tileCollectOps(module, memrefAssumeAlignmentOpIsA);
  uint64_t checks = (uint64_t)assumed.count;
  for (intptr_t i = 0; i < assumed.count; ++i)
    check(assumed.items[i]);
  tileOpsFree(&assumed);
  return checks;
}
