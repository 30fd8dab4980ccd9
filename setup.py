"""setup.py - the wheel: the Python package with the library, the command, the tasks, and every shared library
they need beyond the C library, under names of their own, found relative to each other ($ORIGIN). It runs
where the C library is at least as new as here; no compiler, no other package than NumPy.

MCPILCO_BARE=1 leaves all of that out: the package then uses the library of the system (Debian's packages).
CMAKE_ARGS adds options of the build, as for a cross compiler; MCPILCO_PREFIX names an installed tree to carry
instead of a build."""
import glob
import hashlib
import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("MCPILCO_WHEEL_BUILD", ROOT / "build-wheel"))
PREFIX = os.environ.get("MCPILCO_PREFIX")
BARE = os.environ.get("MCPILCO_BARE", "0") != "0"
# part of every Linux with this C library (the list of the manylinux policies, as far as it matters here)
SYSTEM = re.compile(r"(lib(c|m|mvec|pthread|dl|rt|resolv|gcc_s|stdc\+\+)|ld-linux.*)\.so\.\d+$")
MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64"}  # e_machine of an ELF file


def version():
    text = (ROOT / "include/mcpilco/version.h").read_text()
    return ".".join(re.findall(r"^#define MCP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.M))


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, text=True, stdout=subprocess.PIPE).stdout


def build():
    """The library and the command, installed into a folder of the build."""
    if PREFIX:
        return Path(PREFIX)
    options = "-DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DMCP_MPI=OFF -DMCP_MUJOCO=OFF".split()
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *options, *os.environ.get("CMAKE_ARGS", "").split())
    run("cmake", "--build", BUILD)
    shutil.rmtree(BUILD / "prefix", ignore_errors=True)
    run("cmake", "--install", BUILD, "--prefix", BUILD / "prefix", "--strip")
    return BUILD / "prefix"


def compiler():
    """The one of the build: it knows where the libraries of its machine are."""
    if PREFIX:
        return os.environ.get("CC", "cc")
    cache = (BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.M).group(1)


def needed(file):
    return [n for n in run("patchelf", "--print-needed", file).split() if not SYSTEM.match(n)]


def licence(library, folder):
    """The terms of the Debian package that a library came from."""
    try:
        owner = run("dpkg-query", "-S", library).split(":")[0]
        shutil.copy(f"/usr/share/doc/{owner}/copyright", folder / owner)
    except (OSError, subprocess.CalledProcessError):
        print(f"setup.py: no licence found for {library}")


def carry(package):
    """Fills the package's folders lib, bin, tasks and licences."""
    prefix, lib, licences = build(), package / "lib", package / "licences"
    for folder in ("lib", "bin", "tasks", "licences"):
        shutil.rmtree(package / folder, ignore_errors=True)
        (package / folder).mkdir(parents=True)
    for task in glob.glob(str(ROOT / "tasks/*.yaml")):
        shutil.copy(task, package / "tasks")
    shutil.copy(next(prefix.glob("lib*/**/libmcpilco.so.0")), lib / "libmcpilco.so.0")
    shutil.copy(prefix / "bin/mcpilco", package / "bin/mcpilco")
    names, files = {}, [lib / "libmcpilco.so.0", package / "bin/mcpilco"]
    for file in files:  # grows while it is walked
        for name in needed(file):
            if name in names:
                continue
            source = os.path.realpath(run(compiler(), "-print-file-name=" + name).strip())
            if not os.path.isabs(source) or not os.path.exists(source):
                raise SystemExit(f"setup.py: {name}, which {file.name} needs, was not found")
            # a name of its own: another copy in the same process, such as NumPy's BLAS, is not taken for it
            stem, _, rest = name.partition(".so")
            names[name] = f"{stem}-{hashlib.sha256(Path(source).read_bytes()).hexdigest()[:8]}.so{rest}"
            shutil.copy(source, lib / names[name])
            licence(source, licences)
            files.append(lib / names[name])
    for file in files:  # one change a call: patchelf 0.14 mixes several up
        file.chmod(0o755)
        for name in needed(file):
            run("patchelf", "--replace-needed", name, names[name], file)
        if file.parent == lib:
            run("patchelf", "--set-soname", file.name, file)
        run("patchelf", "--set-rpath", "$ORIGIN" if file.parent == lib else "$ORIGIN/../lib", file)


def platform(library):
    """The tag of the machine the library is for and of the C library it was linked with."""
    machine = MACHINES[struct.unpack("<H", library.read_bytes()[18:20])[0]]
    asked = re.findall(r"GLIBC_2\.(\d+)", run("readelf", "-V", *glob.glob(str(library.parent / "*"))))
    return f"manylinux_2_{max(int(v) for v in asked)}_{machine}"


class Package(Distribution):
    def has_ext_modules(self):
        return not BARE


class BuildPackage(build_py):
    def run(self):
        super().run()
        if not BARE:
            carry(Path(self.build_lib) / "mcpilco")


class Wheel(bdist_wheel):
    def get_tag(self):
        if BARE:
            return "py3", "none", "any"
        return "py3", "none", platform(Path(self.bdist_dir) / "mcpilco/lib/libmcpilco.so.0")


(BUILD / "python").mkdir(parents=True, exist_ok=True)
setup(
    version=version(),
    packages=["mcpilco"],
    package_dir={"mcpilco": "python/mcpilco"},
    package_data={"mcpilco": ["py.typed"]},
    entry_points={} if BARE else {"console_scripts": ["mcpilco = mcpilco.__main__:main"]},
    distclass=Package,
    options={
        "build": {"build_base": str(BUILD / "python")},
        "bdist_wheel": {"bdist_dir": str(BUILD / "python/wheel")},
        "egg_info": {"egg_base": str(BUILD / "python")},
    },
    cmdclass={"build_py": BuildPackage, "bdist_wheel": Wheel},
)
