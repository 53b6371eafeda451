// Files that a generator writes. One that would say the same as before stays as it is, so that what depends on it is
// not built again.
#include "tools/tessera-opgen/opgen.h"
#include <limits.h>

static void temporaryOf(const char *path, char *temporary) { snprintf(temporary, PATH_MAX, "%s.new", path); }

FILE *opgenOpen(const char *path) {
  char temporary[PATH_MAX];
  temporaryOf(path, temporary);
  FILE *out = fopen(temporary, "w");
  if (!out)
    perror(path);
  return out;
}

static bool areSame(const char *one, const char *other) {
  FILE *a = fopen(one, "r"), *b = fopen(other, "r");
  int x = 0, y = 0;
  while (a && b && x == y && x != EOF) {
    x = getc(a);
    y = getc(b);
  }
  bool same = a && b && x == y;
  if (a)
    fclose(a);
  if (b)
    fclose(b);
  return same;
}

bool opgenClose(FILE *out, const char *path, bool isWhole) {
  char temporary[PATH_MAX];
  temporaryOf(path, temporary);
  bool bad = ferror(out);
  bad |= fclose(out) != 0;
  if (!bad && isWhole && !areSame(temporary, path))
    bad = rename(temporary, path) != 0;
  else
    remove(temporary);
  if (bad)
    perror(path);
  return !bad && isWhole;
}
