// The cache on disk: what comes back, what is ignored (cut off, damaged, foreign, of another format or key), processes
// at once.
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/search/cache.h"
#include "test/check.h"

static char root[] = "cache_test_XXXXXX";
static const char key[] = "tessera 0.1.0\nmachine 0123456789abcdef\nfunc.func @main() { … }\n";
static const char value[] = "1234 block = [64, 64, 64]\n5678 block = [32, 64, 64]\n";

static bool has(const char *folder, const char *wanted) {
  char found[4096] = "untouched";
  bool isThere = tileCacheFind(folder, key, found, sizeof found);
  CHECK(isThere || !strcmp(found, "untouched"), "something is written where nothing is found");
  return isThere && !strcmp(found, wanted);
}

static bool nothing(const char *folder) {
  char found[4096];
  return !tileCacheFind(folder, key, found, sizeof found);
}

static size_t readFile(const char *path, char *bytes, size_t capacity) {
  FILE *file = fopen(path, "rb");
  size_t size = file ? fread(bytes, 1, capacity, file) : 0;
  if (file)
    fclose(file);
  return size;
}

static void writeFile(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && !fclose(file), "%s", path);
}

//===--- there and back -------------------------------------------------------------------===//

static void testRoundTrip(const char *folder) {
  TileError error = {.text = ""};
  char small[8];
  CHECK(nothing(folder), "before it is stored");
  CHECK(tileCacheStore(folder, key, value, &error) && has(folder, value), "%s", error.text);
  CHECK(!tileCacheFind(folder, key, small, sizeof small), "too little room");
  CHECK(!tileCacheFind(folder, "another key", small, sizeof small), "another key");
  CHECK(tileCacheStore(folder, key, "", &error) && has(folder, ""), "an empty text");
  CHECK(tileCacheStore(folder, key, value, &error) && has(folder, value), "%s", error.text);
  // Another version of ours has other keys: both stay.
  CHECK(tileCacheStore(folder, "tessera 0.2.0", "other", &error) && has(folder, value), "%s", error.text);
}

static void testFolders(void) {
  char folder[256];
  setenv("TESSERA_CACHE", "/a/b", 1);
  CHECK(tileCacheFolder("mine", folder, sizeof folder) && !strcmp(folder, "mine"), "%s", folder);
  CHECK(tileCacheFolder("", folder, sizeof folder) && !strcmp(folder, "/a/b"), "%s", folder);
  CHECK(!tileCacheFolder("none", folder, sizeof folder), "none");
  unsetenv("TESSERA_CACHE");
  setenv("XDG_CACHE_HOME", "/x", 1);
  CHECK(tileCacheFolder(NULL, folder, sizeof folder) && !strcmp(folder, "/x/tessera"), "%s", folder);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/h", 1);
  CHECK(tileCacheFolder(NULL, folder, sizeof folder) && !strcmp(folder, "/h/.cache/tessera"), "%s", folder);
  unsetenv("HOME");
  CHECK(!tileCacheFolder(NULL, folder, sizeof folder), "nowhere");
}

static void testRefusal(void) {
  TileError error = {.text = ""};
  char file[128];
  snprintf(file, sizeof file, "%s/a file", root);
  writeFile(file, "x", 1);
  CHECK(!tileCacheStore(file, key, value, &error), "a file is no folder");
  CHECK_CONTAINS(error.text, "a file");
  remove(file);
}

//===--- files that are not ours ---------------------------------------------------------------===//

static void testDamage(const char *folder) {
  static char whole[4096], bytes[4096];
  char path[256];
  TileError error = {.text = ""};
  CHECK(tileCachePath(folder, key, path, sizeof path) && tileCacheStore(folder, key, value, &error), "%s", error.text);
  size_t size = readFile(path, whole, sizeof whole);
  CHECK(size > sizeof key + sizeof value - 2, "%zu bytes", size);
  for (size_t cut = 0; cut < size; ++cut) { // truncated anywhere
    writeFile(path, whole, cut);
    CHECK(nothing(folder), "cut to %zu bytes", cut);
  }
  for (size_t at = 0; at < size; ++at) // one bit of any byte
    for (int bit = 0; bit < 8; bit += 3) {
      memcpy(bytes, whole, size);
      bytes[at] = (char)(bytes[at] ^ 1 << bit);
      writeFile(path, bytes, size);
      CHECK(nothing(folder), "bit %d of byte %zu", bit, at);
    }
  memcpy(bytes, whole, size);
  bytes[size] = '\n';
  writeFile(path, bytes, size + 1);
  CHECK(nothing(folder), "a byte more");
  uint64_t seed = 3;
  for (int round = 0; round < 200; ++round) {
    size_t length = checkRandom(&seed) % sizeof bytes;
    for (size_t i = 0; i < length; ++i)
      bytes[i] = (char)checkRandom(&seed);
    writeFile(path, bytes, length);
    CHECK(nothing(folder), "%zu random bytes", length);
  }
  // Another format's number, in an otherwise right file.
  char *number = strstr(memcpy(bytes, whole, size), "cache 1");
  CHECK(number, "the format's number");
  if (number)
    number[6] = '2';
  writeFile(path, bytes, size);
  CHECK(nothing(folder), "another format");
  // Another key's file under this name.
  char other[256];
  CHECK(tileCacheStore(folder, "other", value, &error) && tileCachePath(folder, "other", other, sizeof other), "other");
  CHECK(!rename(other, path) && nothing(folder), "another key's file");
  remove(path);
  CHECK(!mkdir(path, 0777) && nothing(folder), "a folder of that name");
  rmdir(path);
  CHECK(!symlink("nowhere", path) && nothing(folder), "a link to nothing");
  remove(path);
  CHECK(tileCacheStore(folder, key, value, &error) && has(folder, value), "%s", error.text);
}

//===--- processes at once -----------------------------------------------------------------------===//

// Each writes its own text again and again and must always read one that somebody wrote, whole.
static int child(const char *folder, int number) {
  static char mine[3000], found[4096];
  TileError error;
  memset(mine, 'a' + number, sizeof mine - 1);
  for (int round = 0; round < 60; ++round) {
    if (!tileCacheStore(folder, key, mine, &error) || !tileCacheFind(folder, key, found, sizeof found))
      return 1;
    for (size_t i = 0; i < sizeof mine - 1; ++i)
      if (found[i] != found[0] || found[0] < 'a' || found[0] > 'd')
        return 2;
  }
  return 0;
}

static void testProcesses(const char *folder) {
  pid_t children[4];
  for (int i = 0; i < 4; ++i)
    if (!(children[i] = fork()))
      _exit(child(folder, i));
  for (int i = 0; i < 4; ++i) {
    int status = 0;
    waitpid(children[i], &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "process %d: status %x", i, (unsigned)status);
  }
  char found[4096];
  CHECK(tileCacheFind(folder, key, found, sizeof found) && strlen(found) == 2999, "what stays is whole");
}

// The second waits for the first: it reads what the first wrote before it let go.
static void testLock(const char *folder) {
  TileError error;
  int lock = tileCacheLock(folder), status = 0;
  CHECK(lock >= 0, "a lock");
  pid_t other = fork();
  if (!other) {
    int mine = tileCacheLock(folder);
    _exit(mine >= 0 && has(folder, "written under the lock") ? 0 : 1);
  }
  CHECK(tileCacheStore(folder, key, "written under the lock", &error), "%s", error.text);
  tileCacheUnlock(lock);
  waitpid(other, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static int removeOne(const char *path, const struct stat *status, int kind, struct FTW *place) { return remove(path); }

int main(void) {
  char folder[64];
  CHECK(mkdtemp(root), "a folder");
  snprintf(folder, sizeof folder, "%s/deep/er", root);
  testRoundTrip(folder);
  testFolders();
  testRefusal();
  testDamage(folder);
  testProcesses(folder);
  testLock(folder);
  CHECK(nftw(root, removeOne, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s", root);
  return checkResult(1500);
}
