! Fortran's ways to files: sequential, direct and stream, with and without a format.
program units
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    implicit none
    real(real64) :: field(1000), back(1000)
    integer :: unit, i, status
    integer(int64) :: bytes, position
    character(len=40) :: line

    do i = 1, 1000
        field(i) = real(i, real64) / 7
    end do

    open (newunit=unit, file='sequential', form='unformatted', access='sequential', &
          status='replace')
    do i = 1, 20
        write (unit) i, field * i
    end do
    rewind (unit)
    do i = 1, 7
        read (unit) status, back
    end do
    print *, 'sequential', status, sum(back)
    backspace (unit)
    write (unit) 99, field(1:10)
    close (unit)
    open (newunit=unit, file='sequential', form='unformatted', position='append', status='old')
    write (unit) 'appended'
    close (unit)
    inquire (file='sequential', size=bytes)
    print *, 'size', bytes

    open (newunit=unit, file='direct', form='unformatted', access='direct', recl=8000, &
          status='replace')
    do i = 20, 1, -3
        write (unit, rec=i) field + i
    end do
    read (unit, rec=14) back
    print *, 'direct', sum(back)
    write (unit, rec=14) field
    inquire (unit=unit, size=bytes)
    print *, 'size', bytes
    close (unit)

    open (newunit=unit, file='stream', form='unformatted', access='stream', status='replace')
    write (unit) field
    write (unit, pos=4001) back
    inquire (unit=unit, pos=position)
    print *, 'stream', position
    read (unit, pos=801) back(1:200)
    print *, sum(back(1:200))
    write (unit, pos=100001) 'far'
    flush (unit)
    close (unit)

    open (newunit=unit, file='formatted', status='replace', action='readwrite')
    do i = 1, 5000
        write (unit, '(i8,f20.10)') i, field(mod(i, 1000) + 1)
    end do
    rewind (unit)
    do i = 1, 3000
        read (unit, '(a)') line
    end do
    print *, 'formatted ', line
    endfile (unit)
    close (unit)

    open (newunit=unit, file='scratch-like', status='replace')
    write (unit, *) 'gone'
    close (unit, status='delete')
    open (newunit=unit, status='scratch', form='unformatted')
    write (unit) field
    rewind (unit)
    read (unit) back
    print *, 'scratch', sum(back)
    close (unit)
    open (newunit=unit, file='stream', access='stream', form='unformatted', status='old', &
          action='read')
    read (unit, pos=100001) line(1:3)
    print *, line(1:3)
    read (unit, iostat=status) back
    print *, 'end of file', status < 0
    close (unit)
end program units
