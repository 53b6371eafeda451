// What mlir-c prints, collected: it hands texts over in pieces of a few bytes, each a call, which costs a host of
// another language (Python) ten times what printing does.
//
//   TesseraText text = {NULL};
//   mlirOperationPrint(op, tesseraTextAppend, &text);
//   if (!text.failed) … text.data, text.length …
//   tesseraTextFree(&text);
#pragma once

#include "mlir-c/Support.h"

#include <stdbool.h>

typedef struct TesseraText {
  char *data; // no null byte at its end; null when empty
  size_t length, capacity;
  bool failed; // out of memory: pieces are missing
} TesseraText;

#ifdef __cplusplus
extern "C" {
#endif

// An MlirStringCallback; `text` is a TesseraText.
void tesseraTextAppend(MlirStringRef piece, void *text);
void tesseraTextFree(TesseraText *text);

#ifdef __cplusplus
}
#endif
