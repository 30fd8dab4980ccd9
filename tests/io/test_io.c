/* Files that are whole or not there; numbers that come back with every bit. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/csv.h"
#include "io/file.h"
#include "io/json.h"
#include "io/npy.h"
#include "math/arena.h"
#include "test.h"

static char folder[64];

static const char *at(const char *name)
{
    static char path[2][128];
    static int  turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* Numbers that a careless printf loses: subnormal, negative zero, neighbours of one, large. */
static const double hard[] = {0.1, -0.0, 4.9e-324, 1.0 / 3.0, 1.0000000000000002, -1.7976931348623157e308,
                              3.0, 1e22, NAN};
enum { HARD = (int)(sizeof hard / sizeof *hard) };

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

CASE(csv_gives_back_every_bit)
{
    const char *names[] = {"t", "x", "y y"};
    mcp_csv    *c;
    REQUIRE_OK(mcp_csv_write(at("a.csv"), 3, names, 3, hard, err));
    REQUIRE_OK(mcp_csv_read(&c, at("a.csv"), err));
    CHECK(c->columns == 3 && c->rows == 3);
    CHECK(mcp_csv_find(c, "y y") == 2 && mcp_csv_find(c, "z") == -1);
    for (int i = 0; i < HARD; i++) CHECK(same(c->value[i], hard[i]));
    mcp_csv_free(c);
}

CASE(csv_reads_what_people_bring)
{
    mcp_csv *c;
    REQUIRE_OK(
        mcp_csv_parse(&c, "f", "\xef\xbb\xbf# rig 3\r\n\"t\"; x \r\n0;1.5\r\n\r\n1 ; nan\r\n2;\r\n", err));
    CHECK(c->columns == 2 && c->rows == 3);
    CHECK(!strcmp(c->name[1], "x") && c->value[1] == 1.5 && isnan(c->value[3]) && isnan(c->value[5]) &&
          c->value[4] == 2);
    mcp_csv_free(c);
}

CASE(csv_mistakes_name_file_and_line)
{
    static const struct { const char *text, *says; } bad[] = {
        {"", "f: it is empty"},
        {"a,b\n1\n", "f:2: 1 fields where the header has 2"},
        {"a,b\n1,2\n1,x\n", "f:3: \"x\" in column b is not a number"},
        {"a,,b\n", "column 2 of the header has no name"},
        {"a,a\n", "\"a\" twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mcp_csv  *c;
        mcp_error e;
        CHECK(mcp_csv_parse(&c, "f", bad[i].text, &e) == MCP_ERR_IO && !c);
        CHECK_HAS(e.text, bad[i].says);
    }
}

CASE(json_gives_back_every_bit)
{
    json_t *root = json_object(), *back;
    double  v[HARD], inf[2] = {INFINITY, -INFINITY}, w[2];
    json_object_set_new(root, "hard", mcp_json_numbers(HARD, hard));
    json_object_set_new(root, "inf", mcp_json_numbers(2, inf));
    json_object_set_new(root, "name", json_string("a \"b\" \xc3\xa4"));
    json_object_set_new(root, "nested", json_pack("{s:[{s:i},{s:i}]}", "l", "a", 1, "b", 2));
    REQUIRE_OK(mcp_json_write(at("a.json"), root, err));
    REQUIRE_OK(mcp_json_read(&back, at("a.json"), err));
    CHECK(mcp_json_get_numbers(back, "hard", HARD, v));
    for (int i = 0; i < HARD; i++) CHECK(same(v[i], hard[i]));
    CHECK(mcp_json_get_numbers(back, "inf", 2, w) && w[0] == INFINITY && w[1] == -INFINITY);
    CHECK(!mcp_json_get_numbers(back, "hard", HARD - 1, v) && !mcp_json_get_numbers(back, "name", 1, v));
    CHECK(json_equal(json_object_get(root, "nested"), json_object_get(back, "nested")));
    CHECK(!strcmp(mcp_json_get_text(back, "name", ""), "a \"b\" \xc3\xa4"));
    char *line = mcp_json_line(json_object_get(back, "nested"));
    CHECK(!strcmp(line, "{\"l\": [{\"a\": 1}, {\"b\": 2}]}"));
    mcp_free(line);
    json_decref(root);
    json_decref(back);
}

CASE(damaged_json_is_a_sentence_with_its_place)
{
    json_t   *root;
    mcp_error e;
    REQUIRE_OK(mcp_file_write(at("b.json"), "{\n \"a\": 1,\n", 12, err));
    CHECK(mcp_json_read(&root, at("b.json"), &e) == MCP_ERR_IO && !root);
    CHECK_HAS(e.text, "b.json:");
    CHECK_HAS(e.text, "damaged");
}

CASE(npy_gives_back_every_bit_and_its_shape)
{
    int     shape[3] = {3, 1, 3}, got[MCP_NPY_DIMS], dims;
    double *v;
    char   *file;
    size_t  size;
    REQUIRE_OK(mcp_npy_write(at("a.npy"), 3, shape, hard, err));
    REQUIRE_OK(mcp_npy_read(at("a.npy"), &dims, got, &v, err));
    CHECK(dims == 3 && got[0] == 3 && got[1] == 1 && got[2] == 3);
    for (int i = 0; i < HARD; i++) CHECK(same(v[i], hard[i]));
    mcp_free(v);
    REQUIRE_OK(mcp_file_read(at("a.npy"), &file, &size, err));
    CHECK(size == 128 + sizeof hard && file[127] == '\n'); /* data on a 64-byte boundary, as NumPy wants it */
    REQUIRE_OK(mcp_file_write(at("cut.npy"), file, size - 1, err));
    mcp_error e;
    CHECK(mcp_npy_read(at("cut.npy"), &dims, got, &v, &e) == MCP_ERR_IO && !v);
    CHECK_HAS(e.text, "damaged");
    mcp_free(file);
}

/* 2^61 doubles are 2^64 bytes, which is 0 in a size_t: the file would be whole without a single number. */
CASE(npy_shapes_too_large_for_memory_are_refused)
{
    static const char *const shapes[] = {"1048576, 1048576, 2097152",
                                         "2147483647, 2147483647, 2147483647, 8"};
    for (int i = 0; i < 2; i++) {
        char      file[128] = "\x93NUMPY\x01", head[119] = "";
        int       dims, shape[MCP_NPY_DIMS];
        double   *v;
        mcp_error e;
        snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", shapes[i]);
        file[8] = 118;
        memset(file + 10, ' ', 118);
        memcpy(file + 10, head, strlen(head));
        REQUIRE_OK(mcp_file_write(at("huge.npy"), file, sizeof file, err));
        CHECK(mcp_npy_read(at("huge.npy"), &dims, shape, &v, &e) == MCP_ERR_IO && !v);
    }
}

/* jansson asks for memory by itself; here every such request fails once, too. */
static void *counted(size_t size)
{
    return mcp_calloc(1, size);
}

static mcp_status write_some(mcp_error *err)
{
    json_t *root = json_object(), *inner = json_object(), *list = json_array();
    mcp_json_set(&inner, "numbers", mcp_json_numbers(3, hard));
    mcp_json_set(&inner, "text", mcp_json_text("a \"b\" \xc3\xa4"));
    mcp_json_append(&list, json_pack("{s:i, s:o}", "a", 1, "b", mcp_json_number(0.1)));
    mcp_json_append(&list, json_integer(2));
    mcp_json_set(&root, "inner", inner);
    mcp_json_set(&root, "list", list);
    mcp_status st = mcp_json_write(at("memory.json"), root, err);
    json_decref(root);
    return st;
}

CASE(json_files_are_whole_or_not_written)
{
    char     *whole, *text;
    mcp_error e = {MCP_OK, ""};
    long      all, k;
    json_set_alloc_funcs(counted, mcp_free);
    mcp_alloc_fail_at(0);
    REQUIRE_OK(write_some(err));
    all = mcp_alloc_count();
    CHECK(all > 40);
    REQUIRE_OK(mcp_file_read(at("memory.json"), &whole, NULL, err));
    for (k = 1; k <= all; k++) {
        remove(at("memory.json"));
        mcp_alloc_fail_at(k);
        mcp_status st = write_some(&e);
        mcp_alloc_fail_at(0);
        if (k == all) { /* the last one only helps to bring the folder to the disk */
            CHECK(st == MCP_OK);
            break;
        }
        if (st != MCP_ERR_MEMORY || mcp_file_exists(at("memory.json")))
            FAIL_("allocation %ld of %ld fails, but the status is %d: %s", k, all, st, e.text);
        CHECK_HAS(e.text, "memory");
    }
    REQUIRE_OK(mcp_file_read(at("memory.json"), &text, NULL, err));
    CHECK(!strcmp(text, whole));
    mcp_free(text);
    mcp_free(whole);
    json_set_alloc_funcs(malloc, free);
}

CASE(texts_that_are_not_utf8_become_question_marks)
{
    static const struct { const char *text, *want; } t[] = {
        {"a\xc3\xa4\xf0\x9f\x8c\x8d", "a\xc3\xa4\xf0\x9f\x8c\x8d"}, {"a\xe4", "a?"}, {"\xc0\xaf", "??"},
        {"\xed\xa0\x80", "???"}, {"\xf4\x90\x80\x80x", "????x"}, {"\xc3", "?"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        json_t *v = mcp_json_text(t[i].text);
        CHECK(v && !strcmp(json_string_value(v), t[i].want));
        json_decref(v);
    }
}

CASE(a_write_that_does_not_fit_leaves_the_old_file_whole)
{
    /* A file size limit stands for the full disk: write gives EFBIG in the middle of the file. */
    struct rlimit before, small = {4096, 4096};
    static char   big[100000];
    char         *text;
    REQUIRE_OK(mcp_file_write(at("keep"), "old", 3, err));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        mcp_error e;
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        small.rlim_max = before.rlim_max;
        setrlimit(RLIMIT_FSIZE, &small);
        int ok = mcp_file_write(at("keep"), big, sizeof big, &e) == MCP_ERR_IO &&
                 strstr(e.text, "/keep: cannot write it");
        _exit(ok ? 0 : 1);
    }
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    REQUIRE_OK(mcp_file_read(at("keep"), &text, NULL, err));
    CHECK(!strcmp(text, "old"));
    CHECK(!mcp_file_exists(at("keep.partial")));
    mcp_free(text);
}

CASE(a_full_device_is_a_sentence)
{
    mcp_error e;
    if (access("/dev/full", W_OK)) return;
    CHECK(mcp_file_write("/dev/full", "x", 1, &e) == MCP_ERR_IO);
    CHECK_HAS(e.text, "/dev/full: cannot write it: No space left on device");
}

CASE(folders_are_made_with_parents)
{
    mcp_error e;
    CHECK_OK(mcp_folder_make(at("p/q/r"), err));
    CHECK_OK(mcp_folder_make(at("p/q/r"), err));
    CHECK(mcp_folder_exists(at("p/q/r")) && !mcp_file_exists(at("p/q/r")));
    CHECK_OK(mcp_file_write(at("p/file"), "", 0, err));
    CHECK(mcp_folder_make(at("p/file/x"), &e) == MCP_ERR_IO);
    CHECK_HAS(e.text, "p/file");
}

CASE(a_second_process_is_refused_by_pid_and_a_killed_one_lets_go)
{
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        mcp_lock *l;
        char      ok = mcp_lock_take(&l, folder, NULL) == MCP_OK;
        if (write(ready[1], &ok, 1) == 1) pause();
        _exit(1);
    }
    char      ok = 0, says[64];
    mcp_lock *l;
    mcp_error e;
    REQUIRE(read(ready[0], &ok, 1) == 1 && ok);
    CHECK(mcp_lock_take(&l, folder, &e) == MCP_ERR_IO && !l);
    snprintf(says, sizeof says, "process %ld ", (long)pid);
    CHECK_HAS(e.text, says);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK_OK(mcp_lock_take(&l, folder, err));
    mcp_lock_free(l);
    close(ready[0]);
    close(ready[1]);
}

CASE(a_locked_folder_that_was_moved_keeps_what_is_written_and_its_successor_gets_nothing)
{
    mcp_lock *l;
    mcp_error e;
    REQUIRE_OK(mcp_folder_make(at("own"), err));
    REQUIRE_OK(mcp_lock_take(&l, at("own"), err));
    CHECK_OK(mcp_file_write_in(l, at("own/a"), "1", 1, err));
    CHECK_OK(mcp_folder_make_in(l, at("own/sub"), err));
    REQUIRE(rename(at("own"), at("moved")) == 0);
    REQUIRE_OK(mcp_folder_make(at("own"), err));
    CHECK(mcp_lock_check(l, &e) == MCP_ERR_IO);
    CHECK_HAS(e.text, "moved, removed or replaced");
    CHECK(mcp_file_write_in(l, at("own/sub/b"), "2", 1, &e) == MCP_ERR_IO);
    CHECK(mcp_folder_make_in(l, at("own/late"), &e) == MCP_ERR_IO);
    CHECK(mcp_file_exists(at("moved/sub/b")) && mcp_folder_exists(at("moved/late")));
    CHECK(!mcp_folder_exists(at("own/sub")) && !mcp_folder_exists(at("own/late")));
    mcp_lock_free(l);
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    snprintf(folder, sizeof folder, "io-test-%ld", (long)getpid());
    if (mkdir(folder, 0777)) return 1;
    RUN(csv_gives_back_every_bit);
    RUN(csv_reads_what_people_bring);
    RUN(csv_mistakes_name_file_and_line);
    RUN(json_gives_back_every_bit);
    RUN(damaged_json_is_a_sentence_with_its_place);
    RUN(npy_gives_back_every_bit_and_its_shape);
    RUN(npy_shapes_too_large_for_memory_are_refused);
    RUN(json_files_are_whole_or_not_written);
    RUN(texts_that_are_not_utf8_become_question_marks);
    RUN(a_write_that_does_not_fit_leaves_the_old_file_whole);
    RUN(a_full_device_is_a_sentence);
    RUN(folders_are_made_with_parents);
    RUN(a_second_process_is_refused_by_pid_and_a_killed_one_lets_go);
    RUN(a_locked_folder_that_was_moved_keeps_what_is_written_and_its_successor_gets_nothing);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) return 1;
    return DONE();
}
