// Expands the column `source` of an op's row (lib/ir/upstream.def says what may stand in braces). See source.h.
#include "lib/target/source/source.h"

#include "lib/ir/support.h"
#include "upstream/arith.h"
#include "upstream/llvm.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Expansion {
  SourceWriter *writer;
  MlirOperation op;
  const TileUpstreamSource *source;
  FILE *out;
  bool failed;
  MlirValue counted; // null, or the operand whose uses are counted
  int count;
} Expansion;

//===--- what a piece names ---------------------------------------------------------------------------===//

static MlirType resultType(MlirOperation op) {
  return mlirOperationGetNumResults(op) ? tileFirstResultType(op) : (MlirType){NULL};
}

static bool isI1(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1; }

// "#2" and "=0" of the generated column. False: it is an attribute's name.
static bool takeValue(Expansion *e, const char *name, intptr_t *begin, intptr_t *count) {
  if (*name != '#')
    return false;
  tileUpstreamSourceOperands(e->op, e->source, strtol(name + 1, NULL, 10), begin, count);
  return true;
}

static MlirType typeOf(Expansion *e, const char *name) {
  intptr_t begin, count;
  if (takeValue(e, name, &begin, &count))
    return mlirValueGetType(mlirOperationGetOperand(e->op, begin));
  return mlirValueGetType(mlirOperationGetResult(e->op, strtol(name + 1, NULL, 10)));
}

static MlirAttribute attributeOf(Expansion *e, const char *name, size_t length) {
  return mlirOperationGetAttributeByName(e->op, mlirStringRefCreate(name, length));
}

// A product that an addition takes must be rounded first: compilers contract the two otherwise.
static bool isAdded(MlirOperation op) {
  for (MlirOpOperand use = mlirValueGetFirstUse(tileFirstResult(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (arithAddFOpIsA(user) || arithSubFOpIsA(user) ||
        mlirOperationGetNumRegions(mlirOperationGetParentOperation(user)) > 1)
      return true;
  }
  return false;
}

static int64_t naturalBytes(MlirType type) {
  int64_t count = 1;
  if (mlirTypeIsAVector(type)) {
    count = mlirShapedTypeGetDimSize(type, 0);
    type = mlirShapedTypeGetElementType(type);
  }
  int64_t bytes = (tileMemoryBits(type) + 7) / 8 * count;
  return bytes > 16 ? 16 : bytes;
}

// Is the alignment of a load or store that of its type?
static int isAligned(Expansion *e) {
  MlirAttribute alignment = attributeOf(e, "alignment", strlen("alignment"));
  MlirType type = mlirOperationGetNumResults(e->op) ? resultType(e->op) : tileFirstOperandType(e->op);
  return mlirAttributeIsNull(alignment) || mlirIntegerAttrGetValueInt(alignment) >= naturalBytes(type);
}

static bool is(const char *name, size_t length, const char *word) {
  return strlen(word) == length && memcmp(name, word, length) == 0;
}

static bool isNarrow(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) > 1 && mlirIntegerTypeGetWidth(type) < 32;
}

static MlirType lastOperandType(MlirOperation op) {
  return mlirValueGetType(mlirOperationGetOperand(op, mlirOperationGetNumOperands(op) - 1));
}

static int choiceOf(Expansion *e, const char *name, size_t length) {
  intptr_t begin, count;
  MlirType result = resultType(e->op);
  if (takeValue(e, name, &begin, &count))
    return count > 0;
  if (is(name, length, "vector"))
    return e->writer->language->isC && mlirTypeIsAVector(tileFirstOperandType(e->op));
  if (is(name, length, "bit"))
    return isI1(result);
  if (is(name, length, "added"))
    return isAdded(e->op);
  if (is(name, length, "single") || is(name, length, "double")) {
    MlirType element = mlirTypeIsAVector(result) ? mlirShapedTypeGetElementType(result) : result;
    return *name == 's' ? mlirTypeIsAF32(element) : mlirTypeIsAF64(element);
  }
  if (is(name, length, "narrow"))
    return isNarrow(mlirOperationGetNumOperands(e->op) > 1 ? lastOperandType(e->op) : result);
  if (is(name, length, "aligned"))
    return isAligned(e);
  MlirAttribute attribute = attributeOf(e, name, length);
  if (mlirAttributeIsNull(attribute))
    return 0;
  if (mlirAttributeIsABool(attribute))
    return mlirBoolAttrGetValue(attribute);
  return mlirAttributeIsAInteger(attribute) ? (int)mlirIntegerAttrGetValueInt(attribute) : 1;
}

//===--- operands and attributes ----------------------------------------------------------------------===//

typedef enum Form { Form_Plain, Form_Signed, Form_Typed, Form_Wide } Form;

// How wide the lanes of conditions are where the op takes them: as those of its result.
static int widthOfMasks(MlirOperation op) {
  enum { DefaultMaskBits = 32 };
  MlirType result = resultType(op);
  if (!mlirTypeIsAVector(result))
    return DefaultMaskBits;
  return tileSourceIsMask(result) ? tileSourceMaskBits(tileFirstResult(op))
                                  : (int)tileMemoryBits(mlirShapedTypeGetElementType(result));
}

static void putOperand(Expansion *e, MlirValue value, Form form) {
  SourceWriter *w = e->writer;
  MlirType type = mlirValueGetType(value);
  const SourceText *text = tileSourceTextOf(w, value);
  if (mlirValueEqual(value, e->counted))
    ++e->count;
  bool isInteger = mlirTypeIsAInteger(type) || mlirTypeIsAIndex(type), isWidened = form >= Form_Typed && isNarrow(type);
  if (w->language->isC && tileSourceIsMask(type)) {
    fputs(tileSourceMaskText(w, value, widthOfMasks(e->op)), e->out);
    return;
  }
  if (w->language->isC && form == Form_Signed && mlirTypeIsAVector(type)) {
    fprintf(e->out, "(%s)%s", tileSourceSignedType(w, type, e->op), text->text);
    return;
  }
  if (form == Form_Signed && isInteger && !text->isLiteral)
    fprintf(e->out, isI1(type) ? "-(%s)" : "(%s)", tileSourceSignedType(w, type, e->op));
  else if (isInteger && (isWidened || (form == Form_Typed && text->isLiteral)))
    fprintf(e->out, "(%s)", isWidened ? "uint32_t" : tileSourceType(w, type, e->op));
  fputs(form == Form_Signed ? text->signedText : text->text, e->out);
}

static void putOperands(Expansion *e, const char *name, Form form) {
  intptr_t begin = 0, count = 0;
  takeValue(e, name, &begin, &count);
  for (intptr_t i = 0; i < count; ++i) {
    fputs(i ? ", " : "", e->out);
    putOperand(e, mlirOperationGetOperand(e->op, begin + i), form);
  }
}

// The word or the number of an attribute: col of #nvvm.mma_layout<col>, m16n8k16 of #nvvm.shape<m = 16, n = 8, k = 16>.
static void putAttribute(Expansion *e, const char *name, size_t length) {
  MlirAttribute attribute = attributeOf(e, name, length);
  char text[256];
  if (mlirAttributeIsNull(attribute)) {
    fputs("0", e->out);
    return;
  }
  if (mlirAttributeIsAInteger(attribute) || mlirAttributeIsABool(attribute)) {
    fprintf(e->out, "%d", choiceOf(e, name, length));
    return;
  }
  const char *open = strchr(tileAttributeText(attribute, text, sizeof text), '<');
  const char *space = open && strchr(open, ' ') && !strchr(open, '=') ? strrchr(open, ' ') : open;
  for (const char *at = space ? space + 1 : text; *at && *at != '>'; ++at)
    if (isalnum((unsigned char)*at) || *at == '_')
      fputc(*at, e->out);
}

//===--- pieces ---------------------------------------------------------------------------------------===//

static const char *endOfPiece(const char *at) { // at: behind the opening brace
  int depth = 1;
  for (; *at; ++at) {
    depth += (*at == '{') - (*at == '}');
    if (!depth)
      return at;
  }
  return at;
}

static void expand(Expansion *e, const char *at, const char *end);

// The alternative `number`, or the last one. Alternatives are separated by " or " outside of braces.
static void choose(Expansion *e, const char *at, const char *end, int number) {
  static const char mark[] = " or ";
  const char *start = at;
  for (int depth = 0; at < end; ++at) {
    depth += (*at == '{') - (*at == '}');
    if (depth || end - at < (ptrdiff_t)sizeof mark - 1 || memcmp(at, mark, sizeof mark - 1))
      continue;
    if (number-- == 0)
      break;
    at += sizeof mark - 2;
    start = at + 1;
  }
  expand(e, start, at);
}

static bool takeWord(const char **at, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*at, word, length) || (*at)[length] != ' ')
    return false;
  *at += length + 1;
  return true;
}

static void putPiece(Expansion *e, const char *at, const char *end) {
  const char *colon = at + strcspn(at, ":{} "), *text = NULL;
  if (*colon == ':' && colon < end)
    choose(e, colon + 1 + (colon[1] == ' ' && strncmp(colon + 1, " or ", 4) != 0), end,
           choiceOf(e, at, (size_t)(colon - at)));
  else if (takeWord(&at, "refuse"))
    e->failed = !mlirValueIsNull(e->counted) ||
                !tileError(e->op, "cannot be written in %s: %.*s", e->writer->language->name, (int)(end - at), at);
  else if (takeWord(&at, "type"))
    text = tileSourceType(e->writer, typeOf(e, at), e->op);
  else if (takeWord(&at, "signedtype"))
    text = tileSourceSignedType(e->writer, typeOf(e, at), e->op);
  else if (takeWord(&at, "element"))
    text = tileSourceElementName(e->writer, typeOf(e, at));
  else if (takeWord(&at, "signed"))
    putOperands(e, at, Form_Signed);
  else if (takeWord(&at, "unsigned"))
    putOperands(e, at, Form_Plain);
  else if (takeWord(&at, "typed"))
    putOperands(e, at, Form_Typed);
  else if (takeWord(&at, "wide"))
    putOperands(e, at, Form_Wide);
  else if (*at == '#')
    putOperands(e, at, Form_Plain);
  else
    putAttribute(e, at, (size_t)(end - at));
  if (text)
    fputs(text, e->out);
}

static void expand(Expansion *e, const char *at, const char *end) {
  while (at < end && !e->failed) {
    if (*at != '{') {
      fputc(*at++, e->out);
      continue;
    }
    const char *close = endOfPiece(at + 1);
    putPiece(e, at + 1, close);
    at = close + 1;
  }
}

//===--- an op ----------------------------------------------------------------------------------------===//

static const char *run(Expansion *e) {
  tessera_text_t text;
  if ((e->out = tessera_text_open(&text)))
    expand(e, e->source->text, e->source->text + strlen(e->source->text));
  if (!tessera_text_close(&text, e->out))
    return NULL;
  const char *kept = e->failed ? NULL : tileArenaString(&e->writer->arena, text.data, text.size);
  free(text.data);
  return kept;
}

// A cast between types that the language has one type for.
static bool isSameInSource(SourceWriter *w, MlirOperation op, const TileUpstreamSource *source) {
  if (mlirOperationGetNumOperands(op) != 1 || mlirOperationGetNumResults(op) != 1 ||
      !strstr(source->text, "({type =0})"))
    return false;
  const char *from = tileSourceType(w, tileOnlyOperandType(op), op),
             *to = tileSourceType(w, tileOnlyResultType(op), op);
  return from && to && strcmp(from, to) == 0;
}

// AMD's instructions are builtins of clang under the names that LLVM has for them.
static const char *expandBuiltin(SourceWriter *w, MlirOperation op) {
  static const char dialect[] = "rocdl.";
  MlirStringRef name = tileOpName(op);
  const char *text = tileArenaString(&w->arena, name.data + sizeof dialect - 1, name.length - (sizeof dialect - 1));
  for (char *at = (char *)text; *at; ++at)
    *at = *at == '.' ? '_' : *at;
  text = tileArenaPrintf(&w->arena, "matrix_core(%s, __builtin_amdgcn_%s",
                         tileSourceType(w, tileFirstResultType(op), op), text);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    text = tileArenaPrintf(&w->arena, "%s, %s", text, tileSourceTextOf(w, mlirOperationGetOperand(op, i))->text);
  return tileArenaPrintf(&w->arena, "%s)", text);
}

// In C floats of 16 bits and fewer are their bits, which are chosen and moved.
static bool computesInBits(MlirOperation op) {
  static const TileUpstream moves[] = {ArithOp_Select, ArithOp_Bitcast, TileUpstream_None};
  if (tileUpstreamIsOneOf(op, moves) || !mlirOperationGetNumOperands(op))
    return false;
  MlirType type = tileFirstOperandType(op);
  MlirType element = mlirTypeIsAVector(type) ? mlirShapedTypeGetElementType(type) : type;
  return mlirTypeIsAFloat(element) && tileElementWidth(element) < 32;
}

// Vectors of conditions are numbers in C.
static bool computesWithConditions(MlirOperation op) {
  static const TileUpstream logic[] = {ArithOp_AndI, ArithOp_OrI, ArithOp_XOrI, ArithOp_Select, TileUpstream_None};
  static const TileUpstream comparisons[] = {ArithOp_CmpF, ArithOp_CmpI, TileUpstream_None};
  bool isOf = mlirOperationGetNumOperands(op) && tileSourceIsMask(tileFirstOperandType(op));
  bool gives = mlirOperationGetNumResults(op) && tileSourceIsMask(tileFirstResultType(op));
  return (isOf || gives) && !tileUpstreamIsOneOf(op, logic) && (isOf || !tileUpstreamIsOneOf(op, comparisons));
}

// The ops of LLVM whose words hold in C, where memory is arrays.
static bool isOfMemrefs(MlirOperation op) {
  static const TileUpstream ops[] = {LlvmOp_Maximum, LlvmOp_Minimum, LlvmOp_IntToPtr, LlvmOp_Freeze, TileUpstream_None};
  return tileUpstreamIsOneOf(op, ops);
}

const char *tileSourceExpand(SourceWriter *w, MlirOperation op) {
  const TileUpstreamSource *source = tileUpstreamSource(tileUpstreamKind(op));
  if (!source && tileOpIsOfDialect(op, "rocdl") && mlirOperationGetNumResults(op))
    return expandBuiltin(w, op);
  if (!source || !source->text) {
    tileError(op, "cannot be written in %s: it has no words for this op", w->language->name);
    return NULL;
  }
  if (w->language->isC && (computesInBits(op) || computesWithConditions(op))) {
    tileError(op, "cannot be written in %s: arithmetic on %s", w->language->name,
              tileTypeText(tileFirstOperandType(op), (char[128]){0}, 128));
    return NULL;
  }
  if (w->language->isC && tileOpIsOfDialect(op, "llvm") && !isOfMemrefs(op)) {
    tileError(op, "cannot be written in %s: this instruction", w->language->name);
    return NULL;
  }
  if (isSameInSource(w, op, source))
    return tileSourceTextOf(w, tileOnlyOperand(op))->text;
  return run(&(Expansion){.writer = w, .op = op, .source = source});
}

int tileSourceCountUses(SourceWriter *w, MlirOperation op, MlirValue operand) {
  const TileUpstreamSource *source = tileUpstreamSource(tileUpstreamKind(op));
  if (!source || !source->text)
    return 1;
  Expansion e = {.writer = w, .op = op, .source = source, .counted = operand};
  run(&e);
  return e.count;
}
