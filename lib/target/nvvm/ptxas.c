// NVIDIA's own tools as children, where they are installed: ptxas on files in a folder of its own, nvdisasm or
// cuobjdump on its result. Without them PTX is all there is, and the error says what is missing.
#include "lib/target/nvvm/nvvm.h"

#include "lib/target/child.h"
#include "lib/target/workshop.h"

#include <stdlib.h>
#include <string.h>

static bool findTool(const char *tool, char *path) {
  static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", NULL};
  return tileToolFind(&(TileToolPlaces){homes, "/bin", "/usr/local/cuda"}, tool, path);
}

//===--- figures ---------------------------------------------------------------------------------===//

// The number before `unit` in a line, 0 when it is not there: "… 12 bytes spill stores".
static int64_t numberBefore(const char *line, const char *end, const char *unit) {
  const char *at = strstr(line, unit);
  if (!at || at > end)
    return 0;
  while (at > line && at[-1] == ' ')
    --at;
  while (at > line && at[-1] >= '0' && at[-1] <= '9')
    --at;
  return strtoll(at, NULL, 10);
}

static TileKernelFigures *addKernel(TileArtifact *artifact, const char *line) {
  const char *name = strchr(line, '\'');
  TileKernelFigures *figures = tileArtifactAddKernel(artifact);
  if (figures && name)
    snprintf(figures->name, sizeof figures->name, "%.*s", (int)strcspn(name + 1, "'\n"), name + 1);
  return figures;
}

// ptxas -v: "Compiling entry function 'k'", "… bytes spill stores, … bytes spill loads", "Used 32 registers, … bytes
// smem".
static void readFigures(const char *text, TileArtifact *artifact) {
  TileKernelFigures *kernel = NULL;
  for (const char *line = text, *end; line && *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    const char *compiling = strstr(line, "Compiling entry function");
    if (compiling && compiling < end)
      kernel = addKernel(artifact, compiling);
    if (!kernel)
      continue;
    kernel->spillBytes += numberBefore(line, end, "bytes spill stores") + numberBefore(line, end, "bytes spill loads");
    kernel->registers += numberBefore(line, end, "registers");
    kernel->sharedBytes += numberBefore(line, end, "bytes smem");
  }
}

//===--- the tools ---------------------------------------------------------------------------------===//

static bool findAssembler(char *path, tessera_error_t *error) {
  return findTool("ptxas", path) ||
         tessera_fail(error, "no ptxas: it is in none of CUDA_HOME, CUDA_PATH, PATH and /usr/local/cuda; without it "
                             "there is PTX only (--tile-to-ptx)");
}

bool tileNvvmHasAssembler(tessera_error_t *error) {
  char tool[TilePathCapacity];
  return findAssembler(tool, error);
}

bool tileNvvmAssemble(const TileArtifact *ptx, const char *chip, TileArtifact *cubin, tessera_error_t *error) {
  char tool[TilePathCapacity], arch[64];
  if (!findAssembler(tool, error))
    return false;
  TileWorkshop workshop = {.isOpen = false};
  TileChildResult result = {NULL};
  snprintf(arch, sizeof arch, "-arch=%s", chip);
  const char *const arguments[] = {tool, "-v", arch, workshop.in, "-o", workshop.out, NULL};
  bool ok = tileWorkshopOpen(&workshop, ptx, error) &&
            tileChildRun(&(TileChild){.arguments = arguments}, &result, error) &&
            tileWorkshopRead(&workshop, cubin, error);
  if (ok) // ptxas reports on either stream, by version
    readFigures(result.complaintsSize ? result.complaints : result.output ? result.output : "", cubin);
  tileChildDestroy(&result);
  tileWorkshopClose(&workshop);
  return ok;
}

bool tileNvvmDisassemble(const TileArtifact *cubin, TileArtifact *listing, tessera_error_t *error) {
  char tool[TilePathCapacity];
  bool hasNvdisasm = findTool("nvdisasm", tool);
  if (!hasNvdisasm && !findTool("cuobjdump", tool))
    return tessera_fail(error, "no nvdisasm and no cuobjdump: they are in none of CUDA_HOME, CUDA_PATH, PATH and "
                               "/usr/local/cuda; the cubin itself comes without them (--tile-to-cubin)");
  TileWorkshop workshop = {.isOpen = false};
  TileChildResult result = {NULL};
  const char *const disassemble[] = {tool, workshop.in, NULL}, *const dump[] = {tool, "-sass", workshop.in, NULL};
  bool ok = tileWorkshopOpen(&workshop, cubin, error) &&
            tileChildRun(&(TileChild){.arguments = hasNvdisasm ? disassemble : dump}, &result, error) &&
            tileArtifactCopy(listing, result.output ? result.output : "", result.outputSize, error);
  tileChildDestroy(&result);
  tileWorkshopClose(&workshop);
  return ok;
}
