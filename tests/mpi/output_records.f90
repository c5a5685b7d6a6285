! Writes by write statements of one process what output.c writes with format=fortran.
! Usage: output_records FILE CONVERT
program output_records
    use, intrinsic :: iso_fortran_env, only: int32, real32, real64
    implicit none
    integer, parameter :: depths = 40, lats = 100, lons = 131, steps = 3, ice_lats = 40
    integer, parameter :: columns = lats*lons
    real(real64) :: area(columns), temp(columns*depths)
    integer(int32) :: ice(columns)
    character(256) :: path, order
    integer :: step, unit, i

    call get_command_argument(1, path)
    call get_command_argument(2, order)
    open (newunit=unit, file=trim(path), form="unformatted", access="sequential", &
        status="replace", action="write", convert=trim(order))
    do step = 0, steps - 1
        do i = 1, columns*depths
            temp(i) = 600000.0_real64*step + (i - 1) + 0.5_real64
        end do
        area = temp(1:columns)
        ice = -huge(ice)
        ice(1:ice_lats*lons) = int(temp(1:ice_lats*lons))
        if (step == 0) write (unit) area
        write (unit) temp
        write (unit) real(temp, real32)
        write (unit) ice
    end do
    close (unit)
end program
