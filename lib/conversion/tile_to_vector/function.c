// The function of a kernel, void kernel(void **args, int64_t begin, int64_t end), with the loop over linear program
// numbers. README.md describes the ABI; the code of convert-tile-launch-to-runtime calls the function.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/func.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

enum { GridRank = 3 };

static MlirType pointerType(VecLowering *lowering) { return mlirLLVMPointerTypeGet(lowering->context, 0); }

static MlirType wordType(VecLowering *lowering) { return mlirIntegerTypeGet(lowering->context, 64); }

//===--- arguments --------------------------------------------------------------------------===//

static MlirValue loadAt(VecLowering *lowering, MlirValue base, MlirType type, int32_t index) {
  MlirValue pointer = tileBuildElementAddress(&lowering->builder, base, type, index);
  return llvmLoadOpBuild(&lowering->builder, type, pointer);
}

// Argument number i lies where args[i] points.
static MlirValue unpack(VecLowering *lowering, MlirValue args, int32_t i, MlirType type) {
  MlirValue place = loadAt(lowering, args, pointerType(lowering), i);
  TileBuilder *builder = &lowering->builder;
  if (mlirTypeIsAMemRef(type)) {
    MlirValue descriptor =
        loadAt(lowering, place, vecDescriptorType(lowering->context, mlirShapedTypeGetRank(type)), 0);
    return tileBuildConversionCast(builder, type, descriptor);
  }
  if (mlirTypeIsAIndex(type))
    return arithIndexCastOpBuild(builder, type, loadAt(lowering, place, wordType(lowering), 0));
  return loadAt(lowering, place, type, 0);
}

static void unpackAll(VecLowering *lowering, MlirBlock kernelBody, MlirValue args) {
  intptr_t count = mlirBlockGetNumArguments(kernelBody);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue parameter = mlirBlockGetArgument(kernelBody, i);
    vecRecordScalar(lowering, parameter, unpack(lowering, args, (int32_t)i, mlirValueGetType(parameter)));
  }
  MlirType index = mlirIndexTypeGet(lowering->context);
  MlirValue grid = loadAt(lowering, args, pointerType(lowering), (int32_t)count);
  for (int32_t i = 0; i < GridRank; ++i)
    lowering->gridSizes[i] =
        arithIndexCastOpBuild(&lowering->builder, index, loadAt(lowering, grid, wordType(lowering), i));
}

//===--- the loop over programs ------------------------------------------------------------------===//

// number = (z * grid[1] + y) * grid[0] + x
static void decodeProgram(VecLowering *lowering, MlirValue number) {
  TileBuilder *builder = &lowering->builder;
  for (int i = 0; i < GridRank; ++i) {
    bool isLast = i == GridRank - 1;
    lowering->programIds[i] = isLast ? number : arithRemUIOpBuild(builder, number, lowering->gridSizes[i]);
    if (!isLast)
      number = arithDivUIOpBuild(builder, number, lowering->gridSizes[i]);
  }
}

static bool lowerPrograms(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry) {
  TileBuilder *builder = &lowering->builder;
  MlirType index = mlirIndexTypeGet(lowering->context);
  unpackAll(lowering, kernelBody, mlirBlockGetArgument(entry, 0));
  MlirValue begin = arithIndexCastOpBuild(builder, index, mlirBlockGetArgument(entry, 1));
  MlirValue end = arithIndexCastOpBuild(builder, index, mlirBlockGetArgument(entry, 2));
  MlirBlock body;
  MlirOperation loop = tileBuildFor(builder, begin, end, tileBuildIndex(builder, 1), 0, NULL, &body);
  MlirOperation leave = funcReturnOpBuild(builder, 0, NULL);
  lowering->entry = tileBuilderBefore(loop);
  lowering->exit = tileBuilderBefore(leave);
  vecEnter(lowering, body);
  decodeProgram(lowering, mlirBlockGetArgument(body, 0));
  bool ok = vecLowerBlock(lowering, kernelBody);
  tileBuildYield(&lowering->builder, 0, NULL);
  return ok;
}

//===--- functions ------------------------------------------------------------------------------------===//

static MlirBlock entryBlock(VecLowering *lowering, MlirRegion region, MlirLocation location) {
  MlirType types[] = {pointerType(lowering), wordType(lowering), wordType(lowering)};
  MlirBlock entry = mlirBlockCreate(3, types, (MlirLocation[]){location, location, location});
  mlirRegionAppendOwnedBlock(region, entry);
  return entry;
}

bool vecLowerKernel(MlirOperation kernel, const VecWidths *widths) {
  VecLowering lowering = vecLoweringCreate(kernel, widths);
  MlirLocation location = mlirOperationGetLocation(kernel);
  MlirBlock kernelBody = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  MlirRegion region = mlirRegionCreate();
  MlirBlock entry = entryBlock(&lowering, region, location);
  MlirType inputs[] = {pointerType(&lowering), wordType(&lowering), wordType(&lowering)};
  MlirType type = mlirFunctionTypeGet(lowering.context, 3, inputs, 0, NULL);
  TileBuilder builder = tileBuilderBefore(kernel);
  MlirStringRef name = tileKernelOpGetSymNameValue(kernel);
  MlirAttribute none = mlirAttributeGetNull();
  MlirOperation function = funcFuncOpCreate(&builder, mlirStringAttrGet(lowering.context, name), mlirTypeAttrGet(type),
                                            none, none, none, none, region);
  lowering.builder = tileBuilderAtEnd(entry, location);
  bool ok = vecReadSchedule(&lowering) && lowerPrograms(&lowering, kernelBody, entry);
  vecLoweringDestroy(&lowering);
  mlirOperationDestroy(ok ? kernel : function);
  return ok;
}
