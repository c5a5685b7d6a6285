! With I/O ranks, seen by the Fortran binding `use mpi_f08`.
! The part that all bindings share is in io_ranks_body.inc.
program io_ranks_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: copy
  include 'io_ranks_body.inc'
end program
