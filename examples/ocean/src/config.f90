! The user's choices: one namelist file, read by rank 0 and given to all.
module config
   use mpi
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64, real32, real64
   implicit none
   private
   public :: config_t, read_config, stop_all, wp, sp, int8, int64, path_length

   integer, parameter :: wp = real64        ! state
   integer, parameter :: sp = real32        ! output
   integer, parameter :: path_length = 1024

   type :: config_t
      ! grid
      integer :: nlon = 1440, nlat = 640
      real(wp) :: south = -80.0_wp, north = 80.0_wp                ! degrees
      character(path_length) :: mask_file = 'mask.bin'
      integer :: procs_x = 0, procs_y = 0                          ! 0: MPI_Dims_create
      ! run
      integer :: steps = 120, output_every = 6
      real(wp) :: dt = 600.0_wp                                    ! s
      character(path_length) :: history = 'ocean.nc'
      character(path_length) :: restart_in = '', restart_out = ''  ! empty: none
      ! physics
      real(wp) :: depth = 500.0_wp                ! mean thickness of the upper layer, m
      real(wp) :: reduced_gravity = 0.03_wp       ! m/s2
      real(wp) :: viscosity = 600.0_wp            ! lateral, m2/s
      real(wp) :: drag = 5.0e-7_wp                ! linear, 1/s
      real(wp) :: wind = 1.0_wp                   ! factor on the wind stress
      integer :: eddies = 18000                    ! seeded eddies in the initial state
      integer :: seed = 20240229
   end type config_t

contains

   subroutine read_config(path, comm, c)
      character(*), intent(in) :: path
      integer, intent(in) :: comm
      type(config_t), intent(out) :: c
      character(:), allocatable :: text
      integer :: rank, ierr

      call MPI_Comm_rank(comm, rank, ierr)
      call read_text(path, rank, comm, text)
      call parse(path, text, c)
      if (c%steps < 1 .or. c%output_every < 1) &
         call stop_all('nothing to do in '//trim(path)//' (steps or output_every is below 1).')
   end subroutine read_config

   ! Only rank 0 opens the file: with thousands of ranks, the others would stand in its way.
   subroutine read_text(path, rank, comm, text)
      character(*), intent(in) :: path
      integer, intent(in) :: rank, comm
      character(:), allocatable, intent(out) :: text
      integer :: unit, bytes, status, ierr

      bytes = 0
      if (rank == 0) then
         open (newunit=unit, file=path, access='stream', form='unformatted', status='old', &
            action='read', iostat=status)
         if (status /= 0) call stop_all('cannot read '//trim(path)//'. Usage: ocean NAMELIST')
         inquire (unit=unit, size=bytes)
      end if
      call MPI_Bcast(bytes, 1, MPI_INTEGER, 0, comm, ierr)
      allocate (character(bytes) :: text)
      if (rank == 0) then
         read (unit) text
         close (unit)
      end if
      call MPI_Bcast(text, bytes, MPI_CHARACTER, 0, comm, ierr)
   end subroutine read_text

   subroutine parse(path, text, c)
      character(*), intent(in) :: path, text
      type(config_t), intent(inout) :: c
      integer :: nlon, nlat, procs_x, procs_y, steps, output_every, eddies, seed
      real(wp) :: south, north, dt, depth, reduced_gravity, viscosity, drag, wind
      character(path_length) :: mask_file, history, restart_in, restart_out
      character(256) :: message
      integer :: unit, status
      namelist /grid/ nlon, nlat, south, north, mask_file, procs_x, procs_y
      namelist /run/ steps, output_every, dt, history, restart_in, restart_out
      namelist /physics/ depth, reduced_gravity, viscosity, drag, wind, eddies, seed

      nlon = c%nlon; nlat = c%nlat; south = c%south; north = c%north
      mask_file = c%mask_file; procs_x = c%procs_x; procs_y = c%procs_y
      steps = c%steps; output_every = c%output_every; dt = c%dt
      history = c%history; restart_in = c%restart_in; restart_out = c%restart_out
      depth = c%depth; reduced_gravity = c%reduced_gravity; viscosity = c%viscosity
      drag = c%drag; wind = c%wind; eddies = c%eddies; seed = c%seed

      open (newunit=unit, status='scratch', access='stream', form='formatted')
      write (unit, '(a)') text
      rewind (unit)
      read (unit, nml=grid, iostat=status, iomsg=message)
      if (status == 0) then
         rewind (unit)
         read (unit, nml=run, iostat=status, iomsg=message)
      end if
      if (status == 0) then
         rewind (unit)
         read (unit, nml=physics, iostat=status, iomsg=message)
      end if
      close (unit)
      if (status /= 0) &
         call stop_all('cannot read '//trim(path)//' ('//trim(message)// &
         '). It needs the groups &grid, &run and &physics.')

      c%nlon = nlon; c%nlat = nlat; c%south = south; c%north = north
      c%mask_file = mask_file; c%procs_x = procs_x; c%procs_y = procs_y
      c%steps = steps; c%output_every = output_every; c%dt = dt
      c%history = history; c%restart_in = restart_in; c%restart_out = restart_out
      c%depth = depth; c%reduced_gravity = reduced_gravity; c%viscosity = viscosity
      c%drag = drag; c%wind = wind; c%eddies = eddies; c%seed = seed
   end subroutine parse

   subroutine stop_all(message)
      character(*), intent(in) :: message
      integer :: ierr

      write (error_unit, '(2a)') 'ocean: ', message
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
   end subroutine stop_all
end module config
