/* locale_host.c - a program that embeds the library in the locale of its user: learns over exec, dumps the
 * task, drives the controller. usage: EXPECT=0,5 locale_host TASK PLANT FOLDER; exit 77: 1/2 is not printed
 * as expected. */
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcpilco/mcpilco.h"

static int failed(const mcp_error *e)
{
    fprintf(stderr, "locale_host: %s\n", e->text);
    return 1;
}

static int drive(const char *folder, mcp_error *err)
{
    mcp_controller *c = NULL;
    if (mcp_controller_load(&c, folder, 0, err) != MCP_OK) return failed(err);
    mcp_controller_reset(c);
    for (int k = 0; k < 20; k++) {
        double   y = 0.1 * k, u;
        uint64_t bits; /* its own printf is in its own locale */
        mcp_controller_step(c, &y, &u, NULL);
        memcpy(&bits, &u, sizeof bits);
        printf("%016llx\n", (unsigned long long)bits);
    }
    mcp_controller_free(c);
    return 0;
}

int main(int argc, char **argv)
{
    mcp_task          *task = NULL, *none = NULL;
    mcp_learner       *l = NULL;
    mcp_learn_settings s;
    mcp_error          err;
    char               number[16], *json = NULL;
    if (argc < 4) return 2;
    setlocale(LC_ALL, "");
    snprintf(number, sizeof number, "%.1f", 0.5);
    if (strcmp(number, getenv("EXPECT"))) return 77;

    const char *const set[] = {argv[2], "optimise.particles=24", "optimise.steps_first=20",
                               "inputs.u.slew=20.5"};
    if (mcp_task_load(&task, argv[1], set, 4, &err) != MCP_OK) return failed(&err);
    if (mcp_task_dump(task, &json, &err) != MCP_OK) return failed(&err);
    printf("%s", json);
    mcp_task_text_free(json);
    mcp_learn_settings_default(&s);
    s.folder = argv[3];
    s.threads = 1;
    mcp_status st = mcp_learner_create(&l, task, &s, &err);
    while (st == MCP_OK && mcp_learner_trials(l) < 1) st = mcp_learner_trial(l, NULL, &err);
    if (st != MCP_OK) return failed(&err);
    mcp_learner_close(l, MCP_RUN_IS_FINISHED, NULL);
    mcp_learner_free(l);
    mcp_task_free(task);

    const char *wrong = "inputs.u.limit=-2.5"; /* numbers in sentences */
    if (mcp_task_load(&none, argv[1], &wrong, 1, &err) == MCP_OK) return 1;
    printf("%s\n", err.text);
    int code = drive(argv[3], &err);
    snprintf(number, sizeof number, "%.1f", 0.5); /* the locale is still its own */
    return code ? code : strcmp(number, getenv("EXPECT")) != 0;
}
