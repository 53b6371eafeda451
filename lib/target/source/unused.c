// Leaves out variables that no text names: a value whose users say what it is themselves has one. See source.h.
//
// Cost: linear in the text. The name of a variable is a letter and a number that no other variable of the function has.
#include "lib/target/source/source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool isOfName(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Adds `step` to the counts of the variables that the text names.
static void countNames(const char *text, const char *end, int *counts, int numNames, int step) {
  for (const char *at = text; at < end; ++at) {
    bool begins = strchr("icpxv", *at) && at + 1 < end && isdigit((unsigned char)at[1]);
    if (!begins || (at > text && isOfName(at[-1])))
      continue;
    long number = strtol(at + 1, NULL, 10);
    if (number < numNames)
      counts[number] += step;
  }
}

static size_t removeLine(char *line, char *end, size_t size, const char *text) {
  size_t length = (size_t)(end - line);
  memmove(line, end, size - (size_t)(end - text));
  return size - length;
}

size_t tileSourceDropUnused(char *text, size_t size, int numNames) {
  int *counts = calloc((size_t)numNames + 1, sizeof *counts);
  if (counts)
    countNames(text, text + size, counts, numNames, 1);
  for (char *at = text + size; counts && at > text;) {
    char *end = at, *line = end - 1;
    while (line > text && line[-1] != '\n')
      --line;
    at = line;
    char *name = *line == SourcePureMark ? memchr(line, '=', (size_t)(end - line)) : NULL;
    if (!name)
      continue;
    for (name -= 1; name > line && isOfName(name[-1]); --name)
      ;
    long number = strtol(name + 1, NULL, 10);
    if (number >= numNames || counts[number] > 1)
      continue;
    countNames(line, end, counts, numNames, -1);
    size = removeLine(line, end, size, text);
  }
  free(counts);
  size_t kept = 0;
  for (size_t i = 0; i < size; ++i)
    if (text[i] != SourcePureMark)
      text[kept++] = text[i];
  return kept;
}
