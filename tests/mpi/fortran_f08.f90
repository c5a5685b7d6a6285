! The Fortran binding `use mpi_f08`: a block-decomposed field written and read by collective calls.
! The lines that differ between the bindings are here, the rest is in fortran_body.inc.
program fortran_f08
  use mpi_f08
  implicit none
  type(MPI_File) :: fh
  type(MPI_Datatype) :: filetype
  type(MPI_Status) :: status
  include 'fortran_body.inc'
end program
