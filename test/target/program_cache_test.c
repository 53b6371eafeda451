// The cache of compiled programs: what makes another key, what is found, which programs go, processes at once.
#include "lib/target/program_cache.h"

#include "lib/machine/machine.h"
#include "lib/runtime/manifest.h"
#include "test/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { Bytes = 1000, Whole = Bytes + sizeof(tessera_program_end_t) };

static char folder[PATH_MAX];

// As the linker leaves a program: any bytes, and their checksum.
static void fill(char program[Whole], int seed) {
  tessera_program_end_t end = {.mark = TESSERA_PROGRAM_MARK};
  memset(program, 'a' + seed, Bytes);
  end.checksum = tessera_checksum(0, program, Bytes);
  memcpy(program + Bytes, &end, sizeof end);
}

static bool store(const char *key, int seed, int64_t most, char path[PATH_MAX]) {
  char program[Whole];
  tessera_error_t error = {""};
  fill(program, seed);
  bool ok = tileProgramCacheStore(folder, key, program, Whole, most, path, PATH_MAX, &error);
  CHECK(ok, "%s", error.text);
  return ok;
}

static bool find(const char *key) {
  char path[PATH_MAX];
  return tileProgramCacheFind(folder, key, path, sizeof path);
}

// A file that was used so many seconds ago.
static void age(const char *path, int seconds) {
  struct timespec times[2];
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds;
  times[1] = times[0];
  CHECK(!utimensat(AT_FDCWD, path, times, 0), "%s", path);
}

static void testKeys(void) {
  char keys[6][TILE_PROGRAM_KEY], again[TILE_PROGRAM_KEY];
  CHECK(tileProgramCacheKey("text", 4, "passes", "sm_80", "more", keys[0]), "a key");
  CHECK(tileProgramCacheKey("texts", 5, "passes", "sm_80", "more", keys[1]), "a key");
  CHECK(tileProgramCacheKey("text", 4, "passe", "ssm_80", "more", keys[2]), "a key");
  CHECK(tileProgramCacheKey("text", 4, "passes", NULL, "more", keys[3]), "a key");
  CHECK(tileProgramCacheKey("text", 4, "passes", "sm_80", NULL, keys[4]), "a key");
  CHECK(tileProgramCacheKey("text", 4, "passes", "sm_80", "more", again) && !strcmp(again, keys[0]), "the key again");
  CHECK(!mkdir("machines", 0700), "machines");
  tileMachineSetFolder("machines");
  CHECK(tileProgramCacheKey("text", 4, "passes", "sm_80", "more", again) && !strcmp(again, keys[0]), "without files");
  FILE *file = fopen("machines/odd.machine", "w");
  CHECK(file && !fclose(file), "odd.machine");
  CHECK(tileProgramCacheKey("text", 4, "passes", "sm_80", "more", keys[5]), "a key");
  tileMachineSetFolder(NULL);
  for (int i = 0; i < 6; ++i)
    for (int k = 0; k < i; ++k)
      CHECK(strcmp(keys[i], keys[k]), "keys %d and %d", i, k);
}

static void testDamage(void) {
  char path[PATH_MAX], program[Whole];
  fill(program, 1);
  CHECK(!find("damaged"), "before it is stored");
  for (size_t at = 0; at < Whole; at += 7) {
    store("damaged", 1, TILE_PROGRAM_CACHE_BYTES, path);
    CHECK(find("damaged"), "whole");
    int file = open(path, O_WRONLY);
    char other = (char)(program[at] ^ 4);
    CHECK(file >= 0 && pwrite(file, &other, 1, (off_t)at) == 1 && !close(file), "byte %zu", at);
    CHECK(!find("damaged") && access(path, F_OK) != 0, "byte %zu changed", at);
    store("damaged", 1, TILE_PROGRAM_CACHE_BYTES, path);
    CHECK(!truncate(path, (off_t)at) && !find("damaged"), "cut to %zu bytes", at);
  }
  CHECK(!mkdir(path, 0700) && !find("damaged") && !rmdir(path), "a folder of that name");
  CHECK(!symlink("nowhere", path) && !find("damaged") && !unlink(path), "a link to nothing");
}

static void testBound(void) {
  char paths[5][PATH_MAX], key[8];
  for (int i = 0; i < 4; ++i) {
    snprintf(key, sizeof key, "old%d", i);
    store(key, i, TILE_PROGRAM_CACHE_BYTES, paths[i]);
    age(paths[i], 400 - 100 * i);
  }
  CHECK(find("old0"), "used again");
  store("new", 5, 3 * Whole, paths[4]); // room for the new one, the one used again, and the youngest of the others
  CHECK(find("new") && find("old0") && find("old3"), "what was used last stays");
  CHECK(!find("old1") && !find("old2"), "what was not used for longest goes");
  store("new", 6, 1, paths[4]);
  CHECK(find("new") && !find("old0") && !find("old3"), "the new one stays, however large");
  FILE *file = fopen("cache/programs/new.so.123.0.partial", "w");
  CHECK(file && fputs("of a process that was killed", file) >= 0 && !fclose(file), "a part");
  age("cache/programs/new.so.123.0.partial", 1000);
  store("last", 7, Whole, paths[0]);
  CHECK(access("cache/programs/new.so.123.0.partial", F_OK) != 0, "parts go, too");
}

// Each stores again and again and finds nothing, or a whole program.
static int child(int seed) {
  char path[PATH_MAX], program[Whole];
  fill(program, seed);
  for (int round = 0; round < 60; ++round)
    if (!tileProgramCacheStore(folder, "shared", program, Whole, TILE_PROGRAM_CACHE_BYTES, path, sizeof path, NULL) ||
        !find("shared"))
      return 1;
  return 0;
}

static void testProcesses(void) {
  pid_t children[4];
  for (int i = 0; i < 4; ++i)
    if (!(children[i] = fork()))
      _exit(child(i));
  for (int i = 0; i < 4; ++i) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "child %d: %d", i, status);
  }
}

static void testFolder(void) {
  tessera_error_t error;
  char other[PATH_MAX], small[8];
  setenv("TESSERA_CACHE", "none", 1);
  CHECK(!tileProgramCacheFolder(other, sizeof other, &error) && !error.text[0], "%s", error.text);
  setenv("TESSERA_CACHE", "cache", 1);
  CHECK(!tileProgramCacheFolder(small, sizeof small, &error) && error.text[0], "too long");
  CHECK(tileProgramCacheFolder(folder, sizeof folder, &error) && !strcmp(folder, "cache/programs"), "%s", error.text);
  struct stat status;
  CHECK(!stat(folder, &status) && (status.st_mode & 0777) == 0700, "%o", status.st_mode);
  CHECK(!chmod(folder, 0720) && !tileProgramCacheFolder(other, sizeof other, &error), "the group may write");
  CHECK_CONTAINS(error.text, "cache/programs: is another user's or others may write to it");
  CHECK(!chmod(folder, 0755) && tileProgramCacheFolder(folder, sizeof folder, &error), "others may read");
}

int main(void) {
  testFolder();
  testKeys();
  testDamage();
  testBound();
  testProcesses();
  return checkResult(600);
}
