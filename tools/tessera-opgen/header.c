// The generated header of a dialect: enum of ops, and per op IsA, Create, Build and accessors by name, all inline.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

enum { NameSize = 128 };

// The op being written.
typedef struct Writer {
  FILE *out;
  const Opgen *opgen;
  const TileOpSpec *spec;
  char op[NameSize]; // "tileMmaOp"
} Writer;

static const char *capital(const char *name, char *buffer) { return opgenCamel(name, true, buffer, NameSize); }
// As a parameter: a name that means something in C, or in Create's body, gets a trailing _.
static const char *small(const char *name, char *buffer) {
  static const char *const taken[] = {
      "auto",   "bool",    "break",    "builder",  "case",   "char",     "const",  "continue",  "default", "do",
      "double", "else",    "enum",     "extern",   "float",  "for",      "goto",   "groups",    "if",      "inline",
      "int",    "long",    "register", "restrict", "return", "short",    "signed", "sizeof",    "static",  "struct",
      "switch", "typedef", "union",    "unsigned", "void",   "volatile", "while",  "regionList"};
  opgenCamel(name, false, buffer, NameSize);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
    if (!strcmp(buffer, taken[i]))
      return strcat(buffer, "_");
  return buffer;
}

//===--- values -------------------------------------------------------------===//
// Where a value stands when no other value's number matters; -1 if it depends.
static int fixedPlace(const TileOpSpec *spec, bool isOperand, int group) {
  int loose = isOperand ? spec->looseOperand : spec->looseResult;
  bool segments = isOperand ? spec->operandSegments : spec->resultSegments;
  return segments || (loose >= 0 && group >= loose) ? -1 : group;
}

static int firstLoose(const TileOpSpec *spec, bool isOperand) {
  const TileValueSpec *values = isOperand ? spec->operands : spec->results;
  int loose = 0;
  while (values[loose].arity == TileArity_One)
    ++loose;
  return loose;
}

// `  intptr_t begin, count;` and the call that finds them. An upstream op has no row to ask: the numbers are stated.
static void writeGroupCall(const Writer *writer, bool isOperand, int group) {
  const TileOpSpec *spec = writer->spec;
  const char *side = isOperand ? "Operand" : "Result";
  fprintf(writer->out, "  intptr_t begin, count;\n");
  if (!writer->opgen->isUpstream)
    fprintf(writer->out, "  tileOp%sGroup(op, %d, &begin, &count);\n", side, group);
  else if (isOperand ? spec->operandSegments : spec->resultSegments)
    fprintf(writer->out, "  tileUpstream%sSegment(op, %d, %d, %d, &begin, &count);\n", side,
            isOperand ? spec->numOperands : spec->numResults, firstLoose(spec, isOperand), group);
  else
    fprintf(writer->out, "  tileUpstreamGroup(mlirOperationGetNum%ss(op), %d, %d, %d, &begin, &count);\n", side,
            isOperand ? spec->numOperands : spec->numResults, isOperand ? spec->looseOperand : spec->looseResult,
            group);
}

// Whether an attribute's accessor has the name of that of a value's type: nvvm.dot.accumulate's a and a_type.
static bool hasAttributeNamed(const TileOpSpec *spec, const char *value, const char *suffix) {
  char wanted[NameSize], name[NameSize];
  snprintf(wanted, sizeof wanted, "%s%s", capital(value, name), suffix);
  for (int i = 0; i < spec->numAttributes; ++i)
    if (!strcmp(capital(spec->attributes[i].name, name), wanted))
      return true;
  return false;
}

static void writeSingle(const Writer *writer, const TileValueSpec *value, bool isOperand, int group) {
  char name[NameSize];
  int place = value->arity == TileArity_One ? fixedPlace(writer->spec, isOperand, group) : -1;
  const char *side = isOperand ? "Operand" : "Result";
  fprintf(writer->out, "static inline MlirValue %sGet%s(MlirOperation op) {", writer->op, capital(value->name, name));
  if (place >= 0) {
    fprintf(writer->out, " return mlirOperationGet%s(op, %d); }\n", side, place);
  } else {
    fprintf(writer->out, "\n");
    writeGroupCall(writer, isOperand, group);
    fprintf(writer->out, "  return count ? mlirOperationGet%s(op, begin) : (MlirValue){NULL};\n}\n", side);
  }
  if (isOperand && value->arity == TileArity_One) {
    fprintf(writer->out, "static inline void %sSet%s(MlirOperation op, MlirValue value) {\n", writer->op, name);
    if (place < 0)
      writeGroupCall(writer, isOperand, group);
    fprintf(writer->out,
            place < 0 ? "  mlirOperationSetOperand(op, begin, value);\n}\n"
                      : "  mlirOperationSetOperand(op, %d, value);\n}\n",
            place);
  }
  if (value->arity == TileArity_One && !hasAttributeNamed(writer->spec, value->name, "Type"))
    fprintf(writer->out,
            "static inline MlirType %sGet%sType(MlirOperation op) { return mlirValueGetType(%sGet%s(op)); }\n",
            writer->op, name, writer->op, name);
}

static void writeVariadic(const Writer *writer, const TileValueSpec *value, bool isOperand, int group) {
  char name[NameSize];
  capital(value->name, name);
  fprintf(writer->out, "static inline intptr_t %sGetNum%s(MlirOperation op) {\n", writer->op, name);
  writeGroupCall(writer, isOperand, group);
  fprintf(writer->out, "  return count;\n}\nstatic inline intptr_t %sGet%sBegin(MlirOperation op) {\n", writer->op,
          name);
  writeGroupCall(writer, isOperand, group);
  fprintf(writer->out,
          "  return begin;\n}\nstatic inline MlirValue %sGet%s(MlirOperation op, intptr_t index) {\n"
          "  return mlirOperationGet%s(op, %sGet%sBegin(op) + index);\n}\n",
          writer->op, name, isOperand ? "Operand" : "Result", writer->op, name);
}

static void writeValues(const Writer *writer, bool isOperand) {
  const TileOpSpec *spec = writer->spec;
  const TileValueSpec *values = isOperand ? spec->operands : spec->results;
  int count = isOperand ? spec->numOperands : spec->numResults;
  for (int i = 0; i < count; ++i)
    if (values[i].arity == TileArity_Variadic)
      writeVariadic(writer, &values[i], isOperand, i);
    else
      writeSingle(writer, &values[i], isOperand, i);
}

//===--- attributes, regions ------------------------------------------------===//
// What a builtin kind holds, as C: for attributes that are always there or have a default.
static void writeAttributeValue(const Writer *writer, const TileAttributeSpec *attribute, const char *name) {
  static const struct {
    const char *kind, *type, *get;
  } values[] = {
      {"i32", "int64_t", "mlirIntegerAttrGetValueInt"},
      {"i64", "int64_t", "mlirIntegerAttrGetValueInt"},
      {"index", "int64_t", "mlirIntegerAttrGetValueInt"},
      {"bool", "bool", "mlirBoolAttrGetValue"},
      {"f32", "double", "mlirFloatAttrGetValueDouble"},
      {"f64", "double", "mlirFloatAttrGetValueDouble"},
      {"string", "MlirStringRef", "mlirStringAttrGetValue"},
      {"keyword", "MlirStringRef", "mlirStringAttrGetValue"},
      {"symbol name", "MlirStringRef", "mlirStringAttrGetValue"},
      {"symbol", "MlirStringRef", "mlirFlatSymbolRefAttrGetValue"},
      {"type", "MlirType", "mlirTypeAttrGetValue"},
  };
  if (attribute->isOptional && !attribute->defaultText)
    return;
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    if (!strcmp(values[i].kind, attribute->kindName))
      fprintf(writer->out, "static inline %s %sGet%sValue(MlirOperation op) { return %s(%sGet%s(op)); }\n",
              values[i].type, writer->op, name, values[i].get, writer->op, name);
}

static const OpgenEnum *findEnum(const Writer *writer, const TileAttributeSpec *attribute) {
  const OpgenEnum *entry = writer->opgen->enums;
  while (entry && entry->name && strcmp(entry->name, attribute->kindName))
    ++entry;
  return entry && entry->name ? entry : NULL;
}

// Whether Create takes the C enum: an attribute that is optional stays an attribute, which may be null.
static bool isEnumParameter(const Writer *writer, const TileAttributeSpec *attribute) {
  const OpgenEnum *kind = attribute->isOptional ? NULL : findEnum(writer, attribute);
  return kind && kind->words;
}

static void writeAttribute(const Writer *writer, const TileAttributeSpec *attribute, int index) {
  char name[NameSize];
  if (!strcmp(attribute->kindName, "property"))
    return;
  capital(attribute->name, name);
  fprintf(writer->out, "static inline MlirAttribute %sGet%s(MlirOperation op) { ", writer->op, name);
  if (attribute->defaultText)
    fprintf(writer->out, "return tileOpAttributeAt(op, %d); } // %s when absent\n", index, attribute->defaultText);
  else
    fprintf(writer->out, "return mlirOperationGetInherentAttributeByName(op, tileString(\"%s\")); }%s\n",
            attribute->name, attribute->isOptional ? " // null when absent" : "");
  fprintf(writer->out,
          "static inline void %sSet%s(MlirOperation op, MlirAttribute value) { "
          "mlirOperationSetInherentAttributeByName(op, tileString(\"%s\"), value); }\n",
          writer->op, name, attribute->name);
  if (attribute->isUnit)
    fprintf(writer->out, "static inline bool %sHas%s(MlirOperation op) { return !mlirAttributeIsNull(%sGet%s(op)); }\n",
            writer->op, name, writer->op, name);
  writeAttributeValue(writer, attribute, name);
  if (isEnumParameter(writer, attribute))
    fprintf(writer->out,
            "static inline %s%s %sGet%sValue(MlirOperation op) { "
            "return (%s%s)mlirIntegerAttrGetValueInt(%sGet%s(op)); }\n",
            writer->opgen->capital, attribute->kindName, writer->op, name, writer->opgen->capital, attribute->kindName,
            writer->op, name);
}

static void writeRegion(const Writer *writer, const TileRegionSpec *region, int index) {
  char name[NameSize];
  capital(region->name, name);
  if (region->arity != TileArity_Variadic) {
    fprintf(writer->out,
            "static inline MlirRegion %sGet%s(MlirOperation op) { return mlirOperationGetRegion(op, %d); }\n",
            writer->op, name, index);
    return;
  }
  fprintf(writer->out,
          "static inline intptr_t %sGetNum%s(MlirOperation op) { return mlirOperationGetNumRegions(op) - %d; }\n",
          writer->op, name, index);
  fprintf(writer->out,
          "static inline MlirRegion %sGet%s(MlirOperation op, intptr_t index) { "
          "return mlirOperationGetRegion(op, %d + index); }\n",
          writer->op, name, index);
}

//===--- Create: parameters -------------------------------------------------===//
static void writeParameter(const Writer *writer, const char *type, TileArity arity, const char *name,
                           const char *suffix) {
  char low[NameSize], high[NameSize];
  small(name, low);
  capital(name, high);
  if (arity == TileArity_Variadic)
    fprintf(writer->out, ", intptr_t num%s%s, const %s *%s%s", high, *suffix ? "Types" : "", type, low,
            *suffix ? "Types" : "");
  else
    fprintf(writer->out, ", %s %s%s", type, low, suffix);
}

// What a parameter list holds. Build's is Create's without the optional attributes.
typedef enum Form { Form_CreateParameters, Form_BuildParameters, Form_CallOfCreate } Form;

static void writeArgument(const Writer *writer, const char *type, TileArity arity, const char *name, const char *suffix,
                          Form form) {
  char low[NameSize], high[NameSize];
  if (form != Form_CallOfCreate)
    return writeParameter(writer, type, arity, name, suffix);
  if (arity == TileArity_Variadic)
    fprintf(writer->out, ", num%s%s", capital(name, high), *suffix ? "Types" : "");
  fprintf(writer->out, ", %s%s", small(name, low), !*suffix ? "" : arity == TileArity_Variadic ? "Types" : "Type");
}

static void writeArguments(const Writer *writer, bool infers, Form form) {
  const TileOpSpec *spec = writer->spec;
  for (int i = 0; !infers && i < spec->numResults; ++i)
    writeArgument(writer, "MlirType", spec->results[i].arity, spec->results[i].name, "Type", form);
  for (int i = 0; i < spec->numOperands; ++i)
    writeArgument(writer, "MlirValue", spec->operands[i].arity, spec->operands[i].name, "", form);
  for (int i = 0; i < spec->numAttributes; ++i) {
    const TileAttributeSpec *attribute = &spec->attributes[i];
    char type[NameSize] = "MlirAttribute";
    if (isEnumParameter(writer, attribute))
      snprintf(type, sizeof type, "%s%s", writer->opgen->capital, attribute->kindName);
    if (form == Form_CreateParameters || !attribute->isOptional)
      writeArgument(writer, type, TileArity_One, attribute->name, "", form);
    else if (form == Form_CallOfCreate)
      fprintf(writer->out, ", (MlirAttribute){NULL}");
  }
  for (int i = 0; i < spec->numRegions; ++i)
    writeArgument(writer, "MlirRegion", spec->regions[i].arity, spec->regions[i].name, "", form);
  for (int i = 0; i < spec->numSuccessors; ++i)
    writeArgument(writer, "MlirBlock", spec->successors[i].arity, spec->successors[i].name, "", form);
}

// "`mask`, `other`: null when absent"
static void writeNullable(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  char name[NameSize];
  int count = 0;
#define NULLABLE(isOptional, entry)                                                                                    \
  if (isOptional)                                                                                                      \
  fprintf(writer->out, "%s`%s`", count++ ? ", " : "// May be null (absent): ", small((entry).name, name))
  for (int i = 0; i < spec->numOperands; ++i)
    NULLABLE(spec->operands[i].arity == TileArity_Optional, spec->operands[i]);
  for (int i = 0; i < spec->numAttributes; ++i)
    NULLABLE(spec->attributes[i].isOptional, spec->attributes[i]);
  for (int i = 0; i < spec->numRegions; ++i)
    NULLABLE(spec->regions[i].arity == TileArity_Optional, spec->regions[i]);
  if (count)
    fprintf(writer->out, ".\n");
}

//===--- Create: body -------------------------------------------------------===//
// One initializer {count, values} of a group.
static void writeGroup(const Writer *writer, const TileValueSpec *value, const char *suffix) {
  char low[NameSize], high[NameSize];
  small(value->name, low);
  capital(value->name, high);
  if (value->arity == TileArity_Variadic)
    fprintf(writer->out, "{num%s%s, %s%s}, ", high, *suffix ? "Types" : "", low, *suffix ? "Types" : "");
  else if (value->arity == TileArity_Optional)
    fprintf(writer->out, "{!mlir%sIsNull(%s%s), &%s%s}, ", *suffix ? "Type" : "Value", low, suffix, low, suffix);
  else
    fprintf(writer->out, "{1, &%s%s}, ", low, suffix);
}

// Results that have the types of operands are given them; any other inference is left to the op.
static bool followsOperand(const TileOpSpec *spec, const TileValueSpec *result) {
  return result->like.kind == TilePlace_Operand && !result->ruleName && result->arity != TileArity_Optional &&
         spec->operands[result->like.index].arity == result->arity;
}
static bool followOperands(const TileOpSpec *spec) {
  for (int i = 0; i < spec->numResults; ++i)
    if (!followsOperand(spec, &spec->results[i]))
      return false;
  return spec->numResults > 0;
}

static void writeFollowed(const Writer *writer, const TileValueSpec *result) {
  const TileValueSpec *operand = &writer->spec->operands[result->like.index];
  char low[NameSize], high[NameSize];
  small(operand->name, low);
  if (operand->arity == TileArity_Variadic)
    fprintf(writer->out, "{num%s, NULL, %s}, ", capital(operand->name, high), low);
  else
    fprintf(writer->out, "{1, NULL, &%s}, ", low);
}

static void writeGroups(const Writer *writer, bool givesTypes, bool follows) {
  const TileOpSpec *spec = writer->spec;
  if (spec->numOperands) {
    fprintf(writer->out, "  const TileValueGroup operandGroups[] = {");
    for (int i = 0; i < spec->numOperands; ++i)
      writeGroup(writer, &spec->operands[i], "");
    fprintf(writer->out, "};\n");
  }
  if (givesTypes) {
    fprintf(writer->out, "  const TileTypeGroup resultGroups[] = {");
    for (int i = 0; i < spec->numResults; ++i)
      if (follows)
        writeFollowed(writer, &spec->results[i]);
      else
        writeGroup(writer, &spec->results[i], "Type");
    fprintf(writer->out, "};\n");
  }
}

// Regions and successors: a list of the single ones, and the variadic one that may follow them.
static int countSingle(const TileRegionSpec *entries, int count) {
  return count && entries[count - 1].arity == TileArity_Variadic ? count - 1 : count;
}

static void writeSingles(const Writer *writer, const char *type, const char *list, const TileRegionSpec *entries,
                         int count) {
  char name[NameSize];
  if (!countSingle(entries, count))
    return;
  fprintf(writer->out, "  const %s %sList[] = {", type, list);
  for (int i = 0; i < countSingle(entries, count); ++i)
    fprintf(writer->out, "%s, ", small(entries[i].name, name));
  fprintf(writer->out, "};\n");
}

static void writeEnumEntry(const Writer *writer, const TileAttributeSpec *attribute) {
  const OpgenEnum *kind = findEnum(writer, attribute);
  char name[NameSize];
  small(attribute->name, name);
  if (kind->text)
    fprintf(writer->out, "{\"%s\", %s%sAttr(builder, %s)}, ", attribute->name, writer->opgen->prefix, kind->name, name);
  else
    fprintf(writer->out, "{\"%s\", tileBuildEnum(builder, %s, %s)}, ", attribute->name, kind->bits, name);
}

static void writeLists(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  char name[NameSize];
  fprintf(writer->out, "  const TileAttributeEntry attributeEntries[] = {");
  for (int i = 0; i < spec->numAttributes; ++i)
    if (isEnumParameter(writer, &spec->attributes[i]))
      writeEnumEntry(writer, &spec->attributes[i]);
    else
      fprintf(writer->out, "{\"%s\", %s}, ", spec->attributes[i].name, small(spec->attributes[i].name, name));
  fprintf(writer->out, "{NULL, {NULL}}};\n");
  writeSingles(writer, "MlirRegion", "region", spec->regions, spec->numRegions);
  writeSingles(writer, "MlirBlock", "successor", spec->successors, spec->numSuccessors);
}

// `      .numRegions = 1,` …: `Many` is "Regions", `many` "regions", `list` "region".
static void writeListFields(const Writer *writer, const char *Many, const char *many, const char *list,
                            const TileRegionSpec *entries, int count) {
  char low[NameSize], high[NameSize];
  int singles = countSingle(entries, count);
  if (singles)
    fprintf(writer->out, "      .num%s = %d,\n      .%s = %sList,\n", Many, singles, many, list);
  if (singles < count)
    fprintf(writer->out, "      .numMore%s = num%s,\n      .more%s = %s,\n", Many, capital(entries[singles].name, high),
            Many, small(entries[singles].name, low));
}

static void writeCreateBody(const Writer *writer, bool infers) {
  const TileOpSpec *spec = writer->spec;
  bool follows = infers && followOperands(spec), givesTypes = spec->numResults && (!infers || follows);
  writeGroups(writer, givesTypes, follows);
  writeLists(writer);
  fprintf(writer->out, "  const TileBuildGroups groups = {\n      .numOperandGroups = %d,\n", spec->numOperands);
  fprintf(writer->out, "      .numResultGroups = %d,\n", infers && !follows ? -1 : spec->numResults);
  if (spec->numOperands)
    fprintf(writer->out, "      .operands = operandGroups,\n");
  if (givesTypes)
    fprintf(writer->out, "      .results = resultGroups,\n");
  writeListFields(writer, "Regions", "regions", "region", spec->regions, spec->numRegions);
  writeListFields(writer, "Successors", "successors", "successor", spec->successors, spec->numSuccessors);
  fprintf(writer->out, "      .attributes = attributeEntries,\n      .operandSegments = %s,\n",
          spec->operandSegments ? "true" : "false");
  fprintf(writer->out, "      .resultSegments = %s,\n  };\n", spec->resultSegments ? "true" : "false");
  fprintf(writer->out, "  return tileBuildGroups(builder, \"%s\", &groups);\n}\n", spec->fullName);
}

static void writeBuild(const Writer *writer, bool infers) {
  bool isValue = writer->spec->numResults == 1 && writer->spec->results[0].arity == TileArity_One;
  fprintf(writer->out, "static inline %s %sBuild(TileBuilder *builder", isValue ? "MlirValue" : "MlirOperation",
          writer->op);
  writeArguments(writer, infers, Form_BuildParameters);
  const char *made = "op";
  for (int i = 0; i < writer->spec->numAttributes; ++i)
    made = strcmp(writer->spec->attributes[i].name, "op") == 0 ? "made" : made;
  fprintf(writer->out, ") {\n  ");
  fprintf(writer->out, isValue ? "MlirOperation %s = " : "return ", made);
  fprintf(writer->out, "%sCreate(builder", writer->op);
  writeArguments(writer, infers, Form_CallOfCreate);
  fprintf(writer->out, ");\n");
  if (isValue)
    fprintf(writer->out, "  return mlirOperationIsNull(%s) ? (MlirValue){NULL} : mlirOperationGetResult(%s, 0);\n",
            made, made);
  fprintf(writer->out, "}\n");
}

static void writeCreate(const Writer *writer) {
  bool infers = opgenInfersResults(writer->spec);
  writeNullable(writer);
  fprintf(writer->out, "static inline MlirOperation %sCreate(TileBuilder *builder", writer->op);
  writeArguments(writer, infers, Form_CreateParameters);
  fprintf(writer->out, ") {\n");
  writeCreateBody(writer, infers);
  writeBuild(writer, infers);
}

//===--- the header ---------------------------------------------------------===//
static void writeIsA(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  const Opgen *opgen = writer->opgen;
  fprintf(writer->out, "static const char %sName[] = \"%s\";\n", writer->op, spec->fullName);
  fprintf(writer->out, "static inline bool %sIsA(MlirOperation op) { ", writer->op);
  if (opgen->isUpstream)
    fprintf(writer->out, "return tileOpIs(op, \"%s\"); }\n", spec->fullName);
  else
    fprintf(writer->out, "return %sOpKind(op) == %sOp_%s; }\n", opgen->prefix, opgen->capital, spec->row->cName);
}

static void writeOp(FILE *out, const Opgen *opgen, const TileOpSpec *spec) {
  Writer writer = {.out = out, .opgen = opgen, .spec = spec};
  snprintf(writer.op, sizeof writer.op, "%s%sOp", opgen->prefix, spec->row->cName);
  fprintf(out, "\n//===--- %s%s%s\n", spec->fullName, spec->row->summary ? ": " : "",
          spec->row->summary ? spec->row->summary : "");
  writeIsA(&writer);
  writeCreate(&writer);
  writeValues(&writer, true);
  writeValues(&writer, false);
  for (int i = 0; i < spec->numAttributes; ++i)
    writeAttribute(&writer, &spec->attributes[i], i);
  for (int i = 0; i < spec->numRegions; ++i)
    writeRegion(&writer, &spec->regions[i], i);
}

static void writeEnum(FILE *out, const Opgen *opgen) {
  fprintf(out, "typedef enum %sOp {\n  %sOp_None = -1, // an op of another dialect\n", opgen->capital, opgen->capital);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    fprintf(out, "  %sOp_%s = %d,%s%s\n", opgen->capital, opgen->specs[i].row->cName, (int)(opgen->first + i),
            opgen->specs[i].row->summary ? " // " : "",
            opgen->specs[i].row->summary ? opgen->specs[i].row->summary : "");
  fprintf(out, "} %sOp;\nenum { %sNumOps = %d };\n\n", opgen->capital, opgen->capital, (int)opgen->numSpecs);
  fprintf(out, "// Which op of the dialect this is, in constant time.\n");
  if (opgen->isUpstream)
    fprintf(out,
            "static inline %sOp %sOpKind(MlirOperation op) {\n  return tileOpIsOfDialect(op, \"%s\") ? "
            "(%sOp)tileUpstreamKind(op) : %sOp_None;\n}\n",
            opgen->capital, opgen->prefix, opgen->dialect, opgen->capital, opgen->capital);
  else
    fprintf(out, "static inline %sOp %sOpKind(MlirOperation op) { return (%sOp)tileOpRowIndex(op, \"%s\"); }\n",
            opgen->capital, opgen->prefix, opgen->capital, opgen->dialect);
  for (const OpgenEnum *kind = opgen->enums; kind && kind->name; ++kind)
    opgenWriteAttributeKind(out, opgen, kind);
}

//===--- hooks ---===//

// Declares the hooks that a row names, so that a new op needs no line in another file. Declared by hand are hooks of
// rarer kinds (hooks.h), and hooks without the dialect's prefix, which are static.
static void writeHooks(FILE *out, const Opgen *opgen, const TileOpSpec *spec) {
  static const struct {
    const char *hook, *result, *parameters;
  } kinds[] = {
      {".verify = ", "bool", "MlirOperation op"},
      {".verifyRegions = ", "bool", "MlirOperation op"},
      {".fold = ", "bool",
       "MlirOperation op, intptr_t count, const MlirAttribute *operands, MlirExtFoldResults results"},
      {".canonicalize = ", "void", "MlirRewritePatternSet patterns, MlirContext context"},
      {".effects = ", "void", "MlirOperation op, MlirExtEffects effects"},
      {".inferTypes = ", "bool", "const MlirExtInference *inference, MlirExtTypeList types"},
      {".integerRanges = ", "void",
       "MlirOperation op, const MlirExtIntegerRange *operands, MlirExtIntegerRange *results"},
      {".expand = ", "bool", "MlirOperation op, MlirValue *results"},
  };
  const char *text = spec->row->hooksText;
  for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; ++i) {
    const char *at = strstr(text, kinds[i].hook);
    const char *name = at ? at + strlen(kinds[i].hook) : "";
    if (at && !strncmp(name, opgen->prefix, strlen(opgen->prefix)))
      fprintf(out, "%s %.*s(%s);\n", kinds[i].result, (int)strcspn(name, ", "), name, kinds[i].parameters);
  }
}

void opgenWriteHeader(FILE *out, const Opgen *opgen) {
  fprintf(
      out,
      "// Generated from the rows of dialect '%s' by tessera-opgen: do not edit.\n"
      "// Per op: Name (for anchors and tables), IsA (false for null), Create (result types only where they cannot be\n"
      "// inferred; regions are taken over), Build (Create without the optional attributes; returns the result if the "
      "op has exactly one), and\n"
      "// accessors: GetX and, where X is always there, GetXType. Variadic ones as GetNumX, GetXBegin (position among\n"
      "// all) and GetX(op, index). Attributes as GetX and SetX, and GetXValue as a C value where the attribute is\n"
      "// always there; unit ones as HasX.\n"
      "#pragma once\n\n"
      "#include \"lib/ir/builder.h\"\n%s#include \"lib/ir/support.h\"\n%s\n",
      opgen->dialect, opgen->isUpstream ? "" : "#include \"lib/ir/op_dialect.h\"\n#include \"lib/ir/op_format.h\"\n",
      opgen->isUpstream ? "#include \"lib/ir/upstream.h\"\n" : "");
  writeEnum(out, opgen);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    writeOp(out, opgen, &opgen->specs[i]);
  if (!opgen->isUpstream)
    fprintf(out, "\n//===--- hooks that the rows name ---===//\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  for (intptr_t i = 0; i < opgen->numSpecs && !opgen->isUpstream; ++i)
    writeHooks(out, opgen, &opgen->specs[i]);
  if (!opgen->isUpstream)
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n");
}
