/* wire.c - a plant at the other end of a wire (docs/plant-protocol.md).
 *   lock-step:  step SEQ u .. -> data SEQ t y ..              the plant keeps time
 *   paced:      apply SEQ u ..   (tick)   read SEQ -> data .. we keep time by an absolute timer
 * Every answer carries the number of its question: late and repeated ones are dropped, lost datagrams are
 * asked for again. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/arena.h"
#include "math/clock.h"
#include "math/number.h"
#include "plant/hello.h"
#include "plant/plant_parts.h"
#include "plant/link.h"
#include "plant/sensor.h"

typedef struct {
    const mcp_system *system;
    mcp_link          link;
    mcp_hello         hello;
    mcp_sensor sensor; /* when the plant tells its true state only: its sensors are simulated here */
    char             *folder;      /* where an exec plant runs: beside the task file */
    char              text[MCP_LINE_MAX];
    unsigned long     seq, applied; /* question asked last; apply acknowledged last */
    double            held[MCP_MAX_INPUT]; /* what the plant last said it applies */
    int               open, sample, unstopped; /* unstopped: a stop was sent and not answered */
    int               hurry;                   /* somebody waits to leave */
    char              words[MCP_LINE_MAX]; /* the last ones, see told */
    double            last_time;   /* the plant's own clock at the sample before   */
    double            start, tick; /* our clock at the first sample, at this one's tick */
} wire;

enum { WAIT_MOST = 3600 /* s, on top of the patience */, UNDER_WAY = 1000 /* lines */ };
static const double STOP_PATIENCE = 0.4; /* s for an answer to a stop when somebody is waiting to leave */

/* send */

static void put(wire *w, int *at, const char *fmt, ...) MCP_PRINTF(3, 4);
static void put(wire *w, int *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = mcp_vprint(w->text + *at, sizeof w->text - (size_t)*at, fmt, args);
    va_end(args);
    *at = n < 0 || *at + n >= MCP_LINE_MAX ? MCP_LINE_MAX - 1 : *at + n;
}

static void write_inputs(wire *w, const char *word, const double *u)
{
    int at = 0;
    put(w, &at, "%s %lu", word, ++w->seq);
    for (int j = 0; j < w->hello.inputs; j++) put(w, &at, " %.17g", u[w->hello.input_at[j]]);
    put(w, &at, "\n");
}

/* Tells who watches that the plant may move, and the line that would stop it: zero, or the last command where
 * the task wants that held. (A safe input that depends on the state is sent by stop; a dying program has
 * none.) u NULL: nothing was commanded yet. */
static void told(wire *w, const double *u)
{
    const mcp_watch     *watch = w->system->watch;
    const mcp_expr_list *safe = &w->system->task->safe;
    int                  at;
    if (!watch || !watch->moving) return;
    at = snprintf(w->words, sizeof w->words, "stop %lu", w->seq + 1000);
    for (int j = 0; j < w->hello.inputs && at < MCP_LINE_MAX - 40; j++) {
        int i = w->hello.input_at[j], hold = u && safe->n && !strcmp(safe->item[i].expr.text, "hold");
        at += mcp_print(w->words + at, sizeof w->words - (size_t)at, " %.17g",
                        hold ? u[i] : mcp_input_rest(&w->system->task->input[i]));
    }
    snprintf(w->words + at, sizeof w->words - (size_t)at, "\n");
    watch->moving(watch->context, w->link.out, w->words);
}

static void told_rest(const wire *w)
{
    const mcp_watch *watch = w->system->watch;
    if (watch && watch->moving) watch->moving(watch->context, -1, "");
}

/* receive */

/* A wait that was ended on purpose says nothing about the plant. */
static mcp_status dead(wire *w, mcp_status st)
{
    if (st != MCP_ERR_STOPPED) w->open = 0;
    return st;
}

static mcp_status may_wait(const wire *w, const char *text, double *seconds, mcp_error *err)
{
    char *end;
    *seconds = mcp_number_read(text, &end);
    if (end != text && (!*end || *end == ' ' || *end == '\t') && *seconds >= 0.0 && *seconds <= WAIT_MOST)
        return MCP_OK;
    return mcp_fail(err, MCP_ERR_PLANT, "%s sent \"wait%.40s\"; it may ask for 0 to %d seconds",
                    w->link.what, text, WAIT_MOST);
}

static int is_word(const char *line, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(line, word, n) && (!line[n] || line[n] == ' ' || line[n] == '\t');
}

typedef enum { TAKE, SKIP, EXTEND, REFUSE } verdict;

/* Is this line the answer? Late and repeated ones are skipped; *rest: what follows the word and its number.
 */
static verdict judge(wire *w, const char *word, char *line, char **rest, mcp_error *err)
{
    int numbered = strcmp(word, "hello") != 0;
    /* A board on a serial line may greet us with its boot messages, an old datagram may still be under way.
     */
    int lenient = !numbered && (!w->link.socket || w->link.kind == MCP_LINK_DATAGRAM);
    *rest = line + strcspn(line, " \t");
    if (is_word(line, "wait")) return EXTEND;
    if (is_word(line, "applied")) {
        unsigned long n = strtoul(*rest, NULL, 10);
        if (n > w->applied && n <= w->seq) w->applied = n;
        return SKIP;
    }
    if (is_word(line, "error")) {
        mcp_fail(err, MCP_ERR_PLANT, "%s reports an error: %.200s", w->link.what,
                 *rest + strspn(*rest, " \t"));
        return REFUSE;
    }
    if (is_word(line, "hello")) return numbered ? SKIP : TAKE;
    int answer = is_word(line, "data") || is_word(line, "end") || is_word(line, "stopped");
    if (!numbered && lenient) return SKIP;
    if (!numbered || !answer) {
        mcp_fail(err, MCP_ERR_PLANT, "%s sent \"%.60s\"%s, expected a line that starts with %s", w->link.what,
                 line, strlen(line) > 60 ? "..." : "", word);
        return REFUSE;
    }
    char         *end;
    unsigned long number = strtoul(*rest, &end, 10);
    if (end != *rest && number < w->seq) return SKIP;
    int right = is_word(line, word) || (is_word(line, "end") && !strcmp(word, "data"));
    if (end == *rest)
        mcp_fail(err, MCP_ERR_PLANT, "%s sent \"%.60s\": a number must follow the first word", w->link.what,
                 line);
    else if (number > w->seq)
        mcp_fail(err, MCP_ERR_PLANT, "%s answered question %lu, but only %lu were asked", w->link.what,
                 number, w->seq);
    else if (!right)
        mcp_fail(err, MCP_ERR_PLANT, "%s sent \"%.60s\", expected a line that starts with %s", w->link.what,
                 line, word);
    else {
        *rest = end;
        return TAKE;
    }
    return REFUSE;
}

static mcp_status no_answer(const wire *w, double patience, mcp_error *err)
{
    int shown = (int)strcspn(w->text, "\n");
    return mcp_fail(err, MCP_ERR_PLANT,
                    "%s gave no answer to \"%.*s\" within %g s; the plant counts as lost (plant.timeout)",
                    w->link.what, shown > 40 ? 40 : shown, w->text, patience);
}

/* Sends w->text and waits for the line that answers it with the given word. Where a line can get lost it is
 * sent again, soon at first (a lost datagram should cost two periods, not a part of the timeout), then ever
 * later (the plant may just be slow). Lines that were under way when the time was over still count, a plant
 * that goes on talking about something else does not keep anybody waiting. */
static mcp_status ask(wire *w, const char *word, double patience, char **line, char **rest, mcp_error *err)
{
    /* a board that boots may not have heard the first hello */
    double wait = fmin(patience / 5, w->link.kind == MCP_LINK_DATAGRAM ? 2 * w->system->ts : 1.0);
    double     began = mcp_clock(), deadline = began + patience, again = began + wait;
    int        late = 0;
    int        repeat = w->link.kind == MCP_LINK_DATAGRAM || (!w->link.socket && !strcmp(word, "hello"));
    mcp_status st = mcp_link_send(&w->link, w->text, deadline, err);
    while (st == MCP_OK) {
        double until = repeat && again < deadline ? again : deadline;
        if ((st = mcp_link_receive(&w->link, line, until, err)) != MCP_OK) break;
        if (*line) {
            verdict v = judge(w, word, *line, rest, err);
            if (v == TAKE) return MCP_OK;
            double more = 0.0;
            if (v == EXTEND && (st = may_wait(w, *rest, &more, err)) == MCP_OK && !w->hurry)
                deadline = fmin(fmax(deadline, mcp_clock() + more), began + patience + WAIT_MOST);
            late += mcp_clock() > deadline;
            if (v == REFUSE) st = MCP_ERR_PLANT;
            else if (st == MCP_OK && late > UNDER_WAY) st = no_answer(w, patience, err);
        } else if (until >= deadline) {
            st = no_answer(w, patience, err);
        } else {
            wait  = fmin(2 * wait, patience / 5);
            again = mcp_clock() + wait;
            st = mcp_link_send(&w->link, w->text, deadline, err);
        }
    }
    return dead(w, st);
}

static mcp_status take_number(wire *w, char **p, const char *what, int finite, double *value, mcp_error *err)
{
    char *end;
    *value = mcp_number_read(*p, &end);
    if (end == *p || (*end && *end != ' ' && *end != '\t'))
        return dead(w, mcp_fail(err, MCP_ERR_PLANT, "%s: sample %d: expected a number for %s, got \"%.40s\"",
                                w->link.what, w->sample, what, *p + strspn(*p, " \t")));
    if (finite && !isfinite(*value))
        return dead(w, mcp_fail(err, MCP_ERR_PLANT, "%s: sample %d: %s is %g", w->link.what, w->sample, what,
                                *value));
    *p = end;
    return MCP_OK;
}

/* "t y .. [x ..]" then, for an end, its reason. */
static mcp_status parse_sample(wire *w, char *p, int ended, mcp_sample *s, mcp_error *err)
{
    const mcp_task *task = w->system->task;
    int             expected = w->hello.measured + w->hello.truth, found = -1;
    mcp_status      st;
    for (const char *q = p; *(q += strspn(q, " \t")) && !(ended && found >= expected); q += strcspn(q, " \t"))
        found++;
    if (found != expected)
        return dead(w, mcp_fail(err, MCP_ERR_PLANT,
                                "%s: sample %d has %d values after the time, the hello promised %d",
                                w->link.what, w->sample, found < 0 ? 0 : found, expected));
    if ((st = take_number(w, &p, "the time", 1, &s->time, err)) != MCP_OK) return st;
    for (int i = 0; i < w->hello.measured; i++) {
        int at = w->hello.measured_at[i];
        if ((st = take_number(w, &p, task->measured[at].name, 1, &s->measured[at], err)) != MCP_OK) return st;
    }
    for (int i = 0; i < w->hello.truth; i++) {
        int at = w->hello.truth_at[i];
        if ((st = take_number(w, &p, task->state[at], !w->hello.measured, &s->truth[at], err)) != MCP_OK)
            return st;
    }
    if (!w->hello.measured) mcp_sensor_read(&w->sensor, s->truth, s->measured);
    s->ended = ended;
    if (ended) snprintf(s->reason, sizeof s->reason, "%s", p + strspn(p, " \t"));
    return MCP_OK;
}

static mcp_status ask_sample(wire *w, double patience, mcp_sample *s, mcp_error *err)
{
    char      *line, *rest;
    mcp_status st = ask(w, "data", patience, &line, &rest, err);
    if (st != MCP_OK) return st;
    return parse_sample(w, rest, line[0] == 'e', s, err);
}

/* connect */

static mcp_status connect_wire(wire *w, mcp_error *err)
{
    const mcp_task_plant *p = &w->system->task->plant;
    mcp_link_close(&w->link, 0.2);
    switch (p->type) {
    case MCP_PLANT_EXEC: return mcp_link_exec(&w->link, p->argv, w->folder, err);
    case MCP_PLANT_TCP: return mcp_link_tcp(&w->link, p->address, 10 * p->timeout, err);
    case MCP_PLANT_UDP: return mcp_link_udp(&w->link, p->address, err);
    default: return mcp_link_serial(&w->link, p->address, p->baud, err);
    }
}

static mcp_status greet(wire *w, mcp_error *err)
{
    const mcp_task *task = w->system->task;
    char            rest[80], *line, *after, *hello;
    mcp_status      st = connect_wire(w, err);
    if (st != MCP_OK) return st;
    mcp_print(rest, sizeof rest, "mode=%s watchdog=%.6g", task->plant.paced ? "paced" : "step",
              task->plant.timeout + w->system->ts);
    if (!(hello = mcp_hello_write(task, 1, 0, rest)))
        return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant's hello");
    snprintf(w->text, sizeof w->text, "%s", hello);
    mcp_free(hello);
    st = ask(w, "hello", 10 * task->plant.timeout, &line, &after, err); /* boards boot, interpreters start */
    if (st == MCP_OK) st = mcp_hello_read(&w->hello, line, task, w->link.what, err);
    w->open = st == MCP_OK;
    return st;
}

/* the plant's functions */

static mcp_status wire_reset(void *context, const double *x0, uint64_t seed, uint32_t trial, uint32_t run,
                             mcp_sample *first, mcp_error *err)
{
    wire      *w = context;
    int        at = 0;
    mcp_status st;
    /* Lost in an earlier trial, or closed while nobody spoke: once more. */
    if ((!w->open || mcp_link_closed(&w->link)) && (st = greet(w, err)) != MCP_OK) return st;
    w->sample = 0;
    mcp_sensor_reset(&w->sensor, seed, trial, run);
    told(w, NULL);
    put(w, &at, "reset %lu %llu %lu %lu", ++w->seq, (unsigned long long)seed, (unsigned long)trial,
        (unsigned long)run);
    for (int i = 0; i < mcp_task_moving(w->system->task); i++) put(w, &at, " %.17g", x0[i]);
    put(w, &at, "\n");
    if ((st = ask_sample(w, 10 * w->system->task->plant.timeout, first, err)) != MCP_OK) return st;
    w->last_time = first->time;
    memset(w->held, 0, sizeof w->held);
    w->start = w->tick = mcp_clock();
    if (w->system->task->plant.paced) first->wall = 0.0;
    return MCP_OK;
}

/* The plant's clock must agree with the rate it promised. */
static mcp_status check_time(wire *w, mcp_sample *s, mcp_error *err)
{
    double step = s->time - w->last_time, ts = w->system->ts;
    if (!(step > 0.5 * ts && step < 1.5 * ts) && !s->ended)
        return dead(w, mcp_fail(err, MCP_ERR_PLANT,
                                "%s: sample %d comes %.6g s after the one before by the plant's own clock; "
                                "%g Hz means %.6g s",
                                w->link.what, w->sample, step, w->system->task->rate, ts));
    w->last_time = s->time;
    return MCP_OK;
}

static mcp_status paced_step(wire *w, const double *u, mcp_sample *next, mcp_error *err)
{
    double     timeout = w->system->task->plant.timeout, ts = w->system->ts;
    mcp_status st;
    write_inputs(w, "apply", u);
    told(w, u);
    unsigned long number = w->seq;
    if ((st = mcp_link_send(&w->link, w->text, mcp_clock() + timeout, err)) != MCP_OK) return dead(w, st);
    double sent = mcp_clock(), target = w->tick + ts;
    next->sent  = sent - w->start;
    next->late  = sent - w->tick;
    next->missed = sent > target;
    /* A command that left after the next tick: the ticks move on from here, rather than a burst of samples to
     * catch up. */
    if (next->missed) target = sent;
    while (target - mcp_clock() > 0.1) { /* long periods are waited for in parts */
        mcp_clock_sleep_until(mcp_clock() + 0.05);
        if (mcp_watch_stops(w->link.watch))
            return mcp_fail(err, MCP_ERR_STOPPED, "stopped between two samples");
    }
    mcp_clock_sleep_until(target);
    double asked = mcp_clock();
    w->tick = target;
    snprintf(w->text, sizeof w->text, "read %lu\n", ++w->seq);
    if ((st = ask_sample(w, timeout, next, err)) != MCP_OK) return st;
    /* A datagram that got lost changed nothing: the plant still holds what it had. */
    if (w->hello.acks && w->applied < number) {
        memcpy(next->applied, w->held, (size_t)w->system->nu * sizeof *u);
        next->missed = 1;
    } else {
        memcpy(w->held, u, (size_t)w->system->nu * sizeof *u);
    }
    next->answer = mcp_clock() - asked;
    next->wall   = asked - w->start;
    next->time   = w->sample * ts;
    return MCP_OK;
}

static mcp_status wire_step(void *context, const double *u, mcp_sample *next, mcp_error *err)
{
    wire      *w = context;
    mcp_status st;
    w->sample++;
    if (w->system->task->plant.paced) return paced_step(w, u, next, err);
    write_inputs(w, "step", u);
    told(w, u);
    if ((st = ask_sample(w, w->system->task->plant.timeout + w->system->ts, next, err)) != MCP_OK) return st;
    return check_time(w, next, err);
}

static double stop_patience(const wire *w)
{
    double timeout = w->system->task->plant.timeout;
    return mcp_watch_stops(w->system->watch) ? fmin(timeout, STOP_PATIENCE) : timeout;
}

/* When somebody waits to leave, a plant that asks for time gets none. */
static mcp_status ask_stopped(wire *w, mcp_error *err)
{
    char *line, *rest;
    w->hurry = mcp_watch_stops(w->system->watch);
    w->link.watch = w->hurry ? NULL : w->system->watch;
    return ask(w, "stopped", stop_patience(w), &line, &rest, err);
}

/* Sent on every way out of a trial, also to a plant that answered wrongly: as long as there is a wire, it is
 * told. A signal shortens the wait for its answer; the line itself goes out in any case. */
static mcp_status wire_stop(void *context, const double *safe_u, mcp_error *err)
{
    wire      *w = context;
    mcp_status st = MCP_OK;
    if (w->link.out >= 0 && w->hello.inputs) {
        write_inputs(w, "stop", safe_u);
        w->unstopped = 1;
        if (w->open) st = ask_stopped(w, err);
        if (st == MCP_ERR_STOPPED) st = ask_stopped(w, err); /* the same number: moves nothing */
        w->link.watch = NULL;
        if (w->open && st == MCP_OK) w->unstopped = 0;
        else if (!w->open) (void)mcp_link_send(&w->link, w->text, mcp_clock() + stop_patience(w), NULL);
    }
    w->hurry = 0;
    w->link.watch = w->system->watch;
    told_rest(w);
    return st;
}

static void wire_destroy(void *context)
{
    wire *w = context;
    if (!w) return;
    int    hurry = mcp_watch_stops(w->link.watch);
    double patience = hurry ? STOP_PATIENCE / 2 : w->unstopped ? 5.0 : 1.0;
    w->link.spared = hurry && w->unstopped; /* busy: it will find the stop, and its wire closed */
    w->link.watch = NULL;
    if (w->link.out >= 0) (void)mcp_link_send(&w->link, "bye\n", mcp_clock() + 0.1, NULL);
    mcp_link_close(&w->link, patience);
    mcp_sensor_free(&w->sensor);
    mcp_free(w->folder);
    mcp_free(w);
}

mcp_status mcp_wire_plant(const mcp_system *s, mcp_plant_ops *ops, void **context, mcp_error *err)
{
    const char *slash = s->task->file ? strrchr(s->task->file, '/') : NULL;
    wire       *w = mcp_calloc(1, sizeof *w);
    if (!w) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant");
    w->system  = s;
    w->link.in = w->link.out = -1;
    w->link.watch = s->watch;
    mcp_status st = mcp_sensor_create(&w->sensor, s->task, err);
    if (st == MCP_OK && slash &&
        !(w->folder =
              mcp_sprintf("%.*s", slash == s->task->file ? 1 : (int)(slash - s->task->file), s->task->file)))
        st = mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a plant");
    if (st == MCP_OK) st = greet(w, err);
    if (st != MCP_OK) {
        wire_destroy(w);
        return st;
    }
    *ops     = (mcp_plant_ops){wire_reset, wire_step, wire_stop, wire_destroy};
    *context = w;
    return MCP_OK;
}
