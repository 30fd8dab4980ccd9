/* test_hostile_texts.c - names, titles and units of a task are texts in exported files, never code: with any
 * of them the C is the same program (comments aside), the Python the same syntax tree (docstring aside). */
#include "export/export.h"
#include "math/arena.h"
#include "math/rng.h"
#include "test.h"

enum { CASES = 40 };

/* A text for YAML double quotes: pieces that end comments, strings and lines, and any characters but control
 * characters, which are refused. */
static void hostile_text(mcp_rand *r, char *out, size_t size)
{
    static const char *const piece[] = {
        "*/", "/*", "\\\"\\\"\\\"", "'''", "\\\\", "\\n", "\\t", "?" "?/", "?" "?/\\n", "#",
        "//", "\\\"", "'", "%s%n",
        "${x}", "@P@", "@end@", "\\u00b0C", "\\u03a9", "\\U0001F600",
        "*/ int x = ; /*", "\\\"\\\"\\\"\\nimport os\\nos.abort()\\n\\\"\\\"\\\"",
        "\\\\N{DASH}", "\\\\x", "\\\\u12", "*\\\\\\n/", "m/s", "a b", "</script>", "\\ue000", "\\U000E0001",
    };
    size_t n = 0;
    out[0] = '\0';
    for (int k = 1 + (int)(mcp_rand_uniform(r) * 5.0); k > 0; k--) {
        const char *p = piece[(size_t)(mcp_rand_uniform(r) * (double)(sizeof piece / sizeof *piece))];
        if (n + strlen(p) + 12 >= size) break;
        n += (size_t)snprintf(out + n, size - n, "%s", p);
        if (mcp_rand_uniform(r) < 0.3)
            n += (size_t)snprintf(out + n, size - n, "\\u%04x",
                                  0x20 + (unsigned)(mcp_rand_uniform(r) * 0xd000));
    }
}

/* 1: the task was taken and exported to `folder`; 0: it was refused. */
static int export_with(const char *name, const char *unit, const char *angle, const char *folder)
{
    mcp_task   *task = NULL;
    mcp_system *system = NULL;
    mcp_trial  *trial = NULL;
    mcp_error   why = {MCP_OK, ""};
    double      theta[400] = {0};
    char       *text = mcp_sprintf(
        "name: \"%s\"\ntitle: \"%s\"\nrate: 20\ntrial: 1\nstate: {p: \"%s\", dp: \"%s\"}\n"
              "inputs: {u: {limit: 3, unit: \"%s\"}}\nmeasured: {p: {noise: 0.01, wraps: yes}}\n"
              "model: {velocities: {p: dp}, features: [dp, sin(p), u]}\npolicy: 3*tanh(rbf(3, dp, sin(p)))\n"
              "cost: p^2\nstart: {std: 0.1}\nplant: {ode: {dp: u}}\n"
              "draw: [{text: {x: 0, y: 0, label: \"%s\"}}]\n",
        name, name, angle, unit, unit, name);
    mcp_status st = mcp_task_parse(&task, "hostile.yaml", text, NULL, 0, &why);
    mcp_free(text);
    if (st != MCP_OK) return 0;
    CHECK_OK(mcp_system_create(&system, task, err));
    CHECK_OK(mcp_trial_create(&trial, task, err));
    if (system && trial) {
        mcp_run             run = {.task = task, .system = system, .seed = 1};
        mcp_run_item        it = {.trial = trial, .theta = theta, .info = {.number = 1}};
        mcp_export_settings s = {.prefix = "ctl"};
        mcp_export_info     info;
        const double        u[20] = {0.5};
        st = mcp_export_controller(&run, &it, folder, &s, &info, &why);
        if (st == MCP_OK) st = mcp_export_inputs(&run, u, folder, "ctl", &why);
        if (st != MCP_OK) FAIL_("%s: %s", name, why.text);
    }
    mcp_trial_free(trial);
    mcp_system_free(system);
    mcp_task_free(task);
    return st == MCP_OK;
}

static void write_script(void)
{
    FILE *f = fopen("hostile.py", "w");
    REQUIRE(f);
    /* the first folder is the plain one; every other must be the same program */
    fputs("import ast, json, re, subprocess, sys\n"
          "def c(folder, name):\n"
          "    run = ['cc', '-fpreprocessed', '-dD', '-E', '-P', '-std=c99', f'{folder}/{name}']\n"
          "    return subprocess.run(run, capture_output=True, check=True).stdout\n"
          "def python(folder):\n"
          "    tree = ast.parse(open(f'{folder}/ctl.py', 'rb').read())\n"
          "    tree.body = tree.body[1:]\n"
          "    return ast.dump(tree)\n"
          "files = ['ctl.c', 'ctl.h', 'ctl_selftest.c', 'ctl_inputs.h']\n"
          "folders = sys.argv[1:]\n"
          "plain = [c(folders[0], f) for f in files] + [python(folders[0])]\n"
          "bad = 0\n"
          "for folder in folders[1:]:\n"
          "    json.load(open(f'{folder}/ctl.json', encoding='utf-8'))\n"
          "    try:\n"
          "        same = plain == [c(folder, f) for f in files] + [python(folder)]\n"
          "    except Exception as e:\n"
          "        same, e = False, print(folder, e)\n"
          "    if not same:\n"
          "        bad += 1\n"
          "        print(folder, 'is another program')\n"
          "one = folders[-1]\n"
          "strict = ['cc', '-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-c', '-ohostile-o']\n"
          "bad += subprocess.run(strict + [f'{one}/ctl.c']).returncode\n"
          "bad += subprocess.run([sys.executable, f'{one}/ctl.py'], stdout=subprocess.DEVNULL).returncode\n"
          "sys.exit(bad != 0)\n",
          f);
    fclose(f);
}

CASE(texts_of_a_task_never_become_code)
{
    char     name[200], unit[200], angle[200], folder[64], command[CASES * 16 + 100];
    int      taken = 0, used = 0;
    mcp_rand r = mcp_rand_make(2024, 0, 0, MCP_RNG_OTHER);
    REQUIRE(!system("rm -rf hostile-*"));
    write_script();
    REQUIRE(export_with("plain", "N", "rad", "hostile-0"));
    used = snprintf(command, sizeof command, "python3 hostile.py hostile-0");
    for (int k = 1; k <= CASES; k++) {
        hostile_text(&r, name, sizeof name);
        hostile_text(&r, unit, sizeof unit);
        hostile_text(&r, angle, sizeof angle);
        snprintf(folder, sizeof folder, "hostile-%d", k);
        if (!export_with(name, unit, angle, folder)) continue;
        taken++;
        used += snprintf(command + used, sizeof command - (size_t)used, " %s", folder);
    }
    CHECK(taken > CASES / 3);
    printf("     %d of %d tasks were taken, the others refused\n", taken, CASES);
    if (system(command)) FAIL_("a text became code");
    CHECK(!system("rm -rf hostile-* hostile.py"));
}

CASE(prefixes_that_are_words_are_refused)
{
    static const char *const taken[] = {"double", "class", "lambda", "exp", "main"};
    static const char *const fine[] = {"pendulum", "", "ex", "doubles"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) CHECK(mcp_export_prefix_taken(taken[i]));
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) CHECK(!mcp_export_prefix_taken(fine[i]));
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    if (system("command -v cc > /dev/null && command -v python3 > /dev/null"))
        return SKIPPED("no cc or python3");
    RUN(texts_of_a_task_never_become_code);
    RUN(prefixes_that_are_words_are_refused);
    return DONE();
}
