// fiber.c - switching stacks on x86-64 in assembly, elsewhere by ucontext.
// Expects: every switch of a fiber on one host thread. Leaves: nothing but the stacks themselves. The sanitizers are
// told of each switch, since they keep what they know per stack.
#include "lib/emulator/machine/fiber.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#define HAS_SANITIZER(name) __has_feature(name)
#else
#define HAS_SANITIZER(name) 0
#endif
#if HAS_SANITIZER(address_sanitizer)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if HAS_SANITIZER(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#endif

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 // Linux 6.13
#endif

enum { PAGE = 4096, COLORS = 16, COLOR_BYTES = 192 };

static void enter(emu_fiber_t *self) {
#if HAS_SANITIZER(address_sanitizer)
  __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
  self->body(self->argument);
}

//===--- The machine's part ----------------------------------------------===//

#if defined(__x86_64__) && !defined(TESSERA_EMULATOR_PORTABLE)

void emu_switch_stack(void **save, void *to);
void emu_start_fiber(void);
__asm__(".text\n"
        ".hidden emu_switch_stack\n"
        ".globl emu_switch_stack\n"
        ".type emu_switch_stack, @function\n"
        ".p2align 4\n"
        "emu_switch_stack:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  retq\n"
        ".size emu_switch_stack, .-emu_switch_stack\n"
        // A fiber's first switch returns here: r12 holds the fiber, r13 its first function.
        ".hidden emu_start_fiber\n"
        ".globl emu_start_fiber\n"
        ".type emu_start_fiber, @function\n"
        "emu_start_fiber:\n"
        "  movq %r12, %rdi\n"
        "  callq *%r13\n"
        "  ud2\n"
        ".size emu_start_fiber, .-emu_start_fiber\n");

// Stacks start at different offsets in their pages, or a block's threads would all use the same few sets of the cache.
static void prepare(emu_fiber_t *fiber, uint32_t number) {
  uintptr_t top = (uintptr_t)(fiber->low + fiber->bytes) - number % COLORS * COLOR_BYTES;
  void **stack = (void **)(top & ~(uintptr_t)63);
  *--stack = NULL;
  *--stack = NULL;
  *--stack = (void *)(uintptr_t)emu_start_fiber; // returned to with the stack at a multiple of 16 bytes
  *--stack = NULL;                               // rbp
  *--stack = NULL;                               // rbx
  *--stack = fiber;                              // r12
  *--stack = (void *)(uintptr_t)enter;           // r13
  *--stack = NULL;                               // r14
  *--stack = NULL;                               // r15
  fiber->stack_pointer = stack;
}

#if EMU_SANITIZED
static void switch_stack(emu_fiber_t *from, emu_fiber_t *to) {
  emu_switch_stack(&from->stack_pointer, to->stack_pointer);
}
#endif

#else

static void enter_portable(unsigned high, unsigned low) {
  enter((emu_fiber_t *)((uintptr_t)high << 32 | low)); // makecontext passes integers only
}

static void prepare(emu_fiber_t *fiber, uint32_t number) {
  (void)number;
  ucontext_t *context = fiber->context;
  getcontext(context);
  context->uc_stack.ss_sp = fiber->low;
  context->uc_stack.ss_size = fiber->bytes;
  context->uc_link = NULL;
  uint64_t address = (uintptr_t)fiber;
  makecontext(context, (void (*)(void))enter_portable, 2, (unsigned)(address >> 32), (unsigned)address);
}

static void switch_stack(emu_fiber_t *from, emu_fiber_t *to) { swapcontext(from->context, to->context); }

#endif

#if EMU_SANITIZED || !defined(__x86_64__) || defined(TESSERA_EMULATOR_PORTABLE)

//===--- Switching -------------------------------------------------------===//

void emu_fiber_switch(emu_fiber_t *from, emu_fiber_t *to) {
#if HAS_SANITIZER(thread_sanitizer)
  if (!from->low)
    from->sanitizer = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
#if HAS_SANITIZER(address_sanitizer)
  void *fake;
  const void *bottom;
  size_t bytes;
  if (!from->low) { // the sanitizer wants to know the host thread's stack to come back to it
    pthread_attr_t attributes;
    void *low;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    from->argument = low;
    from->bytes = bytes;
  }
  __sanitizer_start_switch_fiber(&fake, to->low ? to->low : to->argument, to->bytes);
  switch_stack(from, to);
  __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
#else
  switch_stack(from, to);
#endif
}

#endif

//===--- The stacks ------------------------------------------------------===//

static size_t stride_of(const emu_stacks_t *stacks) { return stacks->stack_bytes + PAGE; }

emu_stacks_t *emu_stacks_create(uint32_t most, size_t stack_bytes) {
  emu_stacks_t *stacks = calloc(1, sizeof *stacks + most * sizeof(emu_fiber_t));
  if (!stacks)
    return NULL;
  stacks->most = most;
  stacks->stack_bytes = (stack_bytes + PAGE - 1) / PAGE * PAGE;
  stacks->memory = mmap(NULL, most * stride_of(stacks), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stacks->host.context = calloc(1, sizeof(ucontext_t));
  if (stacks->memory != MAP_FAILED && stacks->host.context)
    return stacks;
  if (stacks->memory == MAP_FAILED)
    stacks->memory = NULL;
  emu_stacks_destroy(stacks);
  return NULL;
}

void emu_stacks_destroy(emu_stacks_t *stacks) {
  if (!stacks)
    return;
  for (uint32_t i = 0; i < stacks->made; ++i) {
#if HAS_SANITIZER(thread_sanitizer)
    __tsan_destroy_fiber(stacks->fibers[i].sanitizer);
#endif
    free(stacks->fibers[i].context);
  }
  if (stacks->memory)
    munmap(stacks->memory, stacks->most * stride_of(stacks));
  free(stacks->host.context);
  free(stacks);
}

// Makes the stack usable, and the page below it fault. A marked page needs no mapping of its own, so all stacks are one
// mapping. Without marks each stack is two, and Linux allows a process 65,530 by default.
static bool open_stack(char *low, size_t bytes) {
  return mprotect(low - PAGE, PAGE + bytes, PROT_READ | PROT_WRITE) == 0 &&
         (madvise(low - PAGE, PAGE, MADV_GUARD_INSTALL) == 0 || mprotect(low - PAGE, PAGE, PROT_NONE) == 0);
}

// Gives the next fiber its memory.
static bool make_fiber(emu_stacks_t *stacks) {
  emu_fiber_t *fiber = &stacks->fibers[stacks->made];
  fiber->low = stacks->memory + stacks->made * stride_of(stacks) + PAGE;
  fiber->bytes = stacks->stack_bytes;
  fiber->context = calloc(1, sizeof(ucontext_t));
  if (!fiber->context || !open_stack(fiber->low, fiber->bytes)) {
    free(fiber->context);
    return false;
  }
#if HAS_SANITIZER(thread_sanitizer)
  fiber->sanitizer = __tsan_create_fiber(0);
#endif
  ++stacks->made;
  return true;
}

emu_fiber_t *emu_fiber_take(emu_stacks_t *stacks, emu_fiber_body_t body, void *argument) {
  if (stacks->used == stacks->most || (stacks->used == stacks->made && !make_fiber(stacks)))
    return NULL;
  emu_fiber_t *fiber = &stacks->fibers[stacks->used];
  fiber->body = body;
  fiber->argument = argument;
#if HAS_SANITIZER(address_sanitizer)
  __asan_unpoison_memory_region(fiber->low, fiber->bytes); // what an abandoned fiber left
#endif
  prepare(fiber, stacks->used++);
  return fiber;
}

void emu_fibers_reset(emu_stacks_t *stacks) { stacks->used = 0; }
