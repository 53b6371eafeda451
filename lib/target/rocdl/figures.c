// What the back end says of each kernel: metadata of the code object ("User Guide for AMDGPU Backend", Code Object V3
// Metadata), in the assembly as YAML, in an object as MessagePack. In both, every kernel has each key once, so the n-th
// occurrence of a key is the n-th kernel's; ".symbol" is its name and ".kd".
#include "lib/target/rocdl/rocdl.h"

#include <stdlib.h>
#include <string.h>

enum { WordBytes = 4 };

// Where the value of the key begins at or after `at`; null when there is none.
typedef const char *(*FindKey)(const char *at, const char *end, const char *key);
typedef int64_t (*ReadNumber)(const char *at, const char *end);
typedef size_t (*ReadText)(const char *at, const char *end, const char **text);

typedef struct Notation {
  FindKey find;
  ReadNumber number;
  ReadText text;
} Notation;

//===--- YAML -----------------------------------------------------------------------------------===//

static const char *findInText(const char *at, const char *end, const char *key) {
  size_t length = strlen(key);
  while ((at = memmem(at, (size_t)(end - at), key, length))) {
    at += length;
    if (at == end || *at != ':')
      continue;
    do
      ++at;
    while (at < end && *at == ' ');
    return at;
  }
  return NULL;
}

static int64_t numberInText(const char *at, const char *end) {
  int64_t number = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at)
    number = 10 * number + (*at - '0');
  return number;
}

static size_t textInText(const char *at, const char *end, const char **text) {
  const char *line = memchr(at, '\n', (size_t)(end - at));
  *text = at;
  return (size_t)((line ? line : end) - at);
}

//===--- MessagePack ----------------------------------------------------------------------------===//

// A short text is one byte, 0xa0 and its length, then itself.
static const char *findPacked(const char *at, const char *end, const char *key) {
  size_t length = strlen(key);
  for (; (at = memmem(at, (size_t)(end - at), key, length)); at += length)
    if ((unsigned char)at[-1] == (0xa0 | length))
      return at + length;
  return NULL;
}

// 0 to 127 in the first byte; 0xcc, 0xcd, 0xce: one, two, four bytes follow, highest first.
static int64_t numberPacked(const char *at, const char *end) {
  unsigned char first = (unsigned char)*at;
  int bytes = first == 0xcc ? 1 : first == 0xcd ? 2 : first == 0xce ? 4 : 0;
  if (!bytes || at + bytes >= end)
    return bytes ? 0 : first;
  int64_t number = 0;
  for (int i = 1; i <= bytes; ++i)
    number = number << 8 | (unsigned char)at[i];
  return number;
}

// Up to 31 bytes: 0xa0 and the length; else 0xd9 and a byte, or 0xda and two.
static size_t textPacked(const char *at, const char *end, const char **text) {
  unsigned char first = (unsigned char)*at;
  int more = first == 0xd9 ? 1 : first == 0xda ? 2 : 0;
  size_t length = more ? 0 : first & 31;
  for (int i = 1; i <= more && at + i < end; ++i)
    length = length << 8 | (unsigned char)at[i];
  *text = at + 1 + more;
  return *text + length <= end ? length : 0;
}

//===--- figures --------------------------------------------------------------------------------===//

static const char *nth(const Notation *notation, const char *at, const char *end, const char *key, int n) {
  for (int i = 0; at && i <= n; ++i)
    at = notation->find(at, end, key);
  return at;
}

static void readFigures(const Notation *notation, TileArtifact *artifact) {
  const char *start = artifact->data, *end = start + artifact->size, *symbol = start, *name;
  for (int n = 0; (symbol = notation->find(symbol, end, ".symbol")); ++n) {
    TileKernelFigures *kernel = tileArtifactAddKernel(artifact);
    size_t length = notation->text(symbol, end, &name);
    if (!kernel)
      return;
    if (length > 3)
      snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)length - 3, name);
    const struct {
      const char *key;
      int64_t *value;
    } figures[] = {{".vgpr_count", &kernel->registers},
                   {".sgpr_count", &kernel->scalarRegisters},
                   {".vgpr_spill_count", &kernel->spillBytes},
                   {".group_segment_fixed_size", &kernel->sharedBytes},
                   {".private_segment_fixed_size", &kernel->scratchBytes}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; ++i) {
      const char *at = nth(notation, start, end, figures[i].key, n);
      *figures[i].value = at && at < end ? notation->number(at, end) : 0;
    }
    kernel->spillBytes *= WordBytes;
  }
}

void tileRocdlReadAssembly(TileArtifact *assembly) {
  readFigures(&(Notation){findInText, numberInText, textInText}, assembly);
}

void tileRocdlReadObject(TileArtifact *object) {
  readFigures(&(Notation){findPacked, numberPacked, textPacked}, object);
}
