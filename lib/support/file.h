// file.h - writing a file wholly or not at all, and several files all or none.
//
//   tessera_files_t files;
//   tessera_files_begin(&files);                       // this thread's writes wait for the commit
//   bool ok = tessera_file_write("a", …, &error) && tessera_file_write("b", …, &error);
//   ok = tessera_files_end(&files, ok, &error);        // both have their names now, or neither has
#pragma once

#include "lib/support/status.h"

typedef struct tessera_bytes_t {
  const void *data;
  size_t size;
} tessera_bytes_t;

// Writes the parts one after the other to a new file beside |path| and renames it, so nobody ever sees half of it and a
// failure leaves what was there. A symbolic link keeps pointing where it did, also to a file that is not there yet;
// something that is no regular file (/dev/stdout, a pipe) is written to directly and at once. The error names the path
// and the system's reason. A process that ends in between leaves nothing (temporary.h), unless SIGKILL ends it.
bool tessera_file_write(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);
// The same, and the bytes are on the disk before the file has its name: not even a power failure leaves half of it. A
// symbolic link is replaced.
bool tessera_file_write_durably(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);

// The bytes of a file, or of standard input for "-", with a zero after them; to be freed. NULL after an error that
// names the path and the system's reason.
char *tessera_file_read(const char *path, size_t *out_size, tessera_error_t *out_error);

typedef struct tessera_files_t {
  struct tessera_pending_t *pending;
  struct tessera_files_t *outer;
} tessera_files_t;

void tessera_files_begin(tessera_files_t *out_files);
// Gives the files their names if |commits|, else removes them. Returns whether they have their names. A rename that
// fails takes those before it back, where there was no file of that name.
bool tessera_files_end(tessera_files_t *files, bool commits, tessera_error_t *out_error);

// Do both paths name one file, there or not? Not true of what is no regular file: both may be /dev/null.
bool tessera_file_is_same(const char *a, const char *b);
