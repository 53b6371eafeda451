// Matrix instructions of a machine: reading `atom.…` values and finding one by name. See machine.h.
// A free size is a `*` in the name and a range in the value; a fragment's text refers to it as {n/8}, the quotient.
#include "lib/machine/atom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/machine/machine.h"

typedef struct {
  int64_t m, low, high, step, k, warps;
  const char *types;
} Shape;

static bool takeNumber(const char **text, int64_t *number) {
  char *end;
  if (**text < '1' || **text > '9')
    return false;
  *number = strtoll(*text, &end, 10);
  *text = end;
  return *number < INT32_MAX;
}

static bool takeText(const char **text, const char *wanted) {
  size_t length = strlen(wanted);
  if (strncmp(*text, wanted, length))
    return false;
  *text += length;
  return true;
}

static bool takeRange(const char **text, Shape *shape) {
  if (!takeNumber(text, &shape->low))
    return false;
  shape->high = shape->low;
  shape->step = 1;
  if (!takeText(text, ".."))
    return true;
  return takeNumber(text, &shape->high) && takeText(text, "/") && takeNumber(text, &shape->step) &&
         shape->high >= shape->low;
}

// a,b,c a,b,c …: every item has two commas and three names. None: what the base has, this machine has not.
static bool areTypes(const char *types) {
  if (!*types)
    return true;
  do {
    for (int i = 0; i < 3; ++i) {
      size_t length = strcspn(types, ", ");
      types += length;
      if (!length || (i < 2 && *types++ != ','))
        return false;
    }
    if (*types && *types != ' ')
      return false;
    types += strspn(types, " ");
  } while (*types);
  return true;
}

static bool readShape(const char *value, Shape *shape) {
  shape->warps = 1;
  if (!takeNumber(&value, &shape->m) || !takeText(&value, "x") || !takeRange(&value, shape) || !takeText(&value, "x") ||
      !takeNumber(&value, &shape->k) || (!takeText(&value, " ") && *value))
    return false;
  value += strspn(value, " ");
  if (takeText(&value, "warps=") && (!takeNumber(&value, &shape->warps) || !takeText(&value, " ")))
    return false;
  shape->types = value + strspn(value, " ");
  return areTypes(shape->types);
}

bool tileMachineAtomIsWellFormed(const char *value) {
  Shape shape;
  return readShape(value, &shape);
}

// Whether `name` is the pattern with its * replaced by a size of the range; a pattern without * is that name.
static bool matchesName(const char *pattern, const char *name, const Shape *shape, int64_t *n) {
  const char *star = strchr(pattern, '*');
  *n = shape->low;
  if (!star)
    return !strcmp(pattern, name);
  if (strncmp(pattern, name, (size_t)(star - pattern)))
    return false;
  name += star - pattern;
  return takeNumber(&name, n) && !strcmp(name, star + 1) && *n >= shape->low && *n <= shape->high &&
         (*n - shape->low) % shape->step == 0;
}

static void expand(const char *text, int64_t n, char *buffer, size_t capacity) {
  size_t length = 0;
  for (; *text && length + 1 < capacity; buffer[length] = '\0') {
    if (!takeText(&text, "{n/")) {
      buffer[length++] = *text++;
      continue;
    }
    int64_t divisor = 1;
    if (takeNumber(&text, &divisor) && takeText(&text, "}"))
      length += (size_t)snprintf(buffer + length, capacity - length, "%" PRId64, n / divisor);
    length = length < capacity ? length : capacity - 1;
  }
}

static void fillFragments(const TileMachine *machine, const char *pattern, TileMachineAtom *atom) {
  static const char operands[] = "abcest";
  char key[128];
  for (int i = 0; i < TileMachineFragments; ++i) {
    snprintf(key, sizeof key, "fragment.%s.%c", pattern, operands[i]);
    const char *text = tileMachineGetText(machine, key);
    atom->fragment[i][0] = '\0';
    if (text)
      expand(text, atom->n, atom->fragment[i], TileMachineFragmentBytes);
  }
  snprintf(key, sizeof key, "scales.%s", pattern);
  const char *scales = tileMachineGetText(machine, key);
  if (!scales || sscanf(scales, "%23s %" SCNd64, atom->scales, &atom->block) != 2 || atom->block < 1)
    atom->scales[0] = '\0';
}

static bool unknownAtom(const TileMachine *machine, const char *name, TileError *error) {
  TESSERA_LIST(known);
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    Shape shape;
    if (takeText(&key, "atom.") && readShape(value, &shape) && *shape.types)
      tessera_list_add(&known, "%s", key);
  }
  return tileErrorSet(error, 0, 0, "machine %s has no atom '%s'; it has: %s", tileMachineGetName(machine), name,
                      known.length ? known.text : "none");
}

// The layout with axis 0 for axis 1, "lane [4:d1*2, 8:d0]" for "lane [4:d0*2, 8:d1]".
static void exchangeAxes(char *layout) {
  for (char *at = layout; *at; ++at)
    if (*at == 'd' && (at[1] == '0' || at[1] == '1'))
      at[1] = at[1] == '0' ? '1' : '0';
}

bool tileMachineAtomIsPlain(const TileMachineAtom *atom) { return !atom->fragment[3][0] && !atom->scales[0]; }

static bool swap(TileMachineAtom *atom) {
  char left[TileMachineFragmentBytes];
  int64_t rows = atom->m;
  if (atom->warps != 1 || !atom->fragment[0][0] || !atom->fragment[1][0] || !tileMachineAtomIsPlain(atom))
    return false;
  atom->m = atom->n;
  atom->n = rows;
  atom->isSwapped = true;
  memcpy(left, atom->fragment[0], sizeof left);
  memcpy(atom->fragment[0], atom->fragment[1], sizeof left);
  memcpy(atom->fragment[1], left, sizeof left);
  for (int i = 0; i < 3; ++i)
    exchangeAxes(atom->fragment[i]);
  return true;
}

static bool findListed(const TileMachine *machine, const char *name, TileMachineAtom *atom, TileError *error) {
  for (size_t i = 0; i < tileMachineGetKeyCount(machine); ++i) {
    Shape shape;
    int64_t n;
    const char *value, *key = tileMachineGetKeyAt(machine, i, &value);
    if (!takeText(&key, "atom.") || !readShape(value, &shape) || !*shape.types || !matchesName(key, name, &shape, &n))
      continue;
    *atom = (TileMachineAtom){.m = shape.m, .n = n, .k = shape.k, .warps = shape.warps, .types = shape.types};
    fillFragments(machine, key, atom);
    return true;
  }
  return unknownAtom(machine, name, error);
}

bool tileMachineFindAtom(const TileMachine *machine, const char *name, TileMachineAtom *atom, TileError *error) {
  char listed[64];
  size_t length = strlen(name), suffix = strlen(TILE_MACHINE_SWAPPED);
  if (length <= suffix || length - suffix >= sizeof listed || strcmp(name + length - suffix, TILE_MACHINE_SWAPPED) != 0)
    return findListed(machine, name, atom, error);
  snprintf(listed, sizeof listed, "%.*s", (int)(length - suffix), name);
  return findListed(machine, listed, atom, error) &&
         (swap(atom) ||
          tileErrorSet(error, 0, 0, "atom '%s' has no swapped one: that is for dense atoms of one warp", listed));
}

bool tileMachineAtomTakes(const TileMachineAtom *atom, const char *a, const char *b, const char *c) {
  char wanted[96];
  size_t length =
      (size_t)snprintf(wanted, sizeof wanted, "%s,%s,%s", atom->isSwapped ? b : a, atom->isSwapped ? a : b, c);
  for (const char *types = atom->types; *types; types += strspn(types, " ")) {
    size_t item = strcspn(types, " ");
    if (item == length && !strncmp(types, wanted, item))
      return true;
    types += item;
  }
  return false;
}
