! History and restart by parallel HDF5: one shared file each, every rank its own block, by
! collective transfers. io_pnetcdf.f90 has the same interface; the linker chooses.
! Object times are off: the same run gives the same bytes.
module ocean_io
   use mpi
   use hdf5
   use config, only: config_t, sp, stop_all, wp
   use grid, only: grid_t
   implicit none
   private
   public :: history_t, create_history, write_history, close_history, write_restart, read_restart
   public :: io_library, missing

   character(*), parameter :: io_library = 'HDF5'
   real(sp), parameter :: missing = 9.96921e36_sp        ! as in the PnetCDF variant

   type :: history_t
      character(:), allocatable :: path
      integer(hid_t) :: file = -1, transfer = -1
      integer(hid_t) :: time, ssh, u, v
   end type history_t

contains

   subroutine create_history(c, g, records, h)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      integer, intent(in) :: records
      type(history_t), intent(out) :: h
      integer(hsize_t) :: shape(3)
      integer(hid_t) :: var
      real(wp) :: own_mask(g%nx, g%ny), own_lon(g%nx), own_lat(g%ny)

      h%path = trim(c%history)
      h%file = new_file(g, h%path)
      h%transfer = collective()
      shape = int([g%nlon, g%nlat, records], hsize_t)
      h%time = new_dataset(h%file, 'time', H5T_IEEE_F64LE, shape(3:3), 'days', h%path)
      h%ssh = new_dataset(h%file, 'ssh', H5T_IEEE_F32LE, shape, 'm', h%path)
      h%u = new_dataset(h%file, 'u', H5T_IEEE_F32LE, shape, 'm s-1', h%path)
      h%v = new_dataset(h%file, 'v', H5T_IEEE_F32LE, shape, 'm s-1', h%path)

      own_lon = g%lon(g%i0 + 1:g%i0 + g%nx)
      own_lat = g%lat(g%j0 + 1:g%j0 + g%ny)
      own_mask = g%ocean(g%i0 + 1:g%i0 + g%nx, g%j0 + 1:g%j0 + g%ny)
      var = new_dataset(h%file, 'lon', H5T_IEEE_F64LE, shape(1:1), 'degrees_east', h%path)
      call put(h, var, own_lon, size(own_lon), [g%i0], [g%nx], g%place(2) == 0)
      call close_dataset(var, h%path)
      var = new_dataset(h%file, 'lat', H5T_IEEE_F64LE, shape(2:2), 'degrees_north', h%path)
      call put(h, var, own_lat, size(own_lat), [g%j0], [g%ny], g%place(1) == 0)
      call close_dataset(var, h%path)
      var = new_dataset(h%file, 'mask', H5T_STD_I8LE, shape(1:2), '1', h%path)
      call put(h, var, own_mask, size(own_mask), [g%i0, g%j0], [g%nx, g%ny], .true.)
      call close_dataset(var, h%path)
   end subroutine create_history

   subroutine write_history(g, h, record, days, ssh, u, v)
      type(grid_t), intent(in) :: g
      type(history_t), intent(in) :: h
      integer, intent(in) :: record
      real(wp), intent(in) :: days
      real(sp), dimension(:, :), contiguous, intent(inout) :: ssh, u, v
      integer :: start(3), count(3)

      start = [g%i0, g%j0, record - 1]
      count = [g%nx, g%ny, 1]
      call put(h, h%time, [days], 1, [record - 1], [1], g%rank == 0)
      call put_field(h, h%ssh, ssh, start, count)
      call put_field(h, h%u, u, start, count)
      call put_field(h, h%v, v, start, count)
   end subroutine write_history

   subroutine close_history(h)
      type(history_t), intent(inout) :: h
      integer :: status

      call close_dataset(h%time, h%path)
      call close_dataset(h%ssh, h%path)
      call close_dataset(h%u, h%path)
      call close_dataset(h%v, h%path)
      call h5pclose_f(h%transfer, status)
      call h5fclose_f(h%file, status)
      call check(status, h%path)
      h%file = -1
   end subroutine close_history

   subroutine write_restart(g, path, step, names, fields)
      type(grid_t), intent(in) :: g
      character(*), intent(in) :: path
      integer, intent(in) :: step
      character(*), intent(in) :: names(:)
      real(wp), contiguous, intent(inout) :: fields(:, :, :)
      type(history_t) :: h
      integer(hid_t) :: var
      integer :: n, status

      h%path = path
      h%file = new_file(g, path)
      h%transfer = collective()
      var = new_dataset(h%file, 'step', H5T_IEEE_F64LE, [1_hsize_t], '1', path)
      call put(h, var, [real(step, wp)], 1, [0], [1], g%rank == 0)
      call close_dataset(var, path)
      do n = 1, size(names)
         var = new_dataset(h%file, trim(names(n)), H5T_IEEE_F64LE, &
            int([g%nlon, g%nlat], hsize_t), '', path)
         call put(h, var, fields(:, :, n), g%nx*g%ny, [g%i0, g%j0], [g%nx, g%ny], .true.)
         call close_dataset(var, path)
      end do
      call h5pclose_f(h%transfer, status)
      call h5fclose_f(h%file, status)
      call check(status, path)
   end subroutine write_restart

   subroutine read_restart(g, path, step, names, fields)
      type(grid_t), intent(in) :: g
      character(*), intent(in) :: path
      integer, intent(out) :: step
      character(*), intent(in) :: names(:)
      real(wp), contiguous, intent(out) :: fields(:, :, :)
      integer(hid_t) :: file, transfer, access
      real(wp) :: number(1)
      integer :: n, status

      access = parallel_access(g)
      call h5fopen_f(path, H5F_ACC_RDONLY_F, file, status, access_prp=access)
      call check(status, path)
      call h5pclose_f(access, status)
      transfer = collective()
      call get(file, transfer, 'step', number, 1, [0], [1], path)
      step = nint(number(1))
      do n = 1, size(names)
         call get(file, transfer, trim(names(n)), fields(:, :, n), g%nx*g%ny, &
            [g%i0, g%j0], [g%nx, g%ny], path)
      end do
      call h5pclose_f(transfer, status)
      call h5fclose_f(file, status)
   end subroutine read_restart

   integer(hid_t) function parallel_access(g)
      type(grid_t), intent(in) :: g
      integer :: status

      call h5open_f(status)
      call h5pcreate_f(H5P_FILE_ACCESS_F, parallel_access, status)
      call h5pset_fapl_mpio_f(parallel_access, g%comm, MPI_INFO_NULL, status)
   end function parallel_access

   integer(hid_t) function new_file(g, path)
      type(grid_t), intent(in) :: g
      character(*), intent(in) :: path
      integer(hid_t) :: access, creation
      integer :: status

      access = parallel_access(g)
      call h5pcreate_f(H5P_FILE_CREATE_F, creation, status)
      call h5pset_obj_track_times_f(creation, .false., status)
      call h5fcreate_f(path, H5F_ACC_TRUNC_F, new_file, status, creation, access)
      call check(status, path)
      call h5pclose_f(access, status)
      call h5pclose_f(creation, status)
   end function new_file

   integer(hid_t) function collective()
      integer :: status

      call h5pcreate_f(H5P_DATASET_XFER_F, collective, status)
      call h5pset_dxpl_mpio_f(collective, H5FD_MPIO_COLLECTIVE_F, status)
   end function collective

   ! One piece of the file, taken at once; nothing is filled, as everything is written.
   integer(hid_t) function new_dataset(file, name, type, shape, units, path)
      integer(hid_t), intent(in) :: file, type
      character(*), intent(in) :: name, units, path
      integer(hsize_t), intent(in) :: shape(:)
      integer(hid_t) :: space, creation
      integer :: status

      call h5screate_simple_f(size(shape), shape, space, status)
      call h5pcreate_f(H5P_DATASET_CREATE_F, creation, status)
      call h5pset_alloc_time_f(creation, H5D_ALLOC_TIME_EARLY_F, status)
      call h5pset_fill_time_f(creation, H5D_FILL_TIME_NEVER_F, status)
      call h5pset_obj_track_times_f(creation, .false., status)
      call h5dcreate_f(file, name, type, space, new_dataset, status, creation)
      call check(status, path)
      if (units /= '') call put_units(new_dataset, units)
      call h5pclose_f(creation, status)
      call h5sclose_f(space, status)
   end function new_dataset

   subroutine put_units(var, units)
      integer(hid_t), intent(in) :: var
      character(*), intent(in) :: units
      integer(hid_t) :: space, text, attribute
      integer :: status

      call h5screate_f(H5S_SCALAR_F, space, status)
      call h5tcopy_f(H5T_FORTRAN_S1, text, status)
      call h5tset_size_f(text, int(len(units), size_t), status)
      call h5acreate_f(var, 'units', text, space, attribute, status)
      call h5awrite_f(attribute, text, units, [1_hsize_t], status)
      call h5aclose_f(attribute, status)
      call h5tclose_f(text, status)
      call h5sclose_f(space, status)
   end subroutine put_units

   ! The block that this rank has, in the file and in memory; nothing if it has no part.
   subroutine select_block(var, start, count, has_part, in_file, in_memory)
      integer(hid_t), intent(in) :: var
      integer, intent(in) :: start(:), count(:)
      logical, intent(in) :: has_part
      integer(hid_t), intent(out) :: in_file, in_memory
      integer :: status

      call h5dget_space_f(var, in_file, status)
      call h5screate_simple_f(size(count), int(count, hsize_t), in_memory, status)
      if (has_part) then
         call h5sselect_hyperslab_f(in_file, H5S_SELECT_SET_F, int(start, hsize_t), &
            int(count, hsize_t), status)
      else
         call h5sselect_none_f(in_file, status)
         call h5sselect_none_f(in_memory, status)
      end if
   end subroutine select_block

   subroutine put(h, var, values, length, start, count, has_part)
      type(history_t), intent(in) :: h
      integer(hid_t), intent(in) :: var
      integer, intent(in) :: length, start(:), count(:)
      real(wp), intent(in) :: values(length)
      logical, intent(in) :: has_part
      integer(hid_t) :: in_file, in_memory
      integer :: status

      call select_block(var, start, count, has_part, in_file, in_memory)
      call h5dwrite_f(var, H5T_NATIVE_DOUBLE, values, int(count, hsize_t), status, &
         in_memory, in_file, h%transfer)
      call check(status, h%path)
      call h5sclose_f(in_memory, status)
      call h5sclose_f(in_file, status)
   end subroutine put

   subroutine put_field(h, var, values, start, count)
      type(history_t), intent(in) :: h
      integer(hid_t), intent(in) :: var
      real(sp), contiguous, intent(in) :: values(:, :)
      integer, intent(in) :: start(:), count(:)
      integer(hid_t) :: in_file, in_memory
      integer :: status

      call select_block(var, start, count, .true., in_file, in_memory)
      call h5dwrite_f(var, H5T_NATIVE_REAL, values, int(count, hsize_t), status, &
         in_memory, in_file, h%transfer)
      call check(status, h%path)
      call h5sclose_f(in_memory, status)
      call h5sclose_f(in_file, status)
   end subroutine put_field

   subroutine get(file, transfer, name, values, length, start, count, path)
      integer(hid_t), intent(in) :: file, transfer
      character(*), intent(in) :: name, path
      integer, intent(in) :: length, start(:), count(:)
      real(wp), intent(out) :: values(length)
      integer(hid_t) :: var, in_file, in_memory
      integer :: status

      call h5dopen_f(file, name, var, status)
      call check(status, path)
      call select_block(var, start, count, .true., in_file, in_memory)
      call h5dread_f(var, H5T_NATIVE_DOUBLE, values, int(count, hsize_t), status, &
         in_memory, in_file, transfer)
      call check(status, path)
      call h5sclose_f(in_memory, status)
      call h5sclose_f(in_file, status)
      call close_dataset(var, path)
   end subroutine get

   subroutine close_dataset(var, path)
      integer(hid_t), intent(in) :: var
      character(*), intent(in) :: path
      integer :: status

      call h5dclose_f(var, status)
      call check(status, path)
   end subroutine close_dataset

   subroutine check(status, path)
      integer, intent(in) :: status
      character(*), intent(in) :: path

      if (status < 0) call stop_all(path//': a call of HDF5 failed (see above).')
   end subroutine check
end module ocean_io
