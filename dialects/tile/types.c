// The types !tile.view, !tile.buffer, !tile.barrier and !tile.token: text form, verifier, makers and getters; then what
// a value may be, whatever its class: rank, sizes, element, layout.
// Why: what memory looks like to a kernel (view), memory on the chip (buffer), and what says that asynchronous work is
//   done (barrier, token); values themselves are builtin tensors. A view's parameters that are the default are stored
//   as unit, written or not: equal types have equal parameters, and the usual view is made and printed without them.
//   Most rules of the dialect say "same shape" or "same element" of values of different classes.
#include "dialects/tile/definitions.h"

#include <string.h>

// Positions in tileTypeDefinitions: a type is known by the address of its definition there.
enum { ViewType, BufferType, BarrierType, TokenType };

// Limits elements in a tile, steps and strides, so that products of two of them, and sums, fit into 64 bits.
static const int64_t LARGEST = INT32_MAX;

// Parameters by position.
enum { ViewShape, ViewElement, ViewSteps, ViewStrides, ViewOrder, ViewPad, ViewPacked, ViewParameters };
enum { BufferShape, BufferElement, BufferLayout, BufferLevel, BufferStages, BufferParameters };
enum { BarrierCount, BarrierArrivals, BarrierParameters };

static int64_t entry(MlirAttribute array, intptr_t index) { return mlirDenseI64ArrayGetElement(array, index); }
static int64_t number(MlirAttribute integer) { return mlirIntegerAttrGetValueInt(integer); }

//===--- shared by views and buffers ----------------------------------------===//

// `128x64xf16`, `f16` at rank 0.
static bool parseShape(MlirExtParser parser, MlirAttribute *shape, MlirAttribute *element) {
  MlirContext context = mlirExtParserGetContext(parser);
  int64_t sizes[TILE_MAX_RANK];
  intptr_t rank;
  MlirType type;
  if (!mlirExtParserParseDimensions(parser, /*allowDynamic=*/false, TILE_MAX_RANK, sizes, &rank) ||
      !mlirExtParserParseType(parser, &type))
    return false;
  *shape = tileIntegers(context, rank, sizes);
  *element = mlirTypeAttrGet(type);
  return true;
}

static void printShape(MlirExtPrinter printer, MlirAttribute shape, MlirAttribute element) {
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(shape); ++i) {
    mlirExtPrinterPrintInteger(printer, entry(shape, i));
    tilePrintText(printer, "x");
  }
  mlirExtPrinterPrintType(printer, mlirTypeAttrGetValue(element));
}

static bool verifyShape(MlirExtEmitter emitter, const char *what, MlirAttribute shape, MlirAttribute element) {
  intptr_t rank = mlirDenseArrayGetNumElements(shape);
  char text[128];
  if (rank > TILE_MAX_RANK)
    return tileEmit(emitter, "%s of rank %ld, at most %d are supported", what, (long)rank, TILE_MAX_RANK);
  int64_t elements = 1;
  for (intptr_t i = 0; i < rank; ++i) {
    if (entry(shape, i) < 1)
      return tileEmit(emitter, "size %ld of %s is %ld, expected at least 1", (long)i, what, (long)entry(shape, i));
    if (entry(shape, i) > LARGEST / elements)
      return tileEmit(emitter, "%s has more than %ld elements", what, (long)LARGEST);
    elements *= entry(shape, i);
  }
  if (!tileTypeIsAScalar(mlirTypeAttrGetValue(element)))
    return tileEmit(emitter, "element of %s is '%s', expected an integer, index or float", what,
                    tileTypeText(mlirTypeAttrGetValue(element), text, sizeof text));
  return true;
}

//===--- !tile.view ---------------------------------------------------------===//

static int64_t defaultEntry(const MlirAttribute *parameters, int which, intptr_t axis) {
  return which == ViewSteps ? entry(parameters[ViewShape], axis) : which == ViewStrides ? 1 : axis;
}

// Has as many entries as there are axes: a list of another length is left to the verifier.
static bool isDefaultList(const MlirAttribute *parameters, int which) {
  intptr_t rank = mlirDenseArrayGetNumElements(parameters[ViewShape]);
  bool isDefault = mlirDenseArrayGetNumElements(parameters[which]) == rank;
  for (intptr_t i = 0; i < rank && isDefault; ++i)
    isDefault = entry(parameters[which], i) == defaultEntry(parameters, which, i);
  return isDefault;
}

static const char defaultPad[] = "zero";
static const char *const viewKeys[] = {"steps", "strides", "order", "pad", "packed", NULL};

// Which parameter the key names; keys stand in the order of the parameters.
static int viewParameter(MlirStringRef key) {
  for (int i = 0; viewKeys[i]; ++i)
    if (tileStringEquals(key, viewKeys[i]))
      return ViewSteps + i;
  return -1;
}

static bool parseViewEntry(MlirExtParser parser, MlirAttribute *parameters) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef key;
  if (!mlirExtParserParseKeyword(parser, &key))
    return false;
  int which = viewParameter(key);
  if (which < 0)
    return tileParseFail(parser, location,
                         "unknown key '%.*s' in !tile.view, expected steps, strides, order, pad or packed",
                         (int)key.length, key.data);
  if (!mlirAttributeIsNull(parameters[which]))
    return tileParseFail(parser, location, "'%.*s' is given twice", (int)key.length, key.data);
  if (!mlirExtParserParseToken(parser, "="))
    return false;
  if (which == ViewPad)
    return tileParseOneOf(parser, "padding", tilePadNames, &parameters[ViewPad]);
  if (which == ViewPacked)
    return tileParseAnyAttribute(parser, &parameters[ViewPacked]);
  return tileParseIntegers(parser, /*allowUnknown=*/false, &parameters[which]);
}

// Parameters not given and those that say the default become unit.
static void storeViewDefaults(MlirContext context, MlirAttribute *parameters) {
  MlirAttribute unit = mlirUnitAttrGet(context), pad = parameters[ViewPad];
  for (int which = ViewSteps; which <= ViewOrder; ++which)
    if (mlirAttributeIsNull(parameters[which]) || isDefaultList(parameters, which))
      parameters[which] = unit;
  if (mlirAttributeIsNull(pad) || tileStringEquals(mlirStringAttrGetValue(pad), defaultPad))
    parameters[ViewPad] = unit;
  if (mlirAttributeIsNull(parameters[ViewPacked]))
    parameters[ViewPacked] = unit;
}

static bool parseView(MlirExtParser parser, MlirExtAttributeList list) {
  MlirAttribute parameters[ViewParameters] = {{NULL}};
  if (!mlirExtParserParseToken(parser, "<") || !parseShape(parser, &parameters[ViewShape], &parameters[ViewElement]))
    return false;
  while (mlirExtParserParseOptionalToken(parser, ","))
    if (!parseViewEntry(parser, parameters))
      return false;
  storeViewDefaults(mlirExtParserGetContext(parser), parameters);
  for (int i = 0; i < ViewParameters; ++i)
    mlirExtAttributeListAppend(list, parameters[i]);
  return mlirExtParserParseToken(parser, ">");
}

static void printView(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  printShape(printer, parameters[ViewShape], parameters[ViewElement]);
  for (int which = ViewSteps; which <= ViewOrder; ++which)
    if (!mlirAttributeIsAUnit(parameters[which])) {
      tilePrintText(printer, ", ");
      tilePrintText(printer, viewKeys[which - ViewSteps]);
      tilePrintText(printer, " = ");
      tilePrintIntegers(printer, parameters[which]);
    }
  if (!mlirAttributeIsAUnit(parameters[ViewPad])) {
    tilePrintText(printer, ", pad = ");
    tilePrintWord(printer, parameters[ViewPad]);
  }
  if (!mlirAttributeIsAUnit(parameters[ViewPacked])) {
    tilePrintText(printer, ", packed = ");
    mlirExtPrinterPrintAttribute(printer, parameters[ViewPacked]);
  }
  tilePrintText(printer, ">");
}

static bool isPermutation(MlirAttribute order, intptr_t rank) {
  unsigned seen = 0;
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t axis = entry(order, i);
    if (axis < 0 || axis >= rank || seen >> axis & 1)
      return false;
    seen |= 1u << axis;
  }
  return true;
}

static bool verifyViewLists(MlirExtEmitter emitter, const MlirAttribute *parameters) {
  intptr_t rank = mlirDenseArrayGetNumElements(parameters[ViewShape]);
  for (int which = ViewSteps; which <= ViewOrder; ++which) {
    if (mlirAttributeIsAUnit(parameters[which]))
      continue;
    intptr_t length = mlirDenseArrayGetNumElements(parameters[which]);
    const char *key = viewKeys[which - ViewSteps];
    if (length != rank)
      return tileEmit(emitter, "'%s' has %ld numbers, expected one per axis: %ld", key, (long)length, (long)rank);
    for (intptr_t i = 0; i < rank && which != ViewOrder; ++i)
      if (entry(parameters[which], i) < 1 || entry(parameters[which], i) > LARGEST)
        return tileEmit(emitter, "'%s' of axis %ld is %ld, expected 1 to %ld", key, (long)i,
                        (long)entry(parameters[which], i), (long)LARGEST);
  }
  return mlirAttributeIsAUnit(parameters[ViewOrder]) || isPermutation(parameters[ViewOrder], rank) ||
         tileEmit(emitter, "'order' is not a permutation of the %ld axes", (long)rank);
}

static bool verifyPacked(MlirExtEmitter emitter, MlirAttribute packed, MlirType element) {
  if (mlirAttributeIsAUnit(packed))
    return true;
  if (!tileAttributeIsALayout(packed))
    return tileEmit(emitter, "'packed' is not a #tile.layout");
  if (tileLayoutAttrGetLayout(packed).kind != TileLayoutMemory)
    return tileEmit(emitter, "'packed' is a layout of values, expected one of offsets: #tile.layout<offset […]>");
  return !mlirTypeIsAIndex(element) || tileEmit(emitter, "elements of type index cannot be packed");
}

static bool verifyPad(MlirExtEmitter emitter, MlirAttribute attribute, MlirType element) {
  TESSERA_LIST(list);
  char text[128];
  if (mlirAttributeIsAUnit(attribute))
    return true;
  MlirStringRef pad = mlirStringAttrGetValue(attribute);
  if (!tileIsOneOf(pad, tilePadNames))
    return tileEmit(emitter, "unknown padding '%.*s', expected one of %s", (int)pad.length, pad.data,
                    tileListNames(tilePadNames, &list));
  return mlirTypeIsAFloat(element) ||
         tileEmit(emitter, "padding '%.*s' of elements of type '%s', expected 'zero' for what is not a float",
                  (int)pad.length, pad.data, tileTypeText(element, text, sizeof text));
}

static bool verifyView(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  MlirType element = mlirTypeAttrGetValue(parameters[ViewElement]);
  return verifyShape(emitter, "a view", parameters[ViewShape], parameters[ViewElement]) &&
         verifyViewLists(emitter, parameters) && verifyPacked(emitter, parameters[ViewPacked], element) &&
         verifyPad(emitter, parameters[ViewPad], element);
}

// A view that is only a shape is as short as its alias and says more.
static bool viewWantsAlias(intptr_t count, const MlirAttribute *parameters) {
  return !mlirAttributeIsAUnit(parameters[ViewSteps]) || !mlirAttributeIsAUnit(parameters[ViewStrides]) ||
         !mlirAttributeIsAUnit(parameters[ViewPacked]);
}

static MlirAttribute listOrNull(MlirContext context, intptr_t rank, const int64_t *values) {
  return values ? tileIntegers(context, rank, values) : mlirAttributeGetNull();
}

MlirType tileViewTypeGet(MlirContext context, const TileViewSpec *spec) {
  MlirAttribute parameters[ViewParameters] = {
      [ViewShape] = tileIntegers(context, spec->rank, spec->shape),
      [ViewElement] = mlirTypeAttrGet(spec->element),
      [ViewSteps] = listOrNull(context, spec->rank, spec->steps),
      [ViewStrides] = listOrNull(context, spec->rank, spec->strides),
      [ViewOrder] = listOrNull(context, spec->rank, spec->order),
      [ViewPad] = spec->pad ? tileWord(context, spec->pad) : mlirAttributeGetNull(),
      [ViewPacked] = spec->packed,
  };
  storeViewDefaults(context, parameters);
  return mlirExtTypeGet(context, &tileTypeDefinitions[ViewType], ViewParameters, parameters);
}

bool tileTypeIsAView(MlirType type) { return mlirExtTypeIsA(type, &tileTypeDefinitions[ViewType]); }
intptr_t tileViewTypeGetRank(MlirType type) {
  return mlirDenseArrayGetNumElements(mlirExtTypeGetParameter(type, ViewShape));
}
int64_t tileViewTypeGetSize(MlirType type, intptr_t axis) {
  return entry(mlirExtTypeGetParameter(type, ViewShape), axis);
}
MlirType tileViewTypeGetElementType(MlirType type) {
  return mlirTypeAttrGetValue(mlirExtTypeGetParameter(type, ViewElement));
}
int64_t tileViewTypeGetStep(MlirType type, intptr_t axis) {
  MlirAttribute steps = mlirExtTypeGetParameter(type, ViewSteps);
  return mlirAttributeIsAUnit(steps) ? tileViewTypeGetSize(type, axis) : entry(steps, axis);
}
int64_t tileViewTypeGetStride(MlirType type, intptr_t axis) {
  MlirAttribute strides = mlirExtTypeGetParameter(type, ViewStrides);
  return mlirAttributeIsAUnit(strides) ? 1 : entry(strides, axis);
}
int64_t tileViewTypeGetOrder(MlirType type, intptr_t axis) {
  MlirAttribute order = mlirExtTypeGetParameter(type, ViewOrder);
  return mlirAttributeIsAUnit(order) ? axis : entry(order, axis);
}
MlirStringRef tileViewTypeGetPad(MlirType type) {
  MlirAttribute pad = mlirExtTypeGetParameter(type, ViewPad);
  return mlirAttributeIsAUnit(pad) ? tileString(defaultPad) : mlirStringAttrGetValue(pad);
}
MlirAttribute tileViewTypeGetPacked(MlirType type) {
  MlirAttribute packed = mlirExtTypeGetParameter(type, ViewPacked);
  return mlirAttributeIsAUnit(packed) ? mlirAttributeGetNull() : packed;
}

//===--- !tile.buffer -------------------------------------------------------===//

static const char *const bufferLevels[] = {"shared", "local", "tmem", NULL};

// `, NAME = integer` where NAME is the only key there is.
static bool parseOptionalNumber(MlirExtParser parser, const char *key, int64_t whenAbsent, MlirAttribute *attribute) {
  int64_t value = whenAbsent;
  if (mlirExtParserParseOptionalToken(parser, ",") &&
      (!mlirExtParserParseToken(parser, key) || !mlirExtParserParseToken(parser, "=") ||
       !mlirExtParserParseInteger(parser, &value)))
    return false;
  *attribute = tileInteger(mlirExtParserGetContext(parser), value);
  return true;
}

static void printNumber(MlirExtPrinter printer, const char *key, MlirAttribute attribute, int64_t whenAbsent) {
  if (number(attribute) == whenAbsent)
    return;
  tilePrintText(printer, ", ");
  tilePrintText(printer, key);
  tilePrintText(printer, " = ");
  mlirExtPrinterPrintInteger(printer, number(attribute));
}

static bool parseBuffer(MlirExtParser parser, MlirExtAttributeList list) {
  MlirAttribute parameters[BufferParameters] = {{NULL}};
  if (!mlirExtParserParseToken(parser, "<") ||
      !parseShape(parser, &parameters[BufferShape], &parameters[BufferElement]) ||
      !mlirExtParserParseToken(parser, ",") || !tileParseAnyAttribute(parser, &parameters[BufferLayout]) ||
      !mlirExtParserParseToken(parser, ",") ||
      !tileParseOneOf(parser, "memory level of a buffer", bufferLevels, &parameters[BufferLevel]) ||
      !parseOptionalNumber(parser, "stages", 0, &parameters[BufferStages]))
    return false;
  for (int i = 0; i < BufferParameters; ++i)
    mlirExtAttributeListAppend(list, parameters[i]);
  return mlirExtParserParseToken(parser, ">");
}

static void printBuffer(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  printShape(printer, parameters[BufferShape], parameters[BufferElement]);
  tilePrintText(printer, ", ");
  mlirExtPrinterPrintAttribute(printer, parameters[BufferLayout]);
  tilePrintText(printer, ", ");
  tilePrintWord(printer, parameters[BufferLevel]);
  printNumber(printer, "stages", parameters[BufferStages], 0);
  tilePrintText(printer, ">");
}

static bool verifyBufferLayout(MlirExtEmitter emitter, const MlirAttribute *parameters) {
  if (!tileAttributeIsALayout(parameters[BufferLayout]))
    return tileEmit(emitter, "second parameter of a buffer is not a #tile.layout");
  TileLayout layout = tileLayoutAttrGetLayout(parameters[BufferLayout]);
  if (layout.kind != TileLayoutMemory)
    return tileEmit(emitter, "a buffer has a layout of values, expected one of offsets: #tile.layout<offset […]>");
  int64_t shape[TILE_MAX_RANK];
  intptr_t rank = mlirDenseArrayGetNumElements(parameters[BufferShape]);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = entry(parameters[BufferShape], i);
  TileError error;
  return tileLayoutHolds(&layout, shape, (uint32_t)rank, NULL, &error) ||
         tileEmit(emitter, "the buffer's layout does not fit its shape: %s", error.text);
}

static bool verifyBuffer(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  MlirStringRef level = mlirStringAttrGetValue(parameters[BufferLevel]);
  if (!verifyShape(emitter, "a buffer", parameters[BufferShape], parameters[BufferElement]))
    return false;
  if (!tileIsOneOf(level, bufferLevels))
    return tileEmit(emitter, "memory level of a buffer is '%.*s', expected shared, local or tmem", (int)level.length,
                    level.data);
  if (number(parameters[BufferStages]) < 0)
    return tileEmit(emitter, "a buffer has %ld stages, expected at least 1", (long)number(parameters[BufferStages]));
  return verifyBufferLayout(emitter, parameters);
}

MlirType tileBufferTypeGet(intptr_t rank, const int64_t *shape, MlirType element, MlirAttribute layout,
                           const char *level, int64_t stages) {
  MlirContext context = mlirTypeGetContext(element);
  const MlirAttribute parameters[BufferParameters] = {
      [BufferShape] = tileIntegers(context, rank, shape),
      [BufferElement] = mlirTypeAttrGet(element),
      [BufferLayout] = layout,
      [BufferLevel] = tileWord(context, level),
      [BufferStages] = tileInteger(context, stages),
  };
  return mlirExtTypeGet(context, &tileTypeDefinitions[BufferType], BufferParameters, parameters);
}

MlirType tileBufferTypeGetSlot(MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  MlirAttribute parameters[BufferParameters];
  for (int i = 0; i < BufferParameters; ++i)
    parameters[i] = mlirExtTypeGetParameter(type, i);
  parameters[BufferStages] = tileInteger(context, 0);
  return mlirExtTypeGet(context, &tileTypeDefinitions[BufferType], BufferParameters, parameters);
}

bool tileTypeIsABuffer(MlirType type) { return mlirExtTypeIsA(type, &tileTypeDefinitions[BufferType]); }
intptr_t tileBufferTypeGetRank(MlirType type) {
  return mlirDenseArrayGetNumElements(mlirExtTypeGetParameter(type, BufferShape));
}
int64_t tileBufferTypeGetSize(MlirType type, intptr_t axis) {
  return entry(mlirExtTypeGetParameter(type, BufferShape), axis);
}
MlirType tileBufferTypeGetElementType(MlirType type) {
  return mlirTypeAttrGetValue(mlirExtTypeGetParameter(type, BufferElement));
}
MlirAttribute tileBufferTypeGetLayout(MlirType type) { return mlirExtTypeGetParameter(type, BufferLayout); }
MlirStringRef tileBufferTypeGetLevel(MlirType type) {
  return mlirStringAttrGetValue(mlirExtTypeGetParameter(type, BufferLevel));
}
int64_t tileBufferTypeGetStages(MlirType type) { return number(mlirExtTypeGetParameter(type, BufferStages)); }

//===--- !tile.barrier, !tile.token ------------------------------------------===//

static bool parseBarrier(MlirExtParser parser, MlirExtAttributeList list) {
  int64_t count;
  MlirAttribute arrivals;
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseInteger(parser, &count) ||
      !parseOptionalNumber(parser, "arrivals", 1, &arrivals))
    return false;
  mlirExtAttributeListAppend(list, tileInteger(mlirExtParserGetContext(parser), count));
  mlirExtAttributeListAppend(list, arrivals);
  return mlirExtParserParseToken(parser, ">");
}

static void printBarrier(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<");
  mlirExtPrinterPrintInteger(printer, number(parameters[BarrierCount]));
  printNumber(printer, "arrivals", parameters[BarrierArrivals], 1);
  tilePrintText(printer, ">");
}

static bool verifyBarrier(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  int64_t size = number(parameters[BarrierCount]), arrivals = number(parameters[BarrierArrivals]);
  if (size < 1)
    return tileEmit(emitter, "a ring of %ld barriers, expected at least 1", (long)size);
  return arrivals >= 1 || tileEmit(emitter, "a barrier waits for %ld arrivals, expected at least 1", (long)arrivals);
}

MlirType tileBarrierTypeGet(MlirContext context, int64_t count, int64_t arrivals) {
  const MlirAttribute parameters[] = {tileInteger(context, count), tileInteger(context, arrivals)};
  return mlirExtTypeGet(context, &tileTypeDefinitions[BarrierType], BarrierParameters, parameters);
}

bool tileTypeIsABarrier(MlirType type) { return mlirExtTypeIsA(type, &tileTypeDefinitions[BarrierType]); }
int64_t tileBarrierTypeGetCount(MlirType type) { return number(mlirExtTypeGetParameter(type, BarrierCount)); }
int64_t tileBarrierTypeGetArrivals(MlirType type) { return number(mlirExtTypeGetParameter(type, BarrierArrivals)); }

// The parser above would skip what it is not asked about.
static bool parseToken(MlirExtParser parser, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  return !mlirExtParserParseOptionalToken(parser, "<") ||
         tileParseFail(parser, location, "!tile.token takes no parameters");
}

bool tileTypeIsAToken(MlirType type) { return mlirExtTypeIsA(type, &tileTypeDefinitions[TokenType]); }
MlirType tileTokenTypeGet(MlirContext context) {
  return mlirExtTypeGet(context, &tileTypeDefinitions[TokenType], 0, NULL);
}

const MlirExtParametricDefinition tileTypeDefinitions[] = {
    [ViewType] = {.name = "view",
                  .parse = parseView,
                  .print = printView,
                  .verify = verifyView,
                  .alias = "view",
                  .wantsAlias = viewWantsAlias},
    [BufferType] =
        {.name = "buffer", .parse = parseBuffer, .print = printBuffer, .verify = verifyBuffer, .alias = "buffer"},
    [BarrierType] = {.name = "barrier", .parse = parseBarrier, .print = printBarrier, .verify = verifyBarrier},
    [TokenType] = {.name = "token", .parse = parseToken},
};
const intptr_t tileNumTypeDefinitions = sizeof tileTypeDefinitions / sizeof *tileTypeDefinitions;

//===--- values of any class --------------------------------------------------===//

// f32 first: whether a type is some float is a look-up, and most are f32.
bool tileTypeIsAScalar(MlirType type) {
  return mlirTypeIsAF32(type) || mlirTypeIsAIndex(type) || mlirTypeIsAInteger(type) || mlirTypeIsAFloat(type);
}

static bool isStatic(const MlirExtShape *shape) {
  for (intptr_t axis = 0; axis < shape->rank; ++axis)
    if (shape->sizes[axis] < 0)
      return false;
  return true;
}

bool tileTypeIsATile(MlirType type) {
  MlirExtShape shape;
  return mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) && shape.rank > 0 && isStatic(&shape) &&
         tileTypeIsAScalar(shape.element);
}

intptr_t tileTypeGetRank(MlirType type) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetRank(type);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetRank(type);
  MlirExtShape shape;
  return mlirExtTypeGetShape(type, &shape) ? shape.rank : 0;
}

int64_t tileTypeGetSize(MlirType type, intptr_t axis) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetSize(type, axis);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetSize(type, axis);
  MlirExtShape shape;
  return mlirExtTypeGetShape(type, &shape) ? shape.sizes[axis] : mlirShapedTypeGetDimSize(type, axis);
}

MlirType tileTypeGetElement(MlirType type) {
  if (tileTypeIsAView(type))
    return tileViewTypeGetElementType(type);
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetElementType(type);
  MlirExtShape shape;
  if (mlirExtTypeGetShape(type, &shape))
    return shape.element;
  return mlirTypeIsAShaped(type) ? mlirShapedTypeGetElementType(type) : type; // unranked ones
}

bool tileTypeHasSameShape(MlirType left, MlirType right) {
  if (mlirTypeEqual(left, right))
    return true;
  intptr_t rank = tileTypeGetRank(left);
  if (rank != tileTypeGetRank(right))
    return false;
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (tileTypeGetSize(left, axis) != tileTypeGetSize(right, axis))
      return false;
  return true;
}

MlirAttribute tileTypeGetLayout(MlirType type) {
  if (tileTypeIsABuffer(type))
    return tileBufferTypeGetLayout(type);
  MlirAttribute encoding =
      mlirTypeIsARankedTensor(type) ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull();
  return !mlirAttributeIsNull(encoding) && tileAttributeIsALayout(encoding) ? encoding : mlirAttributeGetNull();
}

MlirType tileTileTypeGet(intptr_t rank, const int64_t *shape, MlirType element, MlirAttribute layoutOrNull) {
  if (rank == 0)
    return element;
  MlirLocation unknown = mlirLocationUnknownGet(mlirTypeGetContext(element));
  return mlirRankedTensorTypeGetChecked(unknown, rank, shape, element, layoutOrNull);
}

MlirType tileTypeWithElement(MlirType type, MlirType element) {
  int64_t shape[TILE_MAX_RANK];
  intptr_t rank = tileTypeGetRank(type);
  if (rank > TILE_MAX_RANK)
    return (MlirType){NULL};
  for (intptr_t axis = 0; axis < rank; ++axis)
    shape[axis] = tileTypeGetSize(type, axis);
  bool isTensor = mlirTypeIsARankedTensor(type);
  return tileTileTypeGet(rank, shape, element,
                         isTensor ? mlirRankedTensorTypeGetEncoding(type) : mlirAttributeGetNull());
}
