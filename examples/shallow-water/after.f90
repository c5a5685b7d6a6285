! Shallow water on a periodic plane, divided among ranks by rows. Output: each rank hands over its
! own rows, halo and all, and goes on.
program shallow_water
    use mpi
    use forebay_output
    use, intrinsic :: iso_fortran_env, only: real64
    implicit none
    integer, parameter :: nx = 240, ny = 160, steps = 40, output_every = 10
    real(real64), parameter :: gravity = 9.81_real64, depth = 100.0_real64, dx = 1000.0_real64, &
        dt = 5.0_real64
    real(real64), allocatable :: h(:, :), u(:, :), v(:, :)  ! each with a halo of one cell
    integer :: comm, rank, ranks, first, rows, step, i, j, ierr
    integer :: file, grid, h_id, u_id, v_id

    call MPI_Init(ierr)
    call fbo_init(MPI_COMM_WORLD, comm, ierr)
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

    call fbo_create(file, comm, "after.dat", ierr, options="format=fortran")
    call fbo_grid(grid, file, [nx, ny], [1, first + 1], [nx, rows], ierr, halo=[1, 1])
    call fbo_define(h_id, file, "h", grid, FBO_REAL64, ierr, dims="x y", units="m")
    call fbo_define(u_id, file, "u", grid, FBO_REAL64, ierr, dims="x y", units="m s-1")
    call fbo_define(v_id, file, "v", grid, FBO_REAL64, ierr, dims="x y", units="m s-1")

    do step = 1, steps
        call advance()
        if (mod(step, output_every) == 0) then
            call fbo_begin_step(file, step*dt, ierr)
            call fbo_write(h_id, h, ierr)
            call fbo_write(u_id, u, ierr)
            call fbo_write(v_id, v, ierr)
            call fbo_end_step(file, ierr)
            if (ierr /= FBO_SUCCESS) print *, fbo_error_text()
        end if
    end do

    call fbo_finalize(ierr)  ! closes the file
    call MPI_Finalize(ierr)

contains

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
