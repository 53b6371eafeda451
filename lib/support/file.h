// file.h - writing a file wholly or not at all.
#ifndef TESSERA_SUPPORT_FILE_H
#define TESSERA_SUPPORT_FILE_H

#include "lib/support/status.h"

typedef struct tessera_bytes_t {
  const void *data;
  size_t size;
} tessera_bytes_t;

// Writes the parts one after the other to a new file beside |path| and renames it, so nobody ever sees half of it and a
// failure leaves what was there. A symbolic link keeps pointing where it did; something that is no regular file
// (/dev/stdout, a pipe) is written to directly. The error names the path and the system's reason.
bool tessera_file_write(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);
// The same, and the bytes are on the disk before the file has its name: not even a power failure leaves half of it.
bool tessera_file_write_durably(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);

#endif // TESSERA_SUPPORT_FILE_H
