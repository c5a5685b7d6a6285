! The Fortran binding `use mpi`: a block-decomposed field written and read by collective calls.
! The lines that differ between the bindings are here, the rest is in fortran_body.inc.
program fortran_use
  use mpi
  implicit none
  integer :: fh
  integer :: filetype
  integer :: status(MPI_STATUS_SIZE)
  include 'fortran_body.inc'
end program
