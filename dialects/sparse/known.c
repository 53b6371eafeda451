// #sparse.attribute: what is known of a tensor's elements, independent of how they are stored (SparTA, OSDI 2022, whose
// one bit merges what is separate here: elements that are zero, and elements that are not read). Any op carries the
// attribute for its result as `sparse.attribute`; an argument of a function carries it among the argument's attributes.
//
//   #sparse.attribute<grain = [32, 32], zero = dense<[[true, false]]> : tensor<1x2xi1>>
//
// One element of each map speaks for a rectangle of the tensor, of sizes `grain`, cut off at its end. zero: all of it
// is zero, of either sign. dead: none of it is read. bits: the width that holds each value (an integer with its sign).
#include "dialects/sparse/definitions.h"
#include "lib/ir/assembly_parts.h"

enum { Grain, Zero, Dead, Bits, NumKeys, MaxRank = SparseMaxRank };
static const char *const keys[] = {"grain", "zero", "dead", "bits", NULL};

//===--- text ---------------------------------------------------------------===//

static bool parseValue(MlirExtParser parser, int key, const void *data, MlirAttribute *value) {
  return mlirExtParserParseToken(parser, "=") &&
         (key == Grain ? tileParseIntegers(parser, /*allowUnknown=*/false, value)
                       : tileParseAnyAttribute(parser, value));
}

bool sparseKnownParse(MlirExtParser parser, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute values[NumKeys] = {{NULL}};
  if (!mlirExtParserParseToken(parser, "<") ||
      !tileParseKeys(parser, "#sparse.attribute", keys, parseValue, NULL, values))
    return false;
  if (mlirAttributeIsNull(values[Grain]))
    return tileParseFail(parser, location, "#sparse.attribute without 'grain'");
  MlirAttribute nothing = mlirUnitAttrGet(mlirExtParserGetContext(parser));
  for (int key = 0; key < NumKeys; ++key)
    mlirExtAttributeListAppend(list, !mlirAttributeIsNull(values[key]) ? values[key] : nothing);
  return true;
}

static bool isGiven(MlirAttribute value) { return !mlirAttributeIsAUnit(value); }

void sparseKnownPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values) {
  tilePrintText(printer, "<grain = ");
  tilePrintIntegers(printer, values[Grain]);
  for (int key = Zero; key < NumKeys; ++key) {
    if (!isGiven(values[key]))
      continue;
    tilePrintText(printer, ", ");
    tilePrintText(printer, keys[key]);
    tilePrintText(printer, " = ");
    mlirExtPrinterPrintAttribute(printer, values[key]);
  }
  tilePrintText(printer, ">");
}

//===--- verifiers ----------------------------------------------------------===//

static bool verifyGrain(MlirExtEmitter emitter, MlirAttribute grain) {
  intptr_t rank = mlirAttributeIsADenseI64Array(grain) ? mlirDenseArrayGetNumElements(grain) : 0;
  if (rank < 1 || rank > MaxRank)
    return tileEmit(emitter, "grain of #sparse.attribute has %ld sizes, expected 1 to %d", (long)rank, MaxRank);
  for (intptr_t axis = 0; axis < rank; ++axis)
    if (mlirDenseI64ArrayGetElement(grain, axis) < 1)
      return tileEmit(emitter, "size %ld of grain of #sparse.attribute is %ld, expected at least 1", (long)axis,
                      (long)mlirDenseI64ArrayGetElement(grain, axis));
  return true;
}

static bool verifyBits(MlirExtEmitter emitter, MlirAttribute bits) {
  bool isSplat = mlirDenseElementsAttrIsSplat(bits);
  for (int64_t i = 0; i < (isSplat ? 1 : mlirElementsAttrGetNumElements(bits)); ++i) {
    int seen = isSplat ? mlirDenseElementsAttrGetInt8SplatValue(bits) : mlirDenseElementsAttrGetInt8Value(bits, i);
    if (seen < 1 || seen > 64)
      return tileEmit(emitter, "element %ld of bits of #sparse.attribute is %d, expected 1 to 64", (long)i, seen);
  }
  return true;
}

// A map: dense, as many axes as the grain, of i1 (bits: i8), of the first map's shape.
static bool verifyMap(MlirExtEmitter emitter, int key, MlirAttribute map, intptr_t rank, MlirType first) {
  char text[128];
  unsigned width = key == Bits ? 8 : 1;
  MlirType type = mlirAttributeIsADenseElements(map) ? mlirAttributeGetType(map) : (MlirType){NULL};
  MlirType element = !mlirTypeIsNull(type) ? mlirShapedTypeGetElementType(type) : type;
  if (mlirTypeIsNull(type) || !mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != rank ||
      !mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != width)
    return tileEmit(emitter, "%s of #sparse.attribute is %s, expected a dense tensor of i%u of rank %ld", keys[key],
                    !mlirTypeIsNull(type) ? tileTypeText(type, text, sizeof text)
                                          : tileAttributeText(map, text, sizeof text),
                    width, (long)rank);
  for (intptr_t axis = 0; !mlirTypeIsNull(first) && axis < rank; ++axis)
    if (mlirShapedTypeGetDimSize(type, axis) != mlirShapedTypeGetDimSize(first, axis))
      return tileEmit(emitter, "%s of #sparse.attribute has size %ld along axis %ld, expected %ld as the map before it",
                      keys[key], (long)mlirShapedTypeGetDimSize(type, axis), (long)axis,
                      (long)mlirShapedTypeGetDimSize(first, axis));
  return key != Bits || verifyBits(emitter, map);
}

bool sparseKnownVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values) {
  MlirType first = {NULL};
  if (count != NumKeys)
    return tileEmit(emitter, "#sparse.attribute has %ld parameters, expected %d", (long)count, NumKeys);
  if (!verifyGrain(emitter, values[Grain]))
    return false;
  for (int key = Zero; key < NumKeys; ++key) {
    if (!isGiven(values[key]))
      continue;
    if (!verifyMap(emitter, key, values[key], mlirDenseArrayGetNumElements(values[Grain]), first))
      return false;
    first = mlirAttributeGetType(values[key]);
  }
  return !mlirTypeIsNull(first) || tileEmit(emitter, "#sparse.attribute says nothing, expected zero, dead or bits");
}

//===--- from C -------------------------------------------------------------===//

bool sparseAttributeIsKnown(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && mlirExtAttributeIsA(attribute, sparseKnownDefinition);
}

MlirAttribute sparseKnownMake(MlirContext context, intptr_t rank, const int64_t *grain, MlirAttribute zero,
                              MlirAttribute dead, MlirAttribute bits) {
  MlirAttribute values[NumKeys] = {mlirDenseI64ArrayGet(context, rank, grain), zero, dead, bits};
  for (int key = 0; key < NumKeys; ++key)
    values[key] = !mlirAttributeIsNull(values[key]) ? values[key] : mlirUnitAttrGet(context);
  return mlirExtAttributeGet(context, sparseKnownDefinition, NumKeys, values);
}

intptr_t sparseKnownGetRank(MlirAttribute known) {
  return mlirDenseArrayGetNumElements(mlirExtAttributeGetParameter(known, Grain));
}

int64_t sparseKnownGetGrain(MlirAttribute known, intptr_t axis) {
  return mlirDenseI64ArrayGetElement(mlirExtAttributeGetParameter(known, Grain), axis);
}

MlirAttribute sparseKnownGetMap(MlirAttribute known, SparseKnownKey key) {
  MlirAttribute map = mlirExtAttributeGetParameter(known, (intptr_t)key);
  return isGiven(map) ? map : mlirAttributeGetNull();
}

//===--- on ops -------------------------------------------------------------===//

static MlirAttribute firstMap(MlirAttribute known) {
  int key = Zero;
  while (!isGiven(mlirExtAttributeGetParameter(known, key)))
    ++key;
  return mlirExtAttributeGetParameter(known, key);
}

// One rectangle for each that the op's result consists of.
static bool verifyFits(MlirOperation op, MlirAttribute known) {
  MlirType type = mlirOperationGetNumResults(op) == 1 ? tileOnlyResultType(op) : (MlirType){NULL};
  MlirAttribute grain = mlirExtAttributeGetParameter(known, Grain);
  MlirType map = mlirAttributeGetType(firstMap(known));
  if (mlirTypeIsNull(type) || !mlirTypeIsARankedTensor(type))
    return tileError(op, "carries a #sparse.attribute, which speaks of the result of an op that has one tensor");
  intptr_t rank = mlirShapedTypeGetRank(type);
  if (rank != mlirDenseArrayGetNumElements(grain))
    return tileError(op, "its #sparse.attribute has rank %d, expected that of the result, %d",
                     (int)mlirDenseArrayGetNumElements(grain), (int)rank);
  for (intptr_t axis = 0; axis < rank; ++axis) {
    int64_t size = mlirShapedTypeGetDimSize(type, axis), by = mlirDenseI64ArrayGetElement(grain, axis);
    int64_t seen = mlirShapedTypeGetDimSize(map, axis);
    if (!mlirShapedTypeIsDynamicSize(size) && seen != size / by + (size % by > 0))
      return tileError(op,
                       "its #sparse.attribute has size %ld along axis %d, expected %ld for %ld elements, %ld at a time",
                       (long)seen, (int)axis, (long)(size / by + (size % by > 0)), (long)size, (long)by);
  }
  return true;
}

bool sparseVerifyOpAttribute(MlirOperation op, MlirNamedAttribute attribute) {
  MlirStringRef name = mlirIdentifierStr(attribute.name);
  char text[256];
  if (tileStringEquals(name, sparseMicroTilesName))
    return sparseVerifyMicroTiles(op, attribute.attribute);
  if (!tileStringEquals(name, "sparse.attribute"))
    return tileError(op, "unknown attribute '%.*s', expected sparse.attribute or sparse.micro_tiles", (int)name.length,
                     name.data);
  if (!mlirExtAttributeIsA(attribute.attribute, sparseKnownDefinition))
    return tileError(op, "attribute 'sparse.attribute' is %s, expected a #sparse.attribute",
                     tileAttributeText(attribute.attribute, text, sizeof text));
  return verifyFits(op, attribute.attribute);
}
