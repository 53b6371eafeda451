// A cache on disk that processes share: a small text for each key. It holds what a measured search found.
//
//   char folder[4096], found[8192];
//   if (tileCacheFolder(NULL, folder, sizeof folder) && tileCacheFind(folder, key, found, sizeof found)) …
//   tileCacheStore(folder, key, text, &error);
//
// Each key has one file, named by the key's hash: a header, a checksum, the key, the text. A file that does not verify
// (cut off, damaged, of another program or format, of another key with this hash) counts as absent. The cache writes a
// new file to the disk and then renames it: a reader sees all of it or nothing, and the last of several writers wins.
// Texts and keys have no zero bytes. Any file, or the folder, may be deleted at any time.
#pragma once

#include "lib/support/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes the first of these that is set: `wanted`, TESSERA_CACHE, XDG_CACHE_HOME/tessera, HOME/.cache/tessera. False if
// none is set, or if the folder is "none".
bool tileCacheFolder(const char *wanted, char *folder, size_t capacity);
// True if the cache holds a text for the key and the text fits `capacity`. Otherwise `text` stays as it is.
bool tileCacheFind(const char *folder, const char *key, char *text, size_t capacity);
// Stores the text, and makes the folder if it is missing. The error names the path and the system's reason.
bool tileCacheStore(const char *folder, const char *key, const char *text, TileError *error);
// Writes the path of the key's file. False if the path is too long.
bool tileCachePath(const char *folder, const char *key, char *path, size_t capacity);

// Waits for the folder's lock and takes it. Returns -1 if the lock file cannot be opened: then there is no lock.
int tileCacheLock(const char *folder);
void tileCacheUnlock(int lock);

#ifdef __cplusplus
}
#endif
