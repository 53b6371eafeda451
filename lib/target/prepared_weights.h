// A file of prepared weights (--prepared-weights=FILE): constants that the compiler transposed or packed, and constants
// of models that do not lie where code can read them. Programs name its parts, and map them when they are loaded.
// Several programs may share one file: data that it has already are not added again, and what it has stays in place.
//
// A part: 64 bytes that begin with TilePreparedHead, then the data, filled up to a multiple of 64 bytes.
#pragma once

#include "lib/support/files/mapped_weights.h"

typedef struct TilePreparedHead {
  char mark[16]; // TILE_PREPARED_MARK
  uint64_t bytes, checksum;
} TilePreparedHead;
#define TILE_PREPARED_MARK "TESSERA WEIGHTS"

typedef struct TilePrepared {
  const char *path;
  const tessera_mapping_t *old; // null: a new file
  struct TilePreparedPart *parts;
  int count, numOld;
  uint64_t end; // of the file with all parts
} TilePrepared;

// Reads what the file has. False after an error: a file of another kind or one that is damaged.
bool tilePreparedOpen(TilePrepared *prepared, const char *path, tessera_error_t *error);
// Where the data will be. The data stay the caller's until the file is written.
bool tilePreparedAdd(TilePrepared *prepared, const void *data, size_t bytes, tessera_weights_source_t *source,
                     tessera_error_t *error);
// Writes the file if it has new parts, wholly or not at all.
bool tilePreparedWrite(const TilePrepared *prepared, tessera_error_t *error);
void tilePreparedClose(TilePrepared *prepared); // also after a failure
