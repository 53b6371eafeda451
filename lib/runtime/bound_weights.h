// bound_weights.h - constants of a compiled program that lie in files beside it (manifest.h): mapped when the program
// is loaded, or when it is first called, and checked. Programs and processes that use one file share its pages.
//
//   const tessera_manifest_t *manifest = dlsym(program, "tessera_manifest");
//   tessera_error_t error;
//   if (!tessera_bind_weights(manifest, &error))
//     fprintf(stderr, "error: %s\n", error.text); // encoder.onnx: No such file or directory
#pragma once

#include "lib/runtime/manifest.h"

// Maps what the program names, once; a program without such constants has nothing to do. A relative path starts at the
// program's folder. False after an error that names the file: it is missing, was cut, or has other bytes than the
// program was made with. Several threads may call.
bool tessera_bind_weights(const tessera_manifest_t *manifest, tessera_error_t *out_error);

// What entries of such programs call first. An error is raised (call.h). Outside tessera_call it is printed, and the
// function returns false: the entry then computes nothing. Its results have no data: descriptors of zeros, numbers that
// are NaN or -1, and tessera_spoil for the buffers of NAME_into. tessera_take_error (call.h) tells the caller.
bool tessera_need_weights(const tessera_manifest_t *manifest);

// Sets all bits of a contiguous buffer, given by its descriptor (tessera.h): floats become NaN, integers -1.
void tessera_spoil(const void *descriptor, int64_t rank, int64_t element_bytes);

// Gives back what tessera_bind_weights has mapped. No entry of the program may be running.
void tessera_release_weights(const tessera_manifest_t *manifest);
