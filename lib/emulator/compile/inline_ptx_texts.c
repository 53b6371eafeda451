// Inline PTX of several instructions: one op becomes an op for each, before they are read one by one (inline_ptx.c).
//
//   "{ .reg .b32 t; mul.lo.u32 t, $1, $2; add.u32 $0, t, $3; }"  →  %t = "mul.lo.u32 $0, $1, $2;", %r = "add.u32 …"
//
// Registers that the text declares, and results that it writes, are values; each instruction gives the registers of its
// first operand, unless it is one that gives none. Under a condition (@p) what an instruction computes is chosen or
// not; accesses and the like get a block of their own. A text with labels or arrays of registers stays.
#include "lib/emulator/compile/inline_ptx.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"
#include "upstream/llvm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { MostText = 4096, MostNames = 64, MostWord = 64 };

typedef struct PtxName {
  char text[MostWord]; // "$3", or one of the text's own
  MlirType type;
  MlirValue value; // null: not written yet
} PtxName;

typedef struct PtxText {
  MlirOperation op;
  TileBuilder b;
  PtxName names[MostNames];
  int count, results;
} PtxText;

//===--- names -----------------------------------------------------------------------------===//

static PtxName *findName(PtxText *t, const char *word, size_t length) {
  for (int i = 0; i < t->count; ++i)
    if (strlen(t->names[i].text) == length && !memcmp(t->names[i].text, word, length))
      return &t->names[i];
  return NULL;
}

static bool addName(PtxText *t, const char *word, size_t length, MlirType type, MlirValue value) {
  if (t->count == MostNames || length >= MostWord || findName(t, word, length))
    return false;
  PtxName *name = &t->names[t->count++];
  *name = (PtxName){.type = type, .value = value};
  memcpy(name->text, word, length);
  return true;
}

static MlirType typeOf(MlirContext context, const char *word, size_t length) {
  static const struct {
    const char *name;
    int bits; // below 0: a float
  } types[] = {{"b16", 16}, {"u16", 16}, {"s16", 16}, {"b32", 32},  {"u32", 32}, {"s32", 32},
               {"b64", 64}, {"u64", 64}, {"s64", 64}, {"f32", -32}, {"f64", -64}};
  if (length == 4 && !memcmp(word, "pred", 4))
    return mlirIntegerTypeGet(context, 1);
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (length == 3 && !memcmp(word, types[i].name, 3))
      return types[i].bits > 0      ? mlirIntegerTypeGet(context, (unsigned)types[i].bits)
             : types[i].bits == -32 ? mlirF32TypeGet(context)
                                    : mlirF64TypeGet(context);
  return (MlirType){NULL};
}

static bool isWordEnd(char c) { return !c || isspace((unsigned char)c) || strchr(",;{}[]+<>@:", c); }
static size_t wordLength(const char *at) {
  size_t length = 0;
  while (!isWordEnd(at[length]))
    ++length;
  return length;
}

// ".reg .b32 t, u" behind its first word.
static bool declare(PtxText *t, const char *at, const char *end) {
  at += strspn(at, " \t\n");
  size_t length = wordLength(at);
  MlirType type = *at == '.' && length ? typeOf(t->b.context, at + 1, length - 1) : (MlirType){NULL};
  if (mlirTypeIsNull(type))
    return false;
  for (at += length; at < end; at += length) {
    at += strspn(at, " \t\n,");
    length = wordLength(at);
    if (at < end && (!length || !addName(t, at, length, type, (MlirValue){NULL})))
      return false;
  }
  return true;
}

//===--- instructions ------------------------------------------------------------------------===//

static bool givesNothing(const char *instruction) {
  static const char *const names[] = {"st.",   "red.",     "bar.",     "barrier.", "membar",
                                      "fence", "cp.async", "prefetch", "stmatrix"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strncmp(instruction, names[i], strlen(names[i])))
      return true;
  return false;
}

// What only computes may run where its condition does not hold.
static bool onlyComputes(const char *instruction) {
  static const char *const names[] = {"ld",     "atom",   "mma.",  "wgmma",     "shfl.",
                                      "match.", "redux.", "vote.", "activemask"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strncmp(instruction, names[i], strlen(names[i])))
      return false;
  return !givesNothing(instruction);
}

typedef struct One { // instruction
  char text[MostText];
  size_t length;
  PtxName *outputs[PtxMostOperands];
  MlirValue inputs[PtxMostOperands];
  int numOutputs, numInputs;
} One;

static bool put(One *one, const char *text, size_t length) {
  if (one->length + length >= sizeof one->text)
    return false;
  memcpy(one->text + one->length, text, length);
  one->length += length;
  one->text[one->length] = 0;
  return true;
}

// A name in the text: an output is the next register of the new op; an input is behind all outputs.
static bool putName(One *one, PtxName *name, bool isOutput) {
  char number[16];
  if (one->numOutputs == PtxMostOperands || one->numInputs == PtxMostOperands ||
      (!isOutput && mlirValueIsNull(name->value)))
    return false;
  if (isOutput)
    one->outputs[one->numOutputs] = name;
  else
    one->inputs[one->numInputs] = name->value;
  int at = isOutput ? one->numOutputs++ : one->numOutputs + one->numInputs++;
  return put(one, number, (size_t)snprintf(number, sizeof number, "$%d", at));
}

static MlirValue build(PtxText *t, One *one) {
  char constraints[4 * PtxMostOperands];
  size_t length = 0;
  MlirType types[PtxMostOperands], type = {NULL};
  for (int i = 0; i < one->numOutputs + one->numInputs; ++i)
    length += (size_t)snprintf(constraints + length, sizeof constraints - length, "%s%s", i ? "," : "",
                               i < one->numOutputs ? "=r" : "r");
  constraints[length] = 0;
  for (int i = 0; i < one->numOutputs; ++i)
    type = types[i] = one->outputs[i]->type;
  if (one->numOutputs > 1)
    type = mlirLLVMStructTypeLiteralGet(t->b.context, one->numOutputs, types, false);
  MlirStringRef text = mlirStringRefCreate(one->text, one->length), rest = mlirStringRefCreate(constraints, length);
  MlirOperation made =
      llvmInlineAsmOpBuild(&t->b, type, one->numInputs, one->inputs, mlirStringAttrGet(t->b.context, text),
                           mlirStringAttrGet(t->b.context, rest));
  return one->numOutputs ? tileOnlyResult(made) : (MlirValue){NULL};
}

// "@p " or "@!p ": the boolean of the condition, null where there is none. False: it is not known.
static bool takeCondition(PtxText *t, const char **at, MlirValue *condition) {
  *condition = (MlirValue){NULL};
  if (**at != '@')
    return true;
  bool isNot = (*at)[1] == '!';
  *at += 1 + isNot;
  size_t length = wordLength(*at);
  PtxName *name = findName(t, *at, length);
  *at += length;
  *at += strspn(*at, " \t\n");
  if (!name || mlirValueIsNull(name->value))
    return false;
  MlirType i1 = mlirIntegerTypeGet(t->b.context, 1);
  *condition = isNot ? llvmXOrOpBuild(&t->b, name->value, llvmConstantOpBuild(&t->b, i1, mlirIntegerAttrGet(i1, 1)))
                     : name->value;
  return true;
}

// What one instruction does only where a condition holds: a block between two.
typedef struct Branch {
  MlirValue condition;
  MlirBlock before, then, rest;
} Branch;

static void beginBranch(PtxText *t, Branch *branch) {
  branch->before = mlirOperationGetBlock(t->op);
  branch->then = mlirBlockCreate(0, NULL, NULL);
  branch->rest = mlirBlockCreate(0, NULL, NULL);
  MlirRegion region = mlirBlockGetParentRegion(branch->before);
  mlirRegionInsertOwnedBlockAfter(region, branch->before, branch->then);
  mlirRegionInsertOwnedBlockAfter(region, branch->then, branch->rest);
  for (MlirOperation op = t->op, next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(branch->rest, op);
  }
  t->b = tileBuilderAtEnd(branch->then, t->b.location);
}

// The outputs are the rest's arguments: what the instruction gives, or what they were. False: they were nothing.
static bool endBranch(PtxText *t, const Branch *branch, int count, PtxName **outputs, const MlirValue *given) {
  MlirValue old[PtxMostOperands];
  bool ok = true;
  TileBuilder b = tileBuilderAtEnd(branch->before, t->b.location);
  for (int i = 0; i < count; ++i) {
    ok = ok && !mlirValueIsNull(outputs[i]->value);
    old[i] = mlirValueIsNull(outputs[i]->value) ? llvmUndefOpBuild(&b, outputs[i]->type) : outputs[i]->value;
    outputs[i]->value = mlirBlockAddArgument(branch->rest, outputs[i]->type, t->b.location);
  }
  llvmBrOpBuild(&t->b, count, given, branch->rest);
  llvmCondBrOpBuild(&b, branch->condition, 0, NULL, count, old, branch->then, branch->rest);
  t->b = tileBuilderBefore(t->op);
  return ok;
}

// "name operand, …": what the first operand names is written, be it one register or several in braces.
static bool readInstruction(PtxText *t, const char *at, const char *end, One *one) {
  size_t length = strcspn(at, " \t\n;");
  bool hasOutput = !givesNothing(at), ok = length && *at != '@' && put(one, at, length);
  int operand = 0, depth = 0;
  for (at += length; ok && at < end;) {
    length = wordLength(at);
    PtxName *name = findName(t, at, length);
    if (!length) {
      depth += (*at == '{') - (*at == '}');
      operand += *at == ',' && depth == 0;
      ok = *at != '@' && *at != ':' && *at != '<' && *at != '>' && put(one, at++, 1);
      continue;
    }
    // What is neither a name, a number nor a register of the machine is a label or the like.
    bool isOther = isdigit((unsigned char)*at) || *at == '-' || *at == '%';
    ok = name ? putName(one, name, hasOutput && operand == 0) : isOther && put(one, at, length);
    at += length;
  }
  return ok && put(one, ";", 1);
}

// Builds the op and takes its results apart.
static void buildAll(PtxText *t, One *one, MlirValue *given) {
  MlirValue result = build(t, one);
  for (int64_t i = 0; i < one->numOutputs; ++i)
    given[i] = one->numOutputs == 1 ? result
                                    : llvmExtractValueOpBuild(&t->b, one->outputs[i]->type, result,
                                                              mlirDenseI64ArrayGet(t->b.context, 1, &i));
}

static bool takeInstruction(PtxText *t, const char *at, const char *end) {
  Branch branch;
  MlirValue given[PtxMostOperands];
  One *one = calloc(1, sizeof *one);
  bool ok = takeCondition(t, &at, &branch.condition) && readInstruction(t, at, end, one);
  bool isConditional = ok && !mlirValueIsNull(branch.condition), branches = isConditional && !onlyComputes(at);
  if (branches)
    beginBranch(t, &branch);
  if (ok)
    buildAll(t, one, given);
  if (branches)
    ok = endBranch(t, &branch, one->numOutputs, one->outputs, given);
  for (int i = 0; ok && !branches && i < one->numOutputs; ++i) {
    PtxName *output = one->outputs[i];
    ok = !isConditional || !mlirValueIsNull(output->value);
    output->value =
        ok && isConditional ? llvmSelectOpBuild(&t->b, branch.condition, given[i], output->value) : given[i];
  }
  free(one);
  return ok;
}

//===--- texts --------------------------------------------------------------------------------===//

// The op's registers: results, those tied to them, and operands.
static bool nameRegisters(PtxText *t, const char *constraints) {
  MlirType results = mlirOperationGetNumResults(t->op) ? tileOnlyResultType(t->op) : (MlirType){NULL};
  int number = 0, operand = 0;
  for (const char *at = constraints; *at; at += strcspn(at, ","), at += *at == ',') {
    char name[16];
    MlirValue value = {NULL};
    MlirType type;
    if (*at == '~')
      continue;
    if (*at == '=') {
      type = mlirTypeIsALLVMStructType(results) ? mlirLLVMStructTypeGetElementType(results, number) : results;
      ++t->results;
    } else {
      value = mlirOperationGetOperand(t->op, operand++);
      type = mlirValueGetType(value);
      if (isdigit((unsigned char)*at)) { // "+r" in the source
        t->names[strtol(at, NULL, 10)].value = value;
        ++number;
        continue;
      }
    }
    int length = snprintf(name, sizeof name, "$%d", number++);
    if (mlirTypeIsNull(type) || !addName(t, name, (size_t)length, type, value))
      return false;
  }
  return true;
}

static bool takeAll(PtxText *t, const char *at) {
  int depth = 0;
  for (;;) {
    at += strspn(at, " \t\n;");
    if (!*at)
      return depth == 0;
    if (*at == '{' || *at == '}') {
      depth += *at++ == '{' ? 1 : -1;
      continue;
    }
    const char *end = at + strcspn(at, ";");
    bool isDeclaration = !strncmp(at, ".reg", 4);
    if (*end != ';' || !(isDeclaration ? declare(t, at + 4, end) : takeInstruction(t, at, end)))
      return false;
    at = end;
  }
}

static bool finish(PtxText *t) {
  for (int i = 0; i < t->results; ++i)
    if (mlirValueIsNull(t->names[i].value) || !mlirTypeEqual(mlirValueGetType(t->names[i].value), t->names[i].type))
      return false;
  if (t->results > 1) {
    MlirValue all = llvmUndefOpBuild(&t->b, tileOnlyResultType(t->op));
    for (int64_t i = 0; i < t->results; ++i)
      all = llvmInsertValueOpBuild(&t->b, all, t->names[i].value, mlirDenseI64ArrayGet(t->b.context, 1, &i));
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(t->op), all);
  } else if (t->results == 1) {
    mlirValueReplaceAllUsesOfWith(tileOnlyResult(t->op), t->names[0].value);
  }
  mlirOperationDestroy(t->op);
  return true;
}

// No instruction (the compiler may know nothing of a result), or several: more than braces behind the first ';'. The
// text of a product of warpgroups is one with its predicate (products_ops.c).
static bool isText(const char *text) {
  if (strstr(text, "wgmma."))
    return false;
  if (!text[strspn(text, " \t\n;")])
    return true;
  const char *first = strchr(text, ';');
  return strstr(text, ".reg") || (first && first[1 + strspn(first + 1, " \t\n;}")]);
}

static void copyText(char text[MostText], MlirOperation op, const char *attribute) {
  MlirStringRef from = mlirStringAttrGetValue(tileOpAttribute(op, attribute));
  snprintf(text, MostText, "%.*s", (int)(from.length < MostText ? from.length : 0), from.data);
}

void emulatorSplitAssembly(MlirOperation op) {
  char text[MostText], constraints[MostText];
  copyText(text, op, "asm_string");
  copyText(constraints, op, "constraints");
  if (!isText(text))
    return;
  PtxText *t = calloc(1, sizeof *t);
  t->op = op;
  t->b = tileBuilderBefore(op);
  // A text that is not understood stays, and is refused at its line.
  (void)(nameRegisters(t, constraints) && takeAll(t, text) && finish(t));
  free(t);
}
