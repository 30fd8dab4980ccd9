/* test_template.c - templates: fields, rows, choices, lines that vanish, and what is missing. */
#include "math/template.h"

#include "math/arena.h"
#include "test.h"

static void expands(const char *text, const mcp_fields *f, const char *wanted)
{
    mcp_text  t = {0};
    mcp_error err = {MCP_OK, ""};
    if (mcp_template_expand(&t, text, f, &err) != MCP_OK) FAIL_("%s: %s", text, err.text);
    else if (strcmp(t.data ? t.data : "", wanted))
        FAIL_("%s: gives \"%s\", not \"%s\"", text, t.data, wanted);
    mcp_text_free(&t);
}

static mcp_fields *example(void)
{
    mcp_fields *f = mcp_fields_create();
    mcp_fields_set(f, "name", "%s", "outer");
    mcp_fields_set(f, "empty", "%s", "");
    for (int i = 0; i < 3; i++) {
        mcp_fields *row = mcp_fields_row(f, "row");
        mcp_fields_set(row, "i", "%d", i);
        for (int k = 0; k < i; k++) mcp_fields_set(mcp_fields_row(row, "deep"), "k", "%d", k);
        if (i == 1) mcp_fields_set(row, "name", "inner");
    }
    return f;
}

CASE(fields_rows_and_choices)
{
    mcp_fields *f = example();
    expands("a @name@ b\n", f, "a outer b\n");
    expands("[@each row@@,@@i@@end@]", f, "[0, 1, 2]");
    expands("@each row@\n  @i@ @name@\n@end@\nend\n", f, "  0 outer\n  1 inner\n  2 outer\nend\n");
    expands("@each row@@i@:@each deep@ @k@/@i@@end@;@end@", f, "0:;1: 0/1;2: 0/2 1/2;");
    expands("@if name@yes@else@no@end@ @if empty@yes@else@no@end@ @if row@yes@end@ @if none@yes@end@", f,
            "yes no yes ");
    expands("@each row@\n@if deep@\n@i@\n@else@\nnone\n@end@\n@end@\n", f, "none\n1\n2\n");
    expands("@each none@@name@@end@x", f, "x");
    mcp_fields_free(f);
}

CASE(other_signs_stay)
{
    mcp_fields *f = example();
    expands("@media (x) { a@b.c }\n\t$(CC) -o $@ @name@.c @@ @", f,
            "@media (x) { a@b.c }\n\t$(CC) -o $@ outer.c @@ @");
    mcp_fields_set(f, "name", "@i@ %s", "%d");
    expands("@name@", f, "@i@ %d"); /* what is inserted is not expanded again */
    mcp_fields_free(f);
}

CASE(an_unknown_field_and_missing_memory_are_errors)
{
    mcp_fields *f = example();
    mcp_text    t = {0};
    mcp_error   err = {MCP_OK, ""};
    CHECK(mcp_template_expand(&t, "@nmae@", f, &err) == MCP_ERR_ARG);
    CHECK_HAS(err.text, "nmae");
    mcp_text_free(&t);
    mcp_fields_free(f);
    CHECK(mcp_template_expand(&t, "", NULL, &err) == MCP_ERR_MEMORY);
    mcp_fields_set(NULL, "a", "b");
    CHECK(!mcp_fields_row(NULL, "a"));
    long failures = 0, k = 0;
    for (int done = 0; !done; ) {
        mcp_alloc_fail_at(++k);
        f = example();
        mcp_status st = mcp_template_expand(&t, "@each row@@i@ @name@@end@", f, &err);
        mcp_alloc_fail_at(0);
        mcp_fields_free(f);
        mcp_text_free(&t);
        CHECK(st == MCP_OK || st == MCP_ERR_MEMORY);
        failures += st == MCP_ERR_MEMORY;
        done = st == MCP_OK;
    }
    CHECK(failures > 20 && failures == k - 1); /* every one of them was noticed */
}

int main(int argc, char **argv)
{
    TEST_ARGS(argc, argv);
    RUN(fields_rows_and_choices);
    RUN(other_signs_stay);
    RUN(an_unknown_field_and_missing_memory_are_errors);
    return DONE();
}
