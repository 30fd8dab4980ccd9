/* pool.c - threads that take numbered tasks from one counter. The caller works too; it returns when the last
 * task has ended and every worker has let go of the job.
 *
 * A policy-gradient step is a millisecond, and to wake a thread that sleeps takes some fifty microseconds: so
 * whoever waits looks again and again for about that long before it sleeps. Not where threads have to share
 * cores: there the one waited for could use the time. */
#include "math/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "math/arena.h"

enum { LOOKS = 2000 }; /* of some tens of nanoseconds each */

typedef struct {
    mcp_pool *pool;
    int       worker;
    pthread_t thread;
} worker;

struct mcp_pool {
    int             threads; /* the caller included */
    int             started; /* worker threads that exist */
    pthread_mutex_t lock;
    pthread_cond_t  work, idle;
    int             looks;    /* how often to look before sleeping */
    int             sleepers; /* workers that sleep; under the lock */
    atomic_ulong    job;      /* number of the present job; a worker waits for it to change */
    atomic_int      busy;     /* workers that have not finished the present job */
    atomic_int      quit;
    int             tasks;
    mcp_pool_fn    *fn;
    void           *context;
    atomic_int      next;
    worker          workers[]; /* threads - 1 */
};

static void take_tasks(mcp_pool *p, int me)
{
    for (int task; (task = atomic_fetch_add(&p->next, 1)) < p->tasks;) p->fn(p->context, task, me);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void wait_for_job(mcp_pool *p, unsigned long seen)
{
    for (int i = 0; i < p->looks; i++) {
        if (atomic_load(&p->job) != seen || atomic_load(&p->quit)) return;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    p->sleepers++;
    while (!atomic_load(&p->quit) && atomic_load(&p->job) == seen) pthread_cond_wait(&p->work, &p->lock);
    p->sleepers--;
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg)
{
    worker   *w = arg;
    mcp_pool *p = w->pool;
    for (unsigned long seen = 0;; seen++) { /* no job begins before all workers have let go of the last */
        wait_for_job(p, seen);
        if (atomic_load(&p->quit)) break;
        take_tasks(p, w->worker);
        if (atomic_fetch_sub(&p->busy, 1) > 1) continue;
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->idle);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void wait_for_workers(mcp_pool *p)
{
    for (int i = 0; i < p->looks; i++) {
        if (!atomic_load(&p->busy)) return;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->busy)) pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int mcp_pool_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

mcp_status mcp_pool_create(mcp_pool **out, int threads, mcp_error *err)
{
    *out = NULL;
    if (threads <= 0) threads = mcp_pool_cores();
    if (threads > 4096)
        return mcp_fail(err, MCP_ERR_ARG, "%d threads were asked for; 4096 is the most", threads);
    mcp_pool *p = mcp_calloc(1, sizeof *p + (size_t)threads * sizeof p->workers[0]);
    if (!p) return mcp_fail(err, MCP_ERR_MEMORY, "out of memory for a pool of %d threads", threads);
    p->threads = threads;
    p->looks = threads <= mcp_pool_cores() ? LOOKS : 0;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, NULL);
    for (int i = 0; i < threads - 1; i++) {
        p->workers[i] = (worker){.pool = p, .worker = i + 1};
        if (pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i])) {
            mcp_pool_free(p);
            return mcp_fail(err, MCP_ERR_MEMORY, "the system refused thread %d of %d; ask for fewer", i + 2,
                            threads);
        }
        p->started++;
    }
    *out = p;
    return MCP_OK;
}

void mcp_pool_free(mcp_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->quit, 1);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    mcp_free(p);
}

int mcp_pool_threads(const mcp_pool *p)
{
    return p ? p->threads : 1;
}

void mcp_pool_run(mcp_pool *p, int tasks, mcp_pool_fn *fn, void *context)
{
    if (!p || p->threads == 1 || tasks == 1) {
        for (int task = 0; task < tasks; task++) fn(context, task, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->tasks   = tasks;
    p->fn      = fn;
    p->context = context;
    atomic_store(&p->busy, p->started);
    atomic_store(&p->next, 0);
    atomic_fetch_add(&p->job, 1);
    if (p->sleepers) pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    take_tasks(p, 0);
    wait_for_workers(p);
}
