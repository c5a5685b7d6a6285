! Shallow water on a periodic plane, divided among ranks by rows. Output: rank 0 gathers each field
! and writes it, while all others wait.
program shallow_water
    use mpi
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    integer, parameter :: nx = 240, ny = 160, steps = 40, output_every = 10
    real(real64), parameter :: gravity = 9.81_real64, depth = 100.0_real64, dx = 1000.0_real64, &
        dt = 5.0_real64
    real(real64), allocatable :: h(:, :), u(:, :), v(:, :)  ! each with a halo of one cell
    real(real64), allocatable :: whole(:, :)
    integer, allocatable :: counts(:), displacements(:)
    integer :: comm, rank, ranks, first, rows, step, i, j, ierr
    integer :: unit

    call MPI_Init(ierr)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    first = ny*rank/ranks
    rows = ny*(rank + 1)/ranks - first
    allocate (h(0:nx + 1, 0:rows + 1), u(0:nx + 1, 0:rows + 1), v(0:nx + 1, 0:rows + 1))
    do j = 0, rows + 1
        do i = 0, nx + 1
            h(i, j) = exp(-((i - nx/2)**2 + (first + j - ny/2)**2)/400.0_real64)
        end do
    end do
    u = 0
    v = 0

    allocate (counts(ranks), displacements(ranks), whole(nx, merge(ny, 0, rank == 0)))
    counts = [(nx*(ny*(i + 1)/ranks - ny*i/ranks), i=0, ranks - 1)]
    displacements = [(nx*(ny*i/ranks), i=0, ranks - 1)]
    if (rank == 0) open (newunit=unit, file="before.dat", form="unformatted", status="replace")

    do step = 1, steps
        call advance()
        if (mod(step, output_every) == 0) then
            call write_field(h)
            call write_field(u)
            call write_field(v)
        end if
    end do

    if (rank == 0) close (unit)
    call MPI_Finalize(ierr)

contains

    subroutine write_field(field)
        real(real64), intent(in) :: field(0:, 0:)
        call MPI_Gatherv(field(1:nx, 1:rows), nx*rows, MPI_DOUBLE_PRECISION, whole, counts, &
            displacements, MPI_DOUBLE_PRECISION, 0, comm, ierr)
        if (rank == 0) write (unit) whole
    end subroutine

    subroutine advance()
        call fill_halo(h)
        u(1:nx, 1:rows) = u(1:nx, 1:rows) - gravity*dt/(2*dx)* &
            (h(2:nx + 1, 1:rows) - h(0:nx - 1, 1:rows))
        v(1:nx, 1:rows) = v(1:nx, 1:rows) - gravity*dt/(2*dx)* &
            (h(1:nx, 2:rows + 1) - h(1:nx, 0:rows - 1))
        call fill_halo(u)
        call fill_halo(v)
        h(1:nx, 1:rows) = h(1:nx, 1:rows) - depth*dt/(2*dx)* &
            (u(2:nx + 1, 1:rows) - u(0:nx - 1, 1:rows) + v(1:nx, 2:rows + 1) - v(1:nx, 0:rows - 1))
    end subroutine

    subroutine fill_halo(field)
        real(real64), intent(inout) :: field(0:, 0:)
        integer :: below, above
        below = mod(rank - 1 + ranks, ranks)
        above = mod(rank + 1, ranks)
        call MPI_Sendrecv(field(:, rows), nx + 2, MPI_DOUBLE_PRECISION, above, 1, field(:, 0), &
            nx + 2, MPI_DOUBLE_PRECISION, below, 1, comm, MPI_STATUS_IGNORE, ierr)
        call MPI_Sendrecv(field(:, 1), nx + 2, MPI_DOUBLE_PRECISION, below, 2, &
            field(:, rows + 1), nx + 2, MPI_DOUBLE_PRECISION, above, 2, comm, MPI_STATUS_IGNORE, &
            ierr)
        field(0, :) = field(nx, :)
        field(nx + 1, :) = field(1, :)
    end subroutine
end program
