// nesting.c - one walk over the bytes with a stack of open brackets and a table of aliases. See nesting.h.
// Why not a lexer: the count must be right for valid text, and safe for any other. Leaves: nothing allocated. Cost:
// about 2 ns a byte; memory for the names of aliases only.
#include "lib/pipelines/nesting.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An alias by its name, and how deep what it stands for nests.
typedef struct alias_t {
  const char *name;
  size_t length;
  int depth; // 0: the place is free
} alias_t;

typedef struct walk_t {
  const char *at, *end, *line_start;
  int line, depth, operators;
  char open[TESSERA_MOST_NESTING + 1];
  alias_t *aliases;
  size_t num_aliases, capacity;
  const char *alias; // that is being defined; NULL: none
  size_t alias_length;
  int alias_depth; // so far
  tessera_nesting_t *found;
} walk_t;

//===--- aliases --------------------------------------------------------------===//

static alias_t *place_of(alias_t *aliases, size_t capacity, const char *name, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
  size_t i = hash & (capacity - 1);
  while (aliases[i].depth && (aliases[i].length != length || memcmp(aliases[i].name, name, length) != 0))
    i = (i + 1) & (capacity - 1);
  return &aliases[i];
}

static bool grow(walk_t *walk) {
  size_t capacity = walk->capacity ? 2 * walk->capacity : 64;
  alias_t *aliases = calloc(capacity, sizeof *aliases);
  if (!aliases)
    return false;
  for (size_t i = 0; i < walk->capacity; ++i)
    if (walk->aliases[i].depth)
      *place_of(aliases, capacity, walk->aliases[i].name, walk->aliases[i].length) = walk->aliases[i];
  free(walk->aliases);
  walk->aliases = aliases;
  walk->capacity = capacity;
  return true;
}

static void keep_alias(walk_t *walk) {
  if (!walk->alias || (2 * walk->num_aliases >= walk->capacity && !grow(walk)))
    return;
  alias_t *place = place_of(walk->aliases, walk->capacity, walk->alias, walk->alias_length);
  walk->num_aliases += !place->depth;
  *place = (alias_t){walk->alias, walk->alias_length, walk->alias_depth + 1};
  walk->alias = NULL;
}

static int depth_of_alias(const walk_t *walk, const char *name, size_t length) {
  return walk->capacity ? place_of(walk->aliases, walk->capacity, name, length)->depth : 0;
}

//===--- limits ---------------------------------------------------------------===//

static bool fail(walk_t *walk, const char *what, int most) {
  walk->found->line = walk->line;
  walk->found->column = (int)(walk->at - walk->line_start) + 1;
  snprintf(walk->found->text, sizeof walk->found->text, what, most, most);
  return false;
}

static bool reach(walk_t *walk, int depth) {
  walk->alias_depth = depth > walk->alias_depth ? depth : walk->alias_depth;
  return depth <= TESSERA_MOST_NESTING ||
         fail(walk, "nests deeper than %d levels; accepts at most %d", TESSERA_MOST_NESTING);
}

static bool count_operator(walk_t *walk) {
  return ++walk->operators <= TESSERA_MOST_OPERATORS ||
         fail(walk, "an expression of more than %d operators; accepts at most %d", TESSERA_MOST_OPERATORS);
}

//===--- tokens ---------------------------------------------------------------===//

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '.' || c == '-';
}

static bool follows(const walk_t *walk, char c) { return walk->at + 1 < walk->end && walk->at[1] == c; }

static void skip_string(walk_t *walk) {
  for (++walk->at; walk->at < walk->end && *walk->at != '"' && *walk->at != '\n'; ++walk->at)
    if (*walk->at == '\\' && walk->at + 1 < walk->end && walk->at[1] != '\n')
      ++walk->at;
}

static void skip_comment(walk_t *walk) {
  while (walk->at + 1 < walk->end && walk->at[1] != '\n')
    ++walk->at;
}

static char closer_of(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>'; }

static bool open_bracket(walk_t *walk) {
  if (!reach(walk, walk->depth + 1))
    return false;
  walk->open[walk->depth++] = closer_of(*walk->at);
  return true;
}

// A '>' closes only what is innermost: it may be a comparison. Another bracket also closes a '<' that was one.
static void close_bracket(walk_t *walk) {
  int depth = walk->depth;
  while (*walk->at != '>' && depth > 0 && walk->open[depth - 1] == '>')
    --depth;
  if (depth > 0 && walk->open[depth - 1] == *walk->at)
    walk->depth = depth - 1;
}

// "#name" or "!name": a use, or a definition where it begins a line and "=" follows.
static bool take_alias(walk_t *walk) {
  const char *name = walk->at, *after = name + 1;
  while (after < walk->end && is_name(*after))
    ++after;
  size_t length = (size_t)(after - name);
  bool begins_line = name == walk->line_start;
  walk->at = after - 1;
  while (begins_line && after < walk->end && *after == ' ')
    ++after;
  if (!begins_line || after == walk->end || *after != '=')
    return reach(walk, walk->depth + depth_of_alias(walk, name, length));
  keep_alias(walk);
  walk->alias = name;
  walk->alias_length = length;
  walk->alias_depth = 0;
  return true;
}

// A digit of decimal or, in a word that begins so, of hexadecimal.
static bool is_digit(char c, bool is_hex) {
  return (c >= '0' && c <= '9') || (is_hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

// "mod", "floordiv" and "ceildiv"; integers, also as sizes in "8x16xf32".
static bool take_word(walk_t *walk) {
  static const char *const operators[] = {"mod", "floordiv", "ceildiv"};
  const char *word = walk->at;
  bool is_hex = *word == '0' && follows(walk, 'x');
  for (int digits = is_digit(*word, is_hex); walk->at + 1 < walk->end && is_name(walk->at[1]) && walk->at[1] != '-';) {
    ++walk->at;
    digits = is_digit(*walk->at, is_hex) ? digits + 1 : 0;
    if (digits > TESSERA_MOST_DIGITS)
      return fail(walk, "an integer of more than %d digits; accepts at most %d", TESSERA_MOST_DIGITS);
    if (is_digit(*word, false) && walk->at - word > TESSERA_MOST_SIZES)
      return fail(walk, "sizes of more than %d letters; accepts at most %d", TESSERA_MOST_SIZES);
  }
  for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i)
    if ((size_t)(walk->at - word) + 1 == strlen(operators[i]) && memcmp(word, operators[i], strlen(operators[i])) == 0)
      return count_operator(walk);
  return true;
}

// '-', '<' and '>' on their own, not of "->", ">=" or "<=".
static bool take_angle(walk_t *walk) {
  if (follows(walk, *walk->at == '-' ? '>' : '=')) {
    ++walk->at;
    return true;
  }
  if (*walk->at == '-')
    return count_operator(walk);
  walk->operators = 0;
  if (*walk->at == '<')
    return open_bracket(walk);
  close_bracket(walk);
  return true;
}

static bool take(walk_t *walk) {
  switch (*walk->at) {
  case '\n':
    ++walk->line;
    walk->line_start = walk->at + 1;
    return true;
  case '"':
    skip_string(walk);
    return true;
  case '/':
    if (follows(walk, '/'))
      skip_comment(walk);
    return true;
  case '-':
  case '<':
  case '>':
    return take_angle(walk);
  case '+':
  case '*':
    return count_operator(walk);
  case '(':
  case '[':
  case '{':
    walk->operators = 0;
    return open_bracket(walk);
  case ')':
  case ']':
  case '}':
    walk->operators = 0;
    close_bracket(walk);
    return true;
  case ',':
  case ':':
  case '=':
    walk->operators = 0;
    return true;
  case '#':
  case '!':
    return take_alias(walk);
  default:
    return is_name(*walk->at) ? take_word(walk) : true;
  }
}

bool tessera_nesting_check(const char *text, size_t size, tessera_nesting_t *out_found) {
  static const char magic[] = {'M', 'L', (char)0xef, 'R'};
  if (size >= sizeof magic && memcmp(text, magic, sizeof magic) == 0)
    return true;
  walk_t walk = {.at = text, .end = text + size, .line_start = text, .line = 1, .found = out_found};
  bool ok = true;
  for (; walk.at < walk.end && ok; ++walk.at)
    ok = take(&walk);
  free(walk.aliases);
  return ok;
}
