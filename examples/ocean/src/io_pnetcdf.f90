! History and restart by PnetCDF: one shared CDF-5 file each, every rank its own block, by
! collective calls. io_hdf5.f90 has the same interface; the linker chooses.
module ocean_io
   use mpi
   use pnetcdf
   use config, only: config_t, sp, stop_all, wp
   use grid, only: grid_t
   implicit none
   private
   public :: history_t, create_history, write_history, close_history, write_restart, read_restart
   public :: io_library, missing

   character(*), parameter :: io_library = 'PnetCDF'
   real(sp), parameter :: missing = 9.96921e36_sp        ! NetCDF's own fill value
   integer, parameter :: offset = MPI_OFFSET_KIND

   type :: history_t
      character(:), allocatable :: path
      integer :: file = -1
      integer :: time, ssh, u, v
   end type history_t

contains

   subroutine create_history(c, g, records, h)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      integer, intent(in) :: records                     ! HDF5 needs to know; here time grows
      type(history_t), intent(out) :: h
      integer :: dims(3), lon, lat, mask

      h%path = trim(c%history)
      call check(nf90mpi_create(g%comm, h%path, ior(NF90_CLOBBER, NF90_64BIT_DATA), &
         MPI_INFO_NULL, h%file), h%path)
      call check(nf90mpi_def_dim(h%file, 'lon', int(g%nlon, offset), dims(1)), h%path)
      call check(nf90mpi_def_dim(h%file, 'lat', int(g%nlat, offset), dims(2)), h%path)
      call check(nf90mpi_def_dim(h%file, 'time', nf90mpi_unlimited, dims(3)), h%path)
      call define(h, 'lon', NF90_DOUBLE, dims(1:1), 'longitude', 'degrees_east', lon)
      call define(h, 'lat', NF90_DOUBLE, dims(2:2), 'latitude', 'degrees_north', lat)
      call define(h, 'mask', NF90_BYTE, dims(1:2), '1 for ocean, 0 for land', '1', mask)
      call define(h, 'time', NF90_DOUBLE, dims(3:3), 'model time', 'days', h%time)
      call define(h, 'ssh', NF90_FLOAT, dims, 'sea-surface height', 'm', h%ssh)
      call define(h, 'u', NF90_FLOAT, dims, 'eastward velocity, east faces', 'm s-1', h%u)
      call define(h, 'v', NF90_FLOAT, dims, 'northward velocity, north faces', 'm s-1', h%v)
      call check(nf90mpi_put_att(h%file, NF90_GLOBAL, 'title', 'Reduced-gravity ocean'), h%path)
      call check(nf90mpi_put_att(h%file, NF90_GLOBAL, 'Conventions', 'CF-1.8'), h%path)
      call check(nf90mpi_enddef(h%file), h%path)
      call write_grid(g, h, lon, lat, mask)
   end subroutine create_history

   subroutine define(h, name, type, dims, long_name, units, var)
      type(history_t), intent(in) :: h
      character(*), intent(in) :: name, long_name, units
      integer, intent(in) :: type, dims(:)
      integer, intent(out) :: var

      call check(nf90mpi_def_var(h%file, name, type, dims, var), h%path)
      call check(nf90mpi_put_att(h%file, var, 'long_name', long_name), h%path)
      call check(nf90mpi_put_att(h%file, var, 'units', units), h%path)
      if (type == NF90_FLOAT) &
         call check(nf90mpi_put_att(h%file, var, '_FillValue', missing), h%path)
   end subroutine define

   ! The first row and column of blocks write the coordinates, every rank its block of the mask.
   subroutine write_grid(g, h, lon, lat, mask)
      type(grid_t), intent(in) :: g
      type(history_t), intent(in) :: h
      integer, intent(in) :: lon, lat, mask
      real(wp) :: own_lon(g%nx), own_lat(g%ny)
      integer(offset) :: count

      own_lon = g%lon(g%i0 + 1:g%i0 + g%nx)
      own_lat = g%lat(g%j0 + 1:g%j0 + g%ny)
      count = merge(g%nx, 0, g%place(2) == 0)
      call check(nf90mpi_put_var_all(h%file, lon, own_lon, &
         start=[int(g%i0 + 1, offset)], count=[count]), h%path)
      count = merge(g%ny, 0, g%place(1) == 0)
      call check(nf90mpi_put_var_all(h%file, lat, own_lat, &
         start=[int(g%j0 + 1, offset)], count=[count]), h%path)
      call check(nf90mpi_put_var_all(h%file, mask, &
         g%ocean(g%i0 + 1:g%i0 + g%nx, g%j0 + 1:g%j0 + g%ny), &
         start=int([g%i0 + 1, g%j0 + 1], offset), count=int([g%nx, g%ny], offset)), h%path)
   end subroutine write_grid

   ! The fields are inout because PnetCDF may swap their bytes in place, and back.
   subroutine write_history(g, h, record, days, ssh, u, v)
      type(grid_t), intent(in) :: g
      type(history_t), intent(in) :: h
      integer, intent(in) :: record
      real(wp), intent(in) :: days
      real(sp), dimension(:, :), contiguous, intent(inout) :: ssh, u, v
      integer(offset) :: start(3), count(3), once
      real(wp) :: time(1)

      time = days
      start = int([g%i0 + 1, g%j0 + 1, record], offset)
      count = int([g%nx, g%ny, 1], offset)
      once = merge(1, 0, g%rank == 0)
      call check(nf90mpi_put_var_all(h%file, h%time, time, &
         start=[int(record, offset)], count=[once]), h%path)
      call check(nf90mpi_put_var_all(h%file, h%ssh, ssh, start=start, count=count), h%path)
      call check(nf90mpi_put_var_all(h%file, h%u, u, start=start, count=count), h%path)
      call check(nf90mpi_put_var_all(h%file, h%v, v, start=start, count=count), h%path)
   end subroutine write_history

   subroutine close_history(h)
      type(history_t), intent(inout) :: h

      call check(nf90mpi_close(h%file), h%path)
      h%file = -1
   end subroutine close_history

   subroutine write_restart(g, path, step, names, fields)
      type(grid_t), intent(in) :: g
      character(*), intent(in) :: path
      integer, intent(in) :: step
      character(*), intent(in) :: names(:)
      real(wp), contiguous, intent(inout) :: fields(:, :, :)
      integer :: file, dims(2), vars(size(names)), n

      call check(nf90mpi_create(g%comm, path, ior(NF90_CLOBBER, NF90_64BIT_DATA), &
         MPI_INFO_NULL, file), path)
      call check(nf90mpi_def_dim(file, 'lon', int(g%nlon, offset), dims(1)), path)
      call check(nf90mpi_def_dim(file, 'lat', int(g%nlat, offset), dims(2)), path)
      do n = 1, size(names)
         call check(nf90mpi_def_var(file, trim(names(n)), NF90_DOUBLE, dims, vars(n)), path)
      end do
      call check(nf90mpi_put_att(file, NF90_GLOBAL, 'step', step), path)
      call check(nf90mpi_enddef(file), path)
      do n = 1, size(names)
         call check(nf90mpi_put_var_all(file, vars(n), fields(:, :, n), &
            start=int([g%i0 + 1, g%j0 + 1], offset), count=int([g%nx, g%ny], offset)), path)
      end do
      call check(nf90mpi_close(file), path)
   end subroutine write_restart

   subroutine read_restart(g, path, step, names, fields)
      type(grid_t), intent(in) :: g
      character(*), intent(in) :: path
      integer, intent(out) :: step
      character(*), intent(in) :: names(:)
      real(wp), contiguous, intent(out) :: fields(:, :, :)
      integer :: file, var, n

      call check(nf90mpi_open(g%comm, path, NF90_NOWRITE, MPI_INFO_NULL, file), path)
      call check(nf90mpi_get_att(file, NF90_GLOBAL, 'step', step), path)
      do n = 1, size(names)
         call check(nf90mpi_inq_varid(file, trim(names(n)), var), path)
         call check(nf90mpi_get_var_all(file, var, fields(:, :, n), &
            start=int([g%i0 + 1, g%j0 + 1], offset), count=int([g%nx, g%ny], offset)), path)
      end do
      call check(nf90mpi_close(file), path)
   end subroutine read_restart

   subroutine check(status, path)
      integer, intent(in) :: status
      character(*), intent(in) :: path

      if (status /= NF90_NOERR) &
         call stop_all(path//': '//trim(nf90mpi_strerror(status))//' (PnetCDF).')
   end subroutine check
end module ocean_io
