// Compiled programs on disk. See program_cache.h.
#include "lib/target/program_cache.h"

#include "lib/machine/machine.h"
#include "lib/runtime/tessera.h"
#include "lib/search/cache.h"
#include "lib/support/file.h"
#include "lib/support/files/sha256.h"
#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

//===--- the folder -------------------------------------------------------------===//

static bool isOurs(const char *folder, tessera_error_t *error) {
  struct stat status;
  if (stat(folder, &status) != 0)
    return tessera_fail(error, "%s: %s", folder, strerror(errno));
  return (S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH))) ||
         tessera_fail(error, "%s: is another user's or others may write to it", folder);
}

// Folders that are missing, this one's parents included, become this user's alone.
static bool make(char *folder, tessera_error_t *error) {
  for (char *slash = folder; (slash = strchr(slash + 1, '/'));) {
    *slash = '\0';
    mkdir(folder, 0700); // what is wrong shows below
    *slash = '/';
  }
  return mkdir(folder, 0700) == 0 || errno == EEXIST || tessera_fail(error, "%s: %s", folder, strerror(errno));
}

bool tileProgramCacheFolder(char *folder, intptr_t capacity, tessera_error_t *error) {
  char base[PATH_MAX];
  if (error)
    error->text[0] = '\0';
  if (!tileCacheFolder(NULL, base, sizeof base))
    return false;
  if (snprintf(folder, (size_t)capacity, "%s/programs", base) >= capacity)
    return tessera_fail(error, "%s: the path is too long", base);
  return make(folder, error) && isOurs(folder, error);
}

//===--- the key ----------------------------------------------------------------===//

static void addText(tessera_sha256_t *hash, const char *text) {
  tessera_sha256_add(hash, text ? text : "", text ? strlen(text) + 1 : 1);
}

// A file by what the file system says of it.
static bool addFile(tessera_sha256_t *hash, const char *path) {
  struct stat status;
  char text[128];
  if (stat(path, &status) != 0)
    return false;
  snprintf(text, sizeof text, "%llu %llu %lld %lld.%09ld", (unsigned long long)status.st_dev,
           (unsigned long long)status.st_ino, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
           status.st_mtim.tv_nsec);
  addText(hash, path);
  addText(hash, text);
  return true;
}

// The library that a function is in: a build between two releases has no number of its own.
static bool addLibraryOf(tessera_sha256_t *hash, void *function) {
  Dl_info info;
  char path[PATH_MAX];
  return dladdr(function, &info) && realpath(info.dli_fname, path) && addFile(hash, path);
}

static int keepMachines(const struct dirent *entry) {
  const char *end = strrchr(entry->d_name, '.');
  return end && strcmp(end, ".machine") == 0;
}

static void addMachineFiles(tessera_sha256_t *hash) {
  struct dirent **entries;
  char folder[PATH_MAX], path[PATH_MAX];
  int count = tileMachineGetFolder(folder, sizeof folder) ? scandir(folder, &entries, keepMachines, alphasort) : 0;
  for (int i = 0; i < count; ++i) {
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < sizeof path)
      addFile(hash, path);
    free(entries[i]);
  }
  if (count > 0)
    free(entries);
}

// What the compiler's decisions and its code for "native" rest on.
static void addMachine(tessera_sha256_t *hash) {
  char text[32], *processor = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  TileMachine *machine = tileMachineLoad("native", NULL, NULL, 0, NULL);
  snprintf(text, sizeof text, "%016llx", machine ? (unsigned long long)tileMachineGetHash(machine) : 0);
  tileMachineDestroy(machine);
  addText(hash, text);
  addText(hash, processor);
  addText(hash, features);
  LLVMDisposeMessage(processor);
  LLVMDisposeMessage(features);
  addMachineFiles(hash);
}

bool tileProgramCacheKey(const void *text, intptr_t size, const char *pipeline, const char *chip, const char *others,
                         char *key) {
  tessera_sha256_t hash = tessera_sha256_start();
  bool ok = addLibraryOf(&hash, (void *)(uintptr_t)tileProgramCacheKey) &&
            addLibraryOf(&hash, (void *)(uintptr_t)LLVMContextCreate);
  addMachine(&hash);
  addText(&hash, pipeline);
  addText(&hash, chip);
  addText(&hash, others);
  tessera_sha256_add(&hash, text, (size_t)size);
  tessera_sha256_end(&hash, key);
  return ok;
}

//===--- finding ----------------------------------------------------------------===//

bool tileProgramCachePath(const char *folder, const char *key, char *path, intptr_t capacity) {
  return snprintf(path, (size_t)capacity, "%s/%s.so", folder, key) < capacity;
}

static bool endsRight(const char *data, size_t size) {
  tessera_program_end_t end;
  if (size <= sizeof end)
    return false;
  memcpy(&end, data + size - sizeof end, sizeof end);
  return memcmp(end.mark, TESSERA_PROGRAM_MARK, sizeof end.mark) == 0 &&
         end.checksum == tessera_checksum(0, data, size - sizeof end);
}

static bool isWhole(int file) {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !status.st_size)
    return false;
  void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (data == MAP_FAILED)
    return false;
  bool ok = endsRight(data, (size_t)status.st_size);
  munmap(data, (size_t)status.st_size);
  return ok;
}

bool tileProgramCacheFind(const char *folder, const char *key, char *path, intptr_t capacity) {
  int file = tileProgramCachePath(folder, key, path, capacity) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (file < 0)
    return false;
  bool ok = isWhole(file);
  if (ok)
    futimens(file, NULL);
  else
    unlink(path);
  close(file);
  return ok;
}

//===--- storing ----------------------------------------------------------------===//

typedef struct Kept {
  char name[NAME_MAX + 1];
  int64_t bytes;
  struct timespec used;
} Kept;

static int compareByUse(const void *a, const void *b) { // the last used one first
  const struct timespec *first = &((const Kept *)a)->used, *second = &((const Kept *)b)->used;
  if (first->tv_sec != second->tv_sec)
    return first->tv_sec < second->tv_sec ? 1 : -1;
  return first->tv_nsec == second->tv_nsec ? 0 : first->tv_nsec < second->tv_nsec ? 1 : -1;
}

static int keepFiles(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// Every regular file counts: a process that was killed may have left a part of one.
static int list(const char *folder, Kept **kept) {
  struct dirent **entries;
  int count = scandir(folder, &entries, keepFiles, NULL), numKept = 0, directory = open(folder, O_RDONLY | O_CLOEXEC);
  *kept = count > 0 ? calloc((size_t)count, sizeof **kept) : NULL;
  for (int i = 0; i < count; ++i) {
    struct stat status;
    if (*kept && fstatat(directory, entries[i]->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
      Kept *one = &(*kept)[numKept++];
      *one = (Kept){.bytes = status.st_size, .used = status.st_mtim};
      snprintf(one->name, sizeof one->name, "%s", entries[i]->d_name);
    }
    free(entries[i]);
  }
  if (count >= 0)
    free(entries);
  if (directory >= 0)
    close(directory);
  return numKept;
}

static void bound(const char *folder, const char *added, int64_t most) {
  Kept *kept;
  int64_t total = 0;
  char path[PATH_MAX];
  int count = list(folder, &kept);
  if (kept)
    qsort(kept, (size_t)count, sizeof *kept, compareByUse);
  for (int i = 0; i < count; ++i) {
    size_t length = (size_t)snprintf(path, sizeof path, "%s/%s", folder, kept[i].name);
    total += kept[i].bytes;
    if (total > most && length < sizeof path && strcmp(path, added) != 0)
      unlink(path);
  }
  free(kept);
}

bool tileProgramCacheStore(const char *folder, const char *key, const void *data, intptr_t size, int64_t mostBytes,
                           char *path, intptr_t capacity, tessera_error_t *error) {
  if (!tileProgramCachePath(folder, key, path, capacity))
    return tessera_fail(error, "%s: the path is too long", folder);
  if (!tessera_file_write(path, &(tessera_bytes_t){data, (size_t)size}, 1, error))
    return false;
  bound(folder, path, mostBytes);
  return true;
}
