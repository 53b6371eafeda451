// Reads, extends and writes files of prepared weights. See prepared_weights.h.
#include "lib/target/prepared_weights.h"

#include "lib/support/file.h"
#include "lib/support/files/checksum.h"
#include "lib/support/grow.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { Alignment = 64 };

typedef struct TilePreparedPart {
  TilePreparedHead head;
  const unsigned char *data;
  uint64_t offset; // of the data
} TilePreparedPart;

static uint64_t filledUp(uint64_t bytes) { return (bytes + Alignment - 1) / Alignment * Alignment; }

static bool append(TilePrepared *prepared, const TilePreparedHead *head, const unsigned char *data,
                   tessera_error_t *error) {
  TilePreparedPart *grown = tessera_grow(prepared->parts, prepared->count, sizeof *grown);
  if (!grown)
    return tessera_fail(error, "out of memory");
  prepared->parts = grown;
  prepared->parts[prepared->count++] = (TilePreparedPart){*head, data, prepared->end + Alignment};
  prepared->end += Alignment + filledUp(head->bytes);
  return true;
}

static bool readParts(TilePrepared *prepared, tessera_error_t *error) {
  const tessera_mapping_t *old = prepared->old;
  while (prepared->end < old->size) {
    TilePreparedHead head;
    uint64_t left = old->size - prepared->end;
    bool isPart = left >= Alignment;
    if (isPart) {
      memcpy(&head, old->data + prepared->end, sizeof head);
      isPart = memcmp(head.mark, TILE_PREPARED_MARK, sizeof head.mark) == 0 && head.bytes <= left - Alignment &&
               filledUp(head.bytes) <= left - Alignment;
    }
    if (!isPart)
      return tessera_fail(error, "%s: is no file of prepared weights, or is damaged at byte %llu; it stays as it is",
                          prepared->path, (unsigned long long)prepared->end);
    if (!append(prepared, &head, old->data + prepared->end + Alignment, error))
      return false;
  }
  prepared->numOld = prepared->count;
  return true;
}

bool tilePreparedOpen(TilePrepared *prepared, const char *path, tessera_error_t *error) {
  *prepared = (TilePrepared){.path = path};
  if (access(path, F_OK) != 0)
    return true;
  prepared->old = tessera_mapping_open(path, error);
  return prepared->old && readParts(prepared, error);
}

bool tilePreparedAdd(TilePrepared *prepared, const void *data, size_t bytes, tessera_weights_source_t *source,
                     tessera_error_t *error) {
  TilePreparedHead head = {TILE_PREPARED_MARK, bytes, tessera_checksum(0, data, bytes)};
  const TilePreparedPart *part = NULL;
  for (int i = 0; i < prepared->count && !part; ++i)
    if (prepared->parts[i].head.checksum == head.checksum && prepared->parts[i].head.bytes == bytes &&
        memcmp(prepared->parts[i].data, data, bytes) == 0)
      part = &prepared->parts[i];
  if (!part) {
    if (!append(prepared, &head, data, error))
      return false;
    part = &prepared->parts[prepared->count - 1];
  }
  *source = (tessera_weights_source_t){prepared->path, part->offset, bytes, head.checksum};
  return true;
}

bool tilePreparedWrite(const TilePrepared *prepared, tessera_error_t *error) {
  static const char zeros[Alignment];
  int numNew = prepared->count - prepared->numOld, count = 0;
  if (!numNew)
    return true;
  tessera_bytes_t *pieces = calloc((size_t)numNew * 4 + 1, sizeof *pieces);
  if (!pieces)
    return tessera_fail(error, "out of memory");
  if (prepared->old)
    pieces[count++] = (tessera_bytes_t){prepared->old->data, prepared->old->size};
  for (int i = prepared->numOld; i < prepared->count; ++i) {
    const TilePreparedPart *part = &prepared->parts[i];
    pieces[count++] = (tessera_bytes_t){&part->head, sizeof part->head};
    pieces[count++] = (tessera_bytes_t){zeros, Alignment - sizeof part->head};
    pieces[count++] = (tessera_bytes_t){part->data, part->head.bytes};
    pieces[count++] = (tessera_bytes_t){zeros, filledUp(part->head.bytes) - part->head.bytes};
  }
  bool ok = tessera_file_write(prepared->path, pieces, count, error);
  free(pieces);
  return ok;
}

void tilePreparedClose(TilePrepared *prepared) {
  tessera_mapping_release(prepared->old);
  free(prepared->parts);
  *prepared = (TilePrepared){.path = NULL};
}
