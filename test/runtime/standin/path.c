// The name of an image's twin. See twin.h.
#include "test/runtime/standin/twin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

size_t twin_extent(const void *image) {
  const Elf64_Ehdr *header = image;
  if (memcmp(image, ELFMAG, SELFMAG) != 0)
    return strlen(image);
  const Elf64_Shdr *sections = (const Elf64_Shdr *)((const char *)image + header->e_shoff);
  size_t end = larger(header->e_shoff + (size_t)header->e_shnum * header->e_shentsize,
                      header->e_phoff + (size_t)header->e_phnum * header->e_phentsize);
  for (int i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type != SHT_NOBITS)
      end = larger(end, sections[i].sh_offset + sections[i].sh_size);
  return end;
}

bool twin_path(const void *image, char *path, size_t capacity) {
  const char *folder = getenv("TESSERA_TWINS");
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0, size = twin_extent(image); i < size; ++i)
    hash = (hash ^ ((const unsigned char *)image)[i]) * 0x100000001b3;
  if (folder)
    snprintf(path, capacity, "%s/%016llx.mlir", folder, (unsigned long long)hash);
  return folder != NULL;
}
