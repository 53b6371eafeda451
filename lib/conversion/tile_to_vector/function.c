// A kernel as a function: void kernel(void **args, int64_t begin, int64_t end), the loop over linear program numbers in
// it. README.md describes the ABI, which convert-tile-launch-to-runtime's code calls.
#include "lib/conversion/tile_to_vector/lowering.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"

enum { GridRank = 3 };

static MlirType pointerType(VecLowering *lowering) { return mlirLLVMPointerTypeGet(lowering->context, 0); }

static MlirType wordType(VecLowering *lowering) { return mlirIntegerTypeGet(lowering->context, 64); }

//===--- arguments --------------------------------------------------------------------------===//

static MlirValue elementPointer(TileBuilder *builder, MlirValue base, MlirType element, int32_t index) {
  TileAttributeEntry attributes[] = {{"elem_type", mlirTypeAttrGet(element)},
                                     {"rawConstantIndices", mlirDenseI32ArrayGet(builder->context, 1, &index)},
                                     {0}};
  return tileBuildValue(builder, "llvm.getelementptr", mlirValueGetType(base), 1, &base, attributes);
}

static MlirValue loadAt(VecLowering *lowering, MlirValue base, MlirType type, int32_t index) {
  MlirValue pointer = elementPointer(&lowering->builder, base, type, index);
  return vecBuildUnary(&lowering->builder, "llvm.load", type, pointer);
}

static MlirType descriptorType(VecLowering *lowering, MlirType memref) {
  intptr_t rank = mlirShapedTypeGetRank(memref);
  MlirType pointer = pointerType(lowering), word = wordType(lowering);
  MlirType array = mlirLLVMArrayTypeGet(word, (unsigned)rank);
  MlirType fields[5] = {pointer, pointer, word, array, array};
  return mlirLLVMStructTypeLiteralGet(lowering->context, rank ? 5 : 3, fields, false);
}

// Argument number i lies where args[i] points.
static MlirValue unpack(VecLowering *lowering, MlirValue args, int32_t i, MlirType type) {
  MlirValue place = loadAt(lowering, args, pointerType(lowering), i);
  TileBuilder *builder = &lowering->builder;
  if (mlirTypeIsAMemRef(type)) {
    MlirValue descriptor = loadAt(lowering, place, descriptorType(lowering, type), 0);
    return vecBuildUnary(builder, "builtin.unrealized_conversion_cast", type, descriptor);
  }
  if (mlirTypeIsAIndex(type))
    return vecBuildUnary(builder, "arith.index_cast", type, loadAt(lowering, place, wordType(lowering), 0));
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
        vecBuildUnary(&lowering->builder, "arith.index_cast", index, loadAt(lowering, grid, wordType(lowering), i));
}

//===--- the loop over programs ------------------------------------------------------------------===//

// number = (z * grid[1] + y) * grid[0] + x
static void decodeProgram(VecLowering *lowering, MlirValue number) {
  TileBuilder *builder = &lowering->builder;
  for (int i = 0; i < GridRank; ++i) {
    bool isLast = i == GridRank - 1;
    lowering->programIds[i] = isLast ? number : vecBuildBinary(builder, "arith.remui", number, lowering->gridSizes[i]);
    if (!isLast)
      number = vecBuildBinary(builder, "arith.divui", number, lowering->gridSizes[i]);
  }
}

static bool lowerPrograms(VecLowering *lowering, MlirBlock kernelBody, MlirBlock entry) {
  TileBuilder *builder = &lowering->builder;
  MlirType index = mlirIndexTypeGet(lowering->context);
  unpackAll(lowering, kernelBody, mlirBlockGetArgument(entry, 0));
  MlirValue begin = vecBuildUnary(builder, "arith.index_cast", index, mlirBlockGetArgument(entry, 1));
  MlirValue end = vecBuildUnary(builder, "arith.index_cast", index, mlirBlockGetArgument(entry, 2));
  MlirBlock body;
  MlirOperation loop = tileBuildFor(builder, begin, end, tileBuildIndex(builder, 1), 0, NULL, &body);
  MlirOperation leave = tileBuild(builder, "func.return", 0, NULL, 0, NULL, NULL, 0, NULL);
  lowering->entry = tileBuilderBefore(loop);
  lowering->exit = tileBuilderBefore(leave);
  vecEnter(lowering, body);
  decodeProgram(lowering, mlirBlockGetArgument(body, 0));
  bool ok = vecLowerBlock(lowering, kernelBody);
  tileBuildYield(&lowering->builder, 0, NULL);
  return ok;
}

//===--- functions ------------------------------------------------------------------------------------===//

static MlirOperation buildFunction(TileBuilder *builder, MlirStringRef name, bool isPrivate, MlirType type,
                                   MlirRegion body) {
  TileAttributeEntry attributes[] = {
      {"sym_name", mlirStringAttrGet(builder->context, name)},
      {"function_type", mlirTypeAttrGet(type)},
      {isPrivate ? "sym_visibility" : NULL, mlirStringAttrGet(builder->context, tileString("private"))},
      {0}};
  return tileBuild(builder, "func.func", 0, NULL, 0, NULL, attributes, 1, &body);
}

static bool hasFunction(MlirBlock moduleBody, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(moduleBody); op.ptr; op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tileOpAttribute(op, "sym_name");
    if (symbol.ptr && mlirAttributeIsAString(symbol) && tileStringEquals(mlirStringAttrGetValue(symbol), name))
      return true;
  }
  return false;
}

// void *tessera_local_alloc(int64_t bytes), void tessera_local_free(void *)
static void declareLocalMemory(VecLowering *lowering, MlirOperation function) {
  MlirType pointer = pointerType(lowering), word = wordType(lowering);
  TileBuilder builder = tileBuilderBefore(function);
  if (hasFunction(builder.block, "tessera_local_alloc"))
    return;
  MlirType allocate = mlirFunctionTypeGet(lowering->context, 1, &word, 1, &pointer);
  MlirType release = mlirFunctionTypeGet(lowering->context, 1, &pointer, 0, NULL);
  buildFunction(&builder, tileString("tessera_local_alloc"), true, allocate, mlirRegionCreate());
  buildFunction(&builder, tileString("tessera_local_free"), true, release, mlirRegionCreate());
}

static MlirBlock entryBlock(VecLowering *lowering, MlirRegion region, MlirLocation location) {
  MlirType types[] = {pointerType(lowering), wordType(lowering), wordType(lowering)};
  MlirBlock entry = mlirBlockCreate(3, types, (MlirLocation[]){location, location, location});
  mlirRegionAppendOwnedBlock(region, entry);
  return entry;
}

bool vecLowerKernel(MlirOperation kernel) {
  VecLowering lowering = vecLoweringCreate(kernel);
  MlirLocation location = mlirOperationGetLocation(kernel);
  MlirBlock kernelBody = mlirRegionGetFirstBlock(tileKernelOpGetBody(kernel));
  MlirRegion region = mlirRegionCreate();
  MlirBlock entry = entryBlock(&lowering, region, location);
  MlirType inputs[] = {pointerType(&lowering), wordType(&lowering), wordType(&lowering)};
  MlirType type = mlirFunctionTypeGet(lowering.context, 3, inputs, 0, NULL);
  TileBuilder builder = tileBuilderBefore(kernel);
  MlirStringRef name = tileKernelOpGetSymNameValue(kernel);
  MlirOperation function = buildFunction(&builder, name, false, type, region);
  lowering.builder = tileBuilderAtEnd(entry, location);
  bool ok = lowerPrograms(&lowering, kernelBody, entry);
  if (ok && lowering.usesLocalMemory)
    declareLocalMemory(&lowering, function);
  vecDestroyInlined(&lowering);
  vecLoweringDestroy(&lowering);
  mlirOperationDestroy(ok ? kernel : function);
  return ok;
}
