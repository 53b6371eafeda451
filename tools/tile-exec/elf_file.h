// Is a file a whole shared object? Asked before dlopen, which dies (SIGBUS) of one that was cut short.
#pragma once

#include "lib/support/status.h"

bool elf_file_is_whole(const char *path, tessera_error_t *error);
