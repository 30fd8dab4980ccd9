/* cmd_report.c - mcpilco report and mcpilco plot: pages and figures of runs and studies. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "io/file.h"
#include "math/arena.h"
#include "options.h"
#include "report/report.h"
#include "report/report_study.h"
#include "term.h"

enum { MOST_RUNS = 12 };

/* Runs a program with arguments, no shell; its exit code, 127 = could not be started. */
static int run_program(char *const argv[])
{
    pid_t pid = fork();
    int   status;
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status)) return 127;
    return WEXITSTATUS(status);
}

static int is_study(const char *folder)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/study.txt", folder);
    return mcp_file_exists(path);
}

int cmd_report(int argc, char **argv)
{
    const char  *folder[MOST_RUNS] = {0}, *out = NULL;
    int          show = 0, count = 0;
    const option options[] = {
        {"--out", OPTION_TEXT, &out, 0, 0, "FILE",
         "the page (FOLDER/report.html; of several runs compare.html)", "-o"},
        {"--open", OPTION_FLAG, &show, 0, 0, NULL, "open it in the browser", NULL},
    };
    const command verb = {
        .verb = "report",
        .synopsis = "RUN|STUDY [RUN ...] [options]",
        .options = options,
        .count = 2,
        .least = 1,
        .most = MOST_RUNS,
        .positional = folder,
        .about = "Writes one HTML file that shows a run: did it work, can the model be trusted, which part "
                 "is the weak one; with the\n"
                 "trial animated. Or a study: success and cost per trial of every variant. Several runs "
                 "are put side by side. The file needs nothing else\n"
                 "and no network.\n"
                 "A run folder with missing or damaged files gives a page of what is there.",
        .examples =
            "  mcpilco report runs/cartpole-1\n"
            "  mcpilco report runs/a runs/b runs/c -o compare.html\n"
            "  mcpilco report studies/table1 -o table1.html --open\n",
    };
    char     *html = NULL, path[4200];
    mcp_error err = {MCP_OK, ""};
    int       code = options_parse(&verb, argc, argv);
    if (code != OPTIONS_GO) return code;
    while (count < MOST_RUNS && folder[count]) count++;
    mcp_status st = MCP_OK;
    if (count > 1) st = mcp_report_compare(count, folder, &html, &err);
    else if (is_study(folder[0])) {
        st = mcp_report_study(folder[0], &html, &err);
        if (st == MCP_OK) st = mcp_report_study_runs(folder[0], &err);
    } else st = mcp_report_run(folder[0], &html, &err);
    if (out) snprintf(path, sizeof path, "%s", out);
    else if (count > 1) snprintf(path, sizeof path, "compare.html");
    else snprintf(path, sizeof path, "%s/report.html", folder[0]);
    if (st == MCP_OK) st = mcp_file_write(path, html, strlen(html), &err);
    mcp_free(html);
    if (st != MCP_OK) return term_error("report", &err);
    printf("%s\n", path);
    if (!show) return 0;
    char *const open[] = {"xdg-open", path, NULL};
    if (run_program(open) == 0) return 0;
    fprintf(stderr, "mcpilco report: no browser could be started (xdg-open); open %s by hand\n", path);
    return 1;
}

/* SVG is ours; PDF and PNG come from librsvg's converter. */
static int convert(const char *svg, const char *format, const char *out)
{
    char *const argv[] = {
        "rsvg-convert", "-f",        (char *)format, "-z", strcmp(format, "png") ? "1" : "2",
        "-o",           (char *)out, (char *)svg,    NULL};
    int         code = run_program(argv);
    if (code == 127)
        fprintf(stderr,
                "mcpilco plot: rsvg-convert is needed for %s (Debian package librsvg2-bin); or write .svg\n",
                format);
    else if (code) fprintf(stderr, "mcpilco plot: rsvg-convert could not write %s\n", out);
    return code ? 1 : 0;
}

int cmd_plot(int argc, char **argv)
{
    const char  *folder[1], *out = NULL, *figure = NULL;
    int          trial = 0;
    const option options[] = {
        {"--figure", OPTION_TEXT, &figure, 0, 0, "NAME",
         "of a run: trajectory, inputs, cost, model, observer, runs, trials, plane; of a study: success, "
         "cost, first",
         "-f"},
        {"--trial", OPTION_INT, &trial, 1, 999, "K", "policy trial (the last)", NULL},
        {"--out", OPTION_TEXT, &out, 0, 0, "FILE", "x.svg, x.pdf or x.png (NAME.svg)", "-o"},
    };
    const command verb = {
        .verb = "plot",
        .synopsis = "RUN|STUDY --figure NAME [-o FILE]",
        .options = options,
        .count = 3,
        .least = 1,
        .most = 1,
        .positional = folder,
        .about = "Writes one figure for a paper or a slide.",
        .examples = "  mcpilco plot runs/cartpole-1 --figure trajectory -o trajectory.pdf\n      the last "
                    "trial over what was forecast\n"
                    "  mcpilco plot runs/cartpole-1 --figure runs -o runs.png\n      400 particles beside "
                    "400 runs on the plant\n"
                    "  mcpilco plot runs/ballplate-1 --figure plane -o plane.svg\n      ten runs, one "
                    "measured state against the other\n"
                    "  mcpilco plot studies/table1 --figure success -o table1.svg\n",
    };
    char     *svg = NULL, path[4200], temporary[4300];
    mcp_error err = {MCP_OK, ""};
    int       code = options_parse(&verb, argc, argv), study;
    if (code != OPTIONS_GO) return code;
    study = is_study(folder[0]);
    if (!figure) {
        fprintf(stderr, "mcpilco plot: which figure? --figure NAME, one of: %s\n",
                study ? mcp_report_study_figures() : mcp_report_figures());
        return 2;
    }
    snprintf(path, sizeof path, out ? "%s" : "%s.svg", out ? out : figure);
    const char *end = strrchr(path, '.');
    int         plain = end && !strcmp(end, ".svg");
    if (!end || (!plain && strcmp(end, ".pdf") && strcmp(end, ".png"))) {
        fprintf(stderr, "mcpilco plot: %s: the name must end in .svg, .pdf or .png\n", path);
        return 2;
    }
    mcp_status st = study ? mcp_report_study_figure(folder[0], figure, &svg, &err)
                          : mcp_report_figure(folder[0], figure, trial, &svg, &err);
    snprintf(temporary, sizeof temporary, plain ? "%s" : "%s.svg", path);
    if (st == MCP_OK) st = mcp_file_write(temporary, svg, strlen(svg), &err);
    mcp_free(svg);
    if (st != MCP_OK) return term_error("plot", &err);
    if (!plain) {
        code = convert(temporary, end + 1, path);
        unlink(temporary);
        if (code) return code;
    }
    printf("%s\n", path);
    return 0;
}
