// print.c - tile.print on the CPU. Why one write: instances of a grid print at the same time, and lines stay whole.
// Expects: elements widened to double or int64_t. Leaves: a line on standard output; nothing when memory is short.
#include "lib/runtime/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct printed_t {
  int64_t count, is_float;
  const void *elements;
} printed_t;

static printed_t value_at(const int64_t *values, int64_t i) {
  const int64_t *words = values + 3 * i;
  return (printed_t){words[0], words[1], (const void *)(intptr_t)words[2]};
}

static void print_element(FILE *line, const printed_t *value, int64_t i) {
  if (value->is_float)
    fprintf(line, "%.9g", ((const double *)value->elements)[i]);
  else
    fprintf(line, "%lld", (long long)((const int64_t *)value->elements)[i]);
}

static void print_value(FILE *line, const printed_t *value) {
  if (value->count < 0) {
    print_element(line, value, 0);
    return;
  }
  fputc('[', line);
  for (int64_t i = 0; i < value->count; ++i) {
    fputs(i ? ", " : "", line);
    print_element(line, value, i);
  }
  fputc(']', line);
}

static void print_line(FILE *line, const char *message, const int64_t *values, int64_t count) {
  for (int64_t next = 0; *message; ++message) {
    if (message[0] != '{' || message[1] != '}' || next == count) {
      fputc(*message, line);
      continue;
    }
    printed_t value = value_at(values, next++);
    print_value(line, &value);
    ++message;
  }
  fputc('\n', line);
}

void tessera_print(const char *message, const int64_t *values, int64_t count) {
  flockfile(stdout); // lines of threads do not mix
  print_line(stdout, message, values, count);
  fflush(stdout); // before a failure that may follow
  funlockfile(stdout);
}
