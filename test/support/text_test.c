// text_test.c - texts that grow, by calls and by streams, and what becomes of them when memory is out.
#include "lib/support/text.h"

#include "test/check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void test_appends(void) {
  tessera_text_t text = {NULL};
  for (int i = 0; i < 1000; ++i)
    tessera_text_format(&text, "%d,", i);
  tessera_text_append(&text, "a\0b", 3);
  tessera_text_append(&text, NULL, 0);
  CHECK(!text.failed && text.size == 10 * 2 + 90 * 3 + 900 * 4 + 3 && text.data[text.size] == 0);
  CHECK(memcmp(text.data, "0,1,2,", 6) == 0 && memcmp(text.data + text.size - 7, "999,a\0b", 7) == 0);
  tessera_text_free(&text);
  CHECK(!text.data && !text.size);
}

static void test_takes(void) {
  tessera_text_t text = {NULL};
  char *empty = tessera_text_take(&text);
  CHECK(empty && !*empty);
  free(empty);
}

// More than any memory has.
static void lose(tessera_text_t *text) { tessera_text_append(text, "", SIZE_MAX); }

static void test_lost_piece(void) {
  tessera_text_t text = {NULL};
  tessera_text_format(&text, "one");
  lose(&text);
  tessera_text_format(&text, "three");
  tessera_text_append(&text, "four", 4);
  CHECK(text.failed && text.size == 3 && strcmp(text.data, "one") == 0);
  CHECK(!tessera_text_take(&text) && !text.data);
}

static void test_stream(void) {
  tessera_text_t text;
  FILE *out = tessera_text_open(&text);
  CHECK(out);
  for (int i = 0; i < 5000; ++i)
    fprintf(out, "%05d", i);
  CHECK(tessera_text_close(&text, out) && text.size == 25000 && memcmp(text.data + 24995, "04999", 6) == 0);
  free(text.data);
  out = tessera_text_open(&text);
  CHECK(tessera_text_close(&text, out) && text.size == 0 && text.data && !*text.data);
  free(text.data);
}

// The stream goes on after the piece that was lost, and its end tells.
static void test_stream_without_memory(void) {
  static char piece[100000];
  tessera_text_t text;
  FILE *out = tessera_text_open(&text);
  CHECK(out && fwrite(piece, 1, sizeof piece, out) == sizeof piece && fflush(out) == 0);
  lose(&text);
  fprintf(out, "later");
  CHECK(!tessera_text_close(&text, out) && !text.data && !text.size);
  tessera_text_t none = {.failed = true}; // as a stream that could not be opened leaves it
  CHECK(!tessera_text_close(&none, NULL) && !none.data);
}

int main(void) {
  test_appends();
  test_takes();
  test_lost_piece();
  test_stream();
  test_stream_without_memory();
  return checkResult(12);
}
