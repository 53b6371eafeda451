// upstream_files.c - Matrix Market (.mtx) and extended FROSTT (.tns) files, for sparse_tensor.new. See the header.
// Formats: https://math.nist.gov/MatrixMarket/formats.html and http://frostt.io/tensors/file-formats.html, the latter
// with upstream's two lines ahead: rank and number of entries, then the sizes.
#include "lib/runtime/upstream_files.h"

#include "lib/runtime/arena.h"
#include "lib/runtime/bf16.h"
#include "lib/runtime/call.h"
#include "lib/support/array.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MaxRank = TESSERA_MAX_RANK };

struct tessera_sparse_reader_t {
  char *path;
  FILE *file;
  char *line; // of the file, at hand
  size_t room;
  int64_t number; // of that line
  int64_t rank, count, room_of_entries;
  int64_t sizes[MaxRank];
  bool is_pattern, is_symmetric, is_complex;
  int64_t *coordinates; // rank for each entry, from 0
  double (*values)[2];  // real and imaginary part
};

//===--- lines ----------------------------------------------------------------------===//

void delSparseTensorReader(tessera_sparse_reader_t *reader) {
  if (!reader)
    return;
  if (reader->file)
    fclose(reader->file);
  free(reader->path);
  free(reader->line);
  free(reader->coordinates);
  free(reader->values);
  free(reader);
}

// Stops the program. The text is built before the reader goes.
static void refuse(tessera_sparse_reader_t *reader, const char *expected) {
  char text[512];
  snprintf(text, sizeof text, "%s:%" PRId64 ": %s", reader->path, reader->number, expected);
  delSparseTensorReader(reader);
  tessera_raise("%s", text);
}

// The next line that is no comment; false at the end of the file.
static bool next_line(tessera_sparse_reader_t *reader) {
  while (getline(&reader->line, &reader->room, reader->file) >= 0) {
    ++reader->number;
    const char *text = reader->line;
    while (isspace((unsigned char)*text))
      ++text;
    if (*text && *text != '%' && *text != '#')
      return true;
  }
  return false;
}

// Numbers of a line from |at| on; null when there are fewer.
static const char *take_integers(const char *at, int64_t count, int64_t *out_numbers) {
  for (int64_t i = 0; i < count && at; ++i) {
    char *end;
    errno = 0;
    out_numbers[i] = strtoll(at, &end, 10);
    at = end == at || errno ? NULL : end;
  }
  return at;
}

static bool holds_sizes(const tessera_sparse_reader_t *reader) {
  for (int64_t d = 0; d < reader->rank; ++d)
    if (reader->sizes[d] < 0)
      return false;
  return true;
}

//===--- headers --------------------------------------------------------------------===//

static int64_t read_market_header(tessera_sparse_reader_t *reader) {
  char object[64], format[64], field[64], symmetry[64];
  int64_t numbers[3];
  if (sscanf(reader->line, "%%%%MatrixMarket %63s %63s %63s %63s", object, format, field, symmetry) != 4 ||
      strcmp(object, "matrix") != 0 || strcmp(format, "coordinate") != 0)
    refuse(reader, "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
  reader->is_pattern = strcmp(field, "pattern") == 0;
  reader->is_symmetric = strcmp(symmetry, "symmetric") == 0;
  reader->is_complex = strcmp(field, "complex") == 0;
  if (!reader->is_pattern && !reader->is_complex && strcmp(field, "real") != 0 && strcmp(field, "integer") != 0)
    refuse(reader, "a field of real, complex, integer or pattern is expected");
  if (!reader->is_symmetric && strcmp(symmetry, "general") != 0)
    refuse(reader, "a symmetry of general or symmetric is expected");
  if (!next_line(reader) || !take_integers(reader->line, 3, numbers))
    refuse(reader, "expected rows, columns and the number of entries");
  reader->rank = 2;
  reader->sizes[0] = numbers[0];
  reader->sizes[1] = numbers[1];
  return numbers[2];
}

static int64_t read_frostt_header(tessera_sparse_reader_t *reader) {
  int64_t numbers[2];
  if (!next_line(reader) || !take_integers(reader->line, 2, numbers) || numbers[0] < 1 || numbers[0] > MaxRank)
    refuse(reader, "expected the rank (1 to 16) and the number of entries");
  reader->rank = numbers[0];
  if (!next_line(reader) || !take_integers(reader->line, reader->rank, reader->sizes))
    refuse(reader, "expected a size for each dimension");
  return numbers[1];
}

//===--- entries --------------------------------------------------------------------===//

static void add_entry(tessera_sparse_reader_t *reader, const int64_t *coordinates, const double value[2]) {
  if (reader->count == reader->room_of_entries) {
    int64_t room = reader->room_of_entries ? 2 * reader->room_of_entries : 1024;
    int64_t *more = realloc(reader->coordinates, (size_t)(room * reader->rank) * sizeof *more);
    reader->coordinates = more ? more : reader->coordinates;
    double (*values)[2] = realloc(reader->values, (size_t)room * sizeof *values);
    reader->values = values ? values : reader->values;
    if (!more || !values)
      refuse(reader, "out of memory");
    reader->room_of_entries = room;
  }
  memcpy(&reader->coordinates[reader->count * reader->rank], coordinates,
         (size_t)reader->rank * sizeof *reader->coordinates);
  memcpy(reader->values[reader->count++], value, sizeof *reader->values);
}

static void read_entry(tessera_sparse_reader_t *reader) {
  int64_t coordinates[MaxRank];
  const char *at = next_line(reader) ? take_integers(reader->line, reader->rank, coordinates) : NULL;
  double value[2] = {1, 0};
  for (int i = 0; i < (reader->is_pattern ? 0 : 1 + reader->is_complex) && at; ++i) {
    char *end;
    value[i] = strtod(at, &end);
    at = end == at ? NULL : end;
  }
  if (!at)
    refuse(reader, reader->is_complex
                       ? "expected an entry: a coordinate for each dimension, from 1, and the value's two parts"
                       : "expected an entry: a coordinate for each dimension, from 1, and a value");
  for (int64_t d = 0; d < reader->rank; ++d) {
    coordinates[d] -= 1;
    if (coordinates[d] < 0 || coordinates[d] >= reader->sizes[d])
      refuse(reader, "a coordinate lies outside of its dimension");
  }
  add_entry(reader, coordinates, value);
  if (reader->is_symmetric && coordinates[0] != coordinates[1])
    add_entry(reader, (int64_t[]){coordinates[1], coordinates[0]}, value);
}

static const int64_t *numbers_of(const tessera_memref_1d_t *memref) {
  return (const int64_t *)memref->aligned + memref->offset;
}

static void check_shape(tessera_sparse_reader_t *reader, const tessera_memref_1d_t *shape) {
  bool fits = shape->size == reader->rank;
  for (int64_t d = 0; d < reader->rank && fits; ++d)
    fits = !numbers_of(shape)[d] || numbers_of(shape)[d] == reader->sizes[d];
  if (!fits)
    refuse(reader, "the sizes of the file are not those of the program's tensor type");
}

tessera_sparse_reader_t *
_mlir_ciface_createCheckedSparseTensorReader(const char *path, const tessera_memref_1d_t *shape, uint32_t value_type) {
  (void)value_type; // values are converted
  tessera_sparse_reader_t *reader = calloc(1, sizeof *reader);
  if (!reader || !(reader->path = strdup(path)))
    tessera_raise("%s: out of memory", path);
  reader->file = fopen(path, "r");
  if (!reader->file)
    refuse(reader, strerror(errno));
  bool is_market = strstr(path, ".mtx") != NULL;
  if (is_market && getline(&reader->line, &reader->room, reader->file) < 0)
    refuse(reader, "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
  reader->number = is_market;
  int64_t entries = is_market ? read_market_header(reader) : read_frostt_header(reader);
  if (!holds_sizes(reader) || entries < 0)
    refuse(reader, "a size is negative");
  check_shape(reader, shape);
  for (int64_t i = 0; i < entries; ++i)
    read_entry(reader);
  fclose(reader->file);
  reader->file = NULL;
  return reader;
}

//===--- what the program asks ----------------------------------------------------------===//

const char *getTensorFilename(int64_t number) {
  char name[32];
  snprintf(name, sizeof name, "TENSOR%" PRId64, number);
  const char *path = getenv(name);
  if (!path)
    tessera_raise("%s is not set in the environment; it names the file to read", name);
  return path;
}

void _mlir_ciface_getSparseTensorReaderDimSizes(tessera_memref_1d_t *out_sizes, const tessera_sparse_reader_t *reader) {
  // The program frees what a function gives it.
  size_t bytes = (size_t)reader->rank * sizeof *reader->sizes;
  int64_t *sizes = _mlir_memref_to_llvm_alloc(bytes);
  memcpy(sizes, reader->sizes, bytes);
  *out_sizes = (tessera_memref_1d_t){sizes, sizes, 0, reader->rank, 1};
}

int64_t getSparseTensorReaderNSE(const tessera_sparse_reader_t *reader) { return reader->count; }

// The coordinate of each level. |dim_to_level| has a number for each level, as MLIR's encodeDim packs it: a dimension,
// or from bit 60 on 1 (floordiv) or 2 (mod), from bit 20 on the size of a block, and the dimension.
static void by_level(const int64_t *coordinates, const tessera_memref_1d_t *dim_to_level, int64_t *out_coordinates) {
  for (int64_t l = 0; l < dim_to_level->size; ++l) {
    uint64_t code = (uint64_t)numbers_of(dim_to_level)[l], kind = code >> 60;
    int64_t block = (int64_t)(code >> 20 & 0xfffff), coordinate = coordinates[kind ? code & 0xfffff : code];
    out_coordinates[l] = kind == 0 ? coordinate : kind == 1 ? coordinate / block : coordinate % block;
  }
}

static int compare(const int64_t *a, const int64_t *b, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

typedef void (*store_coordinate_t)(void *coordinates, int64_t index, int64_t coordinate);
typedef void (*store_value_t)(void *values, int64_t index, const double value[2]);

static bool read_to_buffers(const tessera_sparse_reader_t *reader, const tessera_memref_1d_t *dim_to_level,
                            const tessera_memref_1d_t *out_coordinates, const tessera_memref_1d_t *out_values,
                            store_coordinate_t store_coordinate, store_value_t store_value, bool is_complex) {
  int64_t levels = dim_to_level->size, before[MaxRank], now[MaxRank];
  if (levels > MaxRank)
    tessera_raise("%s: the program's tensor type has %" PRId64 " levels; %d are accepted", reader->path, levels,
                  MaxRank);
  if (reader->is_complex && !is_complex)
    tessera_raise("%s: the file holds complex numbers; the program's tensor type holds real ones", reader->path);
  bool is_sorted = true;
  for (int64_t i = 0; i < reader->count; ++i) {
    by_level(&reader->coordinates[i * reader->rank], dim_to_level, now);
    is_sorted &= !i || compare(before, now, levels) < 0;
    for (int64_t l = 0; l < levels; ++l)
      store_coordinate(out_coordinates->aligned, out_coordinates->offset + i * levels + l, before[l] = now[l]);
    store_value(out_values->aligned, out_values->offset + i, reader->values[i]);
  }
  return is_sorted;
}

#define X(bits, type)                                                                                                  \
  static void store_coordinate_##bits(void *coordinates, int64_t index, int64_t coordinate) {                          \
    ((type *)coordinates)[index] = (type)coordinate;                                                                   \
  }
TESSERA_READ_COORDINATES(X)
#undef X

// A type of one number, from the real part.
#define X(name, type)                                                                                                  \
  static void store_value_##name(void *values, int64_t index, const double value[2]) {                                 \
    ((type *)values)[index] = (type)value[0];                                                                          \
  }
X(F64, double)
X(F32, float)
X(F16, _Float16)
X(I64, int64_t)
X(I32, int32_t)
X(I16, int16_t)
X(I8, int8_t)
#undef X

static void store_value_BF16(void *values, int64_t index, const double value[2]) {
  float rounded = __truncdfbf2(value[0]);
  memcpy((uint16_t *)values + index, &rounded, sizeof(uint16_t));
}

#define X(name, type)                                                                                                  \
  static void store_value_##name(void *values, int64_t index, const double value[2]) {                                 \
    for (int i = 0; i < 2; ++i)                                                                                        \
      ((type *)values)[2 * index + i] = (type)value[i];                                                                \
  }
X(C64, double)
X(C32, float)
#undef X

#define X(bits, name)                                                                                                  \
  bool _mlir_ciface_getSparseTensorReaderReadToBuffers##bits##name(                                                    \
      const tessera_sparse_reader_t *reader, const tessera_memref_1d_t *dim_to_level,                                  \
      const tessera_memref_1d_t *level_to_dim, tessera_memref_1d_t *out_coordinates,                                   \
      tessera_memref_1d_t *out_values) {                                                                               \
    (void)level_to_dim;                                                                                                \
    return read_to_buffers(reader, dim_to_level, out_coordinates, out_values, store_coordinate_##bits,                 \
                           store_value_##name, #name[0] == 'C');                                                       \
  }
TESSERA_READ_BUFFERS(X)
#undef X
