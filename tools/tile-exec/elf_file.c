// Checks that every segment an ELF file names lies inside it. See elf_file.h. The format: elf(5).
// Expects: any file. Leaves: nothing open. What is inside the segments, the loader itself checks.
#include "tools/tile-exec/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

static bool is_shared_object(const Elf64_Ehdr *header) {
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_type == ET_DYN && header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

static bool check(FILE *file, const char *path, tessera_error_t *error) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  if (fread(&header, sizeof header, 1, file) != 1 || !is_shared_object(&header))
    return tessera_fail(error, "%s: is not a program: not a shared object (ELF, 64 bits)", path);
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  bool whole = end >= 0 && header.e_phoff <= (uint64_t)end && fseek(file, (long)header.e_phoff, SEEK_SET) == 0;
  for (int i = 0; i < header.e_phnum && whole; ++i)
    whole = fread(&segment, sizeof segment, 1, file) == 1 &&
            (segment.p_type != PT_LOAD || lies_inside(segment.p_offset, segment.p_filesz, (uint64_t)end));
  return whole || tessera_fail(error, "%s: is cut short at %ld bytes", path, end);
}

bool elf_file_is_whole(const char *path, tessera_error_t *error) {
  FILE *file = fopen(path, "rbe");
  if (!file)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  bool ok = check(file, path, error);
  fclose(file);
  return ok;
}
