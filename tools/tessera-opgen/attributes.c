// The attribute kinds of upstream's dialects (TESSERA_ENUM, TESSERA_WORDS, TESSERA_ATTRIBUTE) as C: an enum for the
// words, and for what mlir-c cannot make the function that builds it.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

enum { NameSize = 128 };

// `typedef enum ArithCmpI { ArithCmpI_Eq, … } ArithCmpI;`
static void writeWords(FILE *out, const Opgen *opgen, const OpgenEnum *kind) {
  char word[NameSize], name[NameSize];
  fprintf(out, "typedef enum %s%s {", opgen->capital, kind->name);
  for (const char *at = kind->words; *at; at += *at == ' ') {
    size_t length = strcspn(at, " "), bare = strcspn(at, "= ");
    snprintf(word, sizeof word, "%.*s", (int)bare, at);
    fprintf(out, " %s%s_%s%.*s,", opgen->capital, kind->name, opgenCamel(word, true, name, sizeof name),
            (int)(length - bare), at + bare);
    at += length;
  }
  fprintf(out, " } %s%s;\n", opgen->capital, kind->name);
}

// The texts `"#nvvm.mma_layout<row>", …`, what builds the attribute of a word, and what finds the word of an attribute.
static void writeWordAttribute(FILE *out, const Opgen *opgen, const OpgenEnum *kind) {
  int before = (int)strcspn(kind->text, "$");
  const char *prefix = opgen->prefix, *name = kind->name;
  fprintf(out, "static const char *const %s%sTexts[] = {", prefix, name);
  for (const char *at = kind->words; *at; at += *at == ' ') {
    int length = (int)strcspn(at, " ");
    fprintf(out, "\"#%s%.*s%.*s%s\", ", opgen->dialect, before, kind->text, length, at, kind->text + before + 1);
    at += length;
  }
  fprintf(out,
          "NULL};\nstatic inline MlirAttribute %s%sAttr(const TileBuilder *builder, %s%s word) {\n"
          "  return tileBuildAttribute(builder, %s%sTexts[word]);\n}\n",
          prefix, name, opgen->capital, name, prefix, name);
  fprintf(out,
          "// The word, a %s%s; -1: another attribute.\n"
          "static inline int %s%sOf(MlirAttribute attribute) { return tileUpstreamWord(attribute, %s%sTexts); }\n",
          opgen->capital, name, prefix, name, prefix, name);
}

// The next parameter of the text from `at` on, and its name: $name is a number, "$name" in quotes a text.
static const char *nextParameter(const char *at, char *name, bool *isText) {
  char bare[NameSize];
  at = strchr(at, '$');
  if (!at)
    return NULL;
  *isText = at[-1] == '"';
  snprintf(bare, sizeof bare, "%.*s", (int)strcspn(at + 1, " ,>\""), at + 1);
  opgenCamel(bare, false, name, NameSize);
  return at + 1;
}

// `#nvvm.shape<m = %lld, …>`, with quotes as C writes them.
static void writeFormat(FILE *out, const Opgen *opgen, const char *text) {
  char name[NameSize];
  bool isText;
  fprintf(out, "\"#%s", opgen->dialect);
  for (; *text; ++text) {
    if (*text != '$') {
      fprintf(out, *text == '"' ? "\\%c" : "%c", *text);
      continue;
    }
    nextParameter(text, name, &isText);
    fprintf(out, isText ? "%%s" : "%%lld");
    text += strcspn(text, " ,>\"") - 1;
  }
  fprintf(out, "\"");
}

static void writeAttribute(FILE *out, const Opgen *opgen, const OpgenEnum *kind) {
  char name[NameSize];
  bool isText;
  fprintf(out, "static inline MlirAttribute %s%sAttr(const TileBuilder *builder", opgen->prefix, kind->name);
  for (const char *at = kind->text; (at = nextParameter(at, name, &isText));)
    fprintf(out, ", %s%s", isText ? "const char *" : "int64_t ", name);
  fprintf(out, ") {\n  return tileBuildAttributeWith(builder, ");
  writeFormat(out, opgen, kind->text);
  for (const char *at = kind->text; (at = nextParameter(at, name, &isText));)
    fprintf(out, ", %s%s", isText ? "" : "(long long)", name);
  fprintf(out, ");\n}\n");
}

void opgenWriteAttributeKind(FILE *out, const Opgen *opgen, const OpgenEnum *kind) {
  if (kind->words)
    writeWords(out, opgen, kind);
  if (kind->words && kind->text)
    writeWordAttribute(out, opgen, kind);
  else if (kind->text)
    writeAttribute(out, opgen, kind);
}
