// A text that grows. See text.h.
#include "lib/execution/text.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(TesseraText *text, size_t more) {
  if (text->capacity - text->length >= more)
    return true;
  size_t capacity = (text->length + more) * 2;
  char *data = realloc(text->data, capacity);
  if (!data)
    return false;
  text->data = data;
  text->capacity = capacity;
  return true;
}

void tesseraTextAppend(MlirStringRef piece, void *userData) {
  TesseraText *text = userData;
  if (!piece.length)
    return;
  text->failed = text->failed || !reserve(text, piece.length);
  if (text->failed)
    return;
  memcpy(text->data + text->length, piece.data, piece.length);
  text->length += piece.length;
}

void tesseraTextFree(TesseraText *text) {
  free(text->data);
  *text = (TesseraText){NULL};
}
