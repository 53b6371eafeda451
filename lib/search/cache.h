// Small texts under keys, on disk, shared by processes: what a measured search found.
//
//   char folder[4096], found[8192];
//   if (tileCacheFolder(NULL, folder, sizeof folder) && tileCacheFind(folder, key, found, sizeof found)) …
//   tileCacheStore(folder, key, text, &error);
//
// One file per key, named by its hash: a header, a checksum, the key, the text. Whatever does not verify (cut off,
// damaged, another program's, another format, another key of the same hash) is not there. A file is written beside,
// reaches the disk and is renamed: readers see all of it or nothing, and of writers at once the last one stays. Texts
// and keys have no zero bytes. Deleting any file, or the folder, is safe at any time.
#pragma once

#include "lib/support/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// `wanted`, else TESSERA_CACHE, else XDG_CACHE_HOME/tessera, else HOME/.cache/tessera. False where there is none, or
// where it is "none".
bool tileCacheFolder(const char *wanted, char *folder, size_t capacity);
// False, and nothing written to `text`, unless the whole text is there and fits `capacity`.
bool tileCacheFind(const char *folder, const char *key, char *text, size_t capacity);
// Makes the folder where it is missing. Fails with the path and the system's reason.
bool tileCacheStore(const char *folder, const char *key, const char *text, TileError *error);
// The file of a key; false where the path is too long.
bool tileCachePath(const char *folder, const char *key, char *path, size_t capacity);

// Waits until no other process of this folder holds the lock; -1 where it cannot be had (then nobody waits for us).
int tileCacheLock(const char *folder);
void tileCacheUnlock(int lock);

#ifdef __cplusplus
}
#endif
