/* test_score.c - one rule for every motion: all of the last seconds, no limit ever, the applied input. */
#include "control/score.h"

#include "math/arena.h"
#include "test.h"

enum { M = 4 };

typedef struct {
    mcp_task   *task;
    mcp_system *s;
    mcp_scorer *scorer;
    double     *x, *u; /* [T+1][M][nx], [T+1][M][nu] */
} fixture;

static int fixture_make(fixture *f, const char *set)
{
    const char *const list[] = {set};
    mcp_error         err = {MCP_OK, ""};
    *f = (fixture){0};
    if (mcp_task_load(&f->task, TEST_SOURCE_DIR "/tasks/pendulum.yaml", list, 1, &err) != MCP_OK ||
        mcp_system_create(&f->s, f->task, &err) != MCP_OK ||
        mcp_scorer_create(&f->scorer, f->s, &err) != MCP_OK) {
        FAIL_("%s", err.text);
        return 0;
    }
    size_t rows = (size_t)(f->s->steps + 1) * M;
    f->x = mcp_calloc(rows * 2, sizeof *f->x);
    f->u = mcp_calloc(rows, sizeof *f->u);
    return f->x && f->u && f->s->nx == 2 && f->s->nu == 1;
}

static void fixture_free(fixture *f)
{
    mcp_free(f->x);
    mcp_free(f->u);
    mcp_scorer_free(f->scorer);
    mcp_system_free(f->s);
    mcp_task_free(f->task);
}

static mcp_motion motion(const fixture *f, int j)
{
    return (mcp_motion){.samples = f->s->steps + 1,
                        .states = f->x + 2 * j,
                        .inputs = f->u + j,
                        .state_stride = 2 * M,
                        .input_stride = M};
}

static int successes(fixture *f, double margin)
{
    int n = 0;
    for (int j = 0; j < M; j++) {
        mcp_motion m = motion(f, j);
        mcp_score  score;
        mcp_scorer_run(f->scorer, &m, &score);
        int alone = mcp_scorer_success(f->scorer, &m, margin);
        CHECK(margin > 0.0 || alone == score.success); /* one rule, asked twice */
        n += alone;
    }
    return n;
}

CASE(success_needs_all_of_the_last_seconds_and_no_limit)
{
    fixture f;
    REQUIRE(fixture_make(&f, "limits={fast: abs(dtheta) > 50}"));
    const int T = f.s->steps, last = (int)lround(f.task->success_last / f.s->ts);
    REQUIRE(last > 1 && last < T);
    for (int t = 0; t <= T; t++)
        for (int j = 0; j < M; j++) {
            f.x[(t * M + j) * 2] = t >= T - last ? acos(-1) : 0; /* upright just long enough */
            if (t == T) f.u[t * M + j] = NAN;
        }
    CHECK(successes(&f, 0.0) == 4);
    CHECK(successes(&f, 1.0 / last) == 0); /* one sample longer than it stood */
    CHECK(successes(&f, 0.0) == 4);
    f.x[((T - last) * M + 1) * 2] = 0; /* particle 1 is late by one sample */
    CHECK(successes(&f, 0.0) == 3);
    f.x[(T * M + 2) * 2] = 2; /* particle 2 falls in the last sample */
    CHECK(successes(&f, 0.0) == 2);
    f.x[(3 * M + 3) * 2 + 1] = 60; /* particle 3 is over a limit early on */
    CHECK(successes(&f, 0.0) == 1);
    mcp_motion m = motion(&f, 3);
    mcp_score  score;
    mcp_scorer_run(f.scorer, &m, &score);
    CHECK(score.limit == 1 && !score.success);
    fixture_free(&f);
}

CASE(the_last_input_stands_where_none_is_applied)
{
    fixture f;
    REQUIRE(fixture_make(&f, "cost=u^2"));
    const int T = f.s->steps;
    for (int t = 0; t < T; t++) f.u[t * M] = 0.1 * t;
    f.u[T * M] = NAN;
    mcp_motion m = motion(&f, 0);
    mcp_score  score;
    double     sum = 0.01 * (T - 1) * (T - 1);
    for (int t = 0; t < T; t++) sum += 0.01 * t * t;
    mcp_scorer_run(f.scorer, &m, &score);
    CHECK_CLOSE(score.cost, sum, 1e-12, 0);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(success_needs_all_of_the_last_seconds_and_no_limit);
    RUN(the_last_input_stands_where_none_is_applied);
    return DONE();
}
