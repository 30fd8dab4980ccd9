/* main.c - the command line: mcpilco VERB ... */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "completion.h"
#include "mcpilco/task.h"
#include "mcpilco/version.h"
#include "options.h"

/* One row a verb. */
static const verb verbs[] = {
    {"learn", cmd_learn, "learn a policy for a task, trial by trial"},
    {"evaluate", cmd_evaluate,
     "run a policy many times: success rate and cost, on the plant and on the model"},
    {"show", cmd_show, "what happened in a run, in words and numbers"},
    {"simulate", cmd_simulate, "particles under a run's model and policy, saved for plotting"},
    {"report", cmd_report, "one page that shows a run or a study"},
    {"plot", cmd_plot, "a figure of a run or a study as SVG, PDF or PNG"},
    {"study", cmd_study, "many seeds of many variants, over threads or MPI ranks"},
    {"export", cmd_export, "the controller of a run as C, Python and JSON"},
    {"check", cmd_check, "is a task file right: messages, compiled step, gradient, time"},
    {"plant", cmd_plant,
     "serve a task's simulated plant over a wire: standard input and output, TCP, UDP, serial line"},
    {"rig", cmd_rig,
     "probe a plant gently before learning: clock, noise, resolution, sign, gain, delay; lines to change"},
    {"next", cmd_next,
     "for rigs that cannot be driven live: write what to run next, exploration or controller"},
    {"add", cmd_add, "take the trial that was recorded elsewhere, and learn from it"},
    {"machine", cmd_machine, "say what was found here: instruction set, BLAS, cores"},
    {"bench", cmd_bench, "measure this machine: bench kernels|gp|step"},
};

static const char *verb_name(const void *context, int i)
{
    (void)context;
    return (size_t)i < sizeof verbs / sizeof *verbs ? verbs[i].name : NULL;
}

static int usage(FILE *to)
{
    fprintf(to, "mcpilco " MCP_VERSION " - learn controllers for real robots from seconds of data\n\n"
                "usage: mcpilco VERB ...        mcpilco VERB --help teaches the verb\n"
                "                               mcpilco help task lists the keys of a task file\n"
                "                               mcpilco help task --schema: the same for editors, a JSON "
                "schema\n"
                "                               mcpilco help completion bash|zsh|fish: for the shell\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].about);
    return to == stderr ? 2 : 0;
}

/* The reference of a task file's keys: docs/task-file.md; or their schema. */
static int help_task(const char *form)
{
    int schema = form && !strcmp(form, "--schema");
    if (form && !schema) {
        fprintf(stderr, "mcpilco help task: \"%s\" is not known; usage: mcpilco help task [--schema]\n",
                form);
        return 2;
    }
    char     *text = NULL;
    mcp_error err = {MCP_OK, ""};
    if ((schema ? mcp_task_schema : mcp_task_help)(&text, &err) != MCP_OK) {
        fprintf(stderr, "mcpilco help: %s\n", err.text);
        return 1;
    }
    fputs(text, stdout);
    mcp_task_text_free(text);
    return 0;
}

/* What was printed must have arrived: a full device is an error, whatever the verb thought. */
static int finish(const char *what, int code)
{
    if (!ferror(stdout) && fflush(stdout) == 0) return code;
    if (errno == EPIPE) return code ? code : 1; /* its reader is gone: nobody is told */
    fprintf(stderr, "mcpilco %s: cannot write to standard output: %s\n", what,
            strerror(errno ? errno : EIO));
    return code ? code : 1;
}

static int unknown_verb(const char *name)
{
    const char *near = nearest_word(name, verb_name, NULL);
    fprintf(stderr, "mcpilco: there is no verb \"%s\"%s%s%s; mcpilco --help lists them\n", name,
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return 2;
}

/* Where a standard descriptor is closed, the next file that is opened would take its number, and messages
 * would go into it: into a run's file, or down a plant's wire. Writing to what was closed stays an error. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) _exit(1);
}

int main(int argc, char **argv)
{
    keep_standard_descriptors();
    prepare_machine(argv);
    if (argc < 2) return usage(stderr);
    if (argc > 2 && !strcmp(argv[1], "help") && !strcmp(argv[2], "task"))
        return finish("help", help_task(argc > 3 ? argv[3] : NULL));
    if (argc > 2 && !strcmp(argv[1], "help") && !strcmp(argv[2], "completion"))
        return completion_print(argc > 3 ? argv[3] : "", verbs, sizeof verbs / sizeof *verbs);
    if (argc > 2 && !strcmp(argv[1], "help")) { /* help VERB: what VERB --help prints */
        char *ask[] = {argv[2], "--help", NULL};
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (!strcmp(argv[2], verbs[i].name)) return finish("help", verbs[i].run(2, ask));
        return unknown_verb(argv[2]);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return finish("help", usage(stdout));
    if (!strcmp(argv[1], "--version")) {
        printf("mcpilco " MCP_VERSION "\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(argv[1], verbs[i].name)) {
            enough_memory(argv);
            return finish(argv[1], verbs[i].run(argc - 1, argv + 1));
        }
    return unknown_verb(argv[1]);
}
