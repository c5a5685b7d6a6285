! Writes a history file by NetCDF-Fortran: one record of a field in each step.
program history
    use netcdf
    implicit none
    integer, parameter :: columns = 200, rows = 100, steps = 10
    real :: field(columns, rows)
    integer :: file, x, y, time, variable, step

    call check(nf90_create('history.nc', nf90_64bit_offset, file))
    call check(nf90_def_dim(file, 'x', columns, x))
    call check(nf90_def_dim(file, 'y', rows, y))
    call check(nf90_def_dim(file, 'time', nf90_unlimited, time))
    call check(nf90_def_var(file, 'height', nf90_float, [x, y, time], variable))
    call check(nf90_put_att(file, variable, 'units', 'm'))
    call check(nf90_enddef(file))
    do step = 1, steps
        field = real(step)
        field(step, :) = 0
        call check(nf90_put_var(file, variable, field, start=[1, 1, step], &
                                count=[columns, rows, 1]))
    end do
    call check(nf90_close(file))

contains

    subroutine check(status)
        integer, intent(in) :: status
        if (status /= nf90_noerr) then
            print *, trim(nf90_strerror(status))
            error stop 1
        end if
    end subroutine check
end program history
