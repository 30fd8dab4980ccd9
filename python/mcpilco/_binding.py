"""The C library as ctypes sees it: structs, signatures, errors. Nothing here computes.

ctypes releases the GIL during every call and takes it again for callbacks. tests/python compares the structs
with the compiler's own layout."""
import ctypes
import os
import re
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent

STATES, INPUTS = 64, 16  # MCP_SAMPLE_STATES, MCP_SAMPLE_INPUTS
OK, ERR_ARG, ERR_MEMORY, ERR_IO, ERR_TASK, ERR_NUMERIC, ERR_PLANT, ERR_STOPPED = range(8)
STATES_OF_RUN = ("running", "waiting", "finished", "stopped", "failed")  # mcp_run_state
PHASES = ("explore", "estimate", "model", "optimise", "forecast", "trial")


class Error(Exception):
    """Something the library refused or could not do; the text says where, what was found and what to do."""

    status: int = ERR_ARG


class TaskError(Error, ValueError):
    """A task says something that cannot be meant. `file`, `line` and `column` tell where."""

    status = ERR_TASK

    def __init__(self, text: str):
        super().__init__(text)
        place = re.match(r"(.*?):(\d+):(?:(\d+):)? (.*)", text, flags=re.S)
        self.file: Optional[str] = place.group(1) if place else None
        self.line: Optional[int] = int(place.group(2)) if place else None
        self.column: Optional[int] = int(place.group(3)) if place and place.group(3) else None
        self.message: str = place.group(4) if place else text


class ArgumentError(Error, ValueError):
    """A call was given something impossible."""


class FileError(Error, OSError):
    """A file could not be read or written."""

    status = ERR_IO


class NumericError(Error, ArithmeticError):
    """The numbers went wrong: NaN, or a matrix that is not positive definite."""

    status = ERR_NUMERIC


class PlantError(Error, RuntimeError):
    """The plant did not answer, or not as agreed."""

    status = ERR_PLANT


class Stopped(Error, KeyboardInterrupt):
    """Learning was stopped by Ctrl-C. `run` holds everything that was finished; resume goes on from there."""

    status = ERR_STOPPED
    run = None


class mcp_error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 512)]


class mcp_sample(Structure):
    _fields_ = [
        ("time", c_double),
        ("truth", c_double * STATES),
        ("measured", c_double * STATES),
        ("applied", c_double * INPUTS),
        ("wall", c_double),
        ("sent", c_double),
        ("late", c_double),
        ("answer", c_double),
        ("missed", c_int),
        ("ended", c_int),
        ("reason", c_char * 96),
    ]


RESET = CFUNCTYPE(
    c_int, c_void_p, POINTER(c_double), c_uint64, c_uint32, c_uint32, POINTER(mcp_sample), POINTER(mcp_error)
)
STEP = CFUNCTYPE(c_int, c_void_p, POINTER(c_double), POINTER(mcp_sample), POINTER(mcp_error))
STOP = CFUNCTYPE(c_int, c_void_p, POINTER(c_double), POINTER(mcp_error))
DESTROY = CFUNCTYPE(None, c_void_p)


class mcp_plant_ops(Structure):
    _fields_ = [("reset", RESET), ("step", STEP), ("stop", STOP), ("destroy", DESTROY)]


class mcp_learn_progress(Structure):
    _fields_ = [
        ("phase", c_int),
        ("trial", c_int),
        ("step", c_int),
        ("steps", c_int),
        ("cost", c_double),
        ("cost_std", c_double),
        ("best", c_double),
        ("step_size", c_double),
        ("dropout", c_double),
        ("gradient_norm", c_double),
        ("event", c_int),
        ("seconds", c_double),
    ]


PROGRESS = CFUNCTYPE(c_int, c_void_p, POINTER(mcp_learn_progress))
ASKED = CFUNCTYPE(c_int, c_void_p)
MOVING = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class mcp_watch(Structure):
    _fields_ = [("stop", ASKED), ("moving", MOVING), ("context", c_void_p)]


class mcp_learn_settings(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seed", c_uint64),
        ("threads", c_int),
        ("algorithm", c_char_p),
        ("folder", c_char_p),
        ("resume", c_int),
        ("trials", c_int),
        ("particles_kept", c_int),
        ("risk", c_double),
        ("progress", PROGRESS),
        ("progress_context", c_void_p),
        ("plant", POINTER(mcp_plant_ops)),
        ("plant_context", c_void_p),
        ("watch", mcp_watch),
    ]


class mcp_learn_info(Structure):
    _fields_ = [
        ("explored", c_int),
        ("number", c_int),
        ("restored", c_int),
        ("samples", c_int),
        ("data", c_int),
        ("outcome", c_int),
        ("steps", c_int),
        ("restarts", c_int),
        ("cost_first", c_double),
        ("cost_last", c_double),
        ("check_cosine", c_double),
        ("forecast_cost", c_double),
        ("forecast_std", c_double),
        ("forecast_success", c_double),
        ("forecast_limit", c_double),
        ("cost", c_double),
        ("metric", c_double),
        ("success", c_int),
        ("limit", c_int),
        ("ended", c_int),
        ("reason", c_char * 128),
        ("coverage", c_double),
        ("estimate_s", c_double),
        ("model_s", c_double),
        ("optimise_s", c_double),
        ("forecast_s", c_double),
        ("plant_s", c_double),
        ("check_first", c_double),
        ("tolerance", c_double),
    ]


EVALUATED = CFUNCTYPE(c_int, c_void_p, c_int, c_int)


class mcp_evaluate_settings(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("trial", c_int),
        ("runs", c_int),
        ("seed", c_uint64),
        ("threads", c_int),
        ("where", c_int),
        ("progress", EVALUATED),
        ("progress_context", c_void_p),
        ("plant", POINTER(mcp_plant_ops)),
        ("plant_context", c_void_p),
        ("goals", POINTER(c_char_p)),
        ("goal_count", c_int),
    ]


class mcp_evaluation(Structure):
    _fields_ = (
        [(name, c_int) for name in ("runs", "successes", "limits", "ended")]
        + [(name, c_double) for name in ("low", "high", "cost_p05", "cost_median", "cost_p95")]
        + [("metric_" + name, c_double) for name in ("p05", "median", "p95", "mean", "max")]
        + [("cost", POINTER(c_double)), ("metric", POINTER(c_double)), ("success", POINTER(c_int))]
    )


class mcp_controller_info(Structure):
    _fields_ = [("rate", c_double), ("measured", c_int), ("commands", c_int), ("states", c_int)]


class mcp_gp_settings(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("noise_floor", c_double),
        ("lengthscale_floor", c_double),
        ("noise_start", c_double),
        ("fix_lambda", c_int),
        ("from_present", c_int),
        ("restarts", c_int),
        ("evaluations_max", c_int),
        ("seed", c_uint64),
        ("prior", c_double),
    ]


class mcp_gp_info(Structure):
    _fields_ = [
        ("nlml", c_double),
        ("nlml_start", c_double),
        ("noise_std", c_double),
        ("starts", c_int),
        ("evaluations", c_int),
        ("jitter", c_double),
        ("seconds", c_double),
    ]


class mcp_posterior_info(Structure):
    _fields_ = [
        ("points", c_int),
        ("variance_points", c_int),
        ("residual", c_double),
        ("mean_error", c_double),
        ("std_error", c_double),
        ("jitter", c_double),
        ("bytes", c_size_t),
    ]


class mcp_machine(Structure):
    _fields_ = [
        ("isa", c_char * 8),
        ("isa_cpu", c_char * 8),
        ("blas", c_char * 80),
        ("blas_kind", c_char * 8),
        ("blas_slow", c_int),
        ("blas_threads", c_int),
        ("cores", c_int),
    ]


STRUCTS = (
    mcp_error,
    mcp_sample,
    mcp_plant_ops,
    mcp_watch,
    mcp_learn_progress,
    mcp_learn_settings,
    mcp_learn_info,
    mcp_evaluate_settings,
    mcp_evaluation,
    mcp_controller_info,
    mcp_gp_settings,
    mcp_gp_info,
    mcp_posterior_info,
    mcp_machine,
)

_E = POINTER(mcp_error)
_P = c_void_p
_D = c_void_p  # double *: an address
_TEXTS = POINTER(c_char_p)
# name: result, arguments. c_int results named "status" raise on failure (call()).
SIGNATURES = {
    "mcp_task_load": (c_int, [POINTER(_P), c_char_p, _TEXTS, c_int, _E]),
    "mcp_task_parse": (c_int, [POINTER(_P), c_char_p, c_char_p, _TEXTS, c_int, _E]),
    "mcp_task_free": (None, [_P]),
    "mcp_task_dump": (c_int, [_P, POINTER(_P), _E]),
    "mcp_task_schema": (c_int, [POINTER(_P), _E]),
    "mcp_task_text_free": (None, [_P]),
    "mcp_learn_settings_init": (None, [POINTER(mcp_learn_settings), c_size_t]),
    "mcp_learner_create": (c_int, [POINTER(_P), _P, POINTER(mcp_learn_settings), _E]),
    "mcp_learner_free": (None, [_P]),
    "mcp_learner_trial": (c_int, [_P, POINTER(POINTER(mcp_learn_info)), _E]),
    "mcp_learner_recommend": (c_int, [_P, POINTER(c_int), _E]),
    "mcp_learner_explored": (c_int, [_P]),
    "mcp_learner_explorations": (c_int, [_P]),
    "mcp_learner_trials": (c_int, [_P]),
    "mcp_learner_close": (c_int, [_P, c_int, _E]),
    "mcp_run_open": (c_int, [POINTER(_P), c_char_p, _E, _E]),
    "mcp_run_free": (None, [_P]),
    "mcp_run_recommended": (c_int, [_P]),
    "mcp_run_evaluate": (c_int, [POINTER(POINTER(mcp_evaluation)), _P, POINTER(mcp_evaluate_settings), _E]),
    "mcp_evaluate_settings_init": (None, [POINTER(mcp_evaluate_settings), c_size_t]),
    "mcp_evaluation_free": (None, [POINTER(mcp_evaluation)]),
    "mcp_model_open": (c_int, [POINTER(_P), _P, c_int, c_int, _E]),
    "mcp_model_free": (None, [_P]),
    "mcp_model_targets": (c_int, [_P]),
    "mcp_model_predict": (c_int, [_P, c_int, _D, _D, _D, _D, _E]),
    "mcp_model_step": (c_int, [_P, c_int, _D, _D, _D, _E]),
    "mcp_task_name": (c_char_p, [_P, c_int, c_int]),
    "mcp_controller_load": (c_int, [POINTER(_P), c_char_p, c_int, _E]),
    "mcp_controller_free": (None, [_P]),
    "mcp_controller_describe": (None, [_P, POINTER(mcp_controller_info)]),
    "mcp_controller_measured_name": (c_char_p, [_P, c_int]),
    "mcp_controller_command_name": (c_char_p, [_P, c_int]),
    "mcp_controller_command_limit": (c_double, [_P, c_int]),
    "mcp_controller_goal_name": (c_char_p, [_P, c_int]),
    "mcp_controller_goal": (c_double, [_P, c_int]),
    "mcp_controller_set_goal": (c_int, [_P, c_char_p, c_double, _E]),
    "mcp_controller_reset": (None, [_P]),
    "mcp_controller_step": (c_int, [_P, _D, _D, _D]),
    "mcp_version": (c_char_p, []),
    "mcp_gp_settings_init": (None, [POINTER(mcp_gp_settings), c_size_t]),
    "mcp_gp_from_text": (c_int, [POINTER(_P), c_char_p, c_int, c_int, _D, _D, _E]),
    "mcp_gp_free": (None, [_P]),
    "mcp_gp_hyper": (POINTER(c_double), [_P]),
    "mcp_gp_hyper_count": (c_int, [_P]),
    "mcp_gp_hyper_name": (c_char_p, [_P, c_int]),
    "mcp_gp_hyper_set": (c_int, [_P, c_char_p, c_double, _E]),
    "mcp_gp_train": (c_int, [_P, POINTER(mcp_gp_settings), _E]),
    "mcp_gp_trained": (POINTER(mcp_gp_info), [_P]),
    "mcp_gp_posterior": (c_int, [_P, c_int, c_double, c_int, _E]),
    "mcp_gp_posterior_certificate": (c_int, [_P, POINTER(POINTER(mcp_posterior_info)), _E]),
    "mcp_gp_covariance": (c_int, [_P, c_int, _D, _D, _E]),
    "mcp_gp_sample": (c_int, [_P, c_int, _D, c_int, c_uint64, _D, _E]),
    "mcp_gp_nlml": (c_int, [_P, POINTER(c_double), _D, _E]),
    "mcp_gp_predict": (c_int, [_P, c_int, _D, _D, _D, _E]),
    "mcp_gp_noise_var": (c_double, [_P]),
    "mcp_machine_info": (None, [POINTER(mcp_machine), c_size_t]),
    "mcp_machine_one_blas_thread": (None, []),
}

_CLASSES = {
    ERR_ARG: ArgumentError,
    ERR_MEMORY: MemoryError,
    ERR_IO: FileError,
    ERR_TASK: TaskError,
    ERR_NUMERIC: NumericError,
    ERR_PLANT: PlantError,
    ERR_STOPPED: Stopped,
}


def _open() -> ctypes.CDLL:
    """The library named by MCPILCO_LIBRARY, else the one in this package (wheel), else the system's."""
    bundled = HERE / "lib" / "libmcpilco.so.0"
    named = os.environ.get("MCPILCO_LIBRARY")
    path = named or (str(bundled) if bundled.exists() else "libmcpilco.so.0")
    try:
        library = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(
            f"{path}: {e}; install the package libmcpilco0, or name the library in the "
            "environment variable MCPILCO_LIBRARY"
        ) from None
    for name, (result, arguments) in SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is of another version than this package") from None
        function.restype, function.argtypes = result, arguments
    return library


lib = _open()


def fail(err: mcp_error) -> None:
    raise _CLASSES.get(err.status, Error)(err.text.decode("utf-8", "replace"))


def call(name: str, *arguments):
    """Calls a function whose last parameter is mcp_error * and raises what it reports."""
    err = mcp_error()
    if getattr(lib, name)(*arguments, ctypes.byref(err)) != OK:
        fail(err)


def guarded(work, raised):
    """work for C to call: an exception goes into the list raised, and asks C to stop."""

    def safe(*arguments):
        try:
            return work(*arguments)
        except BaseException as e:
            raised.append(e)
            return 1

    return safe


def texts(items):
    """A char *const * of the texts, or None."""
    return (c_char_p * len(items))(*[t.encode() for t in items]) if items else None


def take_text(address: c_void_p) -> str:
    """A text that the library allocated for us."""
    text = ctypes.string_at(address.value).decode()
    lib.mcp_task_text_free(address)
    return text


def machine() -> dict:
    """What the library found here: instruction set, BLAS, cores."""
    m = mcp_machine()
    lib.mcp_machine_info(ctypes.byref(m), ctypes.sizeof(m))
    values = {name: getattr(m, name) for name, _ in m._fields_}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}
