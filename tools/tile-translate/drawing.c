// Finding the layouts of a file and drawing them. See drawing.h; the picture is lib/layout/svg.h's.
#include "tools/tile-translate/drawing.h"

#include "lib/layout/svg.h"
#include "lib/layout/text.h"
#include "lib/support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MostLayouts = 32 };

typedef struct Found {
  TileLayout layouts[MostLayouts];
  char names[MostLayouts][32];
  uint32_t count;
} Found;

// The text up to its first NUL, to be freed.
static char *readText(const char *path, tessera_error_t *error) {
  bool isNamed = strcmp(path, "-");
  FILE *file = isNamed ? fopen(path, "rb") : stdin;
  char *text = NULL;
  size_t capacity = 0;
  bool isRead = file && getdelim(&text, &capacity, '\0', file) >= 0, isEmpty = file && !isRead && feof(file);
  if (!isRead) {
    free(text);
    text = isEmpty ? calloc(1, 1) : NULL;
  }
  if (!text)
    tessera_fail(error, "%s: cannot be read", path);
  if (file && isNamed)
    fclose(file);
  return text;
}

static bool add(Found *found, const char *text, size_t length, const char *path, tessera_error_t *error) {
  TileLayout layout;
  TileError reason;
  if (!tileLayoutParse(text, length, &layout, &reason))
    return tessera_fail(error, "%s: '%.*s' is not a layout: %s", path, (int)length, text, reason.text);
  for (uint32_t i = 0; i < found->count; ++i)
    if (tileLayoutEquals(&found->layouts[i], &layout))
      return true;
  if (found->count == MostLayouts)
    return tessera_fail(error, "%s: more than %d layouts", path, MostLayouts);
  snprintf(found->names[found->count], sizeof found->names[0], "layout %u", found->count);
  found->layouts[found->count++] = layout;
  return true;
}

static bool addAttributes(Found *found, const char *text, const char *path, tessera_error_t *error) {
  static const char begin[] = "#tile.layout<";
  for (const char *at = text; (at = strstr(at, begin));) {
    at += sizeof begin - 1;
    size_t length = strcspn(at, ">");
    if (!add(found, at, length, path, error))
      return false;
  }
  return true;
}

static bool addLines(Found *found, const char *text, const char *path, tessera_error_t *error) {
  for (size_t length; *text; text += length + (text[length] == '\n')) {
    length = strcspn(text, "\n");
    if (strspn(text, " \t\r") < length && !add(found, text, length, path, error))
      return false;
  }
  return true;
}

static bool write(const TranslateOptions *options, const char *svg, tessera_error_t *error) {
  if (strcmp(options->output, "-"))
    return tessera_file_write(options->output, &(tessera_bytes_t){svg, strlen(svg)}, 1, error);
  return fputs(svg, stdout) >= 0 || tessera_fail(error, "standard output: cannot be written");
}

bool translateDraw(const TranslateOptions *options, tessera_error_t *error) {
  Found *found = calloc(1, sizeof *found);
  char *text = readText(options->file, error), *svg = NULL;
  const char *names[MostLayouts];
  bool ok = found && text && addAttributes(found, text, options->file, error);
  ok = ok && (found->count || addLines(found, text, options->file, error)) &&
       (found->count || tessera_fail(error, "%s: no layout in it", options->file));
  for (uint32_t i = 0; ok && i < found->count; ++i)
    names[i] = found->names[i];
  svg = ok ? tileLayoutDraw(found->layouts, names, found->count, (uint32_t)options->elementBytes) : NULL;
  if (ok && !svg)
    tessera_fail(error, "not enough memory for the picture");
  ok = svg && write(options, svg, error);
  free(svg);
  free(text);
  free(found);
  return ok;
}
