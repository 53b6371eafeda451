// nesting_test.c - what counts as nesting, where it is told, and what does not count.
#include "lib/pipelines/nesting.h"

#include "test/check.h"

#include <stdlib.h>

// `before`, `count` times `piece`, `after`.
static char *repeat(const char *before, const char *piece, int count, const char *after) {
  char *text = calloc(strlen(before) + strlen(piece) * (size_t)count + strlen(after) + 1, 1), *at = text;
  at = stpcpy(at, before);
  for (int i = 0; i < count; ++i)
    at = stpcpy(at, piece);
  strcpy(at, after);
  return text;
}

static bool passes(const char *before, const char *piece, int count, const char *after) {
  tessera_nesting_t found = {.line = 0};
  char *text = repeat(before, piece, count, after);
  bool ok = tessera_nesting_check(text, strlen(text), &found);
  CHECK(ok || (found.line > 0 && found.column > 0 && strstr(found.text, "accepts at most")));
  free(text);
  return ok;
}

static void test_brackets(void) {
  static const char *const pieces[] = {"(", "[", "{", "<", "({ \n", "tuple<", "([{<", "callsite(\"a\" at "};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
    CHECK(passes("a ", pieces[i], 100, ""), "%s", pieces[i]);
    CHECK(!passes("a ", pieces[i], 501, ""), "%s", pieces[i]);
  }
  CHECK(passes("", "[", 500, "") && !passes("", "[", 501, ""));
  static const char *const flat[] = {"()",        "[<{}>]",     "-> ", "a >= b ", "\"((\\\"((\" ",
                                     "// ((((\n", "{ a < b } ", "> ",  ") "};
  for (size_t i = 0; i < sizeof flat / sizeof *flat; ++i)
    CHECK(passes("", flat[i], 3000, ""), "%s", flat[i]);
  tessera_nesting_t found;
  char *text = repeat("ab\n  ", "[", 501, "");
  CHECK(!tessera_nesting_check(text, strlen(text), &found) && found.line == 2 && found.column == 2 + 501);
  CHECK_CONTAINS(found.text, "nests deeper than 500 levels");
  free(text);
}

// A chain of aliases; each alias uses the one before.
static bool chain_passes(char sigil, int count) {
  char *text = calloc((size_t)count + 1, 40), *at = text;
  at += sprintf(at, "%ca0 = x\n", sigil);
  for (int i = 1; i <= count; ++i)
    at += sprintf(at, "%ca%d = <%ca%d>\n", sigil, i, sigil, i - 1);
  tessera_nesting_t found;
  bool ok = tessera_nesting_check(text, strlen(text), &found);
  free(text);
  return ok;
}

static void test_aliases(void) {
  CHECK(chain_passes('#', 200) && chain_passes('!', 200));
  CHECK(!chain_passes('#', 2000) && !chain_passes('!', 2000));
  CHECK(passes("#a = [[1]]\n", "#a, ", 5000, ""), "used often is not deep");
}

static void test_operators(void) {
  CHECK(passes("(d0", " + d0 mod 3", 1000, ")") && !passes("(d0", " + d0 mod 3", 6000, ")"));
  CHECK(!passes("(", "- ", 6000, "d0)"));
  CHECK(passes("dense<[", "-1, ", 100000, "]>") && passes("", "%0 = arith.constant -1 : i64\n", 100000, ""));
}

static void test_words(void) {
  CHECK(passes("memref<", "3x4x", 2000, "f32>") && !passes("memref<", "3x4x", 3000, "f32>"));
  CHECK(passes("%value", "x4x3", 3000, " = a"), "a name is no shape");
  CHECK(passes("", "9", 999, "") && !passes("", "9", 1002, ""));
}

static void test_bytecode(void) {
  static const char magic[] = {'M', 'L', '\xef', 'R'};
  char bytes[1000];
  tessera_nesting_t found;
  memset(bytes, '(', sizeof bytes);
  CHECK(!tessera_nesting_check(bytes, sizeof bytes, &found));
  memcpy(bytes, magic, sizeof magic);
  CHECK(tessera_nesting_check(bytes, sizeof bytes, &found));
}

int main(void) {
  test_brackets();
  test_aliases();
  test_operators();
  test_words();
  test_bytecode();
  return checkResult(40);
}
