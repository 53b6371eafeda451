// A module of typed builders in Python: one function per op, with the row's operands, attributes, regions and, where
// they do not follow, result types. Each calls Builder.make of python/tessera/_kernel/builder.py.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

enum { NameSize = 128 };

// As a Python name: dots become underscores, a keyword or a parameter's name of ours gets a trailing one.
static const char *python(const char *prefix, const char *name, char *buffer) {
  static const char *const taken[] = {"and",   "as",     "assert", "b",     "class",  "def",  "for",
                                      "from",  "if",     "import", "in",    "lambda", "not",  "or",
                                      "print", "return", "try",    "while", "with",   "yield"};
  snprintf(buffer, NameSize, "%s%s", prefix, name);
  for (char *at = buffer; *at; ++at)
    if (*at == '.')
      *at = '_';
  for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i)
    if (!strcmp(buffer, taken[i]))
      return strcat(buffer, "_");
  return buffer;
}

static const char *typeOf(TileArity arity) {
  return arity == TileArity_One ? "Value" : arity == TileArity_Optional ? "Value | None = None" : "Sequence[Value]";
}

static const char *attributeType(const TileAttributeSpec *attribute) {
  static const struct {
    const char *kind, *type;
  } types[] = {{"unit", "bool"},
               {"bool", "bool"},
               {"i32", "int"},
               {"i64", "int"},
               {"index", "int"},
               {"i64 array", "Sequence[int]"},
               {"array", "Attribute"},
               {"i32 array", "Sequence[int]"},
               {"known array", "Attribute"},
               {"any", "Attribute"},
               {"schedule", "Attribute"},
               {"machine", "Attribute"},
               {"layout", "Attribute"},
               {"type", "Type"},
               {"integer", "Attribute"},
               {"float", "Attribute"},
               {"level array", "Attribute"},
               {"affine map", "Attribute"},
               {"property", "Attribute"}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (!strcmp(types[i].kind, attribute->kindName))
      return types[i].type;
  return "str";
}

static bool isOptional(const TileAttributeSpec *attribute) { return attribute->isOptional || attribute->defaultText; }

static const char *resultsType(const TileOpSpec *spec) {
  if (!spec->numResults)
    return "None";
  return spec->numResults == 1 && spec->results[0].arity == TileArity_One ? "Value" : "list[Value]";
}

// Optional operands last: Python allows no parameter without a default after one that has it.
static void writeOperands(FILE *out, const TileOpSpec *spec, bool optional) {
  char name[NameSize];
  for (int i = 0; i < spec->numOperands; ++i)
    if ((spec->operands[i].arity == TileArity_Optional) == optional)
      fprintf(out, ", %s: %s", python("", spec->operands[i].name, name), typeOf(spec->operands[i].arity));
}

static void writeSignature(FILE *out, const char *prefix, const TileOpSpec *spec, bool infers) {
  char name[NameSize];
  fprintf(out, "\n\ndef %s(b: Builder", python(prefix, spec->row->name, name));
  writeOperands(out, spec, false);
  bool hasKeywords = (!infers && spec->numResults) || spec->numAttributes || spec->numRegions;
  writeOperands(out, spec, true);
  if (hasKeywords)
    fprintf(out, ", *");
  for (int i = 0; !infers && i < spec->numResults; ++i)
    fprintf(out, ", %s: %s", python("", spec->results[i].name, name),
            spec->results[i].arity == TileArity_Variadic ? "Sequence[Type]" : "Type");
  for (int i = 0; i < spec->numAttributes; ++i) {
    const TileAttributeSpec *attribute = &spec->attributes[i];
    fprintf(out, ", %s: %s%s", python("", attribute->name, name), attributeType(attribute),
            attribute->isUnit       ? " = False"
            : isOptional(attribute) ? " | None = None"
                                    : "");
  }
  for (int i = 0; i < spec->numRegions; ++i)
    fprintf(out, ", %s: %s", python("", spec->regions[i].name, name),
            spec->regions[i].arity == TileArity_Optional   ? "Region | None = None"
            : spec->regions[i].arity == TileArity_Variadic ? "Sequence[Region] = ()"
                                                           : "Region");
  fprintf(out, ") -> %s:\n", resultsType(spec));
}

// What Builder.make takes as the types of the results: None where MLIR infers them.
static void writeResults(FILE *out, const Opgen *opgen, const TileOpSpec *spec, bool infers) {
  char name[NameSize];
  if (spec->numResults && infers && (!opgen->isUpstream || spec->statesInference)) {
    fprintf(out, "None");
    return;
  }
  fprintf(out, "[");
  for (int i = 0; i < spec->numResults; ++i) {
    const TileValueSpec *result = &spec->results[i];
    bool isVariadic = result->arity == TileArity_Variadic;
    fprintf(out, "%s%s", i ? ", " : "", isVariadic ? "*" : "");
    if (!infers)
      fprintf(out, "%s", python("", result->name, name));
    else if (isVariadic)
      fprintf(out, "(value.type for value in %s)", python("", spec->operands[result->like.index].name, name));
    else
      fprintf(out, "%s.type", python("", spec->operands[result->like.index].name, name));
  }
  fprintf(out, "]");
}

static void writeBody(FILE *out, const Opgen *opgen, const TileOpSpec *spec, bool infers) {
  char name[NameSize];
  const char *results = resultsType(spec);
  if (spec->row->summary)
    fprintf(out, "    \"\"\"%s.\"\"\"\n", spec->row->summary);
  fprintf(out, "    %sb.make(\"%s\", [", strcmp(results, "None") ? "return " : "", spec->fullName);
  for (int i = 0; i < spec->numOperands; ++i)
    fprintf(out, "%s%s", i ? ", " : "", python("", spec->operands[i].name, name));
  fprintf(out, "], ");
  writeResults(out, opgen, spec, infers);
  fprintf(out, ", {");
  for (int i = 0; i < spec->numAttributes; ++i)
    fprintf(out, "%s\"%s\": (\"%s\", %s)", i ? ", " : "", spec->attributes[i].name, spec->attributes[i].kindName,
            python("", spec->attributes[i].name, name));
  fprintf(out, "}, [");
  for (int i = 0; i < spec->numRegions; ++i)
    fprintf(out, "%s%s%s", i ? ", " : "", spec->regions[i].arity == TileArity_Variadic ? "*" : "",
            python("", spec->regions[i].name, name));
  fprintf(out, "]%s)%s\n", spec->operandSegments ? ", segments=True" : "", strcmp(results, "Value") ? "" : "[0]");
}

void opgenWritePythonHead(FILE *out) {
  fprintf(out, "\"\"\"Builders of ops. Generated by tessera-opgen from the op tables: do not edit (./dev docs).\"\"\"\n"
               "# yapf: disable\n"
               "from __future__ import annotations\n\n"
               "from typing import TYPE_CHECKING, Any, Sequence\n\n"
               "if TYPE_CHECKING:\n    from typing import TypeAlias\n\n    from .builder import Builder, Value\n\n"
               "    Attribute: TypeAlias = Any\n    Region: TypeAlias = Any\n    Type: TypeAlias = Any\n");
}

void opgenWritePython(FILE *out, const Opgen *opgen) {
  char prefix[64] = "";
  if (opgen->isUpstream)
    snprintf(prefix, sizeof prefix, "%s_", opgen->dialect);
  for (const OpgenEnum *entry = opgen->enums; entry && entry->name; ++entry)
    fprintf(out, "\n%s%s = \"%s\".split()\n", prefix, entry->name, entry->words);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i) {
    bool infers = opgenInfersResults(&opgen->specs[i]) || !opgen->specs[i].numResults;
    writeSignature(out, prefix, &opgen->specs[i], infers);
    writeBody(out, opgen, &opgen->specs[i], infers);
  }
}
