/* test_wire.c - plants over a wire: lock-step equals in-process to the bit over every transport; every fault
 * ends with one sentence, the data kept and the safe input sent. The other end is this program itself,
 * started with --serve or --fake. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "math/arena.h"
#include "math/clock.h"
#include "math/rng.h"
#include "plant/hello.h"
#include "plant/serve.h"
#include "wires.h"

static char self[512]; /* this program */

/* The other end
 * ------------------------------------------------------------------------------------------------- */

static int serve_stdio(int ideal)
{
    mcp_link *l = mcp_calloc(1, sizeof *l);
    if (!l) return 1;
    l->in  = 0;
    l->out = 1;
    serve_on(l, ideal);
    mcp_free(l);
    return 0;
}

/* A plant by hand, with a fault at sample 5. What it was told at the end goes to fake.log. */
static void note(const char *line)
{
    FILE *f = fopen("fake.log", "a");
    if (!f) return;
    fputs(line, f);
    fclose(f);
}

static void fault(const char *mode, unsigned long seq, double t)
{
    if (!strcmp(mode, "exit")) exit(3);
    if (!strcmp(mode, "crash")) raise(SIGKILL);
    if (!strcmp(mode, "hang")) return;
    if (!strcmp(mode, "garbage")) printf("Zz#!$ what 7\n");
    if (!strcmp(mode, "nan")) printf("data %lu %.17g nan\n", seq, t);
    if (!strcmp(mode, "word")) printf("data %lu %.17g 1.5x\n", seq, t);
    if (!strcmp(mode, "few")) printf("data %lu %.17g\n", seq, t);
    if (!strcmp(mode, "many")) printf("data %lu %.17g 1 2 3\n", seq, t);
    if (!strcmp(mode, "long")) {
        for (int i = 0; i < 1 << 20; i++) putchar('7');
        putchar('\n');
    }
    if (!strcmp(mode, "nul")) {
        fwrite("da\0ta\n", 1, 6, stdout);
    }
    if (!strcmp(mode, "future")) printf("data %lu %.17g 1\n", seq + 7, t);
    if (!strcmp(mode, "clock")) printf("data %lu %.17g 1\n", seq, t + 0.02);
    if (!strcmp(mode, "error")) printf("error motor driver overheated\n");
    if (!strcmp(mode, "end")) printf("end %lu %.17g 1 hit the rail\n", seq, t);
    if (!strcmp(mode, "close")) {
        fclose(stdout);
        fclose(stdin);
        sleep(5);
        exit(0);
    }
    if (!strcmp(mode, "wait")) {
        printf("wait 10 thinking\n");
        fflush(stdout);
        usleep(800000);
        printf("data %lu %.17g 1\n", seq, t);
    }
    if (!strcmp(mode, "once")) { /* breaks in the first trial only */
        if (access("fake.once", F_OK)) {
            FILE *f = fopen("fake.once", "w");
            if (f) fclose(f);
            exit(4);
        }
        printf("data %lu %.17g 1\n", seq, t);
    }
    if (!strcmp(mode, "stubborn")) printf("data %lu %.17g 1\n", seq, t);
}

static int fake(const char *mode)
{
    char line[4096];
    int  k = 0;
    if (!strcmp(mode, "mute")) {
        sleep(5);
        return 0;
    }
    if (!strcmp(mode, "stubborn")) {
        char text[32];
        signal(SIGTERM, SIG_IGN);
        snprintf(text, sizeof text, "pid %d\n", (int)getpid());
        note(text);
    }
    while (fgets(line, sizeof line, stdin)) {
        unsigned long seq = 0;
        sscanf(line, "%*s %lu", &seq);
        if (!strncmp(line, "hello", 5)) {
            if (!strcmp(mode, "version")) printf("hello 2 rate=50 inputs=u measured=q\n");
            else if (!strcmp(mode, "rate")) printf("hello 1 rate=100 inputs=u measured=q\n");
            else if (!strcmp(mode, "norate")) printf("hello 1 inputs=u measured=q\n");
            else if (!strcmp(mode, "name")) printf("hello 1 rate=50 inputs=u measured=x\n");
            else if (!strcmp(mode, "lacks")) printf("hello 1 rate=50 inputs= measured=q\n");
            else if (!strcmp(mode, "unit")) printf("hello 1 rate=50 inputs=u measured=q:mm\n");
            else if (!strcmp(mode, "banner")) printf("Welcome to the rig!\n");
            else printf("hello 1 rate=50 inputs=u measured=q:m\n");
        }
        if (!strncmp(line, "reset", 5)) {
            printf("data %lu 0 1\n", seq);
            k = 0;
        }
        if (!strncmp(line, "step", 4)) {
            if (++k == 5) fault(mode, seq, 0.02 * k);
            else printf("data %lu %.17g 1\n", seq, 0.02 * k);
        }
        if (!strncmp(line, "stop", 4)) {
            note(line);
            printf("stopped %lu\n", seq);
        }
        if (!strncmp(line, "bye", 3) && strcmp(mode, "stubborn")) return 0;
        fflush(stdout);
    }
    if (!strcmp(mode, "stubborn")) sleep(30);
    return 0;
}

/* Our end
 * ---------------------------------------------------------------------------------------------------------
 */

static mcp_status explore(rig *r, mcp_error *why)
{
    return mcp_plant_run(r->plant, NULL, (mcp_trial_key){5, 1, 0}, NULL, NULL, r->trial, why);
}

/* Only the cases about time set a short timeout: elsewhere a machine that stands still for a second must not
 * fail the test. */
static const char *patient_plant(const char *what, const char *mode, double timeout, const char *more)
{
    static char text[1024];
    snprintf(text, sizeof text, "{exec: [%s, %s, %s], timeout: %g%s}", self, what, mode, timeout, more);
    return text;
}

static const char *exec_plant(const char *what, const char *mode, const char *more)
{
    return patient_plant(what, mode, 10, more);
}

CASE(lock_step_over_a_child_process_equals_in_process)
{
    check_equal(exec_plant("--serve", "full", ""));
}

CASE(a_plant_that_tells_only_its_true_state_gets_the_tasks_sensors)
{
    check_equal(exec_plant("--serve", "ideal", ""));
}

/* Runs the server in a child on a socket that listens; mischief: every answer comes twice, the one before
 * once more, and every third question is not heard the first time. */
static pid_t serve_net(int datagram, int mischief, int *port)
{
    int       fd = -1;
    mcp_error why = {MCP_OK, ""};
    *port = 0;
    if (mcp_listen(&fd, datagram, NULL, port, &why) != MCP_OK) FAIL_("%s", why.text);
    fflush(stdout);
    pid_t child = fork();
    if (child) {
        close(fd);
        return child;
    }
    mcp_link   *l = mcp_calloc(1, sizeof *l);
    mcp_server *s = NULL;
    rig         r;
    char        before[512] = "", *line;
    int         over = 0, question = 0, deaf = 0;
    alarm(120);
    if (!l || !rig_open(&r, simulated(), &why) || mcp_server_create(&s, r.plant, 0, &why) != MCP_OK) _exit(1);
    (void)mcp_accept(l, fd, datagram, mcp_clock() + 60, &why);
    if (!mischief) (void)mcp_server_run(s, l, NULL, NULL, &why);
    while (mischief && !over && mcp_link_receive(l, &line, mcp_clock() + 60, &why) == MCP_OK && line) {
        if (++question % 3 == 0 && !deaf) {
            deaf = 1;
            continue;
        }
        deaf = 0;
        const char *answer = mcp_server_answer(s, line, &over);
        for (int i = 0; i < 2 && answer[0]; i++) (void)mcp_link_send(l, answer, mcp_clock() + 1, &why);
        if (before[0]) (void)mcp_link_send(l, before, mcp_clock() + 1, &why);
        snprintf(before, sizeof before, "%s", answer);
    }
    _exit(0);
}

static void check_net(const char *kind, int datagram, int mischief)
{
    char  plant[128];
    int   port, status = -1;
    pid_t child = serve_net(datagram, mischief, &port);
    snprintf(plant, sizeof plant, "{%s: '127.0.0.1:%d', timeout: 10}", kind, port);
    check_equal(plant);
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
}

CASE(lock_step_over_tcp_equals_in_process)
{
    check_net("tcp", 0, 0);
}

CASE(lock_step_over_udp_equals_in_process)
{
    check_net("udp", 1, 0);
}

CASE(lost_repeated_and_late_datagrams_do_not_matter)
{
    check_net("udp", 1, 1);
}

/* Faults
 * -------------------------------------------------------------------------------------------------------
 */

static void read_log(char *text, size_t size)
{
    FILE *f = fopen("fake.log", "r");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
}

static void check_fault(const char *mode, const char *part, double timeout, int told)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    char      log[1024];
    remove("fake.log");
    if (!rig_open(&r, wired(patient_plant("--fake", mode, timeout, "")), &why)) {
        FAIL_("%s: %s", mode, why.text);
        return;
    }
    mcp_status st = explore(&r, &why);
    if (st != MCP_ERR_PLANT) FAIL_("%s: status %d", mode, st);
    if (!strstr(why.text, part)) FAIL_("%s: \"%s\" lacks \"%s\"", mode, why.text, part);
    if (r.trial->samples != 5 || !r.trial->ended)
        FAIL_("%s: %d samples kept, ended %d", mode, r.trial->samples, r.trial->ended);
    rig_close(&r);
    read_log(log, sizeof log);
    if (told && strncmp(log, "stop 7 0\n", 9)) FAIL_("%s: the plant was told \"%s\" at the end", mode, log);
}

CASE(a_plant_that_exits_is_named_with_its_status)
{
    check_fault("exit", "exited with status 3", 10, 0);
    check_fault("crash", "was killed by signal 9", 10, 0);
    check_fault("close", "closed the connection", 10, 0);
}

CASE(a_plant_that_hangs_is_lost_after_its_timeout)
{
    check_fault("hang", "gave no answer to \"step 6", 0.5, 1);
}

CASE(answers_that_make_no_sense_end_the_trial_with_the_safe_input)
{
    check_fault("garbage", "sent \"Zz#!$ what 7\", expected a line that starts with data", 10, 1);
    check_fault("nan", "sample 5: q is nan", 10, 1);
    check_fault("word", "sample 5: expected a number for q, got \"1.5x\"", 10, 1);
    check_fault("few", "sample 5 has 0 values after the time, the hello promised 1", 10, 1);
    check_fault("many", "sample 5 has 3 values after the time, the hello promised 1", 10, 1);
    check_fault("long", "a line of more than 65535 bytes", 10, 0);
    check_fault("nul", "bytes that are not text", 10, 1);
    check_fault("future", "answered question 13, but only 6 were asked", 10, 1);
    check_fault("clock", "sample 5 comes 0.04 s after the one before by the plant's own clock", 10, 1);
    check_fault("error", "reports an error: motor driver overheated", 10, 1);
}

CASE(a_plant_that_ends_a_trial_is_no_fault)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    remove("fake.log");
    REQUIRE(rig_open(&r, wired(exec_plant("--fake", "end", "")), &why));
    CHECK_OK(explore(&r, err));
    CHECK(r.trial->samples == 6 && r.trial->ended);
    CHECK_HAS(r.trial->reason, "hit the rail");
    CHECK_OK(explore(&r, err)); /* and the next trial goes on over the same wire */
    rig_close(&r);
}

CASE(a_plant_may_ask_for_more_time)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, wired(patient_plant("--fake", "wait", 0.5, "")), &why));
    CHECK_OK(explore(&r, err));
    CHECK(r.trial->samples == 101);
    rig_close(&r);
}

CASE(after_a_fault_the_next_trial_connects_again)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    remove("fake.once");
    REQUIRE(rig_open(&r, wired(exec_plant("--fake", "once", "")), &why));
    CHECK(explore(&r, &why) == MCP_ERR_PLANT);
    CHECK_OK(explore(&r, err));
    CHECK(r.trial->samples == 101 && !r.trial->ended);
    rig_close(&r);
}

static void check_refused(const char *plant, const char *part)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    if (rig_open(&r, wired(plant), &why)) FAIL_("%s was accepted", plant);
    if (why.status != MCP_ERR_PLANT) FAIL_("%s: status %d", plant, why.status);
    CHECK_HAS(why.text, part);
    rig_close(&r);
}

CASE(a_hello_that_does_not_fit_is_refused_before_anything_moves)
{
    check_refused(exec_plant("--fake", "version", ""), "speaks version 2");
    check_refused(exec_plant("--fake", "rate", ""), "runs at 100 Hz, the task at 50 Hz");
    check_refused(exec_plant("--fake", "norate", ""), "no rate=");
    check_refused(exec_plant("--fake", "name", ""), "names measured channel \"x\"");
    check_refused(exec_plant("--fake", "lacks", ""), "does not name input \"u\"");
    check_refused(exec_plant("--fake", "unit", ""), "gives q in mm, the task in m");
    check_refused(exec_plant("--fake", "banner", ""), "sent \"Welcome to the rig!\"");
}

CASE(plants_that_are_not_there_are_refused_with_the_reason)
{
    check_refused("{exec: [./no_such_rig]}", "plant program ./no_such_rig cannot be started");
    check_refused("{tcp: '127.0.0.1:1'}", "cannot be reached: Connection refused");
    check_refused("{udp: '127.0.0.1:1', timeout: 0.02}", "nobody listens there");
    check_refused("{serial: /dev/no_such_line}", "cannot be opened");
    check_refused("{serial: /dev/null}", "is not a serial line");
    check_refused("{serial: /dev/null, baud: 12345}", "12345 is not a speed");
    char mute[1024];
    snprintf(mute, sizeof mute, "{exec: [%s, --fake, mute], timeout: 0.05}", self);
    check_refused(mute, "gave no answer to \"hello 1 rate=50");
}

CASE(a_child_that_will_not_go_is_ended)
{
    rig       r;
    mcp_error why = {MCP_OK, ""};
    char      log[1024];
    int       pid = 0;
    remove("fake.log");
    REQUIRE(rig_open(&r, wired(exec_plant("--fake", "stubborn", "")), &why));
    CHECK_OK(explore(&r, err));
    rig_close(&r);
    read_log(log, sizeof log);
    REQUIRE(sscanf(log, "pid %d", &pid) == 1 && pid > 1);
    CHECK(kill(pid, 0) != 0);
}

/* Watchdog and pacing
 * ----------------------------------------------------------------------------------------------- */

CASE(the_server_stops_the_plant_when_nobody_speaks)
{
    rig         r;
    mcp_server *s = NULL;
    int         over;
    mcp_error   why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, simulated(), &why));
    REQUIRE_OK(mcp_server_create(&s, r.plant, 0, err));
    CHECK_HAS(mcp_server_answer(s, "hello 1 rate=50 watchdog=0.5", &over),
              "hello 1 rate=50 acks=apply inputs=u measured=q:m truth=q:m,v:m/s");
    CHECK(!mcp_server_watch(s)); /* no trial yet */
    CHECK_HAS(mcp_server_answer(s, "reset 1 1 0 0 0.5 0", &over), "data 1 0 ");
    CHECK(!mcp_server_watch(s));
    usleep(600000);
    CHECK(mcp_server_watch(s));
    CHECK(!mcp_server_watch(s));
    CHECK_HAS(mcp_server_answer(s, "step 2 0", &over), "error no trial is running");
    CHECK_HAS(mcp_server_answer(s, "dance 3", &over), "error expected hello");
    CHECK_HAS(mcp_server_answer(s, "hello 9", &over), "error this plant speaks version 1");
    CHECK_HAS(mcp_server_answer(s, "reset 4 1 0 0 0.5", &over), "error reset needs");
    CHECK(!mcp_server_answer(s, "", &over)[0] && !over);
    CHECK(!mcp_server_answer(s, "bye", &over)[0] && over);
    mcp_server_free(s);
    rig_close(&r);
}

/* Lines that were cut, doubled and spoilt: either end answers or refuses, and nothing else happens. */
CASE(spoilt_lines_do_no_harm)
{
    static const char *const lines[] = {"hello 1 rate=50 acks=apply inputs=u measured=q:m truth=q:m,v:m/s",
                                        "reset 1 1 0 0 0.5 0",
                                        "step 2 0.25",
                                        "apply 3 1e300",
                                        "read 4",
                                        "stop 5 0",
                                        "bye",
                                        "data 6 0.02 1 2 3"};
    rig         r;
    mcp_server *s = NULL;
    mcp_error   why = {MCP_OK, ""};
    REQUIRE(rig_open(&r, simulated(), &why));
    REQUIRE_OK(mcp_server_create(&s, r.plant, 0, err));
    mcp_rand random = mcp_rand_make(1, 0, 0, MCP_RNG_OTHER);
    for (int i = 0; i < 20000; i++) {
        char      line[256];
        int       over;
        mcp_hello h;
        snprintf(line, sizeof line, "%s", lines[(int)(8 * mcp_rand_uniform(&random))]);
        for (int k = (int)(3 * mcp_rand_uniform(&random)); k >= 0; k--) {
            size_t n = strlen(line), at = (size_t)((double)n * mcp_rand_uniform(&random));
            if (mcp_rand_uniform(&random) < 0.3) line[at] = 0;
            else line[at] = (char)(32 + (int)(95 * mcp_rand_uniform(&random)));
            if (!line[0]) break;
        }
        const char *answer = mcp_server_answer(s, line, &over);
        CHECK(!answer[0] || answer[strlen(answer) - 1] == '\n');
        if (mcp_hello_read(&h, line, r.task, "wire", &why) == MCP_OK)
            CHECK(h.inputs == 1 && (h.measured == 1 || h.truth == 2));
    }
    mcp_server_free(s);
    rig_close(&r);
}

static int slow_once(void *context, const mcp_trial *so_far)
{
    (void)context;
    if (so_far->samples == 10) usleep(70000); /* three and a half periods */
    return 0;
}

CASE(paced_trials_keep_time_by_our_clock_and_admit_what_they_missed)
{
    rig       r, here;
    mcp_error why = {MCP_OK, ""};
    REQUIRE(rig_open(&here, simulated(), &why));
    REQUIRE(rig_open(&r, wired(exec_plant("--serve", "full", ", paced: yes")), &why));
    double began = mcp_clock();
    CHECK_OK(mcp_plant_run(r.plant, NULL, (mcp_trial_key){5, 1, 0}, slow_once, NULL, r.trial, err));
    double           took = mcp_clock() - began;
    const mcp_timing m = r.trial->timing;
    CHECK(r.trial->samples == 101 && m.paced == 1);
    CHECK(took >= 2.0);
    for (int k = 1; k < 101; k++)
        CHECK(r.trial->wall[k] - r.trial->wall[0] >= 0.02 * k - 1e-4); /* never early */
    CHECK(m.misses >= 1 && m.late_max >= 0.069);
    CHECK(m.period_mean > 0.0195 && m.period_std > 0.0);
    CHECK(m.answer_mean > 0.0 && m.answer_max >= m.answer_mean);
    /* the simulated plant moves by one period a question, so that the motion is that of lock-step */
    CHECK_OK(explore(&here, err));
    CHECK(!memcmp(here.trial->truth, r.trial->truth, 202 * sizeof(double)));
    CHECK(here.trial->timing.paced == 0 && isnan(here.trial->wall[5]));
    rig_close(&r);
    rig_close(&here);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--fake")) return fake(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "--serve")) return serve_stdio(!strcmp(argv[2], "ideal"));
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return 1;
    TEST_ARGS(argc, argv);
    RUN(lock_step_over_a_child_process_equals_in_process);
    RUN(a_plant_that_tells_only_its_true_state_gets_the_tasks_sensors);
    RUN(lock_step_over_tcp_equals_in_process);
    RUN(lock_step_over_udp_equals_in_process);
    RUN(lost_repeated_and_late_datagrams_do_not_matter);
    RUN(a_plant_that_exits_is_named_with_its_status);
    RUN(a_plant_that_hangs_is_lost_after_its_timeout);
    RUN(answers_that_make_no_sense_end_the_trial_with_the_safe_input);
    RUN(a_plant_that_ends_a_trial_is_no_fault);
    RUN(a_plant_may_ask_for_more_time);
    RUN(after_a_fault_the_next_trial_connects_again);
    RUN(a_hello_that_does_not_fit_is_refused_before_anything_moves);
    RUN(plants_that_are_not_there_are_refused_with_the_reason);
    RUN(a_child_that_will_not_go_is_ended);
    RUN(the_server_stops_the_plant_when_nobody_speaks);
    RUN(spoilt_lines_do_no_harm);
    RUN(paced_trials_keep_time_by_our_clock_and_admit_what_they_missed);
    return DONE();
}
