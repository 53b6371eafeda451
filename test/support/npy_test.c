// npy_test.c - .npy files: bytes as numpy writes them, both orders, round trips of every type, and each kind of bad
// file. Works in a folder given as its argument.
#include "lib/support/npy/npy.h"

#include "lib/support/random.h"
#include "test/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static const char *path = "test.npy";

static FILE *opened(const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(1);
  }
  return file;
}

// Writes a file: magic and version 1.0, the header's length, the header, the elements.
static void put(const char *start, int length, const char *header, const void *data, size_t size) {
  FILE *file = opened("wb");
  fwrite(start, 1, 8, file);
  fputc(length & 255, file);
  fputc(length >> 8 & 255, file);
  if (start[6] > 1) {
    fputc(length >> 16 & 255, file);
    fputc(length >> 24 & 255, file);
  }
  fputs(header, file);
  fwrite(data, 1, size, file);
  fclose(file);
}

#define V1 "\x93NUMPY\x01\x00"
#define V2 "\x93NUMPY\x02\x00"

static void put_v1(const char *header, const void *data, size_t size) {
  put(V1, (int)strlen(header), header, data, size);
}

static const float six[] = {1, 2, 3, 4, 5, 6};

static void check_reads(const char *header, int rank, const int64_t *shape, const float *wanted) {
  for (int version = 1; version <= 2; ++version) {
    tessera_array_t array;
    tessera_error_t error = {""};
    put(version == 1 ? V1 : V2, (int)strlen(header), header, six, sizeof six);
    bool good = tessera_npy_read(path, &array, &error);
    CHECK(good, "%s: %s", header, error.text);
    if (!good)
      continue;
    CHECK(array.element == TESSERA_F32 && array.rank == rank, "%s", header);
    CHECK(rank == 0 || memcmp(array.shape, shape, (size_t)rank * sizeof *shape) == 0, "%s", header);
    CHECK(memcmp(array.data, wanted, (size_t)array.count * sizeof *wanted) == 0, "%s", header);
    tessera_array_destroy(&array);
  }
}

static void test_reading(void) {
  static const float columns[] = {1, 3, 5, 2, 4, 6};
  check_reads("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }         \n", 2, (int64_t[]){2, 3}, six);
  check_reads("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 2, (int64_t[]){2, 3}, columns);
  check_reads("{'descr': '=f4', 'fortran_order': False, 'shape': (6,), }\n", 1, (int64_t[]){6}, six);
  check_reads("{ \"shape\":(6L,),\"fortran_order\" : True ,'descr':\"<f4\"}", 1, (int64_t[]){6}, six);
  check_reads("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 0, NULL, six);
  check_reads("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0, 9), }\n", 3, (int64_t[]){3, 0, 9}, six);
  check_reads("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3)}", 3, (int64_t[]){1, 2, 3}, six);
}

static void test_fortran_rank_3(void) {
  int32_t file[24], k = 0; // element [i, j, k] is 100 i + 10 j + k; the first index runs fastest
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 2; ++a)
        file[k++] = 100 * a + 10 * b + c;
  put_v1("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3, 4), }\n", file, sizeof file);
  tessera_array_t array;
  CHECK(tessera_npy_read(path, &array, NULL));
  for (int i = 0; i < 24; ++i)
    CHECK(((int32_t *)array.data)[i] == 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4, "element %d", i);
  tessera_array_destroy(&array);
}

static void test_round_trips(void) {
  for (tessera_element_t element = 0; element < TESSERA_ELEMENT_COUNT; ++element)
    for (int rank = 0; rank <= 4; ++rank) {
      tessera_array_t array, again;
      tessera_error_t error = {""};
      int64_t shape[] = {3, 1, 5, rank == 4 ? 0 : 2};
      CHECK(tessera_array_create(element, rank, shape, &array, &error), "%s", error.text);
      tessera_random_fill(&array, 7, (uint64_t)rank);
      CHECK(tessera_npy_write(path, &array, &error), "%s", error.text);
      CHECK(tessera_npy_read(path, &again, &error), "%s", error.text);
      CHECK(tessera_array_expect(&again, "it", element, rank, shape, NULL, &error), "%s", error.text);
      CHECK(memcmp(array.data, again.data, (size_t)(array.count * tessera_element_bytes(element))) == 0);
      tessera_array_destroy(&array);
      tessera_array_destroy(&again);
    }
}

// The bytes numpy.save gives for this array.
static void test_bytes_are_numpys(void) {
  static const char wanted[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }";
  tessera_array_t array = {.element = TESSERA_F32, .rank = 1, .shape = {6}, .count = 6, .data = (void *)six};
  char bytes[1000];
  CHECK(tessera_npy_write(path, &array, NULL));
  FILE *file = opened("rb");
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  CHECK(size == 128 + sizeof six, "size %zu", size);
  CHECK(memcmp(bytes, wanted, sizeof wanted - 1) == 0 && bytes[126] == ' ' && bytes[127] == '\n');
  CHECK(memcmp(bytes + 128, array.data, sizeof six) == 0);
}

static void check_rejects(const char *wanted) {
  tessera_array_t array = {.data = NULL};
  tessera_error_t error = {""};
  CHECK(!tessera_npy_read(path, &array, &error), "%s", wanted);
  CHECK(!array.data);
  CHECK_CONTAINS(error.text, wanted);
  CHECK_CONTAINS(error.text, "test.npy: ");
}

static void test_bad_headers(void) {
  static const struct {
    const char *header, *wanted;
  } cases[] = {
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", "holds 24 bytes of data, its shape needs 32"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "element type '<c8' is not supported"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "not supported: big-endian"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "is not a simple element type"},
      {"{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (2,), }", "'fortran_order' in its header is Perhaps"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", "is not a tuple of sizes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", "is not a tuple of sizes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "is not a tuple of sizes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "is not a tuple of sizes"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", "too large"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000,), }", "its shape needs 36000000000000"},
      {"{'descr': '<f4', 'fortran_order': False, }", "lacks 'shape'"},
      {"{'descr': '<f4', 'shape': (2,), }", "lacks 'fortran_order'"},
      {"{'fortran_order': False, 'shape': (2,), }", "lacks 'descr'"},
      {"{'shape': (2,), 'shape': (3,), }", "has 'shape' twice"},
      {"{'color': 3}", "has 'color' twice or where it does not belong"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } and more", "broken at: and more"},
      {"{'descr': '<f4' 'fortran_order': False}", "broken at: 'fortran_order'"},
      {"{'descr", "broken"},
      {"nonsense", "broken at: nonsense"},
      {"", "broken"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    put_v1(cases[i].header, six, sizeof six);
    check_rejects(cases[i].wanted);
  }
}

// Cut anywhere, a good file is an error and nothing worse; so is a good file with one byte changed, or it is read.
static void test_damage(void) {
  static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  char good[200];
  size_t size = (size_t)snprintf(good, sizeof good, "xxxxxxxxxx%s", header);
  memcpy(good, V1, 8);
  good[8] = (char)strlen(header);
  good[9] = 0;
  memcpy(good + size, six, sizeof six);
  size += sizeof six;
  for (size_t n = 0; n < size; ++n) {
    FILE *file = opened("wb");
    fwrite(good, 1, n, file);
    fclose(file);
    check_rejects("");
  }
  for (size_t n = 0; n < size; ++n)
    for (int change = 1; change < 256; change += 31) {
      good[n] ^= (char)change;
      FILE *file = opened("wb");
      fwrite(good, 1, size, file);
      fclose(file);
      good[n] ^= (char)change;
      tessera_array_t array;
      if (tessera_npy_read(path, &array, NULL))
        tessera_array_destroy(&array);
    }
}

static void test_bad_files(void) {
  put("NUMPYxx\x00", 0, "", six, sizeof six);
  check_rejects("is not a .npy file");
  put("\x93NUMPY\x09\x00", 0, "", six, sizeof six);
  check_rejects("version 9.0 is not supported");
  put(V1, 60000, "{", six, sizeof six);
  check_rejects("is cut off: its header has 60000 bytes");
  put(V2, 0x7fffffff, "{", six, sizeof six);
  check_rejects("is cut off: its header has 2147483647 bytes");
  remove(path);
  check_rejects("cannot be read: No such file");
  tessera_array_t array;
  tessera_error_t error;
  CHECK(!tessera_npy_read(".", &array, &error));
  CHECK_CONTAINS(error.text, ".: is not a file");
}

static int count_files(void) {
  DIR *folder = opendir(".");
  int count = 0;
  while (folder && readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

static void test_unwritable(void) {
  tessera_array_t array = {.element = TESSERA_F32, .rank = 1, .shape = {6}, .count = 6, .data = (void *)six};
  tessera_error_t error = {""};
  CHECK(!tessera_npy_write("no/such/folder.npy", &array, &error));
  CHECK_CONTAINS(error.text, "no/such/folder.npy: cannot be written: No such file or directory");
  int files = count_files();
  CHECK(!tessera_npy_write(".", &array, &error));
  CHECK_CONTAINS(error.text, ".: cannot be written");
  CHECK(!tessera_npy_write("/dev/full", &array, &error));
  CHECK_CONTAINS(error.text, "/dev/full: cannot be written: No space left on device");
  CHECK(count_files() == files); // nothing half-written remains
  CHECK(tessera_npy_write("/dev/null", &array, &error), "%s", error.text);
}

static void test_symbolic_link(void) {
  tessera_array_t array = {.element = TESSERA_F32, .rank = 1, .shape = {6}, .count = 6, .data = (void *)six};
  remove("link.npy");
  CHECK(tessera_npy_write(path, &array, NULL) && symlink(path, "link.npy") == 0);
  array.shape[0] = array.count = 3;
  CHECK(tessera_npy_write("link.npy", &array, NULL));
  tessera_array_t again;
  CHECK(tessera_npy_read(path, &again, NULL) && again.count == 3);
  tessera_array_destroy(&again);
  remove("link.npy");
}

static void test_expect(void) {
  tessera_array_t array;
  tessera_error_t error = {""};
  CHECK(tessera_array_create(TESSERA_F64, 2, (int64_t[]){3, 4}, &array, NULL));
  CHECK(tessera_array_expect(&array, "x", TESSERA_F64, 2, (int64_t[]){-1, 4}, NULL, &error));
  CHECK(!tessera_array_expect(&array, "argument 1", TESSERA_F32, 2, (int64_t[]){-1, 5}, NULL, &error));
  CHECK_CONTAINS(error.text, "argument 1: is 3x4xf64, expected ?x5xf32");
  tessera_array_destroy(&array);
  CHECK(!tessera_array_create(TESSERA_F32, 1, (int64_t[]){-1}, &array, &error));
  CHECK_CONTAINS(error.text, "size 0 is -1");
  CHECK(!tessera_array_create(TESSERA_F32, 1, (int64_t[]){INT64_MAX}, &array, &error));
  CHECK(!tessera_array_create(TESSERA_F32, 33, NULL, &array, &error));
}

int main(int argc, char **argv) {
  if (argc > 1 && chdir(argv[1]) != 0)
    return printf("cannot enter %s\n", argv[1]), 1;
  test_reading();
  test_fortran_rank_3();
  test_round_trips();
  test_bytes_are_numpys();
  test_bad_headers();
  test_damage();
  test_bad_files();
  test_unwritable();
  test_symbolic_link();
  test_expect();
  remove(path);
  return checkResult(800);
}
