// Elements of the interpreter to and from those of arrays. See arrays.h.
#include "lib/interpreter/machine/arrays.h"

#include "lib/ir/support.h"

#include <math.h>
#include <string.h>

Format interpretFormatOfElement(tessera_element_t element) {
  Format format = {.width = (unsigned)(element == TESSERA_BOOL ? 1 : 8 * tessera_element_bytes(element))};
  return format;
}

Element interpretReadElement(const tessera_array_t *array, const Format *format, int64_t i) {
  int bytes = tessera_element_bytes(array->element);
  uint64_t bits = 0;
  memcpy(&bits, (const char *)array->data + i * bytes, (size_t)bytes);
  return format->isFloat ? elementOfFloat(interpretFormatFromBits(format, bits), 0)
                         : elementOfInteger(interpretFormatWrap(format, bits));
}

void interpretWriteElement(tessera_array_t *array, const Format *format, int64_t i, Element x) {
  int bytes = tessera_element_bytes(array->element);
  uint64_t bits = format->isFloat ? interpretFormatToBits(format, x.f) : interpretFormatUnsigned(format, x.i);
  memcpy((char *)array->data + i * bytes, &bits, (size_t)bytes);
}

bool interpretElementOfType(MlirType type, Format *format, tessera_element_t *element) {
  char text[64];
  tileTypeText(type, text, sizeof text);
  if (!interpretFormatOf(type, format))
    return false;
  if (mlirTypeIsAIndex(type))
    *element = TESSERA_I64;
  for (int i = 0; i < TESSERA_ELEMENT_COUNT; ++i)
    if (strcmp(text, tessera_element_name((tessera_element_t)i)) == 0) {
      *element = (tessera_element_t)i;
      return true;
    }
  return mlirTypeIsAIndex(type);
}

bool interpretToArray(InterpretValue value, MlirType type, tessera_array_t *array, tessera_error_t *error) {
  Format format;
  tessera_element_t element;
  const Array *from = arrayOf(value);
  *array = (tessera_array_t){.rank = -1};
  if (!interpretElementOfType(interpretElementTypeOf(type), &format, &element))
    return true;
  Array *copy = from ? interpretArrayCopy(from) : NULL;
  if (from && !copy)
    return tessera_fail(error, "out of memory");
  bool ok = tessera_array_create(element, from ? from->rank : 0, from ? from->sizes : NULL, array, error);
  for (int64_t i = 0; ok && i < array->count; ++i) {
    Element x = copy ? arrayElements(copy)[i] : value.scalar;
    if (elementIsMissing(x))
      x = format.isFloat ? elementOfFloat(NAN, 0) : elementOfInteger(0);
    interpretWriteElement(array, &format, i, x);
  }
  if (copy)
    valueRelease(valueOfObject(&copy->object));
  return ok;
}
