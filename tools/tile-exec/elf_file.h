// Is a file a whole shared object? Asked before dlopen, which dies (SIGBUS) of one that was cut short.
#ifndef TESSERA_TOOLS_TILE_EXEC_ELF_FILE_H
#define TESSERA_TOOLS_TILE_EXEC_ELF_FILE_H

#include "lib/support/status.h"

bool elf_file_is_whole(const char *path, tessera_error_t *error);

#endif // TESSERA_TOOLS_TILE_EXEC_ELF_FILE_H
