// Loads a program: dlopen, version, machine, entry, signature. See loaded_program.h.
// Expects: an executable that shows the runtime's symbols (-rdynamic). Leaves: nothing loaded after a failure is
// unloaded.
#include "tools/tile-exec/loaded_program.h"

#include "tools/tile-exec/elf_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

//===--- loading --------------------------------------------------------------===//

static bool open_library(program_t *program, const char *path, tessera_error_t *error) {
  char absolute[PATH_MAX]; // dlopen searches for a name without a slash elsewhere
  if (!realpath(path, absolute))
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  if (!elf_file_is_whole(path, error))
    return false;
  program->library = dlopen(absolute, RTLD_NOW | RTLD_LOCAL);
  return program->library || tessera_fail(error, "%s: cannot be loaded: %s", path, dlerror());
}

static bool open_manifest(program_t *program, const char *path, tessera_error_t *error) {
  const tessera_manifest_t *manifest = dlsym(program->library, "tessera_manifest");
  if (!manifest)
    return tessera_fail(error, "%s: is not a program: it has no tessera_manifest", path);
  if (manifest->version != TESSERA_MANIFEST_VERSION)
    return tessera_fail(error, "%s: is a program of version %lld, expected version %d", path,
                        (long long)manifest->version, TESSERA_MANIFEST_VERSION);
  program->manifest = manifest;
  return true;
}

#ifdef __x86_64__
static bool machine_has(const char *level) {
  __builtin_cpu_init();
  if (strcmp(level, "x86-64-v4") == 0)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (strcmp(level, "x86-64-v3") == 0)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  return true;
}
#else
static bool machine_has(const char *level) { return level[0] == '\0'; }
#endif

static bool check_machine(const program_t *program, const char *path, tessera_error_t *error) {
  return machine_has(program->manifest->needs) ||
         tessera_fail(error, "%s: was made for '%s' and needs a machine of level %s, which this is not", path,
                      program->manifest->chip, program->manifest->needs);
}

//===--- the entry ------------------------------------------------------------===//

static const tessera_entry_t *find_entry(const tessera_manifest_t *manifest, const char *path, const char *name,
                                         tessera_error_t *error) {
  char known[512] = "none";
  for (int64_t i = 0, length = 0; i < manifest->num_entries; ++i) {
    if (strcmp(manifest->entries[i].name, name) == 0)
      return &manifest->entries[i];
    if (length < (int64_t)sizeof known)
      length +=
          snprintf(known + length, sizeof known - (size_t)length, "%s%s", i ? ", " : "", manifest->entries[i].name);
  }
  tessera_fail(error, "%s: has no entry '%s'; it has: %s", path, name, known);
  return NULL;
}

static bool find_element(const char *name, tessera_element_t *out_element) {
  for (int i = 0; i < TESSERA_ELEMENT_COUNT; ++i)
    if (strcmp(tessera_element_name((tessera_element_t)i), name) == 0) {
      *out_element = (tessera_element_t)i;
      return true;
    }
  return false;
}

static bool read_sparse(const tessera_sparse_type_t *type, tessera_sparse_t *sparse) {
  if (!type)
    return true;
  *sparse = (tessera_sparse_t){.num_values = (int)type->num_values,
                               .num_components = (int)type->num_components,
                               .rank = (int)type->rank,
                               .cell = {type->cell_rows, type->cell_columns},
                               .axis = type->axis,
                               .places = type->places,
                               .is_unordered = type->is_unordered != 0,
                               .scheme = (tessera_sparse_scheme_t)type->scheme};
  if (type->scheme < 0 || type->scheme >= TESSERA_SPARSE_PARTS || type->num_values < 1 ||
      type->num_values > TESSERA_MAX_VALUES || type->rank < 1 || type->rank > TESSERA_SPARSE_RANK)
    return false;
  snprintf(sparse->format, sizeof sparse->format, "%s", type->format);
  snprintf(sparse->encoding, sizeof sparse->encoding, "%s", type->encoding);
  for (int i = 0; i < sparse->rank; ++i)
    sparse->shape[i] = type->shape[i];
  return true;
}

static bool read_types(const tessera_type_t *types, int64_t count, tessera_value_t *values) {
  for (int64_t i = 0; i < count; ++i) {
    values[i] = (tessera_value_t){.in_memory = types[i].kind != TESSERA_SCALAR,
                                  .is_memref = types[i].kind == TESSERA_MEMREF,
                                  .rank = (int)types[i].rank};
    if (types[i].rank < 0 || types[i].rank > TESSERA_MAX_RANK || !find_element(types[i].element, &values[i].element) ||
        !read_sparse(types[i].sparse, &values[i].sparse) || i + tessera_value_span(&values[i]) > count)
      return false;
    for (int64_t k = 0; k < types[i].rank; ++k)
      values[i].shape[k] = types[i].shape[k];
  }
  return true;
}

static bool take_entry(program_t *program, const tessera_entry_t *entry, const char *path, tessera_error_t *error) {
  tessera_signature_t *signature = &program->signature;
  program->entry = entry->packed;
  program->entry_into = entry->packed_into;
  int64_t arguments = entry->num_arguments, results = entry->num_results, most = INT32_MAX / 2;
  if (arguments < 0 || arguments > most || results < 0 || results > most)
    return tessera_fail(error, "%s: entry '%s' has %lld arguments and %lld results", path, entry->name,
                        (long long)arguments, (long long)results);
  return tessera_signature_create(signature, (int)arguments, (int)results, error) &&
         ((read_types(entry->arguments, arguments, signature->arguments) &&
           read_types(entry->results, results, signature->results)) ||
          tessera_fail(error, "%s: entry '%s' has a type that tile-exec does not know", path, entry->name));
}

bool program_load(program_t *program, const char *path, const char *entry, tessera_error_t *error) {
  *program = (program_t){.library = NULL};
  if (!open_library(program, path, error) || !open_manifest(program, path, error) ||
      !check_machine(program, path, error))
    return false;
  const tessera_entry_t *found = find_entry(program->manifest, path, entry, error);
  return found && take_entry(program, found, path, error);
}

void program_unload(program_t *program) {
  tessera_signature_destroy(&program->signature);
  if (program->library)
    dlclose(program->library);
  *program = (program_t){.library = NULL};
}
