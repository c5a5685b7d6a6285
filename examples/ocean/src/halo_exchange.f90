! Neighbours' cells: three fields in one message a side, first east and west, then, corners
! included, north and south.
module halo_exchange
   use mpi
   use config, only: wp
   use grid, only: grid_t, halo
   implicit none
   private
   public :: exchange

contains

   subroutine exchange(g, a, b, c)
      type(grid_t), intent(in) :: g
      real(wp), dimension(1 - halo:, 1 - halo:), intent(inout) :: a, b, c

      associate (nx => g%nx, ny => g%ny)
         call swap(g%comm, g%east, g%west, 1, a, b, c, [nx - 1, nx, 1, ny], [-1, 0, 1, ny])
         call swap(g%comm, g%west, g%east, 2, a, b, c, [1, 2, 1, ny], [nx + 1, nx + 2, 1, ny])
         call swap(g%comm, g%north, g%south, 3, a, b, c, &
            [-1, nx + 2, ny - 1, ny], [-1, nx + 2, -1, 0])
         call swap(g%comm, g%south, g%north, 4, a, b, c, &
            [-1, nx + 2, 1, 2], [-1, nx + 2, ny + 1, ny + 2])
      end associate
   end subroutine exchange

   ! Send the range `out` (i first, i last, j first, j last) and receive into the range `in`.
   subroutine swap(comm, to, from, tag, a, b, c, out, in)
      integer, intent(in) :: comm, to, from, tag, out(4), in(4)
      real(wp), dimension(1 - halo:, 1 - halo:), intent(inout) :: a, b, c
      real(wp), dimension(out(2) - out(1) + 1, out(4) - out(3) + 1, 3) :: sent, received
      integer :: ierr

      sent(:, :, 1) = a(out(1):out(2), out(3):out(4))
      sent(:, :, 2) = b(out(1):out(2), out(3):out(4))
      sent(:, :, 3) = c(out(1):out(2), out(3):out(4))
      call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to, tag, &
         received, size(received), MPI_DOUBLE_PRECISION, from, tag, &
         comm, MPI_STATUS_IGNORE, ierr)
      if (from == MPI_PROC_NULL) return
      a(in(1):in(2), in(3):in(4)) = received(:, :, 1)
      b(in(1):in(2), in(3):in(4)) = received(:, :, 2)
      c(in(1):in(2), in(3):in(4)) = received(:, :, 3)
   end subroutine swap
end module halo_exchange
