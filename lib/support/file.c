// file.c - write beside, then rename.
// Why: a tool that fails or is stopped must not leave a partial output. Expects: a folder one may write to.
// Leaves: the new file, or the old one and an error.
#include "lib/support/file.h"

#include "lib/support/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A whole file under a name of its own, that waits for its right one.
typedef struct tessera_pending_t {
  char partial[PATH_MAX], path[PATH_MAX];
  int slot; // temporary.h
  bool is_new;
  struct tessera_pending_t *next;
} pending_t;

static _Thread_local tessera_files_t *collecting;

//===--- bytes ----------------------------------------------------------------===//

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

//===--- names ----------------------------------------------------------------===//

static bool fail_with(int why) {
  errno = why;
  return false;
}

// Bytes of the folder in a path, with its last slash.
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

// The path that a symbolic link holds, seen from where the link stands.
static bool follow_link(char *path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target);
  if (length < 0)
    return false;
  size_t folder = target[0] == '/' ? 0 : folder_length(path);
  if (folder + (size_t)length >= PATH_MAX)
    return fail_with(ENAMETOOLONG);
  memcpy(path + folder, target, (size_t)length);
  path[folder + (size_t)length] = 0;
  return true;
}

// The path at which symbolic links end, whether a file is there or not.
static bool follow_links(const char *path, char out_path[PATH_MAX]) {
  struct stat status;
  if ((size_t)snprintf(out_path, PATH_MAX, "%s", path) >= PATH_MAX)
    return fail_with(ENAMETOOLONG);
  for (int links = 0; lstat(out_path, &status) == 0 && S_ISLNK(status.st_mode); ++links)
    if (links == 40 || !follow_link(out_path))
      return fail_with(links == 40 ? ELOOP : errno);
  return true;
}

// One name for each file: the folder without links, and the file in it.
static bool canonical(const char *path, char out_path[PATH_MAX]) {
  char at[PATH_MAX], folder[PATH_MAX], real[PATH_MAX];
  if (!follow_links(path, at))
    return false;
  size_t length = folder_length(at);
  snprintf(folder, sizeof folder, "%.*s.", (int)length, at);
  return realpath(folder, real) && (size_t)snprintf(out_path, PATH_MAX, "%s/%s", real, at + length) < PATH_MAX;
}

static bool is_special(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool tessera_file_is_same(const char *a, const char *b) {
  char one[PATH_MAX], other[PATH_MAX];
  return !is_special(a) && canonical(a, one) && canonical(b, other) && strcmp(one, other) == 0;
}

//===--- beside ---------------------------------------------------------------===//

// A name beside |path|: of the path's own name as much as a file system has room for.
static bool name_beside(const char *path, int number, char out_name[PATH_MAX]) {
  enum { LONGEST_END = 40 };
  char end[LONGEST_END];
  size_t folder = folder_length(path), own = strlen(path + folder);
  size_t room = NAME_MAX - (size_t)snprintf(end, sizeof end, ".%d.%d.partial", (int)getpid(), number);
  own = own < room ? own : room;
  if (folder + own + strlen(end) >= PATH_MAX) // of a path so long, none
    own = 0;
  return (size_t)snprintf(out_name, PATH_MAX, "%.*s%s", (int)(folder + own), path, end) < PATH_MAX ||
         fail_with(ENAMETOOLONG);
}

// Opens a file of a new name beside the pending one's path, with the permissions a new file gets.
static int open_beside(pending_t *pending) {
  for (int i = 0; i < 10000; ++i) {
    sigset_t before;
    if (!name_beside(pending->path, i, pending->partial))
      return -1;
    tessera_temporary_hold(&before);
    int file = open(pending->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
    pending->slot = file >= 0 ? tessera_temporary_note_file(pending->partial) : -1;
    tessera_temporary_let_go(&before);
    errno = why;
    if (file >= 0)
      return file;
    pending->partial[0] = 0; // whose it is, is not known
    if (errno != EEXIST)
      return -1;
  }
  return -1;
}

static bool write_beside(pending_t *pending, const tessera_bytes_t *parts, int count, bool durably) {
  struct stat status;
  pending->is_new = lstat(pending->path, &status) != 0;
  if (!pending->is_new && S_ISDIR(status.st_mode))
    return fail_with(EISDIR);
  int file = open_beside(pending);
  return file >= 0 && write_and_close(file, parts, count, durably);
}

// Removes the partial file, or gives it its name. errno says why it has none.
static bool finish(pending_t *pending, bool commits) {
  bool done = commits && rename(pending->partial, pending->path) == 0;
  int why = errno;
  if (!done && pending->partial[0])
    unlink(pending->partial);
  tessera_temporary_forget(pending->slot);
  return done || fail_with(why);
}

// At once, or when the files that are being collected end.
static bool finish_or_keep(pending_t *pending, bool is_written) {
  int why = errno;
  pending_t *kept = is_written && collecting ? malloc(sizeof *kept) : NULL;
  if (is_written && collecting && !kept)
    why = ENOMEM;
  if (!kept)
    return finish(pending, is_written && !collecting) || fail_with(is_written && !collecting ? errno : why);
  *kept = *pending;
  kept->next = collecting->pending;
  collecting->pending = kept;
  return true;
}

//===--- the whole ------------------------------------------------------------===//

bool tessera_file_write(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error) {
  pending_t pending = {.slot = -1};
  bool done;
  if (is_special(path)) // /dev/stdout too, which leads to a pipe
    done = write_directly(path, parts, count);
  else
    done = follow_links(path, pending.path) && finish_or_keep(&pending, write_beside(&pending, parts, count, false));
  return done || tessera_fail(out_error, "%s: cannot be written: %s", path, strerror(errno));
}

bool tessera_file_write_durably(const char *path, const tessera_bytes_t *parts, int count, tessera_error_t *out_error) {
  pending_t pending = {.slot = -1};
  bool fits = (size_t)snprintf(pending.path, PATH_MAX, "%s", path) < PATH_MAX || fail_with(ENAMETOOLONG);
  bool done = fits && finish(&pending, write_beside(&pending, parts, count, true));
  return done || tessera_fail(out_error, "%s: cannot be written: %s", path, strerror(errno));
}

//===--- reading --------------------------------------------------------------===//

// To the end of the file. errno says why not.
static char *read_all(int file, size_t *out_size) {
  size_t size = 0, capacity = 0;
  char *bytes = NULL;
  ssize_t got;
  do {
    if (capacity - size < 2) {
      char *larger = realloc(bytes, capacity = 2 * capacity + 65536);
      if (!larger)
        break;
      bytes = larger;
    }
    got = read(file, bytes + size, capacity - size - 1);
    size += got > 0 ? (size_t)got : 0;
  } while (got > 0 || (got < 0 && errno == EINTR));
  if (capacity - size >= 2 && got == 0) {
    bytes[size] = 0;
    *out_size = size;
    return bytes;
  }
  int why = errno;
  free(bytes);
  errno = why;
  return NULL;
}

char *tessera_file_read(const char *path, size_t *out_size, tessera_error_t *out_error) {
  bool is_input = strcmp(path, "-") == 0;
  int file = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  char *bytes = file >= 0 ? read_all(file, out_size) : NULL;
  int why = errno;
  if (file >= 0 && !is_input)
    close(file);
  if (!bytes)
    tessera_fail(out_error, "%s: %s", path, strerror(why));
  return bytes;
}

//===--- several --------------------------------------------------------------===//

void tessera_files_begin(tessera_files_t *out_files) {
  *out_files = (tessera_files_t){.pending = NULL, .outer = collecting};
  collecting = out_files;
}

// The order in which they were written.
static pending_t *reversed(pending_t *last) {
  pending_t *first = NULL;
  while (last) {
    pending_t *next = last->next;
    last->next = first;
    first = last;
    last = next;
  }
  return first;
}

static void take_back(const pending_t *from, const pending_t *end) {
  for (; from != end; from = from->next)
    if (from->is_new)
      unlink(from->path);
}

bool tessera_files_end(tessera_files_t *files, bool commits, tessera_error_t *out_error) {
  collecting = files->outer;
  pending_t *first = reversed(files->pending);
  for (pending_t *at = first; at; at = at->next) {
    if (finish(at, commits) || !commits)
      continue;
    commits = tessera_fail(out_error, "%s: cannot be written: %s", at->path, strerror(errno));
    take_back(first, at);
  }
  for (pending_t *at = first, *next; at; at = next) {
    next = at->next;
    free(at);
  }
  *files = (tessera_files_t){.pending = NULL};
  return commits;
}
