// Links objects to a shared object: a linker as a child process on files in a folder of its own.
// Why a child: lld is a library only in C++, and a linker's failure must not be ours. Cost: 6 to 30 ms.
// Expects: position-independent code. Leaves: the bytes of the shared object; nothing on disk.
#include "lib/target/cpu/ahead_of_time.h"

#include "lib/runtime/tessera.h"
#include "lib/support/child.h"
#include "lib/support/temporary.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PathCapacity = PATH_MAX + 64 };

//===--- files ----------------------------------------------------------------===//

typedef struct Workshop {
  tessera_folder_t folder;
  char objects[TileCpuMaxObjects][PathCapacity], program[PathCapacity], log[PathCapacity];
  int numObjects;
} Workshop;

static bool openWorkshop(Workshop *workshop, tessera_error_t *error) {
  if (!tessera_folder_make(&workshop->folder, error))
    return false;
  for (int i = 0; i < TileCpuMaxObjects; ++i)
    snprintf(workshop->objects[i], PathCapacity, "%s/part%d.o", workshop->folder.path, i);
  snprintf(workshop->program, PathCapacity, "%s/program.so", workshop->folder.path);
  snprintf(workshop->log, PathCapacity, "%s/log", workshop->folder.path);
  return true;
}

static bool writeFile(const char *path, const void *data, size_t size, tessera_error_t *error) {
  FILE *file = fopen(path, "wbe");
  bool ok = file && fwrite(data, 1, size, file) == size;
  ok = (!file || fclose(file) == 0) && ok;
  return ok || tessera_fail(error, "%s: cannot be written: %s", path, strerror(errno));
}

// Its content, with a zero behind it and room for the end of a program.
static bool readFile(const char *path, TileArtifact *content, tessera_error_t *error) {
  FILE *file = fopen(path, "rbe");
  long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  *content = (TileArtifact){size >= 0 ? malloc((size_t)size + sizeof(tessera_program_end_t) + 1) : NULL, (size_t)size};
  bool ok =
      content->data && fseek(file, 0, SEEK_SET) == 0 && fread(content->data, 1, content->size, file) == content->size;
  if (ok)
    ((char *)content->data)[content->size] = '\0';
  else
    tileArtifactDestroy(content);
  if (file)
    fclose(file);
  return ok || tessera_fail(error, "%s: cannot be read", path);
}

//===--- the linker -----------------------------------------------------------===//

// bin/ld.lld beside the lib/ that our LLVM was loaded from.
static bool findBesideLlvm(char *path, size_t capacity) {
  Dl_info info;
  char library[PATH_MAX];
  if (!dladdr((void *)(uintptr_t)LLVMContextCreate, &info) || !realpath(info.dli_fname, library))
    return false;
  for (int i = 0; i < 2; ++i) {
    char *slash = strrchr(library, '/');
    if (slash)
      *slash = '\0';
  }
  snprintf(path, capacity, "%s/bin/ld.lld", library);
  return access(path, X_OK) == 0;
}

// "lazy": the runtime's loader binds the calls (lib/run/program_file.c), after dlopen.
// 0 when it ran, with how it ended in `status`; else why it could not be started.
static int startLinker(const char *linker, const Workshop *workshop, int *status) {
  const char *arguments[9 + TileCpuMaxObjects + 1] = {
      linker, "-shared", "--gc-sections", "-z", "lazy", "--hash-style=gnu", "-s", "-o", workshop->program};
  for (int i = 0; i < workshop->numObjects; ++i)
    arguments[9 + i] = workshop->objects[i];
  const tessera_child_t child = {linker, arguments, .log = workshop->log, .seconds = TESSERA_CHILD_SECONDS};
  return tessera_child_run(&child, status);
}

// The linker's complaint becomes the error.
static bool finish(const char *linker, int status, const Workshop *workshop, tessera_error_t *error) {
  TileArtifact log;
  char how[64];
  if (tessera_child_succeeded(status))
    return true;
  if (!readFile(workshop->log, &log, NULL))
    return tessera_fail(error, "%s failed: %s", linker, tessera_child_describe(status, how, sizeof how));
  tessera_fail(error, "%s failed: %s", linker,
               log.size ? (char *)log.data : tessera_child_describe(status, how, sizeof how));
  tileArtifactDestroy(&log);
  return false;
}

static bool runLinker(const Workshop *workshop, tessera_error_t *error) {
  char beside[PATH_MAX];
  const char *const linkers[] = {findBesideLlvm(beside, sizeof beside) ? beside : "ld.lld-22", "ld.lld-22", "ld.lld",
                                 "ld"};
  for (size_t i = 0; i < sizeof linkers / sizeof *linkers; ++i) {
    int status, why = startLinker(linkers[i], workshop, &status);
    if (!why)
      return finish(linkers[i], status, workshop, error);
    if (why != ENOENT)
      return tessera_fail(error, "%s: cannot be started: %s", linkers[i], strerror(why));
  }
  return tessera_fail(error, "no linker: neither ld.lld-22, ld.lld nor ld is there (Debian package lld-22)");
}

// The loader refuses a file that changed since (lib/run/program_file.c).
static void addEnd(TileArtifact *program) {
  tessera_program_end_t end = {.mark = TESSERA_PROGRAM_MARK};
  char *data = program->data;
  end.checksum = tessera_checksum(0, data, program->size);
  memcpy(data + program->size, &end, sizeof end);
  program->size += sizeof end;
  data[program->size] = '\0';
}

bool tileCpuLink(const tessera_bytes_t *objects, int count, TileArtifact *program, tessera_error_t *error) {
  Workshop workshop;
  if (!openWorkshop(&workshop, error))
    return false;
  bool ok = true;
  for (workshop.numObjects = 0; workshop.numObjects < count && ok; ++workshop.numObjects)
    ok = writeFile(workshop.objects[workshop.numObjects], objects[workshop.numObjects].data,
                   objects[workshop.numObjects].size, error);
  ok = ok && runLinker(&workshop, error) && readFile(workshop.program, program, error);
  if (ok)
    addEnd(program);
  tessera_folder_remove(&workshop.folder);
  return ok;
}
