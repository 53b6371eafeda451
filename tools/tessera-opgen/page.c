// The reference page of a dialect: a list of its ops, then per op what its row says.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

// Text inside a cell of a table.
static void writeCell(FILE *out, const char *text) {
  for (; *text; ++text)
    fprintf(out, *text == '|' ? "\\|" : "%c", *text);
}

static const char *nameOf(const TileOpSpec *spec, TilePlace place) {
  return place.kind == TilePlace_Attribute ? spec->attributes[place.index].name
         : place.kind == TilePlace_Operand ? spec->operands[place.index].name
                                           : spec->results[place.index].name;
}

static void writePresence(FILE *out, const TileOpSpec *spec, const TilePresence *presence) {
  if (presence->place.kind != TilePlace_None)
    fprintf(out, ", %s `%s`", presence->isUnless ? "unless" : "with", nameOf(spec, presence->place));
}

static void writeValue(FILE *out, const TileOpSpec *spec, const char *what, const TileValueSpec *value) {
  fprintf(out, "| %s | `%s` | %s%s", what, value->name, tileArityText(value->arity),
          value->arity == TileArity_One ? "" : " ");
  if (value->constraintName)
    writeCell(out, value->constraintName);
  if (value->like.kind != TilePlace_None)
    fprintf(out, "%s%s%s of `%s`", value->constraintName ? ", " : "", value->ruleName ? "" : "the type",
            value->ruleName ? value->ruleName : "", nameOf(spec, value->like));
  writePresence(out, spec, &value->presence);
  fprintf(out, " |\n");
}

static void writeAttribute(FILE *out, const TileOpSpec *spec, const TileAttributeSpec *attribute) {
  bool optional = attribute->isOptional && !attribute->defaultText && !attribute->isUnit;
  fprintf(out, "| attribute | `%s` | %s", attribute->name, optional ? "optional " : "");
  writeCell(out, attribute->kindName);
  if (attribute->defaultText) {
    fprintf(out, ", default `");
    writeCell(out, attribute->defaultText);
    fprintf(out, "`");
  }
  writePresence(out, spec, &attribute->presence);
  fprintf(out, " |\n");
}

static void writeTable(FILE *out, const TileOpSpec *spec) {
  if (spec->numOperands + spec->numResults + spec->numAttributes + spec->numRegions == 0)
    return;
  fprintf(out, "| | name | what |\n|---|---|---|\n");
  for (int i = 0; i < spec->numOperands; ++i)
    writeValue(out, spec, "operand", &spec->operands[i]);
  for (int i = 0; i < spec->numResults; ++i)
    writeValue(out, spec, "result", &spec->results[i]);
  for (int i = 0; i < spec->numAttributes; ++i)
    writeAttribute(out, spec, &spec->attributes[i]);
  for (int i = 0; i < spec->numRegions; ++i)
    fprintf(out, "| region | `%s` | %s |\n", spec->regions[i].name, tileArityText(spec->regions[i].arity));
  fprintf(out, "\n");
}

// The format between double backquotes: it holds single ones.
static void writeFormat(FILE *out, const char *format) {
  if (format)
    fprintf(out, "Format: `` %s ``\n\n", format);
}

static void writeLine(FILE *out, const char *what, const char *text) {
  if (text && *text)
    fprintf(out, "%s: %s\n\n", what, text);
}

static bool hasHook(const TileOpRow *row, const char *hook) { return row->hooksText && strstr(row->hooksText, hook); }

static void writeHooks(FILE *out, const TileOpRow *row) {
  static const struct {
    const char *hook, *text;
  } hooks[] = {
      {".verify ", "checks beyond the table"},
      {".fold ", "folds"},
      {".canonicalize ", "canonicalizes"},
      {".inferTypes ", "infers its result types"},
      {".effects ", "effects that depend on the operands"},
      {".expand ", "expands to other ops"},
  };
  int count = 0;
  for (size_t i = 0; i < sizeof hooks / sizeof *hooks; ++i)
    if (hasHook(row, hooks[i].hook))
      fprintf(out, "%s%s", count++ ? ", " : "Also: ", hooks[i].text);
  fprintf(out, count ? "\n\n" : "");
}

static void writeOp(FILE *out, const TileOpSpec *spec) {
  const TileOpRow *row = spec->row;
  fprintf(out, "## `%s`\n\n", spec->fullName);
  if (row->summary)
    fprintf(out, "**%s.**", row->summary);
  fprintf(out, "%s%s\n\n", row->description ? " " : "", row->description ? row->description : "");
  if (row->example)
    fprintf(out, "```mlir\n%s\n```\n\n", row->example);
  writeTable(out, spec);
  writeFormat(out, row->format);
  writeLine(out, "Traits", row->traits);
  writeLine(out, "Effects", row->effects);
  writeLine(out, "Properties", row->properties);
  writeHooks(out, row);
}

void opgenWritePage(FILE *out, const Opgen *opgen) {
  fprintf(out, "# The dialect `%s`\n\nGenerated from its op table by `./dev docs`. %d ops:\n\n", opgen->dialect,
          (int)opgen->numSpecs);
  for (intptr_t i = 0; i < opgen->numSpecs; ++i) {
    const TileOpRow *row = opgen->specs[i].row;
    fprintf(out, "- [`%s`](#%s%s): %s\n", opgen->specs[i].fullName, opgen->dialect, row->name,
            row->summary ? row->summary : "");
  }
  fprintf(out, "\n");
  for (intptr_t i = 0; i < opgen->numSpecs; ++i)
    writeOp(out, &opgen->specs[i]);
}
