/* serve.c - hello, reset, step, apply, read, stop, bye, one line at a time. A repeated question (same number)
 * gets the same answer again and changes nothing; an older one gets none. */
#include "plant/serve.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "math/clock.h"
#include "math/number.h"
#include "plant/hello.h"
#include "plant/plant_parts.h"

struct mcp_server {
    mcp_plant    *plant;
    int           ideal, running, silent; /* silent: the last line was no question */
    unsigned long seq;       /* of the last question answered */
    double        watchdog, heard; /* s, our clock            */
    double        u[MCP_MAX_INPUT];
    int           length;
    char          text[MCP_LINE_MAX];
};

mcp_status mcp_server_create(mcp_server **out, mcp_plant *p, int ideal, mcp_error *err)
{
    *out = mcp_calloc(1, sizeof **out);
    if (!*out) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant's server");
    (*out)->plant = p;
    (*out)->ideal = ideal;
    return MCP_OK;
}

void mcp_server_free(mcp_server *s)
{
    mcp_free(s);
}

static void say(mcp_server *s, const char *fmt, ...) MCP_PRINTF(2, 3);
static void say(mcp_server *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = mcp_vprint(s->text + s->length, sizeof s->text - (size_t)s->length, fmt, args);
    va_end(args);
    s->length = n < 0 || s->length + n >= MCP_LINE_MAX ? MCP_LINE_MAX - 1 : s->length + n;
}

static void say_error(mcp_server *s, const char *why)
{
    s->length  = 0;
    s->running = 0;
    say(s, "error %s\n", why);
}

static void say_sample(mcp_server *s, const mcp_sample *x)
{
    const mcp_system *y = s->plant->system;
    say(s, "%s %lu %.17g", x->ended ? "end" : "data", s->seq, x->time);
    for (int i = 0; i < mcp_task_sensors(y->task) && !s->ideal; i++) say(s, " %.17g", x->measured[i]);
    for (int i = 0; i < mcp_task_moving(y->task); i++) say(s, " %.17g", x->truth[i]);
    if (x->ended) say(s, " %s", x->reason);
    say(s, "\n");
    s->running = !x->ended;
}

static void forget(mcp_sample *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < MCP_MAX_STATE; i++) s->truth[i] = s->measured[i] = NAN;
}

/* Numbers after the question's; returns how many, -1 when something else stands there. */
static int numbers(const char *p, int most, double *out)
{
    int n = 0;
    for (;; n++) {
        char *end;
        p += strspn(p, " \t");
        if (!*p) return n;
        if (n == most) return -1;
        out[n] = mcp_number_read(p, &end);
        if (end == p || !isfinite(out[n])) return -1;
        p = end;
    }
}

static void hello(mcp_server *s, const char *line)
{
    const mcp_task *task = s->plant->system->task;
    const char     *dog = strstr(line, "watchdog=");
    int             version = 0;
    if (sscanf(line, "hello %d", &version) != 1 || version != MCP_WIRE_VERSION) {
        say(s, "error this plant speaks version %d of the protocol\n", MCP_WIRE_VERSION);
        return;
    }
    s->watchdog = dog ? mcp_number_read(dog + 9, NULL) : 0.0;
    if (dog && !(s->watchdog > 0.0 && s->watchdog <= 3600.0)) s->watchdog = 1.0;
    s->seq      = 0;
    s->running  = 0;
    char *text = mcp_hello_write(task, !s->ideal, 1, "acks=apply");
    say(s, "%s", text ? text : "error out of memory\n");
    mcp_free(text);
}

static void reset(mcp_server *s, const char *rest)
{
    const mcp_system *y = s->plant->system;
    unsigned long long seed;
    unsigned long      trial, run;
    int                used = 0;
    double             x0[MCP_MAX_STATE];
    mcp_sample         first;
    mcp_error          why = {MCP_OK, ""};
    if (sscanf(rest, "%llu %lu %lu%n", &seed, &trial, &run, &used) != 3 ||
        numbers(rest + used, mcp_task_moving(y->task), x0) != mcp_task_moving(y->task)) {
        say_error(s, "reset needs seed, trial, run and the start state");
        return;
    }
    forget(&first);
    if (s->plant->ops.reset(s->plant->context, x0, seed, (uint32_t)trial, (uint32_t)run, &first, &why) !=
        MCP_OK)
        say_error(s, why.text);
    else say_sample(s, &first);
}

/* step, or read in paced mode: one period with the input that was given. */
static void advance(mcp_server *s)
{
    mcp_sample next;
    mcp_error  why = {MCP_OK, ""};
    if (!s->running) {
        say_error(s, "no trial is running: reset first");
        return;
    }
    forget(&next);
    if (s->plant->ops.step(s->plant->context, s->u, &next, &why) != MCP_OK) say_error(s, why.text);
    else say_sample(s, &next);
}

static int take_inputs(mcp_server *s, const char *rest)
{
    int nu = s->plant->system->nu;
    if (numbers(rest, nu, s->u) == nu) return 1;
    say_error(s, "expected one finite number for each input");
    return 0;
}

static const char *answer_to(mcp_server *s, const char *line, int *over)
{
    char  word[16] = "", *end;
    int   used = 0;
    *over = 0;
    if (sscanf(line, "%15s%n", word, &used) != 1) return "";
    if (!strcmp(word, "hello") || !strcmp(word, "bye")) {
        s->length = 0;
        s->text[0] = 0;
        if (word[0] == 'h') hello(s, line);
        else {
            *over = 1;
            s->running = 0;
        }
        return s->text;
    }
    unsigned long number = strtoul(line + used, &end, 10);
    if (number < s->seq) return "";
    if (number == s->seq && number) return s->text;
    s->seq    = number;
    s->length = 0;
    s->text[0] = 0;
    if (end == line + used) say_error(s, "a number must follow the first word");
    else if (!strcmp(word, "reset")) reset(s, end);
    else if (!strcmp(word, "step")) {
        if (take_inputs(s, end)) advance(s);
    } else if (!strcmp(word, "read")) advance(s);
    else if (!strcmp(word, "apply")) {
        if (take_inputs(s, end)) say(s, "applied %lu\n", s->seq);
    }
    else if (!strcmp(word, "stop")) {
        if (take_inputs(s, end)) {
            (void)s->plant->ops.stop(s->plant->context, s->u, NULL);
            say(s, "stopped %lu\n", s->seq);
        }
        s->running = 0;
    } else say_error(s, "expected hello, reset, step, apply, read, stop or bye");
    return s->text;
}

/* Only what could be answered counts as heard: noise on a wire does not keep a watchdog quiet. */
const char *mcp_server_answer(mcp_server *s, const char *line, int *over)
{
    const char *answer = answer_to(s, line, over);
    s->silent = !answer[0] || !strncmp(answer, "error", 5);
    if (!s->silent) s->heard = mcp_clock();
    return answer;
}

static void halt(mcp_server *s)
{
    double zero[MCP_MAX_INPUT] = {0};
    if (s->running) (void)s->plant->ops.stop(s->plant->context, zero, NULL);
    s->running = 0;
}

int mcp_server_watch(mcp_server *s)
{
    if (!s->running || !(s->watchdog > 0.0) || mcp_clock() - s->heard < s->watchdog) return 0;
    halt(s);
    return 1;
}

/* 1: whoever speaks here may go: nothing moves, nothing came for a second, and somebody else waits (a peer
 * of datagrams is forgotten without that: it is known when it speaks again). */
static int may_leave(const mcp_server *s, const mcp_link *l)
{
    struct pollfd p = {.fd = l->door, .events = POLLIN};
    if (s->running || mcp_clock() - s->heard < 1.0) return 0;
    return l->kind == MCP_LINK_DATAGRAM || (l->door > 0 && poll(&p, 1, 0) > 0);
}

mcp_status mcp_server_run(mcp_server *s, mcp_link *l, int (*stop)(void *), void *context, mcp_error *err)
{
    int        over = 0;
    mcp_status st = MCP_OK;
    s->heard = mcp_clock();
    while (st == MCP_OK && !over && !(stop && stop(context))) {
        char *line;
        if ((st = mcp_link_receive(l, &line, mcp_clock() + 0.1, err)) != MCP_OK) break;
        if (!line || s->silent) { /* what is no question keeps nobody waiting either */
            if ((mcp_server_watch(s) && l->kind == MCP_LINK_DATAGRAM) || may_leave(s, l)) break;
            if (!line) continue;
        }
        const char *answer = mcp_server_answer(s, line, &over);
        if (answer[0]) st = mcp_link_send(l, answer, mcp_clock() + 1.0, err);
    }
    halt(s);
    return st;
}
