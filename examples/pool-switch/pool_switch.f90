! Switches one file of Forebay's pool off and on again; see include/forebay_pool.h.
!   gfortran pool_switch.f90 && ./a.out FILE
! It runs anywhere: where there is no pool, ioctl returns -1 (errno is ENOTTY).
program pool_switch
    use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_long
    implicit none

    type, bind(c) :: setting_t
        integer(c_int32_t) :: mode = 0        ! 1: off, 2: on
        integer(c_int32_t) :: durability = 0  ! 1: process, 2: global
        integer(c_int64_t) :: window = 0      ! bytes
    end type setting_t

    interface
        function ioctl(fd, request, setting) bind(c, name='ioctl')
            import :: c_int, c_long, setting_t
            integer(c_int), value :: fd
            integer(c_long), value :: request
            type(setting_t), intent(in) :: setting
            integer(c_int) :: ioctl
        end function ioctl
    end interface

    integer(c_long), parameter :: pool_set = int(z'4010fb01', c_long)
    integer :: unit
    character(len=1000) :: path

    call get_command_argument(1, path)
    open (newunit=unit, file=trim(path), access='stream', form='unformatted', status='replace')
    call adjust('window', setting_t(window=67108864_c_int64_t))
    call put('taken by the pool')
    call adjust('off', setting_t(mode=1))
    call put('written directly')
    call adjust('on', setting_t(mode=2))
    call put('taken again')
    call adjust('global', setting_t(durability=2))
    call put('with the file system')
    close (unit)

contains

    ! libgfortran keeps what is written until it is flushed.
    subroutine put(text)
        character(len=*), intent(in) :: text
        write (unit) text, new_line('a')
        flush (unit)
    end subroutine put

    subroutine adjust(what, setting)
        character(len=*), intent(in) :: what
        type(setting_t), intent(in) :: setting
        if (ioctl(int(fnum(unit), c_int), pool_set, setting) == 0) then
            print '(2a)', what, ': done'
        else
            print '(2a)', what, ': there is no pool'
        end if
    end subroutine adjust

end program pool_switch
