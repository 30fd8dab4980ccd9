/* startup.c - from reset to main on a Cortex-M with an FPU: stack, .data, .bss, FPU; nothing of a vendor's.
 * With -DSEMIHOSTING the C library talks to the debugger or emulator, and main's result becomes its exit
 * code. */
#include <stdint.h>
#include <stdlib.h>

extern uint32_t stack_top, data_from, data_begin, data_end, bss_begin, bss_end;
int  main(void);
void start(void);
void stuck(void);
void _init(void);
void _fini(void);

__attribute__((section(".vectors"), used)) void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)&stack_top,
    start,
    stuck,
    stuck,
    stuck,
    stuck,
    stuck,
    0,
    0,
    0,
    0,
    stuck,
    stuck,
    0,
    stuck,
    stuck,
};

#ifdef SEMIHOSTING
void initialise_monitor_handles(void);
#endif

void _init(void) {} /* the C library's exit calls them */
void _fini(void) {}

void stuck(void) /* a fault: stay here, where a debugger finds it */
{
    for (;;) {}
}

/* No floating point in here: the compiler may save FPU registers before the FPU is on. */
__attribute__((used)) static void run(void)
{
    uint32_t *from = &data_from, *to;
    for (to = &data_begin; to < &data_end;) *to++ = *from++;
    for (to = &bss_begin; to < &bss_end;) *to++ = 0;
#ifdef SEMIHOSTING
    initialise_monitor_handles();
    exit(main());
#else
    (void)main();
    stuck();
#endif
}

__attribute__((noreturn)) void start(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: coprocessors 10 and 11, the FPU */
    __asm volatile("dsb\n\tisb" ::: "memory");
    run();
    for (;;) {}
}
