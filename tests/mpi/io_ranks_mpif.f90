! With I/O ranks, seen by the Fortran binding `mpif.h`.
! The part that all bindings share is in io_ranks_body.inc.
program io_ranks_mpif
  implicit none
  include 'mpif.h'
  integer :: copy
  include 'io_ranks_body.inc'
end program
