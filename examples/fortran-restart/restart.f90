! Writes a restart file by unformatted records, as many Fortran models do, and goes on from it where
! there is one.
program restart
    implicit none
    integer, parameter :: columns = 400, rows = 300, steps = 10
    real(8) :: height(columns, rows), speed(columns, rows)
    integer :: step, first, unit, i
    logical :: is_there

    first = 0
    height = reshape([(real(i, 8), i=1, columns*rows)], [columns, rows])
    speed = 0
    inquire (file='restart.dat', exist=is_there)
    if (is_there) then
        open (newunit=unit, file='restart.dat', form='unformatted', action='read', status='old')
        read (unit) first
        read (unit) height
        read (unit) speed
        close (unit)
    end if

    open (newunit=unit, file='history.dat', form='unformatted', action='write', &
          position='rewind', status='replace')
    do step = first + 1, first + steps
        speed = speed + 0.01d0*(cshift(height, 1, 1) - height)
        height = height - 0.1d0*speed
        write (unit) step
        write (unit) height
    end do
    close (unit)

    open (newunit=unit, file='restart.dat', form='unformatted', action='write', status='replace')
    write (unit) first + steps
    write (unit) height
    write (unit) speed
    close (unit)
    print '(a, i0)', 'step ', first + steps
end program restart
