/* vectors.c - check the library against reference data: vectors gp|rollout|pilco FILE...
 * One JSON line per case with its largest relative errors; exit 1 when one is beyond its bound. */
#include "vectors.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: vectors gp|rollout|pilco FILE...\n");
        return 2;
    }
#ifdef VECTORS_gp
    if (!strcmp(argv[1], "gp")) return vectors_gp(argc - 2, argv + 2);
#endif
#ifdef VECTORS_rollout
    if (!strcmp(argv[1], "rollout")) return vectors_rollout(argc - 2, argv + 2);
#endif
#ifdef VECTORS_pilco
    if (!strcmp(argv[1], "pilco")) return vectors_pilco(argc - 2, argv + 2);
#endif
    fprintf(stderr, "vectors: unknown kind \"%s\"; gp, rollout and pilco are known\n", argv[1]);
    return 2;
}
