/* Tasks are each run once, by workers with distinct numbers, and run() returns after the last one. */
#include "math/pool.h"

#include <stdatomic.h>

#include "math/arena.h"
#include "test.h"

enum { TASKS = 500 };

typedef struct {
    atomic_int runs[TASKS];
    atomic_int inside[8]; /* callers within one worker number at a time */
    double     result[TASKS];
    int        threads;
    atomic_int wrong;
} job;

static void task_fn(void *context, int task, int worker)
{
    job *j = context;
    if (worker < 0 || worker >= j->threads || atomic_fetch_add(&j->inside[worker], 1))
        atomic_fetch_add(&j->wrong, 1);
    double x = task;
    for (int i = 0; i < 200; i++) x = sin(x) + task;
    j->result[task] = x;
    atomic_fetch_add(&j->runs[task], 1);
    atomic_fetch_sub(&j->inside[worker], 1);
}

CASE(every_task_runs_once_on_1_2_and_3_threads_with_one_result)
{
    static job first, j;
    for (int threads = 0; threads <= 3; threads++) { /* 0: no pool at all */
        mcp_pool *pool = NULL;
        if (threads) REQUIRE_OK(mcp_pool_create(&pool, threads, err));
        CHECK(mcp_pool_threads(pool) == (threads ? threads : 1));
        for (int again = 0; again < 20; again++) {
            memset(&j, 0, sizeof j);
            j.threads = threads ? threads : 1;
            mcp_pool_run(pool, TASKS, task_fn, &j);
            CHECK(!j.wrong);
            for (int i = 0; i < TASKS; i++) REQUIRE(j.runs[i] == 1);
            if (!threads) memcpy(first.result, j.result, sizeof j.result);
            CHECK(!memcmp(first.result, j.result, sizeof j.result));
        }
        mcp_pool_free(pool);
    }
}

CASE(few_and_no_tasks_are_fine)
{
    static job j;
    mcp_pool  *pool = NULL;
    REQUIRE_OK(mcp_pool_create(&pool, 3, err));
    j.threads = 3;
    for (int tasks = 0; tasks < 5; tasks++) {
        memset(j.runs, 0, sizeof j.runs);
        mcp_pool_run(pool, tasks, task_fn, &j);
        for (int i = 0; i < 5; i++) CHECK(j.runs[i] == (i < tasks));
    }
    mcp_pool_free(pool);
    mcp_pool_free(NULL);
}

CASE(zero_threads_means_one_per_core)
{
    mcp_pool *pool = NULL;
    REQUIRE_OK(mcp_pool_create(&pool, 0, err));
    CHECK(mcp_pool_threads(pool) >= 1);
    mcp_pool_free(pool);
}

CASE(impossible_pools_are_refused_with_a_sentence)
{
    mcp_error e;
    mcp_pool *pool = NULL;
    CHECK(mcp_pool_create(&pool, 100000, &e) == MCP_ERR_ARG && !pool);
    CHECK_HAS(e.text, "4096");
    mcp_alloc_fail_at(1);
    CHECK(mcp_pool_create(&pool, 2, &e) == MCP_ERR_MEMORY && !pool);
    CHECK_HAS(e.text, "out of memory");
    mcp_alloc_fail_at(0);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_task_runs_once_on_1_2_and_3_threads_with_one_result);
    RUN(few_and_no_tasks_are_fine);
    RUN(zero_threads_means_one_per_core);
    RUN(impossible_pools_are_refused_with_a_sentence);
    return DONE();
}
