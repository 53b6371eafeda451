// Mapped files and the parts of them that are in use, in two lists under one lock. See mapped_weights.h.
#include "lib/support/files/mapped_weights.h"

#include "lib/support/files/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct mapped_t {
  tessera_mapping_t mapping; // first: what callers hold
  struct stat about;         // which file this is
  int users;
  struct mapped_t *next;
} mapped_t;

typedef struct part_t {
  tessera_weights_source_t source; // the file's name is the mapping's
  const void *data;
  void *copy; // NULL: the data lie in the file
  mapped_t *file;
  int users;
  struct part_t *next;
} part_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mapped_t *files;
static part_t *parts;

//===--- files ----------------------------------------------------------------===//

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static mapped_t *find_file(const struct stat *about) {
  mapped_t *file = files;
  while (file && !is_same(&file->about, about))
    file = file->next;
  return file;
}

static mapped_t *map(int descriptor, const char *path, const struct stat *about, tessera_error_t *error) {
  mapped_t *file = calloc(1, sizeof *file);
  char *name = strdup(path);
  void *data = file && name ? mmap(NULL, (size_t)about->st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  if (data == MAP_FAILED) {
    tessera_fail(error, "%s: %s", path, strerror(errno));
    free(name);
    free(file);
    return NULL;
  }
  *file = (mapped_t){{data, (size_t)about->st_size, name}, *about, 0, files};
  return files = file;
}

static mapped_t *open_locked(const char *path, tessera_error_t *error) {
  struct stat about;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 || fstat(descriptor, &about) != 0) {
    tessera_fail(error, "%s: %s", path, strerror(errno));
    if (descriptor >= 0)
      close(descriptor);
    return NULL;
  }
  mapped_t *file = NULL;
  if (!S_ISREG(about.st_mode))
    tessera_fail(error, "%s: is no regular file", path);
  else if (about.st_size <= 0)
    tessera_fail(error, "%s: is empty", path);
  else if (!(file = find_file(&about)))
    file = map(descriptor, path, &about, error);
  close(descriptor);
  if (file)
    ++file->users;
  return file;
}

static void release_locked(mapped_t *file) {
  if (--file->users)
    return;
  mapped_t **at = &files;
  while (*at != file)
    at = &(*at)->next;
  *at = file->next;
  munmap((void *)(uintptr_t)file->mapping.data, file->mapping.size);
  free((char *)(uintptr_t)file->mapping.path);
  free(file);
}

const tessera_mapping_t *tessera_mapping_open(const char *path, tessera_error_t *out_error) {
  pthread_mutex_lock(&lock);
  mapped_t *file = open_locked(path, out_error);
  pthread_mutex_unlock(&lock);
  return file ? &file->mapping : NULL;
}

void tessera_mapping_retain(const tessera_mapping_t *mapping) {
  pthread_mutex_lock(&lock);
  ++((mapped_t *)(uintptr_t)mapping)->users;
  pthread_mutex_unlock(&lock);
}

void tessera_mapping_release(const tessera_mapping_t *mapping) {
  if (!mapping)
    return;
  pthread_mutex_lock(&lock);
  release_locked((mapped_t *)(uintptr_t)mapping);
  pthread_mutex_unlock(&lock);
}

//===--- parts ----------------------------------------------------------------===//

static part_t *find_part(const mapped_t *file, const tessera_weights_source_t *source, size_t alignment) {
  for (part_t *part = parts; part; part = part->next)
    if (part->file == file && part->source.offset == source->offset && part->source.bytes == source->bytes &&
        part->source.checksum == source->checksum && (uintptr_t)part->data % alignment == 0)
      return part;
  return NULL;
}

static bool check(const mapped_t *file, const tessera_weights_source_t *source, tessera_error_t *error) {
  size_t size = file->mapping.size;
  if (source->offset > size || source->bytes > size - source->offset)
    return tessera_fail(error, "%s: has %zu bytes; %llu bytes at %llu are wanted: the file was cut or is another one",
                        source->file, size, (unsigned long long)source->bytes, (unsigned long long)source->offset);
  uint64_t seen = tessera_checksum(0, file->mapping.data + source->offset, source->bytes);
  return seen == source->checksum ||
         tessera_fail(error, "%s: %llu bytes at %llu have the checksum %016llx, expected %016llx: the file has changed",
                      source->file, (unsigned long long)source->bytes, (unsigned long long)source->offset,
                      (unsigned long long)seen, (unsigned long long)source->checksum);
}

// Takes the user of `file` over where it succeeds.
static part_t *add_part(mapped_t *file, const tessera_weights_source_t *source, size_t alignment,
                        tessera_error_t *error) {
  if (!check(file, source, error))
    return NULL;
  const unsigned char *data = file->mapping.data + source->offset;
  void *copy = NULL;
  part_t *part = malloc(sizeof *part);
  if (part && (uintptr_t)data % alignment)
    copy = aligned_alloc(alignment, (source->bytes + alignment - 1) / alignment * alignment);
  if (!part || ((uintptr_t)data % alignment && !copy)) {
    tessera_fail(error, "%s: out of memory", source->file);
    free(part);
    return NULL;
  }
  *part = (part_t){*source, copy ? memcpy(copy, data, source->bytes) : data, copy, file, 0, parts};
  part->source.file = file->mapping.path;
  return parts = part;
}

static void remove_part(part_t *part) {
  part_t **at = &parts;
  while (*at != part)
    at = &(*at)->next;
  *at = part->next;
  release_locked(part->file);
  free(part->copy);
  free(part);
}

const void *tessera_weights_take(const tessera_weights_source_t *source, size_t alignment, tessera_error_t *out_error) {
  pthread_mutex_lock(&lock);
  mapped_t *file = open_locked(source->file, out_error);
  part_t *part = file ? find_part(file, source, alignment) : NULL;
  bool is_known = part != NULL;
  if (file && !part)
    part = add_part(file, source, alignment, out_error);
  if (file && (is_known || !part))
    release_locked(file);
  if (part)
    ++part->users;
  const void *data = part ? part->data : NULL;
  pthread_mutex_unlock(&lock);
  return data;
}

static part_t *part_at(const void *data, size_t bytes) {
  part_t *part = parts;
  while (part && (part->data != data || part->source.bytes != bytes))
    part = part->next;
  return part;
}

void tessera_weights_release(const void *data, size_t bytes) {
  pthread_mutex_lock(&lock);
  part_t *part = part_at(data, bytes);
  if (part && --part->users == 0)
    remove_part(part);
  pthread_mutex_unlock(&lock);
}

bool tessera_weights_find(const void *data, size_t bytes, tessera_weights_source_t *out_source) {
  pthread_mutex_lock(&lock);
  part_t *part = part_at(data, bytes);
  if (part)
    *out_source = part->source;
  pthread_mutex_unlock(&lock);
  return part;
}
