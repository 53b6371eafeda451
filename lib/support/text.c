// Texts that grow. See text.h.
#include "lib/support/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// Room for `more` bytes and the zero behind them.
static bool reserve(tessera_text_t *text, size_t more) {
  if (!text->failed && text->capacity - text->size <= more) {
    bool isTooMuch = more > SIZE_MAX / 2 - text->size - 64;
    size_t capacity = isTooMuch ? 0 : 2 * (text->size + more + 64);
    char *data = isTooMuch ? NULL : realloc(text->data, capacity);
    text->failed = !data;
    text->data = data ? data : text->data;
    text->capacity = data ? capacity : text->capacity;
  }
  return !text->failed;
}

void tessera_text_append(tessera_text_t *text, const void *data, size_t size) {
  if (!reserve(text, size))
    return;
  if (size)
    memcpy(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void tessera_text_format(tessera_text_t *text, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int more = vsnprintf(NULL, 0, format, arguments);
  if (more < 0)
    text->failed = true;
  else if (reserve(text, (size_t)more))
    text->size += (size_t)vsnprintf(text->data + text->size, (size_t)more + 1, format, again);
  va_end(again);
  va_end(arguments);
}

void tessera_text_free(tessera_text_t *text) {
  free(text->data);
  *text = (tessera_text_t){.data = NULL};
}

char *tessera_text_take(tessera_text_t *text) {
  tessera_text_append(text, "", 0);
  if (text->failed)
    tessera_text_free(text);
  return text->data;
}

static ssize_t write_piece(void *cookie, const char *data, size_t size) {
  tessera_text_t *text = cookie;
  tessera_text_append(text, data, size);
  return text->failed ? 0 : (ssize_t)size; // 0 is an error
}

FILE *tessera_text_open(tessera_text_t *out_text) {
  *out_text = (tessera_text_t){.data = NULL};
  FILE *stream = fopencookie(out_text, "w", (cookie_io_functions_t){.write = write_piece});
  out_text->failed = !stream;
  tessera_text_append(out_text, "", 0);
  return stream;
}

bool tessera_text_close(tessera_text_t *text, FILE *stream) {
  bool ok = stream && !ferror(stream);
  ok = stream && fclose(stream) == 0 && ok && !text->failed;
  if (!ok)
    tessera_text_free(text);
  return ok;
}
