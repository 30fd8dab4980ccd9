/* test_guide.c - the YAML pieces of docs/your-own-robot.md, put together, are tasks/reaction-wheel.yaml;
 * the minimal file of docs/task-file.md loads. */
#include "test.h"

#include "control/runtime.h"
#include "task/task_data.h"

enum { ROOM = 1 << 16 };

/* The ```yaml blocks of a page, one after another; begins: that one alone whose first line it is. */
static void collect(const char *page, const char *begins, char *out, size_t size)
{
    char path[512], line[1024];
    int  inside = 0, first = 0;
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, page);
    FILE *f = fopen(path, "r");
    out[0]  = 0;
    REQUIRE(f != NULL);
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "```", 3)) {
            first = inside = !inside && !strncmp(line, "```yaml", 7);
            continue;
        }
        if (first && begins) inside = !strncmp(line, begins, strlen(begins));
        first = 0;
        if (inside && strlen(out) + strlen(line) + 1 < size)
            strcat(out, line);
    }
    fclose(f);
}

CASE(guide_builds_the_example)
{
    static char text[ROOM];
    mcp_task   *guide = NULL, *example = NULL;
    char       *a = NULL, *b = NULL;
    collect("docs/your-own-robot.md", NULL, text, sizeof text);
    REQUIRE_OK(mcp_task_parse(&guide, "your-own-robot.md", text, NULL, 0, err));
    REQUIRE_OK(mcp_task_load(&example, TEST_SOURCE_DIR "/tasks/reaction-wheel.yaml", NULL, 0, err));
    REQUIRE_OK(mcp_task_dump(guide, &a, err));
    REQUIRE_OK(mcp_task_dump(example, &b, err));
    CHECK(strlen(a) == strlen(b)); /* the order of sections differs */
    for (char *rest, *line = strtok_r(a, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t n = strlen(line);
        if (n && line[n - 1] == ',') line[n - 1] = 0; /* the last of the file has no comma */
        if (!strstr(b, line)) FAIL_("the example lacks: %s", line);
    }
    mcp_task_text_free(a);
    mcp_task_text_free(b);
    mcp_task_free(guide);
    mcp_task_free(example);
}

CASE(smallest_file_of_the_reference_loads)
{
    static char text[ROOM];
    mcp_task   *t = NULL;
    collect("docs/task-file.md", NULL, text, sizeof text);
    REQUIRE_OK(mcp_task_parse(&t, "task-file.md", text, NULL, 0, err));
    CHECK(t->nx == 2);
    mcp_task_free(t);
}

/* The custom observer of the page, by hand: what y_theta and last_u mean, sample by sample. */
CASE(custom_observer_of_the_page_does_what_it_says)
{
    static char  text[ROOM];
    mcp_task    *t = NULL;
    mcp_system  *s = NULL;
    mcp_runtime *r = NULL;
    double       a = 0.0, w = 0.0, last = 0.0;
    collect("docs/observers-and-smoothers.md", "name: pendulum-observer", text, sizeof text);
    REQUIRE_OK(mcp_task_parse(&t, "observers-and-smoothers.md", text, NULL, 0, err));
    REQUIRE_OK(mcp_system_create(&s, t, err));
    REQUIRE_OK(mcp_runtime_create(&r, s, err));
    for (int k = 0; k < 50; k++) {
        double y = 0.8 * sin(0.3 * k) + 0.02 * cos(5.0 * k), u = 4.0 * sin(0.7 * k);
        if (k == 0) a = y;
        double ahead = a + 0.05 * w;
        double speed = w + 0.05 * (last - 9.81 * 0.5 * sin(a)) / 0.25 + 4 * (y - ahead);
        CHECK(mcp_runtime_step(r, NULL, &u, &y) == MCP_FAULT_NONE);
        CHECK_CLOSE(r->observed[0], ahead + 0.6 * (y - ahead), 1e-12, 1e-12);
        CHECK_CLOSE(r->observed[1], speed, 1e-12, 1e-12);
        a    = ahead + 0.6 * (y - ahead);
        w    = speed;
        last = fmax(-2.5, fmin(2.5, u)); /* as it was sent */
    }
    mcp_runtime_free(r);
    mcp_system_free(s);
    mcp_task_free(t);
}

/* The camera of the same page: the angle from where the tip is, over the top and on. */
CASE(camera_of_the_page_tells_the_angle)
{
    static char  text[ROOM];
    mcp_task    *t = NULL;
    mcp_system  *s = NULL;
    mcp_runtime *r = NULL;
    collect("docs/observers-and-smoothers.md", "name: pendulum-camera", text, sizeof text);
    REQUIRE_OK(mcp_task_parse(&t, "observers-and-smoothers.md", text, NULL, 0, err));
    CHECK_CLOSE(t->seen[0].noise, 0.004, 1e-4, 0.0);
    REQUIRE_OK(mcp_system_create(&s, t, err));
    REQUIRE_OK(mcp_runtime_create(&r, s, err));
    for (int k = 0; k < 50; k++) {
        double theta = 0.3 * k, y[2] = {0.5 * sin(theta), -0.5 * cos(theta)}, u = 0.0;
        CHECK(mcp_runtime_step(r, NULL, &u, y) == MCP_FAULT_NONE);
        CHECK_CLOSE(r->observed[0], theta, 1e-12, 1e-12);
        CHECK_CLOSE(r->observed[1], k ? 0.3 * 20 : 0.0, 1e-9, 1e-12);
    }
    mcp_runtime_free(r);
    mcp_system_free(s);
    mcp_task_free(t);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(guide_builds_the_example);
    RUN(smallest_file_of_the_reference_loads);
    RUN(custom_observer_of_the_page_does_what_it_says);
    RUN(camera_of_the_page_tells_the_angle);
    return DONE();
}
