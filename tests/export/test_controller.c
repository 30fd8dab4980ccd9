/* The embedded controller gives the commands that the plant's own loop recorded, and survives bad numbers. */
#include "mcpilco/controller.h"

#include <unistd.h>

#include "export/export.h"
#include "io/json.h"
#include "learn/run_folder.h"
#include "math/arena.h"
#include "mcpilco/learn.h"
#include "test.h"

static const char folder[] = "controller-run";

static int learn_once(void)
{
    const char *const set[] = {"optimise.particles=24", "optimise.steps_first=10", "measured.theta.wraps=yes",
                               "inputs.u.slew=20"};
    mcp_task          *task;
    mcp_learner       *l = NULL;
    mcp_learn_settings s;
    mcp_error          err;
    if (system("rm -rf controller-run")) return 0;
    if (mcp_task_load(&task, TEST_SOURCE_DIR "/tasks/pendulum.yaml", set, 4, &err) != MCP_OK) return 0;
    mcp_learn_settings_default(&s);
    s.folder = folder;
    s.seed = 3;
    s.threads = 1;
    mcp_status st = mcp_learner_create(&l, task, &s, &err);
    while (st == MCP_OK && mcp_learner_trials(l) < 1) st = mcp_learner_trial(l, NULL, &err);
    if (l) mcp_learner_close(l, MCP_RUN_IS_FINISHED, NULL);
    mcp_learner_free(l);
    mcp_task_free(task);
    if (st != MCP_OK) printf("%s\n", err.text);
    return st == MCP_OK;
}

CASE(step_gives_the_recorded_commands)
{
    mcp_controller     *c;
    mcp_controller_info info;
    mcp_run            *r;
    REQUIRE_OK(mcp_controller_load(&c, folder, 0, err));
    REQUIRE_OK(mcp_run_open(&r, folder, NULL, err));
    mcp_controller_describe(c, &info);
    CHECK(info.rate == 20 && info.measured == 1 && info.commands == 1 && info.states == 2);
    CHECK(!strcmp(mcp_controller_measured_name(c, 0), "theta") && !mcp_controller_measured_name(c, 1));
    CHECK(!strcmp(mcp_controller_command_name(c, 0), "u") && mcp_controller_command_limit(c, 0) == 2.5);
    const mcp_trial *t = mcp_run_trial(r, 1)->trial;
    for (int again = 0; again < 2; again++) { /* reset makes it new */
        mcp_controller_reset(c);
        for (int i = 0; i + 1 < t->samples; i++) {
            double u, z[2], y = remainder(t->measured[i], 2 * acos(-1)); /* as the wrapping sensor gives it */
            CHECK(mcp_controller_step(c, &y, &u, z) == 0);
            CHECK_CLOSE(u, t->input[i], 1e-12, 1e-12);
            CHECK_CLOSE(z[1], t->observed[2 * i + 1], 1e-9, 1e-9);
        }
    }
    mcp_run_free(r);
    mcp_controller_free(c);
}

CASE(a_bad_measurement_gives_the_safe_input_and_is_forgotten)
{
    mcp_controller *a, *b;
    double          u, v, z[2], w[2], y[] = {0.1, 0.12, 0.15}, bad = NAN;
    REQUIRE_OK(mcp_controller_load(&a, folder, 1, err));
    REQUIRE_OK(mcp_controller_load(&b, folder, 1, err));
    mcp_controller_reset(a);
    mcp_controller_reset(b);
    mcp_controller_step(a, &y[0], &u, NULL);
    mcp_controller_step(b, &y[0], &v, NULL);
    CHECK(mcp_controller_step(a, &bad, &u, NULL) == 1 && u == 0);
    bad = INFINITY;
    CHECK(mcp_controller_step(a, &bad, &u, NULL) == 1 && u == 0);
    CHECK(mcp_controller_step(a, &y[1], &u, z) == 0 && mcp_controller_step(b, &y[1], &v, w) == 0);
    CHECK(!memcmp(z, w, sizeof z));      /* the observer as if nothing had been */
    CHECK(fabs(u) <= 20 * 0.05 + 1e-12); /* the slew limit counts from the zero that was sent */
    mcp_controller_safe(a, &u);
    CHECK(u == 0);
    mcp_controller_free(a);
    mcp_controller_free(b);
}

CASE(a_damaged_last_trial_is_not_replaced_by_an_older_policy)
{
    mcp_controller *c;
    mcp_error       why;
    REQUIRE(!system("rm -rf controller-damaged && cp -r controller-run controller-damaged && "
                    "cp -r controller-damaged/trial-01 controller-damaged/trial-02 && "
                    "echo '{' > controller-damaged/trial-02/policy.json"));
    CHECK(mcp_controller_load(&c, "controller-damaged", 0, &why) == MCP_ERR_IO && !c);
    CHECK_HAS(why.text, "trial-02");
    CHECK_HAS(why.text, "by its number");
    CHECK(mcp_controller_load(&c, "controller-damaged", 2, &why) == MCP_ERR_IO && !c);
    CHECK_OK(mcp_controller_load(&c, "controller-damaged", 1, err));
    mcp_controller_free(c);
}

CASE(what_is_not_there_gets_a_sentence)
{
    mcp_controller *c;
    mcp_error       err;
    CHECK(mcp_controller_load(&c, "nowhere", 0, &err) != MCP_OK && !c);
    CHECK_HAS(err.text, "nowhere");
    CHECK(mcp_controller_load(&c, folder, 9, &err) == MCP_ERR_ARG && !c);
    CHECK_HAS(err.text, "trial 9");
    mcp_controller_free(NULL);
}

/* Exported and loaded from the JSON alone: the same commands to the bit as from the folder. */
CASE(exported_json_alone_gives_the_same_controller)
{
    mcp_run            *r = NULL;
    mcp_controller     *a = NULL, *b = NULL;
    mcp_export_info     info;
    mcp_export_settings s = {.prefix = "pendulum"};
    mcp_array           y;
    REQUIRE_OK(mcp_run_open(&r, folder, NULL, err));
    REQUIRE_OK(mcp_folder_make("controller-json", err));
    REQUIRE_OK(mcp_export_controller(r, mcp_run_trial(r, 1), "controller-json", &s, &info, err));
    REQUIRE_OK(mcp_controller_load(&a, folder, 1, err));
    REQUIRE_OK(mcp_controller_load_json(&b, "controller-json/pendulum.json", err));
    REQUIRE(mcp_run_array(r, mcp_run_explored(r), MCP_ARRAY_MEASURED, &y));
    mcp_controller_reset(a);
    mcp_controller_reset(b);
    for (int k = 0; k < y.shape[0]; k++) {
        double u[2] = {0, 0}, z[2][2];
        CHECK(mcp_controller_step(a, y.data + k, &u[0], z[0]) == MCP_STEP_OK);
        CHECK(mcp_controller_step(b, y.data + k, &u[1], z[1]) == MCP_STEP_OK);
        CHECK(u[0] == u[1] && !memcmp(z[0], z[1], sizeof z[0]));
    }
    mcp_controller_free(a);
    mcp_controller_free(b);
    mcp_run_free(r);
}

CASE(a_json_that_is_not_a_controller_gets_a_sentence)
{
    mcp_controller *c = (mcp_controller *)1;
    mcp_error       e = {MCP_OK, ""};
    json_t         *root = NULL, *group;
    char           *text;
    REQUIRE_OK(mcp_json_read(&root, "controller-json/pendulum.json", err));
    CHECK(mcp_controller_parse_json(&c, "{", &e) == MCP_ERR_IO && !c);
    CHECK(mcp_controller_parse_json(&c, "{}", &e) == MCP_ERR_IO && !c);
    CHECK_HAS(e.text, "mcpilco export");
    group = json_array_get(json_object_get(root, "parameters"), 0);
    json_array_remove(json_object_get(group, "values"), 0);
    REQUIRE(text = mcp_json_line(root));
    CHECK(mcp_controller_parse_json(&c, text, &e) == MCP_ERR_IO && !c);
    CHECK_HAS(e.text, "parameters 1");
    mcp_free(text);
    json_array_clear(json_object_get(root, "parameters"));
    REQUIRE(text = mcp_json_line(root));
    CHECK(mcp_controller_parse_json(&c, text, &e) == MCP_ERR_IO && !c);
    CHECK_HAS(e.text, "groups");
    mcp_free(text);
    json_object_set_new(root, "task_text", json_string("rate: fast"));
    REQUIRE(text = mcp_json_line(root));
    CHECK(mcp_controller_parse_json(&c, text, &e) == MCP_ERR_TASK && !c);
    mcp_free(text);
    CHECK(mcp_controller_load_json(&c, "no-such.json", &e) == MCP_ERR_IO && !c);
    json_decref(root);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    if (!learn_once()) {
        printf("FAIL no run to test with\n");
        return 1;
    }
    RUN(step_gives_the_recorded_commands);
    RUN(a_bad_measurement_gives_the_safe_input_and_is_forgotten);
    RUN(a_damaged_last_trial_is_not_replaced_by_an_older_policy);
    RUN(what_is_not_there_gets_a_sentence);
    RUN(exported_json_alone_gives_the_same_controller);
    RUN(a_json_that_is_not_a_controller_gets_a_sentence);
    return DONE();
}
