! One time step of the rotating shallow-water equations for the ocean's upper layer, which
! floats on a deep layer at rest (reduced gravity): vector-invariant form, potential vorticity
! as in Sadourny (1975, J. Atmos. Sci. 32, scheme II, conserves enstrophy); thickness forward,
! pressure backward, the rest by the second order of Adams and Bashforth.
! No sum depends on the decomposition: any number of ranks gives the same bits.
module dynamics
   use config, only: config_t, wp
   use forcing, only: wind_stress
   use grid, only: grid_t, halo
   implicit none
   private
   public :: state_t, new_state, advance, water_density, gravity

   real(wp), parameter :: water_density = 1025.0_wp     ! kg/m3
   real(wp), parameter :: gravity = 9.81_wp             ! m/s2
   real(wp), parameter :: off_centre = 0.05_wp          ! damps the scheme's computational mode

   type :: state_t
      integer :: step = 0
      real(wp), allocatable :: h(:, :)                  ! thickness, m
      real(wp), allocatable :: u(:, :), v(:, :)         ! velocity, m/s
      real(wp), allocatable :: gu(:, :), gv(:, :)       ! last step's accelerations, m/s2
      real(wp), allocatable, private :: flux_u(:, :), flux_v(:, :), vorticity(:, :), energy(:, :)
      real(wp), allocatable, private :: new_gu(:, :), new_gv(:, :)
   end type state_t

contains

   subroutine new_state(g, s)
      type(grid_t), intent(in) :: g
      type(state_t), intent(out) :: s

      allocate (s%h(1 - halo:g%nx + halo, 1 - halo:g%ny + halo), source=0.0_wp)
      allocate (s%u, s%v, s%flux_u, s%flux_v, s%vorticity, s%energy, source=s%h)
      allocate (s%gu(g%nx, g%ny), source=0.0_wp)
      allocate (s%gv, s%new_gu, s%new_gv, source=s%gu)
   end subroutine new_state

   ! Halo of h, u and v has to be fresh; afterwards it is not.
   subroutine advance(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s

      call diagnose(g, s)
      call accelerate_u(c, g, s)
      call accelerate_v(c, g, s)
      call advance_thickness(c, g, s)
      call move(c, g, s)
      s%step = s%step + 1
   end subroutine advance

   ! Transports through faces, potential vorticity at corners, kinetic energy in cells.
   subroutine diagnose(g, s)
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp) :: thickness, relative
      integer :: i, j

      do j = 0, g%ny + 1
         do i = 0, g%nx + 1
            s%flux_u(i, j) = 0.5_wp*(s%h(i, j) + s%h(i + 1, j))*s%u(i, j)
            s%flux_v(i, j) = 0.5_wp*(s%h(i, j) + s%h(i, j + 1))*s%v(i, j)
         end do
      end do
      do j = 0, g%ny
         do i = 0, g%nx
            thickness = 0.25_wp*(s%h(i, j) + s%h(i + 1, j) + s%h(i, j + 1) + s%h(i + 1, j + 1))
            relative = (s%v(i + 1, j) - s%v(i, j))/g%dx_v(j) &
               - (s%u(i, j + 1)*g%dx(j + 1) - s%u(i, j)*g%dx(j))/(g%dy*g%dx_v(j))
            s%vorticity(i, j) = (g%coriolis(j) + g%mask_q(i, j)*relative)/thickness
         end do
      end do
      do j = 1, g%ny + 1
         do i = 1, g%nx + 1
            s%energy(i, j) = 0.25_wp*(s%u(i, j)**2 + s%u(i - 1, j)**2 &
               + s%v(i, j)**2 + s%v(i, j - 1)**2)
         end do
      end do
   end subroutine diagnose

   subroutine advance_thickness(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp) :: factor
      integer :: i, j

      do j = 1, g%ny + 1
         factor = c%dt/(g%dx(j)*g%dy)
         do i = 1, g%nx + 1
            s%h(i, j) = s%h(i, j) - factor*((s%flux_u(i, j) - s%flux_u(i - 1, j))*g%dy &
               + s%flux_v(i, j)*g%dx_v(j) - s%flux_v(i, j - 1)*g%dx_v(j - 1))
         end do
      end do
   end subroutine advance_thickness

   ! Eastward acceleration but for the pressure, all of it from the old velocities.
   subroutine accelerate_u(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp) :: turning, friction, stress
      integer :: i, j

      do j = 1, g%ny
         stress = c%wind*wind_stress(g%lat(g%j0 + j))/water_density
         do i = 1, g%nx
            turning = 0.125_wp*(s%vorticity(i, j) + s%vorticity(i, j - 1)) &
               *(s%flux_v(i, j) + s%flux_v(i + 1, j) + s%flux_v(i, j - 1) + s%flux_v(i + 1, j - 1))
            friction = c%viscosity*((s%u(i + 1, j) - 2.0_wp*s%u(i, j) + s%u(i - 1, j))/g%dx(j)**2 &
               + (s%u(i, j + 1) - 2.0_wp*s%u(i, j) + s%u(i, j - 1))/g%dy**2) - c%drag*s%u(i, j)
            s%new_gu(i, j) = turning - (s%energy(i + 1, j) - s%energy(i, j))/g%dx(j) + friction &
               + 2.0_wp*stress/(s%h(i, j) + s%h(i + 1, j))
         end do
      end do
   end subroutine accelerate_u

   subroutine accelerate_v(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp) :: turning, friction
      integer :: i, j

      do j = 1, g%ny
         do i = 1, g%nx
            turning = -0.125_wp*(s%vorticity(i, j) + s%vorticity(i - 1, j)) &
               *(s%flux_u(i, j) + s%flux_u(i - 1, j) + s%flux_u(i, j + 1) + s%flux_u(i - 1, j + 1))
            friction = c%viscosity*((s%v(i + 1, j) - 2.0_wp*s%v(i, j) + s%v(i - 1, j)) &
               /g%dx_v(j)**2 + (s%v(i, j + 1) - 2.0_wp*s%v(i, j) + s%v(i, j - 1))/g%dy**2) &
               - c%drag*s%v(i, j)
            s%new_gv(i, j) = turning - (s%energy(i, j + 1) - s%energy(i, j))/g%dy + friction
         end do
      end do
   end subroutine accelerate_v

   ! With the pressure of the new thickness; closed faces stay at rest.
   subroutine move(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp), parameter :: with_new = 1.5_wp + off_centre, with_old = 0.5_wp + off_centre
      real(wp) :: pressure
      integer :: i, j

      do j = 1, g%ny
         do i = 1, g%nx
            pressure = c%reduced_gravity*(s%h(i + 1, j) - s%h(i, j))/g%dx(j)
            s%u(i, j) = g%mask_u(i, j)*(s%u(i, j) &
               + c%dt*(with_new*s%new_gu(i, j) - with_old*s%gu(i, j) - pressure))
            pressure = c%reduced_gravity*(s%h(i, j + 1) - s%h(i, j))/g%dy
            s%v(i, j) = g%mask_v(i, j)*(s%v(i, j) &
               + c%dt*(with_new*s%new_gv(i, j) - with_old*s%gv(i, j) - pressure))
            s%gu(i, j) = s%new_gu(i, j)
            s%gv(i, j) = s%new_gv(i, j)
         end do
      end do
   end subroutine move
end module dynamics
