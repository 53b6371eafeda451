// #tile.layout: the encoding of a tile's or buffer's elements over registers, lanes, warps or memory offsets.
// Why: lib/layout owns the theory and the text; here that text becomes an attribute. The one parameter is the canonical
//   text, so equal layouts are one attribute. Errors of lib/layout are reported at the token they are about.
#include <stdio.h>
#include <string.h>

#include "dialects/tile/definitions.h"
#include "lib/layout/text.h"

enum { MAX_TOKENS = 512 };

// The text between `<` and `>` put together from tokens, with where each one stands in the source.
typedef struct Tokens {
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  size_t length, count;
  size_t columns[MAX_TOKENS];
  MlirExtSourceLocation locations[MAX_TOKENS];
} Tokens;

static bool append(Tokens *tokens, MlirExtSourceLocation location, const char *text, size_t length) {
  if (tokens->count == MAX_TOKENS || tokens->length + length + 1 >= sizeof tokens->text)
    return false;
  tokens->columns[tokens->count] = tokens->length + 1;
  tokens->locations[tokens->count++] = location;
  memcpy(tokens->text + tokens->length, text, length);
  tokens->text[tokens->length + length] = ' '; // keeps `pad 16` apart; lib/layout skips blanks
  tokens->length += length + 1;
  return true;
}

// Takes one token of what a layout is written with; an empty text when the next one is of no use to a layout.
static bool takeToken(MlirExtParser parser, char *buffer, size_t capacity, MlirStringRef *text) {
  static const char *const punctuation[] = {"[", "]", ":", ",", "*", "+", NULL};
  int64_t number;
  for (const char *const *token = punctuation; *token; ++token)
    if (mlirExtParserParseOptionalToken(parser, *token)) {
      *text = tileString(*token);
      return true;
    }
  if (mlirExtParserParseOptionalKeyword(parser, text) == MlirExtParse_Present)
    return true;
  MlirExtParseResult result = mlirExtParserParseOptionalInteger(parser, &number);
  *text = mlirStringRefCreate(buffer, 0);
  if (result == MlirExtParse_Present)
    text->length = (size_t)snprintf(buffer, capacity, "%lld", (long long)number);
  return result != MlirExtParse_Failed;
}

static bool takeTokens(MlirExtParser parser, Tokens *tokens) {
  tokens->length = tokens->count = 0;
  for (;;) {
    MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
    char buffer[32];
    MlirStringRef text;
    if (mlirExtParserParseOptionalToken(parser, ">")) {
      append(tokens, location, "", 0); // errors about the end stand here
      return true;
    }
    if (!takeToken(parser, buffer, sizeof buffer, &text))
      return false;
    if (!text.length)
      return tileParseFail(parser, location, "expected '>' or more of a layout: dim [size:d0*stride, …], …");
    if (!append(tokens, location, text.data, text.length))
      return tileParseFail(parser, location, "the layout is longer than any in use: %d tokens", MAX_TOKENS);
  }
}

static MlirExtSourceLocation locationOfColumn(const Tokens *tokens, size_t column) {
  size_t i = 0;
  while (i + 1 < tokens->count && tokens->columns[i + 1] <= column)
    ++i;
  return tokens->locations[i];
}

bool tileParseLayout(MlirExtParser parser, MlirExtAttributeList list) {
  Tokens tokens;
  TileLayout layout;
  TileError error;
  if (!mlirExtParserParseToken(parser, "<") || !takeTokens(parser, &tokens))
    return false;
  if (!tileLayoutParse(tokens.text, tokens.length, &layout, &error))
    return tileParseFail(parser, locationOfColumn(&tokens, error.column), "%s", error.text);
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  tileLayoutPrint(&layout, text, sizeof text);
  mlirExtAttributeListAppend(list, tileWord(mlirExtParserGetContext(parser), text));
  return true;
}

void tilePrintLayout(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  tilePrintWord(printer, parameters[0]);
  tilePrintText(printer, ">");
}

bool tileVerifyLayout(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  MlirStringRef text = mlirStringAttrGetValue(parameters[0]);
  TileLayout layout;
  TileError error;
  return tileLayoutParse(text.data, text.length, &layout, &error) ||
         tileEmit(emitter, "not a layout: column %zu: %s", error.column, error.text);
}

bool tileVerifyLayoutEncoding(MlirExtEmitter emitter, MlirAttribute self, intptr_t rank, const int64_t *shape,
                              MlirType element) {
  TileLayout layout = tileLayoutAttrGetLayout(self);
  TileError error;
  if (layout.kind != TileLayoutValues)
    return tileEmit(emitter, "a tensor's layout is one of memory offsets, expected one of reg, lane, warp and block");
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (shape[axis] == mlirShapedTypeGetDynamicSize())
      return tileEmit(emitter, "a tensor with a layout has a dynamic size on axis %ld, expected a static shape",
                      (long)axis);
  if (rank > TILE_LAYOUT_MAX_AXES)
    return tileEmit(emitter, "a tensor with a layout has rank %ld, at most %d are supported", (long)rank,
                    TILE_LAYOUT_MAX_AXES);
  return tileLayoutHolds(&layout, shape, (uint32_t)rank, NULL, &error) ||
         tileEmit(emitter, "the layout does not fit the tensor: %s", error.text);
}

MlirAttribute tileLayoutAttrGet(MlirContext context, const TileLayout *layout) {
  char text[TILE_LAYOUT_TEXT_CAPACITY];
  tileLayoutPrint(layout, text, sizeof text);
  MlirAttribute parameter = tileWord(context, text);
  return mlirExtAttributeGet(context, &tileAttributeDefinitions[TileLayoutAttribute], 1, &parameter);
}

MlirAttribute tileLayoutAttrParse(MlirContext context, MlirStringRef text) {
  TileLayout layout;
  return tileLayoutParse(text.data, text.length, &layout, NULL) ? tileLayoutAttrGet(context, &layout)
                                                                : mlirAttributeGetNull();
}

bool tileAttributeIsALayout(MlirAttribute attribute) {
  return mlirExtAttributeIsA(attribute, &tileAttributeDefinitions[TileLayoutAttribute]);
}

MlirStringRef tileLayoutAttrGetText(MlirAttribute attribute) {
  return mlirStringAttrGetValue(mlirExtAttributeGetParameter(attribute, 0));
}

TileLayout tileLayoutAttrGetLayout(MlirAttribute attribute) {
  MlirStringRef text = tileLayoutAttrGetText(attribute);
  TileLayout layout = tileLayoutEmpty(TileLayoutValues);
  tileLayoutParse(text.data, text.length, &layout, NULL); // verified when the attribute was made
  return layout;
}
