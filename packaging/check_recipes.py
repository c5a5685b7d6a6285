"""Has the tools of conda and EasyBuild read the recipes for them.

Usage: check_recipes.py (in an environment that has py-rattler-build, easybuild and pycodestyle)

Nothing is built: the channels and sources of both are elsewhere. rattler-build renders the recipe
for each MPI. EasyBuild parses the other one and checks its style; what it depends on has to be in
EasyBuild's own collection, in the version and for the compiler that the toolchain has.
"""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONDA = HERE / "conda" / "recipe.yaml"
EASYBUILD = HERE / "easybuild" / "forebay.eb"
MPIS = ("mpich", "openmpi")
COMPILER = {("gompi", "2025b"): "GCCcore-14.3.0"}
"""The compiler of a toolchain, which is in the names of recipes for it."""
FOR_OTHER_COMPILERS = ("expected", "tomlplusplus")
"""Headers alone, which EasyBuild has for other compilers than the toolchain's."""


def conda_complaints() -> Iterator[str]:
    from rattler_build import Stage0Recipe, VariantConfig

    recipe = Stage0Recipe.from_yaml(CONDA.read_text(encoding="utf-8"))
    # conda-forge's own choices, which its feedstocks get.
    variants = VariantConfig.from_yaml(
        f"mpi: [{', '.join(MPIS)}]\nc_stdlib: [sysroot]\nc_stdlib_version: ['2.28']\n"
    )
    made = [one.recipe.requirements.to_dict()["host"] for one in recipe.render(variants)]
    if [host[0] for host in made] != list(MPIS):
        yield f"{CONDA}: rendered for {made}, and not once for each of {', '.join(MPIS)}."


def easybuild_complaints() -> Iterator[str]:
    from easybuild.framework.easyconfig.parser import EasyConfigParser
    from easybuild.framework.easyconfig.style import check_easyconfigs_style
    from easybuild.tools.options import set_up_configuration

    # EasyBuild asks for these although nothing is built, and goes on about running as root.
    words = ["--modules-tool=EnvironmentModules", "--module-syntax=Tcl"]
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        set_up_configuration(
            args=[*words, "--allow-use-as-root-and-accept-consequences"], silent=True
        )
    if check_easyconfigs_style([str(EASYBUILD)]) != 0:
        yield f"{EASYBUILD}: its style is not EasyBuild's (above)."
    told = EasyConfigParser(str(EASYBUILD)).get_config_dict()
    toolchain = (told["toolchain"]["name"], told["toolchain"]["version"])
    collection = Path(sys.prefix) / "easybuild" / "easyconfigs"
    for name, version, *_ in (*told["builddependencies"], *told["dependencies"]):
        compiler = "*" if name in FOR_OTHER_COMPILERS else COMPILER[toolchain]
        if not list(collection.glob(f"*/{name}/{name}-{version}-{compiler}.eb")):
            yield f"{EASYBUILD}: EasyBuild has no {name} {version} for {compiler}."


def main() -> int:
    complaints = [*conda_complaints(), *easybuild_complaints()]
    for one in complaints:
        print(one, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
