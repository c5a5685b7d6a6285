! Where things are: the blocks of the ranks, the C grid on the sphere and the land mask.
!
!        v(i,j)           ssh, h in the middle of cell (i,j); u on its east face,
!      +---+---+ q(i,j)   v on its north face, vorticity on its north-east corner.
!      |   h   | u(i,j)   Local indices 1..nx, 1..ny; two more rows on each side are
!      +-------+          copies of the neighbours' (the halo). Periodic in i only.
module grid
   use mpi
   use config, only: config_t, stop_all, wp, int8
   implicit none
   private
   public :: grid_t, make_grid, halo, pi, earth_radius

   integer, parameter :: halo = 2
   real(wp), parameter :: pi = acos(-1.0_wp)
   real(wp), parameter :: earth_radius = 6.371e6_wp       ! m
   real(wp), parameter :: rotation = 7.292115e-5_wp       ! 1/s

   type :: grid_t
      integer :: comm, rank, ranks
      integer :: procs(2), place(2)
      integer :: west, east, south, north         ! neighbours; MPI_PROC_NULL at the walls
      integer :: nlon, nlat                       ! cells in all
      integer :: nx, ny                           ! own cells
      integer :: i0, j0                           ! own cell (1,1) is cell (i0+1, j0+1) of all
      real(wp) :: dy
      real(wp), allocatable :: lon(:), lat(:)     ! of all cells, degrees
      real(wp), allocatable :: dx(:), dx_v(:)     ! along rows of h and u, and of v and q; m
      real(wp), allocatable :: coriolis(:)        ! at q
      real(wp), allocatable :: mask(:, :), mask_u(:, :), mask_v(:, :), mask_q(:, :)
      integer(int8), allocatable :: ocean(:, :)   ! of all cells, 1 for ocean
   end type grid_t

contains

   subroutine make_grid(c, g)
      type(config_t), intent(in) :: c
      type(grid_t), intent(out) :: g

      g%nlon = c%nlon
      g%nlat = c%nlat
      call decompose(c, g)
      call place_on_sphere(c, g)
      call read_mask(c, g)
      call mark_faces(g)
   end subroutine make_grid

   subroutine decompose(c, g)
      type(config_t), intent(in) :: c
      type(grid_t), intent(inout) :: g
      integer :: ierr

      call MPI_Comm_size(MPI_COMM_WORLD, g%ranks, ierr)
      g%procs = [c%procs_y, c%procs_x]
      call MPI_Dims_create(g%ranks, 2, g%procs, ierr)
      call MPI_Cart_create(MPI_COMM_WORLD, 2, g%procs, [.false., .true.], .false., g%comm, ierr)
      call MPI_Comm_rank(g%comm, g%rank, ierr)
      call MPI_Cart_coords(g%comm, g%rank, 2, g%place, ierr)
      call MPI_Cart_shift(g%comm, 0, 1, g%south, g%north, ierr)
      call MPI_Cart_shift(g%comm, 1, 1, g%west, g%east, ierr)
      g%procs = g%procs([2, 1])
      g%place = g%place([2, 1])
      call share(g%nlon, g%procs(1), g%place(1), g%i0, g%nx)
      call share(g%nlat, g%procs(2), g%place(2), g%j0, g%ny)
      if (min(g%nlon/g%procs(1), g%nlat/g%procs(2)) < halo) &
         call stop_all('too many ranks for this grid (a block would be thinner than its halo). '// &
         'Use fewer ranks or more cells.')
   end subroutine decompose

   pure subroutine share(cells, parts, part, first, count)
      integer, intent(in) :: cells, parts, part
      integer, intent(out) :: first, count

      first = part*(cells/parts) + min(part, mod(cells, parts))
      count = cells/parts + merge(1, 0, part < mod(cells, parts))
   end subroutine share

   subroutine place_on_sphere(c, g)
      type(config_t), intent(in) :: c
      type(grid_t), intent(inout) :: g
      real(wp) :: step_lon, step_lat, phi
      integer :: i, j

      step_lon = 360.0_wp/g%nlon
      step_lat = (c%north - c%south)/g%nlat
      g%lon = [(-180.0_wp + (i - 0.5_wp)*step_lon, i=1, g%nlon)]
      g%lat = [(c%south + (j - 0.5_wp)*step_lat, j=1, g%nlat)]
      g%dy = earth_radius*step_lat*pi/180.0_wp
      allocate (g%dx(1 - halo:g%ny + halo), g%dx_v(1 - halo:g%ny + halo), &
         g%coriolis(1 - halo:g%ny + halo))
      do j = 1 - halo, g%ny + halo
         phi = (c%south + (g%j0 + j - 0.5_wp)*step_lat)*pi/180.0_wp
         g%dx(j) = earth_radius*cos(phi)*step_lon*pi/180.0_wp
         phi = phi + 0.5_wp*step_lat*pi/180.0_wp
         g%dx_v(j) = earth_radius*cos(phi)*step_lon*pi/180.0_wp
         g%coriolis(j) = 2.0_wp*rotation*sin(phi)
      end do
   end subroutine place_on_sphere

   subroutine read_mask(c, g)
      type(config_t), intent(in) :: c
      type(grid_t), intent(inout) :: g
      integer :: unit, bytes, status, ierr

      allocate (g%ocean(g%nlon, g%nlat))
      if (g%rank == 0) then
         open (newunit=unit, file=trim(c%mask_file), access='stream', form='unformatted', &
            status='old', action='read', iostat=status)
         if (status /= 0) &
            call stop_all('cannot read '//trim(c%mask_file)//' (land mask). Make it with mask.py.')
         inquire (unit=unit, size=bytes)
         if (bytes /= size(g%ocean)) &
            call stop_all(trim(c%mask_file)//' has the wrong size for this grid. '// &
            'Make it again with mask.py.')
         read (unit) g%ocean
         close (unit)
      end if
      call MPI_Bcast(g%ocean, size(g%ocean), MPI_INTEGER1, 0, g%comm, ierr)
   end subroutine read_mask

   ! A face is open between two cells of ocean, a corner between four.
   subroutine mark_faces(g)
      type(grid_t), intent(inout) :: g
      integer :: i, j

      allocate (g%mask(1 - halo:g%nx + halo, 1 - halo:g%ny + halo))
      allocate (g%mask_u, g%mask_v, g%mask_q, mold=g%mask)
      do j = 1 - halo, g%ny + halo
         do i = 1 - halo, g%nx + halo
            g%mask(i, j) = cell(i, j)
            g%mask_u(i, j) = cell(i, j)*cell(i + 1, j)
            g%mask_v(i, j) = cell(i, j)*cell(i, j + 1)
            g%mask_q(i, j) = cell(i, j)*cell(i + 1, j)*cell(i, j + 1)*cell(i + 1, j + 1)
         end do
      end do

   contains

      pure real(wp) function cell(i, j)
         integer, intent(in) :: i, j

         cell = 0.0_wp
         if (g%j0 + j >= 1 .and. g%j0 + j <= g%nlat) &
            cell = real(g%ocean(modulo(g%i0 + i - 1, g%nlon) + 1, g%j0 + j), wp)
      end function cell
   end subroutine mark_faces
end module grid
