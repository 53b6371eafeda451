// Enum attributes: i32, as Triton stores them, printed as words; and #tt.cache_policy.
#include "dialects/foreign/tt/parts.h"
#include "dialects/foreign/tt/tt.h"
#include "lib/ir/assembly_parts.h"

typedef struct Words {
  const char *what;
  int64_t first; // value of the first word; the others follow
  const char *words[12];
} Words;

enum {
  ProgramDim,
  CacheModifier,
  EvictionPolicy,
  Padding,
  Rmw,
  ReduceKind,
  Semantic,
  Scope,
  Rounding,
  Precision,
  ScaledElement,
};
static const Words words[] = {
    [ProgramDim] = {"axis", 0, {"x", "y", "z"}},
    [CacheModifier] = {"cache modifier", 1, {"none", "ca", "cg", "wb", "cs", "wt", "cv"}},
    [EvictionPolicy] = {"eviction policy", 1, {"evict_normal", "evict_first", "evict_last"}},
    [Padding] = {"padding", 1, {"zero", "nan"}},
    [Rmw] = {"atomic operation", 1, {"and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch"}},
    [ReduceKind] = {"reduction", 1, {"add", "min", "max", "inc", "dec", "and", "or", "xor"}},
    [Semantic] = {"memory semantic", 1, {"relaxed", "acquire", "release", "acq_rel"}},
    [Scope] = {"scope", 1, {"gpu", "cta", "sys"}},
    [Rounding] = {"rounding", 0, {"rtz", "rtne"}},
    [Precision] = {"precision", 0, {"tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"}},
    [ScaledElement] = {"element of a scaled product", 0, {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "bf16", "fp16"}},
};
enum { AllNans = 0xFFFF }; // propagateNan = all

static MlirAttribute number(MlirExtParser parser, int64_t value) {
  return mlirIntegerAttrGet(mlirIntegerTypeGet(mlirExtParserGetContext(parser), 32), value);
}

static bool isI32(MlirAttribute attribute) {
  MlirType type = mlirAttributeIsAInteger(attribute) ? mlirAttributeGetType(attribute) : (MlirType){NULL};
  return !mlirTypeIsNull(type) && mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32;
}

static bool isWord(MlirAttribute attribute, const Words *of) {
  int64_t value = isI32(attribute) ? mlirIntegerAttrGetValueInt(attribute) - of->first : -1;
  return value >= 0 && value < (int64_t)(sizeof of->words / sizeof *of->words) && of->words[value];
}

static bool parseWord(MlirExtParser parser, MlirAttribute *attribute, const Words *of) {
  MlirAttribute word;
  if (!tileParseOneOf(parser, of->what, of->words, &word))
    return false;
  for (int64_t i = 0; of->words[i]; ++i)
    if (tileStringEquals(mlirStringAttrGetValue(word), of->words[i]))
      *attribute = number(parser, of->first + i);
  return true;
}

static void printWord(MlirExtPrinter printer, MlirAttribute attribute, const Words *of) {
  tilePrintText(printer, of->words[mlirIntegerAttrGetValueInt(attribute) - of->first]);
}

#define WORD(Kind)                                                                                                     \
  static bool is##Kind(MlirAttribute attribute) { return isWord(attribute, &words[Kind]); }                            \
  static bool parse##Kind(MlirExtParser parser, MlirAttribute *attribute) {                                            \
    return parseWord(parser, attribute, &words[Kind]);                                                                 \
  }                                                                                                                    \
  static void print##Kind(MlirExtPrinter printer, MlirAttribute attribute) {                                           \
    printWord(printer, attribute, &words[Kind]);                                                                       \
  }
WORD(ProgramDim)
WORD(CacheModifier)
WORD(EvictionPolicy)
WORD(Padding)
WORD(Rmw)
WORD(ReduceKind)
WORD(Semantic)
WORD(Scope)
WORD(Rounding)
WORD(Precision)
WORD(ScaledElement)

// none is 0 and all is 0xFFFF.
static const char *const nans[] = {"none", "all", NULL};
static bool isNans(MlirAttribute attribute) {
  return isI32(attribute) &&
         (mlirIntegerAttrGetValueInt(attribute) == 0 || mlirIntegerAttrGetValueInt(attribute) == AllNans);
}
static bool parseNans(MlirExtParser parser, MlirAttribute *attribute) {
  MlirAttribute word;
  if (!tileParseOneOf(parser, "propagation of nan", nans, &word))
    return false;
  *attribute = number(parser, tileStringEquals(mlirStringAttrGetValue(word), nans[1]) ? AllNans : 0);
  return true;
}
static void printNans(MlirExtPrinter printer, MlirAttribute attribute) {
  tilePrintText(printer, nans[mlirIntegerAttrGetValueInt(attribute) != 0]);
}

#define ROW(Kind, name) {name, is##Kind, "an i32 that stands for a word", parse##Kind, print##Kind}
const TileAttributeKind ttAttributeKinds[] = {
    ROW(ProgramDim, "program dim"),
    ROW(CacheModifier, "cache modifier"),
    ROW(EvictionPolicy, "eviction policy"),
    ROW(Padding, "padding"),
    ROW(Rmw, "atomic"),
    ROW(ReduceKind, "reduction"),
    ROW(Semantic, "semantic"),
    ROW(Scope, "scope"),
    ROW(Rounding, "rounding"),
    ROW(Precision, "precision"),
    ROW(ScaledElement, "scaled element"),
    ROW(Nans, "nans"),
    {NULL},
};

//===--- #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal> ---===//

static bool parseField(MlirExtParser parser, MlirExtAttributeList list, const char *name, const Words *of) {
  MlirAttribute value;
  if (!mlirExtParserParseToken(parser, name) || !mlirExtParserParseToken(parser, "=") || !parseWord(parser, &value, of))
    return false;
  mlirExtAttributeListAppend(list, value);
  return true;
}

static bool parsePolicy(MlirExtParser parser, MlirExtAttributeList list) {
  return mlirExtParserParseToken(parser, "<") && parseField(parser, list, "cache_modifier", &words[CacheModifier]) &&
         mlirExtParserParseToken(parser, ",") && parseField(parser, list, "eviction_policy", &words[EvictionPolicy]) &&
         mlirExtParserParseToken(parser, ">");
}

static void printPolicy(MlirExtPrinter printer, intptr_t count, const MlirAttribute *parameters) {
  tilePrintText(printer, "<cache_modifier = ");
  printCacheModifier(printer, parameters[0]);
  tilePrintText(printer, ", eviction_policy = ");
  printEvictionPolicy(printer, parameters[1]);
  tilePrintText(printer, ">");
}

static bool verifyPolicy(MlirExtEmitter emitter, intptr_t count, const MlirAttribute *parameters) {
  return (count == 2 && isCacheModifier(parameters[0]) && isEvictionPolicy(parameters[1])) ||
         tileEmit(emitter, "#tt.cache_policy: expected a cache modifier and an eviction policy");
}

const MlirExtParametricDefinition ttAttributeDefinitions[] = {
    {.name = "cache_policy", .parse = parsePolicy, .print = printPolicy, .verify = verifyPolicy},
};
const intptr_t ttNumAttributeDefinitions = sizeof ttAttributeDefinitions / sizeof *ttAttributeDefinitions;
