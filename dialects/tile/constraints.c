// What the values and attributes of the Tile ops may be: the names that the columns of ops.def use, beside the builtin
// ones of lib/ir/op_table.h. Each description is what a message and the reference page say.
#include "dialects/tile/definitions.h"
#include "dialects/tile/quantized.h"

//===--- values -------------------------------------------------------------===//

static bool isTileOrScalar(MlirType type) { return tileTypeIsATile(type) || tileTypeIsAScalar(type); }
static bool isI1(MlirType type) { return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1; }
static bool isI1TileOrScalar(MlirType type) { return isTileOrScalar(type) && isI1(tileTypeGetElement(type)); }

static bool isIntegerTile(MlirType type) {
  MlirType element = tileTypeIsATile(type) ? tileTypeGetElement(type) : (MlirType){NULL};
  return !mlirTypeIsNull(element) && (mlirTypeIsAInteger(element) || mlirTypeIsAIndex(element));
}
static bool isIndexOrIndexTile(MlirType type) { return mlirTypeIsAIndex(type) || isIntegerTile(type); }

static bool isMemory(MlirType type) { return mlirTypeIsAMemRef(type) || tileTypeIsAView(type); }
static bool isMemoryOrTile(MlirType type) { return isMemory(type) || isTileOrScalar(type); }
static bool isTensor(MlirType type) { return mlirTypeIsARankedTensor(type); }
static bool isTensorOrMemref(MlirType type) { return isTensor(type) || mlirTypeIsAMemRef(type); }
static bool isViewOrBuffer(MlirType type) { return tileTypeIsAView(type) || tileTypeIsABuffer(type); }
static bool isMadeByAlloc(MlirType type) {
  return tileTypeIsABuffer(type) || tileTypeIsABarrier(type) || mlirTypeIsAMemRef(type);
}
static bool isTileOrBuffer(MlirType type) { return tileTypeIsATile(type) || tileTypeIsABuffer(type); }
static bool isTileScalarOrBuffer(MlirType type) { return isTileOrScalar(type) || tileTypeIsABuffer(type); }

static bool isTileScalarOrMemref(MlirType type) { return isTileOrScalar(type) || mlirTypeIsAMemRef(type); }

const TileConstraint tileConstraints[] = {
    {"tile", tileTypeIsATile, "a tile (a ranked tensor of static shape and rank at least 1)"},
    {"tile or scalar", isTileOrScalar, "a tile or a scalar"},
    {"tile or scalar or memref", isTileScalarOrMemref, "a tile, a scalar or a memref"},
    {"i1 tile or scalar", isI1TileOrScalar, "a tile of i1 or an i1"},
    {"integer tile", isIntegerTile, "a tile of integers or index"},
    {"index or index tile", isIndexOrIndexTile, "an index, or a tile of integers or index"},
    {"memory or tile", isMemoryOrTile, "a view, a memref, a tile or a scalar"},
    {"tensor", isTensor, "a ranked tensor"},
    {"quantized", tileTypeIsQuantized, "a tensor with the encoding #tile.quantized"},
    {"tensor or memref", isTensorOrMemref, "a ranked tensor or a memref"},
    {"view", tileTypeIsAView, "a !tile.view"},
    {"buffer", tileTypeIsABuffer, "a !tile.buffer"},
    {"barrier", tileTypeIsABarrier, "a !tile.barrier"},
    {"token", tileTypeIsAToken, "a !tile.token", tileTokenTypeGet},
    {"view or buffer", isViewOrBuffer, "a !tile.view or a !tile.buffer"},
    {"buffer or memref or barrier", isMadeByAlloc, "a !tile.buffer, a memref or a !tile.barrier"},
    {"tile or buffer", isTileOrBuffer, "a tile or a !tile.buffer"},
    {"tile or scalar or buffer", isTileScalarOrBuffer, "a tile, a scalar or a !tile.buffer"},
    {NULL},
};

//===--- attributes ---------------------------------------------------------===//

const char *const tileCombineNames[] = {"add", "max", "min", "umax", "umin", "and", "or", "xor", NULL};
const char *const tileAtomicNames[] = {"add", "fadd", "max", "min", "umax", "umin", "and", "or", "xor", "xchg", NULL};
const char *const tileOrderNames[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
const char *const tileScopeNames[] = {"block", "cluster", "device", "system", NULL};
const char *const tileBoundsNames[] = {"trap", "clamp", "drop", NULL};
const char *const tilePadNames[] = {"zero", "neg_zero", "nan", "inf", "neg_inf", NULL};
const char *const tileLevelNames[] = {"register", "shared", "local", "tmem", "global", NULL};
const char *const tilePrecisionNames[] = {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", NULL};
const char *const tileRoundingNames[] = {"nearest_even", "nearest_away", "toward_zero", "down",
                                         "up",           "stochastic",   NULL};
const char *const tileFenceNames[] = {"async", "acquire", "release", "acq_rel", NULL};

static bool isLevel(MlirAttribute attribute) {
  return mlirAttributeIsAString(attribute) && tileIsOneOf(mlirStringAttrGetValue(attribute), tileLevelNames);
}

static bool isLevelArray(MlirAttribute attribute) {
  if (!mlirAttributeIsAArray(attribute))
    return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i)
    if (!isLevel(mlirArrayAttrGetElement(attribute, i)))
      return false;
  return true;
}

static bool parseLevel(MlirExtParser parser, intptr_t number, void *levels) {
  return tileParseOneOf(parser, "memory level", tileLevelNames, (MlirAttribute *)levels + number);
}

// `[shared, global]`
static bool parseLevels(MlirExtParser parser, MlirAttribute *attribute) {
  MlirAttribute levels[TILE_MAX_LIST];
  intptr_t count;
  if (!tileParseList(parser, "memory levels", parseLevel, levels, &count))
    return false;
  *attribute = mlirArrayAttrGet(mlirExtParserGetContext(parser), count, levels);
  return true;
}

static void printLevels(MlirExtPrinter printer, MlirAttribute attribute) {
  tilePrintText(printer, "[");
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); ++i) {
    tilePrintText(printer, i ? ", " : "");
    tilePrintWord(printer, mlirArrayAttrGetElement(attribute, i));
  }
  tilePrintText(printer, "]");
}

static bool parseKnown(MlirExtParser parser, MlirAttribute *attribute) {
  return tileParseIntegers(parser, /*allowUnknown=*/true, attribute);
}

const TileAttributeKind tileAttributeKinds[] = {
    {"combine", .description = "how a value is combined with memory", .keywords = tileCombineNames},
    {"atomic", .description = "an atomic operation", .keywords = tileAtomicNames},
    {"order", .description = "a memory order", .keywords = tileOrderNames},
    {"scope", .description = "who takes part", .keywords = tileScopeNames},
    {"bounds", .description = "what happens outside memory", .keywords = tileBoundsNames},
    {"precision", .description = "how f32 factors are split", .keywords = tilePrecisionNames},
    {"rounding", .description = "a rounding mode", .keywords = tileRoundingNames},
    {"fence", .description = "a kind of fence", .keywords = tileFenceNames},
    {"level array", isLevelArray, "an array of memory levels (register, shared, local, tmem or global)", parseLevels,
     printLevels},
    {"known array", mlirAttributeIsADenseI64Array, "an i64 array in which `_` says nothing", parseKnown,
     tilePrintIntegers},
    {"schedule", tileAttributeIsASchedule, "a #tile.schedule"},
    {"machine", tileAttributeIsAMachine, "a #tile.machine"},
    {"layout", tileAttributeIsALayout, "a #tile.layout"},
    {NULL},
};
