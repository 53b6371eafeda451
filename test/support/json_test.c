// json_test.c - the whole text of a document, escapes, numbers that read back the same, and misuses as errors.
#include "lib/support/json.h"

#include "test/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void test_document(void) {
  static const char wanted[] = "{\n  \"launches\": 12,\n  \"time\": 0.25,\n  \"none\": null,\n  \"kernels\": {\n"
                               "    \"gemm\": {\n      \"fast\": true\n    }\n  },\n  \"sizes\": [\n    1,\n    -2,\n"
                               "    \"x\"\n  ],\n  \"empty\": [],\n  \"nothing\": {}\n}\n";
  tessera_json_t *json = tessera_json_create();
  tessera_error_t error = {""};
  tessera_json_begin_object(json, NULL);
  tessera_json_integer(json, "launches", 12);
  tessera_json_number(json, "time", 0.25);
  tessera_json_number(json, "none", NAN);
  tessera_json_begin_object(json, "kernels");
  tessera_json_begin_object(json, "gemm");
  tessera_json_boolean(json, "fast", true);
  tessera_json_end(json);
  tessera_json_end(json);
  tessera_json_begin_array(json, "sizes");
  tessera_json_integer(json, NULL, 1);
  tessera_json_integer(json, NULL, -2);
  tessera_json_string(json, NULL, "x");
  tessera_json_end(json);
  tessera_json_begin_array(json, "empty");
  tessera_json_end(json);
  tessera_json_begin_object(json, "nothing");
  tessera_json_end(json);
  tessera_json_end(json);
  const char *text = tessera_json_text(json, &error);
  CHECK(text && strcmp(text, wanted) == 0, "%s %s", text ? text : "", error.text);
  CHECK(tessera_json_text(json, NULL) && strcmp(tessera_json_text(json, NULL), wanted) == 0); // asking twice is fine
  CHECK(!tessera_json_write(json, "no/such/stats.json", &error));
  CHECK_CONTAINS(error.text, "no/such/stats.json: cannot be written");
  tessera_json_destroy(json);
}

static void check_string(const char *value, const char *wanted) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_string(json, NULL, value);
  const char *text = tessera_json_text(json, NULL);
  CHECK(text && strcmp(text, wanted) == 0, "%s", text);
  tessera_json_destroy(json);
}

static void test_strings(void) {
  check_string("a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"\n");
  check_string("\b\t\n\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\\u007f\"\n");
  check_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
  check_string("\xff", "\"\xef\xbf\xbd\"\n");                                 // no UTF-8
  check_string("a\xc3", "\"a\xef\xbf\xbd\"\n");                               // cut off
  check_string("\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"\n");                 // too long a form
  check_string("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"); // a surrogate
  check_string("", "\"\"\n");
  check_string(NULL, "null\n");
}

static void check_number(double value) {
  tessera_json_t *json = tessera_json_create();
  tessera_json_number(json, NULL, value);
  const char *text = tessera_json_text(json, NULL);
  if (isfinite(value))
    CHECK(strtod(text, NULL) == value, "%a became %s", value, text);
  else
    CHECK(strcmp(text, "null\n") == 0, "%s", text);
  tessera_json_destroy(json);
}

static void test_numbers(void) {
  static const double values[] = {0,
                                  1,
                                  0.1,
                                  1.0 / 3,
                                  1e300,
                                  5e-324,
                                  123456789012345678.0,
                                  1e-10,
                                  M_PI,
                                  -2.5e-7,
                                  1e22,
                                  9007199254740993.0,
                                  INFINITY,
                                  -INFINITY,
                                  NAN};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    check_number(values[i]);
  for (uint64_t state = 1, i = 0; i < 2000; ++i) {
    uint64_t bits = checkRandom(&state);
    double value;
    memcpy(&value, &bits, sizeof value);
    check_number(value);
  }
}

static void check_mistake(tessera_json_t *json, const char *wanted) {
  tessera_error_t error = {""};
  CHECK(!tessera_json_text(json, &error));
  CHECK_CONTAINS(error.text, wanted);
  tessera_json_destroy(json);
}

static void test_mistakes(void) {
  tessera_json_t *json = tessera_json_create();
  check_mistake(json, "there is no value");
  json = tessera_json_create();
  tessera_json_begin_object(json, NULL);
  tessera_json_integer(json, NULL, 1);
  check_mistake(json, "a value without a key");
  json = tessera_json_create();
  tessera_json_integer(json, "key", 1);
  check_mistake(json, "a key outside an object");
  json = tessera_json_create();
  tessera_json_end(json);
  check_mistake(json, "an end too many");
  json = tessera_json_create();
  tessera_json_begin_array(json, NULL);
  check_mistake(json, "an end is missing");
  json = tessera_json_create();
  tessera_json_integer(json, NULL, 1);
  tessera_json_integer(json, NULL, 2);
  check_mistake(json, "a second value");
  json = tessera_json_create();
  for (int i = 0; i < 100; ++i)
    tessera_json_begin_array(json, NULL);
  check_mistake(json, "nested too deeply");
  tessera_json_integer(NULL, NULL, 1); // out of memory at the beginning
  check_mistake(NULL, "out of memory");
}

int main(void) {
  test_document();
  test_strings();
  test_numbers();
  test_mistakes();
  return checkResult(2000);
}
