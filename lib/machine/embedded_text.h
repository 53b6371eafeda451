// Texts built into the library by cmake/EmbedTexts.cmake: sorted tables, each with its count.
#pragma once

#include <stddef.h>

typedef struct TileEmbeddedText {
  const char *name;          // of the file, without its ending
  const unsigned char *text; // not terminated
  size_t length;
} TileEmbeddedText;
