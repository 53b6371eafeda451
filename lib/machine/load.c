// Reads machine files: finds them, takes over their base, detects, overrides, and checks that nothing needed is
// missing. Expects: any text. Leaves: a complete TileMachine or an error "FILE:LINE: key 'KEY': …" with the line in
// error->line.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/machine/embedded.h"
#include "lib/machine/host.h"
#include "lib/machine/keys.h"
#include "lib/machine/store.h"
#include "lib/support/status.h"

enum { MaxFileBytes = 1 << 20, MaxDepth = 8, MaxLine = 1024, MaxName = 64 };

typedef struct {
  TileMachine *machine;
  const char *searchDir; // NULL if there is none
  TileError *error;
  int depth;
} Loader;

// Where we are in a file; `file` is a path or "built-in NAME.machine".
typedef struct {
  const char *file, *name, *text, *end;
  size_t line;
  bool userFile;
} Source;

static bool complain(Loader *loader, const Source *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool complain(Loader *loader, const Source *source, const char *format, ...) {
  char text[TILE_ERROR_CAPACITY - 128];
  va_list arguments;
  va_start(arguments, format);
  tessera_sentence(text, sizeof text, format, arguments);
  va_end(arguments);
  // The end of a long path tells more, and what is wrong must still fit.
  size_t length = strlen(source->file), skipped = length > 80 ? length - 80 : 0;
  return tileErrorSet(loader->error, source->line, 0, "%s:%zu: %s", source->file + skipped, source->line, text);
}

static bool loadNamed(Loader *loader, const char *name, bool builtInOnly);

//===--- One line --------------------------------------------------------===//

static bool setChecked(Loader *loader, const Source *source, const char *key, const char *value) {
  const char *wanted;
  const TileMachineKey *row = tileMachineFindKey(key);
  if (!row) {
    TESSERA_LIST(known);
    tileMachineListKeys(key, &known);
    return complain(loader, source, "unknown key '%s'; known: %s (x.* is for keys of your own)", key, known.text);
  }
  if (!tileMachineValueFits(row->type, value, &wanted))
    return complain(loader, source, "key '%s': expected %s, found '%s'", key, wanted, value);
  if (!tileMachineSet(loader->machine, key, value))
    return tileErrorSet(loader->error, 0, 0, "out of memory");
  return true;
}

static bool takeBase(Loader *loader, const Source *source, const char *value, bool first) {
  char detected[MaxName];
  TileError inner = {0}, *outer = loader->error;
  if (!first)
    return complain(loader, source, "key 'base' must come first: the other keys replace what it brings");
  if (!strcmp(value, "detect")) {
    if (!tileHostDetect("base", detected, sizeof detected))
      return complain(loader, source,
                      "key 'base': this host is not an x86-64 processor with AVX2; name a machine file");
    value = detected;
  }
  if (loader->depth >= MaxDepth)
    return complain(loader, source, "key 'base': more than %d machines on top of each other; do they form a circle?",
                    MaxDepth);
  loader->error = &inner;
  bool good = loadNamed(loader, value, source->userFile && !strcmp(value, source->name));
  loader->error = outer;
  if (!good && inner.line)
    return tileErrorSet(outer, inner.line, inner.column, "%s", inner.text);
  return good || complain(loader, source, "key 'base': %s", inner.text);
}

// An instruction that the host has not: what the base says of it becomes a shape without types.
static bool leaveOut(Loader *loader, const char *key) {
  char shape[MaxName];
  const char *value = tileMachineGetText(loader->machine, key);
  if (!value)
    return true;
  snprintf(shape, sizeof shape, "%.*s", (int)strcspn(value, " "), value);
  return tileMachineSet(loader->machine, key, shape) || tileErrorSet(loader->error, 0, 0, "out of memory");
}

static bool takeKey(Loader *loader, const Source *source, const char *key, const char *value, bool first) {
  char detected[MaxName];
  if (!strcmp(key, "base"))
    return takeBase(loader, source, value, first);
  if (strcmp(value, "detect"))
    return setChecked(loader, source, key, value);
  if (tileHostDetect(key, detected, sizeof detected))
    return setChecked(loader, source, key, detected);
  if (!strncmp(key, "atom.", 5))
    return leaveOut(loader, key);
  if (tileMachineHas(loader->machine, key))
    return true;
  return complain(loader, source, "key '%s': the host does not tell, and no base gives a value", key);
}

static char *trim(char *text) {
  text += strspn(text, " \t\r");
  size_t length = strlen(text);
  while (length && strchr(" \t\r", text[length - 1]))
    text[--length] = '\0';
  return text;
}

// Cuts `key = value # comment` in place; key NULL if the line is empty.
static bool splitLine(Loader *loader, const Source *source, char *line, char **key, char **value) {
  char *comment = strchr(line, '#'), *equals;
  if (comment)
    *comment = '\0';
  *key = NULL;
  line = trim(line);
  if (!*line)
    return true;
  if (!(equals = strchr(line, '=')))
    return complain(loader, source, "expected 'key = value', found '%s'", line);
  *equals = '\0';
  *key = trim(line);
  *value = trim(equals + 1);
  if (!**key)
    return complain(loader, source, "expected a key before '='");
  return **value || complain(loader, source, "key '%s': the value is missing", *key);
}

//===--- One file --------------------------------------------------------===//

static bool copyLine(Loader *loader, Source *source, char *line) {
  const char *newline = memchr(source->text, '\n', (size_t)(source->end - source->text));
  size_t length = (size_t)((newline ? newline : source->end) - source->text);
  ++source->line;
  if (length >= MaxLine)
    return complain(loader, source, "a line of %zu characters; at most %d are read", length, MaxLine - 1);
  memcpy(line, source->text, length);
  line[length] = '\0';
  source->text += length + (newline != NULL);
  return strlen(line) == length || complain(loader, source, "a zero byte: this is not a text file");
}

static bool loadText(Loader *loader, Source *source) {
  char line[MaxLine], *key, *value;
  TileMachine seen = {0}; // the keys of this file alone, to find repetitions
  bool good = true, first = true;
  while (good && source->text < source->end) {
    good = copyLine(loader, source, line) && splitLine(loader, source, line, &key, &value);
    if (!good || !key)
      continue;
    if (tileMachineHas(&seen, key))
      good = complain(loader, source, "key '%s' is given twice", key);
    else if (!tileMachineSet(&seen, key, value))
      good = tileErrorSet(loader->error, 0, 0, "out of memory");
    else
      good = takeKey(loader, source, key, value, first);
    first = false;
  }
  for (size_t i = 0; i < seen.count; ++i) {
    free(seen.entries[i].key);
    free(seen.entries[i].value);
  }
  free(seen.entries);
  return good;
}

static char *readFile(FILE *stream, size_t *length) {
  char *text = malloc(MaxFileBytes + 1);
  *length = text ? fread(text, 1, MaxFileBytes + 1, stream) : 0;
  if (text && ferror(stream)) {
    free(text);
    text = NULL;
  }
  return text;
}

// Sets *found if the folder has the file; what is wrong with it then is an error.
static bool loadFromFolder(Loader *loader, const char *name, bool *found) {
  char path[4096];
  size_t length;
  int written = snprintf(path, sizeof path, "%s/%s.machine", loader->searchDir, name);
  errno = ENAMETOOLONG;
  FILE *stream = written < (int)sizeof path ? fopen(path, "r") : NULL;
  *found = stream != NULL;
  if (!stream)
    return errno == ENOENT || tileErrorSet(loader->error, 0, 0, "%s: %s", path, strerror(errno));
  char *text = readFile(stream, &length);
  fclose(stream);
  bool good = text && length <= MaxFileBytes;
  if (good) {
    Source source = {.file = path, .name = name, .text = text, .end = text + length, .userFile = true};
    good = loadText(loader, &source);
  } else {
    tileErrorSet(loader->error, 0, 0, "%s: cannot be read, or has more than %d bytes", path, MaxFileBytes);
  }
  free(text);
  return good;
}

static bool loadBuiltIn(Loader *loader, const char *name, bool *found) {
  for (size_t i = 0; i < tileEmbeddedMachinesCount; ++i) {
    const TileEmbeddedText *embedded = &tileEmbeddedMachines[i];
    if (strcmp(embedded->name, name))
      continue;
    char file[MaxName + 32];
    snprintf(file, sizeof file, "built-in %s.machine", name);
    const char *text = (const char *)embedded->text;
    Source source = {.file = file, .name = name, .text = text, .end = text + embedded->length};
    *found = true;
    return loadText(loader, &source);
  }
  return true;
}

static bool isName(const char *name) {
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
  return length > 0 && length < MaxName && !name[length] && name[0] != '.';
}

static bool loadNamed(Loader *loader, const char *name, bool builtInOnly) {
  bool found = false;
  ++loader->depth;
  if (isName(name)) {
    if (loader->searchDir && !builtInOnly && !loadFromFolder(loader, name, &found))
      return false;
    if (!found && !loadBuiltIn(loader, name, &found))
      return false;
  }
  --loader->depth;
  if (found)
    return true;
  TESSERA_LIST(known);
  tileMachineListFolder(loader->searchDir, &known);
  return tileErrorSet(loader->error, 0, 0, "unknown machine '%s'; known: %s", name, known.text);
}

//===--- The whole -------------------------------------------------------===//

static bool applyOverrides(Loader *loader, const TileMachineOverride *overrides, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const char *wanted, *key = overrides[i].key, *name = loader->machine->name;
    const TileMachineKey *row = tileMachineFindKey(key);
    if (!row || !strcmp(key, "base") || (!tileMachineHas(loader->machine, key) && row->pattern[0] == '*')) {
      TESSERA_LIST(known);
      tileMachineListKeys(key, &known);
      return tileErrorSet(loader->error, 0, 0, "machine %s: override of unknown key '%s'; known: %s", name, key,
                          known.text);
    }
    if (!tileMachineValueFits(row->type, overrides[i].value, &wanted))
      return tileErrorSet(loader->error, 0, 0, "machine %s: override of key '%s': expected %s, found '%s'", name, key,
                          wanted, overrides[i].value);
    if (!tileMachineSet(loader->machine, key, overrides[i].value))
      return tileErrorSet(loader->error, 0, 0, "out of memory");
  }
  return true;
}

static bool checkLevels(Loader *loader) {
  const char *name = loader->machine->name, *word;
  size_t length;
  for (size_t i = 0; (word = tileMachineGetWord(loader->machine, "levels", i, &length)); ++i) {
    char key[MaxName + 8];
    snprintf(key, sizeof key, "%.*s.bytes", (int)(length < MaxName ? length : MaxName), word);
    if (!tileMachineHas(loader->machine, key))
      return tileErrorSet(loader->error, 0, 0, "machine %s: key '%s' is missing, but 'levels' names %.*s", name, key,
                          (int)length, word);
  }
  return true;
}

// A misspelt level would otherwise describe nothing, silently.
static bool checkLevelKeys(Loader *loader) {
  for (size_t i = 0; i < loader->machine->count; ++i) {
    const char *key = loader->machine->entries[i].key;
    char level[MaxLine];
    if (loader->machine->entries[i].row->pattern[0] != '*')
      continue;
    snprintf(level, sizeof level, "%.*s", (int)strcspn(key, "."), key);
    if (!tileMachineListHas(loader->machine, "levels", level))
      return tileErrorSet(loader->error, 0, 0, "machine %s: key '%s': 'levels' names no %s", loader->machine->name, key,
                          level);
  }
  return true;
}

static bool checkComplete(Loader *loader) {
  const char *name = loader->machine->name, *kind = tileMachineGetText(loader->machine, "kind");
  if (!kind || (strcmp(kind, "cpu") && strcmp(kind, "gpu")))
    return tileErrorSet(loader->error, 0, 0, "machine %s: key 'kind' must be cpu or gpu, found %s", name,
                        kind ? kind : "none");
  for (size_t i = 0; i < tileMachineKeyRows; ++i) {
    const char *by = tileMachineKeys[i].requiredBy;
    if ((!strcmp(by, kind) || !strcmp(by, "both")) && !tileMachineHas(loader->machine, tileMachineKeys[i].pattern))
      return tileErrorSet(loader->error, 0, 0, "machine %s: key '%s' is missing (%s)", name, tileMachineKeys[i].pattern,
                          tileMachineKeys[i].meaning);
  }
  return checkLevels(loader) && checkLevelKeys(loader);
}

bool tileMachineIsFolder(const char *path, TileError *error) {
  DIR *folder = opendir(path);
  if (!folder)
    return tileErrorSet(error, 0, 0, "folder of machines %s: %s", path, strerror(errno));
  closedir(folder);
  return true;
}

TileMachine *tileMachineRead(const char *name, const char *searchDir, const TileMachineOverride *overrides,
                             size_t overrideCount, TileError *error) {
  TileMachine *machine = calloc(1, sizeof *machine);
  Loader loader = {.machine = machine, .searchDir = searchDir && *searchDir ? searchDir : NULL, .error = error};
  bool good = machine && (machine->name = strdup(name));
  if (!good)
    tileErrorSet(error, 0, 0, "out of memory");
  good = good && (!loader.searchDir || tileMachineIsFolder(loader.searchDir, error)) &&
         loadNamed(&loader, name, false) && applyOverrides(&loader, overrides, overrideCount) && checkComplete(&loader);
  if (good)
    return machine;
  tileMachineFree(machine);
  return NULL;
}
