"""Tests the checks that read archives and libraries, which are compiled here for the purpose."""

import platform
import subprocess
from pathlib import Path

import pytest

from checks import exports, layers, needed, purity, statics
from checks.layer_table import Layer
from checks.report import Place


def archive(place: Place, name: str, text: str, file: str = "x.cpp") -> Path:
    """Compiles `text` into archives/libforebay_<name>.a."""
    source = place.root / file
    source.write_text(text)
    made = place.root / f"{file}.o"
    subprocess.run(["c++", "-std=c++20", "-O1", "-fPIC", "-c", source, "-o", made], check=True)
    target = place.build / "archives" / f"libforebay_{name}.a"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    subprocess.run(["ar", "rc", target, made], check=True)
    return target


@pytest.mark.parametrize(
    "body",
    [
        "#include <unistd.h>\nlong f() { return getpid(); }",
        "#include <chrono>\nlong f() { return std::chrono::steady_clock::now()"
        ".time_since_epoch().count(); }",
        '#include <cstdio>\nvoid f() { std::puts("x"); }',
        "#include <thread>\nvoid f() { std::thread{[] {}}.join(); }",
        "#include <random>\nunsigned f() { return std::random_device{}(); }",
        'extern "C" int MPI_Barrier(int);\nint f() { return MPI_Barrier(0); }',
    ],
)
def test_pure_layer_that_calls_the_world_is_found(place: Place, body: str) -> None:
    archive(place, "pattern", body)
    assert purity.check(place).findings


def test_pure_layer_may_use_containers_and_its_base(place: Place) -> None:
    archive(place, "base", "namespace forebay { int g() { return 1; } }", "base.cpp")
    archive(
        place,
        "pattern",
        "#include <map>\n#include <string>\n#include <vector>\nnamespace forebay { int g(); }\n"
        "std::string f(std::vector<int> v, std::map<int, int> m) { m[v.at(0)] = forebay::g();"
        " return std::to_string(m.size()); }",
    )
    assert not purity.check(place).findings


@pytest.mark.parametrize(
    "body",
    [
        "int counter = 0; int f() { return ++counter; }",
        "static int counter; int f() { return ++counter; }",
        "int f() { static int calls = 3; return ++calls; }",
        "thread_local int mine = 1; int f() { return ++mine; }",
        '#include <string>\nnamespace forebay { const std::string name = "a long enough name"; '
        "const char* f() { return name.c_str(); } }",
    ],
)
def test_mutable_static_is_found(place: Place, body: str) -> None:
    archive(place, "engine", body)
    assert statics.check(place).findings


@pytest.mark.parametrize(
    "body",
    [
        'constexpr const char* names[] = {"a", "b"}; const char* f(int i) { return names[i]; }',
        "struct A { virtual ~A() = default; virtual int f() = 0; };"
        " struct B : A { int f() override; }; int B::f() { return 1; }",
        "const int table[] = {1, 2, 3}; const int* f() { return table; }",
    ],
)
def test_constant_is_no_mutable_static(place: Place, body: str) -> None:
    archive(place, "engine", body)
    assert not statics.check(place).findings


def test_process_file_of_an_entry_may_hold_state(place: Place) -> None:
    archive(
        place, "collective_mpi_mpich", "int counter; int* f() { return &counter; }", "process.cpp"
    )
    assert not statics.check(place).findings


def test_process_file_elsewhere_may_not_hold_state(place: Place) -> None:
    archive(place, "engine", "int counter; int* f() { return &counter; }", "process.cpp")
    assert statics.check(place).findings


def test_link_against_the_direction_is_found(place: Place) -> None:
    archive(place, "engine", "namespace forebay { int g() { return 1; } }", "engine.cpp")
    archive(place, "pattern", "namespace forebay { int g(); }\nint f() { return forebay::g(); }")
    findings = layers.check(place).findings
    assert [finding.problem for finding in findings] == ["pattern links forebay::g() of engine"]


def test_link_in_the_direction_is_fine(place: Place) -> None:
    archive(place, "base", "namespace forebay { int g() { return 1; } }", "base.cpp")
    archive(place, "engine", "namespace forebay { int g(); }\nint f() { return forebay::g(); }")
    assert not layers.check(place).findings


def test_family_layer_has_one_archive_a_family() -> None:
    names = Layer(name="adapters/mpi", families=True).archives()
    families = ("mpich", "openmpi", "abi")
    assert names == [f"libforebay_adapters_mpi_{family}.a" for family in families]


def preloaded(place: Place, text: str, driver: str = "c++") -> None:
    """Builds each of the two preloaded libraries from the source `text`."""
    source = place.root / "x.cpp"
    source.write_text(text)
    (place.build / "lib").mkdir(parents=True, exist_ok=True)
    for name in needed.PRELOADED:
        library = place.build / "lib" / name
        flags = ["-std=c++20", "-O1", "-fPIC", "-shared", "-Wl,--as-needed"]
        subprocess.run([driver, *flags, source, "-o", library], check=True)


@pytest.mark.parametrize(
    ("driver", "body"),
    [
        ("c++", "long f() { return std::chrono::steady_clock::now().time_since_epoch().count(); }"),
        ("c++", "int* f() { return new int; }"),
        # libstdc++ is not linked, but its symbols are undefined: the program would have to have it.
        ("cc", "int* f() { return new int; }"),
    ],
)
def test_a_preloaded_library_that_needs_libstdcpp_is_found(
    place: Place, driver: str, body: str
) -> None:
    preloaded(place, f"#include <chrono>\n{body}", driver)
    assert {finding.where for finding in needed.check(place).findings} == set(needed.PRELOADED)


def test_a_preloaded_library_may_need_libc(place: Place) -> None:
    preloaded(place, '#include <cstdio>\nvoid f() { std::puts("x"); }')
    outcome = needed.check(place)
    assert not outcome.findings
    assert outcome.looked_at.startswith("what libforebay_mpi.so needs")


_NEEDS_GLIBC = pytest.mark.skipif(
    tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 34),
    reason="this glibc has no newer functions",
)


@_NEEDS_GLIBC
@pytest.mark.parametrize("header", ["dlfcn.h", "unistd.h"])
def test_a_preloaded_library_that_needs_a_newer_libc_is_found(place: Place, header: str) -> None:
    call = {"dlfcn.h": 'dlopen("x", RTLD_LAZY)', "unistd.h": "close_range(3, 4, 0)"}[header]
    preloaded(place, f"#include <{header}>\nbool f() {{ return {call} != 0; }}")
    problems = {finding.problem for finding in needed.check(place).findings}
    name = call.partition("(")[0]
    assert len(problems) == 1
    assert problems.pop().startswith(f"{name}@GLIBC_2.")


@_NEEDS_GLIBC
def test_a_preloaded_library_may_need_functions_that_have_moved(place: Place) -> None:
    header = Path(__file__).parents[2] / "src/foundation/kernel/older_libc.hpp"
    preloaded(
        place,
        f'#include <cstdio>\n#include "{header}"\nbool f() {{ return '
        'forebay::kernel::has_loader() && dlopen("x", RTLD_LAZY) && puts("x"); }',
    )
    outcome = needed.check(place)
    assert not outcome.findings
    assert "libforebay_mpi.so needs (glibc 2.2.5)" in outcome.looked_at


def delivered(place: Place, name: str, text: str, *flags: str) -> None:
    """Builds a shared library or program of this name from the source `text`, beside preloaded
    libraries that are fine."""
    preloaded(place, '#include <cstdio>\nvoid f() { std::puts("x"); }')
    source = place.root / "delivered.cpp"
    source.write_text(text)
    made = place.build / "lib" / name
    kind = ["-shared"] if name.endswith(".so") else []
    kind += ["-std=c++20", "-fPIC", "-Wl,--as-needed"]
    command: list[str | Path] = ["c++", *kind, source, *flags, "-o", made]
    subprocess.run(command, check=True)


_STATIC = ("-static-libstdc++", "-static-libgcc")
_OLDER = Path(__file__).parents[2] / "src/foundation/kernel/older_libc"


@_NEEDS_GLIBC
@pytest.mark.parametrize(
    ("header", "call"),
    [
        ("unistd.h", "close_range(3, 4, 0) == 0"),
        ("dlfcn.h", 'dlopen("x", RTLD_LAZY) != nullptr'),
        ("sys/stat.h", 'mknod("x", 0, 0) == 0'),
    ],
)
def test_a_core_that_needs_a_newer_libc_is_found(place: Place, header: str, call: str) -> None:
    name = "libforebay_core_mpich.so"
    delivered(place, name, f"#include <{header}>\nbool f() {{ return {call}; }}")
    (finding,) = needed.check(place).findings
    assert finding.problem.startswith(call.partition("(")[0])


@_NEEDS_GLIBC
def test_a_core_may_need_functions_that_have_moved(place: Place) -> None:
    replaced = "stat lstat fstat fstatat mknod mknodat arc4random cond_clockwait find_object"
    ours = "".join(f'extern "C" void forebay_{name}() {{}}\n' for name in replaced.split())
    text = '#include <dlfcn.h>\nbool f() { return dlopen("x", RTLD_LAZY) != nullptr; }\n'
    delivered(place, "libforebay_core_mpich.so", text + ours, str(_OLDER / "functions.S"))
    outcome = needed.check(place)
    assert not outcome.findings
    assert "1 cores (glibc 2." in outcome.looked_at


@pytest.mark.parametrize("name", ["libforebay_core_mpich.so", "forebayd", "forebay-ior"])
def test_what_needs_a_library_of_cpp_is_found(place: Place, name: str) -> None:
    delivered(place, name, "int main() { throw 1; }", "-nostartfiles")
    problems = {finding.problem for finding in needed.check(place).findings}
    assert "libstdc++.so.6 is needed" in problems
    assert any(problem.startswith("__cxa_throw@CXXABI") for problem in problems)


def test_a_core_exports_one_name(place: Place) -> None:
    name = "libforebay_core_mpich.so"
    table = 'extern "C" void forebay_core_table() { throw 1; }'
    delivered(place, name, table, *_STATIC, "-Wl,--exclude-libs,ALL")
    assert not exports.check(place).findings
    delivered(place, name, table, *_STATIC)  # with all names of the C++ library
    assert any("is exported" in finding.problem for finding in exports.check(place).findings)


def test_a_preloaded_library_that_was_not_installed_is_missed(place: Place) -> None:
    place.build.mkdir(exist_ok=True)
    assert len(needed.check(place).findings) == len(needed.PRELOADED)
    (place.build / "CMakeCache.txt").touch()
    assert not needed.check(place).findings  # not built yet
