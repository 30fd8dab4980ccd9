/* fuzz_main.c - runs a fuzz target where libFuzzer is not to be had: a seeded mutator over a corpus.
 *   fuzz_NAME [-runs=N] [-seed=S] FILE_OR_FOLDER...        every file as it is, then N mutants of them */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 4096, MOST = 1 << 16 };
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    uint8_t *data;
    size_t   size;
} corpus[FILES];
static int      files;
static uint64_t state;

static uint64_t draw(uint64_t below) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (z ^ (z >> 31)) % below;
}

static void take(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return;
    if (S_ISDIR(st.st_mode)) {
        struct dirent **list = NULL;
        int             n = scandir(path, &list, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            char inner[4096];
            snprintf(inner, sizeof inner, "%s/%s", path, list[i]->d_name);
            if (list[i]->d_name[0] != '.') take(inner);
            free(list[i]);
        }
        free(list);
        return;
    }
    FILE *f = fopen(path, "rb");
    if (!f || files == FILES) return;
    corpus[files].data = malloc(MOST);
    if (!corpus[files].data) abort();
    corpus[files].size = fread(corpus[files].data, 1, MOST, f);
    files++;
    fclose(f);
}

static const char *const words[] = {
    "1e308", "-1e308", "nan", "inf", "-0", "1e-320", "2147483648", "-2147483649", "9223372036854775808",
    "%s%n", "../../..", "\"", "'", "{", "[", "}", "]", ": ", "- ", "\n", "\r\n", "\t", ",", ";", "\xff\xfe",
    "\xe2\x80\xae", "\x1b["};

static size_t mutate(uint8_t *d, size_t n)
{
    for (uint64_t times = 1 + draw(4); times > 0; times--) {
        size_t at = n ? draw(n) : 0, len = n ? draw(n - at < 64 ? n - at + 1 : 64) : 0, to = n ? draw(n) : 0;
        const char *w = words[draw(sizeof words / sizeof *words)];
        switch (draw(6)) {
        case 0:
            if (n) d[at] = (uint8_t)draw(256);
            break;
        case 1:
            if (n) d[at] ^= (uint8_t)(1U << draw(8));
            break;
        case 2: /* take out */
            memmove(d + at, d + at + len, n - at - len);
            n -= len;
            break;
        case 3: /* again, elsewhere */
            if (to + len <= n) memmove(d + to, d + at, len);
            break;
        case 4: /* a word */
            if (n + strlen(w) > MOST) break;
            memmove(d + at + strlen(w), d + at, n - at);
            memcpy(d + at, w, strlen(w));
            n += strlen(w);
            break;
        default: /* the end of another */
            if (files) {
                int    k = (int)draw((uint64_t)files);
                size_t from = corpus[k].size ? draw(corpus[k].size) : 0, more = corpus[k].size - from;
                if (at + more > MOST) more = MOST - at;
                memcpy(d + at, corpus[k].data + from, more);
                n = at + more;
            }
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    static uint8_t mutant[MOST];
    long           runs = 0;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "-runs=", 6)) runs = atol(argv[i] + 6);
        else if (!strncmp(argv[i], "-seed=", 6)) state = strtoull(argv[i] + 6, NULL, 10);
        else take(argv[i]);
    }
    for (int i = 0; i < files; i++) LLVMFuzzerTestOneInput(corpus[i].data, corpus[i].size);
    for (long k = 0; k < runs && files; k++) {
        int    which = (int)draw((uint64_t)files);
        size_t n = corpus[which].size;
        memcpy(mutant, corpus[which].data, n);
        n = mutate(mutant, n);
        uint8_t *exact = malloc(n + 1); /* so that a sanitizer sees every byte too many */
        if (!exact) abort();
        memcpy(exact, mutant, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
    }
    printf("%ld executions, %d files\n", runs + files, files);
    for (int i = 0; i < files; i++) free(corpus[i].data);
    return files ? 0 : 1;
}
