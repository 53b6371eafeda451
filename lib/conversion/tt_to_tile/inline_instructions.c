// Inline PTX on elements, one instruction each: a table of instructions as ops of arith and math. Approximations become
// the exact functions. Any other text, with several instructions, packed elements or other places, is an error.
#include "lib/conversion/tt_to_tile/triton.h"

#include "dialects/foreign/tt/ops.h"
#include "upstream/arith.h"
#include "upstream/math.h"

#include <ctype.h>
#include <stdio.h>

typedef struct Instruction {
  const char *name;
  intptr_t numOperands;
  TileUpstream kind; // None: the operand itself
} Instruction;

// The last part of a name tells the element: f32, f64, or an integer of so many bits.
static const Instruction instructions[] = {
    {"mov.b32", 1, TileUpstream_None},
    {"mov.u32", 1, TileUpstream_None},
    {"mov.f32", 1, TileUpstream_None},
    {"abs.f32", 1, MathOp_AbsF},
    {"neg.f32", 1, ArithOp_NegF},
    {"sqrt.rn.f32", 1, MathOp_Sqrt},
    {"sqrt.approx.f32", 1, MathOp_Sqrt},
    {"rsqrt.approx.f32", 1, MathOp_Rsqrt},
    {"ex2.approx.f32", 1, MathOp_Exp2},
    {"ex2.approx.ftz.f32", 1, MathOp_Exp2},
    {"lg2.approx.f32", 1, MathOp_Log2},
    {"lg2.approx.ftz.f32", 1, MathOp_Log2},
    {"sin.approx.f32", 1, MathOp_Sin},
    {"cos.approx.f32", 1, MathOp_Cos},
    {"tanh.approx.f32", 1, MathOp_Tanh},
    {"add.f32", 2, ArithOp_AddF},
    {"add.rn.f32", 2, ArithOp_AddF},
    {"sub.f32", 2, ArithOp_SubF},
    {"sub.rn.f32", 2, ArithOp_SubF},
    {"mul.f32", 2, ArithOp_MulF},
    {"mul.rn.f32", 2, ArithOp_MulF},
    {"div.rn.f32", 2, ArithOp_DivF},
    {"div.full.f32", 2, ArithOp_DivF},
    {"div.approx.f32", 2, ArithOp_DivF},
    {"min.f32", 2, ArithOp_MinNumF},
    {"max.f32", 2, ArithOp_MaxNumF},
    {"min.NaN.f32", 2, ArithOp_MinimumF},
    {"max.NaN.f32", 2, ArithOp_MaximumF},
    {"fma.rn.f32", 3, MathOp_Fma},
    {"add.s32", 2, ArithOp_AddI},
    {"add.u32", 2, ArithOp_AddI},
    {"sub.s32", 2, ArithOp_SubI},
    {"sub.u32", 2, ArithOp_SubI},
    {"mul.lo.s32", 2, ArithOp_MulI},
    {"mul.lo.u32", 2, ArithOp_MulI},
    {"min.s32", 2, ArithOp_MinSI},
    {"max.s32", 2, ArithOp_MaxSI},
    {"min.u32", 2, ArithOp_MinUI},
    {"max.u32", 2, ArithOp_MaxUI},
    {"and.b32", 2, ArithOp_AndI},
    {"or.b32", 2, ArithOp_OrI},
    {"xor.b32", 2, ArithOp_XOrI},
    {"abs.s32", 1, MathOp_AbsI},
    {"popc.b32", 1, MathOp_CtPop},
    {"clz.b32", 1, MathOp_CountLeadingZeros},
};

// Without blanks around: "ex2.approx.f32 $0, $1;" is the name, then "$0,$1;".
static bool isText(MlirStringRef text, const Instruction *of) {
  char wanted[64], seen[64];
  size_t length = 0;
  int at = snprintf(wanted, sizeof wanted, "%s$0", of->name);
  for (intptr_t i = 1; i <= of->numOperands; ++i)
    at += snprintf(wanted + at, sizeof wanted - (size_t)at, ",$%d", (int)i);
  for (size_t i = 0; i < text.length; ++i)
    if (!isspace((unsigned char)text.data[i]) && text.data[i] != ';') {
      if (length + 1 == sizeof seen)
        return false;
      seen[length++] = text.data[i];
    }
  seen[length] = 0;
  const char *first = memchr(text.data, ';', text.length);
  bool hasOne = !first || !memchr(first + 1, ';', (size_t)(text.data + text.length - first - 1));
  return hasOne && strcmp(wanted, seen) == 0;
}

static const Instruction *findInstruction(MlirStringRef text) {
  for (size_t i = 0; i < sizeof instructions / sizeof *instructions; ++i)
    if (isText(text, &instructions[i]))
      return &instructions[i];
  return NULL;
}

// `mov.b32` takes any element of 32 bits.
static bool hasElement(const Instruction *of, MlirType element) {
  bool isFloat = strstr(of->name, "f32") != NULL, isAny = of->kind == TileUpstream_None;
  return tileElementWidth(element) == 32 &&
         (isAny || (isFloat ? mlirTypeIsAF32(element) : mlirTypeIsAInteger(element)));
}

bool tritonInline(Triton *t, MlirOperation op) {
  MlirStringRef text = mlirStringAttrGetValue(ttElementwiseInlineAsmOpGetAsmString(op));
  const Instruction *of = findInstruction(text);
  intptr_t count = ttElementwiseInlineAsmOpGetNumArgs(op);
  MlirValue operands[3];
  if (!of || count != of->numOperands || ttElementwiseInlineAsmOpGetPackedElementValue(op) != 1 ||
      mlirOperationGetNumResults(op) != 1)
    return tileError(op, "has the text \"%.*s\", expected one instruction of PTX that this conversion knows",
                     (int)(text.length < 128 ? text.length : 128), text.data);
  for (intptr_t i = 0; i < count; ++i) {
    if (mlirValueIsNull(operands[i] = tritonPlain(t, ttElementwiseInlineAsmOpGetArgs(op, i))))
      return false;
    if (!hasElement(of, tritonShape(mlirValueGetType(operands[i])).element))
      return tileError(op, "runs %s on %s", of->name, tileTypeText(mlirValueGetType(operands[i]), (char[64]){0}, 64));
  }
  MlirType type = tritonType(tileOnlyResultType(op));
  if (!mlirTypeEqual(type, mlirValueGetType(operands[0])))
    return tileError(op, "makes %s of %s, expected one type", tileTypeText(type, (char[64]){0}, 64),
                     tileTypeText(mlirValueGetType(operands[0]), (char[64]){0}, 64));
  MlirValue result = operands[0];
  if (of->kind != TileUpstream_None)
    result = count == 1   ? tileBuildUnary(&t->b, of->kind, operands[0])
             : count == 2 ? tileBuildBinary(&t->b, of->kind, operands[0], operands[1])
                          : mathFmaOpBuild(&t->b, operands[0], operands[1], operands[2]);
  tritonSetPlain(t, tileOnlyResult(op), result);
  return true;
}
