/* firmware.c - the least that runs an exported controller: measure, control, actuate, at the controller's
 * rate. Built with -DHEADER='"ctl.h"' -DNAME=ctl -DREAL=float. Replace the two volatile arrays by your
 * sensors and actuators, and the wait by your timer's interrupt. Its size is what the controller costs, its
 * mathematics included.
 *
 * With -DMEASURE it counts instead, under an emulator that makes the clock count instructions
 * (qemu-system-arm -icount shift=0; ARM's MPS2 boards: one SysTick in 40), and paints the stack to see how
 * deep a step goes. */
#include HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define MEASURED JOIN(NAME, _MEASURED)
#define COMMANDS JOIN(NAME, _COMMANDS)
#define START JOIN(NAME, _start)
#define CONTROL JOIN(NAME, _control)

static NAME          controller;
static volatile REAL sensor[MEASURED], actuator[COMMANDS];

static int step(void)
{
    REAL measured[MEASURED], command[COMMANDS];
    int  i, bad;
    for (i = 0; i < MEASURED; i++) measured[i] = sensor[i];
    bad = CONTROL(&controller, measured, command);
    for (i = 0; i < COMMANDS; i++) actuator[i] = command[i];
    return bad;
}

#ifndef MEASURE

int main(void)
{
    START(&controller);
    for (;;) {
        if (step()) START(&controller); /* a sensor gave no number: commands are zero, begin again */
        /* wait for the next period here */
    }
}

#else

#include <stdint.h>
#include <stdio.h>

enum { STEPS = 100, TICK = 40, DEEP = 16384, PAINT = 0x5A };
static volatile uint32_t *const systick = (volatile uint32_t *)0xE000E010u; /* control, reload, value */

static uint32_t now(void)
{
    return 0xFFFFFFu - systick[2]; /* it counts down, in 24 bits */
}

static uint32_t since(uint32_t before)
{
    return (now() - before) & 0xFFFFFFu;
}

/* How many bytes below this function's frame a step writes. */
__attribute__((noinline)) static int stack_of_a_step(void)
{
    volatile unsigned char *sp, *below;
    __asm volatile("mov %0, sp" : "=r"(sp));
    for (below = sp - DEEP; below < sp; below++) *below = PAINT;
    (void)step();
    for (below = sp - DEEP; below < sp && *below == PAINT; below++) {}
    return (int)(sp - below);
}

/* 20000 instructions, for the count's own sake. */
static void known_work(void)
{
    uint32_t n = 10000;
    __asm volatile("1: subs %0, #1\n\tbne 1b" : "+r"(n) : : "cc");
}

int main(void)
{
    uint32_t total = 0, most = 0, empty, known;
    int      k, i, bad = 0;
    systick[1] = 0xFFFFFFu;
    systick[2] = 0;
    systick[0] = 5; /* processor clock, no interrupt */
    START(&controller);
    empty = now();
    empty = since(empty);
    known = now();
    known_work();
    known = since(known) - empty;
    for (k = 0; k < STEPS; k++) {
        uint32_t before, took;
        for (i = 0; i < MEASURED; i++) sensor[i] = (REAL)(0.03 * ((k * (i + 3)) % 11) - 0.15);
        before = now();
        bad |= step();
        took = since(before) - empty;
        total += took;
        if (took > most) most = took;
    }
    printf("a step: %lu instructions mean, %lu most; stack %d bytes; memory %d bytes (20000 instructions are "
           "counted as %lu)\n",
           (unsigned long)(total * TICK / STEPS), (unsigned long)(most * TICK), stack_of_a_step(),
           (int)sizeof controller, (unsigned long)(known * TICK));
    return bad;
}

#endif
