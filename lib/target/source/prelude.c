// Chooses the helpers that a file needs. A prelude is a text of sections; the line "//--- NAME…" begins a section and
// lists the names that it defines. A section is written if the file, or a later section that is written, uses a name.
#include "lib/target/source/prelude.h"
#include "lib/target/source/source.h"

#include <ctype.h>
#include <string.h>

enum { MaxSections = 128 };

typedef struct Section {
  const char *names, *text; // names end at the end of their line
  size_t length;
  bool isUsed;
} Section;

static bool isOfName(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Does the text name it as a whole word?
static bool uses(const char *text, size_t textLength, const char *name, size_t length) {
  const char *end = text + textLength;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), name, length)); ++at)
    if ((at == text || !isOfName(at[-1])) && (at + length == end || !isOfName(at[length])))
      return true;
  return false;
}

bool tileSourceNames(const char *text, size_t length, const char *name) {
  return uses(text, length, name, strlen(name));
}

static bool usesAny(const char *text, size_t length, const Section *section) {
  for (const char *at = section->names; *at != '\n';) {
    size_t word = strcspn(at, " \n");
    if (word && uses(text, length, at, word))
      return true;
    at += word + (at[word] == ' ');
  }
  return false;
}

static int split(const TileEmbeddedText *prelude, Section *sections) {
  static const char mark[] = "//--- ";
  const char *at = (const char *)prelude->text, *end = at + prelude->length;
  int count = 0;
  while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) && count < MaxSections) {
    const char *names = at + sizeof mark - 1, *text = (const char *)memchr(names, '\n', (size_t)(end - names)) + 1;
    const char *next = memmem(text, (size_t)(end - text), mark, sizeof mark - 1);
    at = next ? next : end;
    sections[count++] = (Section){names, text, (size_t)(at - text), false};
  }
  return count;
}

static int sectionsOf(const SourceLanguage *language, Section *sections) {
  for (size_t i = 0; i < tileSourcePreludesCount; ++i)
    if (strcmp(tileSourcePreludes[i].name, language->prelude) == 0)
      return split(&tileSourcePreludes[i], sections);
  return 0;
}

bool tileSourceHasHelper(const SourceLanguage *language, const char *name) {
  Section sections[MaxSections];
  bool has = false;
  for (int i = 0, count = sectionsOf(language, sections); i < count; ++i)
    has |= usesAny(name, strlen(name), &sections[i]);
  return has;
}

void tileSourceWritePrelude(const SourceLanguage *language, const char *text, FILE *out) {
  Section sections[MaxSections];
  int count = sectionsOf(language, sections);
  for (int i = count; i-- > 0;) {
    sections[i].isUsed = usesAny(text, strlen(text), &sections[i]);
    for (int k = i + 1; k < count; ++k)
      sections[i].isUsed |= sections[k].isUsed && usesAny(sections[k].text, sections[k].length, &sections[i]);
  }
  for (int i = 0; i < count; ++i)
    if (sections[i].isUsed)
      fwrite(sections[i].text, 1, sections[i].length, out);
}
