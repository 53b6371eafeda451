// Generates C from the template files (lib/ir/template.h says what they are): for each folder a header with a struct
// and a function for each file, and one table of all texts. Refuses, with file and line, a parameter that is not
// declared, is declared twice or is not used.
//
//   tessera-templates OUTPUT_FOLDER OUTPUT_TABLE FILE…          files by their path from the root, sorted
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MaxParameters = 32, MaxName = 64, MaxSample = 200 };

typedef struct Parameter {
  char name[MaxName], sample[MaxSample];
  int kind; // index of `kinds`
  bool isUsed;
} Parameter;

typedef struct Template {
  const char *file;
  char name[MaxName], camel[MaxName];
  char *text;
  size_t length;
  Parameter parameters[MaxParameters];
  int numParameters;
} Template;

static const struct {
  const char *word, *constant, *type, *member;
} kinds[] = {{"type", "TileParameter_Type", "MlirType", "type"},
             {"attribute", "TileParameter_Attribute", "MlirAttribute", "attribute"},
             {"integer", "TileParameter_Integer", "int64_t", "integer"},
             {"op", "TileParameter_Op", "TileUpstream", "op"},
             {"hook", "TileParameter_Hook", "TileHook", "hook"}};
enum { HookKind = 4 };

static bool fail(const Template *t, int line, const char *what, const char *name) {
  fprintf(stderr, "%s:%d: error: %s '%s'\n", t->file, line, what, name);
  return false;
}

//===--- reading ----------------------------------------------------------------===//

static Parameter *find(Template *t, const char *name) {
  for (int i = 0; i < t->numParameters; ++i)
    if (!strcmp(t->parameters[i].name, name))
      return &t->parameters[i];
  return NULL;
}

static bool declare(Template *t, int line, int kind, const char *name, const char *sample) {
  if (find(t, name))
    return fail(t, line, "this parameter is declared twice:", name);
  if (t->numParameters == MaxParameters)
    return fail(t, line, "too many parameters at", name);
  Parameter *p = &t->parameters[t->numParameters++];
  *p = (Parameter){.kind = kind, .isUsed = kind == HookKind};
  snprintf(p->name, sizeof p->name, "%s", name);
  snprintf(p->sample, sizeof p->sample, "%s", sample);
  return true;
}

static size_t nameLength(const char *at) { return strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); }

// "$E = f32, $A = f32": what stands between a name and the next is its sample.
static bool declareAll(Template *t, int line, int kind, char *list) {
  while (*list) {
    size_t length = nameLength(list + 1);
    char *name = list + 1, *end = strstr(list + 1, ", $");
    if (*list != '$' || !length || strncmp(name + length, " = ", 3) != 0)
      return fail(t, line, "expected '$NAME = sample', but got", list);
    char *sample = name + length + 3, *next = end ? end + 2 : list + strlen(list);
    name[length] = '\0';
    if (end)
      *end = '\0';
    if (!declare(t, line, kind, name, sample))
      return false;
    list = next;
  }
  return true;
}

static bool readLine(Template *t, int number, char *line) {
  static const char *const declarations[] = {"func.func private @", "tile.func private @"};
  char name[MaxName];
  for (int kind = 0; kind < HookKind; ++kind) {
    size_t length = strlen(kinds[kind].word);
    if (!strncmp(line, "//   ", 5) && !strncmp(line + 5, kinds[kind].word, length) &&
        !strncmp(line + 5 + length, " $", 2))
      return declareAll(t, number, kind, line + 6 + length);
  }
  if (!strncmp(line, "//", 2))
    return true;
  size_t length = strlen(line);
  for (int i = 0; i < 2; ++i) {
    const char *symbol = line + strlen(declarations[i]);
    if (strncmp(line, declarations[i], strlen(declarations[i])) != 0 || line[length - 1] == '{')
      continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(symbol, "("), symbol);
    if (!declare(t, number, HookKind, name, ""))
      return false;
  }
  for (const char *at = strchr(line, '$'); at; at = strchr(at + 1, '$')) {
    snprintf(name, sizeof name, "%.*s", (int)nameLength(at + 1), at + 1);
    Parameter *p = find(t, name);
    if (!p)
      return fail(t, number, "this parameter is not declared:", name);
    p->isUsed = true;
  }
  return true;
}

static bool readTemplate(Template *t) {
  const char *slash = strrchr(t->file, '/');
  FILE *in = fopen(t->file, "rb");
  if (!in) {
    perror(t->file);
    return false;
  }
  struct stat status;
  bool isRead = !fstat(fileno(in), &status);
  t->length = isRead ? (size_t)status.st_size : 0;
  t->text = calloc(t->length + 1, 1);
  isRead = isRead && t->text && fread(t->text, 1, t->length, in) == t->length;
  fclose(in);
  if (!isRead)
    return fail(t, 1, "cannot be read:", t->file);
  snprintf(t->name, sizeof t->name, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
  size_t length = 0;
  for (const char *c = t->name; *c; ++c)
    if (*c != '_')
      t->camel[length++] = (char)(c == t->name || c[-1] == '_' ? *c & ~32 : *c);
  char *copy = strdup(t->text), *rest = copy;
  bool ok = true;
  for (int number = 1; ok && *rest; ++number) {
    char *line = rest, *end = strchr(rest, '\n');
    rest = end ? end + 1 : rest + strlen(rest);
    if (end)
      *end = '\0';
    ok = readLine(t, number, line);
  }
  free(copy);
  for (int i = 0; ok && i < t->numParameters; ++i)
    ok = t->parameters[i].isUsed || fail(t, 1, "this parameter is not used:", t->parameters[i].name);
  return ok;
}

//===--- writing ----------------------------------------------------------------===//

static void writeDeclaration(FILE *out, const Template *t) {
  const char *end = strchr(t->text, '\n');
  fprintf(out, "\n%.*s\ntypedef struct Tile%s {\n", (int)(end - t->text), t->text, t->camel);
  for (int i = 0; i < t->numParameters; ++i)
    fprintf(out, "  %s %s;\n", kinds[t->parameters[i].kind].type, t->parameters[i].name);
  fprintf(out, "%s} Tile%s;\nTileTemplateUse tileUse%s(Tile%s given);\n", t->numParameters ? "" : "  char none;\n",
          t->camel, t->camel, t->camel);
}

static void writeDefinition(FILE *out, const Template *t, int index) {
  fprintf(out, "TileTemplateUse tileUse%s(Tile%s given) {\n  TileTemplateUse use = {.from = &tileTemplates[%d]};\n",
          t->camel, t->camel, index);
  for (int i = 0; i < t->numParameters; ++i)
    fprintf(out, "  use.values[%d].%s = given.%s;\n", i, kinds[t->parameters[i].kind].member, t->parameters[i].name);
  fprintf(out, "  return use;\n}\n");
}

static void writeTable(FILE *out, const Template *templates, int count) {
  for (int k = 0; k < count; ++k) {
    const Template *t = &templates[k];
    fprintf(out, "static const TileParameter parameters%d[] = {\n", k);
    for (int i = 0; i < t->numParameters; ++i) {
      fprintf(out, "    {\"%s\", %s, \"", t->parameters[i].name, kinds[t->parameters[i].kind].constant);
      for (const char *c = t->parameters[i].sample; *c; ++c)
        fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
      fprintf(out, "\"},\n");
    }
    fprintf(out, "    {0}};\nstatic const unsigned char text%d[] = {", k);
    for (size_t i = 0; i < t->length; ++i)
      fprintf(out, "%d,", (unsigned char)t->text[i]);
    fprintf(out, "0};\n");
  }
  fprintf(out, "const TileTemplate tileTemplates[] = {\n");
  for (int k = 0; k < count; ++k)
    fprintf(out, "    {\"%s\", \"%s\", text%d, %zu, parameters%d, %d},\n", templates[k].file, templates[k].name, k,
            templates[k].length, k, templates[k].numParameters);
  fprintf(out, "};\nconst int tileTemplatesCount = %d;\n", count);
}

static FILE *create(const char *folder, const char *path, int length, const char *end) {
  char name[1024];
  snprintf(name, sizeof name, "%s/%.*s%s", folder, length, path, end);
  FILE *out = fopen(name, "w");
  if (!out) {
    perror(name);
    exit(1);
  }
  return out;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s OUTPUT_FOLDER OUTPUT_TABLE FILE…\n", argv[0]);
    return 1;
  }
  int count = argc - 3;
  Template *templates = calloc((size_t)count + 1, sizeof *templates);
  bool ok = true;
  for (int k = 0; k < count; ++k) {
    templates[k].file = argv[3 + k];
    ok &= readTemplate(&templates[k]);
  }
  if (!ok)
    exit(1);
  FILE *table = create(argv[1], argv[2], (int)strlen(argv[2]), ""), *header = NULL;
  fprintf(table, "// Generated by tessera-templates.\n#include \"lib/ir/template.h\"\n");
  for (int k = 0; k < count; ++k) {
    const char *file = templates[k].file;
    int length = (int)(strrchr(file, '/') - file);
    bool isFirst = k == 0 || strncmp(file, templates[k - 1].file, (size_t)length + 1) != 0;
    if (isFirst) {
      if (header)
        fclose(header);
      header = create(argv[1], file, length, ".h");
      fprintf(header,
              "// Generated by tessera-templates from %.*s/*.mlir.\n#pragma once\n#include \"lib/ir/template.h\"\n",
              length, file);
      fprintf(table, "#include \"%.*s.h\"\n", length, file);
    }
    writeDeclaration(header, &templates[k]);
  }
  if (header)
    fclose(header);
  writeTable(table, templates, count);
  for (int k = 0; k < count; ++k)
    writeDefinition(table, &templates[k], k);
  for (int k = 0; k < count; ++k)
    free(templates[k].text);
  free(templates);
  return fclose(table) != 0;
}
