// status.h - how the runtime and lib/support report what went wrong: one idiom, used throughout.
//
// A function that can fail returns bool (or a pointer) and takes, as its last parameter, where to write a sentence:
//
//   tessera_error_t error;
//   tessera_array_t x;
//   if (!tessera_npy_read("x.npy", &x, &error)) {
//     fprintf(stderr, "error: %s\n", error.text); // x.npy: holds 12 bytes of data, its shape needs 16
//     return 1;
//   }
//
// The sentence names the thing (a file, an argument), the value seen and the value wanted; it has no trailing newline
// and no "error:" in front. |out_error| may be NULL if the caller needs no sentence. On failure the other out
// parameters stay as they were. A function can also fail when memory has run out: only a sentence that is too long
// allocates, and if that fails, the sentence is cut at its end.
//
// Names: what the MLIR-free tile-exec also uses is in the runtime's style (tessera_…, snake_case). Header only, so that
// the runtime stands alone. (Parsers of the compiler's pure rooms, which have a line and a column to tell, use
// error.h.)
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tessera_error_t {
  char text[1024]; // longer sentences lose their middle
} tessera_error_t;

#define TESSERA_PRINTF(format_at, arguments_at) __attribute__((format(printf, format_at, arguments_at)))

// Formats a sentence into |size| bytes. A longer one loses its middle: what is wrong stands at its begin, what would be
// accepted at its end, and a long name in between.
static inline void tessera_sentence(char *text, size_t size, const char *format, va_list arguments) {
  static const char gap[] = "[...]";
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(text, size, format, arguments);
  char *whole = length < 0 || (size_t)length < size ? NULL : (char *)malloc((size_t)length + 1);
  if (whole) {
    size_t begin = size / 2, end = size - begin - sizeof gap, from = (size_t)length - end;
    vsnprintf(whole, (size_t)length + 1, format, again);
    for (; begin && (whole[begin] & 0xC0) == 0x80; --begin) // no character of UTF-8 is cut
      continue;
    for (; (whole[from] & 0xC0) == 0x80; ++from)
      continue;
    snprintf(text, size, "%.*s%s%s", (int)begin, whole, gap, whole + from);
  }
  free(whole);
  va_end(again);
}

// Writes the sentence and returns false: `return tessera_fail(out_error, "%s: is a directory", path);`
static inline TESSERA_PRINTF(2, 3) bool tessera_fail(tessera_error_t *out_error, const char *format, ...) {
  if (out_error) {
    va_list arguments;
    va_start(arguments, format);
    tessera_sentence(out_error->text, sizeof out_error->text, format, arguments);
    va_end(arguments);
  }
  return false;
}
