// Constants of the host's program, as kernels read them: from the device's copy (tessera_device_constant).
//
// A memref.get_global whose buffer only the host reads stays. Any other one becomes the copy where the global is named,
// so that whatever carries the buffer on to a launch (views, scf.if, arith.select, arguments of functions) carries the
// copy. The host may read the copy as well: memory is shared.
#include "lib/conversion/gpu_launch_to_runtime/gpu_launch_to_runtime.h"

#include "lib/capi/op.h"
#include "lib/ir/op_query.h"
#include "lib/ir/support.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/arith.h"
#include "upstream/builtin.h"
#include "upstream/llvm.h"
#include "upstream/memref.h"

static const char constantFunction[] = "tessera_device_constant";

//===--- questions ----------------------------------------------------------------===//

static bool isConstant(MlirOperation get) {
  MlirOperation global = mlirExtSymbolLookup(get, tileOpAttribute(get, "name"));
  return memrefGlobalOpIsA(global) && !mlirAttributeIsNull(tileOpAttribute(global, "constant")) &&
         launchBytesOf(mlirShapedTypeGetElementType(memrefGetGlobalOpGetResultType(get)));
}

static bool isReadByHost(MlirValue buffer) {
  for (MlirOpOperand use = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    bool isView = !mlirValueIsNull(tileOpViewedMemory(user));
    bool reads = isView ? isReadByHost(tileOnlyResult(user))
                        : memrefLoadOpIsA(user) || memrefCopyOpIsA(user) || memrefDimOpIsA(user);
    if (!reads)
      return false;
  }
  return true;
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

void launchCopyConstants(MlirOperation module) {
  TileOps gets = tileCollectOps(module, memrefGetGlobalOpIsA);
  for (intptr_t i = 0; i < gets.count; ++i)
    if (isConstant(gets.items[i]) && !isReadByHost(memrefGetGlobalOpGetResult(gets.items[i])))
      copy(gets.items[i]);
  tileOpsFree(&gets);
}
