// The function of a kernel, void kernel(void **args, int64_t begin, int64_t end), with the loop over linear program
// numbers. README.md describes the ABI; the code of convert-tile-launch-to-runtime calls the function. For source text
// a function has the kernel's own parameters instead.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "upstream/func.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

enum { GridRank = 3, MaxPlainArguments = 512 };

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

static void unpackAll(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry, MlirValue *begin, MlirValue *end) {
  intptr_t count = mlirBlockGetNumArguments(kernelBody);
  MlirValue args = mlirBlockGetArgument(entry, 0);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue parameter = mlirBlockGetArgument(kernelBody, i);
    vecRecordScalar(lowering, parameter, unpack(lowering, args, (int32_t)i, mlirValueGetType(parameter)));
  }
  MlirType index = mlirIndexTypeGet(lowering->context);
  MlirValue grid = loadAt(lowering, args, pointerType(lowering), (int32_t)count);
  for (int32_t i = 0; i < GridRank; ++i)
    lowering->gridSizes[i] =
        arithIndexCastOpBuild(&lowering->builder, index, loadAt(lowering, grid, wordType(lowering), i));
  *begin = arithIndexCastOpBuild(&lowering->builder, index, mlirBlockGetArgument(entry, 1));
  *end = arithIndexCastOpBuild(&lowering->builder, index, mlirBlockGetArgument(entry, 2));
}

// The parameters of the kernel, the sizes of the grid, the first and the last program.
static void takeAll(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry, MlirValue *begin, MlirValue *end) {
  intptr_t count = mlirBlockGetNumArguments(kernelBody);
  for (intptr_t i = 0; i < count; ++i)
    vecRecordScalar(lowering, mlirBlockGetArgument(kernelBody, i), mlirBlockGetArgument(entry, i));
  for (intptr_t i = 0; i < GridRank; ++i)
    lowering->gridSizes[i] = mlirBlockGetArgument(entry, count + i);
  *begin = mlirBlockGetArgument(entry, count + GridRank);
  *end = mlirBlockGetArgument(entry, count + GridRank + 1);
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

static bool lowerPrograms(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry, bool hasPlainArguments) {
  TileBuilder *builder = &lowering->builder;
  MlirValue begin, end;
  if (hasPlainArguments)
    takeAll(lowering, kernelBody, entry, &begin, &end);
  else
    unpackAll(lowering, kernelBody, entry, &begin, &end);
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

// Adds the arguments of the function, and returns its type.
static MlirType addArguments(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry, bool arePlain) {
  MlirLocation location = mlirOperationGetLocation(lowering->kernel);
  MlirType packed[] = {pointerType(lowering), wordType(lowering), wordType(lowering)}, types[MaxPlainArguments];
  intptr_t count = arePlain ? mlirBlockGetNumArguments(kernelBody) : 0, numAdded = arePlain ? GridRank + 2 : 3;
  if (count + numAdded > MaxPlainArguments) {
    tileError(lowering->kernel, "has %d parameters; at most %d are supported here", (int)count,
              MaxPlainArguments - GridRank - 2);
    return (MlirType){NULL};
  }
  for (intptr_t i = 0; i < count + numAdded; ++i) {
    types[i] = !arePlain   ? packed[i]
               : i < count ? mlirValueGetType(mlirBlockGetArgument(kernelBody, i))
                           : mlirIndexTypeGet(lowering->context);
    mlirBlockAddArgument(entry, types[i], location);
  }
  return mlirFunctionTypeGet(lowering->context, count + numAdded, types, 0, NULL);
}

bool vecLowerKernel(MlirOperation kernel, const VecWidths *widths, bool hasPlainArguments) {
  VecLowering lowering = vecLoweringCreate(kernel, widths);
  MlirLocation location = mlirOperationGetLocation(kernel);
  MlirBlock kernelBody = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  MlirRegion region = mlirRegionCreate();
  MlirBlock entry = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, entry);
  MlirType type = addArguments(&lowering, kernelBody, entry, hasPlainArguments);
  TileBuilder builder = tileBuilderBefore(kernel);
  MlirStringRef name = tileKernelOpGetSymNameValue(kernel);
  MlirAttribute none = mlirAttributeGetNull();
  if (mlirTypeIsNull(type)) {
    mlirRegionDestroy(region);
    vecLoweringDestroy(&lowering);
    return false;
  }
  MlirOperation function = funcFuncOpCreate(&builder, mlirStringAttrGet(lowering.context, name), mlirTypeAttrGet(type),
                                            none, none, none, none, region);
  lowering.builder = tileBuilderAtEnd(entry, location);
  bool ok = vecReadSchedule(&lowering) && lowerPrograms(&lowering, kernelBody, entry, hasPlainArguments);
  vecLoweringDestroy(&lowering);
  mlirOperationDestroy(ok ? kernel : function);
  return ok;
}
