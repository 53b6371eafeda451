// sparse_npz.c - members of a .npz to components of a format and back. See sparse_npz.h; the formats' rules are those
// of dialects/sparse/sparse.h. Why checked here: compiled programs trust their arguments. Expects: any bytes. Leaves:
// components that keep their format's rules.
#include "lib/support/npy/sparse_npz.h"

#include "lib/support/npy/npz.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader_t {
  const char *path, *what;
  const tessera_value_t *values;
  const tessera_sparse_t *sparse;
  tessera_arrays_t members;
  tessera_array_t *arrays; // the components, then the open sizes
  int64_t shape[TESSERA_SPARSE_RANK];
  tessera_error_t *error;
} reader_t;

#define FAIL(reader, text, ...)                                                                                        \
  tessera_fail((reader)->error, "%s (%s): " text, (reader)->what, (reader)->path __VA_OPT__(, ) __VA_ARGS__)

//===--- members ------------------------------------------------------------------===//

static tessera_array_t *find(const reader_t *reader, const char *member) {
  for (int i = 0; i < reader->members.count; ++i) {
    const char *colon = strrchr(reader->members.items[i].name, ':');
    if (colon && strcmp(colon + 1, member) == 0)
      return &reader->members.items[i].array;
  }
  FAIL(reader, "has no member '%s', which %s needs", member, reader->sparse->encoding);
  return NULL;
}

static bool expect_text(const reader_t *reader, const char *member, const char *wanted) {
  const tessera_array_t *array = find(reader, member);
  if (!array)
    return false;
  int length = array->is_text ? (int)strnlen(array->data, (size_t)array->count) : 0;
  if ((size_t)length == strlen(wanted) && memcmp(array->data, wanted, (size_t)length) == 0)
    return true;
  return FAIL(reader, "its '%s' is '%.*s', expected '%s'", member, length, (const char *)array->data, wanted);
}

//===--- encodings --------------------------------------------------------------------===//

// Whether two pieces of text are alike but for spaces.
static bool are_alike(const char *a, int64_t m, const char *b, int64_t n) {
  for (int64_t i = 0, j = 0;; ++i, ++j) {
    while (i < m && a[i] == ' ')
      ++i;
    while (j < n && b[j] == ' ')
      ++j;
    if (i == m || j == n)
      return i == m && j == n;
    if (a[i] != b[j])
      return false;
  }
}

// The length of the piece at the front: up to a comma outside of brackets, or the `>` at the end.
static int64_t piece_of(const char *text, int64_t length) {
  int64_t depth = 0, i = 0;
  for (; i < length && !(depth == 0 && (text[i] == ',' || text[i] == '>')); ++i)
    depth += text[i] == '[' || text[i] == '<' ? 1 : text[i] == ']' || text[i] == '>' ? -1 : 0;
  return i;
}

static int64_t head_of(const char *text, int64_t length) {
  const char *open = memchr(text, '<', (size_t)length);
  return open ? open - text : length;
}

// Every `key = value` of `a` stands in `b`, too.
static bool is_within(const char *a, int64_t m, const char *b, int64_t n) {
  for (int64_t i = head_of(a, m) + 1; i < m;) {
    int64_t piece = piece_of(a + i, m - i);
    bool is_found = false;
    for (int64_t j = head_of(b, n) + 1; j < n && !is_found;) {
      int64_t other = piece_of(b + j, n - j);
      is_found = are_alike(a + i, piece, b + j, other);
      j += other + 1;
    }
    if (!is_found)
      return false;
    i += piece + 1;
  }
  return true;
}

// Equal attributes: their keys may stand in any order, and with other spaces.
static bool expect_encoding(const reader_t *reader) {
  const char *wanted = reader->sparse->encoding;
  const tessera_array_t *array = find(reader, "encoding");
  if (!array || !array->is_text)
    return expect_text(reader, "encoding", wanted);
  const char *text = array->data;
  int64_t length = (int64_t)strnlen(text, (size_t)array->count), n = (int64_t)strlen(wanted);
  bool are_equal = are_alike(text, head_of(text, length), wanted, head_of(wanted, n)) &&
                   (length > 0 && text[length - 1] == wanted[n - 1]) && is_within(text, length, wanted, n) &&
                   is_within(wanted, n, text, length);
  return are_equal || expect_text(reader, "encoding", wanted);
}

static bool is_integer(tessera_element_t element) { return element >= TESSERA_I8 && element <= TESSERA_U64; }

static int64_t integer_at(const tessera_array_t *array, int64_t i) {
  int bytes = tessera_element_bytes(array->element);
  int64_t value = 0;
  memcpy(&value, (const char *)array->data + i * bytes, (size_t)bytes);
  bool is_signed = array->element <= TESSERA_I64;
  int unused = 64 - 8 * bytes;
  return is_signed ? (int64_t)((uint64_t)value << unused) >> unused : value;
}

// A coordinate of a window has no sign, whatever its type.
static int64_t coordinate_at(const tessera_array_t *array, int64_t i, bool is_window) {
  int bits = 8 * tessera_element_bytes(array->element);
  int64_t value = integer_at(array, i);
  return is_window && bits < 64 ? value & ((INT64_C(1) << bits) - 1) : value;
}

static bool expect_integers(const reader_t *reader, const char *member, const tessera_array_t *array, int rank) {
  char seen[256];
  return (is_integer(array->element) && array->rank == rank) ||
         FAIL(reader, "its '%s' is %s, expected integers of rank %d", member,
              tessera_array_describe(array, seen, sizeof seen), rank);
}

// Copies integers to component |index|, |at| elements from its beginning; they may be wider or narrower in the file.
static bool copy_integers(const reader_t *reader, const char *member, const tessera_array_t *from, int index,
                          int64_t at) {
  tessera_array_t *to = &reader->arrays[index];
  int bytes = tessera_element_bytes(to->element);
  bool is_window = reader->sparse->scheme == TESSERA_SPARSE_WINDOWS;
  int64_t most = bytes == 8 ? INT64_MAX : (INT64_C(1) << (8 * bytes - !is_window)) - 1;
  for (int64_t i = 0; i < from->count; ++i) {
    int64_t value = coordinate_at(from, i, is_window);
    if (value < 0 || value > most)
      return FAIL(reader, "'%s'[%lld] is %lld, expected 0 to %lld", member, (long long)i, (long long)value,
                  (long long)most);
    memcpy((char *)to->data + (at + i) * bytes, &value, (size_t)bytes);
  }
  return true;
}

static bool create(const reader_t *reader, int index, int rank, const int64_t *shape) {
  return tessera_array_create(reader->values[index].element, rank, shape, &reader->arrays[index], reader->error);
}

static bool take_integers(const reader_t *reader, const char *member, int rank, int index) {
  const tessera_array_t *from = find(reader, member);
  return from && expect_integers(reader, member, from, rank) && create(reader, index, rank, from->shape) &&
         copy_integers(reader, member, from, index, 0);
}

// The member as it is, of the type of component |index|.
static bool take(const reader_t *reader, const char *member, int index) {
  char name[512];
  tessera_array_t *from = find(reader, member);
  const tessera_value_t *value = &reader->values[index];
  snprintf(name, sizeof name, "%s (%s): its '%s'", reader->what, reader->path, member);
  if (!from || !tessera_array_expect(from, name, value->element, value->rank, value->shape, NULL, reader->error))
    return false;
  reader->arrays[index] = *from;
  from->data = NULL;
  return true;
}

static bool take_shape(reader_t *reader) {
  const tessera_sparse_t *sparse = reader->sparse;
  const tessera_array_t *shape = find(reader, "shape");
  int next = sparse->num_components;
  if (!shape || !expect_integers(reader, "shape", shape, 1))
    return false;
  if (shape->count != sparse->rank)
    return FAIL(reader, "has rank %lld, expected %d", (long long)shape->count, sparse->rank);
  for (int axis = 0; axis < sparse->rank; ++axis) {
    int64_t size = integer_at(shape, axis);
    if (size < 0 || (sparse->shape[axis] >= 0 && size != sparse->shape[axis]))
      return FAIL(reader, "has size %lld along axis %d, expected %lld", (long long)size, axis,
                  (long long)sparse->shape[axis]);
    reader->shape[axis] = size;
    if (sparse->shape[axis] >= 0)
      continue;
    if (!create(reader, next, 0, NULL))
      return false;
    *(int64_t *)reader->arrays[next++].data = size;
  }
  return true;
}

//===--- order --------------------------------------------------------------------===//

typedef struct place_t {
  int64_t at[TESSERA_SPARSE_RANK], from;
} place_t;

static int compare_places(const void *a, const void *b) {
  const place_t *left = a, *right = b;
  for (int i = 0; i < TESSERA_SPARSE_RANK; ++i) // beyond the rank all are 0
    if (left->at[i] != right->at[i])
      return left->at[i] < right->at[i] ? -1 : 1;
  return 0;
}

// Entries, of each a coordinate along every axis of |coordinates| (rank x count, or count), and a slice of |values|.
typedef struct listed_t {
  tessera_array_t *coordinates, *values;
  int rank;
  int64_t count;
} listed_t;

static void take_places(const listed_t *list, int64_t begin, int64_t end, place_t *out_places) {
  for (int64_t i = begin; i < end; ++i) {
    out_places[i - begin] = (place_t){.from = i};
    for (int axis = 0; axis < list->rank; ++axis)
      out_places[i - begin].at[axis] = integer_at(list->coordinates, axis * list->count + i);
  }
}

static void permute(void *data, int64_t begin, int64_t count, size_t bytes, const place_t *places, char *scratch) {
  for (int64_t i = 0; i < count; ++i)
    memcpy(scratch + (size_t)i * bytes, (char *)data + (size_t)places[i].from * bytes, bytes);
  memcpy((char *)data + (size_t)begin * bytes, scratch, (size_t)count * bytes);
}

static bool is_sorted(const listed_t *list, int64_t begin, int64_t end) {
  place_t pair[2];
  for (int64_t i = begin; i + 2 <= end; ++i) {
    take_places(list, i, i + 2, pair);
    if (compare_places(&pair[0], &pair[1]) > 0)
      return false;
  }
  return true;
}

// scipy keeps the entries of a row, and all of a coo, in any order.
static bool sort_entries(const reader_t *reader, const listed_t *list, int64_t begin, int64_t end) {
  if (is_sorted(list, begin, end))
    return true;
  size_t bytes = (size_t)tessera_element_bytes(list->values->element);
  size_t coordinate_bytes = (size_t)tessera_element_bytes(list->coordinates->element);
  for (int i = 1; i < list->values->rank; ++i)
    bytes *= (size_t)list->values->shape[i];
  int64_t count = end - begin;
  place_t *places = malloc((size_t)count * sizeof *places);
  char *scratch = malloc((size_t)count * (bytes > coordinate_bytes ? bytes : coordinate_bytes));
  bool ok = (places && scratch) || FAIL(reader, "no memory to sort it");
  if (ok) {
    take_places(list, begin, end, places);
    qsort(places, (size_t)count, sizeof *places, compare_places);
    permute(list->values->data, begin, count, bytes, places, scratch);
  }
  for (int axis = 0; ok && axis < list->rank; ++axis) {
    char *line = (char *)list->coordinates->data + (size_t)(axis * list->count) * coordinate_bytes;
    permute(line, begin, count, coordinate_bytes, places, scratch);
  }
  free(places);
  free(scratch);
  return ok;
}

//===--- rules --------------------------------------------------------------------===//

// How many blocks, tiles or windows lie along an axis.
static int64_t cells(const reader_t *reader, int axis) {
  return (reader->shape[axis] + reader->sparse->cell[axis] - 1) / reader->sparse->cell[axis];
}

static bool expect_count(const reader_t *reader, const char *member, int64_t seen, int64_t wanted) {
  return seen == wanted ||
         FAIL(reader, "its '%s' has size %lld, expected %lld", member, (long long)seen, (long long)wanted);
}

static bool expect_range(const reader_t *reader, const char *member, int64_t i, int64_t seen, int64_t end) {
  return (seen >= 0 && seen < end) || FAIL(reader, "'%s'[%lld] is %lld, expected 0 to %lld", member, (long long)i,
                                           (long long)seen, (long long)end - 1);
}

static bool expect_above(const reader_t *reader, const char *member, int64_t i, int64_t seen, int64_t before,
                         const char *within) {
  bool is_window = reader->sparse->scheme == TESSERA_SPARSE_WINDOWS;
  return seen > before ||
         FAIL(reader, "'%s'[%lld] is %lld, after %lld in one %s: expected %s", member, (long long)i, (long long)seen,
              (long long)before, within, is_window ? "them ascending" : "none twice (scipy's sum_duplicates())");
}

static bool check_segments(const reader_t *reader) {
  int major = (int)reader->sparse->axis;
  const tessera_array_t *positions = &reader->arrays[0], *coordinates = &reader->arrays[1];
  int64_t segments = cells(reader, major), end = cells(reader, 1 - major), at = 0;
  if (!expect_count(reader, "indptr", positions->count, segments + 1) ||
      !expect_count(reader, "data", reader->arrays[2].shape[0], coordinates->count) ||
      !expect_range(reader, "indptr", 0, integer_at(positions, 0), 1))
    return false;
  for (int64_t segment = 0; segment < segments; ++segment) {
    int64_t next = integer_at(positions, segment + 1);
    if (next < at || next > coordinates->count)
      return FAIL(reader, "'indptr'[%lld] is %lld, expected %lld to %lld", (long long)segment + 1, (long long)next,
                  (long long)at, (long long)coordinates->count);
    const listed_t list = {&reader->arrays[1], &reader->arrays[2], 1, coordinates->count};
    if (!sort_entries(reader, &list, at, next))
      return false;
    for (int64_t i = at; i < next; ++i)
      if (!expect_range(reader, "indices", i, integer_at(coordinates, i), end) ||
          (i > at && !expect_above(reader, "indices", i, integer_at(coordinates, i), integer_at(coordinates, i - 1),
                                   major ? "column" : "row")))
        return false;
    at = next;
  }
  return expect_count(reader, "indices", coordinates->count, at);
}

static bool check_coordinates(const reader_t *reader) {
  const tessera_array_t *coordinates = &reader->arrays[0];
  int64_t count = coordinates->shape[1];
  const listed_t list = {&reader->arrays[0], &reader->arrays[1], reader->sparse->rank, count};
  if (!expect_count(reader, "data", reader->arrays[1].shape[0], count) ||
      (!reader->sparse->is_unordered && !sort_entries(reader, &list, 0, count)))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    int order = 0; // of this entry and the one before
    for (int axis = 0; axis < reader->sparse->rank; ++axis) {
      int64_t here = integer_at(coordinates, axis * count + i);
      int64_t before = i ? integer_at(coordinates, axis * count + i - 1) : -1;
      if (here < 0 || here >= reader->shape[axis])
        return FAIL(reader, "entry %lld has coordinate %lld along axis %d, expected 0 to %lld", (long long)i,
                    (long long)here, axis, (long long)reader->shape[axis] - 1);
      order = order ? order : (here > before) - (here < before);
    }
    if (order <= 0 && !reader->sparse->is_unordered)
      return FAIL(reader,
                  "entry %lld, in row-major order, stands where the one before it stands (scipy's sum_duplicates(), or "
                  "take #sparse.coo<unordered>)",
                  (long long)i);
  }
  return true;
}

static bool check_windows(const reader_t *reader) {
  const tessera_array_t *coordinates = &reader->arrays[0], *values = &reader->arrays[1];
  const tessera_sparse_t *sparse = reader->sparse;
  int64_t kept = coordinates->shape[2];
  for (int i = 0; i < 2; ++i) {
    int64_t wanted = cells(reader, i ? sparse->axis : 1 - sparse->axis);
    if (!expect_count(reader, "coordinates", coordinates->shape[i], wanted) ||
        !expect_count(reader, "values", values->shape[i], wanted))
      return false;
  }
  for (int64_t i = 0; i < coordinates->count; ++i) {
    int64_t here = coordinate_at(coordinates, i, true);
    if (!expect_range(reader, "coordinates", i, here, sparse->places) ||
        (i % kept && !expect_above(reader, "coordinates", i, here, coordinate_at(coordinates, i - 1, true), "window")))
      return false;
  }
  return true;
}

static bool is_zero(const tessera_array_t *array, int64_t i) {
  static const char zeros[8], minus[] = {0, 0, 0, 0, 0, 0, 0, (char)0x80};
  int bytes = tessera_element_bytes(array->element);
  const char *at = (const char *)array->data + i * bytes;
  bool is_float = array->element >= TESSERA_F16;
  return memcmp(at, zeros, (size_t)bytes) == 0 || (is_float && memcmp(at, minus + 8 - bytes, (size_t)bytes) == 0);
}

static bool check_mask(const reader_t *reader) {
  const tessera_array_t *mask = &reader->arrays[0], *values = &reader->arrays[1];
  for (int axis = 0; axis < 2; ++axis)
    if (!expect_count(reader, "mask", mask->shape[axis], cells(reader, axis)) ||
        !expect_count(reader, "values", values->shape[axis], reader->shape[axis]))
      return false;
  for (int64_t i = 0; i < values->count; ++i) {
    int64_t row = i / values->shape[1], column = i % values->shape[1];
    int64_t tile = row / reader->sparse->cell[0] * mask->shape[1] + column / reader->sparse->cell[1];
    if (!((const char *)mask->data)[tile] && !is_zero(values, i))
      return FAIL(reader, "its 'values' are not zero at (%lld, %lld), where the mask is false", (long long)row,
                  (long long)column);
  }
  return true;
}

//===--- reading ------------------------------------------------------------------===//

static bool read_segments(reader_t *reader) {
  return take_integers(reader, "indptr", 1, 0) && take_integers(reader, "indices", 1, 1) && take(reader, "data", 2) &&
         check_segments(reader);
}

static bool read_coordinates(reader_t *reader) {
  if (reader->sparse->rank != 2) {
    if (!take_integers(reader, "coords", 2, 0) ||
        !expect_count(reader, "coords", reader->arrays[0].shape[0], reader->sparse->rank))
      return false;
  } else {
    const tessera_array_t *row = find(reader, "row"), *col = row ? find(reader, "col") : NULL;
    if (!col || !expect_integers(reader, "row", row, 1) || !expect_integers(reader, "col", col, 1) ||
        !expect_count(reader, "col", col->count, row->count) || !create(reader, 0, 2, (int64_t[]){2, row->count}) ||
        !copy_integers(reader, "row", row, 0, 0) || !copy_integers(reader, "col", col, 0, row->count))
      return false;
  }
  return take(reader, "data", 1) && check_coordinates(reader);
}

static bool read_windows(reader_t *reader) {
  if (!expect_encoding(reader) || !take_integers(reader, "coordinates", 3, 0))
    return false;
  return expect_count(reader, "coordinates", reader->arrays[0].shape[2], reader->values[0].shape[2]) &&
         take(reader, "values", 1) && check_windows(reader);
}

static bool read_mask(reader_t *reader) {
  return expect_encoding(reader) && take(reader, "mask", 0) && take(reader, "values", 1) && check_mask(reader);
}

//===--- writing ------------------------------------------------------------------===//

enum { MAX_MEMBERS = 8 };
typedef struct writer_t {
  int count;
  const char *names[MAX_MEMBERS];
  tessera_array_t made[MAX_MEMBERS]; // what is no component; the data is another's
  const tessera_array_t *members[MAX_MEMBERS];
} writer_t;

static void add(writer_t *writer, const char *name, const tessera_array_t *array) {
  writer->names[writer->count] = name;
  writer->members[writer->count++] = array;
}

static void add_made(writer_t *writer, const char *name, tessera_element_t element, int rank, int64_t count,
                     const void *data, bool is_text) {
  tessera_array_t *array = &writer->made[writer->count];
  *array = (tessera_array_t){
      .element = element, .rank = rank, .shape = {count}, .count = count, .data = (void *)data, .is_text = is_text};
  add(writer, name, array);
}

static void add_text(writer_t *writer, const char *name, const char *text) {
  add_made(writer, name, TESSERA_U8, 1, (int64_t)strlen(text), text, true);
}

static void add_segments(writer_t *writer, const tessera_sparse_t *sparse, const tessera_array_t *arrays) {
  add(writer, "indices", &arrays[1]);
  add(writer, "indptr", &arrays[0]);
  add(writer, "data", &arrays[2]);
}

static void add_coordinates(writer_t *writer, const tessera_sparse_t *sparse, const tessera_array_t *arrays) {
  const tessera_array_t *coordinates = &arrays[0];
  int64_t count = coordinates->shape[1], bytes = tessera_element_bytes(coordinates->element);
  if (sparse->rank == 2) {
    add_made(writer, "row", coordinates->element, 1, count, coordinates->data, false);
    add_made(writer, "col", coordinates->element, 1, count, (char *)coordinates->data + count * bytes, false);
  } else {
    add(writer, "coords", coordinates);
  }
  add(writer, "data", &arrays[1]);
}

static void add_windows(writer_t *writer, const tessera_sparse_t *sparse, const tessera_array_t *arrays) {
  add(writer, "coordinates", &arrays[0]);
  add(writer, "values", &arrays[1]);
  add_text(writer, "encoding", sparse->encoding);
}

static void add_mask(writer_t *writer, const tessera_sparse_t *sparse, const tessera_array_t *arrays) {
  add(writer, "mask", &arrays[0]);
  add(writer, "values", &arrays[1]);
  add_text(writer, "encoding", sparse->encoding);
}

//===--- files --------------------------------------------------------------------===//

// What a file of each scheme holds. Parts have none: they are passed one by one.
static const struct {
  bool (*read)(reader_t *reader);
  void (*add)(writer_t *writer, const tessera_sparse_t *sparse, const tessera_array_t *arrays);
} schemes[] = {[TESSERA_SPARSE_SEGMENTS] = {read_segments, add_segments},
               [TESSERA_SPARSE_COORDINATES] = {read_coordinates, add_coordinates},
               [TESSERA_SPARSE_WINDOWS] = {read_windows, add_windows},
               [TESSERA_SPARSE_TILES] = {read_mask, add_mask}};

bool tessera_sparse_read(const char *path, const char *what, const tessera_value_t *values, tessera_array_t *out_arrays,
                         tessera_error_t *out_error) {
  reader_t reader = {.path = path,
                     .what = what,
                     .values = values,
                     .sparse = &values->sparse,
                     .arrays = out_arrays,
                     .error = out_error};
  const tessera_sparse_t *sparse = reader.sparse;
  if (!tessera_path_is_npz(path))
    return FAIL(&reader, "is not an .npz file, which a tensor of %s requires", sparse->encoding);
  bool ok = tessera_arrays_read(&reader.members, path, out_error) && expect_text(&reader, "format", sparse->format) &&
            take_shape(&reader);
  if (ok)
    ok = schemes[sparse->scheme].read(&reader);
  tessera_arrays_destroy(&reader.members);
  return ok;
}

bool tessera_sparse_write(const char *path, const tessera_value_t *values, const tessera_array_t *arrays,
                          tessera_error_t *out_error) {
  const tessera_sparse_t *sparse = &values->sparse;
  static const bool yes = true;
  int64_t shape[TESSERA_SPARSE_RANK];
  writer_t writer = {0};
  if (!tessera_path_is_npz(path))
    return tessera_fail(out_error, "%s: is not an .npz file, which a tensor of %s requires", path, sparse->encoding);
  for (int axis = 0, next = sparse->num_components; axis < sparse->rank; ++axis)
    shape[axis] = sparse->shape[axis] < 0 ? *(const int64_t *)arrays[next++].data : sparse->shape[axis];
  schemes[sparse->scheme].add(&writer, sparse, arrays);
  add_text(&writer, "format", sparse->format);
  add_made(&writer, "shape", TESSERA_I64, 1, sparse->rank, shape, false);
  add_made(&writer, "_is_array", TESSERA_BOOL, 0, 1, &yes, false);
  return tessera_npz_write(path, writer.count, writer.names, writer.members, out_error);
}
