// Turns tile.launch on memrefs into a call of the runtime: tessera_launch(kernel, args, programs, name).
//
// Expects: host functions on memrefs; kernels already lowered to func.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)
// (convert-tile-to-vector), which unpack `args` themselves. Leaves: llvm.call and stack slots at the entry of the
// enclosing function (a launch in a loop must not grow the stack); no tile.launch.
// The packed arguments, in the order of the kernel's parameters: a pointer to the memref's descriptor, or to the
// scalar; after the last parameter a pointer to int64_t grid[3] (absent dimensions are 1).
// A program's linear number is (z * grid[1] + y) * grid[0] + x. A grid with a size <= 0 runs nothing; a size that is
// not known to be below 2^31, which tile.program_id's range promises, is asserted to be (cf.assert, for
// convert-assert-to-runtime), and so is a product of three below 2^62.
#include "dialects/tile/ops.h"
#include "dialects/tile/questions.h"
#include "lib/capi/op.h"
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/llvm.h"

#include "upstream/builtin.h"
#include "upstream/cf.h"
#include <stdio.h>

enum { GridRank = 3 };

static const char *const launchFunction = "tessera_launch";

// One launch being lowered: `slots` builds at the function's entry, `code` before the launch.
typedef struct Lowering {
  TileBuilder slots, code;
  MlirType pointer, i64;
} Lowering;

static MlirType descriptorType(Lowering *lowering, MlirType memref) {
  intptr_t rank = mlirShapedTypeGetRank(memref);
  MlirType array = mlirLLVMArrayTypeGet(lowering->i64, (unsigned)rank);
  MlirType fields[5] = {lowering->pointer, lowering->pointer, lowering->i64, array, array};
  return mlirLLVMStructTypeLiteralGet(lowering->code.context, rank ? 5 : 3, fields, false);
}

static void buildStore(Lowering *lowering, MlirValue value, MlirValue pointer) {
  llvmStoreOpBuild(&lowering->code, value, pointer);
}

// Puts `value` into a stack slot in the form the kernel reads and returns the slot.
static MlirValue spill(Lowering *lowering, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  if (mlirTypeIsAMemRef(type))
    value = tileBuildConversionCast(&lowering->code, descriptorType(lowering, type), value);
  else if (mlirTypeIsAIndex(type))
    value = arithIndexCastOpBuild(&lowering->code, lowering->i64, value);
  MlirValue slot = tileBuildAlloca(&lowering->slots, mlirValueGetType(value));
  buildStore(lowering, value, slot);
  return slot;
}

//===--- the grid's sizes -------------------------------------------------------===//

enum { LargestSize = 0x7fffffff };

static MlirValue inF64(TileBuilder *code, MlirValue index) {
  MlirType word = mlirIntegerTypeGet(code->context, 64);
  MlirValue integer = arithIndexCastOpBuild(code, word, index);
  return arithSIToFPOpBuild(code, mlirF64TypeGet(code->context), integer);
}

static void assertProduct(TileBuilder *code, const MlirValue *sizes) {
  MlirType f64 = mlirF64TypeGet(code->context);
  MlirValue product = inF64(code, sizes[0]);
  for (int i = 1; i < GridRank; ++i)
    product = arithMulFOpBuild(code, product, inF64(code, sizes[i]));
  MlirValue isSmall = arithCmpFOpBuild(code, product, tileBuildFloat(code, f64, 0x1p62), ArithCmpF_Olt);
  tileBuildAssert(code, isSmall, "a grid has less than 2^62 programs");
}

static void assertSizes(TileBuilder *code, intptr_t rank, const MlirValue *sizes) {
  MlirValue largest = {NULL};
  int64_t known;
  for (intptr_t i = 0; i < rank; ++i)
    if (!tileConstantIndex(sizes[i], &known) || known > LargestSize)
      largest = mlirValueIsNull(largest) ? sizes[i] : tileBuildMax(code, largest, sizes[i]);
  if (mlirValueIsNull(largest))
    return;
  MlirValue isSmall = arithCmpIOpBuild(code, largest, tileBuildIndex(code, LargestSize), ArithCmpI_Sle);
  tileBuildAssert(code, isSmall, "a grid has at most 2147483647 programs along an axis");
  if (rank == GridRank)
    assertProduct(code, sizes);
}

// Stores grid[0..2] into a slot and returns it; `*programs` is their product, 0 if any is not positive.
static MlirValue packGrid(Lowering *lowering, MlirOperation launch, intptr_t rank, MlirValue *programs) {
  TileBuilder *code = &lowering->code;
  MlirValue slot = tileBuildAlloca(&lowering->slots, mlirLLVMArrayTypeGet(lowering->i64, GridRank));
  MlirValue zero = tileBuildIndex(code, 0), product = tileBuildIndex(code, 1), sizes[GridRank];
  for (int32_t i = 0; i < GridRank; ++i) {
    MlirValue size = i < rank ? tileLaunchOpGetGrid(launch, i) : tileBuildIndex(code, 1);
    sizes[i] = size = tileBuildMax(code, size, zero);
    product = tileBuildMul(code, product, size);
    MlirValue word = arithIndexCastOpBuild(code, lowering->i64, size);
    buildStore(lowering, word, tileBuildElementAddress(&lowering->code, slot, lowering->i64, i));
  }
  assertSizes(code, rank, sizes);
  *programs = arithIndexCastOpBuild(code, lowering->i64, product);
  return slot;
}

static MlirValue buildKernelPointer(Lowering *lowering, MlirAttribute kernel) {
  MlirType inputs[3] = {lowering->pointer, lowering->i64, lowering->i64};
  MlirType type = mlirFunctionTypeGet(lowering->code.context, 3, inputs, 0, NULL);
  MlirValue function = funcConstantOpBuild(&lowering->code, type, kernel);
  return tileBuildConversionCast(&lowering->code, lowering->pointer, function);
}

// The kernel's name as text, one global for each kernel: what traces and statistics call it.
static MlirValue buildKernelName(Lowering *lowering, MlirOperation launch, MlirOperation module) {
  MlirStringRef kernel = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(launch, "kernel"));
  char name[512], symbol[544];
  snprintf(name, sizeof name, "%.*s", (int)kernel.length, kernel.data);
  snprintf(symbol, sizeof symbol, "tessera_name_of_%s", name);
  if (mlirOperationIsNull(tileFindSymbol(module, symbol))) {
    TileBuilder top = tileBuilderAtTop(module);
    tileBuildText(&top, symbol, name);
  }
  return tileBuildTextAddress(&lowering->code, symbol);
}

static void lower(MlirOperation launch, MlirOperation module) {
  MlirOperation function = tileParentOp(launch, funcFuncOpIsA);
  MlirContext context = mlirOperationGetContext(launch);
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  Lowering lowering = {.slots = tileBuilderAtStart(entry, mlirOperationGetLocation(launch)),
                       .code = tileBuilderBefore(launch),
                       .pointer = mlirLLVMPointerTypeGet(context, 0),
                       .i64 = mlirIntegerTypeGet(context, 64)};
  intptr_t rank = tileLaunchOpGetNumGrid(launch), parameters = mlirOperationGetNumOperands(launch) - rank;

  MlirValue arguments =
      tileBuildAlloca(&lowering.slots, mlirLLVMArrayTypeGet(lowering.pointer, (unsigned)parameters + 1));
  for (intptr_t i = 0; i < parameters; ++i) {
    MlirValue slot = spill(&lowering, mlirOperationGetOperand(launch, rank + i));
    buildStore(&lowering, slot, tileBuildElementAddress(&lowering.code, arguments, lowering.pointer, (int32_t)i));
  }
  MlirValue programs, grid = packGrid(&lowering, launch, rank, &programs);
  buildStore(&lowering, grid,
             tileBuildElementAddress(&lowering.code, arguments, lowering.pointer, (int32_t)parameters));
  MlirValue name = buildKernelName(&lowering, launch, module);
  MlirValue kernel = buildKernelPointer(&lowering, tileOpAttribute(launch, "kernel"));
  tileBuildLlvmCall(&lowering.code, launchFunction, (MlirType){NULL}, 4,
                    (MlirValue[]){kernel, arguments, programs, name});
  mlirOperationDestroy(launch);
}

// void tessera_launch(void (*kernel)(void **, int64_t, int64_t), void **arguments, int64_t programs, const char *name),
// once in a module.
static void declareLaunch(MlirOperation module) {
  if (!mlirOperationIsNull(tileFindSymbol(module, launchFunction)))
    return;
  TileBuilder builder = tileBuilderAtTop(module);
  MlirType pointer = mlirLLVMPointerTypeGet(builder.context, 0), i64 = mlirIntegerTypeGet(builder.context, 64);
  MlirType inputs[4] = {pointer, pointer, i64, pointer};
  MlirType type = mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(builder.context), 4, inputs, false);
  tileBuildLlvmDeclaration(&builder, launchFunction, type);
}

static bool checkKernel(MlirOperation launch) {
  MlirOperation kernel = mlirExtSymbolLookup(launch, tileOpAttribute(launch, "kernel"));
  return funcFuncOpIsA(kernel) ||
         tileError(launch, "launches a kernel that is not a func.func yet: run convert-tile-to-vector first");
}

static bool check(MlirOperation launch) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(launch); ++i)
    if (mlirTypeIsATensor(tileOperandType(launch, i)))
      return tileError(launch, "operates on tensors: run tile-bufferize-host first");
  if (mlirOperationIsNull(tileParentOp(launch, funcFuncOpIsA)))
    return tileError(launch, "must stand in a func.func to be lowered to the runtime");
  return checkKernel(launch);
}

// The runtime's function must be what the name means.
static bool checkLaunchFunction(MlirOperation launch) {
  MlirOperation other = tileFindSymbol(launch, launchFunction);
  return mlirOperationIsNull(other) || llvmLLVMFuncOpIsA(other) ||
         tileError(other, "has the name of the runtime's function '%s'; rename it", launchFunction);
}

static bool run(MlirOperation module, MlirExtPass pass) {
  TileOps launches = tileCollectOps(module, tileLaunchOpIsA);
  bool ok = true;
  for (intptr_t i = 0; i < launches.count && ok; ++i)
    ok = tileLaunchExpectMeetsInGlobal(launches.items[i]) && check(launches.items[i]) &&
         checkLaunchFunction(launches.items[i]);
  for (intptr_t i = 0; i < launches.count && ok; ++i)
    lower(launches.items[i], module);
  if (ok && launches.count)
    declareLaunch(module);
  mlirExtPassAddStatistic(pass, 0, ok ? (uint64_t)launches.count : 0);
  tileOpsFree(&launches);
  return ok;
}

const MlirExtPassDefinition tileLaunchToRuntimePass = {
    .argument = "convert-tile-launch-to-runtime",
    .summary = "Lower tile.launch on memrefs to calls of the runtime's tessera_launch",
    .anchor = builtinModuleOpName,
    .statistics = (const char *const[]){"launches: launch ops lowered", NULL},
    .dialects = (const char *const[]){"llvm", "arith", "cf", "func", NULL},
    .run = run,
};
