// What a launch asks of the host's memory: globals as the device has them, addresses as aligned as promised, and
// waits before the host touches what a kernel may still use.
#include "dialects/tile/discardable.h"
#include "lib/capi/op.h"
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "lib/ir/table.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/affine.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/cf.h"
#include "upstream/func.h"
#include "upstream/gpu.h"
#include "upstream/linalg.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"
#include "upstream/scf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//===--- globals --------------------------------------------------------------===//

static const char constantFunction[] = "tessera_device_constant";

//===--- questions ----------------------------------------------------------------===//

// Do only loads, stores and copies of the host use the buffer?
static bool isOfHost(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    bool isView = !mlirValueIsNull(tileOpViewedMemory(user));
    bool isHosts =
        isView ? isOfHost(tileOnlyResult(user))
               : memrefLoadOpIsA(user) || memrefStoreOpIsA(user) || memrefCopyOpIsA(user) || memrefDimOpIsA(user);
    if (!isHosts)
      return false;
  }
  return true;
}

// Is what `get` gives to be the copy? A constant may have two places. What the program writes has one: the copy, if
// anything but the host uses it.
static bool isCopied(const TileOps *gets, MlirOperation get) {
  MlirAttribute name = tileOpAttribute(get, "name");
  MlirOperation global = mlirExtSymbolLookup(get, name);
  MlirValue buffer = memrefGetGlobalOpGetResult(get);
  if (!memrefGlobalOpIsA(global) || !launchBytesOf(mlirShapedTypeGetElementType(mlirValueGetType(buffer))))
    return false;
  bool isOfDevice = !isOfHost(buffer);
  for (intptr_t i = 0; i < gets->count && mlirAttributeIsNull(tileOpAttribute(global, "constant")); ++i)
    isOfDevice |= mlirAttributeEqual(tileOpAttribute(gets->items[i], "name"), name) &&
                  !isOfHost(memrefGetGlobalOpGetResult(gets->items[i]));
  return isOfDevice;
}

//===--- the copy -----------------------------------------------------------------===//

static int64_t sizeOf(MlirType memref) {
  int64_t bytes = launchBytesOf(mlirShapedTypeGetElementType(memref));
  for (intptr_t d = 0; d < mlirShapedTypeGetRank(memref); ++d)
    bytes *= mlirShapedTypeGetDimSize(memref, d);
  return bytes;
}

// A memref of the llvm dialect: {allocated, aligned, offset, sizes, strides}.
typedef struct Descriptor {
  TileBuilder *builder;
  MlirType i64;
  MlirValue value;
} Descriptor;

static void set(Descriptor *descriptor, MlirValue value, intptr_t depth, int64_t field, int64_t at) {
  int64_t position[] = {field, at};
  descriptor->value = llvmInsertValueOpBuild(descriptor->builder, descriptor->value, value,
                                             mlirDenseI64ArrayGet(descriptor->builder->context, depth, position));
}

static MlirValue number(Descriptor *descriptor, int64_t value) {
  return llvmConstantOpBuild(descriptor->builder, descriptor->i64, mlirIntegerAttrGet(descriptor->i64, value));
}

static MlirValue memrefAt(TileBuilder *builder, MlirType type, MlirValue pointer) {
  MlirContext context = builder->context;
  intptr_t rank = mlirShapedTypeGetRank(type);
  Descriptor descriptor = {builder, mlirIntegerTypeGet(context, 64)};
  MlirType address = mlirLLVMPointerTypeGet(context, 0);
  MlirType numbers = mlirLLVMArrayTypeGet(descriptor.i64, (unsigned)rank);
  MlirType fields[] = {address, address, descriptor.i64, numbers, numbers};
  descriptor.value = llvmPoisonOpBuild(builder, mlirLLVMStructTypeLiteralGet(context, rank ? 5 : 3, fields, false));
  set(&descriptor, pointer, 1, 0, 0);
  set(&descriptor, pointer, 1, 1, 0);
  set(&descriptor, number(&descriptor, 0), 1, 2, 0);
  int64_t stride = 1;
  for (intptr_t d = rank - 1; d >= 0; --d) {
    set(&descriptor, number(&descriptor, mlirShapedTypeGetDimSize(type, d)), 2, 3, d);
    set(&descriptor, number(&descriptor, stride), 2, 4, d);
    stride *= mlirShapedTypeGetDimSize(type, d);
  }
  return tileBuildConversionCast(builder, type, descriptor.value);
}

static void copy(MlirOperation get) {
  TileBuilder builder = tileBuilderAfter(get);
  MlirType type = memrefGetGlobalOpGetResultType(get), pointer = mlirLLVMPointerTypeGet(builder.context, 0);
  MlirType i64 = mlirIntegerTypeGet(builder.context, 64);
  // The uses of the constant become the copy's, before the copy uses the constant.
  MlirOperation own = tileBuilderInsert(&builder, mlirOperationClone(get));
  MlirValue origin = memrefExtractAlignedPointerAsIndexOpBuild(&builder, memrefGetGlobalOpGetResult(own));
  origin = arithIndexCastOpBuild(&builder, i64, origin);
  MlirValue operands[] = {llvmIntToPtrOpBuild(&builder, pointer, origin),
                          tileBuildInteger(&builder, i64, sizeOf(type))};
  MlirValue address = tileBuildLlvmCall(&builder, constantFunction, pointer, 2, operands);
  mlirValueReplaceAllUsesOfWith(memrefGetGlobalOpGetResult(get), memrefAt(&builder, type, address));
  mlirOperationDestroy(get);
}

void launchCopyGlobals(MlirOperation module) {
  TileOps gets = tileCollectOps(module, memrefGetGlobalOpIsA);
  bool *copied = calloc((size_t)gets.count + 1, sizeof *copied);
  for (intptr_t i = 0; i < gets.count; ++i)
    copied[i] = isCopied(&gets, gets.items[i]);
  for (intptr_t i = 0; i < gets.count; ++i)
    if (copied[i])
      copy(gets.items[i]);
  free(copied);
  tileOpsFree(&gets);
}

//===--- alignment ------------------------------------------------------------===//

// What a program says of addresses (memref.assume_alignment: of an entry's arguments the contract, docs/gpu.md) becomes
// an assertion: kernels access memory as wide as that allows, and on a GPU a wrong address would end the context.

static MlirValue offsetOf(TileBuilder *builder, MlirValue memref) {
  MlirType type = mlirValueGetType(memref);
  if (mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return tileBuildIndex(builder, 0);
  MlirOperation parts = memrefExtractStridedMetadataOpBuild(builder, memref);
  return tileBuildMul(builder, memrefExtractStridedMetadataOpGetOffset(parts),
                      tileBuildIndex(builder, tileMemoryBytes(type)));
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

//===--- order ----------------------------------------------------------------===//

// Where the host must wait for the device: before it touches memory after a launch, and before an entry returns (unless
// its caller waits for a stream: tessera_device_finish).
//
// Launches are asynchronous and in order; memory is shared. One wait per place is enough: it is put before the first
// access after a launch on the way there, before a whole loop where the loop launches nothing. A wait with nothing to
// wait for costs a load (tessera_device_synchronize), so what cannot be known (what callers and blocks before launched)
// is taken to be pending.

//===--- questions --------------------------------------------------------------------===//

static bool launches(MlirOperation op) {
  return gpuLaunchFuncOpIsA(op) || funcCallOpIsA(op) || funcCallIndirectOpIsA(op);
}

// Ops with regions are asked for what is in them. What is not known to leave memory alone touches it.
static bool touchesMemory(MlirOperation op) {
  static const char *const dialects[] = {"arith", "math", "index", "complex", "ub", "cf", "affine", NULL};
  static const TileUpstream harmless[] = {MemrefOp_Alloc,
                                          MemrefOp_Alloca,
                                          MemrefOp_Dealloc,
                                          MemrefOp_Dim,
                                          MemrefOp_Rank,
                                          MemrefOp_Cast,
                                          MemrefOp_SubView,
                                          MemrefOp_View,
                                          MemrefOp_ReinterpretCast,
                                          MemrefOp_ExpandShape,
                                          MemrefOp_CollapseShape,
                                          MemrefOp_GetGlobal,
                                          MemrefOp_ExtractStridedMetadata,
                                          MemrefOp_ExtractAlignedPointerAsIndex,
                                          MemrefOp_AssumeAlignment,
                                          MemrefOp_Transpose,
                                          FuncOp_Return,
                                          FuncOp_Constant,
                                          GpuOp_LaunchFunc,
                                          FuncOp_Call,
                                          ScfOp_Yield,
                                          ScfOp_Condition,
                                          ScfOp_If,
                                          ScfOp_For,
                                          ScfOp_While,
                                          ScfOp_IndexSwitch,
                                          ScfOp_ExecuteRegion,
                                          ScfOp_Forall,
                                          ScfOp_Parallel,
                                          ScfOp_Reduce,
                                          LinalgOp_Yield,
                                          LinalgOp_Index,
                                          BuiltinOp_UnrealizedConversionCast,
                                          TileUpstream_None};
  static const TileUpstream accesses[] = {AffineOp_AffineLoad, AffineOp_AffineStore, AffineOp_AffineVectorLoad,
                                          AffineOp_AffineVectorStore, TileUpstream_None};
  for (int i = 0; dialects[i]; ++i)
    if (tileOpIsOfDialect(op, dialects[i]))
      return tileUpstreamIsOneOf(op, accesses);
  return !tileUpstreamIsOneOf(op, harmless);
}

typedef struct Found {
  bool launch, access;
} Found;

static MlirWalkResult look(MlirOperation op, void *userData) {
  Found *found = userData;
  found->launch |= launches(op);
  found->access |= touchesMemory(op);
  return MlirWalkResultAdvance;
}

static Found lookInside(MlirOperation op) {
  Found found = {false, false};
  mlirOperationWalk(op, look, &found, MlirWalkPreOrder);
  return found;
}

//===--- waiting ------------------------------------------------------------------------===//

static uint64_t waitBefore(MlirOperation before, bool *pending) {
  TileBuilder builder = tileBuilderBefore(before);
  launchBuildRuntimeCall(&builder, funcReturnOpIsA(before) ? launchFinishFunction : launchWaitFunction, 0, NULL);
  *pending = false;
  return 1;
}

static uint64_t orderRegions(MlirOperation op, bool isEntry);

static uint64_t orderBlock(MlirBlock block, bool isEntry) {
  uint64_t waits = 0;
  bool pending = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); op.ptr; op = mlirOperationGetNextInBlock(op)) {
    Found found = lookInside(op);
    bool isLaunch = launches(op), returns = funcReturnOpIsA(op) && isEntry;
    if (pending && (returns || (found.access && (!found.launch || touchesMemory(op)))))
      waits += waitBefore(op, &pending);
    if (found.launch && !isLaunch)
      waits += orderRegions(op, isEntry);
    pending |= found.launch;
  }
  return waits;
}

static uint64_t orderRegions(MlirOperation op, bool isEntry) {
  uint64_t waits = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); block.ptr;
         block = mlirBlockGetNextInRegion(block))
      waits += orderBlock(block, isEntry);
  return waits;
}

//===--- memory of the callers ----------------------------------------------------------===//

// Whether the host's part touches memory that an entry was given: its caller then gives memory that the host reaches.

// What may be in the caller's memory is marked: views and what ops give of it, arguments of blocks and functions.
typedef struct Marked {
  TileTable values;
  bool hasGrown, isTouched;
} Marked;

// Null of a declaration.
static MlirBlock bodyOf(MlirOperation function) {
  return mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function));
}

static void mark(Marked *marked, MlirValue value) {
  if (!mlirTypeIsAMemRef(mlirValueGetType(value)) || tileTableFind(&marked->values, value.ptr))
    return;
  tileTableSet(&marked->values, value.ptr, marked);
  marked->hasGrown = true;
}

static void markArguments(Marked *marked, MlirBlock block) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
    mark(marked, mlirBlockGetArgument(block, i));
}

static void markWithin(Marked *marked, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    mark(marked, mlirOperationGetResult(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumSuccessors(op); ++i)
    markArguments(marked, mlirOperationGetSuccessor(op, i));
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); ++i)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i)); block.ptr;
         block = mlirBlockGetNextInRegion(block))
      markArguments(marked, block);
}

// A call marks the argument of its callee; a terminator, what its op gives or repeats with.
static void markFrom(Marked *marked, MlirOperation op, intptr_t operand) {
  MlirOperation parent = mlirOperationGetParentOperation(op);
  MlirOperation callee =
      funcCallOpIsA(op) ? mlirExtSymbolLookup(op, tileOpAttribute(op, "callee")) : (MlirOperation){NULL};
  bool isKnown = !mlirOperationIsNull(callee) && !mlirBlockIsNull(bodyOf(callee));
  if (isKnown)
    mark(marked, mlirBlockGetArgument(bodyOf(callee), operand));
  else if (touchesMemory(op) || funcCallOpIsA(op) || funcCallIndirectOpIsA(op))
    marked->isTouched = true;
  markWithin(marked, op);
  if (!mlirOperationGetNumResults(op) && !funcFuncOpIsA(parent) && !mlirBlockIsNull(mlirOperationGetBlock(op)) &&
      mlirOperationEqual(mlirBlockGetTerminator(mlirOperationGetBlock(op)), op))
    markWithin(marked, parent);
}

static MlirWalkResult spread(MlirOperation op, void *userData) {
  Marked *marked = userData;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && !marked->isTouched; ++i)
    if (tileTableFind(&marked->values, mlirOperationGetOperand(op, i).ptr))
      markFrom(marked, op, i);
  return MlirWalkResultAdvance;
}

static bool touchesArguments(MlirOperation module, MlirOperation entry) {
  Marked marked = {.isTouched = false};
  markArguments(&marked, bodyOf(entry));
  while (marked.hasGrown && !marked.isTouched) {
    marked.hasGrown = false;
    mlirOperationWalk(module, spread, &marked, MlirWalkPreOrder);
  }
  tileTableFree(&marked.values);
  return marked.isTouched;
}

void launchMarkHostAccesses(MlirOperation module) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  for (intptr_t i = 0; i < functions.count; ++i)
    if (tileSymbolIsPublic(functions.items[i]) && !mlirBlockIsNull(bodyOf(functions.items[i])) &&
        touchesArguments(module, functions.items[i]))
      tileOpSetHostAccess(functions.items[i], mlirUnitAttrGet(mlirOperationGetContext(module)));
  tileOpsFree(&functions);
}

//===--- the whole ------------------------------------------------------------------------===//

uint64_t launchOrderHostAccesses(MlirOperation module) {
  TileOps functions = tileCollectOps(module, funcFuncOpIsA);
  uint64_t waits = 0;
  for (intptr_t i = 0; i < functions.count; ++i)
    waits += orderRegions(functions.items[i], tileSymbolIsPublic(functions.items[i]));
  tileOpsFree(&functions);
  return waits;
}
