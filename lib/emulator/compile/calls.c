// Calls: between functions of the module they pass the thread on; math libraries of the vendors become the host's libm;
// printf and assert become the machine's. Any other call is refused by name.
#include "lib/emulator/compile/build.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <stdio.h>
#include <stdlib.h>

//===--- math -----------------------------------------------------------------===//

// Functions that libdevice (__nv_NAME, __nv_NAMEf), ocml (__ocml_NAME_f32) and C's libm call the same.
static const char *const sameNames[] = {
    "acos",      "acosh", "asin",  "asinh", "atan",  "atanh",  "ceil",      "cos",   "cosh",      "erf",   "exp",
    "exp10",     "exp2",  "expm1", "fabs",  "floor", "lgamma", "log",       "log10", "log1p",     "log2",  "logb",
    "nearbyint", "rint",  "round", "sin",   "sinh",  "sqrt",   "tan",       "tanh",  "tgamma",    "trunc", "atan2",
    "copysign",  "fdim",  "fmax",  "fmin",  "fmod",  "hypot",  "nextafter", "pow",   "remainder", "fma",   NULL};
// Our own, in libm's place: those that only the GPU's libraries have, and two that glibc has 4 and 5 ulp of f64 off.
static const char *const ownNames[] = {"rsqrt", "cbrt", "rcbrt", "erfc", "sinpi", "cospi", NULL};

static bool isIn(const char *const *names, const char *name) {
  for (; *names; ++names)
    if (!strcmp(*names, name))
      return true;
  return false;
}

typedef struct MathName {
  char base[32];
  int bits; // 16, 32 or 64
} MathName;

// As C names them: "exp", "expf".
static void splitSuffix(MathName *math) {
  char *base = math->base;
  size_t length = strlen(base);
  math->bits = 64;
  if (!isIn(sameNames, base) && !isIn(ownNames, base) && length && base[length - 1] == 'f') {
    base[length - 1] = 0;
    math->bits = 32;
  }
}

// "__nv_expf", "__nv_fast_expf", "__nv_exp", "__ocml_exp_f32", "__ocml_native_exp_f32"; "cbrtf": C's own, which the
// pipelines leave where no pass expands a function.
static bool splitName(const char *name, MathName *math) {
  size_t length = strlen(name);
  char *base = math->base;
  if (length >= sizeof math->base)
    return false;
  if (!strncmp(name, "__nv_", 5)) {
    strcpy(base, name + (strncmp(name + 5, "fast_", 5) == 0 ? 10 : 5));
    splitSuffix(math);
    return true;
  }
  if (strncmp(name, "__ocml_", 7) != 0) {
    strcpy(base, name);
    splitSuffix(math);
    return isIn(sameNames, base);
  }
  if (length < 11 || name[length - 4] != '_' || name[length - 3] != 'f')
    return false;
  strcpy(base, name + (strncmp(name + 7, "native_", 7) == 0 ? 14 : 7));
  math->bits = (int)strtol(name + length - 2, NULL, 10);
  base[strlen(base) - 4] = 0;
  return true;
}

static bool callHost(EmulatorBuild *build, MlirOperation op, const char *symbol, MlirType type, bool widens) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[4];
  intptr_t count = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < count; ++i) {
    operands[i] = mlirOperationGetOperand(op, i);
    if (widens)
      operands[i] = llvmFPExtOpBuild(&b, type, operands[i]);
  }
  MlirValue result = emulatorCall(build, &b, symbol, type, count, operands);
  emulatorReplace(op, widens ? llvmFPTruncOpBuild(&b, tileOnlyResultType(op), result) : result);
  return true;
}

bool emulatorCallMath(EmulatorBuild *build, MlirOperation op, MlirStringRef callee) {
  char name[64], symbol[64];
  MathName math;
  if (callee.length >= sizeof name || mlirOperationGetNumResults(op) != 1 || mlirOperationGetNumOperands(op) > 3)
    return false;
  memcpy(name, callee.data, callee.length);
  name[callee.length] = 0;
  if (!splitName(name, &math))
    return false;
  bool isOwn = isIn(ownNames, math.base);
  if (!isOwn && !isIn(sameNames, math.base))
    return false;
  snprintf(symbol, sizeof symbol, "%s%s%s", isOwn ? "tessera_emu_" : "", math.base, math.bits == 64 ? "" : "f");
  return callHost(build, op, symbol, math.bits == 64 ? build->f64 : build->f32, math.bits == 16);
}

// Functions of one operand that give an integer or take one besides: by the vendor's name, what they are here.
typedef struct OddFunction {
  const char *name, *symbol;
} OddFunction;
static const OddFunction oddFunctions[] = {
    {"__nv_powi", "tessera_emu_powi"},
    {"__nv_powif", "tessera_emu_powif"},
    {"__ocml_pown_f64", "tessera_emu_powi"},
    {"__ocml_pown_f32", "tessera_emu_powif"},
    {"__nv_isnand", "tessera_emu_isnan"},
    {"__nv_isnanf", "tessera_emu_isnanf"},
    {"__nv_isinfd", "tessera_emu_isinf"},
    {"__nv_isinff", "tessera_emu_isinff"},
    {"__nv_isfinited", "tessera_emu_isfinite"},
    {"__nv_finitef", "tessera_emu_isfinitef"},
    {NULL, NULL},
};

static bool callOddFunction(EmulatorBuild *build, MlirOperation op, MlirStringRef name) {
  for (const OddFunction *row = oddFunctions; row->name; ++row)
    if (tileStringEquals(name, row->name) && mlirOperationGetNumResults(op) == 1)
      return callHost(build, op, row->symbol, tileOnlyResultType(op), false);
  return false;
}

// Integers of libdevice: the smaller, the larger, without the sign.
static bool callInteger(EmulatorBuild *build, MlirOperation op, MlirStringRef name) {
  static const struct {
    const char *name;
    LlvmICmp keepsFirst;
  } rows[] = {{"__nv_min", LlvmICmp_Slt},    {"__nv_max", LlvmICmp_Sgt},   {"__nv_llmin", LlvmICmp_Slt},
              {"__nv_llmax", LlvmICmp_Sgt},  {"__nv_umin", LlvmICmp_Ult},  {"__nv_umax", LlvmICmp_Ugt},
              {"__nv_ullmin", LlvmICmp_Ult}, {"__nv_ullmax", LlvmICmp_Ugt}};
  TileBuilder b = tileBuilderBefore(op);
  bool isAbsolute = tileStringEquals(name, "__nv_abs") || tileStringEquals(name, "__nv_llabs");
  if (isAbsolute && mlirOperationGetNumOperands(op) == 1) {
    MlirValue value = tileOnlyOperand(op);
    MlirType type = mlirValueGetType(value);
    MlirValue zero = llvmConstantOpBuild(&b, type, mlirIntegerAttrGet(type, 0));
    MlirValue minusOne = llvmConstantOpBuild(&b, type, mlirIntegerAttrGet(type, -1));
    MlirValue isNegative = llvmICmpOpBuild(&b, value, zero, LlvmICmp_Slt);
    emulatorReplace(op, llvmSelectOpBuild(&b, isNegative, llvmMulOpBuild(&b, value, minusOne), value));
    return true;
  }
  for (size_t i = 0; i < sizeof rows / sizeof *rows && mlirOperationGetNumOperands(op) == 2; ++i)
    if (tileStringEquals(name, rows[i].name)) {
      MlirValue first = tileBinaryLhs(op), second = tileBinaryRhs(op);
      emulatorReplace(op, llvmSelectOpBuild(&b, llvmICmpOpBuild(&b, first, second, rows[i].keepsFirst), first, second));
      return true;
    }
  (void)build;
  return false;
}

// __ockl_get_local_size(d) and __ockl_get_num_groups(d): fields of the thread's block.
static bool callSize(EmulatorBuild *build, MlirOperation op, MlirStringRef name) {
  static const struct {
    const char *name;
    size_t offset;
  } rows[] = {{"__ockl_get_local_size", offsetof(tessera_emu_block_t, size)},
              {"__ockl_get_num_groups", offsetof(tessera_emu_block_t, grid)}};
  int64_t axis;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (!tileStringEquals(name, rows[i].name) || mlirOperationGetNumOperands(op) != 1 ||
        !emulatorConstant(tileOnlyOperand(op), &axis) || axis < 0 || axis > 2)
      continue;
    TileBuilder b = tileBuilderBefore(op);
    MlirValue block = emulatorLoad(build, &b, build->pointer,
                                   emulatorOffset(build, &b, build->self, offsetof(tessera_emu_thread_t, block)));
    MlirValue field = emulatorOffset(build, &b, block, (int64_t)(rows[i].offset + (size_t)axis * sizeof(uint32_t)));
    emulatorReplace(op, llvmZExtOpBuild(&b, tileOnlyResultType(op), emulatorLoad(build, &b, build->i32, field)));
    return true;
  }
  return false;
}

//===--- output -----------------------------------------------------------------===//

static bool callPrint(EmulatorBuild *build, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[] = {build->self, emulatorFlat(build, &b, llvmCallOpGetCalleeOperands(op, 0)),
                          emulatorFlat(build, &b, llvmCallOpGetCalleeOperands(op, 1))};
  emulatorReplace(op, emulatorCall(build, &b, "tessera_emu_vprintf", build->i32, 3, operands));
  return true;
}

// __assertfail(message, file, line, function, character size)
static bool callAssert(EmulatorBuild *build, MlirOperation op) {
  TileBuilder b = tileBuilderBefore(op);
  MlirValue operands[5];
  for (int i = 0; i < 5; ++i) {
    operands[i] = mlirOperationGetOperand(op, i);
    if (mlirTypeIsALLVMPointerType(mlirValueGetType(operands[i])))
      operands[i] = emulatorFlat(build, &b, operands[i]);
  }
  emulatorCallAt(build, &b, op, "tessera_emu_assert", (MlirType){NULL}, 5, operands);
  emulatorReplace(op, (MlirValue){NULL});
  return true;
}

//===--- calls --------------------------------------------------------------------===//

static MlirOperation definition(EmulatorBuild *build, MlirStringRef name) {
  MlirOperation op = mlirBlockGetFirstOperation(build->body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (llvmLLVMFuncOpIsA(op) && mlirStringRefEqual(mlirStringAttrGetValue(tileOpAttribute(op, "sym_name")), name) &&
        !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))))
      return op;
  return (MlirOperation){NULL};
}

// What a function's allocas take at once, with what the emulator adds to them; other values are few.
static uint64_t stackBytes(MlirOperation function) {
  uint64_t bytes = 1024;
  TileOps allocas = tileCollectOps(function, llvmAllocaOpIsA);
  for (intptr_t i = 0; i < allocas.count; ++i) {
    int64_t count;
    if (emulatorConstant(llvmAllocaOpGetArraySize(allocas.items[i]), &count) && count > 0)
      bytes += (uint64_t)count * emulatorBytes(mlirTypeAttrGetValue(llvmAllocaOpGetElemType(allocas.items[i])));
  }
  tileOpsFree(&allocas);
  return 2 * bytes; // a byte beside each, of those that are watched
}

// Inlined, what a function takes would be taken before the check.
void emulatorKeepLarge(MlirOperation function) {
  enum { LARGE = 32 << 10 };
  if (stackBytes(function) > LARGE)
    mlirOperationSetAttributeByName(function, tileString("no_inline"),
                                    mlirUnitAttrGet(mlirOperationGetContext(function)));
}

void emulatorCheckStack(EmulatorBuild *build, TileBuilder *b, MlirValue self, MlirOperation function, uint32_t site) {
  MlirValue operands[] = {self, emulatorI64(build, b, (int64_t)stackBytes(function)), emulatorI32(build, b, site)};
  emulatorCall(build, b, "tessera_emu_stack", (MlirType){NULL}, 3, operands);
}

static bool callDefined(EmulatorBuild *build, MlirOperation op, MlirStringRef callee) {
  char name[256];
  MlirValue operands[64] = {build->self};
  intptr_t count = mlirOperationGetNumOperands(op);
  TileBuilder b = tileBuilderBefore(op);
  if (count >= 63 || callee.length >= sizeof name)
    return emulatorRefuse(build, op, "has more operands than the emulator passes on");
  for (intptr_t i = 0; i < count; ++i)
    operands[i + 1] = mlirOperationGetOperand(op, i);
  memcpy(name, callee.data, callee.length);
  name[callee.length] = 0;
  bool returns = mlirOperationGetNumResults(op) > 0;
  emulatorCheckStack(build, &b, build->self, definition(build, callee), emulatorSite(build, op));
  emulatorReplace(op, emulatorCallDefined(build, &b, name, returns ? tileOnlyResultType(op) : (MlirType){NULL},
                                          count + 1, operands));
  return true;
}

bool emulatorLowerCall(EmulatorBuild *build, MlirOperation op, const EmulatorRow *row) {
  MlirAttribute callee = tileOpAttribute(op, "callee");
  (void)row;
  if (mlirAttributeIsNull(callee))
    return emulatorRefuse(build, op, "calls through a pointer, which the emulator does not follow");
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(callee);
  if (!mlirOperationIsNull(definition(build, name)))
    return callDefined(build, op, name);
  if (tileStringEquals(name, "vprintf") && mlirOperationGetNumOperands(op) == 2)
    return callPrint(build, op);
  if (tileStringEquals(name, "__assertfail") && mlirOperationGetNumOperands(op) == 5)
    return callAssert(build, op);
  if (callInteger(build, op, name) || callSize(build, op, name) || callOddFunction(build, op, name) ||
      emulatorCallMath(build, op, name))
    return true;
  return emulatorRefuse(build, op, "calls '%.*s', which the emulator does not know", (int)name.length, name.data);
}
