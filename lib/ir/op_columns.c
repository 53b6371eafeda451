// Step 1 of compiling a row: its columns. Entries are split at commas, their names collected from all columns first,
// so that `like`, `with` and effects may name what stands later. Knows no MLIR.
#include "lib/ir/op_spec.h"
#include <ctype.h>
#include <string.h>

//===--- scanning -----------------------------------------------------------===//
// A piece of a column.
typedef struct Text {
  const char *begin, *end;
} Text;

static Text trim(Text text) {
  while (text.begin < text.end && isspace((unsigned char)*text.begin))
    ++text.begin;
  while (text.begin < text.end && isspace((unsigned char)text.end[-1]))
    --text.end;
  return text;
}

// The end of an entry: the next comma outside of brackets and quotes.
static const char *endOfEntry(const char *at) {
  int depth = 0;
  bool quoted = false;
  for (; *at && (quoted || depth > 0 || *at != ','); ++at) {
    if (*at == '"')
      quoted = !quoted;
    else if (!quoted)
      depth += strchr("[{(<", *at) ? 1 : strchr("]})>", *at) ? -1 : 0;
  }
  return at;
}

static int countEntries(const char *column) {
  int count = 0;
  for (const char *at = column; at && *at; at += *at == ',') {
    const char *end = endOfEntry(at);
    count += trim((Text){at, end}).begin != trim((Text){at, end}).end || *end;
    at = end;
  }
  return count;
}

// The next entry, trimmed; moves `column` behind it.
static Text nextEntry(const char **column) {
  const char *end = endOfEntry(*column);
  Text entry = trim((Text){*column, end});
  *column = end + (*end == ',');
  return entry;
}

static Text nextWord(Text *text) {
  Text rest = trim(*text);
  const char *end = rest.begin;
  while (end < rest.end && !isspace((unsigned char)*end))
    ++end;
  *text = trim((Text){end, rest.end});
  return (Text){rest.begin, end};
}

static bool is(Text text, const char *word) {
  return strlen(word) == (size_t)(text.end - text.begin) && !strncmp(text.begin, word, strlen(word));
}

// Takes the first word if it is `word`.
static bool takeWord(Text *text, const char *word) {
  Text rest = *text;
  if (!is(nextWord(&rest), word))
    return false;
  *text = rest;
  return true;
}

// Takes words up to one of `stops` (a list ending with null) or the end.
static Text takeUntil(Text *text, const char *const *stops) {
  Text taken = {text->begin, text->begin};
  for (Text rest = *text;;) {
    Text word = nextWord(&rest);
    bool stop = word.begin == word.end;
    for (const char *const *name = stops; *name && !stop; ++name)
      stop = is(word, *name);
    if (stop)
      break;
    taken.end = word.end;
    *text = rest;
  }
  return taken;
}

static const char *copy(TileArena *arena, Text text) {
  return text.begin == text.end ? NULL : tileArenaString(arena, text.begin, (size_t)(text.end - text.begin));
}

//===--- names --------------------------------------------------------------===//
int tileSpecFindValue(const TileValueSpec *values, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (values[i].name && !strcmp(values[i].name, name))
      return i;
  return -1;
}

#define FIND(entries, number, place)                                                                                   \
  for (int i = 0; i < (number); ++i)                                                                                   \
    if ((entries)[i].name && strlen((entries)[i].name) == length && !strncmp((entries)[i].name, name, length))         \
      return (TilePlace){place, i};

TilePlace tileSpecFind(const TileOpSpec *spec, const char *name, size_t length) {
  FIND(spec->operands, spec->numOperands, TilePlace_Operand)
  FIND(spec->results, spec->numResults, TilePlace_Result)
  FIND(spec->attributes, spec->numAttributes, TilePlace_Attribute)
  FIND(spec->regions, spec->numRegions, TilePlace_Region)
  return (TilePlace){TilePlace_None, 0};
}

static TilePlace find(const TileOpSpec *spec, Text name) {
  return tileSpecFind(spec, name.begin, (size_t)(name.end - name.begin));
}

const char *tileArityText(TileArity arity) {
  return arity == TileArity_Optional ? "optional" : arity == TileArity_Variadic ? "variadic" : "";
}

// As op_builtin.c's table has it, which the generator cannot link; a test compares the two.
bool tileConstraintIsUnique(const char *name) {
  static const char *const names[] = {"index", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "none"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strcmp(name, names[i]))
      return true;
  return false;
}

static bool isName(Text name) {
  for (const char *at = name.begin; at < name.end; ++at)
    if (!isalpha((unsigned char)*at) && (at == name.begin || (!isdigit((unsigned char)*at) && *at != '_')))
      return false;
  return name.begin < name.end;
}

// Splits `NAME: rest` (regions may stop after the name).
static bool takeName(const TileOpSpec *spec, const char *column, Text entry, Text *name, Text *rest,
                     const TileSpecError *error) {
  const char *colon = entry.begin < entry.end ? memchr(entry.begin, ':', (size_t)(entry.end - entry.begin)) : NULL;
  *name = trim((Text){entry.begin, colon ? colon : entry.end});
  *rest = trim((Text){colon ? colon + 1 : entry.end, entry.end});
  if (!isName(*name))
    return tileSpecError(error, spec, column, "expected 'name: …', but got '%.*s'", (int)(entry.end - entry.begin),
                         entry.begin);
  if (find(spec, *name).kind != TilePlace_None)
    return tileSpecError(error, spec, column, "'%.*s' is the name of two things", (int)(name->end - name->begin),
                         name->begin);
  return true;
}

static TileArity takeArity(Text *rest) {
  return takeWord(rest, "optional")   ? TileArity_Optional
         : takeWord(rest, "variadic") ? TileArity_Variadic
                                      : TileArity_One;
}

// `with X`, `unless X`.
static bool takePresence(TileOpSpec *spec, const char *column, const char *name, bool isOptional, Text *rest,
                         TilePresence *presence, const TileSpecError *error) {
  bool with = takeWord(rest, "with"), unless = !with && takeWord(rest, "unless");
  if (!with && !unless)
    return true;
  Text other = nextWord(rest);
  *presence = (TilePresence){find(spec, other), unless};
  spec->hasPresences = true;
  if (presence->place.kind == TilePlace_None || presence->place.kind == TilePlace_Region)
    return tileSpecError(error, spec, column, "'%s' is there with '%.*s', which names no operand, result or attribute",
                         name, (int)(other.end - other.begin), other.begin);
  if (!isOptional)
    return tileSpecError(error, spec, column, "'%s' is not optional, so it cannot depend on '%.*s'", name,
                         (int)(other.end - other.begin), other.begin);
  return true;
}

static bool expectEnd(const TileOpSpec *spec, const char *column, const char *name, Text rest,
                      const TileSpecError *error) {
  return rest.begin == rest.end || tileSpecError(error, spec, column, "'%s': did not expect '%.*s'", name,
                                                 (int)(rest.end - rest.begin), rest.begin);
}

//===--- operands and results -----------------------------------------------===//
static const char *const afterConstraint[] = {"like", "as", "with", "unless", NULL};
static const char *const afterRule[] = {"of", NULL};

// `like OTHER`, `as RULE of OTHER`.
static bool takeLike(TileArena *arena, const TileOpSpec *spec, const char *column, TileValueSpec *value, Text *rest,
                     const TileSpecError *error) {
  bool like = takeWord(rest, "like"), as = !like && takeWord(rest, "as");
  if (!like && !as)
    return true;
  if (as) {
    value->ruleName = copy(arena, takeUntil(rest, afterRule));
    if (!value->ruleName || !takeWord(rest, "of"))
      return tileSpecError(error, spec, column, "'%s': expected 'as RULE of NAME'", value->name);
  }
  Text other = nextWord(rest);
  value->like = find(spec, other);
  if (value->like.kind != TilePlace_Operand && value->like.kind != TilePlace_Result)
    return tileSpecError(error, spec, column, "the type of '%s' follows '%.*s', which names no operand or result",
                         value->name, (int)(other.end - other.begin), other.begin);
  return true;
}

static bool compileValue(TileArena *arena, TileOpSpec *spec, const char *column, Text rest, TileValueSpec *value,
                         const TileSpecError *error) {
  value->arity = takeArity(&rest);
  value->constraintName = copy(arena, takeUntil(&rest, afterConstraint));
  if (!takeLike(arena, spec, column, value, &rest, error))
    return false;
  if (!value->constraintName && value->like.kind == TilePlace_None)
    return tileSpecError(error, spec, column, "'%s' has no constraint", value->name);
  return takePresence(spec, column, value->name, value->arity == TileArity_Optional, &rest, &value->presence, error) &&
         expectEnd(spec, column, value->name, rest, error);
}

// The type that another's follows must be of the same number.
static bool checkLike(const TileOpSpec *spec, const char *column, const TileValueSpec *value,
                      const TileSpecError *error) {
  if (value->like.kind == TilePlace_None)
    return true;
  const TileValueSpec *other =
      &(value->like.kind == TilePlace_Operand ? spec->operands : spec->results)[value->like.index];
  if (other == value)
    return tileSpecError(error, spec, column, "the type of '%s' follows itself", value->name);
  if (other->arity == TileArity_Variadic && value->arity != TileArity_Variadic)
    return tileSpecError(error, spec, column, "the type of '%s' follows the variadic '%s'", value->name, other->name);
  return true;
}

static bool compileValues(TileArena *arena, TileOpSpec *spec, const char *column, const char *text,
                          TileValueSpec *values, int count, const TileSpecError *error) {
  for (int i = 0; i < count; ++i) {
    Text entry = nextEntry(&text);
    Text rest = trim((Text){strchr(entry.begin, ':') + 1, entry.end});
    if (!compileValue(arena, spec, column, rest, &values[i], error))
      return false;
  }
  for (int i = 0; i < count; ++i)
    if (!checkLike(spec, column, &values[i], error))
      return false;
  return true;
}

//===--- attributes ---------------------------------------------------------===//
static const char *const afterKind[] = {"=", "with", "unless", NULL};

static bool compileAttribute(TileArena *arena, TileOpSpec *spec, Text rest, TileAttributeSpec *attribute,
                             const TileSpecError *error) {
  attribute->isOptional = takeWord(&rest, "optional");
  attribute->kindName = copy(arena, takeUntil(&rest, afterKind));
  if (!attribute->kindName)
    return tileSpecError(error, spec, "attributes", "'%s' has no kind", attribute->name);
  attribute->isUnit = !strcmp(attribute->kindName, "unit");
  attribute->isOptional |= attribute->isUnit;
  if (takeWord(&rest, "=")) {
    attribute->defaultText = copy(arena, rest);
    attribute->defaultIsEmpty = attribute->defaultText && !strcmp(attribute->defaultText, "[]");
    if (!attribute->defaultText || attribute->isOptional)
      return tileSpecError(error, spec, "attributes",
                           attribute->isOptional ? "'%s' is optional and has a default" : "'%s' has no default after =",
                           attribute->name);
    attribute->isOptional = true;
    return true;
  }
  return takePresence(spec, "attributes", attribute->name, attribute->isOptional, &rest, &attribute->presence, error) &&
         expectEnd(spec, "attributes", attribute->name, rest, error);
}

// Attributes that a trait brings, unless the row says them itself.
typedef struct TraitAttribute {
  uint32_t traits;
  const char *name, *kind;
  bool isOptional;
} TraitAttribute;
static const TraitAttribute traitAttributes[] = {
    {MlirExtTrait_Symbol | MlirExtTrait_Function, "sym_name", "symbol name", false},
    {MlirExtTrait_Symbol | MlirExtTrait_Function, "sym_visibility", "string", true},
    {MlirExtTrait_Function, "function_type", "type", false},
    {MlirExtTrait_Function, "arg_attrs", "array", true},
    {MlirExtTrait_Function, "res_attrs", "array", true},
};
enum { NumTraitAttributes = sizeof traitAttributes / sizeof *traitAttributes };

static void addTraitAttributes(TileOpSpec *spec) {
  for (int i = 0; i < NumTraitAttributes; ++i) {
    const TraitAttribute *extra = &traitAttributes[i];
    if (spec->traits & extra->traits && tileSpecFind(spec, extra->name, strlen(extra->name)).kind == TilePlace_None)
      spec->attributes[spec->numAttributes++] =
          (TileAttributeSpec){.name = extra->name, .kindName = extra->kind, .isOptional = extra->isOptional};
  }
}

//===--- the columns' entries -----------------------------------------------===//
// Regions or successors.
static bool compileRegions(TileArena *arena, const TileOpSpec *spec, const char *column, const char *at,
                           TileRegionSpec **regions, int *number, const TileSpecError *error) {
  int count = countEntries(at);
  *regions = tileArenaAllocate(arena, sizeof **regions * (size_t)count);
  for (int i = 0; i < count; ++i) {
    Text name, rest;
    if (!takeName(spec, column, nextEntry(&at), &name, &rest, error))
      return false;
    TileRegionSpec *region = &(*regions)[(*number)++];
    region->name = copy(arena, name);
    region->arity = takeArity(&rest);
    if (!expectEnd(spec, column, region->name, rest, error))
      return false;
    if (region->arity != TileArity_One && i + 1 < count)
      return tileSpecError(error, spec, column, "'%s' is %s but not the last %s", region->name,
                           tileArityText(region->arity), *column == 'r' ? "region" : "successor");
  }
  return true;
}

static bool nameValues(TileArena *arena, TileOpSpec *spec, const char *column, const char *text, TileValueSpec **values,
                       int *count, const TileSpecError *error) {
  int total = countEntries(text);
  *values = tileArenaAllocate(arena, sizeof **values * (size_t)total);
  for (int i = 0; i < total; ++i) {
    Text name, rest;
    if (!takeName(spec, column, nextEntry(&text), &name, &rest, error))
      return false;
    if (rest.begin == rest.end)
      return tileSpecError(error, spec, column, "'%.*s' has no constraint", (int)(name.end - name.begin), name.begin);
    (*values)[(*count)++].name = copy(arena, name);
  }
  return true;
}

static bool nameAttributes(TileArena *arena, TileOpSpec *spec, const TileSpecError *error) {
  const char *at = spec->row->attributes;
  int total = countEntries(at);
  spec->attributes = tileArenaAllocate(arena, sizeof *spec->attributes * (size_t)(total + NumTraitAttributes));
  for (int i = 0; i < total; ++i) {
    Text name, rest;
    if (!takeName(spec, "attributes", nextEntry(&at), &name, &rest, error))
      return false;
    if (rest.begin == rest.end)
      return tileSpecError(error, spec, "attributes", "'%.*s' has no kind", (int)(name.end - name.begin), name.begin);
    spec->attributes[spec->numAttributes++].name = copy(arena, name);
  }
  return true;
}

static bool compileAttributes(TileArena *arena, TileOpSpec *spec, const TileSpecError *error) {
  const char *at = spec->row->attributes ? spec->row->attributes : "";
  for (int i = 0, count = countEntries(at); i < count; ++i) {
    Text entry = nextEntry(&at);
    Text rest = trim((Text){strchr(entry.begin, ':') + 1, entry.end});
    if (!compileAttribute(arena, spec, rest, &spec->attributes[i], error))
      return false;
  }
  return true;
}

//===--- traits and effects -------------------------------------------------===//
typedef struct TraitName {
  const char *name;
  uint32_t bits;
} TraitName;
static const TraitName traitNames[] = {
    {"pure", MlirExtTrait_Pure},
    {"no memory effect", MlirExtTrait_NoMemoryEffect},
    {"recursive memory effects", MlirExtTrait_RecursiveMemoryEffects},
    {"terminator", MlirExtTrait_Terminator},
    {"return like", MlirExtTrait_ReturnLike},
    {"isolated from above", MlirExtTrait_IsolatedFromAbove},
    {"no terminator", MlirExtTrait_NoTerminator},
    {"single block", MlirExtTrait_SingleBlock},
    {"same operands and result type", MlirExtTrait_SameOperandsAndResultType},
    {"symbol", MlirExtTrait_Symbol},
    {"symbol table", MlirExtTrait_SymbolTable},
    {"function", MlirExtTrait_Function},
    {"loop like", MlirExtTrait_LoopLike},
    {"view like", MlirExtTrait_ViewLike},
    {"commutative", MlirExtTrait_Commutative},
    {"constant like", MlirExtTrait_ConstantLike},
    {"affine scope", MlirExtTrait_AffineScope},
};

static bool compileTrait(TileArena *arena, TileOpSpec *spec, Text entry, const TileSpecError *error) {
  for (size_t i = 0; i < sizeof traitNames / sizeof *traitNames; ++i)
    if (is(entry, traitNames[i].name)) {
      spec->traits |= traitNames[i].bits;
      return true;
    }
  if (is(entry, "infers types")) {
    spec->statesInference = true;
    return true;
  }
  Text rest = entry;
  if (takeWord(&rest, "implicit") && takeWord(&rest, "terminator") && isName(rest)) {
    spec->traits |= MlirExtTrait_SingleBlock;
    spec->implicitTerminator =
        tileArenaPrintf(arena, "%s.%.*s", spec->table->name, (int)(rest.end - rest.begin), rest.begin);
    return true;
  }
  return tileSpecError(error, spec, "traits", "unknown trait '%.*s'", (int)(entry.end - entry.begin), entry.begin);
}

static bool compileTraits(TileArena *arena, TileOpSpec *spec, const TileSpecError *error) {
  const char *at = spec->row->traits;
  for (int i = 0, count = countEntries(at); i < count; ++i)
    if (!compileTrait(arena, spec, nextEntry(&at), error))
      return false;
  return true;
}

static bool compileEffect(const TileOpSpec *spec, Text entry, TileEffectSpec *effect, const TileSpecError *error) {
  static const char *const names[] = {
      [MlirExtEffect_Read] = "read",
      [MlirExtEffect_Write] = "write",
      [MlirExtEffect_Allocate] = "allocate",
      [MlirExtEffect_Free] = "free",
  };
  Text rest = entry, word = nextWord(&rest);
  size_t kind = 0;
  while (kind < sizeof names / sizeof *names && !is(word, names[kind]))
    ++kind;
  if (kind == sizeof names / sizeof *names)
    return tileSpecError(error, spec, "effects", "expected read, write, allocate or free, but got '%.*s'",
                         (int)(word.end - word.begin), word.begin);
  effect->effect = (MlirExtEffect)kind;
  effect->place = find(spec, rest);
  effect->resource = is(rest, "debug")   ? MlirExtResource_Debug
                     : is(rest, "order") ? MlirExtResource_Order
                                         : MlirExtResource_Memory;
  if (effect->place.kind == TilePlace_Operand || effect->place.kind == TilePlace_Result || effect->resource ||
      is(rest, "memory"))
    return true;
  return tileSpecError(error, spec, "effects", "'%.*s' names no operand or result", (int)(rest.end - rest.begin),
                       rest.begin);
}

static bool compileEffects(TileArena *arena, TileOpSpec *spec, const TileSpecError *error) {
  const char *at = spec->row->effects;
  int count = countEntries(at);
  spec->effects = tileArenaAllocate(arena, sizeof *spec->effects * (size_t)count);
  for (; spec->numEffects < count; ++spec->numEffects)
    if (!compileEffect(spec, nextEntry(&at), &spec->effects[spec->numEffects], error))
      return false;
  uint32_t none = MlirExtTrait_Pure | MlirExtTrait_NoMemoryEffect;
  if (count && spec->traits & none)
    return tileSpecError(error, spec, "effects", "the op has effects, but its traits say it has none");
  if (count && spec->row->hooks.effects)
    return tileSpecError(error, spec, "effects", "stated here and by hooks.effects");
  return true;
}

//===--- properties ---------------------------------------------------------===//
static bool compileProperty(TileOpSpec *spec, Text entry, const TileSpecError *error) {
  static const struct {
    const char *name;
    TileProperty bit;
  } names[] = {
      {"elementwise", TileProperty_Elementwise},
      {"moves elements", TileProperty_MovesElements},
      {"exchanges elements", TileProperty_ExchangesElements},
      {"function", TileProperty_Function},
      {"divides integers", TileProperty_DividesIntegers},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (is(entry, names[i].name)) {
      spec->properties |= names[i].bit;
      return true;
    }
  Text rest = entry;
  if (takeWord(&rest, "same") && takeWord(&rest, "memory") && takeWord(&rest, "as")) {
    TilePlace place = find(spec, rest);
    spec->sameMemory = place.index;
    return place.kind == TilePlace_Operand || tileSpecError(error, spec, "properties", "'%.*s' names no operand",
                                                            (int)(rest.end - rest.begin), rest.begin);
  }
  return tileSpecError(error, spec, "properties",
                       "unknown property '%.*s'; accepted: elementwise, moves elements, exchanges elements, "
                       "function, divides integers, same memory as OPERAND",
                       (int)(entry.end - entry.begin), entry.begin);
}

static bool compileProperties(TileOpSpec *spec, const TileSpecError *error) {
  const char *at = spec->row->properties;
  for (int i = 0, count = countEntries(at); i < count; ++i)
    if (!compileProperty(spec, nextEntry(&at), error))
      return false;
  return true;
}

//===--- segments and inherent names ----------------------------------------===//
// The only loose (optional or variadic) entry; -1 and `*several` otherwise.
static int findLoose(const TileValueSpec *values, int count, bool *several) {
  int loose = -1, number = 0;
  for (int i = 0; i < count; ++i)
    if (values[i].arity != TileArity_One) {
      loose = i;
      ++number;
    }
  *several = number > 1;
  return number == 1 ? loose : -1;
}

static void deriveSegments(TileArena *arena, TileOpSpec *spec) {
  spec->looseOperand = findLoose(spec->operands, spec->numOperands, &spec->operandSegments);
  spec->looseResult = findLoose(spec->results, spec->numResults, &spec->resultSegments);
  spec->traits |= spec->operandSegments ? MlirExtTrait_AttrSizedOperandSegments : 0;
  spec->traits |= spec->resultSegments ? MlirExtTrait_AttrSizedResultSegments : 0;
  const char **names = tileArenaAllocate(arena, sizeof *names * (size_t)(spec->numAttributes + 3));
  int count = 0;
  for (; count < spec->numAttributes; ++count) {
    names[count] = spec->attributes[count].name;
    spec->attributes[count].slot = count;
  }
  if (spec->operandSegments)
    names[count++] = "operandSegmentSizes";
  if (spec->resultSegments)
    names[count++] = "resultSegmentSizes";
  spec->inherentNames = names;
}

bool tileSpecCompileText(TileArena *arena, const TileDialectTable *table, intptr_t rowIndex, TileOpSpec *spec,
                         const TileSpecError *error) {
  const TileOpRow *row = &table->rows[rowIndex];
  *spec = (TileOpSpec){
      .row = row, .table = table, .rowIndex = rowIndex, .hasFormat = row->format != NULL, .sameMemory = -1};
  spec->fullName = tileArenaPrintf(arena, "%s.%s", table->name, row->name);
  if (!nameValues(arena, spec, "operands", row->operands, &spec->operands, &spec->numOperands, error) ||
      !nameValues(arena, spec, "results", row->results, &spec->results, &spec->numResults, error) ||
      !nameAttributes(arena, spec, error) ||
      !compileRegions(arena, spec, "regions", row->regions, &spec->regions, &spec->numRegions, error) ||
      !compileRegions(arena, spec, "successors", row->successors, &spec->successors, &spec->numSuccessors, error) ||
      !compileTraits(arena, spec, error) ||
      !compileValues(arena, spec, "operands", row->operands, spec->operands, spec->numOperands, error) ||
      !compileValues(arena, spec, "results", row->results, spec->results, spec->numResults, error) ||
      !compileAttributes(arena, spec, error) || !compileEffects(arena, spec, error) || !compileProperties(spec, error))
    return false;
  if (spec->numOperands + spec->numResults > TileMaxValues)
    return tileSpecError(error, spec, NULL, "more than %d operands and results", TileMaxValues);
  addTraitAttributes(spec);
  deriveSegments(arena, spec);
  return !spec->hasFormat || tileSpecCompileFormat(arena, spec, error);
}
