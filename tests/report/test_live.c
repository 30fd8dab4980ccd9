/* The live page: loopback only, late browsers get everything, slow and vanished ones hold nothing up. */
#include "report/live.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

static int connect_to(const mcp_live *l)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    a.sin_port = htons((unsigned short)atoi(strrchr(mcp_live_url(l), ':') + 1));
    inet_pton(AF_INET, "127.0.0.1", &a.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) return -1;
    return fd;
}

/* Reads until `end` appears or nothing comes for two seconds. */
static int read_until(int fd, const char *end, char *text, size_t size)
{
    size_t n = 0;
    text[0]  = '\0';
    while (n + 1 < size) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 2000) <= 0) break;
        ssize_t got = read(fd, text + n, size - 1 - n);
        if (got <= 0) break;
        n += (size_t)got;
        text[n] = '\0';
        if (end && strstr(text, end)) return 1;
    }
    return end == NULL;
}

static void ask_as(int fd, const char *verb, const char *path, const char *host, const char *more)
{
    static char line[40000];
    int n = snprintf(line, sizeof line, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", verb, path, host, more);
    CHECK(write(fd, line, (size_t)n) == n);
}

static void ask(int fd, const char *path) { ask_as(fd, "GET", path, "127.0.0.1", ""); }

/* The status line's number of one request on a connection of its own. */
static int status_of(const mcp_live *l, const char *verb, const char *path, const char *host,
                     const char *more)
{
    char text[4096];
    int  code = 0, fd = connect_to(l);
    if (fd < 0) return -1;
    ask_as(fd, verb, path, host, more);
    read_until(fd, "\r\n\r\n", text, sizeof text);
    close(fd);
    return sscanf(text, "HTTP/1.1 %d", &code) == 1 ? code : 0;
}

CASE(other_addresses_are_refused_unless_asked_for)
{
    mcp_live *l;
    mcp_error err;
    CHECK(mcp_live_start(&l, "0.0.0.0:0", 0, "t", &err) == MCP_ERR_ARG);
    CHECK_HAS(err.text, "loopback");
    CHECK(mcp_live_start(&l, "192.168.1.5:0", 0, "t", &err) == MCP_ERR_ARG);
    CHECK(mcp_live_start(&l, "70000", 0, "t", &err) == MCP_ERR_ARG);
    CHECK(mcp_live_start(&l, "", 0, "t", &err) == MCP_ERR_ARG);
    CHECK(mcp_live_start(&l, "localhost:0", 0, "t", &err) == MCP_OK);
    mcp_live_stop(l);
}

CASE(a_late_browser_gets_every_message)
{
    mcp_live *l;
    char      text[8192];
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "cart & pole", err));
    mcp_live_push(l, "{\"type\":\"phase\",\"n\":1}");
    mcp_live_push(l, "{\"type\":\"phase\",\"n\":2}");
    int fd = connect_to(l);
    REQUIRE(fd >= 0);
    ask(fd, "/events");
    CHECK(read_until(fd, "\"n\":2}\n\n", text, sizeof text));
    CHECK_HAS(text, "text/event-stream");
    CHECK_HAS(text, "data: {\"type\":\"phase\",\"n\":1}\n\n");
    mcp_live_push(l, "{\"n\":3}");
    CHECK(read_until(fd, "{\"n\":3}\n\n", text, sizeof text));
    close(fd);
    fd = connect_to(l);
    ask(fd, "/nothing");
    CHECK(read_until(fd, "404", text, sizeof text));
    close(fd);
    mcp_live_stop(l);
}

CASE(the_page_is_whole_html_with_its_title_escaped)
{
    static char text[65536];
    mcp_live   *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "cart & pole", err));
    int fd = connect_to(l);
    ask(fd, "/");
    read_until(fd, "</html>", text, sizeof text);
    CHECK_HAS(text, "<title>cart &amp; pole</title>");
    CHECK_HAS(text, "</html>");
    close(fd);
    mcp_live_stop(l);
}

CASE(slow_and_vanished_browsers_do_not_hold_the_learning_up)
{
    mcp_live *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    int slow = connect_to(l), gone = connect_to(l), rude = connect_to(l);
    REQUIRE(slow >= 0 && gone >= 0 && rude >= 0);
    ask(slow, "/events"); /* never reads */
    ask(gone, "/events");
    close(gone);
    CHECK(write(rude, "GET", 3) == 3); /* half a request, then silence */
    static char big[20001];
    memset(big, 'x', sizeof big - 1);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 500; i++) mcp_live_push(l, big); /* 10 MB: more than any socket buffer */
    clock_gettime(CLOCK_MONOTONIC, &b);
    /* a blocked push would wait for ever: the bound only has to be far from that */
    CHECK((double)(b.tv_sec - a.tv_sec) < 30);
    mcp_live_stop(l);
    close(slow);
    close(rude);
}

CASE(sixteen_idle_connections_leave_room_for_a_browser)
{
    mcp_live *l;
    int       idle[16];
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    for (int i = 0; i < 16; i++) CHECK((idle[i] = connect_to(l)) >= 0);
    CHECK(status_of(l, "GET", "/", "localhost", "") == 200);
    for (int i = 0; i < 16; i++) close(idle[i]);
    mcp_live_stop(l);
}

CASE(foreign_names_are_refused_and_those_of_the_loopback_are_not)
{
    mcp_live *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    CHECK(status_of(l, "GET", "/", "evil.example", "") == 403);
    CHECK(status_of(l, "GET", "/events", "evil.example:8080", "") == 403);
    CHECK(status_of(l, "GET", "/", "127.0.0.1.evil.example", "") == 403);
    CHECK(status_of(l, "GET", "/", "localhost.evil.example", "") == 403);
    CHECK(status_of(l, "GET", "/", "192.168.1.5", "") == 403);
    CHECK(status_of(l, "GET", "/", "localhost:8080", "") == 200);
    CHECK(status_of(l, "GET", "/", "127.0.0.1", "") == 200);
    CHECK(status_of(l, "GET", "/", "[::1]:80", "") == 200);
    mcp_live_stop(l);
    REQUIRE_OK(mcp_live_start(&l, "0", 1, "t", err)); /* asked for: any name */
    CHECK(status_of(l, "GET", "/", "lab.example", "") == 200);
    mcp_live_stop(l);
}

CASE(large_cookies_are_taken_and_huge_ones_are_an_answer)
{
    static char cookie[30000];
    mcp_live   *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    for (int size = 3000; size < 30000; size += 23000) {
        memset(cookie, 0, sizeof cookie);
        int n = snprintf(cookie, sizeof cookie, "Cookie: ");
        memset(cookie + n, 'c', (size_t)size);
        memcpy(cookie + n + size, "\r\n", 2);
        int code = status_of(l, "GET", "/", "localhost", cookie);
        CHECK(size < 8000 ? code == 200 : code >= 400 && code < 500);
    }
    CHECK(status_of(l, "GET", "/", "localhost", "") == 200);
    mcp_live_stop(l);
}

CASE(only_the_page_itself_may_stop_the_run)
{
    mcp_live *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    CHECK(status_of(l, "GET", "/stop", "localhost", "X-Mcpilco: stop\r\n") == 404);
    CHECK(status_of(l, "POST", "/stop", "localhost", "Content-Length: 0\r\n") == 403);
    CHECK(status_of(l, "POST", "/stop", "localhost",
                    "Origin: http://evil.example\r\nX-Mcpilco: stop\r\nContent-Length: 0\r\n") == 403);
    CHECK(status_of(l, "POST", "/stop", "evil.example", "X-Mcpilco: stop\r\nContent-Length: 0\r\n") == 403);
    CHECK(!mcp_live_stop_asked(l));
    CHECK(status_of(l, "POST", "/stop", "localhost:99",
                    "Origin: http://localhost:99\r\nX-Mcpilco: stop\r\nContent-Length: 0\r\n") == 202);
    CHECK(mcp_live_stop_asked(l));
    mcp_live_stop(l);
}

CASE(the_report_is_there_when_the_run_is_finished)
{
    char      text[4096];
    mcp_live *l;
    REQUIRE_OK(mcp_live_start(&l, "0", 0, "t", err));
    CHECK(status_of(l, "GET", "/report", "localhost", "") == 404);
    mcp_live_report(l, "<!doctype html><p>solved</p>");
    int fd = connect_to(l);
    ask(fd, "/report");
    CHECK(read_until(fd, "<p>solved</p>", text, sizeof text));
    close(fd);
    mcp_live_stop(l);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(other_addresses_are_refused_unless_asked_for);
    RUN(a_late_browser_gets_every_message);
    RUN(the_page_is_whole_html_with_its_title_escaped);
    RUN(slow_and_vanished_browsers_do_not_hold_the_learning_up);
    RUN(sixteen_idle_connections_leave_room_for_a_browser);
    RUN(foreign_names_are_refused_and_those_of_the_loopback_are_not);
    RUN(large_cookies_are_taken_and_huge_ones_are_an_answer);
    RUN(only_the_page_itself_may_stop_the_run);
    RUN(the_report_is_there_when_the_run_is_finished);
    return DONE();
}
