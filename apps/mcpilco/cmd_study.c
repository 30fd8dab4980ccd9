/* cmd_study.c - mcpilco study: many seeds of many variants, over threads and, under mpirun, over ranks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef MCP_HAVE_MPI
#include <mpi.h>
#endif

#include "commands.h"
#include "io/file.h"
#include "math/arena.h"
#include "math/clock.h"
#include "options.h"
#include "study/study.h"
#include "term.h"

enum { TRIES = 2 }; /* of a run that fails, per command */

typedef struct {
    const mcp_study *study;
    const char      *out;
    const option_list *only; /* variants that are run; none: all */
    int              rank, ranks;
    pthread_mutex_t  lock; /* guards what follows */
    int             *tries;
    int              running;
} workshop;

static int stop_asked(void *context, const mcp_learn_progress *p)
{
    (void)context;
    (void)p;
    return term_stop() != 0;
}

/* Whether run i is of a variant that was asked for. */
static int wanted(const workshop *w, int i)
{
    int variant, seed, yes = w->only->count == 0;
    mcp_study_at(w->study, i, &variant, &seed);
    const char *name = w->study->variant[variant].name;
    for (int k = 0; k < w->only->count; k++) yes |= !strcmp(w->only->item[k], name);
    return yes;
}

static int may_try(workshop *w, int i)
{
    if (!wanted(w, i)) return 0;
    pthread_mutex_lock(&w->lock);
    int yes = w->tries[i] < TRIES;
    pthread_mutex_unlock(&w->lock);
    return yes;
}

/* Takes whatever run nobody else is at, until there is none. */
static void *work(void *context)
{
    workshop *w = context;
    int       n = mcp_study_runs(w->study);
    for (int again = 1; again && !term_stop();) {
        again = 0;
        for (int i = 0; i < n && !term_stop(); i++) {
            mcp_error err;
            if (mcp_study_done(w->study, w->out, i) || !may_try(w, i)) continue;
            mcp_run_outcome_kind kind = mcp_study_work(w->study, w->out, i, stop_asked, NULL, &err);
            if (kind == MCP_RUN_FAILED) {
                int variant, seed;
                mcp_study_at(w->study, i, &variant, &seed);
                pthread_mutex_lock(&w->lock);
                int tries = ++w->tries[i];
                pthread_mutex_unlock(&w->lock);
                fprintf(stderr, "mcpilco study: %s, seed %d failed (try %d of %d): %s\n",
                        w->study->variant[variant].name, seed, tries, TRIES, err.text);
                again |= tries < TRIES;
            }
        }
    }
    pthread_mutex_lock(&w->lock);
    w->running--;
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Runs that were asked for, and of these the finished ones. */
static int count_runs(const workshop *w, int *done)
{
    int all = 0;
    *done = 0;
    for (int i = 0; i < mcp_study_runs(w->study); i++) {
        if (!wanted(w, i)) continue;
        all++;
        *done += mcp_study_done(w->study, w->out, i);
    }
    return all;
}

/* Tells how far all workers, ranks included, have come: finished runs are seen by their files. */
static void watch(workshop *w, int quiet)
{
    int    live = term_is_live(stderr), told = -1, before, done, total = count_runs(w, &before);
    double began = mcp_clock(), last = 0;
    for (int running = 1; running;) {
        usleep(200000);
        pthread_mutex_lock(&w->lock);
        running = w->running;
        pthread_mutex_unlock(&w->lock);
        if (quiet || w->rank || mcp_clock() - last < (live ? 1 : 5)) continue;
        last = mcp_clock();
        count_runs(w, &done);
        if (!live && done == told) continue;
        told = done;
        char left[40] = "-";
        if (done > before)
            term_seconds(left, sizeof left, (mcp_clock() - began) * (total - done) / (done - before));
        fprintf(stderr, live ? "\r%d of %d runs done, %s left \033[K" : "%d of %d runs done, %s left\n", done,
                total, left);
    }
    if (live && !quiet && !w->rank) fprintf(stderr, "\r\033[K");
}

static int run_all(workshop *w, int threads, int quiet)
{
    pthread_t *t = mcp_calloc((size_t)threads, sizeof *t);
    int        started = 0;
    w->tries = mcp_calloc((size_t)mcp_study_runs(w->study) + 1, sizeof *w->tries);
    if (t && w->tries) {
        w->running = threads;
        for (; started < threads && !pthread_create(&t[started], NULL, work, w); started++) {}
        pthread_mutex_lock(&w->lock);
        w->running -= threads - started;
        pthread_mutex_unlock(&w->lock);
        if (started) watch(w, quiet);
        for (int i = 0; i < started; i++) pthread_join(t[i], NULL);
    }
    mcp_free(t);
    mcp_free(w->tries);
    if (!started) fprintf(stderr, "mcpilco study: no thread could be started\n");
    return started > 0;
}

static int conclude(const workshop *w)
{
    mcp_study_result r;
    mcp_text         table = {0};
    mcp_error        err;
    int              code = 1, done, left = count_runs(w, &done) - done;
    if (mcp_study_collect(&r, w->study, w->out, &err) != MCP_OK ||
        mcp_study_write(w->study, &r, w->out, &err) != MCP_OK)
        term_error("study", &err);
    else {
        mcp_study_print(&table, w->study, &r);
        fputs(table.data ? table.data : "", stdout);
        printf("rows: %s/runs.csv, summary.csv, times.csv; page: mcpilco report %s\n", w->out, w->out);
        code = left ? (term_stop() ? 130 : 1) : 0;
        if (left)
            fprintf(stderr,
                    "mcpilco study: %d of %d runs are not finished; the same command goes on with them\n",
                    left, done + left);
    }
    mcp_text_free(&table);
    mcp_study_result_free(&r);
    return code;
}

static int parse_seeds(const char *text, mcp_study *s)
{
    int  a, b;
    char rest;
    if (!text) return 1;
    int n = sscanf(text, "%d..%d%c", &a, &b, &rest);
    if (n == 1 && !strchr(text, '.')) {
        b = a;
        n = 2;
    }
    if (n != 2 || a < 0 || b < a || b > 1000000) {
        fprintf(stderr, "mcpilco study: --seeds %s: expected FIRST..LAST, e.g. 1..50\n", text);
        return 0;
    }
    s->seed_first = a;
    s->seed_last  = b;
    return 1;
}

/* Tells `report` which file this was. */
static int note_file(const mcp_study *s, const char *out)
{
    mcp_error  err;
    char      *path = mcp_sprintf("%s/study.txt", out), *text = NULL;
    mcp_status st = mcp_folder_make(out, &err);
    char *real = realpath(s->file, NULL); /* the page may be made from another folder */
    text       = mcp_sprintf("%s\n%d %d\n", real ? real : s->file, s->seed_first, s->seed_last);
    free(real);
    if (st == MCP_OK)
        st = path && text ? mcp_file_write(path, text, strlen(text), &err)
                          : mcp_fail(&err, MCP_ERR_MEMORY, "out of memory");
    mcp_free(path);
    mcp_free(text);
    if (st != MCP_OK) term_error("study", &err);
    return st == MCP_OK;
}

static int known_variants(const mcp_study *s, const option_list *only)
{
    for (int k = 0; k < only->count; k++) {
        int known = 0;
        for (int v = 0; v < s->variants; v++) known |= !strcmp(only->item[k], s->variant[v].name);
        if (known) continue;
        fprintf(stderr, "mcpilco study: --only %s: %s has no such variant; it has", only->item[k], s->file);
        for (int v = 0; v < s->variants; v++) fprintf(stderr, "%s %s", v ? "," : "", s->variant[v].name);
        fprintf(stderr, "\n");
        return 0;
    }
    return 1;
}

/* Rows of an earlier part, given now or with the folder's last command. */
static int take_known(mcp_study *s, const char *known, const char *out)
{
    mcp_error  err;
    mcp_status st = known ? mcp_study_know(s, known, &err) : mcp_study_know_folder(s, out, &err);
    if (st != MCP_OK) term_error("study", &err);
    return st == MCP_OK;
}

static int study_here(mcp_study *s, workshop *w, const char *seeds, const char *known, int threads, int quiet,
                      int table)
{
    mcp_error err;
    if (!parse_seeds(seeds, s) || !known_variants(s, w->only)) return 2;
    if (!take_known(s, known, w->out)) return 1;
    if (mcp_study_same(s, w->out, &err) != MCP_OK) return w->rank ? 1 : term_error("study", &err);
    if (!w->rank && !note_file(s, w->out)) return 1;
    if (!w->rank && known && mcp_study_keep(w->out, known, &err) != MCP_OK) return term_error("study", &err);
#ifdef MCP_HAVE_MPI
    if (w->ranks > 1) MPI_Barrier(MPI_COMM_WORLD);
#endif
    if (threads <= 0) threads = w->ranks > 1 ? 1 : (int)sysconf(_SC_NPROCESSORS_ONLN);
    int ok = table || run_all(w, threads, quiet);
#ifdef MCP_HAVE_MPI
    if (w->ranks > 1) MPI_Barrier(MPI_COMM_WORLD);
#endif
    return w->rank ? !ok : ok ? conclude(w) : 1;
}

int cmd_study(int argc, char **argv)
{
    const char  *file[1], *out = NULL, *seeds = NULL, *known = NULL;
    option_list  only = {0};
    int          threads = 0, quiet = 0, table = 0;
    const option options[] = {
        {"--out", OPTION_TEXT, &out, 0, 0, "DIR", "folder of the study (studies/NAME)", "-o"},
        {"--seeds", OPTION_TEXT, &seeds, 0, 0, "A..B", "first and last seed (the file's)", NULL},
        {"--only", OPTION_LIST, &only, 0, 0, "VARIANT", "this variant alone; may be given more than once",
         NULL},
        {"--known", OPTION_TEXT, &known, 0, 0, "FILE",
         "runs.csv of an earlier part: what it has is not run again and stands in the tables", NULL},
        {"--threads", OPTION_INT, &threads, 0, 1024, "K",
         "runs at the same time (one per core; under mpirun one per rank)", NULL},
        {"--table", OPTION_FLAG, &table, 0, 0, NULL, "start no run, only tell what the finished ones say",
         NULL},
        {"--quiet", OPTION_FLAG, &quiet, 0, 0, NULL, "no progress", NULL},
    };
    const command verb = {
        .verb = "study",
        .synopsis = "FILE [options]",
        ONE_ARGUMENT(options, file),
        .about = "Runs every variant of the file with every seed, evaluates the policies on the plant and "
                 "prints success per trial with\n"
                 "Wilson's 95 % interval, costs, first success and times. Stopped or killed, the same "
                 "command goes on with what is left.\n"
                 "Under mpirun the ranks share the runs; the folder must be on a file system they all see. "
                 "Numbers do not depend on\n"
                 "threads or ranks. docs/study.md describes the file.",
        .examples = "  mcpilco study experiments/table1.yaml --seeds 1..50\n"
                    "  mpirun -n 4 mcpilco study experiments/table1.yaml --out /shared/table1\n",
    };
    mcp_study *s;
    mcp_error  err;
    char       folder[4096];
    workshop   w = {.only = &only, .out = folder, .ranks = 1, .lock = PTHREAD_MUTEX_INITIALIZER};
    int        code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    if (mcp_study_load(&s, file[0], &err) != MCP_OK) return term_error("study", &err);
    const char *slash = strrchr(file[0], '/'), *base = slash ? slash + 1 : file[0];
    if (out) snprintf(folder, sizeof folder, "%s", out);
    else
        snprintf(folder, sizeof folder, "studies/%.*s",
                 (int)(strchr(base, '.') ? strchr(base, '.') - base : (long)strlen(base)), base);
#ifdef MCP_HAVE_MPI
    /* only when a launcher started us: a plain run must not need MPI's daemons */
    int mpi = getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
    if (mpi) {
        int provided;
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    }
#endif
    term_catch_signals();
    w.study = s;
    code = study_here(s, &w, seeds, known, threads, quiet, table);
#ifdef MCP_HAVE_MPI
    if (mpi) MPI_Finalize();
#endif
    mcp_study_free(s);
    return code;
}
