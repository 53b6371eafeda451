// Writes the ops of a function, one statement each, and gives their values names. A value with one user in its block
// becomes a part of the user's statement if the text stays short. See source.h.
#include "lib/target/source/source.h"

#include "lib/capi/op.h"
#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LongestPart = 48 };

//===--- texts of values ----------------------------------------------------------------------------------===//

const SourceText *tileSourceTextOf(SourceWriter *w, MlirValue value) {
  static const SourceText none = {"0", "0", false,
                                  false}; // of a value that is not written yet: its text is only measured
  const SourceText *text = tileTableFind(&w->texts, value.ptr);
  return text ? text : &none;
}

void tileSourceSetText(SourceWriter *w, MlirValue value, const char *text, bool isName, bool isLiteral) {
  SourceText *kept = tileArenaAllocate(&w->arena, sizeof *kept);
  MlirType type = mlirValueGetType(value);
  bool isNegative = isLiteral && *text == '-' && (mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type));
  const char *ending = tileElementWidth(type) == 32 ? "u" : "ul";
  *kept = (SourceText){isNegative ? tileArenaPrintf(&w->arena, "%s%s", text, ending) : text, text, isName, isLiteral};
  tileTableSet(&w->texts, value.ptr, kept);
}

const char *tileSourceNewName(SourceWriter *w, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  bool isWord = mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type);
  char stem = isWord                                                        ? (tileElementWidth(type) == 1 ? 'c' : 'i')
              : mlirTypeIsALLVMPointerType(type) || mlirTypeIsAMemRef(type) ? 'p'
              : mlirTypeIsAFloat(type)                                      ? 'x'
                                                                            : 'v';
  const char *name = tileArenaPrintf(&w->arena, "%c%d", stem, w->numValues++);
  tileSourceSetText(w, value, name, true, false);
  return name;
}

void tileSourceLine(SourceWriter *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tileSourcePlace(w);
  fprintf(w->out, "%*s", 2 * w->indent, "");
  vfprintf(w->out, format, arguments);
  fputc('\n', w->out);
  va_end(arguments);
}

void tileSourceDeclare(SourceWriter *w, const char *type, const char *name, const char *text) {
  const char *space = type[strlen(type) - 1] == '*' ? "" : " ";
  tileSourcePlace(w);
  if (w->language->isC)
    fputc(SourcePureMark, w->out);
  fprintf(w->out, "%*s%s%s%s = %s;\n", 2 * w->indent, "", type, space, name, text);
}

//===--- parts of statements ------------------------------------------------------------------------------===//

static bool isOfName(char c) { return isalnum((unsigned char)c) || c == '_'; }

// A name, one call or index, or what is in parentheses already: NAME(…), NAME[…], (…).
static bool standsAlone(const char *text) {
  const char *at = text;
  while (isOfName(*at) || *at == '.')
    ++at;
  if (!*at)
    return true;
  int depth = 0;
  for (; (at > text || *text == '(') && *at; ++at) {
    if (*at == '{') // a comma in it would end the argument of a macro
      return false;
    depth += strchr("([", *at) ? 1 : strchr(")]", *at) ? -1 : 0;
    if (depth <= 0 && at[1])
      return false;
  }
  return at > text && depth == 0;
}

static bool isNarrow(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 1 && mlirIntegerTypeGetWidth(type) < 32;
}

// A choice between two constants has C's type int; a variable gives it the program's.
static bool isChoiceOfConstants(SourceWriter *w, MlirOperation op) {
  return arithSelectOpIsA(op) && !mlirTypeIsAFloat(tileFirstResultType(op)) &&
         tileSourceTextOf(w, arithSelectOpGetTrueValue(op))->isLiteral &&
         tileSourceTextOf(w, arithSelectOpGetFalseValue(op))->isLiteral;
}

// A call of a function that only computes: what tile-outline-functions made.
static bool isPureCall(SourceWriter *w, MlirOperation op) {
  if (!llvmCallOpIsA(op) || mlirAttributeIsNull(tileOpAttribute(op, "callee")))
    return false;
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tileOpAttribute(op, "callee"));
  MlirOperation function = tileFindSymbol(op, tileArenaString(&w->arena, name.data, name.length));
  MlirBlock body =
      mlirOperationIsNull(function) ? (MlirBlock){NULL} : mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return false;
  MlirOperation at = mlirBlockGetFirstOperation(body);
  while (!mlirOperationIsNull(mlirOperationGetNextInBlock(at)) && mlirExtOperationIsPure(at))
    at = mlirOperationGetNextInBlock(at);
  return mlirOperationIsNull(mlirOperationGetNextInBlock(at));
}

// Can the text stand where the value's only user names the value? Results of functions do on GPUs: what is computed
// just before its use takes a register for a shorter time.
static bool isPart(SourceWriter *w, MlirOperation op, const char *text) {
  MlirValue value = tileFirstResult(op);
  if (strlen(text) > LongestPart || mlirOperationGetNumResults(op) != 1 || !tileHasOneUse(value) ||
      !(mlirExtOperationIsPure(op) || (!w->language->isC && isPureCall(w, op))) || isNarrow(mlirValueGetType(value)) ||
      isChoiceOfConstants(w, op))
    return false;
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(value));
  return mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)) &&
         mlirOperationGetNumRegions(user) == 0 && !mlirOperationIsNull(mlirOperationGetNextInBlock(user)) &&
         tileSourceCountUses(w, user, value) == 1;
}

bool tileSourceAssign(SourceWriter *w, MlirOperation op, const char *text) {
  MlirValue value = tileFirstResult(op);
  if (isPart(w, op, text)) {
    tileSourceSetText(w, value, standsAlone(text) ? text : tileArenaPrintf(&w->arena, "(%s)", text), false, false);
    return true;
  }
  const char *type = tileSourceTypeOf(w, value, op);
  if (!type)
    return false;
  const char *space = type[strlen(type) - 1] == '*' ? "" : " ";
  if (mlirExtOperationIsPure(op))
    tileSourceDeclare(w, type, tileSourceNewName(w, value), text);
  else
    tileSourceLine(w, "%s%s%s = %s;", type, space, tileSourceNewName(w, value), text);
  return true;
}

//===--- ops ----------------------------------------------------------------------------------------------===//

static bool isUnused(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i))))
      return false;
  return mlirOperationGetNumResults(op) && mlirExtOperationIsPure(op);
}

static bool writeOp(SourceWriter *w, MlirOperation op) {
  SourceWrite write = tileSourceStructured(w, op);
  tileSourceEnterOp(w, op);
  if (isUnused(op))
    return true;
  if (write)
    return write(w, op);
  const char *text = tileSourceExpand(w, op);
  if (!text)
    return false;
  if (mlirOperationGetNumResults(op))
    return tileSourceAssign(w, op, text);
  tileSourceLine(w, "%s;", text);
  return true;
}

bool tileSourceWriteBlock(SourceWriter *w, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block), next; !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if ((!mlirOperationIsNull(next) || !tileSourceIsEnd(op)) && !writeOp(w, op))
      return false;
  }
  return true;
}

bool tileSourceWriteBody(SourceWriter *w, MlirOperation function, MlirRegion body) {
  MlirBlock block = mlirRegionGetFirstBlock(body);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return tileError(function, "cannot be written in %s: it has branches between blocks", w->language->name);
  w->indent = 1;
  w->line = 0;
  bool ok = tileSourceWriteBlock(w, block);
  fprintf(w->out, "}\n");
  return ok;
}
