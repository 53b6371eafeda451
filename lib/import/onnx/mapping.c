// Maps a file for reading. See mapping.h.
#include "lib/import/onnx/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

OnnxMapping *onnxMappingOpen(const char *path, tessera_error_t *error) {
  OnnxMapping *mapping = calloc(1, sizeof *mapping);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  bool ok = mapping && file >= 0 && fstat(file, &about) == 0;
  if (!ok)
    tessera_fail(error, "%s: %s", path, strerror(errno));
  else if (!S_ISREG(about.st_mode) || about.st_size <= 0)
    ok = tessera_fail(error, "%s: %s", path, S_ISREG(about.st_mode) ? "is empty" : "is no regular file");
  void *data = ok ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (ok && data == MAP_FAILED)
    ok = tessera_fail(error, "%s: %s", path, strerror(errno));
  if (file >= 0)
    close(file);
  if (!ok) {
    free(mapping);
    return NULL;
  }
  *mapping = (OnnxMapping){data, (size_t)about.st_size, NULL, 1};
  return mapping;
}

OnnxMapping *onnxMappingRetain(OnnxMapping *mapping) {
  __atomic_add_fetch(&mapping->users, 1, __ATOMIC_RELAXED);
  return mapping;
}

void onnxMappingRelease(OnnxMapping *mapping) {
  if (!mapping || __atomic_sub_fetch(&mapping->users, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  munmap((void *)mapping->data, mapping->size);
  free(mapping);
}
