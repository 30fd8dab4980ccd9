/* test_plant_memory.c - the k-th allocation fails, for every k from opening the plant to the GP pairs: each
 * time a clear MCP_ERR_MEMORY, nothing crashes, nothing leaks (under AddressSanitizer). This program starts
 * itself with --child MODE and MCPILCO_FAIL_ALLOC=k. */
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "estimate/estimate.h"
#include "math/arena.h"
#include "plant/plant_handle.h"
#include "plant/serve.h"

static char self[512];

enum { DONE_WELL = 0, FAILED_BEFORE = 10, FAILED_CLEANLY = 11, WRONG = 12 };

static mcp_task *make_task(const char *mode)
{
    static char plant[1024];
    if (!strcmp(mode, "wire")) snprintf(plant, sizeof plant, "{exec: [%s, --serve, x], timeout: 10}", self);
    if (!strcmp(mode, "file")) snprintf(plant, sizeof plant, "{file: memory.csv}");
    if (!strcmp(mode, "ode"))
        snprintf(plant, sizeof plant, "{ode: {v: 'u - 4*q - w', w: -w}, hidden: {w: q}, after: {q: q}}");
    return bench_task(
        (bench_parts){.plant = plant, .smoother = "{type: kalman, drive: 2}", .more = "safe: -q\n"});
}

static int child(const char *mode)
{
    mcp_error   why = {MCP_OK, ""};
    mcp_task   *task;
    mcp_system *s = NULL;
    mcp_plant  *p = NULL;
    mcp_trial  *t = NULL;
    mcp_states *z = NULL;
    mcp_pairs  *g = NULL;
    int         result = WRONG;
    mcp_free(mcp_calloc(1, 1)); /* the library has now read the variable; what we start shall not */
    unsetenv("MCPILCO_FAIL_ALLOC");
    task = make_task(mode);
    if (!task || mcp_system_create(&s, task, &why) != MCP_OK) {
        result = FAILED_BEFORE;
    } else if (mcp_plant_open(&p, s, &why) == MCP_OK && mcp_trial_create(&t, task, &why) == MCP_OK &&
               mcp_plant_run(p, NULL, (mcp_trial_key){1, 0, 0}, NULL, NULL, t, &why) == MCP_OK &&
               mcp_estimate_states(&z, s, t, &why) == MCP_OK &&
               mcp_estimate_pairs(&g, s, 1, &t, &z, &why) == MCP_OK) {
        result = g->n == 100 ? DONE_WELL : WRONG;
    } else if (why.status == MCP_ERR_MEMORY && strstr(why.text, "memory")) {
        result = FAILED_CLEANLY;
    } else {
        printf("%s\n", why.text);
    }
    mcp_pairs_free(g);
    mcp_states_free(z);
    mcp_trial_free(t);
    mcp_plant_close(p);
    mcp_system_free(s);
    mcp_task_free(task);
    return result;
}

static int serve(void)
{
    mcp_error   why = {MCP_OK, ""};
    mcp_system *s = NULL;
    mcp_plant  *p = NULL;
    mcp_server *server = NULL;
    mcp_task   *task = make_task("ode");
    mcp_link   *l = mcp_calloc(1, sizeof *l);
    if (!l || !task || mcp_system_create(&s, task, &why) != MCP_OK || mcp_plant_open(&p, s, &why) != MCP_OK ||
        mcp_server_create(&server, p, 1, &why) != MCP_OK)
        return 1;
    l->out = 1;
    (void)mcp_server_run(server, l, NULL, NULL, &why);
    mcp_server_free(server);
    mcp_plant_close(p);
    mcp_system_free(s);
    mcp_task_free(task);
    mcp_free(l);
    return 0;
}

static int run_with(const char *mode, int k)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        char text[16];
        snprintf(text, sizeof text, "%d", k);
        setenv("MCPILCO_FAIL_ALLOC", text, 1);
        if (!freopen("memory.log", "a", stdout)) _exit(1);
        execl(self, self, "--child", mode, (char *)NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void every_allocation(const char *mode)
{
    int low = 1, high = 2; /* the first allocation (after our own) that is the plant's or the estimator's */
    while (high < 1 << 20 && run_with(mode, high) == FAILED_BEFORE) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (run_with(mode, middle) == FAILED_BEFORE) low = middle;
        else high = middle;
    }
    int failed = 0, k = high, code = 0;
    for (; failed < 500; k++, failed++) {
        code = run_with(mode, k);
        if (code == DONE_WELL) break;
        if (code != FAILED_CLEANLY) FAIL_("%s: allocation %d fails: exit code %d", mode, k, code);
    }
    CHECK(code == DONE_WELL);
    CHECK(failed > 5);
}

CASE(simulated_plants_survive_every_failed_allocation)
{
    every_allocation("ode");
}

CASE(recorded_plants_survive_every_failed_allocation)
{
    FILE *f = fopen("memory.csv", "w");
    REQUIRE(f);
    fprintf(f, "t,q,u\n");
    for (int i = 0; i < 101; i++) fprintf(f, "%g,%g,0.5\n", 0.02 * i, 0.01 * i);
    fclose(f);
    every_allocation("file");
}

CASE(wired_plants_survive_every_failed_allocation)
{
    every_allocation("wire");
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return 1;
    if (argc > 2 && !strcmp(argv[1], "--child")) return child(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "--serve")) return serve();
    TEST_ARGS(argc, argv);
    RUN(simulated_plants_survive_every_failed_allocation);
    RUN(recorded_plants_survive_every_failed_allocation);
    RUN(wired_plants_survive_every_failed_allocation);
    return DONE();
}
