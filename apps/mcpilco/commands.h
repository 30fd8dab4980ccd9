/* commands.h - one function per verb; argv[0] is the verb. Each returns the exit code: 0 done, 1 failed, 2
 * wrong use, 130 interrupted. */
#ifndef MCP_COMMANDS_H
#define MCP_COMMANDS_H

int cmd_learn(int argc, char **argv);
int cmd_evaluate(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_plant(int argc, char **argv);
int cmd_rig(int argc, char **argv);
int cmd_next(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_machine(int argc, char **argv);

/* First of all: may start the program again with a better environment (prepare_machine.c). */
void prepare_machine(char **argv);
/* Before a verb: ends the program with a sentence where a memory limit would make OpenBLAS wait for ever. */
void enough_memory(char **argv);

int bench_kernels(int argc, char **argv);
int bench_gp(int argc, char **argv);
int bench_pilco(int argc, char **argv);
int bench_program(int argc, char **argv);
int bench_precision(int argc, char **argv);
int bench_predict(int argc, char **argv);
int bench_step(int argc, char **argv);

#endif
