// Loads a program: whole file (elf(5)), dlopen, symbols, version, machine, entry, signature. See program_file.h.
// Expects: the runtime in the same library or executable as this file, which shows the runtime's symbols (-rdynamic).
// Leaves: nothing loaded after a failure is unloaded.
#include "lib/run/program_file.h"

#include "lib/machine/cpu_feature.h"
#include "lib/runtime/bound_weights.h"
#include "lib/support/grow.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

//===--- the file -------------------------------------------------------------===//
// dlopen dies (SIGBUS) of a file that was cut short, so every segment must lie inside the file. A checksum finds any
// other damage.

static bool is_shared_object(const Elf64_Ehdr *header) {
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_type == ET_DYN && header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

// The code of a damaged program may do anything, so every byte is looked at before any is loaded. A shared object
// without the mark is not checked, and refused later: its symbols say whose it is.
static bool check_end(FILE *file, size_t size, const char *path, bool *out_is_checked, tessera_error_t *error) {
  tessera_program_end_t found;
  char bytes[1 << 14];
  uint64_t checksum = 0;
  size_t length = size > sizeof found ? size - sizeof found : 0, count;
  if (fseek(file, 0, SEEK_SET) != 0)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  for (size_t left = length; left; left -= count) {
    count = left < sizeof bytes ? left : sizeof bytes;
    if (fread(bytes, 1, count, file) != count)
      return tessera_fail(error, "%s: cannot be read", path);
    checksum = tessera_checksum(checksum, bytes, count);
  }
  *out_is_checked = length && fread(&found, sizeof found, 1, file) == 1 &&
                    memcmp(found.mark, TESSERA_PROGRAM_MARK, sizeof found.mark) == 0;
  return !*out_is_checked || found.checksum == checksum ||
         tessera_fail(error, "%s: is damaged: its checksum is %016llx, expected %016llx", path,
                      (unsigned long long)checksum, (unsigned long long)found.checksum);
}

static bool check(FILE *file, const char *path, bool *out_is_checked, tessera_error_t *error) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  if (fread(&header, sizeof header, 1, file) != 1 || !is_shared_object(&header))
    return tessera_fail(error, "%s: is not a program: not a shared object (ELF, 64 bits)", path);
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end < 0)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  bool whole = header.e_phoff <= (uint64_t)end;
  if (whole && fseek(file, (long)header.e_phoff, SEEK_SET) != 0)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  for (int i = 0; i < header.e_phnum && whole; ++i)
    whole = fread(&segment, sizeof segment, 1, file) == 1 &&
            (segment.p_type != PT_LOAD || lies_inside(segment.p_offset, segment.p_filesz, (uint64_t)end));
  return (whole || tessera_fail(error, "%s: is cut short at %ld bytes", path, end)) &&
         check_end(file, (size_t)end, path, out_is_checked, error);
}

static bool is_whole(const char *path, bool *out_is_checked, tessera_error_t *error) {
  FILE *file = fopen(path, "rbe");
  if (!file)
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  bool ok = check(file, path, out_is_checked, error);
  fclose(file);
  return ok;
}

//===--- loading --------------------------------------------------------------===//

// The library that this code is in.
static void *open_self(void) {
  Dl_info info;
  void *self =
      dladdr((void *)(uintptr_t)open_self, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
  return self ? self : dlopen(NULL, RTLD_LAZY); // an executable
}

// What the dynamic section of a program says of the functions that it calls and does not have.
typedef struct imports_t {
  const Elf64_Rela *slots;
  size_t count;
  const Elf64_Sym *symbols;
  const char *names;
} imports_t;

static imports_t find_imports(const struct link_map *map) {
  imports_t imports = {.slots = NULL};
  for (const Elf64_Dyn *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
    switch (entry->d_tag) {
    case DT_JMPREL:
      imports.slots = (const Elf64_Rela *)entry->d_un.d_ptr;
      break;
    case DT_PLTRELSZ:
      imports.count = entry->d_un.d_val / sizeof(Elf64_Rela);
      break;
    case DT_SYMTAB:
      imports.symbols = (const Elf64_Sym *)entry->d_un.d_ptr;
      break;
    case DT_STRTAB:
      imports.names = (const char *)entry->d_un.d_ptr;
      break;
    default:
      break;
    }
  return imports;
}

// Points every call out of the program at the function that this library sees. The loader would look among the symbols
// that the whole process sees, where a library that was loaded for one user only (a module of Python) shows none.
static bool bind_calls(void *library, const char *path, tessera_error_t *error) {
  struct link_map *map;
  void *self = open_self();
  if (!self || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return tessera_fail(error, "%s: cannot be loaded: %s", path, dlerror());
  imports_t imports = find_imports(map);
  bool ok = true;
  for (size_t i = 0; i < imports.count && ok; ++i) {
    const Elf64_Sym *symbol = &imports.symbols[ELF64_R_SYM(imports.slots[i].r_info)];
    if (symbol->st_shndx != SHN_UNDEF)
      continue; // the program has it itself
    const char *name = imports.names + symbol->st_name;
    void *address = dlsym(self, name);
    if (address)
      memcpy((char *)map->l_addr + imports.slots[i].r_offset, &address, sizeof address);
    ok = address || tessera_fail(error, "%s: calls '%s', which is not there", path, name);
  }
  dlclose(self);
  return ok;
}

static bool open_library(tessera_program_t *program, const char *path, bool *out_is_checked, tessera_error_t *error) {
  char absolute[PATH_MAX]; // dlopen searches for a name without a slash elsewhere
  if (!realpath(path, absolute))
    return tessera_fail(error, "%s: %s", path, strerror(errno));
  if (!is_whole(path, out_is_checked, error))
    return false;
  program->library = dlopen(absolute, RTLD_LAZY | RTLD_LOCAL);
  return program->library || tessera_fail(error, "%s: cannot be loaded: %s", path, dlerror());
}

static bool open_manifest(tessera_program_t *program, const char *path, bool is_checked, tessera_error_t *error) {
  const tessera_manifest_t *manifest = dlsym(program->library, "tessera_manifest");
  if (!manifest)
    return tessera_fail(error, "%s: is not a program: it has no tessera_manifest", path);
  if (manifest->version != TESSERA_MANIFEST_VERSION)
    return tessera_fail(error, "%s: is a program of version %lld, expected version %d", path,
                        (long long)manifest->version, TESSERA_MANIFEST_VERSION);
  program->manifest = manifest;
  return is_checked || tessera_fail(error, "%s: is damaged: it does not end with its checksum", path);
}

static bool bind_weights(const tessera_program_t *program, const char *path, tessera_error_t *error) {
  tessera_error_t why;
  return tessera_bind_weights(program->manifest, &why) || tessera_fail(error, "%s: weights: %s", path, why.text);
}

static bool check_machine(const tessera_program_t *program, const char *path, tessera_error_t *error) {
  const char *lacking;
  size_t length = tileCpuLacks(program->manifest->needs, &lacking);
  return !length || tessera_fail(error, "%s: was made for '%s' and needs %.*s, which this machine lacks", path,
                                 program->manifest->chip, (int)length, lacking);
}

//===--- the entry ------------------------------------------------------------===//

static const tessera_entry_t *find_entry(const tessera_manifest_t *manifest, const char *path, const char *name,
                                         tessera_error_t *error) {
  TESSERA_LIST(known);
  for (int64_t i = 0; i < manifest->num_entries; ++i) {
    if (strcmp(manifest->entries[i].name, name) == 0)
      return &manifest->entries[i];
    tessera_list_add(&known, "%s", manifest->entries[i].name);
  }
  tessera_fail(error, "%s: has no entry '%s'; it has: %s", path, name, known.length ? known.text : "none");
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

static bool take_entry(tessera_program_t *program, const tessera_entry_t *entry, const char *path,
                       tessera_error_t *error) {
  tessera_signature_t *signature = &program->signature;
  program->record = entry;
  program->entry = entry->packed;
  program->entry_into = entry->packed_into;
  int64_t arguments = entry->num_arguments, results = entry->num_results, most = INT32_MAX / 2;
  if (arguments < 0 || arguments > most || results < 0 || results > most)
    return tessera_fail(error, "%s: entry '%s' has %lld arguments and %lld results", path, entry->name,
                        (long long)arguments, (long long)results);
  return tessera_signature_create(signature, (int)arguments, (int)results, error) &&
         ((read_types(entry->arguments, arguments, signature->arguments) &&
           read_types(entry->results, results, signature->results)) ||
          tessera_fail(error, "%s: entry '%s' has a type that is unknown here", path, entry->name));
}

bool tessera_program_load(tessera_program_t *program, const char *path, const char *entry, tessera_error_t *error) {
  *program = (tessera_program_t){.library = NULL};
  bool is_checked;
  if (!open_library(program, path, &is_checked, error) || !open_manifest(program, path, is_checked, error) ||
      !check_machine(program, path, error) || !bind_calls(program->library, path, error) ||
      !bind_weights(program, path, error))
    return false;
  const tessera_entry_t *found = find_entry(program->manifest, path, entry, error);
  return found && take_entry(program, found, path, error);
}

void tessera_program_unload(tessera_program_t *program) {
  tessera_signature_destroy(&program->signature);
  if (program->manifest)
    tessera_release_weights(program->manifest);
  if (program->library)
    dlclose(program->library);
  *program = (tessera_program_t){.library = NULL};
}
