! Fortran's unformatted files as models write them: direct access and streams that all ranks write
! to, records of a gathered field by rank 0, read again and appended to. Files go to the folder that
! is the first argument.
program io_ranks_unformatted
  use mpi
  implicit none
  integer, parameter :: cells = 700, steps = 5, bytes_of_cell = 8, header = 16
  integer :: rank, ranks, right, ierr, unit, step, length, seen
  integer(kind=8) :: at, extent
  character(len=512) :: folder
  double precision :: field(cells), found(cells)
  double precision, allocatable :: whole(:)

  call MPI_Init(ierr)
  call get_command_argument(1, folder)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  right = mod(rank + 1, ranks)
  inquire (iolength=length) field
  call make('/direct')
  call make('/stream')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  open (newunit=unit, file=trim(folder)//'/direct', access='direct', form='unformatted', &
      recl=length, status='old', action='readwrite')
  do step = 1, steps
    field = value(rank, step)
    write (unit, rec=1 + rank + ranks * (step - 1)) field
  end do
  close (unit)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  open (newunit=unit, file=trim(folder)//'/direct', access='direct', form='unformatted', &
      recl=length, status='old', action='readwrite')
  read (unit, rec=1 + right + ranks * (steps - 1)) found
  if (any(found /= value(right, steps))) call wrong('a record of the next rank')
  close (unit)

  open (newunit=unit, file=trim(folder)//'/stream', access='stream', form='unformatted', &
      status='old', action='readwrite')
  if (rank == 0) write (unit, pos=1) int(cells, 8), int(steps, 8)
  do step = steps, 1, -1
    at = 1 + header + int(bytes_of_cell * cells, 8) * (rank + ranks * (step - 1))
    write (unit, pos=at) value(rank, step)
  end do
  close (unit)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  open (newunit=unit, file=trim(folder)//'/stream', access='stream', form='unformatted', &
      status='old', action='read')
  inquire (unit, size=extent)
  if (extent /= header + int(bytes_of_cell * cells, 8) * ranks * steps) call wrong('the size')
  read (unit, pos=1 + header + int(bytes_of_cell * cells, 8) * right) found
  if (any(found /= value(right, 1))) call wrong('a part of the next rank')
  close (unit)

  allocate (whole(cells * ranks))
  do step = 1, steps
    field = value(rank, step)
    call MPI_Gather(field, cells, MPI_DOUBLE_PRECISION, whole, cells, MPI_DOUBLE_PRECISION, 0, &
        MPI_COMM_WORLD, ierr)
    if (rank == 0) call append(step, whole)
  end do
  if (rank == 0) then
    open (newunit=unit, file=trim(folder)//'/records', form='unformatted', convert='big_endian')
    read (unit) seen
    read (unit) seen, whole
    backspace (unit)
    read (unit) seen, whole
    if (seen /= 2 .or. any(whole(:cells) /= value(0, 2))) call wrong('the second record')
    close (unit)
    print '(a, i0)', 'saw ', ranks
  end if
  call MPI_Finalize(ierr)

contains

  function value(of, when) result(made)
    integer, intent(in) :: of, when
    double precision :: made(cells)
    integer :: i
    made = [(1.0d6 * of + 1.0d3 * when + i, i = 1, cells)]
  end function

  subroutine make(name)
    character(len=*), intent(in) :: name
    integer :: new
    if (rank /= 0) return
    open (newunit=new, file=trim(folder)//name, access='stream', form='unformatted', &
        status='replace')
    close (new)
  end subroutine

  ! One more record at the end of a file that is opened for it, in another order of bytes.
  subroutine append(number, values)
    integer, intent(in) :: number
    double precision, intent(in) :: values(:)
    integer :: new
    open (newunit=new, file=trim(folder)//'/records', form='unformatted', position='append', &
        convert='big_endian')
    write (new) number, values
    close (new)
  end subroutine

  subroutine wrong(what)
    character(len=*), intent(in) :: what
    integer :: code
    print '(a, i0, 3a)', 'rank ', rank, ': ', what, ' is another'
    call MPI_Abort(MPI_COMM_WORLD, 7, code)
  end subroutine

end program
