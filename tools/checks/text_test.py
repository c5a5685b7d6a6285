"""Tests the checks that read sources and documents."""

import subprocess

import pytest

from checks import commits, docs, exports, headers, layers, names, newer, sizes, tidy, words, wrong
from checks.report import Finding, Place, run


def write(place: Place, name: str, text: str) -> None:
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("file", "include", "fine"),
    [
        ("ports/a.hpp", '"base/units.hpp"', True),
        ("base/a.hpp", '"ports/clock.hpp"', False),
        ("pattern/a.cpp", '"ports/clock.hpp"', False),
        ("pattern/a_test.cpp", '"ports/clock.hpp"', True),
        ("pattern/a.cpp", '"pattern/b.hpp"', True),
        ("pattern/a.cpp", "<thread>", False),
        ("pattern/a.cpp", "<sys/mman.h>", False),
        ("pattern/a.cpp", "<vector>", True),
        ("ports/a.cpp", "<mpi.h>", False),
        ("adapters/mpi/a.cpp", "<mpi.h>", True),
        ("adapters/mpi/a.cpp", '"base/units.hpp"', False),
        ("pattern/a.cpp", '"generated_table.hpp"', True),
        ("nowhere/a.cpp", "<vector>", False),
    ],
)
def test_direction_of_an_include(place: Place, file: str, include: str, fine: bool) -> None:
    write(place, f"src/{file}", f"// Why.\n\n#include {include}\n")
    findings = layers.check(place).findings
    assert fine == (not findings)
    if not fine and "nowhere" not in file:
        assert findings[0].where == f"src/{file}:3"


def test_circle_in_the_table_is_found(place: Place) -> None:
    table = '[[layer]]\nname = "a"\nuses = ["b"]\n[[layer]]\nname = "b"\nuses = ["a"]\n'
    write(place, "layers.toml", table)
    assert [finding.where for finding in layers.check(place).findings] == ["layers.toml"]


def test_header_that_leans_on_another_is_found(place: Place) -> None:
    write(place, "src/base/good.hpp", "#pragma once\n#include <string>\nstd::string f();\n")
    write(place, "src/base/bad.hpp", "#pragma once\nstd::string g();\n")
    write(place, "src/base/twice.hpp", "struct Twice {};\n")
    found = [finding.where for finding in headers.check(place).findings]
    assert found == ["src/base/bad.hpp", "src/base/twice.hpp"]


def test_header_that_leans_on_what_includes_it_is_found(place: Place) -> None:
    leaning = "#pragma once\nstd::string f();\n"
    write(place, "src/base/leaning.hpp", leaning)
    lender = '#pragma once\n#include <string>\n#include "base/leaning.hpp"\n'
    write(place, "src/base/lender.hpp", lender)
    found = [finding.where for finding in headers.check(place).findings]
    assert found == ["src/base/leaning.hpp"]


def test_headers_stand_together_only_behind_what_they_include() -> None:
    none: frozenset[str] = frozenset()
    includes = {"a": none, "b": frozenset("a"), "c": frozenset("a"), "d": frozenset("ab")}
    alike = dict.fromkeys("abcd", ("c++",))
    assert headers.chains(includes, alike) == [["a", "b", "d"], ["c"]]
    other = {**alike, "b": ("c++", "-DX"), "a": ()}
    assert headers.chains(includes, other) == [["a", "b"], ["c"], ["d"]]


def test_flags_without_input_and_output() -> None:
    launcher = "/usr/bin/cmake -E env CCACHE_NOHASHDIR=1 /usr/bin/ccache"
    command = f"{launcher} c++ -I/a -MD -MT x.o -MF x.d -o x.o -Werror -std=c++20 -c x.cpp"
    assert headers.flags_of(command) == ["c++", "-I/a", "-std=c++20"]


def test_table_of_functions_gives_four_names_for_a_large_one() -> None:
    text = '[[function]]\nname = "open"\n[[function]]\nname = "write_all"\nlarge = true\n'
    assert exports.mpi_names(text) == {
        "MPI_File_open",
        "PMPI_File_open",
        "MPI_File_write_all",
        "PMPI_File_write_all",
        "MPI_File_write_all_c",
        "PMPI_File_write_all_c",
    }


def test_exports_differ_both_ways() -> None:
    found = list(exports.compare(exports.ALL[0], frozenset({"a", "b"}), frozenset({"b", "c"})))
    assert [finding.problem for finding in found] == ["a is not exported", "c is exported"]


def test_sizes_hold_lines_and_functions() -> None:
    long_line = "x" * (sizes.LINE_COLUMNS_MAX + 1)
    assert list(sizes.text_findings("a.cpp", long_line))
    assert list(sizes.text_findings("a.cpp", "x\n" * (sizes.FILE_LINES_MAX + 1)))
    assert list(sizes.text_findings("a.cpp", "x \n"))
    assert not list(sizes.text_findings("a.cpp", "x\n" * sizes.FILE_LINES_MAX))
    body = "    x = 1\n" * sizes.FUNCTION_LINES_MAX
    assert list(sizes.function_findings("a.py", f"def f():\n{body}"))
    assert not list(sizes.function_findings("a.py", "def f():\n    x = 1\n"))
    assert list(sizes.function_findings("a.py", "def f(:\n"))


def test_documents_name_only_what_exists(place: Place) -> None:
    write(place, "Makefile", "demo: build  ## Show it\n\ttrue\n")
    write(place, "python/forebay/run/command.py", "")
    write(
        place,
        "README.md",
        "Try `make demo`, then [more](docs/a.md).\n```sh\nforebay run -- ./x\nmake nothing\n"
        "forebay fly\nevaluation/run.sh\n```\n",
    )
    found = [finding.problem for finding in docs.check(place).findings]
    assert found == [
        "`make nothing` does not work",
        "`forebay fly` does not work",
        "docs/a.md does not exist",
        "evaluation/run.sh does not exist",
    ]


def test_a_link_to_a_page_that_the_site_lacks_is_found(place: Place) -> None:
    write(place, "docs/a.md", "[logs](../python/tests/README.md), [b](b.md), [c](../tools/c.py)\n")
    for name in ("python/tests/README.md", "docs/b.md", "tools/c.py"):
        write(place, name, "Text.\n")
    (finding,) = docs.check(place).findings
    assert finding.problem == "../python/tests/README.md is not in the site of the documents"


def test_an_example_names_a_picture_that_is_not_there(place: Place) -> None:
    write(place, "Makefile", "demo: build\n\ttrue\n")
    write(place, "examples/a/Makefile", "run:\n\ttrue\n")
    write(place, "examples/a/README.md", "![A picture](a.png) of `make run` or `make demo`\n")
    found = [finding.problem for finding in docs.check(place).findings]
    assert found == ["a.png does not exist"]


def test_a_document_that_the_readme_does_not_link_is_found(place: Place) -> None:
    write(place, "README.md", "[a](docs/a.md), [decisions](docs/decisions/README.md)\n")
    for name in ("docs/a.md", "docs/decisions/README.md", "docs/decisions/1.md", "docs/b/c.md"):
        write(place, name, "Text.\n")
    (finding,) = docs.check(place).findings
    assert (finding.where, finding.problem) == ("docs/b/c.md", "README.md does not link it")


@pytest.mark.parametrize(
    ("said", "fine"),
    [
        ("`take_on` in `src/base/a.cpp`", True),
        ("`Files::take_on` (`base/a.cpp`)", True),
        ("`let_go`\nin `src/base/a.cpp`", False),
        ("`take_on` and `let_go` in `a/a.cpp`", False),
        ("`take_on`, `called`, and more in `src/base/a.cpp`", True),
        ("`called` in `src/base/a.cpp`", False),
        ("`declared` in `src/base/a.cpp`", False),
        ("`declared` in `src/base/a.hpp`", True),
        ("`Other::take_on` in `src/base/a.cpp`", False),
        ("`a.hpp` and `b.hpp` in `src/base/a.cpp`", True),
        ("`chosen` in `python/a.py`", True),
        ("`called` in `python/a.py`", False),
    ],
)
def test_a_document_puts_a_symbol_into_the_file_that_defines_it(
    place: Place, said: str, fine: bool
) -> None:
    write(place, "src/base/a.hpp", "class Files {\n    // missing\n    int declared();\n};\n")
    source = "void declared();\nint Files::take_on(int fd) {\n    return called(fd);\n}\n"
    write(place, "src/base/a.cpp", source)
    write(place, "python/a.py", "def chosen() -> None:\n    called()\n")
    write(place, "CONTRIBUTING.md", f"See {said}.\n")
    assert fine == (not docs.check(place).findings)


def test_tidy_asks_again_when_an_included_header_changed(place: Place) -> None:
    write(place, ".clang-tidy", "Checks: '*'\n")
    write(place, "src/base/a.hpp", "int f();\n")
    write(place, "src/base/a.cpp", '#include "base/a.hpp"\n')
    file = place.root / "src/base/a.cpp"
    before = tidy.key(file, "c++", place.root)
    assert before == tidy.key(file, "c++", place.root)
    write(place, "src/base/a.hpp", "int g();\n")
    assert before != tidy.key(file, "c++", place.root)


def test_finding_reads_problem_why_todo(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        str(Finding("x:1", "it broke", "because", "Mend it."))
        == "x:1: it broke (because). Mend it."
    )
    write(place, "README.md", "[gone](gone.md)\n")
    assert run(docs.check, ["--root", str(place.root)]) == 1
    assert "README.md: gone.md does not exist (" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "line", "fine"),
    [
        ("base/a.cpp", "#include <linux/openat2.h>", False),
        ("base/a.cpp", "#include <linux/futex.h>", True),
        ("base/a.cpp", "int done = close_range(3, 9, 0);", False),
        ("base/a.cpp", "int done = ::close_range(3, 9, 0);", False),
        ("base/a.cpp", "kernel::close_range(3, 9);", True),
        ("base/a.cpp", "::syscall(SYS_close_range, 3, 9, 0);", False),
        ("base/a.cpp", "::madvise(at, bytes, MADV_POPULATE_READ);", False),
        ("base/a.cpp", "// close_range() and MADV_POPULATE_READ are newer", True),
        ("base/a.cpp", 'say("close_range(2)");', True),
        ("foundation/kernel/a.cpp", "#include <linux/openat2.h>", True),
        ("pool/capture/a.cpp", "int close_range(unsigned first, unsigned last) {", True),
        ("pool/capture/a.cpp", "return ::close_range(first, last, 0);", False),
    ],
)
def test_what_older_systems_lack_is_found(place: Place, file: str, line: str, fine: bool) -> None:
    write(place, f"src/{file}", f"// Why.\n{line}\n")
    findings = newer.check(place).findings
    assert [finding.where for finding in findings] == ([] if fine else [f"src/{file}:2"])


def test_a_captured_system_call_that_older_systems_lack_is_found(place: Place) -> None:
    row = '[[function]]\nname = "close_range"\n{} = ["close_range"]\n'
    write(place, newer.NUMBERS.as_posix(), row.format("numbers"))
    (finding,) = newer.check(place).findings
    assert finding.problem == "SYS_close_range is used"
    write(place, newer.NUMBERS.as_posix(), row.format("newer_numbers"))
    assert not newer.check(place).findings


@pytest.mark.parametrize(
    ("file", "text", "fine"),
    [
        ("a.hpp", "// Of one node.\nint f();", False),
        ("a.hpp", "// Bytes of all nodes.\n// Of these, one is written.\nint f();", True),
        ("a.hpp", "int f();  // What it does", False),
        ("a.hpp", "/* Who calls it. */\nint f();", False),
        ("a.hpp", "// Offsets of what is written, and who wrote it.\nint f();", True),
        ("a.toml", "# What a build needs.", False),
        ("a.toml", 'meaning = "of a burst"', False),
        ("a.sh", "#!/bin/bash\n# Who runs it.", False),
        ("a.py", '"""What it does."""', False),
        ("a.py", 'def f() -> None:\n    """Of `a`, a part."""', False),
        ("a.py", 'add("--ranks", help="of the model")', False),
        ("a.py", 'add("--ranks", help=f"of {kind}")', False),
        ("a.py", 'add("--ranks", help="ranks of the model")\nprint("of the model")', True),
        ("README.md", "# What it does\nText.\n", True),
        ("README.md", "# Title\nOf all these, one is written.\n", False),
        ("README.md", "Text.\n\n- Who writes\n", False),
        ("README.md", "A text that asks:\nWhat is it? And\n```\n\nWhat\n```\n", True),
        ("CHANGELOG.md", "- What a program reads.\n", True),
    ],
)
def test_a_sentence_without_a_subject_is_found(
    place: Place, file: str, text: str, fine: bool
) -> None:
    subprocess.run(["git", "init", "-q", place.root], check=True)
    write(place, file, text)
    assert fine == (not words.check(place).findings)


SNIPPETS = """#include <string>
namespace own {
// RIGHT: a text
std::string right() { return "a"; }
// WRONG: a number as a text
std::string wrong_number() { return 1.5; }
%s
}  // namespace own
"""


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ("", ""),
        ("// WRONG: a text as a text\nstd::string fine() { return {}; }", "compiles"),
        ("// RIGHT: a number\nstd::string broken() { return 1.5; }", "does not compile"),
        ("// WRONG: a text\nstd::string fine() { return {}; }\n// RIGHT: one\n", "compiles"),
    ],
)
def test_a_snippet_that_compiles_though_it_must_not_is_found(
    place: Place, added: str, problem: str
) -> None:
    write(place, "src/base/text_wrong.cpp", SNIPPETS % added)
    problems = [finding.problem for finding in wrong.check(place).findings]
    assert len(problems) == (1 if problem else 0)
    assert all(problem in one for one in problems)


def test_a_snippet_that_fails_for_what_it_shares_is_found(place: Place) -> None:
    text = (SNIPPETS % "").replace("#include <string>", '#include "missing.hpp"')
    write(place, "src/base/text_wrong.cpp", text)
    problems = [finding.problem for finding in wrong.check(place).findings]
    assert any("another reason" in one for one in problems)


def test_a_file_of_snippets_without_a_wrong_one_is_found(place: Place) -> None:
    write(place, "src/base/text_wrong.cpp", "// RIGHT: nothing\n")
    problems = [finding.problem for finding in wrong.check(place).findings]
    assert problems == ["no // WRONG:"]


TYPES = """namespace forebay {
class Box final : public Base {
};
struct Box::Inside {
};
enum class BoxKind : unsigned char { one };
class Later;
}
"""


def test_types_are_found_at_namespace_level(place: Place) -> None:
    write(place, "src/base/box.hpp", TYPES)
    assert sorted(names.definitions(place.root)) == ["Box", "BoxKind"]


def test_names_are_two_words_and_unique(place: Place) -> None:
    write(place, "src/base/box.hpp", TYPES)
    write(place, "src/pattern/other.hpp", "enum class BoxKind { two };\n")
    write(place, "src/pattern/a_test.cpp", "struct Box {\n};\n")
    problems = [finding.problem for finding in names.check(place).findings]
    assert problems == ["the type BoxKind is defined twice", "the type Box has one word"]
    write(place, "GLOSSARY.md", "| **box** | what things lie in | |\n")
    write(place, "tools/checks/names.toml", 'is_defined_twice = ["BoxKind", "Gone"]\n')
    (finding,) = names.check(place).findings
    assert "Gone is listed" in finding.problem


def test_names_of_python_classes_are_unique(place: Place) -> None:
    write(place, "python/forebay/a.py", "class Box:\n    class Inside:\n        pass\n")
    write(place, "python/forebay_b/c.py", "class Lid:\n    class Inside:\n        pass\n")
    write(place, "python/tests/a_test.py", "class Box:\n    pass\n")
    assert not names.check(place).findings
    write(place, "python/forebay_b/d.py", "class Box:\n    pass\n")
    (finding,) = names.check(place).findings
    assert finding.problem == "the type Box is defined twice"
    assert finding.where == "python/forebay_b/d.py"


@pytest.mark.parametrize(
    ("subject", "body", "fine"),
    [
        ("Let a close tell of a full disk", "Problem: it did not.", True),
        ("Let a close tell of a full disk", "", False),
        ("The study once more", "Problem: none.", False),
        ("Mended the close", "Problem: it hung.", False),
        ("Need no second look", "Problem: there were two.", True),
    ],
)
def test_messages_of_commits(subject: str, body: str, fine: bool) -> None:
    assert fine == (not list(commits.findings_of("0" * 40, subject, body)))
