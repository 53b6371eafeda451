// Runs clang on a source file of CUDA C++ or HIP and reads the LLVM IR that it writes. Clang needs no toolkit: our own
// header (kernel_language.cuh) stands in front of the file, and the toolkits' headers are empty files to it.
#include "lib/import/cuda/kernel_language.h"
#include "lib/import/cuda/parts.h"
#include "lib/support/child.h"
#include "lib/support/temporary.h"
#include "lib/support/text.h"

#include "llvm-c/IRReader.h"

#include <errno.h>

enum { PathBytes = PATH_MAX + 32, Seconds = 120 };
const char cudaHeaderName[] = "/kernel_language.cuh";

//===--- files ----------------------------------------------------------------------------------------===//

static bool writeFile(const char *folder, const char *name, const void *text, size_t length, tessera_error_t *error) {
  char path[PathBytes];
  snprintf(path, sizeof path, "%s%s", folder, name);
  FILE *file = fopen(path, "wbe");
  bool ok = file && fwrite(text, 1, length, file) == length;
  ok = (!file || fclose(file) == 0) && ok;
  return ok || tessera_fail(error, "%s: cannot be written", path);
}

// The toolkits' headers whose content our header has, as an overlay on the folder that clang searches first.
static bool writeOverlay(const char *folder, tessera_error_t *error) {
  static const char *const names[] = {"cuda.h",
                                      "cuda_runtime.h",
                                      "cuda_runtime_api.h",
                                      "cuda_fp16.h",
                                      "cuda_bf16.h",
                                      "device_launch_parameters.h",
                                      "cuda_pipeline.h",
                                      "hip/hip_runtime.h",
                                      "hip/hip_runtime_api.h",
                                      "hip/hip_fp16.h",
                                      "hip/hip_bf16.h",
                                      "cuda_pipeline_primitives.h",
                                      "cooperative_groups.h",
                                      "cooperative_groups/reduce.h",
                                      "cooperative_groups/scan.h",
                                      "cooperative_groups/memcpy_async.h",
                                      "hip/hip_cooperative_groups.h"};
  tessera_text_t text = {NULL};
  tessera_text_format(&text, "{\"version\": 0, \"roots\": [");
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    tessera_text_format(&text,
                        "%s{\"type\": \"file\", \"name\": \"%s/include/%s\", \"external-contents\": \"%s/empty.h\"}",
                        i ? ", " : "", folder, names[i], folder);
  tessera_text_format(&text, "]}\n");
  bool ok = text.failed ? tessera_fail(error, "out of memory")
                        : writeFile(folder, "/overlay.yaml", text.data, text.size, error);
  tessera_text_free(&text);
  return ok;
}

static bool writeHeaders(const char *folder, tessera_error_t *error) {
  return writeFile(folder, cudaHeaderName, cudaHeaders->text, cudaHeaders->length, error) &&
         writeFile(folder, "/empty.h", "", 0, error) && writeOverlay(folder, error);
}

//===--- clang ----------------------------------------------------------------------------------------===//

// The first clang that can be started. `told`: the user's choice, which has no second.
static int runClang(const char *const *arguments, const char *told, int *status) {
  static const char *const names[] = {"clang-22", "clang", "/usr/lib/llvm-22/bin/clang"};
  if (told)
    return tessera_child_run(&(tessera_child_t){told, arguments, .seconds = Seconds}, status);
  int why = ENOENT;
  for (size_t i = 0; i < sizeof names / sizeof *names && why == ENOENT; ++i)
    why = tessera_child_run(&(tessera_child_t){names[i], arguments, .seconds = Seconds}, status);
  return why;
}

static bool callClang(const char *path, const char *chip, const char *folder, tessera_error_t *error) {
  bool isAmd = strncmp(chip, "gfx", 3) == 0;
  const char *told = getenv("TESSERA_CLANG");
  char arch[64], overlay[PathBytes], header[PathBytes], include[PathBytes], out[PathBytes], why[128];
  snprintf(arch, sizeof arch, isAmd ? "--offload-arch=%s" : "--cuda-gpu-arch=%s", chip);
  snprintf(overlay, sizeof overlay, "%s/overlay.yaml", folder);
  snprintf(header, sizeof header, "%s%s", folder, cudaHeaderName);
  snprintf(include, sizeof include, "-I%s/include", folder);
  snprintf(out, sizeof out, "%s/out.bc", folder);
  const char *const arguments[] = {"clang",
                                   "-x",
                                   isAmd ? "hip" : "cuda",
                                   arch,
                                   "--cuda-device-only",
                                   isAmd ? "-nogpuinc" : "-nocudainc",
                                   isAmd ? "-nogpulib" : "-nocudalib",
                                   "-std=c++17",
                                   "-O1",
                                   "-g",
                                   "-fstandalone-debug",
                                   "-fdeclspec",
                                   "-Wno-unknown-cuda-version",
                                   "-Wno-unused-command-line-argument",
                                   "--cuda-noopt-device-debug", // -g alone leaves the types out
                                   "-ivfsoverlay",
                                   overlay,
                                   include,
                                   "-include",
                                   header,
                                   "-emit-llvm",
                                   "-c",
                                   path,
                                   "-o",
                                   out,
                                   NULL};
  int status, failure = runClang(arguments, told && *told ? told : NULL, &status);
  if (failure == ENOENT)
    return tessera_fail(error,
                        "%s: no clang to compile it: install clang 22 (Debian and apt.llvm.org: clang-22), or "
                        "name a clang in TESSERA_CLANG",
                        path);
  if (failure)
    return tessera_fail(error, "%s: clang cannot be started: %s", path, strerror(failure));
  return tessera_child_succeeded(status) || tessera_fail(error, "%s: does not compile for %s: clang: %s", path, chip,
                                                         tessera_child_describe(status, why, sizeof why));
}

//===--- LLVM IR ----------------------------------------------------------------------------------------===//

// Without the alignments of vectors (v16:16) and the spaces whose pointers are no integers (ni:7:8), which upstream's
// importer has no words for. The alignments are the natural ones.
static void simplifyLayout(LLVMModuleRef module) {
  char *kept = strdup(LLVMGetDataLayoutStr(module)), *rest = kept, *to = kept;
  for (char *token; kept && (token = strtok_r(rest, "-", &rest));) {
    if (token[0] == 'v' || strncmp(token, "ni", 2) == 0)
      continue;
    size_t length = strlen(token);
    if (to != kept)
      *to++ = '-';
    memmove(to, token, length);
    to += length;
  }
  if (kept) {
    *to = 0;
    LLVMSetDataLayout(module, kept);
  }
  free(kept);
}

static LLVMModuleRef readBitcode(LLVMContextRef context, const char *path, const char *folder, tessera_error_t *error) {
  char out[PathBytes], *message = NULL;
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  snprintf(out, sizeof out, "%s/out.bc", folder);
  if (!LLVMCreateMemoryBufferWithContentsOfFile(out, &buffer, &message) &&
      !LLVMParseIRInContext(context, buffer, &module, &message)) {
    simplifyLayout(module);
    return module;
  }
  tessera_fail(error, "%s: what clang wrote cannot be read (is it clang 22?): %s", path, message ? message : "");
  LLVMDisposeMessage(message);
  return NULL;
}

LLVMModuleRef cudaCompile(LLVMContextRef context, const char *path, const char *chip, tessera_error_t *error) {
  tessera_folder_t folder;
  if (!tessera_folder_make(&folder, error))
    return NULL;
  LLVMModuleRef module = NULL;
  if (writeHeaders(folder.path, error) && callClang(path, chip, folder.path, error))
    module = readBitcode(context, path, folder.path, error);
  tessera_folder_remove(&folder);
  return module;
}
