// npz.c - zip files as numpy writes them. See npz.h. The format: PKWARE's APPNOTE, sections 4.3 and 4.5.3.
// Expects: any bytes. Leaves: arrays whose check sums are right; a whole file, or none.
#include "lib/support/npy/npz.h"

#include "lib/support/file.h"
#include "lib/support/files/inflate.h"
#include "lib/support/npy/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
  END_BYTES = 22,
  LOCATOR_BYTES = 20,
  END64_BYTES = 56,
  ENTRY_BYTES = 46,
  LOCAL_BYTES = 30,
  LONGEST_COMMENT = 65535
};
#define IN_ZIP64 UINT64_C(0xffffffff)

static uint64_t get(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static unsigned char *put(unsigned char *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    *at++ = (unsigned char)(value >> (8 * i));
  return at;
}

bool tessera_path_is_npz(const char *path) {
  size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

//===--- the list ---------------------------------------------------------------===//

static bool append(tessera_arrays_t *arrays, const char *name, tessera_array_t *array, tessera_error_t *out_error) {
  tessera_named_array_t *items = realloc(arrays->items, ((size_t)arrays->count + 1) * sizeof *items);
  char *copy = strdup(name);
  if (items)
    arrays->items = items;
  if (!items || !copy) {
    free(copy);
    tessera_array_destroy(array);
    return tessera_fail(out_error, "%s: out of memory", name);
  }
  items[arrays->count++] = (tessera_named_array_t){copy, *array};
  return true;
}

void tessera_arrays_destroy(tessera_arrays_t *arrays) {
  for (int i = 0; i < arrays->count; ++i) {
    free(arrays->items[i].name);
    tessera_array_destroy(&arrays->items[i].array);
  }
  free(arrays->items);
  *arrays = (tessera_arrays_t){0, NULL};
}

//===--- reading ----------------------------------------------------------------===//

typedef struct zip_t {
  const char *path, *kind; // kind: what it should be, for messages
  const unsigned char *bytes;
  uint64_t size;
  uint64_t entries, directory; // of the central directory: how many, and where the first is
} zip_t;

typedef struct entry_t {
  char name[256]; // of the member
  unsigned method, flags;
  uint32_t crc;
  uint64_t packed, size, local; // bytes in the file, of the array's file, and where its header is
} entry_t;

static bool has(const zip_t *zip, uint64_t at, uint64_t bytes) { return at <= zip->size && bytes <= zip->size - at; }

static bool is_at(const zip_t *zip, uint64_t at, uint64_t bytes, const char *signature) {
  return has(zip, at, bytes) && memcmp(zip->bytes + at, signature, 4) == 0;
}

static bool fail_broken(const zip_t *zip, const char *what, tessera_error_t *out_error) {
  return tessera_fail(out_error, "%s: is cut off or broken: %s", zip->path, what);
}

// The end of the central directory is searched from the back: a comment may follow it.
static bool find_end(const zip_t *zip, uint64_t *out_end) {
  for (uint64_t back = END_BYTES; back <= zip->size && back <= END_BYTES + LONGEST_COMMENT; ++back)
    if (is_at(zip, zip->size - back, END_BYTES, "PK\5\6")) {
      *out_end = zip->size - back;
      return true;
    }
  return false;
}

static bool find_directory(zip_t *zip, tessera_error_t *out_error) {
  uint64_t end;
  if (zip->size < 4 || memcmp(zip->bytes, "PK", 2) != 0)
    return tessera_fail(out_error, "%s: is not a %s file", zip->path, zip->kind);
  if (!find_end(zip, &end))
    return fail_broken(zip, "it has no directory at its end", out_error);
  zip->entries = get(zip->bytes + end + 10, 2);
  zip->directory = get(zip->bytes + end + 16, 4);
  if (zip->entries != 0xffff && zip->directory != IN_ZIP64)
    return true;
  if (end < LOCATOR_BYTES || !is_at(zip, end - LOCATOR_BYTES, LOCATOR_BYTES, "PK\6\7"))
    return fail_broken(zip, "its directory is missing", out_error);
  uint64_t end64 = get(zip->bytes + end - LOCATOR_BYTES + 8, 8);
  if (!is_at(zip, end64, END64_BYTES, "PK\6\6"))
    return fail_broken(zip, "its directory is missing", out_error);
  zip->entries = get(zip->bytes + end64 + 32, 8);
  zip->directory = get(zip->bytes + end64 + 48, 8);
  return true;
}

// Sizes beyond 32 bits stand in an extra field, those that are needed only, in this order.
static bool read_zip64(const unsigned char *extra, uint64_t length, entry_t *entry) {
  uint64_t *const fields[] = {&entry->size, &entry->packed, &entry->local};
  for (uint64_t at = 0; at + 4 <= length; at += 4 + get(extra + at + 2, 2)) {
    if (get(extra + at, 2) != 1)
      continue;
    uint64_t next = at + 4, end = next + get(extra + at + 2, 2);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
      if (*fields[i] == IN_ZIP64) {
        if (next + 8 > end || end > length)
          return false;
        *fields[i] = get(extra + next, 8);
        next += 8;
      }
  }
  return true;
}

static bool read_entry(const zip_t *zip, uint64_t *at, entry_t *out_entry, tessera_error_t *out_error) {
  if (!is_at(zip, *at, ENTRY_BYTES, "PK\1\2"))
    return fail_broken(zip, "an entry of its directory is missing", out_error);
  const unsigned char *bytes = zip->bytes + *at;
  uint64_t name = get(bytes + 28, 2), extra = get(bytes + 30, 2), comment = get(bytes + 32, 2);
  if (!has(zip, *at + ENTRY_BYTES, name + extra + comment))
    return fail_broken(zip, "an entry of its directory is missing", out_error);
  *out_entry = (entry_t){.flags = (unsigned)get(bytes + 8, 2),
                         .method = (unsigned)get(bytes + 10, 2),
                         .crc = (uint32_t)get(bytes + 16, 4),
                         .packed = get(bytes + 20, 4),
                         .size = get(bytes + 24, 4),
                         .local = get(bytes + 42, 4)};
  if (name == 0 || name >= sizeof out_entry->name)
    return tessera_fail(out_error, "%s: member '%.*s' has a name of %d bytes; at most %zu are accepted", zip->path,
                        (int)(name < 200 ? name : 200), (const char *)bytes + ENTRY_BYTES, (int)name,
                        sizeof out_entry->name - 1);
  memcpy(out_entry->name, bytes + ENTRY_BYTES, name);
  if (!read_zip64(bytes + ENTRY_BYTES + name, extra, out_entry))
    return fail_broken(zip, "an entry of its directory is missing", out_error);
  *at += ENTRY_BYTES + name + extra + comment;
  return true;
}

// Where the member's bytes are; false where they are not all in the file.
static bool find_bytes(const zip_t *zip, const entry_t *entry, uint64_t *out_start) {
  if (!is_at(zip, entry->local, LOCAL_BYTES, "PK\3\4"))
    return false;
  *out_start =
      entry->local + LOCAL_BYTES + get(zip->bytes + entry->local + 26, 2) + get(zip->bytes + entry->local + 28, 2);
  return has(zip, *out_start, entry->packed);
}

// The member's bytes as they were before they were packed; owned.
static void *unpack(const zip_t *zip, const entry_t *entry, tessera_error_t *out_error) {
  uint64_t start = 0;
  // No deflate stream is more than 1032 times as short as what it holds.
  bool good = find_bytes(zip, entry, &start) && entry->size / 1032 <= entry->packed;
  if (entry->flags & 1 || (entry->method != 0 && entry->method != 8)) {
    tessera_fail(out_error, "%s: member '%s' is encrypted or packed by method %u, not by deflate", zip->path,
                 entry->name, entry->method);
    return NULL;
  }
  char *bytes = good ? malloc(entry->size + 1) : NULL;
  if (good && !bytes) {
    tessera_fail(out_error, "%s: no memory for member '%s'", zip->path, entry->name);
    return NULL;
  }
  if (good && entry->method == 8)
    good = tessera_inflate(zip->bytes + start, entry->packed, bytes, entry->size);
  else if (good && (good = entry->packed == entry->size))
    memcpy(bytes, zip->bytes + start, entry->size);
  if (good && tessera_crc32(0, bytes, entry->size) == entry->crc)
    return bytes;
  tessera_fail(out_error, "%s: is cut off or broken: member '%s' %s", zip->path, entry->name,
               good ? "has a wrong check sum" : "cannot be unpacked");
  free(bytes);
  return NULL;
}

static bool read_member(tessera_arrays_t *arrays, const zip_t *zip, entry_t *entry, tessera_error_t *out_error) {
  char name[4096];
  tessera_array_t array;
  size_t length = strlen(entry->name);
  if (length < 5 || strcmp(entry->name + length - 4, ".npy") != 0)
    return tessera_fail(out_error, "%s: member '%.200s' is not an .npy file", zip->path, entry->name);
  entry->name[length - 4] = 0;
  snprintf(name, sizeof name, "%s:%s", zip->path, entry->name);
  void *bytes = unpack(zip, entry, out_error);
  if (!bytes)
    return false;
  FILE *file = fmemopen(bytes, entry->size + 1, "rb"); // + 1: glibc refuses a size of 0
  bool good = file ? tessera_npy_read_from(file, name, (int64_t)entry->size, &array, out_error)
                   : tessera_fail(out_error, "%s: %s", name, strerror(errno));
  if (file)
    fclose(file);
  free(bytes);
  return good && append(arrays, name, &array, out_error);
}

static bool read_members(tessera_arrays_t *arrays, zip_t *zip, tessera_error_t *out_error) {
  if (!find_directory(zip, out_error))
    return false;
  uint64_t at = zip->directory;
  for (uint64_t i = 0; i < zip->entries; ++i) {
    entry_t entry;
    if (!read_entry(zip, &at, &entry, out_error) || !read_member(arrays, zip, &entry, out_error))
      return false;
  }
  return true;
}

bool tessera_zip_visit(const char *path, const void *bytes, uint64_t size, tessera_zip_visit_t *visit, void *data,
                       tessera_error_t *out_error) {
  zip_t zip = {.path = path, .kind = "zip", .bytes = bytes, .size = size};
  if (!find_directory(&zip, out_error))
    return false;
  uint64_t at = zip.directory, start;
  for (uint64_t i = 0; i < zip.entries; ++i) {
    entry_t entry;
    if (!read_entry(&zip, &at, &entry, out_error))
      return false;
    if (entry.flags & 1 || entry.method != 0)
      return tessera_fail(out_error, "%s: member '%s' is compressed or encrypted; stored members are accepted", path,
                          entry.name);
    if (!find_bytes(&zip, &entry, &start) || entry.size != entry.packed)
      return tessera_fail(out_error, "%s: is cut off or broken: member '%s' is not whole", path, entry.name);
    if (!visit(data, entry.name, zip.bytes + start, entry.size, out_error))
      return false;
  }
  return true;
}

static void *read_whole(const char *path, uint64_t *out_size, tessera_error_t *out_error) {
  struct stat status;
  bool is_other = stat(path, &status) == 0 && !S_ISREG(status.st_mode); // a pipe would wait for its writer
  FILE *file = is_other ? NULL : fopen(path, "rbe");
  if (!file) {
    tessera_fail(out_error, "%s: cannot be read: %s", path, is_other ? "not a file" : strerror(errno));
    return NULL;
  }
  void *bytes = fstat(fileno(file), &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
  *out_size = bytes ? fread(bytes, 1, (size_t)status.st_size, file) : 0;
  fclose(file);
  if (!bytes)
    tessera_fail(out_error, "%s: no memory to read it", path);
  return bytes;
}

bool tessera_arrays_read(tessera_arrays_t *arrays, const char *path, tessera_error_t *out_error) {
  if (!tessera_path_is_npz(path)) {
    tessera_array_t array;
    return tessera_npy_read(path, &array, out_error) && append(arrays, path, &array, out_error);
  }
  zip_t zip = {.path = path, .kind = ".npz"};
  void *bytes = read_whole(path, &zip.size, out_error);
  zip.bytes = bytes;
  bool good = bytes && read_members(arrays, &zip, out_error);
  free(bytes);
  return good;
}

//===--- writing ----------------------------------------------------------------===//

// What follows the signature and version in both a member's header and its entry: flags to the name's length.
static unsigned char *put_facts(unsigned char *at, uint32_t crc, uint64_t size, size_t name) {
  at = put(at, UINT64_C(0x21) << 48, 8); // no flags, stored, midnight of 1 January 1980: equal arrays give equal files
  at = put(at, crc, 4);
  at = put(at, size, 4);
  at = put(at, size, 4);
  return put(at, name, 2);
}

typedef struct writer_t {
  tessera_bytes_t *parts; // three for each member, then the directory
  unsigned char *headers, *directory;
  uint64_t size, directory_size; // so far
} writer_t;

enum { MEMBER_BYTES = 512 + TESSERA_NPY_HEADER, DIRECTORY_BYTES = 512 };

static void add_member(writer_t *writer, int i, const char *name, const tessera_array_t *array) {
  char file[256];
  size_t length = (size_t)snprintf(file, sizeof file, "%.250s.npy", name);
  unsigned char *header = writer->headers + (size_t)i * MEMBER_BYTES, *npy = header + 512, *at = header;
  size_t npy_bytes = tessera_npy_header(array, npy),
         bytes = (size_t)(array->count * tessera_element_bytes(array->element));
  uint32_t crc = tessera_crc32(tessera_crc32(0, npy, npy_bytes), array->data, bytes);
  at = put_facts(put(at, UINT64_C(20) << 32 | 0x04034b50, 6), crc, npy_bytes + bytes, length);
  at = put(at, 0, 2);
  memcpy(at, file, length);
  at += length;
  unsigned char *entry = writer->directory + writer->directory_size, *next = entry;
  next = put_facts(put(next, UINT64_C(20) << 48 | UINT64_C(20) << 32 | 0x02014b50, 8), crc, npy_bytes + bytes, length);
  next = put(next, 0, 8); // no extra field, no comment, one disk, no kind
  next = put(put(next, 0, 4), writer->size, 4);
  memcpy(next, file, length);
  writer->directory_size += (size_t)(next - entry) + length;
  writer->parts[3 * i] = (tessera_bytes_t){header, (size_t)(at - header)};
  writer->parts[3 * i + 1] = (tessera_bytes_t){npy, npy_bytes};
  writer->parts[3 * i + 2] = (tessera_bytes_t){array->data, bytes};
  writer->size += (size_t)(at - header) + npy_bytes + bytes;
}

static void add_end(writer_t *writer, int count) {
  unsigned char *at = put(writer->directory + writer->directory_size, 0x06054b50, 8);
  at = put(put(at, (uint64_t)count, 2), (uint64_t)count, 2);
  at = put(put(at, writer->directory_size, 4), writer->size, 4);
  at = put(at, 0, 2);
  writer->parts[3 * count] = (tessera_bytes_t){writer->directory, (size_t)(at - writer->directory)};
}

static bool fits(int count, const tessera_array_t *const *arrays) {
  uint64_t bytes = 0;
  for (int i = 0; i < count; ++i)
    bytes += (uint64_t)(arrays[i]->count * tessera_element_bytes(arrays[i]->element)) + MEMBER_BYTES + DIRECTORY_BYTES;
  return bytes < IN_ZIP64;
}

bool tessera_npz_write(const char *path, int count, const char *const *names, const tessera_array_t *const *arrays,
                       tessera_error_t *out_error) {
  if (!fits(count, arrays))
    return tessera_fail(out_error, "%s: a .npz is written up to 4 GiB: give one .npy for each output", path);
  writer_t writer = {.parts = calloc(3 * (size_t)count + 1, sizeof *writer.parts),
                     .headers = malloc((size_t)count * MEMBER_BYTES + 1),
                     .directory = malloc((size_t)count * DIRECTORY_BYTES + END_BYTES)};
  bool good =
      (writer.parts && writer.headers && writer.directory) || tessera_fail(out_error, "%s: out of memory", path);
  for (int i = 0; i < count && good; ++i)
    add_member(&writer, i, names[i], arrays[i]);
  if (good) {
    add_end(&writer, count);
    good = tessera_file_write(path, writer.parts, 3 * count + 1, out_error);
  }
  free(writer.parts);
  free(writer.headers);
  free(writer.directory);
  return good;
}
