"""package_tests.py - the Python package against the library and the command. Run by test_package.sh,
which sets SOURCE, MCPILCO, MCPILCO_LIBRARY and the working folder."""
import ctypes
import json
import math
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

import mcpilco
import pendulum_env
from mcpilco import _binding

SOURCE = Path(os.environ["SOURCE"])
TINY = {
    "optimise.particles": 24,
    "optimise.steps_first": 30,
    "optimise.steps": 30,
    "optimise.evaluate_every": 10,
    "optimise.patience": 10,
}
PENDULUM = SOURCE / "tasks" / "pendulum.yaml"


def environment(name):
    """The real environment where Gymnasium is installed, else our own of the same interface."""
    try:
        import gymnasium

        return gymnasium.make("Pendulum-v1")
    except ImportError:
        return getattr(pendulum_env, name)()


def tiny(file=PENDULUM, **more):
    return mcpilco.Task(file, set=TINY, **more)


def learn(task, plant=None, **more):
    return mcpilco.learn(task, plant, progress=False, **{"trials": 1, **more})


GOAL = {
    "name": "to-a-place",
    "rate": 20,
    "trial": 1.5,
    "goals": {"r": [-1, 1]},
    "state": ["q", "v"],
    "inputs": {"u": 2},
    "measured": {"q": 1e-3},
    "model": {"velocities": {"q": "v"}},
    "cost": "1 - exp(-(q - r)^2)",
    "success": {"when": "abs(q - r) < 0.3", "last": 0.3},
    "start": {"std": 0.05},
    "plant": {"ode": {"v": "4*u - v"}},
}

GYM = {
    "name": "gym-pendulum",
    "rate": 20,
    "trial": 1.5,
    "state": {"theta": {"unit": "rad", "angle": True}, "dtheta": "rad/s"},
    "inputs": {"u": 2},
    "measured": {"theta": 1e-3, "dtheta": 1e-3},
    "model": {"velocities": {"theta": "dtheta"}},
    "cost": "1 - exp(-(sin(theta/2)/0.5)^2)",
    "start": {"std": [1, 0.5]},
}


class Pendulum:
    """The pendulum of the tests, in the plain protocol."""

    def reset(self, x0):
        self.x = np.array(x0)
        return self.x

    def step(self, u):
        for _ in range(50):
            self.x[1] += 1e-3 * (u[0] - 0.02 * self.x[1] - 4.905 * math.sin(self.x[0])) / 0.25
            self.x[0] += 1e-3 * self.x[1]
        return self.x


class BindingTest(unittest.TestCase):
    def test_structs_are_those_of_the_headers(self):
        lines = [
            "#include <stdio.h>",
            "#include <stddef.h>",
            "#include <mcpilco/machine.h>",
            "#include <mcpilco/mcpilco.h>",
            "int main(void) {",
        ]
        for struct in _binding.STRUCTS:
            name = struct.__name__
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("{name}.{f} %zu\\n", offsetof({name}, {f}));' for f, _ in struct._fields_]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "layout.c")
            source.write_text("\n".join(lines + ["return 0; }"]))
            subprocess.run(
                ["cc", "-I", str(SOURCE / "include"), "-o", folder + "/layout", str(source)], check=True
            )
            theirs = dict(
                line.split()
                for line in subprocess.run(
                    [folder + "/layout"], capture_output=True, text=True, check=True
                ).stdout.splitlines()
            )
        for struct in _binding.STRUCTS:
            name = struct.__name__
            self.assertEqual(ctypes.sizeof(struct), int(theirs[name]), name)
            for field, _ in struct._fields_:
                self.assertEqual(
                    getattr(struct, field).offset, int(theirs[f"{name}.{field}"]), f"{name}.{field}"
                )

    def test_a_library_of_another_version_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "old.c").write_text("int nothing(void) { return 0; }")
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-o", folder + "/old.so", folder + "/old.c"], check=True
            )
            done = subprocess.run(
                [sys.executable, "-c", "import mcpilco"],
                capture_output=True,
                text=True,
                env={**os.environ, "MCPILCO_LIBRARY": folder + "/old.so"},
            )
        self.assertIn("it is of another version than this package", done.stderr)

    def test_version_is_the_librarys(self):
        said = subprocess.run([os.environ["MCPILCO"], "--version"], capture_output=True, text=True).stdout
        self.assertEqual(said.split()[1], mcpilco.__version__)


class TaskTest(unittest.TestCase):
    def test_overrides_of_all_forms(self):
        task = mcpilco.Task(
            PENDULUM,
            optimise={"particles": 50, "steps": 7},
            success__last=0.25,
            set={"start.std": [0.1, 0.2], "model.kernel": "matern32"},
        )
        s = task.settings
        self.assertEqual((s["optimise"]["particles"], s["optimise"]["steps"]), (50, 7))
        self.assertEqual((s["success"]["last"], s["start"]["std"]), (0.25, [0.1, 0.2]))
        self.assertEqual(s["model"]["kernel"], "matern32")
        self.assertEqual((task.states, task.inputs, task.measured), (["theta", "dtheta"], ["u"], ["theta"]))
        self.assertEqual((task.steps, task.angles, task.limits), (50, [0], [2.5]))

    def test_a_dict_says_what_the_file_says(self):
        whole = mcpilco.Task(PENDULUM).settings
        again = mcpilco.Task(whole).settings
        self.assertEqual(json.dumps(again, sort_keys=True), json.dumps(whole, sort_keys=True))

    def test_texts_that_look_like_yaml_are_quoted(self):
        task = mcpilco.Task(
            {**GYM, "title": "a: b # c", "cost": "-theta^2", "limits": {"far": "abs(theta) > 9"}}
        )
        self.assertEqual((task.title, task.settings["cost"]), ("a: b # c", "-theta^2"))

    def test_mistakes_have_file_line_and_remedy(self):
        with self.assertRaises(mcpilco.TaskError) as caught:
            mcpilco.Task(SOURCE / "tests/data/broken/type-number.yaml")
        e = caught.exception
        self.assertEqual((Path(e.file).name, e.line, e.column), ("type-number.yaml", 3, 7))
        self.assertIn("expected a number in", e.message)
        self.assertIsInstance(e, ValueError)
        with self.assertRaises(mcpilco.TaskError) as caught:
            mcpilco.Task(PENDULUM, optimise__particle=3)
        self.assertIn("particles", str(caught.exception))
        with self.assertRaises(mcpilco.FileError):
            mcpilco.Task("there-is-none.yaml")


class LearnTest(unittest.TestCase):
    def test_same_bits_as_the_command_and_as_c(self):
        sets = [f"{k}={v}" for k, v in TINY.items()]
        run = learn(tiny(), seed=5, trials=2, folder="bits-python")
        command = [
            os.environ["MCPILCO"],
            "learn",
            str(PENDULUM),
            "--seed",
            "5",
            "--trials",
            "2",
            "--quiet",
            "--out",
            "bits-command",
        ]
        subprocess.run(command + [w for s in sets for w in ("--set", s)], check=True, capture_output=True)
        program = Path("bits.c")
        program.write_text(
            '#include <mcpilco/machine.h>\n#include <mcpilco/mcpilco.h>\n#include <stdio.h>\n'
            "int main(void) { const char *const sets[] = {" + ", ".join(f'"{s}"' for s in sets) + "};\n"
            "mcp_task *t; mcp_learner *l; mcp_learn_settings s; mcp_error e = {MCP_OK, \"\"};\n"
            "mcp_machine_one_blas_thread(); mcp_learn_settings_default(&s); "
            "s.seed = 5; s.folder = \"bits-c\";\n"
            f'if (mcp_task_load(&t, "{PENDULUM}", sets, {len(sets)}, &e)) return 1;\n'
            "if (mcp_learner_create(&l, t, &s, &e)) return 1;\n"
            "while (mcp_learner_trials(l) < 2) if (mcp_learner_trial(l, NULL, &e)) return 2;\n"
            "mcp_learner_free(l); mcp_task_free(t); return 0; }\n"
        )
        library = Path(os.environ["MCPILCO_LIBRARY"]).parent
        subprocess.run(
            [
                "cc",
                "-I",
                str(SOURCE / "include"),
                "bits.c",
                "-L",
                str(library),
                "-lmcpilco",
                "-o",
                "bits-program",
                f"-Wl,-rpath,{library}",
            ],
            check=True,
        )
        subprocess.run(["./bits-program"], check=True)
        for k in (1, 2):
            ours = Path(f"bits-python/trial-0{k}/policy.json").read_bytes()
            self.assertEqual(ours, Path(f"bits-command/trial-0{k}/policy.json").read_bytes())
            self.assertEqual(ours, Path(f"bits-c/trial-0{k}/policy.json").read_bytes())
        self.assertEqual(run.status, "finished")

    def test_a_python_plant_that_tells_its_state_is_the_tasks_own_to_the_bit(self):
        sys.path.insert(0, str(SOURCE / "examples" / "drivers"))
        import cartpole

        class Plant(cartpole.CartPole):
            def reset(self, x0):
                return super().reset(list(x0), 0, 0, 0)

        task = tiny(SOURCE / "tasks" / "cartpole.yaml")
        ours, theirs = learn(task, Plant(), seed=3), learn(task, seed=3)
        for name, values in theirs.trials[0].parameters.items():
            np.testing.assert_array_equal(ours.trials[0].parameters[name], values)
        np.testing.assert_array_equal(
            ours.trials[0].data["measured.theta"], theirs.trials[0].data["measured.theta"]
        )

    def test_a_plant_may_give_measurements_and_end_a_trial(self):
        class Short(Pendulum):
            stopped = None

            def reset(self, x0, seed):
                self.count, self.seed = 0, seed
                return super().reset(x0)[:1]

            def step(self, u):
                self.count += 1
                y = super().step(u)[:1]
                return (y, "the cable is short") if self.count == 20 else y

            def stop(self, u):
                self.stopped = float(u[0])

        plant = Short()
        run = learn(tiny(), plant, seed=2)
        data = run.trials[0].data
        self.assertEqual(len(data), 21)
        self.assertTrue(np.isnan(data["truth.theta"]).all())
        self.assertEqual(plant.stopped, 0.0)
        self.assertEqual(run.trials[0].result["reason"], "the cable is short")

    def test_exceptions_of_a_plant_come_back(self):
        class Broken(Pendulum):
            def step(self, u):
                raise RuntimeError("the gear slips")

        class Wrong(Pendulum):
            def step(self, u):
                return [1.0, 2.0, 3.0]

        with self.assertRaises(mcpilco.PlantError) as caught:
            learn(tiny(), Broken())
        self.assertIn("the gear slips", str(caught.exception))
        self.assertIsInstance(caught.exception.__cause__, RuntimeError)
        with self.assertRaises(mcpilco.PlantError) as caught:
            learn(tiny(), Wrong())
        self.assertIn("3 values, expected the 2 states or the 1 measured", str(caught.exception))
        with self.assertRaises(TypeError):
            learn(tiny(), object())

    def test_ctrl_c_stops_cleanly_and_resume_goes_on_to_the_same_bits(self):
        whole = learn(tiny(), seed=4, trials=2, folder="whole")
        code = (
            "import mcpilco, os, signal, sys\n"
            f"task = mcpilco.Task({str(PENDULUM)!r}, set={TINY!r})\n"
            "def told(p):\n"
            "    if p.phase == 3 and p.trial == 2: os.kill(os.getpid(), signal.SIGINT)\n"
            "try: mcpilco.learn(task, seed=4, trials=2, folder='stopped', progress=told)\n"
            "except mcpilco.Stopped as e: print(len(e.run.trials), e.run.status)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), ["1", "stopped"], done.stderr)
        run = learn(tiny(), seed=4, trials=2, folder="stopped", resume=True)
        for name, values in whole.trials[1].parameters.items():
            np.testing.assert_array_equal(run.trials[1].parameters[name], values)

    def test_other_threads_run_meanwhile(self):
        beats, done = [], threading.Event()

        def beat():
            while not done.is_set():
                beats.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            learn(tiny(), trials=1)
        finally:
            done.set()
            thread.join()
        self.assertGreater(len(beats), 10)

    def test_progress_is_told_and_its_exceptions_come_back(self):
        seen = set()
        learn_progress = mcpilco.learn(tiny(), trials=1, progress=lambda p: seen.add(p.phase))
        self.assertEqual(len(learn_progress.trials), 1)
        self.assertTrue({0, 3, 5} <= seen, seen)
        with self.assertRaises(ZeroDivisionError):
            mcpilco.learn(tiny(), trials=1, progress=lambda p: 1 / 0)

    def test_progress_bar_in_a_terminal(self):
        from mcpilco._progress import Progress

        class Terminal:
            text = ""

            def isatty(self):
                return True

            def write(self, s):
                self.text += s

            def flush(self):
                pass

        out = Terminal()
        bar = Progress(4, out)
        p = _binding.mcp_learn_progress(phase=3, trial=2, step=50, steps=100, cost=1.25)
        bar.show("optimise", p)
        bar.trial("trial 2: cost 1.250")
        bar.close()
        self.assertIn("[##########          ] trial 2 of 4: optimise 50/100, cost 1.25", out.text)
        self.assertTrue(out.text.rstrip().endswith("trial 2: cost 1.250"))


class GymTest(unittest.TestCase):
    state = staticmethod(lambda o: (math.atan2(o[1], o[0]), o[2]))

    def test_pendulum_v1(self):
        env = environment("Pendulum")
        task = mcpilco.Task(GYM, set=TINY)
        run = learn(task, mcpilco.GymPlant(env, state=self.state), seed=1)
        data = run.trials[0].data
        self.assertEqual(len(data), 31)
        self.assertLess(np.abs(np.diff(data["truth.theta"])).max(), 1.0)  # unwrapped
        np.testing.assert_allclose(np.diff(data["truth.theta"]), data["truth.dtheta"][1:] * 0.05, atol=1e-5)

    def test_the_same_seed_gives_the_same_run(self):
        task = mcpilco.Task(GYM, set=TINY)
        runs = [
            learn(task, mcpilco.GymPlant(environment("Pendulum"), state=self.state), seed=s)
            for s in (7, 7, 8)
        ]
        starts = [r.trials[0].data["truth.theta"][0] for r in runs]
        self.assertEqual(starts[0], starts[1])
        self.assertNotEqual(starts[0], starts[2])

    def test_an_environment_is_taken_as_it_is(self):
        class Plain(pendulum_env.Pendulum):
            def observe(self):
                return np.array([self.theta, self.omega])

        self.assertEqual(len(learn(mcpilco.Task(GYM, set=TINY), Plain()).trials[0].data), 31)

    def test_discrete_actions(self):
        env = pendulum_env.Switch()
        plant = mcpilco.GymPlant(env, state=self.state)
        plant.attach(mcpilco.Task(GYM))
        self.assertEqual(
            [plant.action(np.array([u])) for u in (-2.0, -0.7, -0.6, 0.6, 0.7, 2.0)], [0, 0, 1, 1, 2, 2]
        )
        learn(mcpilco.Task(GYM, set=TINY), plant)
        self.assertEqual(set(env.actions), {0, 1, 2})

    def test_scaled_and_clipped_actions(self):
        task = mcpilco.Task({**GYM, "inputs": {"u": 10}})
        for scale, expected in ((True, [-2, 1, 2]), (False, [-2, 2, 2])):
            plant = mcpilco.GymPlant(pendulum_env.Pendulum(), scale=scale)
            plant.attach(task)
            self.assertEqual([float(plant.action(np.array([u]))[0]) for u in (-10.0, 5.0, 10.0)], expected)

    def test_terminated_and_truncated(self):
        class Ends(pendulum_env.Pendulum):
            how = (True, False)

            def step(self, action):
                observation, reward, _, _, info = super().step(action)
                over = self.count >= 12
                return observation, reward, over and self.how[0], over and self.how[1], info

        class Truncates(Ends):
            how = (False, True)

        for kind, word in ((Ends, "terminated"), (Truncates, "truncated")):
            run = learn(mcpilco.Task(GYM, set=TINY), mcpilco.GymPlant(kind(), state=self.state))
            self.assertEqual(run.trials[0].result["reason"], f"the environment {word} the episode")
            self.assertEqual(len(run.trials[0].data), 13)
        env = pendulum_env.Pendulum()
        env.steps = 30  # truncated with the trial's last sample: nothing was lost
        run = learn(mcpilco.Task(GYM, set=TINY), mcpilco.GymPlant(env, state=self.state))
        self.assertEqual(run.trials[0].result["ended"], 0)


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = learn(tiny(), seed=6, trials=3)

    def test_data_states_forecast(self):
        trial = self.run_.trials[2]
        data = trial.data
        self.assertEqual((trial.number, len(data), data.dtype.names[:2]), (3, 51, ("t", "measured.theta")))
        self.assertEqual(data["t"][1], 0.05)
        self.assertEqual(trial.states.dtype.names, ("t", "theta", "dtheta"))
        self.assertLess(np.abs(trial.states["theta"] - data["truth.theta"][1:51]).max(), 0.2)
        f = trial.forecast
        self.assertEqual(f.low.shape, (51, 2))
        self.assertTrue((f.low <= f.median).all() and (f.median <= f.high).all())
        self.assertEqual(f.particles.shape[::2], (51, 2))
        self.assertIsNone(self.run_.explorations[0].forecast)
        self.assertTrue(math.isnan(self.run_.explorations[0].coverage))
        self.assertGreater(len(trial.history), 0)

    def test_to_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("needs pandas")
        frame = self.run_.trials[0].data.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns)[:2], ["t", "measured.theta"])

    def test_the_controller_repeats_the_trial(self):
        for trial in self.run_.trials:
            controller, data = trial.controller(), trial.data
            for k in range(50):
                u = controller([data["measured.theta"][k]])
                self.assertEqual(u[0], data["commanded.u"][k])
                self.assertEqual(controller.observed[1], data["observed.dtheta"][k])
        self.assertEqual(
            (controller.measured, controller.commands, controller.rate), (["theta"], ["u"], 20.0)
        )
        self.run_.policy.reset()
        self.assertLessEqual(abs(self.run_.policy([0.1])[0]), 2.5)
        controller([math.nan])
        self.assertFalse(controller.valid)

    def test_the_model_predicts_the_next_sample(self):
        trial = self.run_.trials[2]
        data = trial.data
        x = np.column_stack([data["truth.theta"], data["truth.dtheta"]])
        u = data["applied.u"]
        mean, std = trial.model.predict(x[:-1], u[:-1])
        self.assertEqual((trial.model.targets, mean.shape), (["dtheta"], (50, 1)))
        change = np.diff(x[:, 1])
        self.assertLess(np.abs(mean[:, 0] - change).mean(), 0.3 * np.abs(change).mean())
        self.assertTrue((std > 0).all())
        after = trial.model.step(x[:-1], u[:-1])
        np.testing.assert_allclose(after[:, 1], x[:-1, 1] + mean[:, 0], atol=1e-9)
        one = trial.model.predict([0.1, 0.2], [0.5])[0]
        self.assertEqual(one.shape, (1, 1))
        with self.assertRaises(mcpilco.ArgumentError):
            trial.model.predict([0.1], [0.5])
        with self.assertRaises(mcpilco.ArgumentError):
            self.run_.explorations[0].model

    def test_evaluation_is_that_of_the_command(self):
        self.run_.save("to-evaluate")
        said = subprocess.run(
            [os.environ["MCPILCO"], "evaluate", "to-evaluate", "--runs", "30", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        theirs = json.loads(said.stdout)
        for on in ("plant", "model"):
            ours = self.run_.evaluate(30, on=on)
            self.assertEqual((ours.runs, ours.successes), (30, theirs[on]["successes"]))
            np.testing.assert_array_equal(ours.cost, theirs[on]["cost"])

    def test_evaluation_on_a_python_plant(self):
        run = learn(tiny(), Pendulum(), seed=2)
        e = run.evaluate(5)
        self.assertEqual((e.runs, len(e.cost)), (5, 5))
        self.assertEqual(e.rate, e.successes / 5)
        self.assertGreater(len(set(e.cost)), 1)

        class Broken(Pendulum):
            def step(self, u):
                raise RuntimeError("the gear slips")

        with self.assertRaises(mcpilco.PlantError):
            run.evaluate(2, plant=Broken())

    def test_load_reads_what_the_command_wrote(self):
        sets = [w for k, v in TINY.items() for w in ("--set", f"{k}={v}")]
        subprocess.run(
            [
                os.environ["MCPILCO"],
                "learn",
                str(PENDULUM),
                "--trials",
                "1",
                "--quiet",
                "--out",
                "demo",
                *sets,
            ],
            check=True,
            capture_output=True,
        )
        run = mcpilco.load("demo")
        self.assertEqual((len(run.trials), run.status, run.seed), (1, "finished", 1))
        self.assertEqual(run.task.settings["optimise"]["particles"], 24)
        self.assertEqual(repr(run.trials[0])[:18], "<mcpilco.Trial 1: ")
        with self.assertRaises(mcpilco.FileError):
            mcpilco.load("there-is-no-run")

    def test_pages_tables_and_exports(self):
        page = self.run_._repr_html_()
        self.assertEqual(page.count("<tr>"), 4)
        self.assertIn("Torque-limited pendulum", page)
        report = self.run_.report(Path("page.html"))
        self.assertIn("<html", report.read_text()[:500].lower())
        self.run_.export("exported")
        self.assertTrue(list(Path("exported").glob("*.c")))
        copy = self.run_.save("copied")
        self.assertEqual(repr(copy), repr(self.run_))


class GoalTest(unittest.TestCase):
    def test_goals_are_set_and_evaluated(self):
        run = learn(mcpilco.Task(GOAL, set=TINY), seed=1)
        controller, data = run.trials[0].controller(), run.trials[0].data
        self.assertEqual((controller.measured, controller.goals), (["q"], {"r": 0.0}))
        controller.set_goal(r=data["truth.r"][0])
        for k in range(len(data["t"]) - 1):
            self.assertAlmostEqual(controller([data["measured.q"][k]])[0], data["commanded.u"][k], places=12)
        with self.assertRaises(mcpilco.ArgumentError):
            controller.set_goal(s=1.0)
        here, there = (run.evaluate(20, goals={"r": r}).cost for r in (0.1, 0.9))
        self.assertLess(np.median(here), np.median(there))
        with self.assertRaises(mcpilco.ArgumentError):
            run.evaluate(5, goals={"q": 0.5})
        self.assertEqual(run.evaluate(5, goals={"r": 0.2}, on="model").runs, 5)


class DocsTest(unittest.TestCase):
    def test_the_script_of_the_readme_learns_the_pendulum(self):
        readme = (SOURCE / "README.md").read_text()
        script = readme.split("```python\n")[1].split("```")[0]
        self.assertEqual(script, (SOURCE / "examples/python/pendulum.py").read_text().split("\n", 1)[1])
        self.assertLessEqual(sum(1 for line in script.splitlines() if line), 22)
        names = {}
        exec(script, names)
        self.assertTrue(names["run"].success)

    def test_the_gymnasium_example_runs(self):
        """With the real environment where it is, else with ours; few steps, one trial."""
        try:
            import gymnasium  # noqa: F401

            arguments = []
        except ImportError:
            arguments = ["pendulum_env:Pendulum"]
        make, all_trials, small = mcpilco.Task, mcpilco.learn, {**TINY, "explore.trials": 1}

        def one_trial(task, plant, seed, trials):
            return all_trials(task, plant, seed=seed, trials=1, progress=False)

        with mock.patch.object(sys, "argv", ["gym_pendulum.py", *arguments]), mock.patch.object(
            mcpilco, "Task", lambda given: make(given, set=small)
        ), mock.patch.object(mcpilco, "learn", one_trial):
            names = runpy.run_path(str(SOURCE / "examples/python/gym_pendulum.py"))
        data = names["run"].trials[-1].data
        self.assertEqual(len(data), names["task"].steps + 1)
        self.assertLess(np.abs(np.diff(data["measured.theta"])).max(), 0.05 * 8 + 0.1)  # unwrapped
        self.assertGreater(np.ptp(data["applied.u"][:-1]), 0)

    def test_the_notebook_ends_at_its_goal_with_c_code(self):
        import run_notebook

        names, shown = run_notebook.run(SOURCE / "examples/python/rail.ipynb")
        self.assertLess(abs(names["q"] - 1.0), 0.1)
        self.assertIn("<table>", shown[0])
        self.assertTrue(list(Path("rail-controller").glob("*.c")))


class GpTest(unittest.TestCase):
    @staticmethod
    def data(n=60):
        random = np.random.default_rng(3)
        X = random.uniform(-3, 3, (n, 2))
        return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.normal(size=n)

    def test_prediction_is_that_of_the_textbook(self):
        X, y = self.data()
        gp = mcpilco.GP("se").fit(X, y)
        h = gp.hyper
        scale = np.exp([h["se.log_lengthscale[0]"], h["se.log_lengthscale[1]"]])

        def kernel(A, B):
            d = A[:, None, :] / scale - B[None, :, :] / scale
            return np.exp(2 * h["se.log_lambda"]) * np.exp(-(d**2).sum(-1))

        at = np.random.default_rng(4).uniform(-3, 3, (7, 2))
        K = kernel(X, X) + np.exp(2 * h["log_noise"]) * np.eye(len(X))
        k = kernel(at, X)
        mean, std = gp.predict(at, return_std=True)
        np.testing.assert_allclose(mean, k @ np.linalg.solve(K, y), rtol=1e-7, atol=1e-9)
        variance = kernel(at, at).diagonal() - (k * np.linalg.solve(K, k.T).T).sum(1)
        np.testing.assert_allclose(std**2, variance, rtol=1e-5, atol=1e-9)
        nlml = (
            0.5 * y @ np.linalg.solve(K, y)
            + 0.5 * np.linalg.slogdet(K)[1]
            + 0.5 * len(y) * math.log(2 * math.pi)
        )
        self.assertAlmostEqual(gp.nlml, nlml, places=6)
        noisy = gp.predict(at, return_std=True, noisy=True)[1]
        np.testing.assert_allclose(noisy**2, std**2 + gp.noise_std**2)

    def test_samples_have_the_posteriors_moments(self):
        X, y = self.data(30)
        gp = mcpilco.GP("se").fit(X, y)
        at = np.array([[0.0, 0.0], [0.5, 0.0], [9.0, 9.0]])
        draws = gp.sample(at, 4000, seed=2)
        mean, covariance = gp.predict(at, return_cov=True)
        deviation = np.sqrt(covariance.diagonal())
        self.assertLess(np.abs((draws.mean(0) - mean) / deviation).max(), 5 / math.sqrt(4000))
        np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.12 * deviation.max() ** 2)
        np.testing.assert_array_equal(draws[:3], gp.sample(at, 3, seed=2))

    def test_sparse_is_near_exact_and_says_how_near(self):
        X, y = self.data(400)
        exact = mcpilco.GP("se").fit(X, y)
        sparse = mcpilco.GP("se", tolerance=0.01).fit(X, y)
        at = np.random.default_rng(5).uniform(-3, 3, (50, 2))
        (a, s), (b, t) = exact.predict(at, return_std=True), sparse.predict(at, return_std=True)
        self.assertLess(sparse.certificate["points"], 400)
        self.assertLessEqual(sparse.certificate["residual"], 0.01)
        self.assertEqual(exact.certificate["points"], 400)
        self.assertLess(np.abs(a - b).max(), 0.1 * exact.noise_std)
        self.assertLess(np.abs(s - t).max(), 0.1 * exact.noise_std)

    def test_hyper_parameters_by_name(self):
        X, y = self.data()
        gp = mcpilco.GP("se + linear(1)").fit(X, y)
        before = gp.nlml
        gp.hyper = {"log_noise": 1.0}
        self.assertEqual(gp.hyper["log_noise"], 1.0)
        self.assertGreater(gp.nlml, before)
        with self.assertRaises(mcpilco.ArgumentError):
            gp.hyper = {"log_nose": 1.0}
        self.assertGreater(gp.trained["evaluations"], 1)

    def test_mistakes_are_named(self):
        X, y = self.data()
        for wrong in (
            lambda: mcpilco.GP("sse").fit(X, y),
            lambda: mcpilco.GP().fit(X, y[:-1]),
            lambda: mcpilco.GP().predict(X),
            lambda: mcpilco.GP().fit(X, y).predict(X[:, :1]),
            lambda: mcpilco.GP().fit(X, np.full(len(y), np.nan)),
        ):
            with self.assertRaises(mcpilco.Error):
                wrong()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    unittest.main()
