// tessera-opgen-upstream FOLDER: writes from lib/ir/upstream.def the header FOLDER/DIALECT.h of every section, and
// FOLDER/names.inc, slots.inc and sources.inc, the tables of all names and texts that lib/ir/upstream.c compiles.
// tessera-opgen-upstream python FILE: writes the builders for Python of the dialects that kernels in Python use.
#include "tools/tessera-opgen/opgen.h"
#include <string.h>

#define TESSERA_OP TESSERA_OP_ROW
static const TileOpRow rows[] = {
#include "lib/ir/upstream.def"
};
enum { NumRows = sizeof rows / sizeof *rows, MaxEnums = 24, NumSlots = 4 * NumRows };

static FILE *openFile(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return opgenOpen(path);
}

static bool closeFile(FILE *out, const char *folder, const char *name, bool isWhole) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return opgenClose(out, path, isWhole);
}

// A row that begins a section has no C name, an attribute kind no name.
static bool isSection(const TileOpRow *row) { return !row->cName; }
static bool isEnum(const TileOpRow *row) { return !row->name; }

static int endOfSection(int at) {
  int end = at + 1;
  while (end < NumRows && !isSection(&rows[end]))
    ++end;
  return end;
}

static bool compileSection(TileArena *arena, int section, TileOpSpec *specs, OpgenEnum *enums, Opgen *opgen) {
  TileDialectTable *table = tileArenaAllocate(arena, sizeof *table);
  *table = (TileDialectTable){.name = rows[section].name, .numRows = NumRows, .rows = rows};
  char text[512];
  TileSpecError error = {text, sizeof text};
  int numEnums = 0;
  for (int i = section + 1, end = endOfSection(section); i < end; ++i)
    if (isEnum(&rows[i]) && numEnums + 1 < MaxEnums)
      enums[numEnums++] = (OpgenEnum){rows[i].cName, rows[i].summary, rows[i].attributes, rows[i].format};
    else if (isEnum(&rows[i]) || !tileSpecCompileText(arena, table, i, &specs[opgen->numSpecs++], &error)) {
      fprintf(stderr, "lib/ir/upstream/%s.def: error: %s\n", table->name, isEnum(&rows[i]) ? "too many enums" : text);
      return false;
    }
  return true;
}

// Open addressing: the first free slot from the hash on.
static void addSlot(const char *name, int number, int *slots) {
  uint32_t slot = tileNameHash(name, strlen(name)) % NumSlots;
  while (slots[slot])
    slot = (slot + 1) % NumSlots;
  slots[slot] = number + 1;
}

static bool writeSlots(const char *folder, const int *slots) {
  FILE *out = openFile(folder, "slots.inc");
  for (int i = 0; out && i < NumSlots; ++i)
    fprintf(out, "%d,\n", slots[i]);
  return out && closeFile(out, folder, "slots.inc", true);
}

// The words that may stand in front of a name, with the space.
static size_t lengthOfWord(const char *piece) {
  static const char *const words[] = {"signed ", "unsigned ", "typed ", "wide ", "type ", "signedtype ", "element "};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (!strncmp(piece, words[i], strlen(words[i])))
      return strlen(words[i]);
  return 0;
}

static int firstLooseOf(const TileOpSpec *spec) {
  int loose = 0;
  while (loose < spec->numOperands && spec->operands[loose].arity == TileArity_One)
    ++loose;
  return loose;
}

// The column `source`, in which an operand's name becomes #3 and a result's =0.
static bool writeSource(FILE *out, const TileOpSpec *spec) {
  const char *at = spec->row->source;
  if (!at) {
    fprintf(out, "{NULL, 0, 0, false},\n");
    return true;
  }
  fprintf(out, "{\"");
  int depth = 0;
  const char *name = NULL; // where a name may begin: behind a brace, or behind the word that follows a brace
  for (; *at; ++at) {
    depth += (*at == '{') - (*at == '}');
    fputc(*at, out);
    if (*at == '{')
      name = at + 1 + lengthOfWord(at + 1);
    if (!name || at + 1 != name)
      continue;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    TilePlace place = tileSpecFind(spec, name, length);
    if (length && (place.kind == TilePlace_Operand || place.kind == TilePlace_Result)) {
      fprintf(out, "%c%d", place.kind == TilePlace_Operand ? '#' : '=', place.index);
      at += length;
    }
    name = NULL;
  }
  fprintf(out, "\", %d, %d, %s},\n", spec->numOperands, spec->operandSegments ? firstLooseOf(spec) : spec->looseOperand,
          spec->operandSegments ? "true" : "false");
  if (depth)
    fprintf(stderr, "lib/ir/upstream: error: %s: the column `source` has a brace too many\n", spec->fullName);
  return !depth;
}

static bool writeSection(TileArena *arena, const char *folder, int section, intptr_t first, intptr_t *count,
                         FILE *names, FILE *sources, int *slots) {
  TileOpSpec *specs = tileArenaAllocate(arena, sizeof *specs * (size_t)(endOfSection(section) - section));
  OpgenEnum enums[MaxEnums] = {{NULL}};
  const char *dialect = rows[section].name;
  Opgen opgen = {.dialect = dialect, .specs = specs, .isUpstream = true, .first = first, .enums = enums};
  opgenCamel(dialect, false, opgen.prefix, sizeof opgen.prefix);
  opgenCamel(dialect, true, opgen.capital, sizeof opgen.capital);
  if (!compileSection(arena, section, specs, enums, &opgen))
    return false;
  for (intptr_t i = 0; i < opgen.numSpecs; ++i) {
    fprintf(names, "{\"%s\", %d, %u},\n", specs[i].fullName, (int)strlen(specs[i].fullName),
            (unsigned)specs[i].properties);
    addSlot(specs[i].fullName, (int)(first + i), slots);
    if (!writeSource(sources, &specs[i]))
      return false;
  }
  *count = opgen.numSpecs;
  char name[64];
  snprintf(name, sizeof name, "%s.h", dialect);
  FILE *out = openFile(folder, name);
  if (!out)
    return false;
  opgenWriteHeader(out, &opgen);
  return closeFile(out, folder, name, true);
}

static bool isForPython(const char *dialect) {
  static const char *const names[] = {"arith", "math", "scf", "memref", "func", "bufferization"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!strcmp(names[i], dialect))
      return true;
  return false;
}

static bool writePython(TileArena *arena, const char *path) {
  FILE *out = opgenOpen(path);
  if (!out)
    return false;
  opgenWritePythonHead(out);
  bool ok = true;
  for (int at = 0; ok && at < NumRows; at = endOfSection(at)) {
    TileOpSpec *specs = tileArenaAllocate(arena, sizeof *specs * (size_t)(endOfSection(at) - at));
    OpgenEnum enums[MaxEnums] = {{NULL}};
    Opgen opgen = {.dialect = rows[at].name, .specs = specs, .isUpstream = true, .enums = enums};
    if (!isForPython(opgen.dialect))
      continue;
    ok = compileSection(arena, at, specs, enums, &opgen);
    if (ok)
      opgenWritePython(out, &opgen);
  }
  return opgenClose(out, path, ok);
}

int main(int argc, char **argv) {
  bool isPython = argc == 3 && !strcmp(argv[1], "python");
  if (argc != 2 && !isPython) {
    fprintf(stderr, "usage: %s FOLDER | python FILE\n", argv[0]);
    return 1;
  }
  TileArena arena = {0};
  if (isPython) {
    bool written = writePython(&arena, argv[2]);
    tileArenaFree(&arena);
    return !written;
  }
  FILE *names = openFile(argv[1], "names.inc"), *sources = openFile(argv[1], "sources.inc");
  int slots[NumSlots] = {0};
  intptr_t first = 0;
  bool ok = names && sources;
  for (int at = 0; ok && at < NumRows; at = endOfSection(at)) {
    intptr_t count = 0;
    ok = writeSection(&arena, argv[1], at, first, &count, names, sources, slots);
    first += count;
  }
  if (sources)
    ok &= closeFile(sources, argv[1], "sources.inc", ok);
  if (names)
    ok &= closeFile(names, argv[1], "names.inc", ok) && writeSlots(argv[1], slots);
  tileArenaFree(&arena);
  return !ok;
}
