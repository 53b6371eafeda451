// text.h - texts and bytes in memory that grow.
//
//   tessera_text_t text = {NULL};                      // of a function that appends
//   tessera_text_format(&text, "%d", 5);
//   if (!text.failed) … text.data, text.size …
//   tessera_text_free(&text);                          // or the caller's: char *data = tessera_text_take(&text);
//
//   FILE *out = tessera_text_open(&text);              // or as a stream
//   fprintf(out, …);
//   if (!tessera_text_close(&text, out)) … out of memory, nothing is left of it …
//   free(text.data);
//
// In place of open_memstream: where glibc's buffer finds no memory, the piece that was to be written is gone, neither
// ferror nor fclose tells, and later pieces follow. Here a text that has lost a piece takes no more, and says so.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct tessera_text_t {
  char *data; // ends in a zero, which is not counted; null before the first piece
  size_t size, capacity;
  bool failed; // out of memory: pieces are missing
} tessera_text_t;

void tessera_text_append(tessera_text_t *text, const void *data, size_t size);
__attribute__((format(printf, 2, 3))) void tessera_text_format(tessera_text_t *text, const char *format, ...);
void tessera_text_free(tessera_text_t *text);
// The text's bytes and their zero, to be freed. Null: out of memory; nothing is left.
char *tessera_text_take(tessera_text_t *text);

// A stream that writes to a new text. Null: out of memory.
FILE *tessera_text_open(tessera_text_t *out_text);
// Ends the stream, which may be null. Returns whether the text has all that was written; its `data` is never null then.
// If it has not, nothing is left to be freed.
bool tessera_text_close(tessera_text_t *text, FILE *stream);
