// tile-move-bf16-as-bits: inside a function bf16 is i16, wherever it is only moved.
// Why: LLVM takes vectors of bf16 of odd length apart through f32, whose way back flushes subnormals (AVX512_BF16), and
// cannot move masked ones at all. As integers their bits arrive unchanged.
// Expects: functions of the llvm dialect, whose arithmetic on bf16 is gone already (arith-expand{include-bf16}).
// Leaves: signatures as they are; loads, stores, shuffles, selections, branches and the like of i16; a bitcast before
// and after each op that does anything else with bf16. Values in structs stay what they are. Cost: linear.
#include "lib/ir/builder.h"
#include "lib/ir/pass.h"
#include "lib/transforms/memory/memory.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <stdlib.h>

//===--- Questions -------------------------------------------------------===//

static bool moves(MlirOperation op) {
  switch (llvmOpKind(op)) {
  case LlvmOp_ExtractValue: // of a struct whose type stays
    return !mlirTypeIsALLVMStructType(llvmExtractValueOpGetContainerType(op));
  case LlvmOp_InsertValue:
    return !mlirTypeIsALLVMStructType(llvmInsertValueOpGetContainerType(op));
  case LlvmOp_Load:
  case LlvmOp_Store:
  case LlvmOp_MaskedLoad:
  case LlvmOp_MaskedStore:
  case LlvmOp_MaskedGather:
  case LlvmOp_MaskedScatter:
  case LlvmOp_MaskedExpandload:
  case LlvmOp_MaskedCompressstore:
  case LlvmOp_ExtractElement: // values from values
  case LlvmOp_InsertElement:
  case LlvmOp_ShuffleVector:
  case LlvmOp_VectorExtract:
  case LlvmOp_VectorInsert:
  case LlvmOp_Bitcast:
  case LlvmOp_Select:
  case LlvmOp_Freeze:
  case LlvmOp_Poison:
  case LlvmOp_Undef:
  case LlvmOp_Zero:
  case LlvmOp_Br: // control flow
  case LlvmOp_CondBr:
  case LlvmOp_Switch:
    return true;
  default:
    return false;
  }
}

// The type with i16 for bf16; null if there is none in it.
static MlirType asBits(MlirType type) {
  MlirType null = {NULL};
  if (mlirTypeIsABF16(type))
    return mlirIntegerTypeGet(mlirTypeGetContext(type), 16);
  if (mlirTypeIsAVector(type)) {
    if (!mlirTypeIsABF16(mlirShapedTypeGetElementType(type)) || mlirVectorTypeIsScalable(type))
      return null;
    int64_t size = mlirShapedTypeGetDimSize(type, 0);
    return mlirVectorTypeGet(1, &size, mlirIntegerTypeGet(mlirTypeGetContext(type), 16));
  }
  int64_t size = tileLlvmArraySize(type);
  MlirType element = size < 0 ? null : asBits(mlirLLVMArrayTypeGetElementType(type));
  return mlirTypeIsNull(element) ? null : mlirLLVMArrayTypeGet(element, (unsigned)size);
}

//===--- Casts -----------------------------------------------------------===//

static MlirValue cast(TileBuilder *b, MlirValue value, MlirType type);

static MlirValue castArray(TileBuilder *b, MlirValue value, MlirType type, int64_t size) {
  MlirType from = mlirLLVMArrayTypeGetElementType(mlirValueGetType(value)), to = mlirLLVMArrayTypeGetElementType(type);
  MlirValue result = llvmPoisonOpBuild(b, type);
  for (int64_t i = 0; i < size; ++i) {
    MlirAttribute position = mlirDenseI64ArrayGet(b->context, 1, &i);
    MlirValue element = cast(b, llvmExtractValueOpBuild(b, from, value, position), to);
    result = llvmInsertValueOpBuild(b, result, element, position);
  }
  return result;
}

static MlirValue cast(TileBuilder *b, MlirValue value, MlirType type) {
  int64_t size = tileLlvmArraySize(type);
  return size < 0 ? llvmBitcastOpBuild(b, type, value) : castArray(b, value, type, size);
}

//===--- Values ----------------------------------------------------------===//

typedef struct Use {
  MlirOperation op;
  intptr_t index;
} Use;

// The uses by ops that move, or by the others. The caller frees them.
static Use *usesOf(MlirValue value, bool moving, intptr_t *count) {
  intptr_t all = 0;
  for (MlirOpOperand u = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u))
    ++all;
  Use *uses = calloc((size_t)all + 1, sizeof *uses);
  *count = 0;
  for (MlirOpOperand u = mlirValueGetFirstUse(value); uses && !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u))
    if (moves(mlirOpOperandGetOwner(u)) == moving)
      uses[(*count)++] = (Use){mlirOpOperandGetOwner(u), mlirOpOperandGetOperandNumber(u)};
  return uses;
}

// A value that becomes bits: who needs the number gets it back.
static void retype(MlirValue value) {
  MlirType type = mlirValueGetType(value), bits = asBits(type);
  if (mlirTypeIsNull(bits))
    return;
  intptr_t count;
  Use *uses = usesOf(value, /*moving=*/false, &count);
  mlirValueSetType(value, bits);
  for (intptr_t i = 0; i < count; ++i) {
    TileBuilder before = tileBuilderBefore(uses[i].op);
    mlirOperationSetOperand(uses[i].op, uses[i].index, cast(&before, value, type));
  }
  free(uses);
}

// A value that stays a number: who moves it gets its bits.
static void keep(MlirValue value, TileBuilder after) {
  MlirType bits = asBits(mlirValueGetType(value));
  if (mlirTypeIsNull(bits))
    return;
  intptr_t count;
  Use *uses = usesOf(value, /*moving=*/true, &count);
  MlirValue moved = count ? cast(&after, value, bits) : value;
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(uses[i].op, uses[i].index, moved);
  free(uses);
}

static void visitResults(MlirOperation op) {
  bool moving = moves(op);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (moving)
      retype(mlirOperationGetResult(op, i));
    else
      keep(mlirOperationGetResult(op, i), tileBuilderAfter(op));
}

// The entry's arguments are the signature's.
static void visitArguments(MlirOperation function) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  for (MlirBlock block = entry; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i)
      if (mlirBlockEqual(block, entry))
        keep(mlirBlockGetArgument(block, i), tileBuilderAtStart(block, mlirOperationGetLocation(function)));
      else
        retype(mlirBlockGetArgument(block, i));
}

//===--- The pass --------------------------------------------------------===//

static bool run(MlirOperation function, MlirExtPass pass) {
  TileOps ops = tileCollect(function, NULL);
  visitArguments(function);
  for (intptr_t i = 0; i < ops.count; ++i)
    visitResults(ops.items[i]);
  tileOpsFree(&ops);
  return true;
}

const MlirExtPassDefinition tileMoveBf16AsBitsPass = {
    .argument = "tile-move-bf16-as-bits",
    .summary = "Move bf16 as 16-bit integers, so that LLVM leaves its bits alone",
    .anchor = llvmLLVMFuncOpName,
    .dialects = (const char *const[]){"llvm", NULL},
    .run = run,
};
