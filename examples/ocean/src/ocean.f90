! The main program: reads a namelist, steps the ocean, writes history and restart, and says how
! long that took. The last line is for programs: key=value, seconds, the slowest rank's.
program ocean
   use mpi
   use config, only: config_t, int64, path_length, read_config, sp, stop_all, wp
   use dynamics, only: advance, gravity, new_state, state_t
   use grid, only: grid_t, make_grid
   use halo_exchange, only: exchange
   use initial, only: set_initial
   use ocean_io, only: close_history, create_history, history_t, io_library, missing, &
      read_restart, write_history, write_restart
   implicit none

   integer, parameter :: in_start = 1, in_compute = 2, in_create = 3, in_write = 4, &
      in_close = 5, in_restart_write = 6, in_restart_read = 7
   character(*), parameter :: restart_names(5) = ['h ', 'u ', 'v ', 'gu', 'gv']
   type(config_t) :: c
   type(grid_t) :: g
   type(state_t) :: s
   type(history_t) :: history
   character(path_length) :: path
   real(wp) :: seconds(7) = 0.0_wp, mark, begin
   integer :: ierr, records, step

   call MPI_Init(ierr)
   call tick()
   call get_command_argument(1, path)
   if (path == '') path = 'namelist'
   call read_config(trim(path), MPI_COMM_WORLD, c)
   call make_grid(c, g)
   call new_state(g, s)
   call greet()
   if (c%restart_in == '') then
      call set_initial(c, g, s)
   else
      call continue_from(trim(c%restart_in))
   end if
   call exchange(g, s%h, s%u, s%v)
   call tock(in_start)

   records = 0
   if (c%history /= '') then
      begin = monotonic()
      call create_history(c, g, c%steps/c%output_every, history)
      call tock(in_create)
      call tell_span('create', begin)
   end if
   do step = 1, c%steps
      call advance(c, g, s)
      call exchange(g, s%h, s%u, s%v)
      if (mod(step, c%output_every) == 0 .and. c%history /= '') then
         records = records + 1
         call tock(in_compute)
         call record_state(records)
      end if
   end do
   call tock(in_compute)
   if (c%history /= '') then
      begin = monotonic()
      call close_history(history)
      call tock(in_close)
      call tell_span('close', begin)
   end if
   if (c%restart_out /= '') call save_restart(trim(c%restart_out))
   call report()
   call MPI_Finalize(ierr)

contains

   ! Everybody waits before the clock is read: an output's time is not the time that others
   ! still compute.
   subroutine tick()
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      mark = MPI_Wtime()
   end subroutine tick

   subroutine tock(place)
      integer, intent(in) :: place
      real(wp) :: before

      before = mark
      call tick()
      seconds(place) = seconds(place) + mark - before
   end subroutine tock

   ! When a part of the output began and ended, for those who draw time lines: seconds of this
   ! machine's monotonic clock.
   subroutine tell_span(what, since)
      character(*), intent(in) :: what
      real(wp), intent(in) :: since

      if (g%rank == 0) print '(2a, 2(a, f0.6))', 'ocean_span what=', what, ' begin=', since, &
         ' end=', monotonic()
   end subroutine tell_span

   function monotonic() result(now)
      real(wp) :: now
      integer(int64) :: count, rate

      call system_clock(count, rate)
      now = real(count, wp)/real(rate, wp)
   end function monotonic

   subroutine greet()
      if (g%rank /= 0) return
      print '(12a)', 'ocean: ', decimal(c%nlon), ' x ', decimal(c%nlat), ' cells, ', &
         decimal(g%ranks), ' ranks as ', decimal(g%procs(1)), ' x ', decimal(g%procs(2)), &
         ', output by ', io_library
   end subroutine greet

   subroutine record_state(record)
      integer, intent(in) :: record
      real(sp), allocatable, dimension(:, :) :: ssh, u, v
      real(wp) :: days, since

      associate (nx => g%nx, ny => g%ny)
         ssh = real((s%h(1:nx, 1:ny) - c%depth)*c%reduced_gravity/gravity, sp)
         u = real(s%u(1:nx, 1:ny), sp)
         v = real(s%v(1:nx, 1:ny), sp)
         where (g%mask(1:nx, 1:ny) == 0.0_wp)
            ssh = missing
            u = missing
            v = missing
         end where
         if (any(ssh /= ssh) .or. maxval(abs(s%u(1:nx, 1:ny))) > 30.0_wp) &
            call stop_all('the state has become unstable. Take a smaller dt.')
      end associate
      days = s%step*c%dt/86400.0_wp
      call tock(in_compute)
      since = monotonic()
      call write_history(g, history, record, days, ssh, u, v)
      call tock(in_write)
      call tell_span('write', since)
   end subroutine record_state

   subroutine save_restart(to)
      character(*), intent(in) :: to
      real(wp), allocatable :: fields(:, :, :)

      associate (nx => g%nx, ny => g%ny)
         allocate (fields(nx, ny, size(restart_names)))
         fields(:, :, 1) = s%h(1:nx, 1:ny)
         fields(:, :, 2) = s%u(1:nx, 1:ny)
         fields(:, :, 3) = s%v(1:nx, 1:ny)
         fields(:, :, 4) = s%gu
         fields(:, :, 5) = s%gv
      end associate
      call tock(in_compute)
      call write_restart(g, to, s%step, restart_names, fields)
      call tock(in_restart_write)
   end subroutine save_restart

   subroutine continue_from(from)
      character(*), intent(in) :: from
      real(wp), allocatable :: fields(:, :, :)

      associate (nx => g%nx, ny => g%ny)
         allocate (fields(nx, ny, size(restart_names)))
         call tock(in_start)
         call read_restart(g, from, s%step, restart_names, fields)
         call tock(in_restart_read)
         s%h = c%depth
         s%h(1:nx, 1:ny) = fields(:, :, 1)
         s%u(1:nx, 1:ny) = fields(:, :, 2)
         s%v(1:nx, 1:ny) = fields(:, :, 3)
         s%gu = fields(:, :, 4)
         s%gv = fields(:, :, 5)
      end associate
   end subroutine continue_from

   subroutine report()
      real(wp) :: slowest(7), output, megabytes

      call MPI_Reduce(seconds, slowest, 7, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
      if (g%rank /= 0) return
      output = slowest(in_create) + slowest(in_write) + slowest(in_close)
      megabytes = 3*4.0_wp*g%nlon*g%nlat*records/1024.0_wp**2
      print '(a, f0.2, 3a, f0.3, a, f0.1, a)', 'ocean: ', s%step*c%dt/86400.0_wp, ' days after ', &
         decimal(c%steps), ' steps more: compute ', slowest(in_compute), ' s; history of ', &
         megabytes, ' MiB'
      print '(4(a, f0.3), a)', 'ocean: output ', output, ' s = create ', slowest(in_create), &
         ' + write ', slowest(in_write), ' + close ', slowest(in_close), ' s'
      print '(a, i0, 9(a, f0.6))', 'ocean_result records=', records, ' mebibytes=', megabytes, &
         ' day=', s%step*c%dt/86400.0_wp, ' start=', slowest(in_start), &
         ' compute=', slowest(in_compute), ' create=', slowest(in_create), &
         ' write=', slowest(in_write), ' close=', slowest(in_close), &
         ' restart_write=', slowest(in_restart_write), ' restart_read=', slowest(in_restart_read)
   end subroutine report

   function decimal(n) result(text)
      integer, intent(in) :: n
      character(:), allocatable :: text
      character(12) :: digits

      write (digits, '(i0)') n
      text = trim(digits)
   end function decimal
end program ocean
