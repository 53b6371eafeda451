// Which keys a machine file may hold. The rows are in keys.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/support/grow.h"

typedef enum TileMachineType {
  TileMachineInteger,  // one integer from 1, below 10^9
  TileMachineIntegers, // several, separated by spaces
  TileMachineLarge,    // one integer from 1, below 10^15: products of two counts of a model stay in 64 bits
  TileMachineWord,     // letters, digits and _ . - +
  TileMachineWords,    // several
  TileMachineTextLine, // anything
  TileMachineAtomType, // MxNxK (warps=W)? a,b,c …; N may be LOW..HIGH/STEP
} TileMachineType;

typedef struct TileMachineKey {
  const char *pattern; // * stands for one or more characters
  TileMachineType type;
  const char *requiredBy; // "cpu", "gpu", "both" or ""
  const char *meaning;
} TileMachineKey;

extern const TileMachineKey tileMachineKeys[];
extern const size_t tileMachineKeyRows;

// The row whose pattern the key matches. An exact match comes before a pattern with *. NULL if no row matches.
const TileMachineKey *tileMachineFindKey(const char *key);
// Adds the patterns to the list. `near` is the unknown key: if it begins with "model.", the list gets the keys of the
// models, else all other keys and "model.*".
void tileMachineListKeys(const char *near, tessera_list_t *list);
// Whether the text is a value of the type; if not, *wanted says what one looks like.
bool tileMachineValueFits(TileMachineType type, const char *value, const char **wanted);
