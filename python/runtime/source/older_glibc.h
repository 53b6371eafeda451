// Included ahead of every source of the wheel: binds what moved between glibc's libraries and versions after 2.28 to
// its older version, so that a wheel built against a newer glibc runs there (docs/python.md). Each function that is
// used and has a later version is a line; test/python/install_runtime.test finds one that is missing.
#pragma once

#if defined(__linux__) && defined(__x86_64__)
#include <sys/stat.h>

// clang-format off
#define OLDER(name, version) __asm__(".symver " #name "," #name "@GLIBC_" #version)
OLDER(dladdr, 2.2.5); OLDER(dlclose, 2.2.5); OLDER(dlerror, 2.2.5); OLDER(dlinfo, 2.3.3); OLDER(dlopen, 2.2.5);
OLDER(dlsym, 2.2.5);
OLDER(pthread_condattr_setclock, 2.3.3); OLDER(pthread_create, 2.2.5); OLDER(pthread_join, 2.2.5);
OLDER(pthread_key_create, 2.2.5); OLDER(pthread_once, 2.2.5); OLDER(pthread_rwlock_rdlock, 2.2.5);
OLDER(pthread_rwlock_unlock, 2.2.5); OLDER(pthread_rwlock_wrlock, 2.2.5); OLDER(pthread_setspecific, 2.2.5);
OLDER(pthread_sigmask, 2.2.5);
OLDER(__xstat, 2.2.5); OLDER(__fxstat, 2.2.5); OLDER(__lxstat, 2.2.5);
#undef OLDER
// clang-format on

// Before 2.33 stat and its like were inline calls of these; 1: the kernel's structure.
int __xstat(int version, const char *path, struct stat *out_stat);
int __fxstat(int version, int file, struct stat *out_stat);
int __lxstat(int version, const char *path, struct stat *out_stat);
#define stat(path, out_stat) __xstat(1, path, out_stat)
#define fstat(file, out_stat) __fxstat(1, file, out_stat)
#define lstat(path, out_stat) __lxstat(1, path, out_stat)
#endif
