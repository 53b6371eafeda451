// Inline PTX that computes: rows from instructions to ops of LLVM. Types of the text are those of the registers, whose
// bits the op takes. See inline_ptx.h.
#include "lib/emulator/compile/inline_ptx.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "upstream/llvm.h"

#include <stdio.h>
#include <stdlib.h>

typedef enum Form {
  Form_One,
  Form_Two,
  Form_Reciprocal,     // 1 / x
  Form_ReciprocalRoot, // 1 / sqrt(x)
  Form_MultiplyAdd,    // of integers
  Form_FusedMultiplyAdd,
  Form_Shift, // beyond the width: all bits are gone
  Form_Move,
  Form_Table // lop3
} Form;

// `types`: the last word, one of these; approximations become the exact functions.
static const struct {
  const char *name, *types;
  Form form;
  TileUpstream op;
} rows[] = {
    {"add", "s32 u32 s64 u64", Form_Two, LlvmOp_Add},
    {"sub", "s32 u32 s64 u64", Form_Two, LlvmOp_Sub},
    {"mul.lo", "s32 u32 s64 u64", Form_Two, LlvmOp_Mul},
    {"mad.lo", "s32 u32 s64 u64", Form_MultiplyAdd, TileUpstream_None},
    {"and", "b32 b64", Form_Two, LlvmOp_And},
    {"or", "b32 b64", Form_Two, LlvmOp_Or},
    {"xor", "b32 b64", Form_Two, LlvmOp_XOr},
    {"shl", "b32 b64", Form_Shift, LlvmOp_Shl},
    {"shr", "u32 u64 b32 b64", Form_Shift, LlvmOp_LShr},
    {"add", "f32 f64", Form_Two, LlvmOp_FAdd},
    {"add.rn", "f32 f64", Form_Two, LlvmOp_FAdd},
    {"sub", "f32 f64", Form_Two, LlvmOp_FSub},
    {"sub.rn", "f32 f64", Form_Two, LlvmOp_FSub},
    {"mul", "f32 f64", Form_Two, LlvmOp_FMul},
    {"mul.rn", "f32 f64", Form_Two, LlvmOp_FMul},
    {"div.rn", "f32 f64", Form_Two, LlvmOp_FDiv},
    {"div.approx", "f32", Form_Two, LlvmOp_FDiv},
    {"max", "f32 f64", Form_Two, LlvmOp_MaxNum},
    {"min", "f32 f64", Form_Two, LlvmOp_MinNum},
    {"fma.rn", "f32 f64", Form_FusedMultiplyAdd, TileUpstream_None},
    {"abs", "f32 f64", Form_One, LlvmOp_FAbs},
    {"neg", "f32 f64", Form_One, LlvmOp_FNeg},
    {"sqrt.rn", "f32 f64", Form_One, LlvmOp_Sqrt},
    {"sin.approx", "f32", Form_One, LlvmOp_Sin},
    {"cos.approx", "f32", Form_One, LlvmOp_Cos},
    {"tanh.approx", "f32", Form_One, LlvmOp_Tanh},
    {"rcp.approx", "f32", Form_Reciprocal, TileUpstream_None},
    {"rcp.rn", "f32 f64", Form_Reciprocal, TileUpstream_None},
    {"rsqrt.approx", "f32", Form_ReciprocalRoot, TileUpstream_None},
    {"mov", "b32 u32 s32 f32 b64 u64 s64 f64", Form_Move, TileUpstream_None},
    {"lop3", "b32", Form_Table, TileUpstream_None},
};

static MlirValue constantOf(TileBuilder *b, MlirType type, double value) {
  bool isFloat = mlirTypeIsAFloat(type);
  return llvmConstantOpBuild(
      b, type, isFloat ? mlirFloatAttrDoubleGet(b->context, type, value) : mlirIntegerAttrGet(type, (int64_t)value));
}

static MlirValue on(TileBuilder *b, TileUpstream op, MlirValue x, MlirValue y) { return tileBuildBinary(b, op, x, y); }

// One bit of the result for each three bits of the operands, by a table of eight.
static MlirValue lookUp(TileBuilder *b, MlirValue xyz[3], int64_t table) {
  MlirType type = mlirValueGetType(xyz[0]);
  MlirValue ones = llvmConstantOpBuild(b, type, mlirIntegerAttrGet(type, -1)), all = constantOf(b, type, 0);
  for (int row = 0; row < 8; ++row) {
    MlirValue term = ones;
    for (int i = 0; i < 3; ++i)
      term = on(b, LlvmOp_And, term, row >> (2 - i) & 1 ? xyz[i] : on(b, LlvmOp_XOr, xyz[i], ones));
    all = table >> row & 1 ? on(b, LlvmOp_Or, all, term) : all;
  }
  return all;
}

static MlirValue compute(const Ptx *ptx, TileBuilder *b, Form form, TileUpstream op, MlirValue *x) {
  MlirType type = mlirValueGetType(x[0]);
  switch (form) {
  case Form_One:
    return tileBuildUnary(b, op, x[0]);
  case Form_Two:
    return on(b, op, x[0], x[1]);
  case Form_Reciprocal:
    return on(b, LlvmOp_FDiv, constantOf(b, type, 1), x[0]);
  case Form_ReciprocalRoot:
    return on(b, LlvmOp_FDiv, constantOf(b, type, 1), llvmSqrtOpBuild(b, x[0]));
  case Form_MultiplyAdd:
    return on(b, LlvmOp_Add, on(b, LlvmOp_Mul, x[0], x[1]), x[2]);
  case Form_FusedMultiplyAdd:
    return llvmFMAOpBuild(b, x[0], x[1], x[2]);
  case Form_Shift: {
    unsigned width = mlirIntegerTypeGetWidth(type);
    MlirValue by = width == 64 ? llvmZExtOpBuild(b, type, x[1]) : x[1];
    MlirValue fits = llvmICmpOpBuild(b, by, constantOf(b, type, width), LlvmICmp_Ult);
    MlirValue within = on(b, LlvmOp_And, by, constantOf(b, type, width - 1));
    return llvmSelectOpBuild(b, fits, on(b, op, x[0], within), constantOf(b, type, 0));
  }
  case Form_Move:
    return x[0];
  case Form_Table:
    return lookUp(b, x, ptx->operands[4].number);
  }
  return (MlirValue){NULL};
}

static bool isType(const char *types, const char *type) {
  const char *found = strstr(types, type);
  return found && strlen(type) == 3 && (found == types || found[-1] == ' ');
}

static int rowOf(const Ptx *ptx) {
  const char *type = strrchr(ptx->name, '.');
  int length = type ? (int)(type - ptx->name) : 0;
  for (int i = 0; type && i < (int)(sizeof rows / sizeof *rows); ++i)
    if ((int)strlen(rows[i].name) == length && !strncmp(rows[i].name, ptx->name, (size_t)length) &&
        isType(rows[i].types, type + 1))
      return i;
  return -1;
}

// A number has the type of the registers; the distance of a shift is an i32.
static MlirValue operandOf(const Ptx *ptx, TileBuilder *b, int operand, MlirType type, bool isDistance) {
  MlirValue value = emulatorPtxValue(ptx, b, operand);
  MlirType wanted = isDistance ? mlirIntegerTypeGet(b->context, 32) : type;
  if (mlirValueIsNull(value) || mlirTypeEqual(mlirValueGetType(value), wanted))
    return value;
  bool isNumber = ptx->operands[operand].kind == Ptx_Number && mlirTypeIsAInteger(wanted);
  return isNumber ? llvmConstantOpBuild(b, wanted, mlirIntegerAttrGet(wanted, ptx->operands[operand].number))
                  : (MlirValue){NULL};
}

//===--- conditions ---------------------------------------------------------------------------===//

static const struct {
  const char *name;
  LlvmICmp isSigned, isUnsigned;
  LlvmFCmp ofFloats; // a nan makes all false
} comparisons[] = {
    {"eq", LlvmICmp_Eq, LlvmICmp_Eq, LlvmFCmp_Oeq},   {"ne", LlvmICmp_Ne, LlvmICmp_Ne, LlvmFCmp_One},
    {"lt", LlvmICmp_Slt, LlvmICmp_Ult, LlvmFCmp_Olt}, {"le", LlvmICmp_Sle, LlvmICmp_Ule, LlvmFCmp_Ole},
    {"gt", LlvmICmp_Sgt, LlvmICmp_Ugt, LlvmFCmp_Ogt}, {"ge", LlvmICmp_Sge, LlvmICmp_Uge, LlvmFCmp_Oge},
};

// "setp.lt.s32 p, a, b" gives a boolean.
static MlirValue compareTwo(const Ptx *ptx, TileBuilder *b) {
  char name[3], kind;
  int bits, end = 0;
  if (sscanf(ptx->name, "setp.%2[a-z].%c%d%n", name, &kind, &bits, &end) != 3 || ptx->name[end] || ptx->count != 3 ||
      !strchr("subf", kind) || (bits != 32 && bits != 64))
    return (MlirValue){NULL};
  MlirType type = kind == 'f' ? bits == 32 ? mlirF32TypeGet(b->context) : mlirF64TypeGet(b->context)
                              : mlirIntegerTypeGet(b->context, (unsigned)bits);
  MlirValue x = operandOf(ptx, b, 1, type, false), y = operandOf(ptx, b, 2, type, false);
  for (size_t i = 0; !mlirValueIsNull(x) && !mlirValueIsNull(y) && i < sizeof comparisons / sizeof *comparisons; ++i)
    if (!strcmp(comparisons[i].name, name))
      return kind == 'f' ? llvmFCmpOpBuild(b, x, y, comparisons[i].ofFloats)
                         : llvmICmpOpBuild(b, x, y, kind == 's' ? comparisons[i].isSigned : comparisons[i].isUnsigned);
  return (MlirValue){NULL};
}

// "selp.b32 d, a, b, p"
static MlirValue chooseOne(const Ptx *ptx, TileBuilder *b) {
  MlirType type = tileOnlyResultType(ptx->op);
  if (strncmp(ptx->name, "selp.", 5) != 0 || ptx->count != 4)
    return (MlirValue){NULL};
  MlirValue x = operandOf(ptx, b, 1, type, false), y = operandOf(ptx, b, 2, type, false);
  MlirValue condition = operandOf(ptx, b, 3, mlirIntegerTypeGet(b->context, 1), false);
  return mlirValueIsNull(x) || mlirValueIsNull(y) || mlirValueIsNull(condition) ? (MlirValue){NULL}
                                                                                : llvmSelectOpBuild(b, condition, x, y);
}

static bool isCondition(const Ptx *ptx) {
  if (ptx->results != 1)
    return false;
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirValue value = compareTwo(ptx, &b);
  value = mlirValueIsNull(value) ? chooseOne(ptx, &b) : value;
  if (mlirValueIsNull(value) || !mlirTypeEqual(mlirValueGetType(value), tileOnlyResultType(ptx->op)))
    return false;
  emulatorPtxReplace(ptx, value);
  return true;
}

bool emulatorPtxArithmetic(const Ptx *ptx) {
  if (isCondition(ptx))
    return true;
  int row = rowOf(ptx);
  if (row < 0 || ptx->results != 1)
    return false;
  Form form = rows[row].form;
  bool isTernary = form == Form_MultiplyAdd || form == Form_FusedMultiplyAdd || form == Form_Table;
  int count = isTernary ? 3 : form == Form_Two || form == Form_Shift ? 2 : 1;
  bool fits =
      ptx->count == 1 + count + (form == Form_Table) && (form != Form_Table || ptx->operands[4].kind == Ptx_Number);
  MlirType type = tileOnlyResultType(ptx->op);
  bool isOfFloats = strrchr(ptx->name, '.')[1] == 'f';
  if (!fits || (form != Form_Move && isOfFloats != mlirTypeIsAFloat(type)))
    return false;
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirValue operands[3];
  for (int i = 0; i < count; ++i)
    if (mlirValueIsNull(operands[i] = operandOf(ptx, &b, i + 1, type, form == Form_Shift && i == 1)))
      return false;
  emulatorPtxReplace(ptx, compute(ptx, &b, form, rows[row].op, operands));
  return true;
}
