// Compiled, not run, against CUDA's own header (cuda_header.test): our prototypes of its functions (vendor.h) must pass
// what its prototypes take, and our constants be its constants. Handles of theirs are pointers, CUdeviceptr is one too.
#include "lib/runtime/drivers/vendor.h"

#include <cuda.h>

#define SAME_SIZE(theirs, ours) _Static_assert(sizeof(theirs) == sizeof(ours), #theirs " is no " #ours)
SAME_SIZE(CUresult, int);
SAME_SIZE(CUdevice, int);
SAME_SIZE(CUjit_option, int);
SAME_SIZE(CUdevice_attribute, int);
SAME_SIZE(CUfunction_attribute, int);
SAME_SIZE(CUdeviceptr, void *);
SAME_SIZE(CUcontext, void *);
SAME_SIZE(CUstream, void *);
SAME_SIZE(CUevent, void *);
SAME_SIZE(CUmodule, void *);
SAME_SIZE(CUfunction, void *);

#define SAME(theirs, ours) _Static_assert((int)(theirs) == (int)(ours), #theirs)
SAME(CUDA_SUCCESS, 0);
SAME(CU_MEM_ATTACH_GLOBAL, TESSERA_ATTACH_GLOBAL);
SAME(CU_STREAM_NON_BLOCKING, TESSERA_STREAM_NON_BLOCKING);
SAME(CU_EVENT_DEFAULT, 0);
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, TESSERA_DYNAMIC_SHARED_ATTRIBUTE);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, TESSERA_MAJOR_ATTRIBUTE);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, TESSERA_MINOR_ATTRIBUTE);
SAME(CU_JIT_ERROR_LOG_BUFFER, TESSERA_ERROR_LOG);
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, TESSERA_ERROR_LOG_BYTES);
// What the stand-in says, and device_test.c expects:
SAME(CUDA_ERROR_INVALID_VALUE, 1);
SAME(CUDA_ERROR_OUT_OF_MEMORY, 2);
SAME(CUDA_ERROR_INVALID_DEVICE, 101);
SAME(CUDA_ERROR_INVALID_IMAGE, 200);
SAME(CUDA_ERROR_INVALID_CONTEXT, 201);
SAME(CUDA_ERROR_INVALID_HANDLE, 400);
SAME(CUDA_ERROR_NOT_FOUND, 500);
SAME(CUDA_ERROR_LAUNCH_FAILED, 719);
SAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720);

// Each of ours, as a call of theirs: as many arguments, of the same kinds.
#define D(pointer) ((CUdeviceptr)(uintptr_t)(pointer))
int initialize(unsigned flags) { return (int)cuInit(flags); }
int error_text(int error, const char **text) { return (int)cuGetErrorString((CUresult)error, text); }
int device_count(int *count) { return (int)cuDeviceGetCount(count); }
int device_get(int *device, int ordinal) { return (int)cuDeviceGet(device, ordinal); }
int device_name(char *name, int size, int device) { return (int)cuDeviceGetName(name, size, device); }
int context_retain(void **context, int device) { return (int)cuDevicePrimaryCtxRetain((CUcontext *)context, device); }
int context_release(int device) { return (int)cuDevicePrimaryCtxRelease(device); }
int context_set(void *context) { return (int)cuCtxSetCurrent(context); }
int get_attribute(int *value, int attribute, int device) {
  return (int)cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device);
}
int set_attribute(void *kernel, int attribute, int value) {
  return (int)cuFuncSetAttribute(kernel, (CUfunction_attribute)attribute, value);
}
int allocate(void **memory, size_t bytes, unsigned flags) {
  return (int)cuMemAllocManaged((CUdeviceptr *)memory, bytes, flags);
}
int release(void *memory) { return (int)cuMemFree(D(memory)); }
int copy(void *to, const void *from, size_t bytes, void *stream) {
  return (int)cuMemcpyAsync(D(to), D(from), bytes, stream);
}
int stream_create(void **stream, unsigned flags) { return (int)cuStreamCreate((CUstream *)stream, flags); }
int stream_destroy(void *stream) { return (int)cuStreamDestroy(stream); }
int stream_synchronize(void *stream) { return (int)cuStreamSynchronize(stream); }
int event_create(void **event, unsigned flags) { return (int)cuEventCreate((CUevent *)event, flags); }
int event_destroy(void *event) { return (int)cuEventDestroy(event); }
int event_record(void *event, void *stream) { return (int)cuEventRecord(event, stream); }
int event_synchronize(void *event) { return (int)cuEventSynchronize(event); }
int event_elapsed(float *milliseconds, void *begin, void *end) {
  return (int)cuEventElapsedTime(milliseconds, begin, end);
}
int module_load(void **module, const void *image, unsigned count, int *options, void **values) {
  return (int)cuModuleLoadDataEx((CUmodule *)module, image, count, (CUjit_option *)options, values);
}
int module_unload(void *module) { return (int)cuModuleUnload(module); }
int kernel_find(void **kernel, void *module, const char *name) {
  return (int)cuModuleGetFunction((CUfunction *)kernel, module, name);
}
int launch(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
           void *stream, void **params, void **extra) {
  return (int)cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}
int launch_cooperative(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, void *stream, void **params) {
  return (int)cuLaunchCooperativeKernel(kernel, gx, gy, gz, bx, by, bz, shared, stream, params);
}

// … and as ours: none is missing above, none differs from the table's.
const tessera_vendor_functions_t ours = {
#define X(field, cuda, hip, parameters) .field = field,
    TESSERA_VENDOR_FUNCTIONS(X)
#undef X
};
const tessera_cuda_functions_t ours_of_cuda = {
#define X(field, name, parameters) .field = field,
    TESSERA_CUDA_FUNCTIONS(X)
#undef X
};

// The names, for the test to look up in the object: the header's macros add the version's suffix.
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
_Static_assert(__builtin_strcmp(TEXT(cuMemFree), "cuMemFree_v2") == 0, "another version of cuMemFree");
_Static_assert(__builtin_strcmp(TEXT(cuStreamDestroy), "cuStreamDestroy_v2") == 0, "another version");
_Static_assert(__builtin_strcmp(TEXT(cuEventDestroy), "cuEventDestroy_v2") == 0, "another version");
_Static_assert(__builtin_strcmp(TEXT(cuDevicePrimaryCtxRelease), "cuDevicePrimaryCtxRelease_v2") == 0,
               "another version");
