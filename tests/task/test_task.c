/* test_task.c - task files: what is read, what is filled in, what overrides change. */
#include "test.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>

#include "control/system.h"
#include "math/arena.h"
#include "task/task_data.h"

static mcp_task *load(const char *file, const char *const *set, int count)
{
    mcp_task *t = NULL;
    mcp_error e = {MCP_OK, ""};
    char      path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, file);
    if (mcp_task_load(&t, path, set, count, &e) != MCP_OK) FAIL_("%s: %s", file, e.text);
    return t;
}

/* A complete task with the given lines instead of its model, policy and so on. */
static const char *const smallest =
    "name: small\nrate: 20\ntrial: 2.0\nstate: {q: {unit: rad, angle: yes}, v: rad/s}\ninputs: {u: "
    "2}\nmeasured: {q: "
    "1e-3}\n"
    "model: {velocities: {q: v}}\ncost: q^2\nstart: {std: 0.1}\nplant: {ode: {v: u - sin(q)}}\n";

static int load_folder(const char *folder)
{
    char path[600];
    int  count = 0;
    snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, folder);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".yaml")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        mcp_task   *t  = load(path, NULL, 0);
        mcp_system *s  = NULL;
        mcp_error   e2 = {MCP_OK, ""};
        if (t && mcp_system_create(&s, t, &e2) != MCP_OK) FAIL_("%s: %s", path, e2.text);
        mcp_system_free(s);
        mcp_task_free(t);
        count++;
    }
    if (d) closedir(d);
    return count;
}

CASE(shipped_tasks_load_and_compile)
{
    CHECK(load_folder("tasks") >= 6);
    CHECK(load_folder("tasks/paper") == 4);
    CHECK(load_folder("examples") >= 1);
}

/* The tasks of the paper have its settings and none of our rules, whatever the defaults are. */
CASE(tasks_of_the_paper_switch_our_rules_off)
{
    static const char *const names[] = {"cartpole", "cartpole-full", "furuta", "ballplate"};
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "tasks/paper/%s.yaml", names[i]);
        mcp_task *t = load(path, NULL, 0);
        REQUIRE(t);
        const mcp_optimise_settings *o = &t->optimise;
        const mcp_model_settings    *m = &t->model;
        CHECK(o->particles == 400 && o->steps_first == 2000 && o->steps == 4000 && o->dropout == 0.25);
        CHECK(o->stop_rule == 1 && o->step_size == 0.01 && o->step_size_min == 0.0025);
        CHECK(o->scaling == MCP_SCALING_NONE && o->precision == MCP_PRECISION_DOUBLE);
        CHECK(!o->incumbent && !o->second_try && !o->candidates && o->incumbent_gain == 0.0);
        CHECK(o->adjoint_clip == 0.0 && o->gradient_clip == 0.0);
        CHECK(o->success_weight == 0.0 && o->stress == 1.0);
        CHECK(m->posterior.type == MCP_POSTERIOR_EXACT && !m->self_check && !m->noisy);
        CHECK(m->correlation == 0.0 && m->gp.prior == 0.0 && m->gp.lengthscale_floor == 0.0);
        CHECK(m->gp.noise_floor == 1e-6);
        CHECK(t->smoother.type != MCP_SMOOTHER_CENTRAL || (!t->smoother.match_inputs && !t->smoother.refine));
        mcp_task_free(t);
    }
}

CASE(furuta_compiles_with_its_three_kernels)
{
    static const char *const kernels[] = {"model.kernel=se", "model.kernel=se + mp(2)"};
    for (int i = 0; i < 2; i++) {
        mcp_task   *t = load("tasks/furuta.yaml", &kernels[i], 1);
        mcp_system *s = NULL;
        REQUIRE(t != NULL);
        CHECK_OK(mcp_system_create(&s, t, err));
        CHECK(s && s->nf == 6);
        mcp_system_free(s);
        mcp_task_free(t);
    }
    mcp_task   *t = load("tasks/furuta.yaml", NULL, 0);
    mcp_system *s = NULL;
    REQUIRE(t != NULL);
    CHECK_CLOSE(t->measured[0].quantum, 2.0 * acos(-1.0) / 4096.0, 1e-15, 0.0);
    CHECK_OK(mcp_system_create(&s, t, err));
    CHECK(s && s->nf == 6 + 10); /* the others are features already */
    mcp_system_free(s);
    mcp_task_free(t);
}

CASE(cartpole_is_read_as_written)
{
    mcp_task *t = load("tasks/cartpole.yaml", NULL, 0);
    REQUIRE(t != NULL);
    CHECK(t->nx == 4 && t->nu == 1 && t->ny == 2 && t->ngp == 2 && t->nf == 6);
    CHECK(!strcmp(t->state[2], "theta") && t->state_angle[2] == 1 && t->state_angle[0] == 0);
    CHECK(!strcmp(t->state_unit[1], "m/s"));
    CHECK(t->input[0].high == 10.0 && t->input[0].low == -10.0 && t->input[0].delay == 0);
    CHECK(!strcmp(t->input[0].unit, "N"));
    CHECK(t->measured[1].state == 2 && t->measured[1].noise == 3e-3 && t->measured[1].quantum == 0.0);
    CHECK(t->observer.type == MCP_OBSERVER_AUTO && t->smoother.type == MCP_SMOOTHER_AUTO);
    CHECK(t->gp[1].kind == MCP_GP_VELOCITY && t->gp[1].position == 2 && t->gp[1].state == 3);
    CHECK(!strcmp(t->gp[0].kernel.text, "se + linear"));
    CHECK(t->explore.type == MCP_EXPLORE_SINES && t->explore.sines == 10 && t->explore.low == 0.1 &&
          t->explore.high == 2.0);
    CHECK(t->start.type == MCP_START_GAUSSIAN && t->start.std[3] == 0.01 && t->start.mean[0] == 0.0);
    CHECK(t->plant.type == MCP_PLANT_ODE && t->plant.ode.n == 4 && t->plant.let.n == 3);
    CHECK(t->constants.n == 5 && !strcmp(t->constants.item[3].name, "b"));
    CHECK(t->success_last == 1.0 && t->trials == 5 && mcp_task_steps(t) == 90);
    CHECK(t->draws == 4 && !strcmp(t->draw[3].kind, "circle") && t->draw[3].args.n == 3);
    CHECK(t->optimise.particles == 96 && t->optimise.beta2 == 0.999 && t->optimise.warm_start == 1);
    CHECK(!strcmp(t->algorithm, "mc-pilco4pms") && t->seed == 1);
    mcp_task_free(t);
}

CASE(expressions_know_their_place)
{
    mcp_task *t = NULL;
    REQUIRE_OK(mcp_task_parse(
        &t, "m.yaml",
        "name: x\nrate: 20\ntrial: 2.0\nstate: [q, v]\ninputs: {u: 2}\nmeasured: [q]\nmodel: {velocities: "
        "{q: v}}\n"
        "cost: \"q^2\"\nmetric: |\n    v^2\nsuccess: q < 1\nstart: {std: 0}\nplant: {ode: {v: u}}\n",
        NULL, 0, err));
    CHECK(t->cost.at.line == 8 && t->cost.at.column == 8); /* after the quote */
    CHECK(t->metric.at.line == 10 && t->metric.at.column == 5);
    CHECK(t->success.at.line == 11 && t->success.at.column == 10);
    CHECK(!strcmp(t->cost.at.file, "m.yaml"));
    mcp_task_free(t);
}

/* A network that goes to the goal and a linear part that holds it. */
#define HOLD "(rbf(200, sin(q), cos(q), v) + rbf(1, sin(q), cos(q), v)*linear(sin(q), cos(q), v))"

CASE(smallest_file_gets_sensible_defaults)
{
    mcp_task *t = NULL;
    REQUIRE_OK(mcp_task_parse(&t, "s.yaml", smallest, NULL, 0, err));
    CHECK(t->observer.type == MCP_OBSERVER_AUTO && t->smoother.type == MCP_SMOOTHER_AUTO);
    CHECK(t->explore.type == MCP_EXPLORE_SINES && t->explore.trials == 1 && t->explore.amplitude == 0.1);
    CHECK(t->features.n == 4 && !strcmp(t->features.item[0].expr.text, "sin(q)") &&
          !strcmp(t->features.item[3].name, "u"));
    CHECK(t->policy.n == 1 && !strcmp(t->policy.item[0].name, "u"));
    CHECK(!strcmp(t->policy.item[0].expr.text, "2*tanh(" HOLD "/2)"));
    CHECK(t->plant.ode.n == 2 && !strcmp(t->plant.ode.item[1].name, "q") &&
          !strcmp(t->plant.ode.item[1].expr.text, "v"));
    mcp_task_free(t);
}

CASE(full_measurement_needs_no_observer)
{
    const char *set[] = {"measured=[q, v]"};
    mcp_task   *t     = NULL;
    REQUIRE_OK(mcp_task_parse(&t, "s.yaml", smallest, set, 1, err));
    CHECK(t->ny == 2 && t->observer.type == MCP_OBSERVER_NONE && t->smoother.type == MCP_SMOOTHER_NONE);
    CHECK(t->explore.type == MCP_EXPLORE_SINES && t->explore.phase == MCP_SINES_SPREAD);
    mcp_task_free(t);
}

/* limit: a number, a range, a plain range; each with the policy that fills it. */
CASE(limits_may_differ_on_both_sides)
{
    static const struct { const char *set; double low, high, rest; const char *policy; } at[] = {
        {"inputs={u: 3}", -3, 3, 0, "3*tanh(" HOLD "/3)"},
        {"inputs={u: [0, 12]}", 0, 12, 0, "6 + 6*tanh(" HOLD "/6)"},
        {"inputs={u: {limit: [1, 2*2.5], slew: 3}}", 1, 5, 1, "3 + 2*tanh(" HOLD "/2)"},
        {"inputs.u.limit=[-4, -2]", -4, -2, -2, "-3 + 1*tanh(" HOLD "/1)"},
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        mcp_task *t = NULL, *again = NULL;
        char     *json = NULL;
        double    low, high;
        REQUIRE_OK(mcp_task_parse(&t, "s.yaml", smallest, &at[i].set, 1, err));
        CHECK(t->input[0].low == at[i].low && t->input[0].high == at[i].high);
        CHECK(mcp_input_rest(&t->input[0]) == at[i].rest);
        CHECK(!strcmp(t->policy.item[0].expr.text, at[i].policy));
        CHECK(mcp_task_input_range(t, 0, &low, &high) && low == at[i].low && high == at[i].high);
        CHECK(!mcp_task_input_range(t, 1, &low, &high));
        CHECK(mcp_task_input_limit(t, 0) == fmax(fabs(low = at[i].low), fabs(high = at[i].high)));
        REQUIRE_OK(mcp_task_dump(t, &json, err));
        REQUIRE_OK(mcp_task_parse(&again, "dump.json", json, NULL, 0, err));
        CHECK(again->input[0].low == at[i].low && again->input[0].high == at[i].high);
        mcp_task_text_free(json);
        mcp_task_free(again);
        mcp_task_free(t);
    }
    static const char *const wrong[] = {"inputs={u: [2, 1]}", "inputs={u: [1, 1]}", "inputs={u: [1, 2, 3]}",
                                        "inputs={u: []}", "inputs={u: [a, 2]}", "inputs={u: -1}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mcp_task *t = NULL;
        mcp_error e = {MCP_OK, ""};
        CHECK(mcp_task_parse(&t, "s.yaml", smallest, &wrong[i], 1, &e) == MCP_ERR_TASK);
        CHECK(strstr(e.text, "expected") != NULL);
        mcp_task_free(t);
    }
}

CASE(overrides_change_what_the_file_says)
{
    const char *set[] = {"optimise.particles=100",  "model.kernel=se + mp(2)",
                         "constants.mc=0.7",        "draw.1.rectangle.width=0.4",
                         "measured.p.delay=1",      "start={mean: [0, 0, 1, 0], std: 0.2}",
                         "observer={type: difference, lowpass: 0.25}", "model.noisy=yes",
                         "policy=param(k, 1)*p",    "start.std=0.3"};
    mcp_task   *t     = load("tasks/cartpole.yaml", set, 10);
    REQUIRE(t != NULL);
    CHECK(t->overrides == 10 && !strcmp(t->override[9], set[9]) && t->override[9] != set[9]);
    CHECK(t->optimise.particles == 100);
    CHECK(!strcmp(t->gp[0].kernel.text, "se + mp(2)") && t->gp[0].kernel.at.line == 0);
    CHECK(!strcmp(t->constants.item[0].expr.text, "0.7"));
    CHECK(t->measured[0].delay == 1 && t->measured[0].noise == 3e-3); /* the short form's noise stays */
    CHECK(t->start.mean[2] == 1.0 && t->start.std[0] == 0.3);
    CHECK(t->observer.lowpass == 0.25 && t->model.noisy == 1);
    CHECK(!strcmp(t->policy.item[0].expr.text, "param(k, 1)*p"));
    mcp_task_free(t);
}

/* What the task file admits is what the compiled task can run. */
CASE(the_longest_trial_is_the_same_everywhere)
{
    const char *most[] = {"rate=100", "trial=655.34"}, *more[] = {"rate=100", "trial=655.35"};
    mcp_system *s = NULL;
    mcp_error   e = {MCP_OK, ""};
    mcp_task   *t = load("tasks/pendulum.yaml", most, 2);
    REQUIRE(t != NULL);
    REQUIRE_OK(mcp_system_create(&s, t, err));
    CHECK(s->steps == MCP_MAX_STEPS);
    mcp_system_free(s);
    mcp_task_free(t);
    CHECK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/pendulum.yaml", more, 2, &e) == MCP_ERR_TASK && !t);
    CHECK_HAS(e.text, "which is 65535 samples, expected 3 to 65534");
}

CASE(wrong_overrides_name_the_setting)
{
    static const struct {
        const char *set, *expect;
    } row[] = {
        {"optimise.particels=100",
         "--set optimise.particels=100: found unknown key \"particels\" in optimise, "
         "expected \"particles\" or another of its keys"},
        {"optimise.particles=many", "--set optimise.particles=many: optimise.particles: found \"many\", "
                                    "expected a whole number from 1 to 100000"},
        {"optimise.dropout=1", "found \"1\", expected a number in [0, 1)"},
        {"particles", "found no key=value"},
        {"draw.9.line=1", "found index \"9\", expected 0 to 3"},
        {"start=[", "--set start=[:2:1: found broken YAML"},
        {"cost=p^2 + pp", "unknown name 'pp'"},
        {".=3", "found no key before ="},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        mcp_error e = {MCP_OK, ""};
        mcp_task *t = NULL;
        CHECK(mcp_task_load(&t, TEST_SOURCE_DIR "/tasks/cartpole.yaml", &row[i].set, 1, &e) == MCP_ERR_TASK);
        CHECK(t == NULL);
        CHECK_HAS(e.text, row[i].expect);
    }
}

CASE(dump_is_json_with_defaults)
{
    const char  *set[] = {"optimise.particles=123"};
    mcp_task    *t     = load("tasks/cartpole.yaml", set, 1);
    char        *text  = NULL;
    json_error_t why;
    REQUIRE(t != NULL);
    REQUIRE_OK(mcp_task_dump(t, &text, err));
    json_t *j = json_loads(text, 0, &why);
    REQUIRE(j != NULL);
    CHECK(json_number_value(json_object_get(json_object_get(j, "optimise"), "particles")) == 123);
    CHECK(json_number_value(json_object_get(json_object_get(j, "optimise"), "beta1")) == 0.9);
    CHECK(json_is_true(json_object_get(json_object_get(j, "optimise"), "warm_start")));
    CHECK(json_number_value(json_object_get(j, "rate")) == 30);
    CHECK(!strcmp(json_string_value(json_object_get(json_object_get(j, "model"), "kernel")),
                  "se + linear"));
    CHECK(!strcmp(json_string_value(json_object_get(json_object_get(j, "observer"), "type")), "auto"));
    json_decref(j);
    mcp_task_text_free(text);
    mcp_task_free(t);
}

CASE(missing_file_is_an_io_error)
{
    mcp_error e;
    mcp_task *t;
    CHECK(mcp_task_load(&t, "/nowhere/x.yaml", NULL, 0, &e) == MCP_ERR_IO);
    CHECK(t == NULL);
    CHECK_HAS(e.text, "/nowhere/x.yaml: cannot be opened");
}

CASE(every_failed_allocation_is_reported)
{
    mcp_task *t    = NULL;
    char     *text = NULL;
    mcp_alloc_fail_at(0);
    REQUIRE_OK(mcp_task_parse(&t, "s.yaml", smallest, NULL, 0, err));
    REQUIRE_OK(mcp_task_dump(t, &text, err));
    long all = mcp_alloc_count();
    mcp_task_text_free(text);
    mcp_task_free(t);
    CHECK(all > 100);
    for (long k = 1; k <= all; k++) {
        mcp_error e = {MCP_OK, ""};
        text        = NULL;
        mcp_alloc_fail_at(k);
        mcp_status st = mcp_task_parse(&t, "s.yaml", smallest, NULL, 0, &e);
        CHECK((st == MCP_OK) == (t != NULL));
        if (st == MCP_OK) st = mcp_task_dump(t, &text, &e);
        CHECK(st == MCP_ERR_MEMORY && strstr(e.text, "memory") && !text);
        mcp_task_free(t);
    }
    mcp_alloc_fail_at(0);
}

CASE(a_dump_can_be_read_again)
{
    mcp_task *first = NULL, *second = NULL;
    char     *one = NULL, *two = NULL;
    REQUIRE_OK(mcp_task_load(&first, TEST_SOURCE_DIR "/tasks/pendulum.yaml", NULL, 0, err));
    REQUIRE_OK(mcp_task_dump(first, &one, err));
    REQUIRE_OK(mcp_task_parse(&second, "dump.json", one, NULL, 0, err));
    REQUIRE_OK(mcp_task_dump(second, &two, err));
    CHECK(!strcmp(one, two));
    mcp_task_text_free(one);
    mcp_task_text_free(two);
    mcp_task_free(first);
    mcp_task_free(second);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(shipped_tasks_load_and_compile);
    RUN(tasks_of_the_paper_switch_our_rules_off);
    RUN(furuta_compiles_with_its_three_kernels);
    RUN(cartpole_is_read_as_written);
    RUN(expressions_know_their_place);
    RUN(smallest_file_gets_sensible_defaults);
    RUN(full_measurement_needs_no_observer);
    RUN(limits_may_differ_on_both_sides);
    RUN(overrides_change_what_the_file_says);
    RUN(the_longest_trial_is_the_same_everywhere);
    RUN(wrong_overrides_name_the_setting);
    RUN(dump_is_json_with_defaults);
    RUN(missing_file_is_an_io_error);
    RUN(every_failed_allocation_is_reported);
    RUN(a_dump_can_be_read_again);
    return DONE();
}
