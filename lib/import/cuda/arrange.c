// Clang's device module, imported to the llvm dialect, becomes a program: its functions and globals in a gpu.module,
// and a launcher for each kernel. Locations become lines of the user's files: what was inlined from our header or from
// clang's stands at the line that called it.
#include "lib/import/cuda/parts.h"
#include "lib/ir/builder.h"
#include "lib/ir/support.h"

#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

enum { LaunchSizes = 7 }; // grid, block, dynamic shared memory
static const char moduleName[] = "kernels";

//===--- locations ------------------------------------------------------------------------------------------===//

static bool endsWith(MlirStringRef text, const char *end) {
  size_t length = strlen(end);
  return text.length >= length && memcmp(text.data + text.length - length, end, length) == 0;
}

static bool isOfUser(MlirLocation location) {
  if (!mlirLocationIsAFileLineColRange(location) || !mlirLocationFileLineColRangeGetStartLine(location))
    return false;
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  return !endsWith(file, cudaHeaderName) && !memmem(file.data, file.length, "/lib/clang/", sizeof "/lib/clang/" - 1);
}

// The innermost place in a file of the user's; unknown if there is none.
static MlirLocation simplify(MlirLocation location) {
  MlirLocation found = mlirLocationUnknownGet(mlirLocationGetContext(location));
  if (mlirLocationIsACallSite(location)) {
    found = simplify(mlirLocationCallSiteGetCallee(location));
    return isOfUser(found) ? found : simplify(mlirLocationCallSiteGetCaller(location));
  }
  if (mlirLocationIsAName(location))
    return simplify(mlirLocationNameGetChildLoc(location));
  if (mlirLocationIsAFused(location)) {
    unsigned count = mlirLocationFusedGetNumLocations(location);
    MlirLocation *inner = calloc(count + 1, sizeof *inner);
    if (inner)
      mlirLocationFusedGetLocations(location, inner);
    for (unsigned i = 0; inner && i < count && !isOfUser(found); ++i)
      found = simplify(inner[i]);
    free(inner);
    return found;
  }
  return isOfUser(location) ? location : found;
}

//===--- device code ----------------------------------------------------------------------------------------===//

// What clang tells the optimizer, which has run; symbols of what is left behind.
static void dropHints(MlirOperation op) {
  static const char *const hints[] = {"tbaa",          "alias_scopes",    "noalias_scopes",
                                      "access_groups", "loop_annotation", "comdat"};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; ++i)
    mlirOperationRemoveAttributeByName(op, tileString(hints[i]));
}

static bool isHintOp(MlirOperation op) {
  return llvmDbgValueOpIsA(op) || llvmDbgDeclareOpIsA(op) || llvmDbgLabelOpIsA(op) || llvmNoAliasScopeDeclOpIsA(op);
}

static void cleanFunction(MlirOperation function) {
  TileOps hints = tileCollectOps(function, isHintOp);
  for (intptr_t i = 0; i < hints.count; ++i)
    mlirOperationDestroy(hints.items[i]);
  tileOpsFree(&hints);
  TileOps ops = tileCollect(function, NULL);
  for (intptr_t i = 0; i < ops.count; ++i) {
    dropHints(ops.items[i]);
    mlirOperationSetLocation(ops.items[i], simplify(mlirOperationGetLocation(ops.items[i])));
  }
  tileOpsFree(&ops);
  for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)); !mlirBlockIsNull(block);
       block = mlirBlockGetNextInRegion(block))
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
      MlirValue argument = mlirBlockGetArgument(block, i);
      mlirBlockArgumentSetLocation(argument, simplify(mlirValueGetLocation(argument)));
    }
}

static MlirStringRef symbolOf(MlirOperation op) { return mlirStringAttrGetValue(tileOpAttribute(op, "sym_name")); }

static bool isDeviceCode(MlirOperation op) {
  return (llvmLLVMFuncOpIsA(op) || llvmGlobalOpIsA(op)) && !tileStringStartsWith(symbolOf(op), "llvm.");
}

static void moveDeviceCode(MlirBlock from, MlirBlock to) {
  for (MlirOperation op = mlirBlockGetFirstOperation(from), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!isDeviceCode(op))
      continue;
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(to, op);
    cleanFunction(op);
  }
}

// Does the op take part in a meeting of all blocks (our header's sync of a grid)?
static bool meetsGrid(MlirOperation op) {
  static const char counter[] = "__tessera_grid_arrived";
  if (!llvmAddressOfOpIsA(op))
    return false;
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "global_name"));
  return memmem(name.data, name.length, counter, sizeof counter - 1) != NULL;
}

// Kernels whose blocks wait for each other. A function that is no kernel may be called by any.
static void markCooperative(MlirOperation device, const CudaKernels *kernels) {
  TileOps functions = tileCollectOps(device, llvmLLVMFuncOpIsA);
  bool isShared = false;
  for (intptr_t i = 0; i < functions.count; ++i) {
    TileOps meetings = tileCollectOps(functions.items[i], meetsGrid);
    bool isKernel = false;
    for (intptr_t k = 0; k < kernels->count; ++k)
      isKernel = isKernel || tileStringEquals(symbolOf(functions.items[i]), kernels->items[k].symbol);
    isShared = isShared || (meetings.count && !isKernel);
    if (meetings.count)
      mlirOperationSetAttributeByName(functions.items[i], tileString("cooperative"),
                                      mlirUnitAttrGet(mlirOperationGetContext(device)));
    tileOpsFree(&meetings);
  }
  for (intptr_t i = 0; isShared && i < functions.count; ++i)
    mlirOperationSetAttributeByName(functions.items[i], tileString("cooperative"),
                                    mlirUnitAttrGet(mlirOperationGetContext(device)));
  tileOpsFree(&functions);
}

static MlirOperation functionNamed(MlirBlock block, const char *name) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  while (!mlirOperationIsNull(op) && !tileStringEquals(symbolOf(op), name))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

// By the name in the source, unless something else has it.
static MlirOperation renameKernel(MlirBlock block, const CudaKernel *kernel) {
  MlirOperation function = functionNamed(block, kernel->symbol);
  if (!mlirOperationIsNull(function) && mlirOperationIsNull(functionNamed(block, kernel->name)))
    mlirOperationSetAttributeByName(function, tileString("sym_name"),
                                    mlirStringAttrGet(mlirOperationGetContext(function), tileString(kernel->name)));
  return function;
}

//===--- launchers --------------------------------------------------------------------------------------------===//

static MlirType memrefOf(MlirType element, int64_t size) {
  return mlirMemRefTypeContiguousGet(element, 1, &size, mlirAttributeGetNull());
}

// A kernel takes the address only: an array of one element has no size to pass on.
static MlirValue addressOnly(TileBuilder *b, MlirValue array) {
  const int64_t zero = 0, one = 1;
  MlirType element = mlirShapedTypeGetElementType(mlirValueGetType(array));
  return memrefReinterpretCastOpBuild(
      b, memrefOf(element, 1), array, 0, NULL, 0, NULL, 0, NULL, mlirDenseI64ArrayGet(b->context, 1, &zero),
      mlirDenseI64ArrayGet(b->context, 1, &one), mlirDenseI64ArrayGet(b->context, 1, &one));
}

static MlirAttribute launchedSymbol(MlirContext context, MlirOperation function) {
  MlirAttribute inner = mlirFlatSymbolRefAttrGet(context, symbolOf(function));
  return mlirSymbolRefAttrGet(context, tileString(moduleName), 1, &inner);
}

static void buildLauncher(TileBuilder *b, const CudaKernel *kernel, MlirOperation function) {
  enum { Most = 80 };
  MlirType types[Most], index = mlirIndexTypeGet(b->context);
  MlirValue operands[Most], sizes[LaunchSizes];
  MlirType taken = mlirTypeAttrGetValue(tileOpAttribute(function, "function_type"));
  intptr_t count = kernel->count;
  for (intptr_t i = 0; i < count + LaunchSizes; ++i)
    types[i] = i >= count                            ? index
               : mlirTypeIsNull(kernel->elements[i]) ? mlirLLVMFunctionTypeGetInput(taken, i)
                                                     : memrefOf(kernel->elements[i], mlirShapedTypeGetDynamicSize());
  MlirRegion body;
  TileBuilder inner = tileBuilderInRegion(b, &body, count + LaunchSizes, types);
  for (intptr_t i = 0; i < count; ++i) {
    MlirValue given = mlirBlockGetArgument(inner.block, i);
    operands[i] = mlirTypeIsNull(kernel->elements[i]) ? given : addressOnly(&inner, given);
  }
  for (intptr_t i = 0; i < LaunchSizes; ++i)
    sizes[i] = mlirBlockGetArgument(inner.block, count + i);
  MlirValue none = {NULL};
  MlirValue shared = arithIndexCastOpBuild(&inner, mlirIntegerTypeGet(b->context, 32), sizes[6]);
  gpuLaunchFuncOpBuild(&inner, (MlirType){NULL}, 0, NULL, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5],
                       none, none, none, shared, count, operands, none, launchedSymbol(b->context, function));
  funcReturnOpBuild(&inner, 0, NULL);
  char name[512];
  snprintf(name, sizeof name, "launch_%s", kernel->name);
  MlirType type = mlirFunctionTypeGet(b->context, count + LaunchSizes, types, 0, NULL);
  funcFuncOpBuild(b, mlirStringAttrGet(b->context, tileString(name)), mlirTypeAttrGet(type), body);
}

MlirModule cudaArrange(MlirModule imported, const CudaKernels *kernels, const char *path) {
  MlirOperation op = mlirModuleGetOperation(imported);
  MlirContext context = mlirOperationGetContext(op);
  MlirLocation place = mlirLocationFileLineColGet(context, tileString(path), 1, 1);
  MlirModule module = mlirModuleCreateEmpty(place);
  mlirOperationSetAttributeByName(mlirModuleGetOperation(module), tileString("gpu.container_module"),
                                  mlirUnitAttrGet(context));
  TileBuilder b = tileBuilderAtEnd(mlirModuleGetBody(module), place);
  MlirRegion region;
  TileBuilder device = tileBuilderInRegion(&b, &region, 0, NULL);
  moveDeviceCode(mlirModuleGetBody(imported), device.block);
  MlirOperation code = gpuGPUModuleOpBuild(&b, mlirStringAttrGet(context, tileString(moduleName)), region);
  markCooperative(code, kernels);
  for (intptr_t i = 0; i < kernels->count; ++i) {
    MlirOperation function = renameKernel(device.block, &kernels->items[i]);
    if (mlirOperationIsNull(function))
      continue;
    b.location = mlirOperationGetLocation(function);
    buildLauncher(&b, &kernels->items[i], function);
  }
  mlirModuleDestroy(imported);
  return module;
}
