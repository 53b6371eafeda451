// file.c - write beside, then rename.
// Why: a tool that fails or is stopped must not leave a partial output. Expects: a folder one may write to.
// Leaves: the new file, or the old one and an error.
#include "lib/support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_parts(int file, const tessera_bytes_t *parts, int count) {
  for (int i = 0; i < count; ++i) {
    const char *data = parts[i].data;
    for (size_t left = parts[i].size; left > 0;) {
      ssize_t done = write(file, data, left);
      if (done < 0 && errno == EINTR)
        continue;
      if (done < 0)
        return false;
      data += done;
      left -= (size_t)done;
    }
  }
  return true;
}

// Writes and closes; some systems report a full disk only on closing. errno says why not.
static bool write_and_close(int file, const tessera_bytes_t *parts, int count, bool durably) {
  bool written = write_parts(file, parts, count) && (!durably || fsync(file) == 0);
  int why = errno;
  bool closed = close(file) == 0;
  if (!written)
    errno = why;
  return written && closed;
}

static bool write_directly(const char *path, const tessera_bytes_t *parts, int count) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  return file >= 0 && write_and_close(file, parts, count, false);
}

// Opens a file of a new name beside |path|, with the permissions a new file gets.
static int open_beside(const char *path, char *out_name, size_t size) {
  for (int i = 0; i < 10000; ++i) {
    if ((size_t)snprintf(out_name, size, "%s.%d.%d.partial", path, (int)getpid(), i) >= size) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(out_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

static bool replace(const char *path, const tessera_bytes_t *parts, int count, bool durably) {
  char name[PATH_MAX];
  int file = open_beside(path, name, sizeof name);
  if (file < 0)
    return false;
  if (write_and_close(file, parts, count, durably) && rename(name, path) == 0)
    return true;
  int why = errno;
  unlink(name);
  errno = why;
  return false;
}

static bool write_file(const char *path, const tessera_bytes_t *parts, int count, bool durably,
                       tessera_error_t *out_error) {
  struct stat status;
  char target[PATH_MAX]; // through symbolic links
  bool exists = stat(path, &status) == 0, done;
  if (exists && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) // /dev/stdout too, which leads to a pipe
    done = write_directly(path, parts, count);
  else
    done = replace(exists && realpath(path, target) ? target : path, parts, count, durably);
  return done || tessera_fail(out_error, "%s: cannot be written: %s", path, strerror(errno));
}

bool tessera_file_write(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error) {
  return write_file(path, parts, count, false, out_error);
}

bool tessera_file_write_durably(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error) {
  return write_file(path, parts, count, true, out_error);
}
