// Compiled programs on disk, for tile-run, tile-translate and Python: a program is compiled once, and found again by
// all that its bytes depend on: its text, the passes, the compiler, the machine, the machine files.
//
//   char folder[PATH_MAX], key[TILE_PROGRAM_KEY], path[PATH_MAX];
//   tessera_error_t why;
//   if (tileProgramCacheFolder(folder, sizeof folder, &why) &&
//       tileProgramCacheKey(text, size, pipeline, "native", "", key)) {
//     if (!tileProgramCacheFind(folder, key, path, sizeof path)) {
//       … compile …
//       tileProgramCacheStore(folder, key, data, dataSize, TILE_PROGRAM_CACHE_BYTES, path, sizeof path, &why);
//     }
//     … load the file of this path …
//   }
//
// The files KEY.so of the folder are programs (lib/runtime/manifest.h), which end in a checksum. A file appears whole
// or not at all; one that is damaged counts as absent. Any file may be deleted at any time. All types are plain C:
// Python calls these functions.
#pragma once

#include "lib/support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TILE_PROGRAM_KEY = 65 };
// What the files of the folder may have together. The ones that were not used for longest are removed.
#define TILE_PROGRAM_CACHE_BYTES (INT64_C(1) << 30)

// Writes the folder "programs" of the cache (lib/search/cache.h), and makes the folder if it is missing. False if
// nothing is to be kept: then the error's text is empty. False with a text if the folder cannot be used. To load a
// program is to run it, so the folder must be this user's, and nobody else may write to it.
bool tileProgramCacheFolder(char *folder, intptr_t capacity, tessera_error_t *out_error);

// Writes the key of a program. `text` is the program, in any form. `chip` names what the code is for; null is this CPU.
// `others` is all else that the bytes depend on; may be null. False, if the compiler's own files cannot be seen.
bool tileProgramCacheKey(const void *text, intptr_t size, const char *pipeline, const char *chip, const char *others,
                         char *key);

// True if the folder holds the program, whole. The program then counts as used now. A damaged file is removed.
bool tileProgramCacheFind(const char *folder, const char *key, char *path, intptr_t capacity);
// Stores the program, and then removes others until at most `mostBytes` are left. Writes the program's path.
bool tileProgramCacheStore(const char *folder, const char *key, const void *data, intptr_t size, int64_t mostBytes,
                           char *path, intptr_t capacity, tessera_error_t *out_error);
// The path that tileProgramCacheStore will write. False if it is too long.
bool tileProgramCachePath(const char *folder, const char *key, char *path, intptr_t capacity);

#ifdef __cplusplus
}
#endif
