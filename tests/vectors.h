/* vectors.h - one checker per kind of reference data; each returns the exit code. */
#ifndef VECTORS_H
#define VECTORS_H

int vectors_gp(int files, char **file);
int vectors_rollout(int files, char **file);
int vectors_pilco(int files, char **file);

#endif
