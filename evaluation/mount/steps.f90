! The same as steps.c, in Fortran: appends of 1 MiB, sequential and unformatted, with computing
! between. A stream is opened for each step, as a model opens its history file.
program steps
  use iso_fortran_env, only: int8
  use iso_c_binding, only: c_int
  implicit none
  interface
    function usleep(microseconds) bind(c, name="usleep")
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: usleep
    end function
  end interface
  integer, parameter :: call_bytes = 1048576
  integer(int8), allocatable :: buffer(:)
  character(len=4096) :: path, word
  integer :: count, mebibytes, milliseconds, step, piece, unit
  integer(c_int) :: ignored

  call get_command_argument(1, path)
  call get_command_argument(2, word)
  read (word, *) count
  call get_command_argument(3, word)
  read (word, *) mebibytes
  call get_command_argument(4, word)
  read (word, *) milliseconds
  allocate (buffer(call_bytes))
  buffer = 120_int8
  do step = 1, count
    open (newunit=unit, file=trim(path), access="stream", form="unformatted", &
          position="append", status="unknown", action="write")
    do piece = 1, mebibytes
      write (unit) buffer
    end do
    close (unit)
    if (step < count) ignored = usleep(int(milliseconds * 1000, c_int))
  end do
end program
