/* labels: slow */
/* test_long_run.c - ten million samples, hostile ones among them: library and exported C agree. */
#include "exported.h"

CASE(ten_million_samples_agree)
{
    static exported x;
    enum { SAMPLES = 10000000 };
    if (exported_make(&x, &controllers[1].p, 0)) {
        long differ = 0, faults = 0;
        mcp_runtime_reset(x.runtime);
        x.start(x.state);
        for (int t = 0; t < SAMPLES; t++) {
            double y[2] = {sin(0.3 * t), mcp_angle_wrap(1.6 * t + sin(0.05 * t))}, u;
            if (t % 997 == 0) hostile_sample(5, t, 2, 1, y);
            int bad = mcp_runtime_step(x.runtime, x.f.theta, NULL, y) != MCP_FAULT_NONE;
            faults += bad;
            differ += exported_step(&x, y, &u) != bad || !(fabs(u - x.runtime->command[0]) <= 1e-12);
        }
        if (differ) FAIL_("%ld of %d samples differ", differ, SAMPLES);
        CHECK(faults > 100);
    }
    exported_free(&x);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(ten_million_samples_agree);
    return DONE();
}
