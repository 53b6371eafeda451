// Reads and writes the text form of a layout. See text.h for the grammar and what makes the text unique.
// Expects: a text of any length. Leaves: a canonical layout, or an error whose column is where the offending token
// begins.
#include "lib/layout/text.h"

#include "lib/support/integer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

//===--- reading --------------------------------------------------------------===//

enum { MAX_TERMS = 64 };

typedef struct {
  const char *text;
  size_t length, at;
  TileError *error;
  bool anyKind, isPrinted; // isPrinted: tileLayoutPrint wrote it
} Parser;

typedef struct {
  int32_t axis; // TILE_LAYOUT_COPIES for `_`
  uint64_t stride;
  size_t column;
} Term;

typedef struct {
  uint64_t size;
  size_t column;
  Term terms[MAX_TERMS];
  uint32_t termCount;
} Mode;

static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }

static char peek(Parser *parser) {
  while (parser->at < parser->length && strchr(" \t\r\n", parser->text[parser->at]) && parser->text[parser->at])
    ++parser->at;
  return parser->at < parser->length ? parser->text[parser->at] : '\0';
}

static size_t columnHere(Parser *parser) {
  peek(parser);
  return parser->at + 1;
}

// The token at the cursor, for messages: a word or a number, one character otherwise.
static size_t tokenLength(Parser *parser) {
  size_t end = parser->at;
  while (end < parser->length && end - parser->at < 40 && (isLetter(parser->text[end]) || isDigit(parser->text[end])))
    ++end;
  return end > parser->at ? end - parser->at : 1;
}

static bool expected(Parser *parser, const char *what) {
  char next = peek(parser);
  size_t column = columnHere(parser);
  if (parser->at >= parser->length)
    return tileErrorSet(parser->error, 1, column, "expected %s, found the end of the layout", what);
  if (next < ' ' || next > '~')
    return tileErrorSet(parser->error, 1, column, "expected %s, found byte 0x%02x", what, (unsigned char)next);
  return tileErrorSet(parser->error, 1, column, "expected %s, found '%.*s'", what, (int)tokenLength(parser),
                      parser->text + parser->at);
}

static bool take(Parser *parser, char punctuation) {
  if (peek(parser) != punctuation || parser->at >= parser->length)
    return false;
  ++parser->at;
  return true;
}

static bool takeWord(Parser *parser, const char *word) {
  peek(parser);
  if (parser->at >= parser->length || tokenLength(parser) != strlen(word) ||
      memcmp(parser->text + parser->at, word, strlen(word)))
    return false;
  parser->at += strlen(word);
  return true;
}

static bool parseNumber(Parser *parser, const char *what, uint64_t *number) {
  size_t column = columnHere(parser);
  if (!isDigit(peek(parser)))
    return expected(parser, what);
  for (*number = 0; parser->at < parser->length && isDigit(parser->text[parser->at]); ++parser->at) {
    *number = *number * 10 + (uint64_t)(parser->text[parser->at] - '0');
    if (*number > 1ull << 32)
      return tileErrorSet(parser->error, 1, column, "number is larger than 2^32");
  }
  return true;
}

// term := `d`axis (`*` stride)?
static bool parseTerm(Parser *parser, Term *term) {
  uint64_t axis;
  *term = (Term){.stride = 1, .column = columnHere(parser)};
  if (peek(parser) != 'd' || parser->at + 1 >= parser->length || !isDigit(parser->text[parser->at + 1]))
    return expected(parser, "an axis such as d0");
  ++parser->at;
  if (!parseNumber(parser, "an axis number", &axis))
    return false;
  if (axis >= TILE_LAYOUT_MAX_AXES)
    return tileErrorSet(parser->error, 1, term->column,
                        "axis d%" PRIu64 " is out of range: a layout has axes d0 to d%d", axis,
                        TILE_LAYOUT_MAX_AXES - 1);
  term->axis = (int32_t)axis;
  if (!take(parser, '*'))
    return true;
  size_t column = columnHere(parser);
  if (!parseNumber(parser, "a stride", &term->stride))
    return false;
  return term->stride || tileErrorSet(parser->error, 1, column, "a stride of 0 moves nowhere; write _ for copies");
}

static bool addTerm(Parser *parser, Mode *mode) {
  if (mode->termCount == MAX_TERMS)
    return tileErrorSet(parser->error, 1, columnHere(parser), "a mode has at most %d terms", MAX_TERMS);
  Term *term = &mode->terms[mode->termCount++];
  if (!parseTerm(parser, term))
    return false;
  for (uint32_t i = 0; i + 1 < mode->termCount; ++i)
    if (mode->terms[i].axis == term->axis && mode->terms[i].stride == term->stride)
      return tileErrorSet(parser->error, 1, term->column, "the same term twice cancels out (+ is XOR)");
  return true;
}

// mode := size `:` (`_` | term (`+` term)*)
static bool parseMode(Parser *parser, Mode *mode) {
  mode->termCount = 0;
  mode->column = columnHere(parser);
  if (!parseNumber(parser, "a mode such as 8:d0", &mode->size))
    return false;
  if (mode->size == 0)
    return tileErrorSet(parser->error, 1, mode->column, "a mode has at least 1 position, not 0");
  if (!take(parser, ':'))
    return expected(parser, "':'");
  if (takeWord(parser, "_"))
    return true;
  do {
    if (!addTerm(parser, mode))
      return false;
  } while (take(parser, '+'));
  return true;
}

// What + means, XOR, is linear only for steps that are powers of two, and only over positions that are bits.
static bool checkTerms(Parser *parser, const Mode *mode) {
  bool bits = tessera_is_power_of_two(mode->size);
  if (!bits && mode->termCount > 1)
    return tileErrorSet(parser->error, 1, mode->column,
                        "size %" PRIu64 " has an odd factor, which is added: it takes one term, without +", mode->size);
  for (uint32_t i = 0; bits && i < mode->termCount; ++i)
    if (!tessera_is_power_of_two(mode->terms[i].stride))
      return tileErrorSet(parser->error, 1, mode->terms[i].column,
                          "stride %" PRIu64 " is not a power of two; XOR several terms, as in d0+d0*2",
                          mode->terms[i].stride);
  for (uint32_t i = 0; i < mode->termCount; ++i)
    if (mode->terms[i].stride > INT32_MAX || (mode->size - 1) * mode->terms[i].stride > INT32_MAX)
      return tileErrorSet(parser->error, 1, mode->terms[i].column, "coordinates must stay below 2^31");
  return true;
}

static bool addMode(Parser *parser, const Mode *mode, uint32_t dim, TileLayout *layout) {
  TileError inner;
  bool fine = true;
  if (!checkTerms(parser, mode))
    return false;
  if (mode->termCount <= 1) {
    int32_t axis = mode->termCount ? mode->terms[0].axis : TILE_LAYOUT_COPIES;
    fine = tileLayoutAppendWalk(layout, dim, mode->size, axis, mode->termCount ? mode->terms[0].stride : 1, &inner);
  } else {
    for (uint64_t position = 1; fine && position < mode->size; position *= 2) {
      TileLayoutPoint step = {{0}};
      for (uint32_t i = 0; i < mode->termCount; ++i)
        step.at[mode->terms[i].axis] ^= (uint32_t)(mode->terms[i].stride * position);
      fine = tileLayoutAppendBit(layout, dim, step, &inner);
    }
  }
  return fine || tileErrorSet(parser->error, 1, mode->column, "%s", inner.text);
}

// An odd factor's place is known to be right only when all steps are known; its column is remembered until then.
typedef struct {
  size_t column[TILE_LAYOUT_MAX_DIMS];
  bool seen[TILE_LAYOUT_MAX_DIMS];
} Dims;

static bool parseModes(Parser *parser, uint32_t dim, TileLayout *layout, Dims *dims) {
  Mode mode;
  if (!take(parser, '['))
    return expected(parser, "'['");
  if (take(parser, ']'))
    return true;
  do {
    if (!parseMode(parser, &mode))
      return false;
    if (dims->column[dim] && mode.size % 2 == 0)
      return tileErrorSet(parser->error, 1, dims->column[dim],
                          "a mode with an odd factor must be the last of its dimension");
    if (!tessera_is_power_of_two(mode.size) && !dims->column[dim])
      dims->column[dim] = mode.column;
    if (!addMode(parser, &mode, dim, layout))
      return false;
  } while (take(parser, ','));
  return take(parser, ']') || expected(parser, "',' or ']'");
}

static bool findDim(Parser *parser, TileLayoutKind *kind, uint32_t *dim) {
  uint32_t kinds = parser->anyKind ? 3 : 2;
  for (uint32_t k = 0; k < kinds; ++k) {
    const char *name;
    for (uint32_t d = 0; d < TILE_LAYOUT_MAX_DIMS && (name = tileLayoutDimName((TileLayoutKind)k, d)); ++d)
      if (takeWord(parser, name)) {
        *kind = (TileLayoutKind)k;
        *dim = d;
        return true;
      }
  }
  return expected(parser,
                  parser->anyKind ? "reg, lane, warp, block, offset or an axis" : "reg, lane, warp, block or offset");
}

static bool parseDim(Parser *parser, TileLayout *layout, Dims *dims, bool first) {
  TileLayoutKind kind;
  uint32_t dim;
  size_t column = columnHere(parser);
  if (!findDim(parser, &kind, &dim))
    return false;
  const char *name = tileLayoutDimName(kind, dim);
  if (first)
    layout->kind = kind;
  if (kind != layout->kind)
    return tileErrorSet(parser->error, 1, column, "%s cannot stand beside %s: offset is memory, the others are values",
                        name, tileLayoutDimName(layout->kind, TileLayoutOffset));
  if (dims->seen[dim])
    return tileErrorSet(parser->error, 1, column, "%s is given twice", name);
  dims->seen[dim] = true;
  return parseModes(parser, dim, layout, dims);
}

// (`pad` amount `every` period)?
static bool parsePad(Parser *parser, TileLayout *layout) {
  uint64_t amount, every;
  size_t column = columnHere(parser);
  if (!takeWord(parser, "pad"))
    return parser->at >= parser->length || expected(parser, "',' or 'pad'");
  if (layout->kind != TileLayoutMemory)
    return tileErrorSet(parser->error, 1, column, "only offset can be padded");
  if (!parseNumber(parser, "the elements to pad by", &amount))
    return false;
  if (!takeWord(parser, "every"))
    return expected(parser, "'every'");
  if (!parseNumber(parser, "a number of elements", &every))
    return false;
  uint64_t size = tileLayoutDimSize(layout, TileLayoutOffset);
  if (!amount || amount > INT32_MAX || !every || every >= size)
    return tileErrorSet(parser->error, 1, column,
                        "pad %" PRIu64 " every %" PRIu64 " has no effect or is too large: there are %" PRIu64
                        " elements",
                        amount, every, size);
  layout->padAmount = (uint32_t)amount;
  layout->padEvery = (uint32_t)every;
  peek(parser);
  return parser->at >= parser->length || expected(parser, "the end of the layout");
}

static bool parseLayout(Parser *parser, TileLayout *layout) {
  TileLayout result = tileLayoutEmpty(TileLayoutValues);
  Dims dims = {{0}, {false}};
  bool first = true;
  do {
    if (!parseDim(parser, &result, &dims, first))
      return false;
    first = false;
  } while (take(parser, ','));
  if (!parsePad(parser, &result))
    return false;
  if (parser->isPrinted) {
    *layout = result;
    return true;
  }
  TileError inner;
  uint32_t culprit;
  if (!tileLayoutCheck(&result, &culprit, &inner))
    return tileErrorSet(parser->error, 1, dims.column[result.repeats[culprit].dim], "%s", inner.text);
  if (tileLayoutPrint(&result, NULL, 0) >= TILE_LAYOUT_TEXT_CAPACITY)
    return tileErrorSet(parser->error, 1, 1, "the layout's text would have %d characters or more",
                        TILE_LAYOUT_TEXT_CAPACITY);
  *layout = result;
  return true;
}

bool tileLayoutParse(const char *text, size_t length, TileLayout *layout, TileError *error) {
  Parser parser = {.text = text, .length = length, .error = error, .anyKind = false};
  return parseLayout(&parser, layout);
}

TileLayout tileLayoutParsePrinted(const char *text, size_t length) {
  Parser parser = {.text = text, .length = length, .isPrinted = true};
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  parseLayout(&parser, &layout);
  return layout;
}

bool tileLayoutParseAnyKind(const char *text, size_t length, TileLayout *layout, TileError *error) {
  Parser parser = {.text = text, .length = length, .error = error, .anyKind = true};
  return parseLayout(&parser, layout);
}

//===--- writing --------------------------------------------------------------===//

typedef struct {
  char *buffer;
  size_t capacity, length;
} Printer;

static void print(Printer *printer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(Printer *printer, const char *format, ...) {
  size_t room = printer->length < printer->capacity ? printer->capacity - printer->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int written = vsnprintf(room ? printer->buffer + printer->length : NULL, room, format, arguments);
  va_end(arguments);
  printer->length += written > 0 ? (size_t)written : 0;
}

static void printTerm(Printer *printer, uint32_t axis, uint32_t stride) {
  print(printer, stride == 1 ? "d%u" : "d%u*%u", axis, stride);
}

static void printStep(Printer *printer, const TileLayoutPoint *step) {
  const char *separator = "";
  for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
    for (uint32_t rest = step->at[axis]; rest; rest &= rest - 1) {
      print(printer, "%s", separator);
      printTerm(printer, axis, rest & -rest);
      separator = "+";
    }
  if (!*separator)
    print(printer, "_");
}

// How many bits from here on double the step before: they print as one mode.
static uint32_t runLength(const TileLayoutPoint *steps, uint32_t count) {
  uint32_t run = 1;
  for (; run < count; ++run)
    for (uint32_t axis = 0; axis < TILE_LAYOUT_MAX_AXES; ++axis)
      if (steps[run].at[axis] != steps[run - 1].at[axis] << 1)
        return run;
  return run;
}

static void printModes(Printer *printer, const TileLayout *layout, uint32_t dim, const TileLayoutPoint *steps) {
  const char *separator = "";
  for (uint32_t bit = 0, run; bit < layout->bits[dim]; bit += run, separator = ", ") {
    run = runLength(steps + bit, layout->bits[dim] - bit);
    print(printer, "%s%" PRIu64 ":", separator, UINT64_C(1) << run);
    printStep(printer, &steps[bit]);
  }
  for (uint32_t i = 0; i < layout->repeatCount; ++i) {
    const TileLayoutRepeat *repeat = &layout->repeats[i];
    if (repeat->dim != dim)
      continue;
    print(printer, "%s%u:", separator, repeat->count);
    separator = ", ";
    if (repeat->axis == TILE_LAYOUT_COPIES)
      print(printer, "_");
    else
      printTerm(printer, (uint32_t)repeat->axis, repeat->stride);
  }
}

size_t tileLayoutPrint(const TileLayout *layout, char *buffer, size_t capacity) {
  Printer printer = {buffer, capacity, 0};
  const TileLayoutPoint *steps = layout->steps;
  if (capacity)
    buffer[0] = '\0';
  for (uint32_t dim = 0; dim < TILE_LAYOUT_MAX_DIMS; steps += layout->bits[dim++]) {
    if (tileLayoutDimSize(layout, dim) == 1)
      continue;
    print(&printer, "%s%s [", printer.length ? ", " : "", tileLayoutDimName(layout->kind, dim));
    printModes(&printer, layout, dim, steps);
    print(&printer, "]");
  }
  if (!printer.length)
    print(&printer, "%s []", tileLayoutDimName(layout->kind, 0));
  if (layout->padEvery)
    print(&printer, " pad %u every %u", layout->padAmount, layout->padEvery);
  return printer.length;
}
