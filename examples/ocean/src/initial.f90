! A state that is worth looking at from the first step: the ocean in Sverdrup balance with the
! wind, with seeded eddies of the size that altimeters see, and currents in balance with both.
! Every rank works the whole field out for itself (as the same sums in the same order), so the
! state does not depend on the decomposition.
module initial
   use config, only: config_t, wp
   use dynamics, only: gravity, state_t, water_density
   use forcing, only: wind_stress, wind_stress_slope
   use grid, only: earth_radius, grid_t, halo, pi
   implicit none
   private
   public :: set_initial

   real(wp), parameter :: degree = pi/180.0_wp
   real(wp), parameter :: basin_width = 6.0e6_wp          ! no wind adds up over more than this, m
   real(wp), parameter :: continent_degrees = 2.0_wp      ! narrower land is an island
   real(wp), parameter :: coriolis_floor = 1.2e-5_wp      ! no geostrophy nearer the Equator, 1/s
   integer, parameter :: smoothing_passes = 80

contains

   subroutine set_initial(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp), allocatable :: h(:, :)

      allocate (h(g%nlon, g%nlat))
      call balance_with_wind(c, g, h)
      call smooth(g, h)
      call add_eddies(c, g, h)
      call keep_own(c, g, h, s)
      call balance_currents(c, g, s)
   end subroutine set_initial

   ! Thickness h of a layer in Sverdrup balance, at distance x west of the eastern coast:
   !    h**2 = h_east**2 - 2 x (stress - tan(latitude) d(stress)/d(latitude)) / (g' density)
   ! (Veronis 1973, J. Mar. Res. 31). Around Antarctica no coast stops the flow: there the layer
   ! thins southwards instead, across a front that winds from 46 S south of Africa to 58 S south
   ! of America, and that carries the circumpolar current.
   subroutine balance_with_wind(c, g, h)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      real(wp), intent(out) :: h(:, :)
      real(wp) :: pull, open_south, south, thickness, step
      integer :: i, j, k, since_coast, land

      do j = 1, g%nlat
         pull = wind_stress(g%lat(j)) - tan(g%lat(j)*degree)*wind_stress_slope(g%lat(j))
         pull = -2.0_wp*c%wind*pull/(c%reduced_gravity*water_density)
         step = earth_radius*cos(g%lat(j)*degree)*360.0_wp/g%nlon*degree
         since_coast = 0
         land = 0
         do k = 2*g%nlon, 1, -1                    ! twice around: the first finds the coast
            i = modulo(k - 1, g%nlon) + 1
            since_coast = since_coast + 1
            land = merge(0, land + 1, g%ocean(i, j) == 1)
            if (land*360.0_wp/g%nlon >= continent_degrees) since_coast = 0
            south = front(g%lon(i)) - g%lat(j)
            open_south = 0.5_wp*(1.0_wp + tanh((south + 7.0_wp)/4.0_wp))
            thickness = (c%depth*(1.0_wp - 0.24_wp*(1.0_wp + tanh(south/4.5_wp))))**2 &
               + (1.0_wp - open_south)*pull*basin_width*tanh(since_coast*step/basin_width)
            h(i, j) = sqrt(max(thickness, 0.0_wp) + (0.3_wp*c%depth)**2)
         end do
      end do

   contains

      ! Latitude of the Antarctic front, degrees.
      pure real(wp) function front(longitude)
         real(wp), intent(in) :: longitude

         front = -52.0_wp + 5.0_wp*cos((longitude - 40.0_wp)*degree) &
            + 1.2_wp*sin(7.0_wp*longitude*degree) + 0.8_wp*cos(16.0_wp*longitude*degree)
      end function front
   end subroutine balance_with_wind

   ! Take the corners off: each cell becomes a mean with its four neighbours in the sea.
   subroutine smooth(g, h)
      type(grid_t), intent(in) :: g
      real(wp), intent(inout) :: h(:, :)
      real(wp), allocatable :: sea(:, :), old(:, :)      ! a frame of one cell around
      integer :: pass, i, j

      allocate (sea(0:g%nlon + 1, 0:g%nlat + 1), old(0:g%nlon + 1, 0:g%nlat + 1), source=0.0_wp)
      sea(1:g%nlon, 1:g%nlat) = g%ocean
      sea(0, :) = sea(g%nlon, :)
      sea(g%nlon + 1, :) = sea(1, :)
      do pass = 1, smoothing_passes
         old(1:g%nlon, 1:g%nlat) = h*sea(1:g%nlon, 1:g%nlat)
         old(0, :) = old(g%nlon, :)
         old(g%nlon + 1, :) = old(1, :)
         do j = 1, g%nlat
            do i = 1, g%nlon
               h(i, j) = (4.0_wp*h(i, j) &
                  + old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1)) &
                  /(4.0_wp + sea(i - 1, j) + sea(i + 1, j) + sea(i, j - 1) + sea(i, j + 1))
            end do
         end do
      end do
   end subroutine smooth

   ! Gaussian hills and dales in the thickness, larger in strong currents and at mid-latitudes.
   subroutine add_eddies(c, g, h)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      real(wp), intent(inout) :: h(:, :)
      real(wp), allocatable :: mean(:, :)
      real(wp) :: radius, height, chance
      integer :: eddy, i, j, state

      allocate (mean, source=h)
      state = c%seed
      do eddy = 1, c%eddies
         i = 1 + int(random(state)*g%nlon)
         j = 1 + int(random(state)*g%nlat)
         radius = 40.0e3_wp + 90.0e3_wp*cos(g%lat(j)*degree)**2*(0.3_wp + random(state))
         height = 2.0_wp*random(state) - 1.0_wp
         chance = random(state)                     ! as many to the area at every latitude
         if (g%ocean(i, j) == 0 .or. chance > cos(g%lat(j)*degree)) cycle
         height = height*(45.0_wp + 0.6_wp*relief(i, j, mean))*tanh(abs(g%lat(j))/9.0_wp)
         call raise(g, i, j, radius, height, h)
      end do
      h = max(h, 0.12_wp*c%depth)

   contains

      ! How much the thickness changes over four degrees to either side, m.
      real(wp) function relief(i, j, mean)
         integer, intent(in) :: i, j
         real(wp), intent(in) :: mean(:, :)
         integer :: span, west, east, south, north

         span = max(1, nint(4.0_wp*g%nlon/360.0_wp))
         west = modulo(i - 1 - span, g%nlon) + 1
         east = modulo(i - 1 + span, g%nlon) + 1
         south = max(1, j - span)
         north = min(g%nlat, j + span)
         relief = min(150.0_wp, abs(mean(i, north) - mean(i, south)) &
            + 0.5_wp*abs(mean(east, j) - mean(west, j)))
      end function relief
   end subroutine add_eddies

   subroutine raise(g, i0, j0, radius, height, h)
      type(grid_t), intent(in) :: g
      integer, intent(in) :: i0, j0
      real(wp), intent(in) :: radius, height
      real(wp), intent(inout) :: h(:, :)
      real(wp) :: x, y, dx
      integer :: i, j, di, dj, reach_x, reach_y

      dx = earth_radius*cos(g%lat(j0)*degree)*360.0_wp/g%nlon*degree
      reach_x = min(g%nlon/2, int(3.0_wp*radius/dx) + 1)
      reach_y = int(3.0_wp*radius/g%dy) + 1
      do dj = -reach_y, reach_y
         j = j0 + dj
         if (j < 1 .or. j > g%nlat) cycle
         y = dj*g%dy/radius
         do di = -reach_x, reach_x
            i = modulo(i0 + di - 1, g%nlon) + 1
            x = di*dx/radius
            if (x*x + y*y < 9.0_wp .and. g%ocean(i, j) == 1) &
               h(i, j) = h(i, j) + height*exp(-(x*x + y*y))
         end do
      end do
   end subroutine raise

   ! Lehmer's generator in Schrage's form (Park and Miller 1988): same numbers everywhere.
   real(wp) function random(state)
      integer, intent(inout) :: state

      state = 48271*mod(state, 44488) - 3399*(state/44488)
      if (state <= 0) state = state + 2147483647
      random = state/2147483648.0_wp
   end function random

   subroutine keep_own(c, g, h, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      real(wp), intent(in) :: h(:, :)
      type(state_t), intent(inout) :: s
      integer :: i, j

      s%h = c%depth
      do j = 1 - halo, g%ny + halo
         if (g%j0 + j < 1 .or. g%j0 + j > g%nlat) cycle
         do i = 1 - halo, g%nx + halo
            if (g%mask(i, j) > 0.0_wp) s%h(i, j) = h(modulo(g%i0 + i - 1, g%nlon) + 1, g%j0 + j)
         end do
      end do
   end subroutine keep_own

   ! Geostrophic; at the Equator, where that fails, towards rest.
   subroutine balance_currents(c, g, s)
      type(config_t), intent(in) :: c
      type(grid_t), intent(in) :: g
      type(state_t), intent(inout) :: s
      real(wp) :: f, slope
      integer :: i, j

      do j = 1, g%ny
         do i = 1, g%nx
            f = 0.5_wp*(g%coriolis(j) + g%coriolis(j - 1))
            f = f/(f**2 + coriolis_floor**2)
            slope = mean_slope([s%h(i, j + 1) - s%h(i, j), s%h(i, j) - s%h(i, j - 1), &
               s%h(i + 1, j + 1) - s%h(i + 1, j), s%h(i + 1, j) - s%h(i + 1, j - 1)], &
               [g%mask_v(i, j), g%mask_v(i, j - 1), g%mask_v(i + 1, j), g%mask_v(i + 1, j - 1)])
            s%u(i, j) = -g%mask_u(i, j)*f*c%reduced_gravity*slope/g%dy
            f = g%coriolis(j)
            f = f/(f**2 + coriolis_floor**2)
            slope = mean_slope([s%h(i + 1, j) - s%h(i, j), s%h(i, j) - s%h(i - 1, j), &
               s%h(i + 1, j + 1) - s%h(i, j + 1), s%h(i, j + 1) - s%h(i - 1, j + 1)], &
               [g%mask_u(i, j), g%mask_u(i - 1, j), g%mask_u(i, j + 1), g%mask_u(i - 1, j + 1)])
            s%v(i, j) = g%mask_v(i, j)*f*c%reduced_gravity*slope/g%dx_v(j)
         end do
      end do
   end subroutine balance_currents

   pure real(wp) function mean_slope(differences, masks)
      real(wp), intent(in) :: differences(4), masks(4)

      mean_slope = sum(differences*masks)/max(1.0_wp, sum(masks))
   end function mean_slope
end module initial
