// tile-outline-functions: gives functions of math a function of their own, once for each type.
//
//   %y = math.exp %x : f32     →     %y = llvm.call @exp_f32(%x)
//
// Expects: a gpu.module whose kernels are llvm.funcs, or a module of func.funcs. Leaves: calls, and private functions
// that hold the op of math, which later passes expand. An op that C has words for (column `source` of its row) stays
// where it is. Emitted source is short and names what it computes; compilers inline the functions again.
#include "lib/transforms/source/source.h"

#include "lib/ir/builder.h"
#include "lib/ir/op_table.h"
#include "lib/ir/support.h"
#include "lib/ir/upstream.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Func.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/builtin.h"
#include "upstream/func.h"
#include "upstream/llvm.h"
#include "upstream/math.h"

#include <ctype.h>
#include <stdio.h>

enum { NameBytes = 128 };

// Has C a word for it? What it says of a function is for what later passes leave of the function.
static bool isInstruction(MlirOperation op) {
  TileUpstream kind = tileUpstreamKind(op);
  const TileUpstreamSource *source = tileUpstreamSource(kind);
  return source && source->text && !(tileUpstreamProperties(kind) & TileProperty_Function);
}

static bool isOutlined(MlirOperation op) {
  return tileOpIsOfDialect(op, "math") && mlirOperationGetNumResults(op) == 1 && !isInstruction(op);
}

// "f32x16" of vector<16xf32>.
static void nameOfType(MlirType type, char *name, size_t size) {
  char element[64];
  int length = 0;
  bool isVector = mlirTypeIsAVector(type);
  length = snprintf(name, size, "%s",
                    tileTypeText(isVector ? mlirShapedTypeGetElementType(type) : type, element, sizeof element));
  for (intptr_t i = 0; isVector && i < mlirShapedTypeGetRank(type) && length < (int)size; ++i)
    length += snprintf(name + length, size - (size_t)length, "x%lld", (long long)mlirShapedTypeGetDimSize(type, i));
}

// "exp_f32", "exp_f32_afn": what distinguishes two functions is in the name.
static void nameOf(MlirOperation op, char *name) {
  char type[64], flags[64] = "";
  size_t length = 0;
  static const char prefix[] = "#arith.fastmath";
  MlirStringRef full = tileOpName(op);
  MlirAttribute fast = tileOpAttribute(op, "fastmath");
  nameOfType(tileOnlyResultType(op), type, sizeof type);
  if (!mlirAttributeIsNull(fast))
    tileAttributeText(fast, flags, sizeof flags);
  char text[NameBytes];
  snprintf(text, sizeof text, "%.*s_%s%s%s", (int)full.length - 5, full.data + 5, type,
           strstr(flags, "none") || !flags[0] ? "" : "_",
           strstr(flags, "none")                            ? ""
           : strncmp(flags, prefix, sizeof prefix - 1) == 0 ? flags + sizeof prefix - 1
                                                            : flags);
  for (const char *at = text; *at; ++at)
    if (isalnum((unsigned char)*at) || (*at == '_' && length && name[length - 1] != '_'))
      name[length++] = *at;
  name[length] = 0;
}

// The body: the op on the function's parameters.
static void buildFunction(MlirOperation around, MlirOperation op, const char *name, bool isLlvm) {
  MlirContext context = mlirOperationGetContext(around);
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirType types[4], result = tileOnlyResultType(op);
  MlirLocation locations[4];
  for (intptr_t i = 0; i < count; ++i) {
    types[i] = mlirValueGetType(mlirOperationGetOperand(op, i));
    locations[i] = mlirOperationGetLocation(op);
  }
  MlirBlock block = mlirBlockCreate(count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(copy, i, mlirBlockGetArgument(block, i));
  mlirBlockAppendOwnedOperation(block, copy);
  TileBuilder end = tileBuilderAtEnd(block, mlirOperationGetLocation(op)), top = tileBuilderAtTop(around);
  MlirAttribute symbol = mlirStringAttrGet(context, tileString(name));
  MlirValue value = tileOnlyResult(copy);
  if (isLlvm) {
    llvmReturnOpBuild(&end, value);
    MlirType type = mlirLLVMFunctionTypeGet(result, count, types, false);
    llvmLLVMFuncOpBuild(&top, symbol, mlirTypeAttrGet(type), region);
    return;
  }
  funcReturnOpBuild(&end, 1, &value);
  MlirType type = mlirFunctionTypeGet(context, count, types, 1, &result);
  funcFuncOpCreate(&top, symbol, mlirTypeAttrGet(type), mlirStringAttrGet(context, tileString("private")),
                   (MlirAttribute){NULL}, (MlirAttribute){NULL}, (MlirAttribute){NULL}, region);
}

static void outline(MlirOperation around, MlirOperation op, bool isLlvm) {
  char name[NameBytes];
  intptr_t count = mlirOperationGetNumOperands(op);
  MlirValue operands[4];
  MlirType result = tileOnlyResultType(op);
  if (count > 4)
    return;
  for (intptr_t i = 0; i < count; ++i)
    operands[i] = mlirOperationGetOperand(op, i);
  nameOf(op, name);
  if (mlirOperationIsNull(tileFindSymbol(op, name)))
    buildFunction(around, op, name, isLlvm);
  TileBuilder builder = tileBuilderBefore(op);
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(builder.context, tileString(name));
  MlirValue value = isLlvm ? tileBuildLlvmCall(&builder, name, result, count, operands)
                           : tileOnlyResult(funcCallOpBuild(&builder, 1, &result, count, operands, symbol));
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(op), value);
  mlirOperationDestroy(op);
}

static bool run(MlirOperation around, MlirExtPass pass) {
  (void)pass;
  bool isLlvm = !builtinModuleOpIsA(around);
  TileOps ops = tileCollectOps(around, isOutlined);
  for (intptr_t i = 0; i < ops.count; ++i)
    outline(around, ops.items[i], isLlvm);
  tileOpsFree(&ops);
  return true;
}

static void dependOnDialects(MlirDialectRegistry registry) {
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__func__(), registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__llvm__(), registry);
}

const MlirExtPassDefinition tileOutlineFunctionsPass = {
    .argument = "tile-outline-functions",
    .summary = "Give functions of math a function of their own, once for each type",
    .registerDialects = dependOnDialects,
    .run = run,
};
