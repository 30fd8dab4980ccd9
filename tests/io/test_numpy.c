/* test_numpy.c - NumPy reads our .npy files: every bit, the shape, the type. */
#include <unistd.h>

#include "io/npy.h"
#include "test.h"

static const double value[8] = {1, -0.0, 1e-300, 1.0 / 3, 5e-324, 1.7976931348623157e308, -2.5, 0.1};

CASE(numpy_reads_our_npy)
{
    int shape[2] = {2, 4}, one = 3;
    REQUIRE_OK(mcp_npy_write("numpy_two.npy", 2, shape, value, err));
    REQUIRE_OK(mcp_npy_write("numpy_one.npy", 1, &one, value, err));
    CHECK(system("/usr/bin/python3 -c 'import numpy as n\n"
                 "a, b = n.load(\"numpy_two.npy\"), n.load(\"numpy_one.npy\")\n"
                 "want = [1, -0.0, 1e-300, 1/3, 5e-324, 1.7976931348623157e308, -2.5, 0.1]\n"
                 "assert a.dtype == n.float64 and a.shape == (2, 4) and b.shape == (3,)\n"
                 "assert a.tobytes() == n.array(want).tobytes() and list(b) == want[:3]'") == 0);
    remove("numpy_two.npy");
    remove("numpy_one.npy");
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    if (system("/usr/bin/python3 -c 'import numpy' 2> /dev/null")) return SKIPPED("no NumPy");
    RUN(numpy_reads_our_npy);
    return DONE();
}
