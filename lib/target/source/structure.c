// Ops that are more than a text with operands: loops and branches, calls, constants, vectors that are put together,
// addresses, inline assembly. See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/func.h"
#include "upstream/llvm.h"
#include "upstream/scf.h"
#include "upstream/ub.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *textOf(SourceWriter *w, MlirValue value) { return tileSourceTextOf(w, value)->text; }

//===--- constants ----------------------------------------------------------------------------------------===//

// Literals are integers of C; an element has its own type.
static const char *elementCast(SourceWriter *w, MlirType element, MlirOperation at) {
  return mlirTypeIsAFloat(element) && tileElementWidth(element) >= 32
             ? ""
             : tileArenaPrintf(&w->arena, "(%s)", tileSourceType(w, element, at));
}

static bool writeConstant(SourceWriter *w, MlirOperation op) {
  MlirValue result = tileOnlyResult(op);
  MlirType type = mlirValueGetType(result);
  MlirAttribute value = arithConstantOpIsA(op) ? arithConstantOpGetValue(op) : llvmConstantOpGetValue(op);
  const char *literal = tileSourceLiteral(w, value, type);
  if (literal) {
    tileSourceSetText(w, result, literal, false, true);
    return true;
  }
  const char *name = tileSourceType(w, type, op);
  if (!name)
    return false;
  if (!mlirTypeIsAVector(type) || !mlirAttributeIsADenseElements(value))
    return tileError(op, "cannot be written in %s: a constant of %s", w->language->name,
                     tileTypeText(type, (char[128]){0}, 128));
  int64_t count = mlirElementsAttrGetNumElements(value);
  MlirType element = mlirShapedTypeGetElementType(type);
  bool isMask = tileSourceIsMask(type);
  if (w->language->isC && mlirDenseElementsAttrIsSplat(value)) {
    const char *same = tileSourceLiteral(w, mlirDenseElementsAttrGetSplatValue(value), element);
    if (same)
      tileSourceDeclare(
          w, tileArenaPrintf(&w->arena, "const %s", name), tileSourceNewName(w, result),
          tileArenaPrintf(&w->arena, "splat(%s, %s%s)", name, isMask ? "-(int)" : elementCast(w, element, op), same));
    if (same)
      return true;
  }
  const char *text = "";
  for (int64_t i = 0; i < count && text; ++i) {
    MlirAttribute one = mlirDenseElementsAttrIsSplat(value)
                            ? mlirDenseElementsAttrGetSplatValue(value)
                            : mlirElementsAttrGetValue(value, 1, (uint64_t[]){(uint64_t)i});
    const char *each = tileSourceLiteral(w, one, element);
    text = each ? tileArenaPrintf(&w->arena, "%s%s%s%s", text, i ? ", " : "", isMask ? "-(int)" : "", each) : NULL;
  }
  if (!text)
    return tileError(op, "cannot be written in %s: a constant of %s", w->language->name,
                     tileTypeText(type, (char[128]){0}, 128));
  tileSourceDeclare(w, tileArenaPrintf(&w->arena, "const %s", name), tileSourceNewName(w, result),
                    tileArenaPrintf(&w->arena, "{%s}", text));
  return true;
}

// A structure of C's pointers and sizes is only what a memref is made from.
static bool isDescriptor(MlirType type) {
  return mlirTypeIsALLVMStructType(type) && mlirLLVMStructTypeGetNumElementTypes(type) >= 3 &&
         mlirTypeIsALLVMPointerType(mlirLLVMStructTypeGetElementType(type, 0)) &&
         mlirTypeIsALLVMPointerType(mlirLLVMStructTypeGetElementType(type, 1));
}

static bool writeUndefined(SourceWriter *w, MlirOperation op) {
  if (w->language->isC && isDescriptor(tileOnlyResultType(op)))
    return true;
  const char *type = tileSourceType(w, tileOnlyResultType(op), op);
  tileSourceSetText(w, tileOnlyResult(op), tileArenaPrintf(&w->arena, "zero(%s)", type ? type : ""), false, true);
  return type != NULL;
}

//===--- vectors and structures ---------------------------------------------------------------------------===//

static bool positionOf(MlirOperation insert, int64_t *position) {
  return tileConstantIndex(llvmInsertElementOpGetPosition(insert), position);
}

// Is the value only the next step of a chain of insertions?
static bool goesOn(MlirOperation insert) {
  int64_t position;
  MlirValue result = tileOnlyResult(insert);
  if (!tileHasOneUse(result))
    return false;
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(result));
  return llvmInsertElementOpIsA(user) && mlirValueEqual(llvmInsertElementOpGetVector(user), result) &&
         mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(insert)) && positionOf(insert, &position) &&
         positionOf(user, &position);
}

static const char *elementText(SourceWriter *w, MlirValue value, MlirOperation at) {
  const SourceText *text = tileSourceTextOf(w, value);
  const char *type = tileSourceType(w, mlirValueGetType(value), at);
  bool isCast = (text->isLiteral && !mlirTypeIsAFloat(mlirValueGetType(value))) ||
                (!text->isName && tileElementWidth(mlirValueGetType(value)) == 1);
  return isCast && type ? tileArenaPrintf(&w->arena, "(%s)%s", type, text->text) : text->text;
}

static bool writeInsert(SourceWriter *w, MlirOperation op) {
  enum { Most = 256 };
  MlirType type = tileOnlyResultType(op);
  const char *name = tileSourceType(w, type, op);
  int64_t size = mlirShapedTypeGetDimSize(type, 0), position, numSet = 0;
  MlirValue elements[Most] = {{NULL}}, base = tileOnlyResult(op);
  if (!name)
    return false;
  if (goesOn(op) && size <= Most)
    return true;
  for (MlirOperation at = op; !mlirOperationIsNull(at) && llvmInsertElementOpIsA(at) && positionOf(at, &position) &&
                              position < size && size <= Most && (mlirOperationEqual(at, op) || goesOn(at));
       at = tileDefiningOp(base)) {
    numSet += mlirValueIsNull(elements[position]);
    if (mlirValueIsNull(elements[position]))
      elements[position] = llvmInsertElementOpGetValue(at);
    base = llvmInsertElementOpGetVector(at);
  }
  if (numSet == size) {
    const char *text = "";
    for (int64_t i = 0; i < size; ++i)
      text = tileArenaPrintf(&w->arena, "%s%s%s", text, i ? ", " : "", elementText(w, elements[i], op));
    return tileSourceAssign(w, op, tileArenaPrintf(&w->arena, w->language->isC ? "(%s){%s}" : "%s{%s}", name, text));
  }
  bool isChain = numSet > 0;
  const char *source = textOf(w, isChain ? base : llvmInsertElementOpGetVector(op)), *result;
  result = tileSourceNewName(w, tileOnlyResult(op));
  tileSourceLine(w, "%s %s = %s;", name, result, source);
  for (int64_t i = 0; i < size && isChain; ++i)
    if (!mlirValueIsNull(elements[i]))
      tileSourceLine(w, "%s[%lld] = %s;", result, (long long)i, textOf(w, elements[i]));
  if (!isChain)
    tileSourceLine(w, "%s[%s] = %s;", result, textOf(w, llvmInsertElementOpGetPosition(op)),
                   textOf(w, llvmInsertElementOpGetValue(op)));
  return true;
}

// ".e1" or "[1]" of each step into a structure.
static const char *memberText(SourceWriter *w, MlirType type, MlirAttribute position, MlirOperation at) {
  const char *text = "";
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(position); ++i) {
    int64_t index = mlirDenseI64ArrayGetElement(position, i);
    const char *name = tileSourceType(w, type, at);
    bool isVector = name && (!mlirTypeIsALLVMStructType(type) || strrchr(name, 'x')) && !strchr(name, '_');
    text = tileArenaPrintf(&w->arena, isVector ? "%s[%lld]" : "%s.e%lld", text, (long long)index);
    if (mlirTypeIsALLVMStructType(type))
      type = mlirLLVMStructTypeGetElementType(type, index);
  }
  return text;
}

static bool writeExtractValue(SourceWriter *w, MlirOperation op) {
  MlirValue container = llvmExtractValueOpGetContainer(op);
  const char *member = memberText(w, mlirValueGetType(container), tileOpAttribute(op, "position"), op);
  return tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "%s%s", textOf(w, container), member));
}

static bool writeInsertValue(SourceWriter *w, MlirOperation op) {
  if (w->language->isC && isDescriptor(tileOnlyResultType(op)))
    return true;
  MlirValue container = llvmInsertValueOpGetContainer(op);
  const char *type = tileSourceType(w, mlirValueGetType(container), op), *source = textOf(w, container);
  const char *member = memberText(w, mlirValueGetType(container), tileOpAttribute(op, "position"), op);
  const char *value = textOf(w, llvmInsertValueOpGetValue(op)), *result = tileSourceNewName(w, tileOnlyResult(op));
  tileSourceLine(w, "%s %s = %s;", type ? type : "", result, source);
  tileSourceLine(w, "%s%s = %s;", result, member, value);
  return type != NULL;
}

//===--- addresses ----------------------------------------------------------------------------------------===//

// An address and the distance from it, in bytes.
static bool writeAddress(SourceWriter *w, MlirOperation op) {
  enum { Dynamic = INT32_MIN };
  MlirAttribute indices = tileOpAttribute(op, "rawConstantIndices");
  MlirType element = llvmGEPOpGetElemTypeValue(op);
  int64_t bytes = mlirTypeIsALLVMPointerType(element) ? 8 : tileElementWidth(element) / 8;
  if (mlirDenseArrayGetNumElements(indices) != 1 || !bytes)
    return tileError(op, "cannot be written in %s: an address inside of %s", w->language->name,
                     tileTypeText(element, (char[128]){0}, 128));
  const char *base = textOf(w, llvmGEPOpGetBase(op));
  int32_t number = mlirDenseI32ArrayGetElement(indices, 0);
  const char *text = tileArenaPrintf(&w->arena, "%lld", (long long)number * bytes);
  if (number == Dynamic) {
    MlirValue index = llvmGEPOpGetDynamicIndices(op, 0);
    const SourceText *of = tileSourceTextOf(w, index);
    const char *cast = of->isLiteral || tileElementWidth(mlirValueGetType(index)) == 64
                           ? ""
                           : tileArenaPrintf(&w->arena, "(%s)", tileSourceSignedType(w, mlirValueGetType(index), op));
    text = bytes == 1 ? tileArenaPrintf(&w->arena, "%s%s", cast, of->signedText)
                      : tileArenaPrintf(&w->arena, "%lld * (int64_t)%s%s", (long long)bytes, cast, of->signedText);
  }
  return tileSourceAssign(w, op, tileArenaPrintf(&w->arena, "%s + %s", base, text));
}

// The text of a constant array of characters, in quotes; null: the symbol is no such array.
static const char *quotedText(SourceWriter *w, MlirOperation global) {
  MlirAttribute value = mlirOperationIsNull(global) || !llvmGlobalOpIsA(global) ? (MlirAttribute){NULL}
                                                                                : tileOpAttribute(global, "value");
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAString(value))
    return NULL;
  MlirStringRef text = mlirStringAttrGetValue(value);
  char *quoted = tileArenaAllocate(&w->arena, 4 * text.length + 16), *to = quoted + sprintf(quoted, "(char *)\"");
  for (size_t i = 0; i < text.length && text.data[i]; ++i)
    to += isprint((unsigned char)text.data[i]) && !strchr("\"\\?", text.data[i])
              ? sprintf(to, "%c", text.data[i])
              : sprintf(to, "\\%03o", (unsigned char)text.data[i]);
  strcpy(to, "\"");
  return quoted;
}

static bool writeAddressOf(SourceWriter *w, MlirOperation op) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "global_name"));
  const char *quoted = quotedText(w, tileFindSymbol(op, tileArenaString(&w->arena, name.data, name.length)));
  if (quoted) {
    tileSourceSetText(w, tileOnlyResult(op), quoted, false, false);
    return true;
  }
  tileSourceSetText(w, tileOnlyResult(op), tileArenaString(&w->arena, name.data, name.length), true, false);
  return true;
}

//===--- control ------------------------------------------------------------------------------------------===//

bool tileSourceIsEnd(MlirOperation op) {
  static const TileUpstream ends[] = {ScfOp_Yield, ScfOp_Condition, ScfOp_ReduceReturn, TileUpstream_None};
  return tileUpstreamIsOneOf(op, ends);
}

// Declares variables for `values`, which take the values of `from` (null: none yet).
static bool declareAll(SourceWriter *w, MlirOperation op, intptr_t count, MlirValue (*get)(void *, intptr_t), void *of,
                       intptr_t first) {
  for (intptr_t i = 0; i < count; ++i) {
    SourcePart from[SourceMaxParts], to[SourceMaxParts];
    int numFrom, numTo;
    if ((first >= 0 && !tileSourceParts(w, mlirOperationGetOperand(op, first + i), op, from, &numFrom)) ||
        !tileSourceNewParts(w, get(of, i), op, to, &numTo))
      return false;
    if (first >= 0 && w->language->isC && tileSourceIsMask(mlirValueGetType(get(of, i))))
      from[0].text = tileSourceMaskText(w, mlirOperationGetOperand(op, first + i), tileSourceMaskBits(get(of, i)));
    for (int k = 0; k < numTo; ++k) {
      const char *space = to[k].type[strlen(to[k].type) - 1] == '*' ? "" : " ";
      if (first < 0)
        tileSourceLine(w, "%s%s%s;", to[k].type, space, to[k].text);
      else
        tileSourceLine(w, "%s%s%s = %s;", to[k].type, space, to[k].text, from[k].text);
    }
  }
  return true;
}

static MlirValue resultAt(void *op, intptr_t i) { return mlirOperationGetResult((MlirOperation){op}, i); }
static MlirValue argumentAt(void *block, intptr_t i) { return mlirBlockGetArgument((MlirBlock){block}, i); }
static MlirValue argumentBehind(void *block, intptr_t i) { return mlirBlockGetArgument((MlirBlock){block}, i + 1); }

// A variable that is to get a value.
typedef struct Move {
  const char *to, *from, *type;
} Move;

// The parts of a value that others get; in C a mask has the width of the variable.
static int movesOf(SourceWriter *w, MlirOperation op, MlirValue value, MlirValue target, Move *moves) {
  SourcePart from[SourceMaxParts], to[SourceMaxParts];
  int count = 0, numTo = 0;
  if (!tileSourceParts(w, value, op, from, &count) || !tileSourceParts(w, target, op, to, &numTo) || count != numTo)
    return -1;
  if (w->language->isC && tileSourceIsMask(mlirValueGetType(value)))
    from[0].text = tileSourceMaskText(w, value, tileSourceMaskBits(target));
  for (int i = 0; i < count; ++i)
    moves[i] = (Move){to[i].text, from[i].text, to[i].type};
  return count;
}

// Gives variables the operands of `op` from `first` on, all at once: what another variable's old value is, is kept.
static bool assignAll(SourceWriter *w, MlirOperation op, intptr_t first, intptr_t count,
                      MlirValue (*get)(void *, intptr_t), void *of) {
  Move *moves = tileArenaAllocate(&w->arena, (size_t)(count + 1) * SourceMaxParts * sizeof *moves);
  int numMoves = 0;
  for (intptr_t i = 0; i < count; ++i) {
    int added = movesOf(w, op, mlirOperationGetOperand(op, first + i), get(of, i), moves + numMoves);
    if (added < 0)
      return tileError(op, "cannot be written in %s: an array with another layout than the variable's",
                       w->language->name);
    numMoves += added;
  }
  for (int i = 0; i < numMoves; ++i) {
    bool isOverwritten = false;
    for (int k = 0; k < i; ++k)
      isOverwritten |= tileSourceNames(moves[i].from, strlen(moves[i].from), moves[k].to);
    if (isOverwritten) {
      const char *kept = tileArenaPrintf(&w->arena, "old%d", w->numValues++);
      tileSourceLine(w, "%s %s = %s;", moves[i].type, kept, moves[i].from);
      moves[i].from = kept;
    }
  }
  for (int i = 0; i < numMoves; ++i)
    if (strcmp(moves[i].from, moves[i].to) != 0)
      tileSourceLine(w, "%s = %s;", moves[i].to, moves[i].from);
  return true;
}

// The value is the variables of another.
static void nameAs(SourceWriter *w, MlirValue value, MlirValue other) {
  const void *array = tileTableFind(&w->arrays, other.ptr);
  if (array)
    tileTableSet(&w->arrays, value.ptr, (void *)array);
  tileSourceSetText(w, value, textOf(w, other), true, false);
}

static bool writeNested(SourceWriter *w, MlirBlock block) {
  ++w->indent;
  bool ok = tileSourceWriteBlock(w, block);
  --w->indent;
  return ok;
}

// The loop's results are its variables.
static bool writeFor(SourceWriter *w, MlirOperation op) {
  enum { FirstInit = 3 };
  MlirBlock body = tileOnlyBlock(mlirOperationGetRegion(op, 0));
  intptr_t count = mlirOperationGetNumResults(op);
  MlirValue counter = mlirBlockGetArgument(body, 0);
  MlirType type = mlirValueGetType(counter);
  int64_t low, high;
  bool isPlain = (tileConstantIndex(scfForOpGetLowerBound(op), &low) && low >= 0 &&
                  tileConstantIndex(scfForOpGetUpperBound(op), &high) && high >= 0) ||
                 scfForOpHasUnsignedCmp(op);
  if (!declareAll(w, op, count, argumentBehind, body.ptr, FirstInit))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    nameAs(w, mlirOperationGetResult(op, i), argumentBehind(body.ptr, i));
  const char *name = tileSourceType(w, type, op), *cast = "", *low_ = textOf(w, scfForOpGetLowerBound(op));
  const char *variable = tileSourceNewName(w, counter);
  if (!isPlain)
    cast = tileArenaPrintf(&w->arena, "(%s)", tileSourceSignedType(w, type, op));
  if (!w->language->isC)
    tileSourceLine(w, "#pragma unroll 1"); // the program's loops are unrolled where that pays
  tileSourceLine(w, "for (%s %s = %s; %s%s < %s%s; %s += %s) {", name, variable, low_, cast, variable, cast,
                 textOf(w, scfForOpGetUpperBound(op)), variable, textOf(w, scfForOpGetStep(op)));
  if (tileSourceHasHelper(w->language, "opaque"))
    tileSourceLine(w, "  opaque(%s);", variable);
  bool ok = writeNested(w, body);
  ++w->indent;
  ok = ok && assignAll(w, mlirBlockGetTerminator(body), 0, count, argumentBehind, body.ptr);
  --w->indent;
  tileSourceLine(w, "}");
  return ok;
}

static bool writeBranch(SourceWriter *w, MlirOperation op, MlirRegion region) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block))
    return true;
  bool ok = writeNested(w, block);
  ++w->indent;
  ok = ok && assignAll(w, mlirBlockGetTerminator(block), 0, mlirOperationGetNumResults(op), resultAt, op.ptr);
  --w->indent;
  return ok;
}

static bool isEmpty(MlirRegion region) {
  MlirBlock block = mlirRegionGetFirstBlock(region);
  return mlirBlockIsNull(block) ||
         mlirOperationGetNumOperands(mlirBlockGetTerminator(block)) +
                 !mlirOperationIsNull(mlirOperationGetNextInBlock(mlirBlockGetFirstOperation(block))) ==
             0;
}

static bool writeIf(SourceWriter *w, MlirOperation op) {
  MlirRegion otherwise = mlirOperationGetRegion(op, 1);
  if (!declareAll(w, op, mlirOperationGetNumResults(op), resultAt, op.ptr, -1))
    return false;
  tileSourceLine(w, "if (%s) {", textOf(w, scfIfOpGetCondition(op)));
  bool ok = writeBranch(w, op, mlirOperationGetRegion(op, 0));
  if (!isEmpty(otherwise)) {
    tileSourceLine(w, "} else {");
    ok = ok && writeBranch(w, op, otherwise);
  }
  tileSourceLine(w, "}");
  return ok;
}

static bool writeWhile(SourceWriter *w, MlirOperation op) {
  MlirBlock before = tileOnlyBlock(mlirOperationGetRegion(op, 0)), after = tileOnlyBlock(mlirOperationGetRegion(op, 1));
  intptr_t numInits = mlirOperationGetNumOperands(op), numResults = mlirOperationGetNumResults(op);
  MlirOperation condition = mlirBlockGetTerminator(before);
  if (!declareAll(w, op, numInits, argumentAt, before.ptr, 0) || !declareAll(w, op, numResults, resultAt, op.ptr, -1))
    return false;
  for (intptr_t i = 0; i < numResults; ++i)
    nameAs(w, mlirBlockGetArgument(after, i), mlirOperationGetResult(op, i));
  tileSourceLine(w, "for (;;) {");
  bool ok = writeNested(w, before);
  ++w->indent;
  ok = ok && assignAll(w, condition, 1, numResults, resultAt, op.ptr);
  tileSourceLine(w, "if (!(%s))", textOf(w, scfConditionOpGetCondition(condition)));
  tileSourceLine(w, "  break;");
  ok = ok && tileSourceWriteBlock(w, after) &&
       assignAll(w, mlirBlockGetTerminator(after), 0, numInits, argumentAt, before.ptr);
  --w->indent;
  tileSourceLine(w, "}");
  return ok;
}

static bool writeSwitch(SourceWriter *w, MlirOperation op) {
  MlirAttribute cases = scfIndexSwitchOpGetCases(op);
  if (!declareAll(w, op, mlirOperationGetNumResults(op), resultAt, op.ptr, -1))
    return false;
  tileSourceLine(w, "switch (%s) {", textOf(w, scfIndexSwitchOpGetArg(op)));
  bool ok = true;
  for (intptr_t i = 0; i <= mlirDenseArrayGetNumElements(cases) && ok; ++i) {
    bool isLast = i == mlirDenseArrayGetNumElements(cases);
    if (isLast)
      tileSourceLine(w, "default: {");
    else
      tileSourceLine(w, "case %lld: {", (long long)mlirDenseI64ArrayGetElement(cases, i));
    ok = writeBranch(w, op, mlirOperationGetRegion(op, isLast ? 0 : i + 1));
    tileSourceLine(w, "} break;");
  }
  tileSourceLine(w, "}");
  return ok;
}

static bool writeReturn(SourceWriter *w, MlirOperation op) {
  if (mlirOperationGetNumOperands(op) == 1)
    tileSourceLine(w, "return %s;", textOf(w, tileOnlyOperand(op)));
  else if (mlirOperationGetNumOperands(op))
    return tileError(op, "cannot be written in %s: several results", w->language->name);
  return true;
}

static bool writeCall(SourceWriter *w, MlirOperation op) {
  MlirAttribute callee = tileOpAttribute(op, "callee");
  if (mlirAttributeIsNull(callee))
    return tileError(op, "cannot be written in %s: a call through a pointer", w->language->name);
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(callee);
  const char *symbol = tileArenaString(&w->arena, name.data, name.length);
  MlirOperation function = tileFindSymbol(op, symbol);
  if (!tileSourceHasHelper(w->language, symbol) &&
      (mlirOperationIsNull(function) || mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0)))))
    return tileError(op, "cannot be written in %s: a call of '%s', which has no body", w->language->name, symbol);
  const char *text = tileArenaPrintf(&w->arena, "%.*s(", (int)name.length, name.data);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    text = tileArenaPrintf(&w->arena, "%s%s%s", text, i ? ", " : "", textOf(w, mlirOperationGetOperand(op, i)));
  text = tileArenaPrintf(&w->arena, "%s)", text);
  if (mlirOperationGetNumResults(op))
    return tileSourceAssign(w, op, text);
  tileSourceLine(w, "%s;", text);
  return true;
}

//===--- assembly -----------------------------------------------------------------------------------------===//

// LLVM's $0 and ${0:…} are %0 there; a line's end and quotes are escaped.
static const char *assemblyText(SourceWriter *w, MlirStringRef text) {
  char *buffer = tileArenaAllocate(&w->arena, 2 * text.length + 1), *to = buffer;
  for (size_t i = 0; i < text.length; ++i) {
    char c = text.data[i];
    if (c == '\n' || c == '"' || c == '\\')
      *to++ = '\\';
    if (c == '%')
      *to++ = '%';
    *to++ = c == '\n' ? 'n' : c == '$' ? '%' : c;
  }
  return buffer;
}

static bool writeAssembly(SourceWriter *w, MlirOperation op) {
  MlirStringRef assembly = mlirStringAttrGetValue(tileOpAttribute(op, "asm_string"));
  MlirStringRef constraints = mlirStringAttrGetValue(tileOpAttribute(op, "constraints"));
  bool hasResult = mlirOperationGetNumResults(op), isStruct = false;
  const char *outputs = "", *inputs = "", *name = NULL;
  intptr_t numOutputs = 0, numInputs = 0;
  if (hasResult) {
    MlirType type = tileOnlyResultType(op);
    const char *text = tileSourceType(w, type, op);
    isStruct = mlirTypeIsALLVMStructType(type);
    if (!text)
      return false;
    name = tileSourceNewName(w, tileOnlyResult(op));
    tileSourceLine(w, "%s %s;", text, name);
  }
  for (const char *at = constraints.data, *end = at + constraints.length; at < end;) {
    const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
    if (*at == '=') {
      outputs = tileArenaPrintf(&w->arena, isStruct ? "%s%s\"%.*s\"(%s[%d])" : "%s%s\"%.*s\"(%s)", outputs,
                                numOutputs ? ", " : "", (int)(stop - at), at, name ? name : "", (int)numOutputs);
      ++numOutputs;
    } else if (*at != '~' && numInputs < mlirOperationGetNumOperands(op)) {
      inputs = tileArenaPrintf(&w->arena, "%s%s\"%.*s\"(%s)", inputs, numInputs ? ", " : "", (int)(stop - at), at,
                               textOf(w, mlirOperationGetOperand(op, numInputs)));
      ++numInputs;
    }
    at = comma ? comma + 1 : end;
  }
  bool isVolatile = llvmInlineAsmOpHasHasSideEffects(op);
  tileSourceLine(w, "asm%s(\"%s\" : %s : %s%s);", isVolatile ? " volatile" : "", assemblyText(w, assembly), outputs,
                 inputs, isVolatile ? " : \"memory\"" : "");
  return true;
}

//===--- the table ----------------------------------------------------------------------------------------===//

static bool writeNothing(SourceWriter *w, MlirOperation op) {
  (void)w;
  (void)op;
  return true;
}

SourceWrite tileSourceStructured(SourceWriter *w, MlirOperation op) {
  static const struct {
    TileUpstream kind;
    SourceWrite write;
  } rows[] = {
      {ArithOp_Constant, writeConstant},
      {LlvmOp_Constant, writeConstant},
      {LlvmOp_Undef, writeUndefined},
      {LlvmOp_Poison, writeUndefined},
      {LlvmOp_Zero, writeUndefined},
      {UbOp_Poison, writeUndefined},
      {LlvmOp_InsertElement, writeInsert},
      {LlvmOp_ExtractValue, writeExtractValue},
      {LlvmOp_InsertValue, writeInsertValue},
      {LlvmOp_GEP, writeAddress},
      {LlvmOp_AddressOf, writeAddressOf},
      {ScfOp_For, writeFor},
      {ScfOp_If, writeIf},
      {ScfOp_While, writeWhile},
      {ScfOp_IndexSwitch, writeSwitch},
      {LlvmOp_Return, writeReturn},
      {FuncOp_Return, writeReturn},
      {LlvmOp_Call, writeCall},
      {FuncOp_Call, writeCall},
      {LlvmOp_InlineAsm, writeAssembly},
      {LlvmOp_Assume, writeNothing},
  };
  TileUpstream kind = tileUpstreamKind(op);
  SourceWrite write = NULL;
  if (w->language->isC &&
      ((write = tileSourceOfProgram(op)) || (write = tileSourceOfArray(op)) || (write = tileSourceOfVector(op))))
    return write;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if (rows[i].kind == kind)
      return rows[i].write;
  return NULL;
}
