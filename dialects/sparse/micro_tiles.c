// #sparse.micro_tiles: how a product gathers what a run-time mask names (PIT, SOSP 2023). A product over a #sparse.mask
// carries it as `sparse.micro_tiles`; a person may write it, sparse-find-masks does.
//
//   #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80, entry_cost = 300>
//
// A micro-tile is `by` neighbours along `axis` of `lines` lines of the masked factor. It is gathered whole if the mask
// names an element of it; what the mask hides in it counts as zero. Where more than `dense_above` percent of the
// micro-tiles are gathered, the dense product runs instead. Where the mask has an element for each of the matrix, the
// program may cover it: an element that is multiplied singly counts `entry_cost` percent of one in a micro-tile, and
// where that is less than a micro-tile, its elements are listed singly. With 0, which is not printed, none are.
#include "dialects/sparse/definitions.h"
#include "dialects/sparse/ops.h"
#include "lib/ir/assembly_parts.h"

enum { Axis, By, Lines, DenseAbove, EntryCost, NumKeys };
static const char *const keys[] = {"axis", "by", "lines", "dense_above", "entry_cost", NULL};
static const int64_t fallbacks[] = {-1, 1, -1, 80, 0}; // -1: none

//===--- text ---------------------------------------------------------------===//

static bool parseValue(MlirExtParser parser, int key, const void *data, MlirAttribute *value) {
  int64_t number;
  if (!mlirExtParserParseToken(parser, "=") || !mlirExtParserParseInteger(parser, &number))
    return false;
  *value = tileInteger(mlirExtParserGetContext(parser), number);
  return true;
}

bool sparseMicroTilesParse(MlirExtParser parser, MlirExtAttributeList list) {
  MlirExtSourceLocation location = mlirExtParserGetLocation(parser);
  MlirAttribute values[NumKeys] = {{NULL}};
  if (!mlirExtParserParseToken(parser, "<") ||
      !tileParseKeys(parser, "#sparse.micro_tiles", keys, parseValue, NULL, values))
    return false;
  for (int key = 0; key < NumKeys; ++key) {
    bool isGiven = !mlirAttributeIsNull(values[key]);
    if (!isGiven && fallbacks[key] < 0)
      return tileParseFail(parser, location, "#sparse.micro_tiles without '%s'", keys[key]);
    mlirExtAttributeListAppend(list,
                               isGiven ? values[key] : tileInteger(mlirExtParserGetContext(parser), fallbacks[key]));
  }
  return true;
}

static int64_t number(MlirAttribute value) { return mlirIntegerAttrGetValueInt(value); }

void sparseMicroTilesPrint(MlirExtPrinter printer, intptr_t count, const MlirAttribute *values) {
  char text[160];
  int length = snprintf(text, sizeof text, "<axis = %lld, by = %lld, lines = %lld, dense_above = %lld",
                        (long long)number(values[Axis]), (long long)number(values[By]),
                        (long long)number(values[Lines]), (long long)number(values[DenseAbove]));
  if (number(values[EntryCost]))
    length += snprintf(text + length, sizeof text - (size_t)length, ", entry_cost = %lld",
                       (long long)number(values[EntryCost]));
  snprintf(text + length, sizeof text - (size_t)length, ">");
  tilePrintText(printer, text);
}

bool sparseMicroTilesVerify(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *values) {
  static const int64_t least[] = {0, 1, 1, 0, 0}, most[] = {1, 1 << 20, 1 << 20, 100, 1 << 20};
  if (count != NumKeys)
    return tileEmit(emitter, "#sparse.micro_tiles has %ld parameters, expected %d", (long)count, NumKeys);
  for (int key = 0; key < NumKeys; ++key)
    if (number(values[key]) < least[key] || number(values[key]) > most[key])
      return tileEmit(emitter, "%s of #sparse.micro_tiles is %lld, expected %lld to %lld", keys[key],
                      (long long)number(values[key]), (long long)least[key], (long long)most[key]);
  return true;
}

//===--- from C -------------------------------------------------------------===//

const char sparseMicroTilesName[] = "sparse.micro_tiles";

MlirAttribute sparseMicroTilesMake(MlirContext context, SparseMicroTiles tiles) {
  const MlirAttribute values[] = {tileInteger(context, tiles.axis), tileInteger(context, tiles.by),
                                  tileInteger(context, tiles.lines), tileInteger(context, tiles.denseAbove),
                                  tileInteger(context, tiles.entryCost)};
  return mlirExtAttributeGet(context, sparseMicroTilesDefinition, NumKeys, values);
}

bool sparseMicroTilesOf(MlirOperation op, SparseMicroTiles *tiles) {
  MlirAttribute attribute = tileOpAttribute(op, sparseMicroTilesName);
  if (mlirAttributeIsNull(attribute))
    return false;
  int64_t values[NumKeys];
  for (int key = 0; key < NumKeys; ++key)
    values[key] = number(mlirExtAttributeGetParameter(attribute, key));
  *tiles = (SparseMicroTiles){values[Axis], values[By], values[Lines], values[DenseAbove], values[EntryCost]};
  return true;
}

//===--- on ops -------------------------------------------------------------===//

// The masked factor of a product, and whole tiles of its mask in each micro-tile. Along axis 0 of the left factor lie
// lines of the result, along axis 1 terms of a sum: both may be permuted, and only axis 1 is gathered in the kernel.
bool sparseVerifyMicroTiles(MlirOperation op, MlirAttribute attribute) {
  char text[160];
  SparseMicroTiles tiles;
  if (!mlirExtAttributeIsA(attribute, sparseMicroTilesDefinition))
    return tileError(op, "attribute 'sparse.micro_tiles' is %s, expected a #sparse.micro_tiles",
                     tileAttributeText(attribute, text, sizeof text));
  MlirAttribute encoding =
      sparseSpmmOpIsA(op) ? sparseTypeGetEncoding(sparseSpmmOpGetLhsType(op)) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(encoding) || !sparseEncodingIs(encoding, SparseScheme_Tiles) ||
      !mlirAttributeIsNull(tileOpAttribute(op, "transpose_lhs")))
    return tileError(op, "carries #sparse.micro_tiles, which a sparse.spmm may whose left factor is a #sparse.mask, "
                         "not transposed");
  sparseMicroTilesOf(op, &tiles);
  int64_t height = sparseEncodingGetSize(encoding, "tile", 0), width = sparseEncodingGetSize(encoding, "tile", 1);
  if (tiles.axis != 1)
    return tileError(op, "micro-tiles along axis %lld of the left factor, expected axis 1, that of the sum",
                     (long long)tiles.axis);
  if (tiles.by != width || tiles.lines % height)
    return tileError(
        op, "micro-tiles of %lld lines by %lld, expected a multiple of %lld lines by %lld, the tiles of the mask",
        (long long)tiles.lines, (long long)tiles.by, (long long)height, (long long)width);
  return true;
}
