"""Makes the manual (man1) and the completions of bash, zsh and fish from the programs' own help.

Nothing is made, and that is said, where the Python that runs this has no typer.
"""

import argparse
import shutil
import sys
import tomllib
from pathlib import Path

import completion
import manual
from pages import Page, command_page, native_pages


def command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "libraries", "packages", "into"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument(
        "emulator", nargs="*", help="behind --: what starts programs that were built"
    )
    return parser.parse_args()


def words(source: Path) -> completion.Words:
    """The names that arguments take, beside those of options."""
    simulator = tomllib.loads((source / "schema/simulator.toml").read_text(encoding="utf-8"))
    keys = [one for one in simulator["key"] if "collective" in one["commands"]]
    schema = tomllib.loads((source / "schema/settings.toml").read_text(encoding="utf-8"))
    return completion.Words(
        settings={one["name"]: tuple(map(str, _choices(one))) for one in schema["setting"]},
        platforms=tuple(sorted(path.stem for path in (source / "platforms").glob("*.toml"))),
        keys=tuple(one["name"] for one in (*simulator["platform"], *keys)),
    )


def _choices(setting: dict[str, object]) -> list[object]:
    if setting["kind"] == "bool":
        return ["true", "false"]
    choices = setting.get("choices", [])
    return list(choices) if isinstance(choices, list) else []


def write(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def main() -> int:
    options = command_line()
    sys.path[:0] = [str(options.source / "python"), str(options.packages)]
    shutil.rmtree(options.into, ignore_errors=True)
    options.into.mkdir(parents=True)
    try:
        from typer.main import get_command
    except ImportError:
        print(f"-- no man pages, no completions ({sys.executable} has no typer)")
        return 0
    from forebay import __version__
    from forebay.application import application

    pages: list[Page] = [command_page(get_command(application()), ("forebay",))]
    pages += native_pages(options.libraries, options.emulator)
    all_pages = [page for top in pages for page in top.all()]
    for page in all_pages:
        write(
            options.into / "man/man1", f"{page.name}.1", manual.man_page(page, __version__, pages)
        )
    made = completion.scripts(all_pages, words(options.source))
    write(options.into / "bash-completion/completions", "forebay", made.bash)
    for page in pages[1:]:
        if page.name.startswith("forebay-"):
            write(options.into / "bash-completion/completions", page.name, made.bash)
    write(options.into / "zsh/site-functions", "_forebay", made.zsh)
    for name, text in made.fish.items():
        write(options.into / "fish/vendor_completions.d", f"{name}.fish", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
