// A located error: what a parser or a check of the pure C rooms tells its caller when it fails.
// Why: these rooms do not use MLIR and cannot emit diagnostics; the caller makes a diagnostic of the error.
// Expects: a TileError of the caller's, or NULL if only the result matters. Leaves: a text that is always terminated.
//
//   TileError error;
//   if (!tileLayoutParse(text, strlen(text), &layout, &error))
//     fprintf(stderr, "column %zu: %s\n", error.column, error.text);
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_ERROR_CAPACITY = 1536 };

// line and column count from 1; 0 means "the whole input", used where no place is at fault.
typedef struct TileError {
  size_t line, column;
  char text[TILE_ERROR_CAPACITY];
} TileError;

// Fills `error` (may be NULL) and returns false, so that a check can end with `return tileErrorSet(…)`.
bool tileErrorSet(TileError *error, size_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#ifdef __cplusplus
}
#endif
