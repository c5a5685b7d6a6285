! With I/O ranks, seen by the Fortran binding `use mpi`.
! The part that all bindings share is in io_ranks_body.inc.
program io_ranks_use
  use mpi
  implicit none
  integer :: copy
  include 'io_ranks_body.inc'
end program
