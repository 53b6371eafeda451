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

enum { MaxRank = 64 };

static int64_t bytesOf(MlirType memref) {
  MlirType element = mlirShapedTypeGetElementType(memref);
  unsigned bits = mlirTypeIsAInteger(element) ? mlirIntegerTypeGetWidth(element)
                  : mlirTypeIsAFloat(element) ? mlirFloatTypeGetWidth(element)
                                              : 64;
  return (bits + 7) / 8;
}

static MlirValue offsetOf(TileBuilder *builder, MlirValue memref) {
  MlirType type = mlirValueGetType(memref), index = mlirIndexTypeGet(builder->context), results[2 + 2 * MaxRank];
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)) || rank > MaxRank)
    return tileBuildIndex(builder, 0);
  results[0] = mlirMemRefTypeGet(mlirShapedTypeGetElementType(type), 0, NULL, mlirAttributeGetNull(),
                                 mlirMemRefTypeGetMemorySpace(type));
  for (intptr_t i = 1; i < 2 + 2 * rank; ++i)
    results[i] = index;
  MlirOperation parts =
      tileBuild(builder, memrefExtractStridedMetadataOpName, 1, &memref, 2 + 2 * rank, results, NULL, 0, NULL);
  return tileBuildMul(builder, mlirOperationGetResult(parts, 1), tileBuildIndex(builder, bytesOf(type)));
}

static void say(MlirValue memref, int64_t alignment, char *text, size_t capacity) {
  if (mlirValueIsABlockArgument(memref))
    snprintf(text, capacity, "argument #%d begins at an address that is no multiple of %lld",
             (int)mlirBlockArgumentGetArgNumber(memref), (long long)alignment);
  else
    snprintf(text, capacity, "the buffer begins at an address that is no multiple of %lld", (long long)alignment);
}

static void check(MlirOperation op) {
  TileBuilder builder = tileBuilderBefore(op);
  MlirType i64 = mlirIntegerTypeGet(builder.context, 64);
  MlirValue memref = mlirOperationGetOperand(op, 0);
  int64_t alignment = mlirIntegerAttrGetValueInt(tileOpAttribute(op, "alignment"));
  MlirValue base = memrefExtractAlignedPointerAsIndexOpBuild(&builder, memref);
  MlirValue operands[] = {tileBuildAdd(&builder, base, offsetOf(&builder, memref)),
                          tileBuildIndex(&builder, alignment)};
  MlirValue rest = arithRemUIOpBuild(&builder, operands[0], operands[1]);
  TileAttributeEntry equal[] = {{"predicate", mlirIntegerAttrGet(i64, 0)}, {NULL}};
  MlirValue isAligned = tileBuildValue(&builder, arithCmpIOpName, mlirIntegerTypeGet(builder.context, 1), 2,
                                       (MlirValue[]){rest, tileBuildIndex(&builder, 0)}, equal);
  char text[128];
  say(memref, alignment, text, sizeof text);
  TileAttributeEntry message[] = {{"msg", mlirStringAttrGet(builder.context, tileString(text))}, {NULL}};
  tileBuild(&builder, cfAssertOpName, 1, &isAligned, 0, NULL, message, 0, NULL);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), memref);
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
