! Writes from Fortran what output.c writes. Usage: output_fortran FILE OPTIONS
program output_fortran
    use mpi
    use forebay_output
    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
    implicit none
    integer, parameter :: depths = 40, lats = 100, lons = 131, steps = 3, ice_lats = 40
    integer, parameter :: columns = lats*lons, elements = columns*depths
    real(real64), allocatable :: area(:, :), temp(:, :, :)
    real(real32), allocatable :: salt(:)
    integer(int32), allocatable :: ice(:, :)
    integer(int64), allocatable :: dof(:)
    integer(int64) :: found
    character(256) :: path, options
    integer :: comm, rank, ranks, ierr, file, flat, full, mapped, icy
    integer :: area_id, temp_id, salt_id, ice_id, first_lat, first_lon, my_lats, my_lons, my_ice
    integer :: rows, cols, step, i, j, k

    call get_command_argument(1, path)
    call get_command_argument(2, options)
    call MPI_Init(ierr)
    call fbo_init(MPI_COMM_WORLD, comm, ierr)
    call fine()
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    rows = merge(2, 1, mod(ranks, 2) == 0)
    cols = ranks/rows
    first_lat = lats*(rank/cols)/rows
    my_lats = lats*(rank/cols + 1)/rows - first_lat
    first_lon = lons*mod(rank, cols)/cols
    my_lons = lons*(mod(rank, cols) + 1)/cols - first_lon
    my_ice = max(0, min(my_lats, ice_lats - first_lat))
    ! Every rank'th element, and one that is nobody's.
    dof = [0_int64, (int(i, int64), i=rank + 1, elements, ranks)]

    allocate (area(my_lons, my_lats), temp(-1:my_lons + 2, 0:my_lats + 1, depths))
    allocate (salt(size(dof)), ice(my_lons, my_ice))
    call fbo_create(file, comm, path, ierr, options)
    call fine()
    call fbo_grid(flat, file, [lons, lats], [first_lon + 1, first_lat + 1], [my_lons, my_lats], &
        ierr)
    call fine()
    call fbo_grid(full, file, [lons, lats, depths], [first_lon + 1, first_lat + 1, 1], &
        [my_lons, my_lats, depths], ierr, halo=[2, 1, 0])
    call fine()
    call fbo_grid_map(mapped, file, int([lons, lats, depths], int64), dof, ierr)
    call fine()
    call fbo_grid(icy, file, [lons, lats], [first_lon + 1, first_lat + 1], [my_lons, my_ice], ierr)
    call fine()
    call fbo_define_fixed(area_id, file, "area", flat, FBO_REAL64, ierr, "lon lat", "m2")
    call fine()
    call fbo_define(temp_id, file, "temp", full, FBO_REAL64, ierr, dims="lon lat depth", &
        units="degC")
    call fine()
    call fbo_define(salt_id, file, "salt", mapped, FBO_REAL32, ierr, dims=" lon  lat depth ")
    call fine()
    call fbo_define(ice_id, file, "ice", icy, FBO_INT32, ierr, dims="lon lat", units="1")
    call fine()
    call fbo_attribute(file, "time", "units", "days since 2000-01-01", ierr)
    call fine()
    call fbo_attribute(file, " ", "title", "a test", ierr)
    call fine()
    do step = 0, steps - 1
        call fbo_begin_step(file, 0.25_real64*step, ierr)
        call fine()
        temp = -1
        do k = 1, depths
            do j = 1, my_lats
                do i = 1, my_lons
                    temp(i, j, k) = value_at((k - 1)*columns + (first_lat + j - 1)*lons + &
                        first_lon + i - 1)
                end do
            end do
        end do
        if (step == 0) then
            area = temp(1:my_lons, 1:my_lats, 1)
            call fbo_write(area_id, area, ierr)
            call fine()
        end if
        salt = [(real(value_at(int(dof(i)) - 1), real32), i=1, size(dof))]
        ice = int(temp(1:my_lons, 1:my_ice, 1))
        call fbo_write(salt_id, salt, ierr)
        call fine()
        call fbo_write(ice_id, temp(1:my_lons, 1:my_ice, 1), ierr)
        if (my_ice > 0 .and. (ierr /= FBO_ERROR_ARGUMENT .or. &
            index(fbo_error_text(), "another type") == 0)) call MPI_Abort(comm, 98, ierr)
        if (my_ice > 0) call fbo_write(ice_id, ice, ierr)
        call fine()
        call fbo_write(temp_id, temp, ierr)
        call fine()
        call fbo_end_step(file, ierr)
        call fine()
    end do
    call fbo_steps(file, found, ierr)
    if (found /= steps) call MPI_Abort(comm, 99, ierr)
    call fbo_close(file, ierr)
    call fine()
    call fbo_finalize(ierr)
    call fine()
    call MPI_Finalize(ierr)

contains

    pure function value_at(at) result(made)
        integer, intent(in) :: at
        real(real64) :: made
        made = 600000.0_real64*step + at + 0.5_real64
    end function

    subroutine fine()
        integer :: ignored
        if (ierr /= FBO_SUCCESS) then
            print *, "error ", ierr, ": ", fbo_error_text()
            call MPI_Abort(MPI_COMM_WORLD, 97, ignored)
        end if
    end subroutine
end program
