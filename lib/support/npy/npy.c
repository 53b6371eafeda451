// npy.c - .npy files by hand: a length, a line of Python, the bytes.
// Why: tile-exec runs where there is no Python. Expects: any bytes whatever as input. Leaves: a whole file, or none.
#include "lib/support/npy/npy.h"

#include "lib/support/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "npy.c copies elements as they are: it expects a little-endian machine"
#endif

enum { LONGEST_HEADER = 1 << 16 }; // numpy's own have at most a few hundred bytes

// Magic and version of what we write; reading looks at the first six bytes.
static const unsigned char version_1[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};

typedef struct header_t {
  tessera_element_t element;
  bool has_element, has_order, has_shape, fortran;
  int rank;
  int64_t shape[TESSERA_MAX_RANK];
  int64_t text; // bytes of a string; 0: no string
} header_t;

static const struct {
  tessera_element_t element;
  const char *type;
} types[] = {
#define X(name, enumerator, bytes, npy) {enumerator, npy},
    TESSERA_ELEMENT_TYPES(X)
#undef X
};

//===--- The header: a cursor over text that ends in 0; each reader moves it and says whether it found its thing
//---===//

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(const char **at) {
  while (is_space(**at))
    ++*at;
}

static bool take(const char **at, char c) {
  skip_space(at);
  if (**at != c)
    return false;
  ++*at;
  return true;
}

static bool take_word(const char **at, const char *word) {
  skip_space(at);
  if (strncmp(*at, word, strlen(word)) != 0)
    return false;
  *at += strlen(word);
  return true;
}

static bool take_string(const char **at, char *out_text, size_t size) {
  skip_space(at);
  char quote = **at;
  const char *end = quote == '\'' || quote == '"' ? strchr(*at + 1, quote) : NULL;
  if (!end || (size_t)(end - *at) > size)
    return false;
  size_t length = (size_t)(end - *at - 1);
  memcpy(out_text, *at + 1, length);
  out_text[length] = 0;
  *at = end + 1;
  return true;
}

static bool take_size(const char **at, int64_t *out_size) {
  skip_space(at);
  if (**at < '0' || **at > '9')
    return false;
  char *end;
  errno = 0;
  *out_size = strtoll(*at, &end, 10);
  *at = end + (*end == 'L'); // Python 2 wrote long integers so
  return errno == 0;
}

// '|S3': a string of three bytes.
static bool take_text(const char *type, int64_t *out_bytes) {
  const char *at = type + 2;
  return strncmp(type, "|S", 2) == 0 && take_size(&at, out_bytes) && !*at && *out_bytes > 0;
}

static bool take_type(const char **at, const char *path, header_t *header, tessera_error_t *out_error) {
  char type[32];
  if (!take_string(at, type, sizeof type))
    return tessera_fail(out_error, "%s: 'descr' in its header is not a simple element type: %.40s", path, *at);
  if (take_text(type, &header->text)) {
    header->element = TESSERA_U8;
    header->has_element = true;
    return true;
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    bool order = type[0] == types[i].type[0] || (type[0] == '=') || (type[0] == '<' && types[i].type[0] == '|');
    if (order && strcmp(type + 1, types[i].type + 1) == 0) {
      header->element = types[i].element;
      header->has_element = true;
      return true;
    }
  }
  return tessera_fail(out_error, "%s: element type '%s' is not supported%s", path, type,
                      type[0] == '>' ? ": big-endian" : "");
}

static bool take_shape(const char **at, const char *path, header_t *header, tessera_error_t *out_error) {
  bool good = take(at, '('), closed = good && take(at, ')'), comma = true;
  while (good && !closed) {
    if (header->rank == TESSERA_MAX_RANK)
      return tessera_fail(out_error, "%s: rank is above %d", path, TESSERA_MAX_RANK);
    good = take_size(at, &header->shape[header->rank++]);
    comma = take(at, ',');
    closed = take(at, ')');
    good = good && (comma || closed);
  }
  good = good && (comma || header->rank != 1); // (3) is a number in Python, not a tuple
  header->has_shape = good;
  return good || tessera_fail(out_error, "%s: 'shape' in its header is not a tuple of sizes: %.40s", path, *at);
}

static bool take_order(const char **at, const char *path, header_t *header, tessera_error_t *out_error) {
  header->fortran = take_word(at, "True");
  header->has_order = header->fortran || take_word(at, "False");
  return header->has_order || tessera_fail(out_error, "%s: 'fortran_order' in its header is %.40s", path, *at);
}

static bool take_entry(const char **at, const char *path, header_t *header, tessera_error_t *out_error) {
  char key[32];
  if (!take_string(at, key, sizeof key) || !take(at, ':'))
    return tessera_fail(out_error, "%s: its header is broken at: %.40s", path, *at);
  if (strcmp(key, "descr") == 0 && !header->has_element)
    return take_type(at, path, header, out_error);
  if (strcmp(key, "fortran_order") == 0 && !header->has_order)
    return take_order(at, path, header, out_error);
  if (strcmp(key, "shape") == 0 && !header->has_shape)
    return take_shape(at, path, header, out_error);
  return tessera_fail(out_error, "%s: its header has '%s' twice or where it does not belong", path, key);
}

static bool parse_header(const char *text, const char *path, header_t *out_header, tessera_error_t *out_error) {
  header_t header = {0};
  const char *at = text;
  bool good = take(&at, '{');
  while (good && !take(&at, '}')) {
    if (!take_entry(&at, path, &header, out_error))
      return false;
    good = take(&at, ',') || *(skip_space(&at), at) == '}';
  }
  skip_space(&at);
  if (!good || *at)
    return tessera_fail(out_error, "%s: its header is broken at: %.40s", path, at);
  if (!header.has_element || !header.has_order || !header.has_shape)
    return tessera_fail(out_error, "%s: its header lacks '%s'", path,
                        !header.has_element ? "descr" : (header.has_order ? "shape" : "fortran_order"));
  if (header.text && header.rank)
    return tessera_fail(out_error, "%s: holds several strings, which is not supported", path);
  if (header.text)
    header.shape[header.rank++] = header.text;
  *out_header = header;
  return true;
}

//===--- Reading ---------------------------------------------------------===//

// Reads the part before the elements. |left| is the file's size, and becomes that of what follows.
static bool read_header(FILE *file, const char *path, int64_t *left, header_t *out_header, tessera_error_t *out_error) {
  unsigned char start[12] = {0};
  size_t got = fread(start, 1, 8, file);
  if (got < 6 || memcmp(start, version_1, 6) != 0)
    return tessera_fail(out_error, "%s: is not a .npy file", path);
  size_t width = start[6] == 1 ? 2 : 4;
  if (got == 8 && (start[6] < 1 || start[6] > 3 || start[7] != 0))
    return tessera_fail(out_error, "%s: .npy version %d.%d is not supported", path, start[6], start[7]);
  if (got < 8 || fread(start + 8, 1, width, file) < width)
    return tessera_fail(out_error, "%s: is cut off in its header", path);
  int64_t length = start[8] | start[9] << 8 | (int64_t)start[10] << 16 | (int64_t)start[11] << 24;
  *left -= (int64_t)(8 + width);
  if (length > *left)
    return tessera_fail(out_error, "%s: is cut off: its header has %lld bytes, the file %lld", path, (long long)length,
                        (long long)*left);
  if (length > LONGEST_HEADER)
    return tessera_fail(out_error, "%s: its header is too large: %lld bytes", path, (long long)length);
  *left -= length;
  char *text = calloc(1, LONGEST_HEADER + 1);
  if (!text)
    return tessera_fail(out_error, "%s: no memory for its header", path);
  bool good = fread(text, 1, (size_t)length, file) == (size_t)length;
  good = good ? parse_header(text, path, out_header, out_error)
              : tessera_fail(out_error, "%s: is cut off in its header", path);
  free(text);
  return good;
}

// Sizes in Fortran order are those of the transpose in C order: read that, then copy with strides.
static bool reorder(tessera_array_t *array, const char *path, tessera_error_t *out_error) {
  tessera_array_t ordered;
  int64_t strides[TESSERA_MAX_RANK], stride = 1;
  for (int i = 0; i < array->rank; ++i) {
    strides[i] = stride;
    stride *= array->shape[i];
  }
  if (!tessera_array_create(array->element, array->rank, array->shape, &ordered, NULL))
    return tessera_fail(out_error, "%s: no memory to reorder it", path);
  if (array->count > 0)
    tessera_copy_strided(ordered.data, array->data, array->rank, array->shape, strides,
                         tessera_element_bytes(array->element));
  tessera_array_destroy(array);
  *array = ordered;
  return true;
}

// Is there as much data as the shape says? Asked before memory is taken for it.
static bool check_size(const header_t *header, const char *path, int64_t left, tessera_error_t *out_error) {
  int64_t needed = tessera_element_bytes(header->element);
  bool empty = false, overflow = false;
  for (int i = 0; i < header->rank; ++i) {
    empty = empty || header->shape[i] == 0;
    overflow = overflow || (header->shape[i] && __builtin_mul_overflow(needed, header->shape[i], &needed));
  }
  if (empty)
    return true;
  if (overflow)
    return tessera_fail(out_error, "%s: its shape is too large to be addressed", path);
  return needed <= left || tessera_fail(out_error, "%s: is cut off: holds %lld bytes of data, its shape needs %lld",
                                        path, (long long)left, (long long)needed);
}

static bool read_elements(FILE *file, const char *path, const header_t *header, tessera_array_t *out_array,
                          tessera_error_t *out_error) {
  tessera_array_t array;
  tessera_error_t error;
  if (!tessera_array_create(header->element, header->rank, header->shape, &array, &error))
    return tessera_fail(out_error, "%s: %s", path, error.text);
  size_t bytes = (size_t)array.count * (size_t)tessera_element_bytes(array.element);
  array.is_text = header->text != 0;
  bool good = fread(array.data, 1, bytes, file) == bytes ||
              tessera_fail(out_error, "%s: cannot be read: %s", path, ferror(file) ? strerror(errno) : "cut off");
  good = good && (!header->fortran || header->rank < 2 || reorder(&array, path, out_error));
  if (good)
    *out_array = array;
  else
    tessera_array_destroy(&array);
  return good;
}

bool tessera_npy_read_from(FILE *file, const char *path, int64_t size, tessera_array_t *out_array,
                           tessera_error_t *out_error) {
  int64_t left = size;
  header_t header;
  return read_header(file, path, &left, &header, out_error) && check_size(&header, path, left, out_error) &&
         read_elements(file, path, &header, out_array, out_error);
}

static bool read_file(FILE *file, const char *path, tessera_array_t *out_array, tessera_error_t *out_error) {
  struct stat status;
  if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
    return tessera_fail(out_error, "%s: is not a file", path);
  return tessera_npy_read_from(file, path, status.st_size, out_array, out_error);
}

bool tessera_npy_read(const char *path, tessera_array_t *out_array, tessera_error_t *out_error) {
  struct stat status;
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) // before opening: a pipe would wait for its writer
    return tessera_fail(out_error, "%s: is not a file", path);
  FILE *file = fopen(path, "rbe");
  if (!file)
    return tessera_fail(out_error, "%s: cannot be read: %s", path, strerror(errno));
  bool good = read_file(file, path, out_array, out_error);
  fclose(file);
  return good;
}

//===--- Writing ---------------------------------------------------------===//

size_t tessera_npy_header(const tessera_array_t *array, void *out_header) {
  char shape[TESSERA_MAX_RANK * 24] = "", text[32], *header = out_header;
  snprintf(text, sizeof text, "|S%lld", (long long)array->count);
  for (int i = 0, length = 0; i < array->rank && !array->is_text; ++i)
    length += snprintf(shape + length, sizeof shape - (size_t)length, "%s%lld%s", i ? ", " : "",
                       (long long)array->shape[i], array->rank == 1 ? "," : "");
  int length =
      snprintf(header + 10, TESSERA_NPY_HEADER - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
               array->is_text ? text : types[array->element].type, shape);
  int padded = (10 + length + 1 + 63) / 64 * 64; // numpy ends the header with a line feed at a multiple of 64
  memset(header + 10 + length, ' ', (size_t)(padded - 10 - length));
  header[padded - 1] = '\n';
  memcpy(header, version_1, sizeof version_1);
  header[8] = (char)((padded - 10) & 255);
  header[9] = (char)((padded - 10) >> 8);
  return (size_t)padded;
}

bool tessera_npy_write(const char *path, const tessera_array_t *array, tessera_error_t *out_error) {
  char header[TESSERA_NPY_HEADER];
  tessera_bytes_t parts[] = {{header, tessera_npy_header(array, header)},
                             {array->data, (size_t)array->count * (size_t)tessera_element_bytes(array->element)}};
  return tessera_file_write(path, parts, 2, out_error);
}
