// Our header of CUDA C++ and HIP (*.cuh), built into the library.
#pragma once

#include "lib/machine/embedded_text.h"

extern const TileEmbeddedText cudaHeaders[];
extern const size_t cudaHeadersCount;
