"""Spack's recipe of Forebay (Spack 1.0 or newer). From a checkout:

spack repo add packaging/spack/spack_repo/forebay && spack install forebay
"""

from pathlib import Path

from spack.package import conflicts, depends_on, license, variant, version  # noqa: A004
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

_CHECKOUT = Path(__file__).resolve().parents[5]


class Forebay(CMakePackage):
    """A pool in front of the parallel file system: collective MPI-IO of unmodified programs,
    faster, and benchmarks with IOR's, HPIO's and mdtest's command lines."""

    git = f"file://{_CHECKOUT}"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("hdf5", default=False, description="HDF5 back end of forebay-ior")
    variant("pnetcdf", default=False, description="PnetCDF back end of forebay-ior")
    variant("simgrid", default=False, description="forebay simulate")
    variant("mount", default=True, description="The pool as a mount, and files in fast storage")
    variant("slurm", default=False, description="Slurm's plugin")

    for _package in ("c", "cxx", "cmake@3.25:", "ninja", "pkgconfig"):
        depends_on(_package, type="build")
    for _package in ("tl-expected", "fmt@9:", "nlohmann-json", "tomlplusplus", "xxhash"):
        depends_on(_package, type="build")
    for _package in ("mpi", "liburing", "libsodium"):
        depends_on(_package)
    for _package in ("python@3.11:", "py-typer@0.12:", "py-rich@13:"):
        depends_on(_package, type=("build", "run"))
    for _package in ("py-numpy@1.26:", "py-matplotlib@3.8:", "py-jinja2@3.1:"):
        depends_on(_package, type="run")
    depends_on("hdf5+mpi", when="+hdf5")
    depends_on("parallel-netcdf", when="+pnetcdf")
    depends_on("simgrid", when="+simgrid")
    depends_on("libfuse@3.14:", when="+mount")
    depends_on("sqlite@3.26:", when="+mount")
    depends_on("slurm", when="+slurm")

    conflicts("%gcc@:10", msg="Forebay is written in C++20")
    conflicts("platform=darwin", msg="LD_PRELOAD and the engine are Linux's")

    generator("ninja")

    def cmake_args(self):
        """Spack sees to Python's packages, and names the MPI: the only one that is built for."""
        family = "openmpi" if self.spec.satisfies("^[virtuals=mpi] openmpi") else "mpich"
        launcher = self.spec["mpi"].prefix.bin.mpiexec
        arguments = [
            self.define("FOREBAY_TESTS", False),
            self.define("FOREBAY_PYTHON_PACKAGES", False),
            self.define("FOREBAY_RUN_PYTHON", self.spec["python"].command.path),
            self.define("Python3_EXECUTABLE", self.spec["python"].command.path),
            self.define("FOREBAY_MPICC", self.spec["mpi"].mpicc),
            self.define(f"FOREBAY_MPIEXEC_{family}", launcher),
        ]
        if self.spec.satisfies("+hdf5"):
            hdf5 = self.spec["hdf5"]
            arguments += [
                self.define(f"FOREBAY_HDF5_INCLUDE_{family}", hdf5.prefix.include),
                self.define(f"FOREBAY_HDF5_{family}", hdf5.libs[0]),
            ]
        return arguments
