// fiber.h - stacks that a host thread switches between: each GPU thread that has to wait runs on one.
// Why our own: a switch is a few nanoseconds (seven registers), where swapcontext makes a system call.
//
//   emu_stacks_t *stacks = emu_stacks_create(1024, 256 << 10);
//   emu_fiber_t *fiber = emu_fiber_take(stacks, body, argument);  // runs body(argument) when first switched to
//   emu_fiber_switch(&stacks->host, fiber);                       // body switches back by emu_fiber_switch(fiber,
//   host) emu_fibers_reset(stacks);                                     // all fibers are gone, their stacks free again
//
// A body never returns. A fiber stays on the host thread that first ran it. Below each stack lies a page that faults.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EMU_SANITIZED 1
#endif
#endif
#ifndef EMU_SANITIZED
#define EMU_SANITIZED 0
#endif

typedef void (*emu_fiber_body_t)(void *argument);

typedef struct emu_fiber_t {
  void *stack_pointer; // while it does not run
  char *low;           // lowest byte of its stack; null for the host's own
  size_t bytes;
  emu_fiber_body_t body;
  void *argument;
  struct emu_fiber_t *next_idle; // its user's, who may keep finished fibers in a list
  void *context;                 // portable form only: a ucontext_t
  void *sanitizer;               // thread sanitizer's idea of this fiber
} emu_fiber_t;

typedef struct emu_stacks_t {
  emu_fiber_t host; // the thread that switches to the others first
  char *memory;
  size_t stack_bytes;
  uint32_t most, made, used; // fibers: room for, with usable memory, taken since the last reset
  emu_fiber_t fibers[];
} emu_stacks_t;

// Reserves addresses for |most| stacks; memory comes as they are used. Null when there is none.
emu_stacks_t *emu_stacks_create(uint32_t most, size_t stack_bytes);
void emu_stacks_destroy(emu_stacks_t *stacks);

// Null when there is no memory or |most| are taken.
emu_fiber_t *emu_fiber_take(emu_stacks_t *stacks, emu_fiber_body_t body, void *argument);
#if defined(__x86_64__) && !defined(TESSERA_EMULATOR_PORTABLE) && !EMU_SANITIZED
// emu_switch_stack(save, to): pushes what a function must preserve, leaves the stack pointer in *save, returns on |to|.
void emu_switch_stack(void **save, void *to);
static inline void emu_fiber_switch(emu_fiber_t *from, emu_fiber_t *to) {
  emu_switch_stack(&from->stack_pointer, to->stack_pointer);
}
#else
void emu_fiber_switch(emu_fiber_t *from, emu_fiber_t *to);
#endif
void emu_fibers_reset(emu_stacks_t *stacks);
