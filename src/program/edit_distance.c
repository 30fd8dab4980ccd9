/* edit_distance.c - how far two words are from each other, to suggest the one that was meant. */
#include "program/edit_distance.h"

#include <stdlib.h>

enum { LONGEST = 64 };

int mcp_word_distance(const char *a, size_t na, const char *b, size_t nb, int most)
{
    if (na > LONGEST || nb > LONGEST || abs((int)na - (int)nb) > most) return most + 1;
    int row[3][LONGEST + 1]; /* rows i-2, i-1, i of the edit table, taken in turn */
    for (size_t j = 0; j <= nb; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    int d = row[na % 3][nb];
    return d > most ? most + 1 : d;
}
