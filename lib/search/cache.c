// A cache on disk. See cache.h.
#include "lib/search/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/support/file.h"

// "tessera cache 1", 16 digits of the checksum, bytes of key and text, each on a line.
static const char format[] = "tessera cache 1\n%016" PRIx64 "\n%zu\n%zu\n";
enum { HeaderBytes = 96, LargestFile = 1 << 20 };

//===--- names ------------------------------------------------------------------------===//

// FNV-1a, 64 bits, from any start.
static uint64_t hashOn(uint64_t hash, const char *text, size_t length) {
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static const uint64_t start = UINT64_C(0xcbf29ce484222325);

static uint64_t checksum(const char *key, const char *text) {
  return hashOn(hashOn(start, key, strlen(key) + 1), text, strlen(text) + 1);
}

static bool join(char *path, size_t capacity, const char *folder, const char *rest) {
  return (size_t)snprintf(path, capacity, "%s/%s", folder, rest) < capacity;
}

bool tileCacheFolder(const char *wanted, char *folder, size_t capacity) {
  const char *own = wanted && *wanted ? wanted : getenv("TESSERA_CACHE"), *base = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (own && *own)
    return strcmp(own, "none") && (size_t)snprintf(folder, capacity, "%s", own) < capacity;
  if (base && *base == '/')
    return join(folder, capacity, base, "tessera");
  return home && *home == '/' && join(folder, capacity, home, ".cache/tessera");
}

bool tileCachePath(const char *folder, const char *key, char *path, size_t capacity) {
  size_t length = strlen(key);
  char name[64];
  snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 ".cache", hashOn(start, key, length),
           hashOn(~start, key, length));
  return join(path, capacity, folder, name);
}

//===--- reading -------------------------------------------------------------------------===//

// The file's bytes with a zero after them, the caller's to free; null if there is none, or it is no regular small file.
static char *readAll(const char *path, size_t *size) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char *bytes = NULL;
  size_t done = 0;
  if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size <= LargestFile)
    bytes = malloc((size_t)status.st_size + 1);
  while (bytes && done < (size_t)status.st_size) {
    ssize_t more = read(file, bytes + done, (size_t)status.st_size - done);
    if (more < 0 && errno == EINTR)
      continue;
    if (more <= 0)
      break;
    done += (size_t)more;
  }
  if (file >= 0)
    close(file);
  if (bytes)
    bytes[done] = '\0';
  *size = done;
  return bytes;
}

// The text within a file's bytes, or null: its header must be what we would write for this key and text.
static const char *verify(const char *bytes, size_t size, const char *key) {
  uint64_t sum;
  size_t keyLength, textLength;
  char header[HeaderBytes];
  if (sscanf(bytes, "tessera cache 1\n%16" SCNx64 "\n%zu\n%zu\n", &sum, &keyLength, &textLength) != 3)
    return NULL;
  size_t headerLength = (size_t)snprintf(header, sizeof header, format, sum, keyLength, textLength);
  if (keyLength != strlen(key) || textLength > size || headerLength + keyLength + textLength != size ||
      memcmp(bytes, header, headerLength) || memcmp(bytes + headerLength, key, keyLength))
    return NULL;
  const char *text = bytes + headerLength + keyLength;
  return strlen(text) == textLength && checksum(key, text) == sum ? text : NULL;
}

bool tileCacheFind(const char *folder, const char *key, char *text, size_t capacity) {
  char path[PATH_MAX];
  size_t size;
  char *bytes = tileCachePath(folder, key, path, sizeof path) ? readAll(path, &size) : NULL;
  const char *found = bytes ? verify(bytes, size, key) : NULL;
  bool isThere = found && strlen(found) < capacity;
  if (isThere)
    strcpy(text, found);
  free(bytes);
  return isThere;
}

//===--- writing ---------------------------------------------------------------------------===//

// The folder and those it stands in.
static bool makeFolder(const char *folder) {
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s", folder) >= sizeof path)
    return false;
  for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = '\0';
    if (mkdir(path, 0777) && errno != EEXIST && access(path, F_OK))
      return false;
  }
  return !mkdir(path, 0777) || errno == EEXIST;
}

bool tileCacheStore(const char *folder, const char *key, const char *text, TileError *error) {
  char path[PATH_MAX], header[HeaderBytes];
  tessera_error_t reason = {.text = ""};
  if (!tileCachePath(folder, key, path, sizeof path) || !makeFolder(folder))
    return tileErrorSet(error, 0, 0, "cache folder %s: %s", folder, strerror(errno ? errno : ENAMETOOLONG));
  int length = snprintf(header, sizeof header, format, checksum(key, text), strlen(key), strlen(text));
  tessera_bytes_t parts[] = {{header, (size_t)length}, {key, strlen(key)}, {text, strlen(text)}};
  return tessera_file_write_durably(path, parts, 3, &reason) || tileErrorSet(error, 0, 0, "%s", reason.text);
}

//===--- one at a time ------------------------------------------------------------------------===//

int tileCacheLock(const char *folder) {
  char path[PATH_MAX];
  if (!makeFolder(folder) || !join(path, sizeof path, folder, "lock"))
    return -1;
  int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  while (lock >= 0 && flock(lock, LOCK_EX) && errno == EINTR)
    ;
  return lock;
}

// Let go by name: a process that we forked may hold the same file.
void tileCacheUnlock(int lock) {
  if (lock < 0)
    return;
  flock(lock, LOCK_UN);
  close(lock);
}
