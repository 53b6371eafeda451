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

// Writes the parts in order to a new file beside |path| and then renames that file. A reader never sees half of the
// file, and a failure keeps the old file. A symbolic link stays, even to a file that does not exist yet. A path that is
// no regular file (/dev/stdout, a pipe) is written directly. The error names the path and the system's reason. If the
// process ends in between, no file is left behind (temporary.h), unless SIGKILL ends the process.
bool tessera_file_write(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);
// As above, but the bytes are on the disk before the rename, so not even a power failure leaves half of the file. The
// file replaces a symbolic link.
bool tessera_file_write_durably(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error);

// Returns the bytes of a file, or of standard input for "-", with a zero after them. The caller frees them. NULL after
// an error, which names the path and the system's reason.
char *tessera_file_read(const char *path, size_t *out_size, tessera_error_t *out_error);

typedef struct tessera_files_t {
  struct tessera_pending_t *pending;
  struct tessera_files_t *outer;
} tessera_files_t;

void tessera_files_begin(tessera_files_t *out_files);
// Gives the files their names if |commits|, else removes them. Returns whether they have their names. If a rename
// fails, the files renamed before it are removed again, unless they replaced older files.
bool tessera_files_end(tessera_files_t *files, bool commits, tessera_error_t *out_error);

// Whether both paths name one file, which need not exist. False for what is not a regular file, such as /dev/null.
bool tessera_file_is_same(const char *a, const char *b);
