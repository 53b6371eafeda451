// nesting.h - the one limit on how deep text of MLIR may nest and on the length of its integers and shapes. Parsers,
// passes and printers of MLIR recurse: text of some 5,000 levels exhausts a stack of 8 MiB. LLVM's APInt reads a
// decimal number of n digits in time n^3: 57,000 digits take half a minute. MLIR's lexer reads a shape ("3x4x…") again
// from each of its sizes on: 400,000 letters take a minute. Every reader of such text asks here first: programs, types,
// attributes, schedules and pass pipelines.
//
//   tessera_nesting_t found;
//   if (!tessera_nesting_check(text, size, &found)) …found.line, found.column, found.text…
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
  TESSERA_MOST_NESTING = 500,
  TESSERA_MOST_OPERATORS = 5000,
  TESSERA_MOST_DIGITS = 1000,
  TESSERA_MOST_SIZES = 10000
};

typedef struct tessera_nesting_t {
  int line, column; // from 1
  char text[128];   // "nests deeper than 500 levels; accepts at most 500"
} tessera_nesting_t;

// Counts brackets outside strings and comments, the depth of #aliases and !aliases that an alias or a bracket uses, the
// operators of one expression, the digits of one integer, and the letters of one shape. False where one of these is
// beyond its limit. Reads each byte once. Bytecode passes.
bool tessera_nesting_check(const char *text, size_t size, tessera_nesting_t *out_found);
