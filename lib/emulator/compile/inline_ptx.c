// Inline PTX of the instructions that kernels write by hand: read by a table, one instruction a text
// (inline_ptx_texts.c takes others apart). An instruction
// becomes the call of the intrinsic that it is, or ops of LLVM (inline_ptx.h); operands come from the text: registers
// ($1), numbers, and registers that the machine has (%laneid). See intrinsics.h.
#include "lib/emulator/compile/inline_ptx.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"
#include "upstream/nvvm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MostText = 1024 };

// `order`: which operands of the text the intrinsic takes; null: all behind the results. A name that ends with '*'
// stands for all that begin so; the intrinsic's name then ends with the rest.
typedef struct PtxRow {
  const char *instruction, *intrinsic, *order;
} PtxRow;

static const PtxRow rows[] = {
    {"bar.sync", "llvm.nvvm.barrier.cta.sync.aligned", NULL}, // .all or .count: by the number of operands
    {"barrier.sync", "llvm.nvvm.barrier.cta.sync", NULL},
    {"barrier.sync.aligned", "llvm.nvvm.barrier.cta.sync.aligned", NULL},
    {"bar.warp.sync", "llvm.nvvm.bar.warp.sync", NULL},
    {"membar.cta", "llvm.nvvm.membar.cta", NULL},
    {"membar.gl", "llvm.nvvm.membar.gl", NULL},
    {"membar.sys", "llvm.nvvm.membar.sys", NULL},
    {"shfl.sync.bfly.b32", "llvm.nvvm.shfl.sync.bfly.i32", "4123"},
    {"shfl.sync.up.b32", "llvm.nvvm.shfl.sync.up.i32", "4123"},
    {"shfl.sync.down.b32", "llvm.nvvm.shfl.sync.down.i32", "4123"},
    {"shfl.sync.idx.b32", "llvm.nvvm.shfl.sync.idx.i32", "4123"},
    {"match.any.sync.b32", "llvm.nvvm.match.any.sync.i32", "21"},
    {"match.any.sync.b64", "llvm.nvvm.match.any.sync.i64", "21"},
    {"redux.sync.add.s32", "llvm.nvvm.redux.sync.add", NULL},
    {"redux.sync.add.u32", "llvm.nvvm.redux.sync.add", NULL},
    {"redux.sync.and.b32", "llvm.nvvm.redux.sync.and", NULL},
    {"redux.sync.or.b32", "llvm.nvvm.redux.sync.or", NULL},
    {"redux.sync.xor.b32", "llvm.nvvm.redux.sync.xor", NULL},
    {"redux.sync.min.s32", "llvm.nvvm.redux.sync.min", NULL},
    {"redux.sync.max.s32", "llvm.nvvm.redux.sync.max", NULL},
    {"redux.sync.min.u32", "llvm.nvvm.redux.sync.umin", NULL},
    {"redux.sync.max.u32", "llvm.nvvm.redux.sync.umax", NULL},
    {"ex2.approx.f32", "llvm.nvvm.ex2.approx.f", NULL},
    {"lg2.approx.f32", "llvm.nvvm.lg2.approx.f", NULL},
    {"sqrt.approx.f32", "llvm.nvvm.sqrt.f", NULL},
    {"cp.async.commit_group", "llvm.nvvm.cp.async.commit.group", NULL},
    {"cp.async.wait_group", "llvm.nvvm.cp.async.wait.group", NULL},
    {"mma.sync.aligned.*", "llvm.nvvm.mma.", NULL},
};

static const struct {
  const char *name, *op;
} specials[] = {
    {"%tid.x", nvvmThreadIdXOpName},   {"%tid.y", nvvmThreadIdYOpName},   {"%tid.z", nvvmThreadIdZOpName},
    {"%ctaid.x", nvvmBlockIdXOpName},  {"%ctaid.y", nvvmBlockIdYOpName},  {"%ctaid.z", nvvmBlockIdZOpName},
    {"%ntid.x", nvvmBlockDimXOpName},  {"%ntid.y", nvvmBlockDimYOpName},  {"%ntid.z", nvvmBlockDimZOpName},
    {"%nctaid.x", nvvmGridDimXOpName}, {"%nctaid.y", nvvmGridDimYOpName}, {"%nctaid.z", nvvmGridDimZOpName},
    {"%laneid", nvvmLaneIdOpName},     {"%warpid", nvvmWarpIdOpName},     {"%smid", nvvmSmIdOpName},
    {"%clock", nvvmClockOpName},       {"%clock64", nvvmClock64OpName},
};

//===--- reading -------------------------------------------------------------------------------------------===//

static const char *skipMarks(const char *at) {
  while (isspace((unsigned char)*at) || (*at && strchr(",{}[]", *at)))
    ++at;
  return at;
}

// Null: not of the form.
static const char *readOperand(const char *at, PtxOperand *operand) {
  char *end;
  if (*at == '$') {
    *operand = (PtxOperand){.kind = Ptx_Register, .number = strtol(at + 1, &end, 10)};
    if (end == at + 1)
      return NULL;
    at = end + strspn(end, " \t");
    if (*at == '+' && isdigit((unsigned char)at[1])) // of an address
      operand->offset = strtoll(at + 1, &end, 0);
    return end;
  }
  if (isdigit((unsigned char)*at) || *at == '-') {
    *operand = (PtxOperand){.kind = Ptx_Number, .number = strtoll(at, &end, 0)};
    return end == at ? NULL : end;
  }
  size_t length = *at == '%' ? strcspn(at, " ,;\t\n") : 0;
  *operand = (PtxOperand){.kind = Ptx_Special};
  if (!length || length >= sizeof operand->name)
    return NULL;
  memcpy(operand->name, at, length);
  return at + length;
}

// "name operand, {operand, …}, [operand];" and nothing behind.
static bool readInstruction(const char *text, Ptx *ptx) {
  text += strspn(text, " \t\n");
  size_t length = strcspn(text, " ;\t\n");
  if (!length || length >= PtxMostName || strchr("{@", *text))
    return false;
  memcpy(ptx->name, text, length);
  const char *at = skipMarks(text + length);
  while (at && *at && *at != ';') {
    if (ptx->count == PtxMostOperands)
      return false;
    at = readOperand(at, &ptx->operands[ptx->count++]);
    at = at ? skipMarks(at) : NULL;
  }
  return at && !at[strspn(at, "; \t\n")];
}

static const char *constraintsOf(MlirOperation op, char text[MostText]) {
  MlirStringRef constraints = mlirStringAttrGetValue(tileOpAttribute(op, "constraints"));
  snprintf(text, MostText, "%.*s", (int)constraints.length, constraints.data);
  return text;
}

static int countResults(const char *constraints) {
  int count = 0;
  for (const char *at = constraints; *at; ++at)
    count += *at == '=' && (at == constraints || at[-1] == ',');
  return count;
}

static bool readAssembly(MlirOperation op, Ptx *ptx) {
  char text[MostText], constraints[MostText];
  MlirStringRef assembly = mlirStringAttrGetValue(tileOpAttribute(op, "asm_string"));
  if (assembly.length >= sizeof text)
    return false;
  memcpy(text, assembly.data, assembly.length);
  text[assembly.length] = 0;
  *ptx = (Ptx){.op = op, .results = countResults(constraintsOf(op, constraints))};
  return readInstruction(text, ptx) && ptx->results <= ptx->count;
}

//===--- values ----------------------------------------------------------------------------------------------===//

// A register that is a result, where it is read: the operand whose constraint is its number ("+f" in the source).
static intptr_t operandTiedTo(const Ptx *ptx, int64_t result) {
  char text[MostText], *rest = text;
  int at = 0;
  constraintsOf(ptx->op, text);
  for (char *one; (one = strtok_r(rest, ",", &rest)); ++at)
    if (isdigit((unsigned char)*one) && strtol(one, NULL, 10) == result)
      return at - ptx->results;
  return -1;
}

MlirValue emulatorPtxValue(const Ptx *ptx, TileBuilder *b, int operand) {
  const PtxOperand *at = &ptx->operands[operand];
  MlirType i32 = mlirIntegerTypeGet(b->context, 32);
  if (operand >= ptx->count || at->kind == Ptx_Special)
    return (MlirValue){NULL};
  if (at->kind == Ptx_Number)
    return llvmConstantOpBuild(b, i32, mlirIntegerAttrGet(i32, at->number));
  intptr_t index = at->number < ptx->results ? operandTiedTo(ptx, at->number) : at->number - ptx->results;
  return index >= 0 && index < mlirOperationGetNumOperands(ptx->op) ? mlirOperationGetOperand(ptx->op, index)
                                                                    : (MlirValue){NULL};
}

static MlirValue pointerTo(TileBuilder *b, MlirValue value, MlirType type) {
  if (mlirTypeEqual(mlirValueGetType(value), type))
    return value;
  return mlirTypeIsAInteger(mlirValueGetType(value)) ? llvmIntToPtrOpBuild(b, type, value)
                                                     : llvmAddrSpaceCastOpBuild(b, type, value);
}

MlirValue emulatorPtxPointer(const Ptx *ptx, TileBuilder *b, int operand, unsigned space) {
  MlirValue value = emulatorPtxValue(ptx, b, operand);
  int64_t offset = ptx->operands[operand].offset;
  MlirType type = mlirLLVMPointerTypeGet(b->context, space), byte = mlirIntegerTypeGet(b->context, 8);
  if (mlirValueIsNull(value))
    return value;
  value = pointerTo(b, value, type);
  int32_t index = (int32_t)offset;
  return offset ? llvmGEPOpBuild(b, type, value, 0, NULL, mlirDenseI32ArrayGet(b->context, 1, &index),
                                 mlirTypeAttrGet(byte))
                : value;
}

void emulatorPtxReplace(const Ptx *ptx, MlirValue value) {
  mlirValueReplaceAllUsesOfWith(tileOnlyResult(ptx->op), value);
  mlirOperationDestroy(ptx->op);
}

//===--- instructions ------------------------------------------------------------------------------------------===//

static MlirOperation callByRow(const Ptx *ptx, const PtxRow *row, const char *rest) {
  TileBuilder b = tileBuilderBefore(ptx->op);
  char name[2 * PtxMostName];
  MlirValue operands[PtxMostOperands];
  intptr_t count = 0, all = ptx->count - ptx->results;
  intptr_t taken = row->order ? (intptr_t)strlen(row->order) : all;
  for (; count < taken; ++count) {
    int at = row->order ? row->order[count] - '0' : (int)count + ptx->results;
    operands[count] = emulatorPtxValue(ptx, &b, at);
    if (mlirValueIsNull(operands[count]))
      return (MlirOperation){NULL};
  }
  bool isBarrier = strncmp(row->intrinsic, "llvm.nvvm.barrier", 17) == 0;
  snprintf(name, sizeof name, "%s%s%s", row->intrinsic, rest, isBarrier ? count == 2 ? ".count" : ".all" : "");
  return emulatorCallIntrinsic(ptx->op, name, count, operands);
}

static MlirOperation findRow(const Ptx *ptx) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    size_t length = strlen(rows[i].instruction);
    bool isPrefix = rows[i].instruction[length - 1] == '*';
    if (isPrefix && strncmp(ptx->name, rows[i].instruction, length - 1) == 0)
      return callByRow(ptx, &rows[i], ptx->name + length - 1);
    if (!isPrefix && strcmp(ptx->name, rows[i].instruction) == 0)
      return callByRow(ptx, &rows[i], "");
  }
  return (MlirOperation){NULL};
}

// cp.async.ca.shared.global [to], [from], 16; also with the number of bytes that are read.
static MlirOperation copyAsync(const Ptx *ptx) {
  char kind[3], name[PtxMostName];
  int end = 0;
  bool is = sscanf(ptx->name, "cp.async.%2[acg].shared%n", kind, &end) == 1 && end && ptx->count >= 3 &&
            ptx->count <= 4 && ptx->operands[2].kind == Ptx_Number &&
            (!strncmp(ptx->name + end, ".global", 7) || !strncmp(ptx->name + end, "::cta.global", 12));
  if (!is)
    return (MlirOperation){NULL};
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirValue operands[] = {emulatorPtxPointer(ptx, &b, 0, 3), emulatorPtxPointer(ptx, &b, 1, 1),
                          ptx->count == 4 ? emulatorPtxValue(ptx, &b, 3) : (MlirValue){NULL}};
  if (mlirValueIsNull(operands[0]) || mlirValueIsNull(operands[1]) || (ptx->count == 4 && mlirValueIsNull(operands[2])))
    return (MlirOperation){NULL};
  snprintf(name, sizeof name, "llvm.nvvm.cp.async.%s.shared.global.%d", kind, (int)ptx->operands[2].number);
  return emulatorCallIntrinsic(ptx->op, name, ptx->count - 1, operands);
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$0, $1, $2, $3}, [$4];
static bool loadMatrix(const Ptx *ptx) {
  int number = 0, end = 0;
  if (sscanf(ptx->name, "ldmatrix.sync.aligned.m8n8.x%d%n", &number, &end) != 1 || number != ptx->results ||
      ptx->count != number + 1)
    return false;
  const char *rest = ptx->name + end;
  bool isTransposed = strncmp(rest, ".trans", 6) == 0;
  rest += isTransposed ? 6 : 0;
  if (strcmp(rest, ".shared.b16") != 0 && strcmp(rest, ".shared::cta.b16") != 0)
    return false;
  TileBuilder b = tileBuilderBefore(ptx->op);
  MlirValue pointer = emulatorPtxPointer(ptx, &b, number, 3);
  if (mlirValueIsNull(pointer))
    return false;
  MlirValue loaded = nvvmLdMatrixOpBuild(&b, tileOnlyResultType(ptx->op), pointer,
                                         mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 32), number),
                                         isTransposed ? NvvmMMALayout_Col : NvvmMMALayout_Row,
                                         nvvmLdStMatrixShapeAttr(&b, 8, 8), NvvmLdStMatrixEltType_B16);
  emulatorPtxReplace(ptx, loaded);
  return true;
}

// mov.u32 $0, %laneid;
static bool readSpecial(const Ptx *ptx) {
  if (strncmp(ptx->name, "mov.", 4) != 0 || ptx->results != 1 || ptx->count != 2 ||
      ptx->operands[1].kind != Ptx_Special)
    return false;
  for (size_t i = 0; i < sizeof specials / sizeof *specials; ++i) {
    if (strcmp(ptx->operands[1].name, specials[i].name) != 0)
      continue;
    tileBuildRenamed(ptx->op, specials[i].op, NULL, NULL);
    return true;
  }
  return false;
}

MlirOperation emulatorExpandAssembly(MlirOperation op) {
  Ptx ptx;
  if (!readAssembly(op, &ptx) || readSpecial(&ptx) || loadMatrix(&ptx) || emulatorPtxMemory(&ptx) ||
      emulatorPtxArithmetic(&ptx))
    return (MlirOperation){NULL};
  MlirOperation copy = copyAsync(&ptx);
  return mlirOperationIsNull(copy) ? findRow(&ptx) : copy;
}
