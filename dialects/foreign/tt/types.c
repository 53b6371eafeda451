// The types !tt.ptr and !tt.tensordesc, and what a value of a tt op may be: the names that the columns of ops.def use.
#include "dialects/foreign/tt/parts.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/assembly_parts.h"

enum { PointerType, DescriptorType };
enum { GlobalSpace = 1 };

static MlirType typeOf(MlirAttribute parameter) { return mlirTypeAttrGetValue(parameter); }

//===--- elements -------------------------------------------------------------===//

static bool isInteger(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) <= 64;
}
static bool isElement(MlirType type) {
  return isInteger(type) || mlirTypeIsAFloat(type) || (ttTypeIsAPointer(type) && !ttTypeIsABlockPointer(type));
}

// A ranked tensor of static shape without an encoding, as large as Triton allows.
static bool isTile(MlirType type) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape) || shape.rank > TtMaxRank ||
      shape.rank == 0 || !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)))
    return false;
  int64_t elements = 1;
  for (intptr_t i = 0; i < shape.rank; ++i) {
    if (shape.sizes[i] < 1 || shape.sizes[i] > TtMaxElements / elements)
      return false;
    elements *= shape.sizes[i];
  }
  return isElement(shape.element);
}

MlirType ttTypeGetElement(MlirType type) {
  MlirExtShape shape;
  return mlirTypeIsARankedTensor(type) && mlirExtTypeGetShape(type, &shape) ? shape.element : type;
}

//===--- !tt.ptr ----------------------------------------------------------------===//

bool ttTypeIsAPointer(MlirType type) { return mlirExtTypeIsA(type, &ttTypeDefinitions[PointerType]); }

MlirType ttPointerTypeGetPointee(MlirType type) { return typeOf(mlirExtTypeGetParameter(type, 0)); }

MlirType ttPointerTypeGet(MlirType pointee) {
  MlirContext context = mlirTypeGetContext(pointee);
  return mlirExtTypeGet(context, &ttTypeDefinitions[PointerType], 2,
                        (MlirAttribute[]){mlirTypeAttrGet(pointee), tileInteger(context, GlobalSpace)});
}

bool ttTypeIsABlockPointer(MlirType type) {
  return ttTypeIsAPointer(type) && mlirTypeIsARankedTensor(ttPointerTypeGetPointee(type));
}

bool ttTypeIsPointerLike(MlirType type) {
  return !ttTypeIsABlockPointer(type) && ttTypeIsAPointer(ttTypeGetElement(type));
}

// Behind the mnemonic: `<f32>`, `<f32, 3>`.
static bool parsePointerParts(MlirExtParser parser, MlirAttribute *parts) {
  MlirType pointee;
  int64_t space = GlobalSpace;
  if (!mlirExtParserParseToken(parser, "<") || !mlirExtParserParseType(parser, &pointee) ||
      (mlirExtParserParseOptionalToken(parser, ",") && !mlirExtParserParseInteger(parser, &space)) ||
      !mlirExtParserParseToken(parser, ">"))
    return false;
  parts[0] = mlirTypeAttrGet(pointee);
  parts[1] = tileInteger(mlirExtParserGetContext(parser), space);
  return true;
}

static bool parsePointer(MlirExtParser parser, MlirExtAttributeList list) {
  MlirAttribute parts[2];
  if (!parsePointerParts(parser, parts))
    return false;
  for (int i = 0; i < 2; ++i)
    mlirExtAttributeListAppend(list, parts[i]);
  return true;
}

static void printPointer(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  int64_t space = mlirIntegerAttrGetValueInt(parameters[1]);
  tilePrintText(printer, "<");
  mlirExtPrinterPrintType(printer, typeOf(parameters[0]));
  if (space != GlobalSpace) {
    tilePrintText(printer, ", ");
    mlirExtPrinterPrintInteger(printer, space);
  }
  tilePrintText(printer, ">");
}

static bool verifyPointer(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  if (count != 2 || !mlirAttributeIsAType(parameters[0]) || !mlirAttributeIsAInteger(parameters[1]))
    return tileEmit(emitter, "!tt.ptr: expected a type and an address space");
  MlirType pointee = typeOf(parameters[0]);
  if (!isElement(pointee) && !isTile(pointee))
    return tileEmit(emitter, "!tt.ptr: points to %s, expected an integer, a float, a pointer or a tile of them",
                    TT_TYPE_TEXT(pointee));
  int64_t space = mlirIntegerAttrGetValueInt(parameters[1]);
  return space == GlobalSpace ||
         tileEmit(emitter, "!tt.ptr: address space %ld, expected %d, global memory", (long)space, (int)GlobalSpace);
}

//===--- !tt.tensordesc -----------------------------------------------------------===//

bool ttTypeIsADescriptor(MlirType type) { return mlirExtTypeIsA(type, &ttTypeDefinitions[DescriptorType]); }
MlirType ttDescriptorTypeGet(MlirType block) {
  MlirAttribute part = mlirTypeAttrGet(block);
  return mlirExtTypeGet(mlirTypeGetContext(block), &ttTypeDefinitions[DescriptorType], 1, &part);
}
MlirType ttDescriptorTypeGetBlock(MlirType type) { return typeOf(mlirExtTypeGetParameter(type, 0)); }

// Triton knows the signs of a descriptor's integers; they matter to its min and max, which the conversion refuses.
static bool isBlock(MlirType type) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(type) || !mlirExtTypeGetShape(type, &shape))
    return false;
  if (!mlirTypeIsAInteger(shape.element) || mlirIntegerTypeGetWidth(shape.element) > 64)
    return isTile(type);
  MlirType signless = mlirIntegerTypeGet(mlirTypeGetContext(type), mlirIntegerTypeGetWidth(shape.element));
  return isTile(mlirRankedTensorTypeGet(shape.rank, shape.sizes, signless, mlirAttributeGetNull()));
}

// `<32x32xf16>`; older versions wrote `<tensor<32x32xf16>>`.
static bool parseDescriptorPart(MlirExtParser parser, MlirAttribute *part) {
  MlirExtSourceLocation location;
  int64_t sizes[TtMaxRank];
  intptr_t rank = 0;
  MlirType block;
  if (!mlirExtParserParseToken(parser, "<"))
    return false;
  location = mlirExtParserGetLocation(parser);
  if (*location == 't') {
    if (!mlirExtParserParseType(parser, &block))
      return false;
  } else {
    if (!mlirExtParserParseDimensions(parser, /*allowDynamic=*/false, TtMaxRank, sizes, &rank) ||
        !mlirExtParserParseType(parser, &block))
      return false;
    if (!mlirTypeIsAInteger(block) && !mlirTypeIsAFloat(block))
      return tileParseFail(parser, location, "expected a block of integers or floats");
    block = mlirRankedTensorTypeGet(rank, sizes, block, mlirAttributeGetNull());
  }
  *part = mlirTypeAttrGet(block);
  return mlirExtParserParseToken(parser, ">");
}

static bool parseDescriptor(MlirExtParser parser, MlirExtAttributeList list) {
  MlirAttribute part;
  if (!parseDescriptorPart(parser, &part))
    return false;
  mlirExtAttributeListAppend(list, part);
  return true;
}

static void printDescriptor(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  MlirExtShape shape;
  mlirExtTypeGetShape(typeOf(parameters[0]), &shape);
  tilePrintText(printer, "<");
  for (intptr_t i = 0; i < shape.rank; ++i) {
    mlirExtPrinterPrintInteger(printer, shape.sizes[i]);
    tilePrintText(printer, "x");
  }
  mlirExtPrinterPrintType(printer, shape.element);
  tilePrintText(printer, ">");
}

static bool verifyDescriptor(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  return (count == 1 && mlirAttributeIsAType(parameters[0]) && isBlock(typeOf(parameters[0]))) ||
         tileEmit(emitter, "!tt.tensordesc: expected a block of at most %d integers or floats, of rank 1 to %d",
                  (int)TtMaxElements, (int)TtMaxRank);
}

const MlirExtParametricDefinition ttTypeDefinitions[] = {
    [PointerType] = {.name = "ptr", .parse = parsePointer, .print = printPointer, .verify = verifyPointer},
    [DescriptorType] = {.name = "tensordesc",
                        .parse = parseDescriptor,
                        .print = printDescriptor,
                        .verify = verifyDescriptor},
};
const intptr_t ttNumTypeDefinitions = sizeof ttTypeDefinitions / sizeof *ttTypeDefinitions;

//===--- short forms: `<f32>` where only one kind of type may stand ------------------===//

static bool isShort(MlirExtParser parser) { return *mlirExtParserGetLocation(parser) == '<'; }

// A type whose parameters are wrong has been reported, at no place.
static bool give(MlirExtParser parser, MlirExtSourceLocation location, MlirType made, MlirType *type) {
  *type = made;
  return !mlirTypeIsNull(made) || tileParseFail(parser, location, "not a type that can stand here");
}

bool ttParseShortPointer(MlirExtParser parser, MlirType *type) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute parts[2];
  if (!isShort(parser))
    return mlirExtParserParseType(parser, type);
  return parsePointerParts(parser, parts) &&
         give(parser, location,
              mlirExtTypeGet(mlirExtParserGetContext(parser), &ttTypeDefinitions[PointerType], 2, parts), type);
}

bool ttParseShortDescriptor(MlirExtParser parser, MlirType *type) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute part;
  if (!isShort(parser))
    return mlirExtParserParseType(parser, type);
  return parseDescriptorPart(parser, &part) &&
         give(parser, location,
              mlirExtTypeGet(mlirExtParserGetContext(parser), &ttTypeDefinitions[DescriptorType], 1, &part), type);
}

void ttPrintShort(MlirExtPrinter printer, MlirType type) {
  MlirAttribute parts[2] = {mlirExtTypeGetParameter(type, 0)};
  if (ttTypeIsADescriptor(type)) {
    printDescriptor(printer, 1, parts);
    return;
  }
  parts[1] = mlirExtTypeGetParameter(type, 1);
  printPointer(printer, 2, parts);
}

//===--- constraints ----------------------------------------------------------------===//

#define LIKE(Name, condition)                                                                                          \
  static bool is##Name(MlirType type) {                                                                                \
    MlirType element = ttTypeGetElement(type);                                                                         \
    return (!mlirTypeIsARankedTensor(type) || isTile(type)) && (condition);                                            \
  }
#define TILE(Name, condition)                                                                                          \
  static bool is##Name(MlirType type) {                                                                                \
    MlirType element = ttTypeGetElement(type);                                                                         \
    return isTile(type) && (condition);                                                                                \
  }
static bool isWidth(MlirType element, unsigned width) {
  return isInteger(element) && mlirIntegerTypeGetWidth(element) == width;
}
LIKE(Value, isElement(element))
LIKE(FloatLike, mlirTypeIsAFloat(element))
LIKE(F32Like, mlirTypeIsAF32(element))
LIKE(IntegerLike, isInteger(element))
LIKE(I1Like, isWidth(element, 1))
LIKE(I64Like, isWidth(element, 64))
LIKE(PointerLike, ttTypeIsAPointer(element) && !ttTypeIsABlockPointer(element))
TILE(TileOfValues, isElement(element))
TILE(IntegerTile, isInteger(element))
TILE(NumberTile, isInteger(element) || mlirTypeIsAFloat(element))
TILE(FloatTile, mlirTypeIsAFloat(element))
static bool isPointer(MlirType type) { return ttTypeIsAPointer(type) && !ttTypeIsABlockPointer(type); }
static bool isAccess(MlirType type) { return isPointerLike(type) || ttTypeIsABlockPointer(type); }
static bool isOffset(MlirType type) { return isWidth(type, 32); }

const TileConstraint ttConstraints[] = {
    {"value", isValue, "an integer, a float, a pointer, or a tile of them of at most 2^20 elements"},
    {"tile of values", isTileOfValues, "a tile of integers, floats or pointers, of at most 2^20 elements"},
    {"float value", isFloatLike, "a float or a tile of floats"},
    {"f32 value", isF32Like, "f32 or a tile of f32"},
    {"integer value", isIntegerLike, "a signless integer or a tile of them"},
    {"i1 value", isI1Like, "i1 or a tile of i1"},
    {"i64 value", isI64Like, "i64 or a tile of i64"},
    {"pointers", isPointerLike, "a pointer or a tile of pointers"},
    {"numbers", isNumberTile, "a tile of integers or floats"},
    {"integers", isIntegerTile, "a tile of integers"},
    {"floats", isFloatTile, "a tile of floats"},
    {"pointer", isPointer, "a pointer to an element"},
    {"block pointer", ttTypeIsABlockPointer, "a pointer to a tile"},
    {"access", isAccess, "a pointer, a tile of pointers or a pointer to a tile"},
    {"descriptor", ttTypeIsADescriptor, "a !tt.tensordesc"},
    {"offset", isOffset, "i32"},
    {NULL},
};

//===--- rules ------------------------------------------------------------------------===//

static MlirType withElement(MlirType like, MlirType element) {
  MlirExtShape shape;
  if (!mlirTypeIsARankedTensor(like) || !mlirExtTypeGetShape(like, &shape))
    return element;
  return mlirRankedTensorTypeGet(shape.rank, shape.sizes, element, mlirAttributeGetNull());
}

static MlirType pointeeOf(MlirType type) {
  MlirType element = ttTypeGetElement(type);
  return ttTypeIsAPointer(element) ? withElement(type, ttPointerTypeGetPointee(element)) : (MlirType){NULL};
}

// The pointer to the first element that a block pointer is made from.
static MlirType baseOf(MlirType type) {
  return ttTypeIsABlockPointer(type) ? ttPointerTypeGet(ttTypeGetElement(ttPointerTypeGetPointee(type)))
                                     : (MlirType){NULL};
}

const TileTypeRule ttRules[] = {{"pointee", pointeeOf}, {"base", baseOf}, {NULL}};

int64_t ttScaledOf(MlirType element) {
  return mlirTypeIsAFloat8E4M3FN(element)   ? TtScaled_E4M3
         : mlirTypeIsAFloat8E5M2(element)   ? TtScaled_E5M2
         : mlirTypeIsAFloat4E2M1FN(element) ? TtScaled_E2M1
                                            : -1;
}
