/* The share of particles that would count as a success: all of the last seconds, and no limit ever. */
#include "optim/success.h"

#include "math/arena.h"
#include "test.h"

enum { M = 4 };

CASE(success_needs_all_of_the_last_seconds_and_no_limit)
{
    const char *const set[] = {"limits={fast: abs(dtheta) > 50}"};
    mcp_task         *task;
    mcp_system       *s;
    REQUIRE_OK(mcp_task_load(&task, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, 1, err));
    REQUIRE_OK(mcp_system_create(&s, task, err));
    REQUIRE(s->nx == 2 && s->nu == 1);
    size_t  rows = (size_t)(s->steps + 1) * M;
    double *x = mcp_calloc(rows * 2, sizeof *x), *u = mcp_calloc(rows, sizeof *u),
           *work = mcp_calloc(mcp_success_work(s), sizeof *work);
    int     last = (int)lround(task->success_last / s->ts);
    REQUIRE(x && u && work && last > 1 && last < s->steps);
    for (int t = 0; t <= s->steps; t++)
        for (int j = 0; j < M; j++) {
            double *at = x + ((size_t)t * M + (size_t)j) * 2;
            at[0] = t >= s->steps - last ? acos(-1) : 0; /* upright just long enough */
            if (t == s->steps) u[(size_t)t * M + (size_t)j] = NAN;
        }
    CHECK(mcp_success_rate(s, 0.0, M, x, u, work) == 1);
    CHECK(mcp_success_rate(s, 1.0 / last, M, x, u, work) == 0); /* one sample longer than it stood */
    CHECK(mcp_success_rate(s, 0.0, M, x, u, work) == 1);
    x[((size_t)(s->steps - last) * M + 1) * 2] = 0; /* particle 1 is late by one sample */
    CHECK(mcp_success_rate(s, 0.0, M, x, u, work) == 0.75);
    x[((size_t)s->steps * M + 2) * 2] = 2; /* particle 2 falls in the last sample */
    CHECK(mcp_success_rate(s, 0.0, M, x, u, work) == 0.5);
    x[((size_t)3 * M + 3) * 2 + 1] = 60; /* particle 3 is over a limit early on */
    CHECK(mcp_success_rate(s, 0.0, M, x, u, work) == 0.25);
    mcp_free(x);
    mcp_free(u);
    mcp_free(work);
    mcp_system_free(s);
    mcp_task_free(task);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(success_needs_all_of_the_last_seconds_and_no_limit);
    return DONE();
}
