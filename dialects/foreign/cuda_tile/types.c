// The types of cuda_tile, their text without the dialect's prefix, and the constraints that the columns of ops.def use.
// A tile is a tensor of static shape.
#include "dialects/foreign/cuda_tile/cuda_tile.h"
#include "dialects/foreign/cuda_tile/parts.h"
#include "lib/ir/assembly_parts.h"

enum { PointerType, TokenType, TensorViewType, FirstViewType };
enum { ViewTile, ViewTensor, ViewMap, ViewSteps, ViewSparse, ViewPadding, NumViewParts };
const char *const cudaTilePaddingNames[] = {"zero", "neg_zero", "nan", "pos_inf", "neg_inf", NULL};

static MlirType typeOf(MlirAttribute parameter) { return mlirTypeAttrGetValue(parameter); }
static bool isType(MlirType type, int definition) { return mlirExtTypeIsA(type, &cudaTileTypeDefinitions[definition]); }
static MlirAttribute partOf(MlirType type, int part) { return mlirExtTypeGetParameter(type, part); }

//===--- ptr, token -------------------------------------------------------------===//

bool cudaTileTypeIsAPointer(MlirType type) { return isType(type, PointerType); }
MlirType cudaTilePointerTypeGetPointee(MlirType type) { return typeOf(partOf(type, 0)); }
MlirType cudaTilePointerTypeGet(MlirType pointee) {
  return mlirExtTypeGet(mlirTypeGetContext(pointee), &cudaTileTypeDefinitions[PointerType], 1,
                        (MlirAttribute[]){mlirTypeAttrGet(pointee)});
}
bool cudaTileTypeIsAToken(MlirType type) { return isType(type, TokenType); }
MlirType cudaTileTokenTypeGet(MlirContext context) {
  return mlirExtTypeGet(context, &cudaTileTypeDefinitions[TokenType], 0, NULL);
}

static bool isNumber(MlirType type) {
  return (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) <= 64) ||
         mlirTypeIsAFloat(type);
}
static bool isElement(MlirType type) { return isNumber(type) || cudaTileTypeIsAPointer(type); }

static bool parseElement(MlirExtParser parser, MlirType *type) {
  return *mlirExtParserGetLocation(parser) == 'p' ? cudaTileParseType(parser, type)
                                                  : mlirExtParserParseType(parser, type);
}
static void printElement(MlirExtPrinter printer, MlirType type) { cudaTilePrintType(printer, type); }

// Behind the mnemonic, as the other parsers of parts.
static bool pointerParts(MlirExtParser parser, MlirAttribute *parts) {
  MlirType pointee;
  if (!mlirExtParserParseToken(parser, "<") || !parseElement(parser, &pointee) || !mlirExtParserParseToken(parser, ">"))
    return false;
  parts[0] = mlirTypeAttrGet(pointee);
  return true;
}
static void printPointer(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  tilePrintText(printer, "<");
  printElement(printer, typeOf(parts[0]));
  tilePrintText(printer, ">");
}
static bool verifyPointer(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  return (count == 1 && mlirAttributeIsAType(parts[0]) && isElement(typeOf(parts[0]))) ||
         tileEmit(emitter, "ptr: expected an integer, a float or a pointer to point to");
}

//===--- lists ------------------------------------------------------------------===//

static int64_t numberAt(MlirAttribute list, intptr_t i) { return mlirDenseI64ArrayGetElement(list, i); }

// `[?,1]`.
static bool parseOpenNumber(MlirExtParser parser, intptr_t number, void *data) {
  int64_t *values = data;
  values[number] = mlirShapedTypeGetDynamicSize();
  return mlirExtParserParseOptionalToken(parser, "?") || mlirExtParserParseInteger(parser, &values[number]);
}
static bool parseList(MlirExtParser parser, MlirAttribute *list) {
  int64_t values[TILE_MAX_LIST];
  intptr_t count;
  if (!tileParseList(parser, "numbers", parseOpenNumber, values, &count))
    return false;
  *list = tileIntegers(mlirExtParserGetContext(parser), count, values);
  return true;
}
static void printNumber(MlirExtPrinter printer, int64_t value) {
  if (value == mlirShapedTypeGetDynamicSize())
    tilePrintText(printer, "?");
  else
    mlirExtPrinterPrintInteger(printer, value);
}
static void printNumbers(MlirExtPrinter printer, MlirAttribute list, const char *between) {
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(list); ++i) {
    tilePrintText(printer, i ? between : "");
    printNumber(printer, numberAt(list, i));
  }
}

// `(64x32)`. The lexer takes the part behind the first number as one word, `x32x16`.
static bool parseTileSizes(MlirExtParser parser, MlirAttribute *list) {
  int64_t values[CudaTileMaxRank];
  intptr_t count = 0;
  MlirStringRef word;
  if (!mlirExtParserParseToken(parser, "("))
    return false;
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  if (!mlirExtParserParseInteger(parser, &values[count++]))
    return false;
  if (mlirExtParserParseOptionalKeyword(parser, &word) == MlirExtParse_Present)
    for (size_t at = 0; at < word.length;) {
      if (word.data[at] != 'x' || count == CudaTileMaxRank)
        return tileParseFail(parser, location, "expected sizes, as (64x32)");
      int64_t value = 0;
      for (++at; at < word.length && word.data[at] >= '0' && word.data[at] <= '9' && value <= CudaTileMaxElements; ++at)
        value = 10 * value + (word.data[at] - '0');
      values[count++] = value;
    }
  *list = tileIntegers(mlirExtParserGetContext(parser), count, values);
  return mlirExtParserParseToken(parser, ")");
}

//===--- tensor_view ------------------------------------------------------------===//

bool cudaTileTypeIsATensorView(MlirType type) { return isType(type, TensorViewType); }
MlirType cudaTileTensorViewTypeGet(MlirType element, intptr_t rank, const int64_t *sizes, const int64_t *strides) {
  MlirContext context = mlirTypeGetContext(element);
  return mlirExtTypeGet(context, &cudaTileTypeDefinitions[TensorViewType], 3,
                        (MlirAttribute[]){mlirTypeAttrGet(element), tileIntegers(context, rank, sizes),
                                          tileIntegers(context, rank, strides)});
}
MlirType cudaTileTensorViewTypeGetElement(MlirType type) { return typeOf(partOf(type, 0)); }
intptr_t cudaTileTensorViewTypeGetRank(MlirType type) { return mlirDenseArrayGetNumElements(partOf(type, 1)); }
int64_t cudaTileTensorViewTypeGetSize(MlirType type, intptr_t axis) { return numberAt(partOf(type, 1), axis); }
int64_t cudaTileTensorViewTypeGetStride(MlirType type, intptr_t axis) { return numberAt(partOf(type, 2), axis); }

static bool tensorViewParts(MlirExtParser parser, MlirAttribute *parts) {
  int64_t sizes[CudaTileMaxRank];
  intptr_t rank;
  MlirType element;
  MlirAttribute strides = tileIntegers(mlirExtParserGetContext(parser), 0, NULL);
  if (!mlirExtParserParseToken(parser, "<") ||
      !mlirExtParserParseDimensions(parser, true, CudaTileMaxRank, sizes, &rank) || !parseElement(parser, &element))
    return false;
  if (mlirExtParserParseOptionalToken(parser, ",") &&
      (!mlirExtParserParseToken(parser, "strides") || !mlirExtParserParseToken(parser, "=") ||
       !parseList(parser, &strides)))
    return false;
  parts[0] = mlirTypeAttrGet(element);
  parts[1] = tileIntegers(mlirExtParserGetContext(parser), rank, sizes);
  parts[2] = strides;
  return mlirExtParserParseToken(parser, ">");
}
static void printTensorView(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  tilePrintText(printer, "<");
  printNumbers(printer, parts[1], "x");
  tilePrintText(printer, mlirDenseArrayGetNumElements(parts[1]) ? "x" : "");
  printElement(printer, typeOf(parts[0]));
  if (mlirDenseArrayGetNumElements(parts[2])) {
    tilePrintText(printer, ", strides=[");
    printNumbers(printer, parts[2], ",");
    tilePrintText(printer, "]");
  }
  tilePrintText(printer, ">");
}
static bool isList(MlirAttribute attribute) { return mlirAttributeIsADenseI64Array(attribute); }
static bool verifyTensorView(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  if (count != 3 || !mlirAttributeIsAType(parts[0]) || !isList(parts[1]) || !isList(parts[2]) ||
      !isElement(typeOf(parts[0])))
    return tileEmit(emitter, "tensor_view: expected sizes, an element and strides");
  intptr_t rank = mlirDenseArrayGetNumElements(parts[1]);
  if (rank > CudaTileMaxRank || mlirDenseArrayGetNumElements(parts[2]) != rank)
    return tileEmit(emitter, "tensor_view: %ld sizes and %ld strides, expected as many, at most %d", (long)rank,
                    (long)mlirDenseArrayGetNumElements(parts[2]), (int)CudaTileMaxRank);
  for (intptr_t i = 0; i < rank; ++i)
    if (numberAt(parts[1], i) < 0 && numberAt(parts[1], i) != mlirShapedTypeGetDynamicSize())
      return tileEmit(emitter, "tensor_view: size %ld, expected 0 or more", (long)numberAt(parts[1], i));
  return true;
}

//===--- partition_view, strided_view, gather_scatter_view ---------------------------===//

static CudaTileViewKind kindOf(MlirType type) {
  int kind = 0;
  while (kind < CudaTileView_NumKinds && !isType(type, FirstViewType + kind))
    ++kind;
  return (CudaTileViewKind)kind;
}
bool cudaTileTypeIsAView(MlirType type) { return kindOf(type) != CudaTileView_NumKinds; }

MlirType cudaTileViewTypeGet(const CudaTileViewSpec *spec) {
  MlirContext context = mlirTypeGetContext(spec->tensor);
  MlirAttribute parts[NumViewParts] = {
      [ViewTile] = tileIntegers(context, spec->rank, spec->tile),
      [ViewTensor] = mlirTypeAttrGet(spec->tensor),
      [ViewMap] = tileIntegers(context, spec->rank, spec->map),
      [ViewSteps] = tileIntegers(context, spec->rank, spec->steps),
      [ViewSparse] = tileInteger(context, spec->sparse),
      [ViewPadding] = spec->padding ? tileWord(context, spec->padding) : mlirUnitAttrGet(context),
  };
  return mlirExtTypeGet(context, &cudaTileTypeDefinitions[FirstViewType + (int)spec->kind], NumViewParts, parts);
}

CudaTileViewSpec cudaTileViewTypeGetSpec(MlirType type) {
  CudaTileViewSpec spec = {.kind = kindOf(type), .tensor = typeOf(partOf(type, ViewTensor))};
  spec.rank = mlirDenseArrayGetNumElements(partOf(type, ViewTile));
  for (intptr_t i = 0; i < spec.rank; ++i) {
    spec.tile[i] = numberAt(partOf(type, ViewTile), i);
    spec.map[i] = numberAt(partOf(type, ViewMap), i);
    spec.steps[i] = numberAt(partOf(type, ViewSteps), i);
  }
  spec.sparse = mlirIntegerAttrGetValueInt(partOf(type, ViewSparse));
  MlirAttribute padding = partOf(type, ViewPadding);
  for (int i = 0; mlirAttributeIsAString(padding) && cudaTilePaddingNames[i]; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(padding), cudaTilePaddingNames[i]))
      spec.padding = cudaTilePaddingNames[i];
  return spec;
}

// `, name=`; absent: false without a report.
static bool hasPart(MlirExtParser parser, const char *name) { return mlirExtParserParseOptionalToken(parser, name); }

static bool viewParts(MlirExtParser parser, MlirAttribute *parts) {
  MlirContext context = mlirExtParserGetContext(parser);
  parts[ViewMap] = parts[ViewSteps] = mlirAttributeGetNull();
  parts[ViewPadding] = mlirUnitAttrGet(context);
  parts[ViewSparse] = tileInteger(context, -1);
  MlirType tensor;
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseToken(parser, "tile") ||
      !mlirExtParserParseToken(parser, "=") || !parseTileSizes(parser, &parts[ViewTile]) ||
      !mlirExtParserParseToken(parser, ","))
    return false;
  if (hasPart(parser, "traversal_strides") &&
      (!mlirExtParserParseToken(parser, "=") || !parseList(parser, &parts[ViewSteps]) ||
       !mlirExtParserParseToken(parser, ",")))
    return false;
  if (hasPart(parser, "padding_value") &&
      (!mlirExtParserParseToken(parser, "=") ||
       !tileParseOneOf(parser, "padding", cudaTilePaddingNames, &parts[ViewPadding]) ||
       !mlirExtParserParseToken(parser, ",")))
    return false;
  if (!cudaTileParseType(parser, &tensor))
    return false;
  int64_t sparse;
  while (mlirExtParserParseOptionalToken(parser, ","))
    if (hasPart(parser, "dim_map")) {
      if (!mlirExtParserParseToken(parser, "=") || !parseList(parser, &parts[ViewMap]))
        return false;
    } else {
      if (!mlirExtParserParseToken(parser, "sparse_dim") || !mlirExtParserParseToken(parser, "=") ||
          !mlirExtParserParseInteger(parser, &sparse))
        return false;
      parts[ViewSparse] = tileInteger(context, sparse);
    }
  parts[ViewTensor] = mlirTypeAttrGet(tensor);
  int64_t identity[CudaTileMaxRank];
  for (int i = 0; i < CudaTileMaxRank; ++i)
    identity[i] = i;
  if (mlirAttributeIsNull(parts[ViewMap]))
    parts[ViewMap] = tileIntegers(context, mlirDenseArrayGetNumElements(parts[ViewTile]), identity);
  if (mlirAttributeIsNull(parts[ViewSteps]))
    parts[ViewSteps] = parts[ViewTile];
  return mlirExtParserParseToken(parser, ">");
}

static bool isIdentity(MlirAttribute list) {
  bool ok = true;
  for (intptr_t i = 0; ok && i < mlirDenseArrayGetNumElements(list); ++i)
    ok = numberAt(list, i) == i;
  return ok;
}

static void printView(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parts) {
  tilePrintText(printer, "<tile=(");
  printNumbers(printer, parts[ViewTile], "x");
  tilePrintText(printer, "), ");
  if (!mlirAttributeEqual(parts[ViewSteps], parts[ViewTile])) {
    tilePrintText(printer, "traversal_strides=[");
    printNumbers(printer, parts[ViewSteps], ",");
    tilePrintText(printer, "], ");
  }
  if (mlirAttributeIsAString(parts[ViewPadding])) {
    tilePrintText(printer, "padding_value = ");
    tilePrintWord(printer, parts[ViewPadding]);
    tilePrintText(printer, ", ");
  }
  cudaTilePrintType(printer, typeOf(parts[ViewTensor]));
  if (!isIdentity(parts[ViewMap])) {
    tilePrintText(printer, ", dim_map=[");
    printNumbers(printer, parts[ViewMap], ",");
    tilePrintText(printer, "]");
  }
  if (mlirIntegerAttrGetValueInt(parts[ViewSparse]) >= 0) {
    tilePrintText(printer, ", sparse_dim=");
    mlirExtPrinterPrintInteger(printer, mlirIntegerAttrGetValueInt(parts[ViewSparse]));
  }
  tilePrintText(printer, ">");
}

static bool verifyView(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parts) {
  if (count != NumViewParts || !isList(parts[ViewTile]) || !mlirAttributeIsAType(parts[ViewTensor]) ||
      !isList(parts[ViewMap]) || !isList(parts[ViewSteps]) || !mlirAttributeIsAInteger(parts[ViewSparse]) ||
      !cudaTileTypeIsATensorView(typeOf(parts[ViewTensor])))
    return tileEmit(emitter, "view: expected a tile, a tensor_view and numbers");
  intptr_t rank = mlirDenseArrayGetNumElements(parts[ViewTile]);
  int64_t elements = 1, sparse = mlirIntegerAttrGetValueInt(parts[ViewSparse]);
  bool seen[CudaTileMaxRank] = {false};
  if (rank != cudaTileTensorViewTypeGetRank(typeOf(parts[ViewTensor])) ||
      mlirDenseArrayGetNumElements(parts[ViewMap]) != rank || mlirDenseArrayGetNumElements(parts[ViewSteps]) != rank)
    return tileEmit(emitter, "view: the tile has %ld dimensions, expected as many as the tensor, which has %ld",
                    (long)rank, (long)cudaTileTensorViewTypeGetRank(typeOf(parts[ViewTensor])));
  for (intptr_t i = 0; i < rank; ++i) {
    int64_t size = numberAt(parts[ViewTile], i), axis = numberAt(parts[ViewMap], i);
    if (size < 1 || size > CudaTileMaxElements / elements || numberAt(parts[ViewSteps], i) < 1)
      return tileEmit(emitter, "view: expected tiles of at most %d elements, and steps of 1 or more",
                      (int)CudaTileMaxElements);
    elements *= size;
    if (axis < 0 || axis >= rank || seen[axis])
      return tileEmit(emitter, "view: dim_map is no permutation of the dimensions");
    seen[axis] = true;
  }
  return sparse < rank ||
         tileEmit(emitter, "view: sparse_dim is %ld, expected less than %ld", (long)sparse, (long)rank);
}

static bool noParts(MlirExtParser parser, MlirAttribute *parts) { return true; }

static bool append(MlirExtParser parser, MlirExtAttributeList list, bool (*parse)(MlirExtParser, MlirAttribute *),
                   intptr_t count) {
  MlirAttribute parts[NumViewParts];
  if (!parse(parser, parts))
    return false;
  for (intptr_t i = 0; i < count; ++i)
    mlirExtAttributeListAppend(list, parts[i]);
  return true;
}
static bool parsePointer(MlirExtParser parser, MlirExtAttributeList list) {
  return append(parser, list, pointerParts, 1);
}
static bool parseTensorView(MlirExtParser parser, MlirExtAttributeList list) {
  return append(parser, list, tensorViewParts, 3);
}
static bool parseView(MlirExtParser parser, MlirExtAttributeList list) {
  return append(parser, list, viewParts, NumViewParts);
}

#define VIEW(word) {.name = word, .parse = parseView, .print = printView, .verify = verifyView}
const MlirExtParametricDefinition cudaTileTypeDefinitions[] = {
    [PointerType] = {.name = "ptr", .parse = parsePointer, .print = printPointer, .verify = verifyPointer},
    [TokenType] = {.name = "token"},
    [TensorViewType] = {.name = "tensor_view",
                        .parse = parseTensorView,
                        .print = printTensorView,
                        .verify = verifyTensorView},
    [FirstViewType + CudaTileView_Partition] = VIEW("partition_view"),
    [FirstViewType + CudaTileView_Strided] = VIEW("strided_view"),
    [FirstViewType + CudaTileView_GatherScatter] = VIEW("gather_scatter_view"),
};
const intptr_t cudaTileNumTypeDefinitions = sizeof cudaTileTypeDefinitions / sizeof *cudaTileTypeDefinitions;
// How the parts of each type are parsed, and how many they are.
static const struct {
  bool (*parse)(MlirExtParser parser, MlirAttribute *parts);
  intptr_t count;
} partsOfType[] = {
    [PointerType] = {pointerParts, 1},
    [TokenType] = {noParts, 0},
    [TensorViewType] = {tensorViewParts, 3},
    [FirstViewType + CudaTileView_Partition] = {viewParts, NumViewParts},
    [FirstViewType + CudaTileView_Strided] = {viewParts, NumViewParts},
    [FirstViewType + CudaTileView_GatherScatter] = {viewParts, NumViewParts},
};

//===--- text without the prefix ------------------------------------------------===//

static bool parseTile(MlirExtParser parser, MlirType *type) {
  int64_t sizes[CudaTileMaxRank];
  intptr_t rank;
  MlirType element;
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  if (!mlirExtParserParseToken(parser, "<") ||
      !mlirExtParserParseDimensions(parser, false, CudaTileMaxRank, sizes, &rank) || !parseElement(parser, &element))
    return false;
  if (!isElement(element))
    return tileParseFail(parser, location, "expected a tile of integers, floats or pointers");
  *type = mlirRankedTensorTypeGet(rank, sizes, element, mlirAttributeGetNull());
  return mlirExtParserParseToken(parser, ">");
}

bool cudaTileParseType(MlirExtParser parser, MlirType *type) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirStringRef word;
  if (*location == '!' || mlirExtParserParseOptionalKeyword(parser, &word) != MlirExtParse_Present)
    return mlirExtParserParseType(parser, type);
  if (tileStringEquals(word, "tile"))
    return parseTile(parser, type);
  for (intptr_t i = 0; i < cudaTileNumTypeDefinitions; ++i)
    if (tileStringEquals(word, cudaTileTypeDefinitions[i].name)) {
      MlirAttribute parts[NumViewParts];
      if (!partsOfType[i].parse(parser, parts))
        return false;
      *type = mlirExtTypeGet(mlirExtParserGetContext(parser), &cudaTileTypeDefinitions[i], partsOfType[i].count, parts);
      return !mlirTypeIsNull(*type) || tileParseFail(parser, location, "this type does not exist");
    }
  return tileParseFail(parser, location, "unknown type '%.*s'", (int)word.length, word.data);
}

static void printTile(MlirExtPrinter printer, MlirType type) {
  tilePrintText(printer, "tile<");
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    mlirExtPrinterPrintInteger(printer, mlirShapedTypeGetDimSize(type, i));
    tilePrintText(printer, "x");
  }
  printElement(printer, mlirShapedTypeGetElementType(type));
  tilePrintText(printer, ">");
}

void cudaTilePrintType(MlirExtPrinter printer, MlirType type) {
  if (mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type))
    return printTile(printer, type);
  for (intptr_t i = 0; i < cudaTileNumTypeDefinitions; ++i)
    if (isType(type, (int)i)) {
      MlirAttribute parts[NumViewParts];
      intptr_t count = mlirExtTypeGetNumParameters(type);
      for (intptr_t p = 0; p < count; ++p)
        parts[p] = mlirExtTypeGetParameter(type, p);
      tilePrintText(printer, cudaTileTypeDefinitions[i].name);
      if (cudaTileTypeDefinitions[i].print)
        cudaTileTypeDefinitions[i].print(printer, count, parts);
      return;
    }
  mlirExtPrinterPrintType(printer, type);
}

//===--- constraints ------------------------------------------------------------===//

static bool isPointers(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type) &&
         cudaTileTypeIsAPointer(mlirShapedTypeGetElementType(type));
}
static bool isPartition(MlirType type) { return kindOf(type) == CudaTileView_Partition; }
static bool isStrided(MlirType type) { return kindOf(type) == CudaTileView_Strided; }
static bool isGatherScatter(MlirType type) { return kindOf(type) == CudaTileView_GatherScatter; }

const TileConstraint cudaTileConstraints[] = {
    {"pointers", isPointers, "a tile of pointers"},
    {"token", cudaTileTypeIsAToken, "a token"},
    {"tensor view", cudaTileTypeIsATensorView, "a tensor_view"},
    {"tile view", cudaTileTypeIsAView, "a partition_view, strided_view or gather_scatter_view"},
    {"partition view", isPartition, "a partition_view"},
    {"strided view", isStrided, "a strided_view"},
    {"gather scatter view", isGatherScatter, "a gather_scatter_view"},
    {NULL},
};

static MlirType tensorOf(MlirType view) {
  return cudaTileTypeIsAView(view) ? typeOf(partOf(view, ViewTensor)) : (MlirType){NULL};
}
const TileTypeRule cudaTileRules[] = {{"tensor", tensorOf}, {NULL}};
