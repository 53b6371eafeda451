// json.c - a text and a stack of what is open.
// Why our own: tile-exec links nothing but the runtime and this. Expects: calls in document order.
// Leaves: indented JSON, one value a line, so that stats files compare well; or the first mistake.
#include "lib/support/json.h"

#include "lib/support/file.h"
#include "lib/support/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPEN = 64 };

struct tessera_json_t {
  tessera_text_t text;
  const char *mistake; // the first one
  unsigned depth;
  struct {
    char close; // '}' or ']'
    bool has_values;
  } open[MOST_OPEN];
};

static void fail(tessera_json_t *json, const char *mistake) {
  if (!json->mistake)
    json->mistake = mistake;
}

//===--- The text --------------------------------------------------------===//

static void append_bytes(tessera_json_t *json, const char *bytes, size_t size) {
  if (json->mistake)
    return;
  tessera_text_append(&json->text, bytes, size);
  if (json->text.failed)
    fail(json, "out of memory");
}

static void append(tessera_json_t *json, const char *text) { append_bytes(json, text, strlen(text)); }

// Bytes of the UTF-8 sequence at |at| (ends in 0); 0 when it is none: wrong bytes, too long a form, a surrogate.
static size_t utf8_length(const unsigned char *at) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 0;
  if (length < 2)
    return length;
  uint32_t code = at[0] & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (at[i] & 0x3f);
  }
  bool good = code >= smallest[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return good ? length : 0;
}

static void append_control(tessera_json_t *json, unsigned char c) {
  static const char letters[] = "\b\t\n\f\r", names[] = "btnfr";
  const char *letter = strchr(letters, c);
  char escape[8];
  if (letter)
    snprintf(escape, sizeof escape, "\\%c", names[letter - letters]);
  else
    snprintf(escape, sizeof escape, "\\u%04x", c);
  append(json, escape);
}

static void append_quoted(tessera_json_t *json, const char *text) {
  append(json, "\"");
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    size_t length = utf8_length(at);
    if (length == 0)
      append(json, "\xef\xbf\xbd");
    else if (*at < 0x20 || *at == 0x7f)
      append_control(json, *at);
    else {
      if (*at == '"' || *at == '\\')
        append(json, "\\");
      append_bytes(json, (const char *)at, length);
    }
    at += length ? length : 1;
  }
  append(json, "\"");
}

static void new_line(tessera_json_t *json) {
  append(json, "\n");
  for (unsigned i = 0; i < json->depth; ++i)
    append(json, "  ");
}

//===--- Values ----------------------------------------------------------===//

// What stands in front of every value. False when no value may come here.
static bool begin_value(tessera_json_t *json, const char *key) {
  if (!json || json->mistake)
    return false;
  bool in_object = json->depth > 0 && json->open[json->depth - 1].close == '}';
  if (in_object == !key)
    fail(json, key ? "a key outside an object" : "a value without a key in an object");
  if (json->depth == 0 && json->text.size > 0)
    fail(json, "a second value at the top");
  if (json->mistake)
    return false;
  if (json->depth > 0) {
    if (json->open[json->depth - 1].has_values)
      append(json, ",");
    json->open[json->depth - 1].has_values = true;
    new_line(json);
  }
  if (key) {
    append_quoted(json, key);
    append(json, ": ");
  }
  return true;
}

static void begin(tessera_json_t *json, const char *key, char open, char close) {
  if (!begin_value(json, key))
    return;
  if (json->depth >= MOST_OPEN) {
    fail(json, "nested too deeply");
    return;
  }
  append_bytes(json, &open, 1);
  json->open[json->depth].close = close;
  json->open[json->depth++].has_values = false;
}

void tessera_json_begin_object(tessera_json_t *json, const char *key) { begin(json, key, '{', '}'); }

void tessera_json_begin_array(tessera_json_t *json, const char *key) { begin(json, key, '[', ']'); }

void tessera_json_end(tessera_json_t *json) {
  if (!json || json->mistake)
    return;
  if (json->depth == 0) {
    fail(json, "an end too many");
    return;
  }
  --json->depth;
  if (json->open[json->depth].has_values)
    new_line(json);
  append_bytes(json, &json->open[json->depth].close, 1);
}

void tessera_json_string(tessera_json_t *json, const char *key, const char *value) {
  if (!begin_value(json, key))
    return;
  if (value)
    append_quoted(json, value);
  else
    append(json, "null");
}

void tessera_json_integer(tessera_json_t *json, const char *key, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  if (begin_value(json, key))
    append(json, text);
}

void tessera_json_number(tessera_json_t *json, const char *key, double value) {
  char text[40];
  if (!begin_value(json, key))
    return;
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  for (char *comma = strchr(text, ','); comma; comma = NULL) // a host program may have set a locale
    *comma = '.';
  append(json, isfinite(value) ? text : "null");
}

void tessera_json_boolean(tessera_json_t *json, const char *key, bool value) {
  if (begin_value(json, key))
    append(json, value ? "true" : "false");
}

//===--- The end ---------------------------------------------------------===//

const char *tessera_json_text(tessera_json_t *json, tessera_error_t *out_error) {
  if (json && !json->mistake && (json->depth > 0 || json->text.size == 0))
    fail(json, json->depth > 0 ? "an end is missing" : "there is no value");
  if (json && !json->mistake && json->text.data[json->text.size - 1] != '\n')
    append(json, "\n");
  if (json && !json->mistake)
    return json->text.data;
  tessera_fail(out_error, "JSON: %s", json ? json->mistake : "out of memory");
  return NULL;
}

bool tessera_json_write(tessera_json_t *json, const char *path, tessera_error_t *out_error) {
  const char *text = tessera_json_text(json, out_error);
  return text && tessera_file_write(path, &(tessera_bytes_t){text, strlen(text)}, 1, out_error);
}

tessera_json_t *tessera_json_create(void) { return calloc(1, sizeof(tessera_json_t)); }

void tessera_json_destroy(tessera_json_t *json) {
  if (json)
    tessera_text_free(&json->text);
  free(json);
}
