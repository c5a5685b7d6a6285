/* The macros of mpi.h tell whose it is: compiler wrappers preprocess this file
 * (mpi_wrappers.cmake). The first word behind `forebay_mpi` is the family, whose members have one
 * binary interface, and the rest is for people. Intel MPI, Cray MPICH and MVAPICH are of MPICH's
 * family since its version 3.1 (https://www.mpich.org/abi), Spectrum MPI is of Open MPI's. The
 * standard ABI of MPI-5 is a family of its own, of which MPICH 5 and others have a library, too. */
#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
forebay_mpi openmpi "Open MPI " OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(I_MPI_VERSION)
forebay_mpi mpich "Intel MPI " I_MPI_VERSION
#elif defined(CRAY_MPICH_VERSION)
forebay_mpi mpich "Cray MPICH " CRAY_MPICH_VERSION
#elif defined(MVAPICH2_VERSION)
forebay_mpi mpich "MVAPICH2 " MVAPICH2_VERSION
#elif defined(MVAPICH_VERSION)
forebay_mpi mpich "MVAPICH " MVAPICH_VERSION
#elif defined(MPICH_VERSION)
forebay_mpi mpich "MPICH " MPICH_VERSION
#elif defined(MPI_ABI_VERSION)
forebay_mpi abi "the standard ABI " MPI_ABI_VERSION.MPI_ABI_SUBVERSION
#elif defined(MPI_VERSION)
forebay_mpi unknown "an MPI of version " MPI_VERSION
#endif
