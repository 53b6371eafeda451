// array.h - dense arrays, which the tools exchange: an element type, a shape, and the elements in C order.
//
//   tessera_array_t x;
//   if (!tessera_array_create(TESSERA_F32, 2, (int64_t[]){3, 4}, &x, &error)) …
//   ((float *)x.data)[1 * 4 + 2] = 5;
//   tessera_array_destroy(&x);
//
// The array owns its data (64-byte aligned). Rank 0 is one element; any size may be 0.
#pragma once

#include "lib/support/status.h"

// The most axes of an array, and of a tensor or memref that a program computes with. Tiles and encoded tensors have at
// most TILE_LAYOUT_MAX_AXES axes (lib/layout/layout.h). A room with another limit derives it from one of the two.
enum { TESSERA_MAX_RANK = 32 };

// name as MLIR prints it, enumerator, bytes, type string in .npy files.
#define TESSERA_ELEMENT_TYPES(X)                                                                                       \
  X(i1, TESSERA_BOOL, 1, "|b1")                                                                                        \
  X(i8, TESSERA_I8, 1, "|i1")                                                                                          \
  X(i16, TESSERA_I16, 2, "<i2")                                                                                        \
  X(i32, TESSERA_I32, 4, "<i4")                                                                                        \
  X(i64, TESSERA_I64, 8, "<i8")                                                                                        \
  X(ui8, TESSERA_U8, 1, "|u1")                                                                                         \
  X(ui16, TESSERA_U16, 2, "<u2")                                                                                       \
  X(ui32, TESSERA_U32, 4, "<u4")                                                                                       \
  X(ui64, TESSERA_U64, 8, "<u8")                                                                                       \
  X(f16, TESSERA_F16, 2, "<f2")                                                                                        \
  X(f32, TESSERA_F32, 4, "<f4")                                                                                        \
  X(f64, TESSERA_F64, 8, "<f8")                                                                                        \
  X(bf16, TESSERA_BF16, 2, "<u2") /* numpy has none of these: they travel as their bits, uint16 and uint8 */           \
  X(f8E4M3FN, TESSERA_F8E4M3FN, 1, "|u1")                                                                              \
  X(f8E5M2, TESSERA_F8E5M2, 1, "|u1")                                                                                  \
  X(f8E8M0FNU, TESSERA_F8E8M0FNU, 1, "|u1")

typedef enum tessera_element_t {
#define X(name, enumerator, bytes, npy) enumerator,
  TESSERA_ELEMENT_TYPES(X)
#undef X
      TESSERA_ELEMENT_COUNT
} tessera_element_t;

// Elements of 2 to 7 bits lie packed in an array of ui8, whose last axis counts bytes: each row begins with a byte, the
// first element has the lowest bits, and the bits behind the last element are 0. i1 is none of them: it takes a byte.
// Name as MLIR prints it, bits, digits of the exponent and the fraction (0: a signed integer).
#define TESSERA_PACKED_TYPES(X)                                                                                        \
  X(i2, 2, 0, 0)                                                                                                       \
  X(i3, 3, 0, 0)                                                                                                       \
  X(i4, 4, 0, 0)                                                                                                       \
  X(i5, 5, 0, 0)                                                                                                       \
  X(i6, 6, 0, 0)                                                                                                       \
  X(i7, 7, 0, 0)                                                                                                       \
  X(f4E2M1FN, 4, 2, 1)                                                                                                 \
  X(f6E2M3FN, 6, 2, 3)                                                                                                 \
  X(f6E3M2FN, 6, 3, 2)

typedef struct tessera_packed_type_t {
  const char *name;
  int bits, exponent, fraction;
} tessera_packed_type_t;

typedef struct tessera_packing_t {
  const tessera_packed_type_t *type; // NULL: the elements are the array's own
  int64_t columns;                   // elements of a row
} tessera_packing_t;

const tessera_packed_type_t *tessera_packed_type(const char *name); // NULL: no such type
int64_t tessera_packed_row_bytes(const tessera_packing_t *packing);

typedef struct tessera_array_t {
  tessera_element_t element;
  int rank;
  int64_t shape[TESSERA_MAX_RANK];
  int64_t count; // of elements
  bool is_text;  // ui8 whose one axis is a string: numpy's type 'S'
  tessera_packing_t packing;
  void *data;
} tessera_array_t;

const char *tessera_element_name(tessera_element_t element);
int tessera_element_bytes(tessera_element_t element);

// Makes an array of zeros. Fails on a negative size, a rank beyond TESSERA_MAX_RANK, too many bytes, or no memory.
bool tessera_array_create(tessera_element_t element, int rank, const int64_t *shape, tessera_array_t *out_array,
                          tessera_error_t *out_error);
void tessera_array_destroy(tessera_array_t *array);

// How many elements the array has, packed or not.
int64_t tessera_array_elements(const tessera_array_t *array);
// Element |i| in C order of a packed array. The bits of an element are the low ones of the word; reading a signed
// integer extends its sign.
int64_t tessera_packed_get(const tessera_array_t *array, int64_t i);
void tessera_packed_set(tessera_array_t *array, int64_t i, int64_t bits); // the element's bits were 0
double tessera_packed_number(const tessera_array_t *array, int64_t i);

// Copies |shape| elements of |bytes| each from strided memory to C order; strides count elements.
void tessera_copy_strided(void *to, const void *from, int rank, const int64_t *shape, const int64_t *strides,
                          int bytes);

// "3x4xf32", as in tensor<3x4xf32>. Returns |out_text|.
char *tessera_array_describe(const tessera_array_t *array, char *out_text, size_t size);

// "[2, 5]": the position of element |at| in C order, of a packed one where they are. Returns |out_text|.
char *tessera_array_describe_index(const tessera_array_t *array, int64_t at, char *out_text, size_t size);

// Whether the array has this element type and shape (a negative size allows any size). If not, the error begins with
// |name|: "argument 1 (x.npy): is 3x4xf64, wanted ?x4xf32". A uint16 array becomes bf16 and a uint8 array an f8 where
// that type is wanted. With a |packing| (NULL: none) the array holds elements so packed.
bool tessera_array_expect(tessera_array_t *array, const char *name, tessera_element_t element, int rank,
                          const int64_t *shape, const tessera_packing_t *packing, tessera_error_t *out_error);
