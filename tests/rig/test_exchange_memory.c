/* The k-th allocation fails, for every k, while a recording is read and played and while a plant is probed:
 * each time MCP_ERR_MEMORY with a sentence, nothing crashes, nothing leaks (under AddressSanitizer). And what
 * a recording's numbers become. */
#include "io/file.h"
#include "learn/recording.h"
#include "math/arena.h"
#include "plant/bench.h"
#include "plant/probe.h"

static const char *const file = "recording.csv";

static void write_file(const char *header, int rows)
{
    FILE *f = fopen(file, "w");
    fprintf(f, "%s\n", header);
    for (int k = 0; k < rows; k++)
        fprintf(f, "%.17g,%.17g,%.17g\n", 0.02 * k + (k % 2 ? 0.002 : 0.0), sin(0.1 * k),
                k % 5 < 2 ? 0.5 : -0.25);
    fclose(f);
}

static mcp_status read_and_play(const mcp_system *s, mcp_error *err)
{
    mcp_add_settings q;
    mcp_recording   *r = NULL;
    mcp_trial       *t = NULL;
    mcp_add_settings_default(&q);
    mcp_status st = mcp_recording_read(&r, s, file, &q, err);
    if (st == MCP_OK) st = mcp_trial_create(&t, s->task, err);
    if (st == MCP_OK) st = mcp_recording_play(r, s, NULL, NULL, t, err);
    mcp_recording_free(r);
    mcp_trial_free(t);
    return st;
}

static mcp_status probe(const mcp_system *s, mcp_error *err)
{
    static mcp_probe   p;
    mcp_probe_settings q;
    mcp_probe_settings_default(&q);
    return mcp_probe_run(&p, s, &q, NULL, NULL, err);
}

static void fail_each(const mcp_system *s, mcp_status (*work)(const mcp_system *, mcp_error *))
{
    mcp_error why = {MCP_OK, ""};
    long      k = 1;
    for (; k < 10000; k++) {
        mcp_alloc_fail_at(k);
        mcp_status st = work(s, &why);
        if (mcp_alloc_count() < k) { /* it came to its end before the k-th */
            CHECK(st == MCP_OK);
            break;
        }
        if (st != MCP_ERR_MEMORY) FAIL_("allocation %ld: status %d, %s", k, st, why.text);
        if (!why.text[0]) FAIL_("allocation %ld: no sentence", k);
    }
    mcp_alloc_fail_at(0);
    CHECK(k > 5);
    printf("     %ld allocations\n", k - 1);
}

CASE(every_allocation_of_a_recording_may_fail)
{
    mcp_task   *task = bench_task((bench_parts){.plant = NULL});
    mcp_system *s = NULL;
    REQUIRE_OK(mcp_system_create(&s, task, err));
    write_file("t,q,u", 101);
    fail_each(s, read_and_play);
    mcp_system_free(s);
    mcp_task_free(task);
    remove(file);
}

CASE(every_allocation_of_a_probe_may_fail)
{
    mcp_task   *task = bench_task((bench_parts){.plant = NULL});
    mcp_system *s = NULL;
    task->trial = 5.0;
    REQUIRE_OK(mcp_system_create(&s, task, err));
    fail_each(s, probe);
    mcp_system_free(s);
    mcp_task_free(task);
}

CASE(an_uneven_clock_is_resampled_to_the_line_between_samples)
{
    mcp_task        *task = bench_task((bench_parts){.plant = NULL});
    mcp_system      *s = NULL;
    mcp_recording   *r = NULL;
    mcp_add_settings q;
    mcp_add_settings_default(&q);
    REQUIRE_OK(mcp_system_create(&s, task, err));
    write_file("t,q,u", 101);
    REQUIRE_OK(mcp_recording_read(&r, s, file, &q, err)); /* odd samples are a tenth of a period late */
    CHECK(r->resampled && r->rows == 101);
    CHECK_CLOSE(r->off, 0.002, 1e-9, 0);
    for (int k = 1; k < 100; k += 2) {
        CHECK_CLOSE(r->measured[k], sin(0.1 * (k - 1)) + 0.02 / 0.022 * (sin(0.1 * k) - sin(0.1 * (k - 1))),
                    0, 1e-12);
        CHECK(r->input[k] == (k % 5 < 2 ? 0.5 : -0.25)); /* held, not mixed */
        CHECK_CLOSE(r->measured[k + 1], sin(0.1 * (k + 1)), 0, 1e-12);
    }
    mcp_recording_free(r);
    q.rate_tolerance = 0.2; /* near enough: taken as it is */
    REQUIRE_OK(mcp_recording_read(&r, s, file, &q, err));
    CHECK(!r->resampled);
    CHECK(r->measured[1] == sin(0.1));
    mcp_recording_free(r);
    mcp_system_free(s);
    mcp_task_free(task);
    remove(file);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(every_allocation_of_a_recording_may_fail);
    RUN(every_allocation_of_a_probe_may_fail);
    RUN(an_uneven_clock_is_resampled_to_the_line_between_samples);
    return DONE();
}
