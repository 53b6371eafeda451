// file_test.c - files wholly or not at all: several at once, names that are one file, links, long names, limits.
#include "lib/support/file.h"

#include "test/check.h"

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text) {
  tessera_error_t error = {""};
  bool ok = tessera_file_write(path, &(tessera_bytes_t){text, strlen(text)}, 1, &error);
  CHECK(ok || strstr(error.text, "cannot be written"), "%s", error.text);
  return ok;
}

static bool holds(const char *path, const char *text) {
  size_t size = 0;
  char *bytes = tessera_file_read(path, &size, NULL);
  bool is = bytes && size == strlen(text) && strcmp(bytes, text) == 0;
  free(bytes);
  return is;
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static int count_files(void) {
  DIR *folder = opendir(".");
  int count = 0;
  while (folder && readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

static void test_several(void) {
  tessera_files_t files;
  tessera_error_t error = {""};
  CHECK(write_text("old", "before"));
  int before = count_files();
  tessera_files_begin(&files);
  CHECK(write_text("new", "1") && write_text("old", "2") && !is_there("new") && holds("old", "before"));
  CHECK(!write_text("no/such/folder", "3"));
  CHECK(!tessera_files_end(&files, false, &error));
  CHECK(count_files() == before && holds("old", "before"), "none");
  tessera_files_begin(&files);
  CHECK(write_text("new", "1") && write_text("old", "2"));
  CHECK(tessera_files_end(&files, true, &error) && holds("new", "1") && holds("old", "2"), "all");
  CHECK(count_files() == before + 1);
  // A name that becomes a folder in between: those before it are taken back.
  tessera_files_begin(&files);
  CHECK(write_text("first", "1") && write_text("second", "2") && mkdir("second", 0777) == 0);
  CHECK(!tessera_files_end(&files, true, &error) && !is_there("first"));
  CHECK_CONTAINS(error.text, "second: cannot be written");
  CHECK(count_files() == before + 2 && rmdir("second") == 0);
  CHECK(!write_text(".", "a folder"));
}

static void test_same(void) {
  CHECK(mkdir("folder", 0777) == 0 && symlink("folder", "link") == 0 && symlink("folder/x", "to_x") == 0);
  CHECK(tessera_file_is_same("a", "./a") && tessera_file_is_same("folder/x", "link/../link/x"));
  CHECK(tessera_file_is_same("to_x", "folder/x"), "through a link to what is not there");
  CHECK(!tessera_file_is_same("a", "b") && !tessera_file_is_same("folder/x", "x"));
  CHECK(!tessera_file_is_same("/dev/null", "/dev/null"));
}

static void test_links(void) {
  CHECK(write_text("to_x", "through") && holds("folder/x", "through"), "a dangling link keeps pointing");
  struct stat status;
  CHECK(lstat("to_x", &status) == 0 && S_ISLNK(status.st_mode));
  CHECK(symlink("round", "about") == 0 && symlink("about", "round") == 0 && !write_text("round", "x"));
  tessera_error_t error;
  CHECK(tessera_file_write_durably("to_x", &(tessera_bytes_t){"own", 3}, 1, &error) && holds("to_x", "own"));
  CHECK(holds("folder/x", "through"), "a durable file takes the place of a link");
}

static void test_long_names(void) {
  char name[NAME_MAX + 2];
  for (size_t length = NAME_MAX - 40; length <= NAME_MAX; ++length) {
    memset(name, 'n', length);
    name[length] = 0;
    CHECK(write_text(name, "long") && holds(name, "long"), "%zu bytes", length);
    remove(name);
  }
  memset(name, 'n', NAME_MAX + 1);
  name[NAME_MAX + 1] = 0;
  CHECK(!write_text(name, "too long"));
}

static void test_limit(void) {
  static char large[100000];
  struct rlimit before, small;
  int files = count_files();
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  small = (struct rlimit){1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  tessera_error_t error = {""};
  CHECK(!tessera_file_write("large", &(tessera_bytes_t){large, sizeof large}, 1, &error));
  CHECK_CONTAINS(error.text, "large: cannot be written: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(count_files() == files);
}

static void test_reading(void) {
  tessera_error_t error;
  size_t size;
  CHECK(!tessera_file_read("nothing", &size, &error));
  CHECK_CONTAINS(error.text, "nothing: No such file or directory");
  CHECK(!tessera_file_read("folder", &size, &error));
  CHECK_CONTAINS(error.text, "folder: Is a directory");
}

int main(void) {
  test_several();
  test_same();
  test_links();
  test_long_names();
  test_limit();
  test_reading();
  return checkResult(70);
}
