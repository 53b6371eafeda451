// The generated header of a dialect: enum of ops, and per op IsA, Create, and accessors by name, all inline.
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
      "auto",   "bool",    "break",    "builder",  "case",   "char",     "const",  "continue", "default", "do",
      "double", "else",    "enum",     "extern",   "float",  "for",      "goto",   "groups",   "if",      "inline",
      "int",    "long",    "register", "restrict", "return", "short",    "signed", "sizeof",   "static",  "struct",
      "switch", "typedef", "union",    "unsigned", "void",   "volatile", "while"};
  opgenCamel(name, false, buffer, NameSize);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
    if (!strcmp(buffer, taken[i]))
      return strcat(buffer, "_");
  return buffer;
}

//===--- values -------------------------------------------------------------===//
// Where a value stands when no other value's number matters; -1 if it depends.
static int fixedPlace(int group, int loose, bool segments) {
  return segments || (loose >= 0 && group >= loose) ? -1 : group;
}

static void writeSingle(const Writer *writer, const TileValueSpec *value, bool isOperand, int group, int place) {
  char name[NameSize];
  const char *side = isOperand ? "Operand" : "Result";
  fprintf(writer->out, "static inline MlirValue %sGet%s(MlirOperation op) {", writer->op, capital(value->name, name));
  if (place >= 0)
    fprintf(writer->out, " return mlirOperationGet%s(op, %d); }\n", side, place);
  else
    fprintf(writer->out,
            "\n  intptr_t begin, count;\n  tileOp%sGroup(op, %d, &begin, &count);\n"
            "  return count ? mlirOperationGet%s(op, begin) : (MlirValue){NULL};\n}\n",
            side, group, side);
}

static void writeVariadic(const Writer *writer, const TileValueSpec *value, bool isOperand, int group) {
  char name[NameSize];
  const char *side = isOperand ? "Operand" : "Result";
  capital(value->name, name);
  fprintf(writer->out,
          "static inline intptr_t %sGetNum%s(MlirOperation op) {\n  intptr_t begin, count;\n"
          "  tileOp%sGroup(op, %d, &begin, &count);\n  return count;\n}\n",
          writer->op, name, side, group);
  fprintf(writer->out,
          "static inline intptr_t %sGet%sBegin(MlirOperation op) {\n  intptr_t begin, count;\n"
          "  tileOp%sGroup(op, %d, &begin, &count);\n  return begin;\n}\n",
          writer->op, name, side, group);
  fprintf(writer->out,
          "static inline MlirValue %sGet%s(MlirOperation op, intptr_t index) {\n"
          "  return mlirOperationGet%s(op, %sGet%sBegin(op) + index);\n}\n",
          writer->op, name, side, writer->op, name);
}

static void writeValues(const Writer *writer, bool isOperand) {
  const TileOpSpec *spec = writer->spec;
  const TileValueSpec *values = isOperand ? spec->operands : spec->results;
  int count = isOperand ? spec->numOperands : spec->numResults;
  int loose = isOperand ? spec->looseOperand : spec->looseResult;
  bool segments = isOperand ? spec->operandSegments : spec->resultSegments;
  for (int i = 0; i < count; ++i)
    if (values[i].arity == TileArity_Variadic)
      writeVariadic(writer, &values[i], isOperand, i);
    else
      writeSingle(writer, &values[i], isOperand, i,
                  values[i].arity == TileArity_One ? fixedPlace(i, loose, segments) : -1);
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

static void writeAttribute(const Writer *writer, const TileAttributeSpec *attribute, int index) {
  char name[NameSize];
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

static void writeParameters(const Writer *writer, bool infers) {
  const TileOpSpec *spec = writer->spec;
  for (int i = 0; !infers && i < spec->numResults; ++i)
    writeParameter(writer, "MlirType", spec->results[i].arity, spec->results[i].name, "Type");
  for (int i = 0; i < spec->numOperands; ++i)
    writeParameter(writer, "MlirValue", spec->operands[i].arity, spec->operands[i].name, "");
  for (int i = 0; i < spec->numAttributes; ++i)
    writeParameter(writer, "MlirAttribute", TileArity_One, spec->attributes[i].name, "");
  for (int i = 0; i < spec->numRegions; ++i)
    writeParameter(writer, "MlirRegion", spec->regions[i].arity, spec->regions[i].name, "");
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
    fprintf(writer->out, "{%s%s.ptr != NULL, &%s%s}, ", low, suffix, low, suffix);
  else
    fprintf(writer->out, "{1, &%s%s}, ", low, suffix);
}

static void writeGroups(const Writer *writer, bool infers) {
  const TileOpSpec *spec = writer->spec;
  if (spec->numOperands) {
    fprintf(writer->out, "  const TileValueGroup operandGroups[] = {");
    for (int i = 0; i < spec->numOperands; ++i)
      writeGroup(writer, &spec->operands[i], "");
    fprintf(writer->out, "};\n");
  }
  if (!infers && spec->numResults) {
    fprintf(writer->out, "  const TileTypeGroup resultGroups[] = {");
    for (int i = 0; i < spec->numResults; ++i)
      writeGroup(writer, &spec->results[i], "Type");
    fprintf(writer->out, "};\n");
  }
}

static void writeLists(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  char name[NameSize];
  fprintf(writer->out, "  const TileAttributeEntry attributeEntries[] = {");
  for (int i = 0; i < spec->numAttributes; ++i)
    fprintf(writer->out, "{\"%s\", %s}, ", spec->attributes[i].name, small(spec->attributes[i].name, name));
  fprintf(writer->out, "{NULL, {NULL}}};\n");
  if (!spec->numRegions || spec->regions[0].arity == TileArity_Variadic)
    return;
  fprintf(writer->out, "  const MlirRegion regionList[] = {");
  for (int i = 0; i < spec->numRegions; ++i)
    fprintf(writer->out, "%s, ", small(spec->regions[i].name, name));
  fprintf(writer->out, "};\n");
}

static void writeRegionFields(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  char low[NameSize], high[NameSize];
  if (!spec->numRegions)
    return;
  if (spec->regions[0].arity == TileArity_Variadic)
    fprintf(writer->out, "      .numRegions = num%s,\n      .regions = %s,\n", capital(spec->regions[0].name, high),
            small(spec->regions[0].name, low));
  else
    fprintf(writer->out, "      .numRegions = %d,\n      .regions = regionList,\n", spec->numRegions);
}

static void writeCreate(const Writer *writer) {
  const TileOpSpec *spec = writer->spec;
  if (spec->numRegions > 1 && spec->regions[spec->numRegions - 1].arity == TileArity_Variadic) {
    fprintf(writer->out, "// No Create: some regions are variadic and some are not. Use tileBuildGroups.\n");
    return;
  }
  bool infers = opgenInfersResults(spec);
  writeNullable(writer);
  fprintf(writer->out, "static inline MlirOperation %sCreate(TileBuilder *builder", writer->op);
  writeParameters(writer, infers);
  fprintf(writer->out, ") {\n");
  writeGroups(writer, infers);
  writeLists(writer);
  fprintf(writer->out, "  const TileBuildGroups groups = {\n      .numOperandGroups = %d,\n", spec->numOperands);
  fprintf(writer->out, "      .numResultGroups = %d,\n", infers ? -1 : spec->numResults);
  if (spec->numOperands)
    fprintf(writer->out, "      .operands = operandGroups,\n");
  if (!infers && spec->numResults)
    fprintf(writer->out, "      .results = resultGroups,\n");
  writeRegionFields(writer);
  fprintf(writer->out, "      .attributes = attributeEntries,\n      .operandSegments = %s,\n",
          spec->operandSegments ? "true" : "false");
  fprintf(writer->out, "      .resultSegments = %s,\n  };\n", spec->resultSegments ? "true" : "false");
  fprintf(writer->out, "  return tileBuildGroups(builder, \"%s\", &groups);\n}\n", spec->fullName);
}

//===--- the header ---------------------------------------------------------===//
static void writeOp(FILE *out, const Opgen *opgen, const TileOpSpec *spec) {
  Writer writer = {.out = out, .opgen = opgen, .spec = spec};
  snprintf(writer.op, sizeof writer.op, "%s%sOp", opgen->prefix, spec->row->cName);
  fprintf(out, "\n//===--- %s: %s\n", spec->fullName, spec->row->summary ? spec->row->summary : "");
  fprintf(out, "static inline bool %sIsA(MlirOperation op) { return %sOpKind(op) == %sOp_%s; }\n", writer.op,
          opgen->prefix, opgen->capital, spec->row->cName);
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
    fprintf(out, "  %sOp_%s,%s%s\n", opgen->capital, opgen->specs[i].row->cName,
            opgen->specs[i].row->summary ? " // " : "",
            opgen->specs[i].row->summary ? opgen->specs[i].row->summary : "");
  fprintf(out, "} %sOp;\nenum { %sNumOps = %d };\n\n", opgen->capital, opgen->capital, (int)opgen->numSpecs);
  fprintf(out, "// Which op of the dialect this is, in constant time.\n");
  fprintf(out, "static inline %sOp %sOpKind(MlirOperation op) { return (%sOp)tileOpRowIndex(op, \"%s\"); }\n",
          opgen->capital, opgen->prefix, opgen->capital, opgen->dialect);
}

void opgenWriteHeader(FILE *out, const Opgen *opgen) {
  fprintf(out,
          "// Generated from the rows of dialect '%s' by tessera-opgen: do not edit.\n"
          "// Per op: IsA, Create (result types only where they cannot be inferred; regions are taken over), and\n"
          "// accessors. Variadic ones as GetNumX, GetXBegin (position among all) and GetX(op, index). Attributes as\n"
          "// GetX and SetX, and GetXValue as a C value where the attribute is always there; unit ones as HasX.\n"
          "#ifndef TESSERA_GENERATED_OPS_OF_%s\n#define TESSERA_GENERATED_OPS_OF_%s\n\n"
          "#include \"lib/ir/builder.h\"\n#include \"lib/ir/op_dialect.h\"\n#include \"lib/ir/op_format.h\"\n"
          "#include \"lib/ir/support.h\"\n\n",
          opgen->dialect, opgen->dialect, opgen->dialect);
  writeEnum(out, opgen);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    writeOp(out, opgen, &opgen->specs[i]);
  fprintf(out, "\n#endif\n");
}
