// tile-flatten-constants: constants of several dimensions become rows of numbers.
//
// Why: LLVM keeps an array of numbers as its bytes, but an array of arrays as an object for each innermost array, in
// tables by their content. A model's weights of 24 × 96 × 3 × 3 made 6,912 objects of three numbers, and took half of
// the compilation. Expects: llvm.mlir.global with the data of memref.global. Leaves: an array of one dimension with
// this data; addresses into it stay what they are, as these are opaque. Splats stay: each of their arrays is one
// object. No program compares addresses of constants (`unnamed_addr`), so LLVM merges those of equal data: weights that
// several entries transposed or packed are in the program once. Cost: linear in the constants that are no resources.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/transforms/upstream/faults.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/builtin.h"
#include "upstream/llvm.h"

// What finalize-memref-to-llvm makes of a memref of this shape: arrays of arrays of its elements.
static bool isOfArrays(MlirType global, MlirType shaped) {
  MlirType type = mlirShapedTypeGetElementType(shaped);
  if (!mlirTypeIsAFloat(type) && !mlirTypeIsAInteger(type))
    return false;
  for (intptr_t d = mlirShapedTypeGetRank(shaped); d-- > 0;)
    type = mlirLLVMArrayTypeGet(type, (unsigned)mlirShapedTypeGetDimSize(shaped, d));
  return mlirTypeEqual(global, type);
}

static MlirAttribute rowOf(MlirAttribute value, const unsigned char *bytes, size_t size, MlirType row) {
  if (!mlirAttributeIsADenseResourceElements(value))
    return mlirDenseElementsAttrReshapeGet(value, row);
  // The data stay those of the first resource, which lives as long as the context.
  size_t width = tileElementWidth(mlirShapedTypeGetElementType(row)) / 8;
  return mlirUnmanagedDenseResourceElementsAttrGet(row, tileString("row"), (void *)(uintptr_t)bytes, size, width, false,
                                                   NULL, NULL);
}

static bool flatten(MlirOperation global) {
  size_t size;
  MlirAttribute value = llvmGlobalOpGetValue(global);
  bool isElements = !mlirAttributeIsNull(value) && mlirAttributeIsAElements(value);
  MlirType type = isElements ? mlirAttributeGetType(value) : (MlirType){NULL};
  if (!isElements || mlirShapedTypeGetRank(type) < 2)
    return false;
  const unsigned char *bytes = tileElementsBytes(value, &size);
  if (!bytes || !isOfArrays(llvmGlobalOpGetGlobalTypeValue(global), type))
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  int64_t count = (int64_t)(size / (tileElementWidth(element) / 8));
  if (count > UINT32_MAX)
    return false;
  MlirType row = mlirRankedTensorTypeGet(1, &count, element, mlirAttributeGetNull());
  llvmGlobalOpSetGlobalType(global, mlirTypeAttrGet(mlirLLVMArrayTypeGet(element, (unsigned)count)));
  llvmGlobalOpSetValue(global, rowOf(value, bytes, size, row));
  return true;
}

// As LLVM's UnnamedAddr counts: 2 stands for `unnamed_addr`.
static void forgetAddress(MlirOperation global) {
  enum { Global = 2 };
  MlirAttribute value = llvmGlobalOpGetValue(global);
  MlirType i64 = mlirIntegerTypeGet(mlirOperationGetContext(global), 64);
  bool isConstant = !mlirAttributeIsNull(value) && mlirAttributeIsAElements(value) && llvmGlobalOpHasConstant(global);
  if (isConstant)
    llvmGlobalOpSetUnnamedAddr(global, mlirIntegerAttrGet(i64, Global));
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps globals = tileCollectOps(module, llvmGlobalOpIsA);
  for (intptr_t i = 0; i < globals.count; ++i) {
    mlirExtPassAddStatistic(pass, 0, flatten(globals.items[i]));
    forgetAddress(globals.items[i]);
  }
  tileOpsFree(&globals);
  return true;
}

const MlirExtPassDefinition tileFlattenConstantsPass = {
    .argument = "tile-flatten-constants",
    .summary = "Make rows of numbers of LLVM's constants of several dimensions",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"constants: made rows", NULL},
    .dialects = (const char *const[]){"llvm", NULL},
    .run = run,
};
