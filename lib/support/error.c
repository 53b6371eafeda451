// Formats a located complaint into the caller's TileError. See error.h.
#include "lib/support/error.h"
#include "lib/support/status.h"

#include <stdarg.h>
#include <stdio.h>

bool tileErrorSet(TileError *error, size_t line, size_t column, const char *format, ...) {
  if (!error)
    return false;
  error->line = line;
  error->column = column;
  va_list arguments;
  va_start(arguments, format);
  tessera_sentence(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return false;
}
