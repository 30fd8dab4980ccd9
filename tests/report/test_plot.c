/* Charts are well-formed, honest about their ranges and safe with any text. */
#include "report/plot.h"

#include "test.h"

CASE(ticks_are_round_and_inside)
{
    double t[MCP_PLOT_TICKS];
    int    n = mcp_plot_ticks(-0.37, 2.9, 5, 0, t);
    REQUIRE(n >= 3);
    for (int i = 0; i < n; i++) {
        CHECK(t[i] >= -0.37 && t[i] <= 2.9);
        CHECK_CLOSE(t[i] * 2, round(t[i] * 2), 0, 1e-9); /* step 0.5 */
    }
    CHECK(mcp_plot_ticks(1, 1, 5, 0, t) == 0);
    CHECK(mcp_plot_ticks(NAN, 1, 5, 0, t) == 0);
    n = mcp_plot_ticks(0.8, 3.2, 8, 1, t);
    CHECK(n == 3 && t[0] == 1 && t[2] == 3);
}

CASE(texts_are_escaped)
{
    mcp_text out = {0};
    double   x[] = {0, 1}, y[] = {1, 2};
    mcp_plot p;
    mcp_plot_init(&p, 300, 200, "<script>'&\"", "t", NULL);
    mcp_plot_line(&p, 2, x, y, 1, MCP_C1, "a<b");
    mcp_plot_render(&p, &out);
    CHECK(out.data && !strstr(out.data, "<script"));
    CHECK_HAS(out.data, "&lt;script&gt;&#39;&amp;&quot;");
    CHECK_HAS(out.data, "a&lt;b");
    mcp_text_free(&out);
}

CASE(nan_breaks_a_line_and_never_reaches_the_file)
{
    mcp_text out = {0};
    double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, NAN, 3, INFINITY}, low[] = {0, NAN, 1, 1, 1},
           high[] = {2, 2, NAN, 2, 2};
    mcp_plot p;
    mcp_plot_init(&p, 300, 200, NULL, NULL, NULL);
    mcp_plot_line(&p, 5, x, y, 1, MCP_C1, NULL);
    mcp_plot_band(&p, 5, x, low, high, 1, MCP_C2, NULL);
    mcp_plot_points(&p, 5, x, y, 1, MCP_C2, NULL);
    mcp_plot_render(&p, &out);
    REQUIRE(out.data);
    CHECK(!strstr(out.data, "nan") && !strstr(out.data, "inf"));
    int moves = 0;
    const char *d = strstr(out.data, "class='c1 s'");
    REQUIRE(d && (d = strstr(d, " d='")));
    for (d += 4; *d != '\''; d++) moves += *d == 'M' || *d == 'm';
    CHECK(moves == 2);
    mcp_text_free(&out);
}

CASE(empty_and_constant_data_still_draw)
{
    mcp_text out = {0};
    double   x[] = {1, 1}, y[] = {3, 3};
    mcp_plot p;
    mcp_plot_init(&p, 300, 200, "nothing", "x", "y");
    mcp_plot_render(&p, &out);
    mcp_plot_line(&p, 2, x, y, 1, MCP_C1, NULL);
    mcp_plot_render(&p, &out);
    CHECK(out.data && !strstr(out.data, "nan") && !strstr(out.data, "inf"));
    mcp_text_free(&out);
}

CASE(too_many_items_are_counted_not_written_past_the_table)
{
    double   x[] = {0}, y[] = {0};
    mcp_plot p;
    mcp_plot_init(&p, 300, 200, NULL, NULL, NULL);
    for (int i = 0; i < MCP_PLOT_ITEMS + 7; i++) mcp_plot_line(&p, 1, x, y, 1, MCP_C1, NULL);
    CHECK(p.n == MCP_PLOT_ITEMS && p.dropped == 7);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(ticks_are_round_and_inside);
    RUN(texts_are_escaped);
    RUN(nan_breaks_a_line_and_never_reaches_the_file);
    RUN(empty_and_constant_data_still_draw);
    RUN(too_many_items_are_counted_not_written_past_the_table);
    return DONE();
}
