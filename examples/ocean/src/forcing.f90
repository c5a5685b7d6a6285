! The wind: zonal stress by latitude, fitted by eye to the annual mean: trades on both sides of
! the doldrums, westerlies (strongest in the Southern Ocean), weak polar easterlies.
module forcing
   use config, only: wp
   implicit none
   private
   public :: wind_stress, wind_stress_slope

contains

   ! Eastward stress on the sea, N/m2, at a latitude in degrees.
   elemental real(wp) function wind_stress(latitude)
      real(wp), intent(in) :: latitude

      wind_stress = -0.085_wp*bump(-15.0_wp, 10.0_wp) - 0.080_wp*bump(14.0_wp, 9.0_wp) &
         - 0.015_wp*bump(0.0_wp, 8.0_wp) + 0.170_wp*bump(-51.0_wp, 11.0_wp) &
         + 0.085_wp*bump(43.0_wp, 10.0_wp) - 0.025_wp*bump(-71.0_wp, 5.0_wp) &
         - 0.020_wp*bump(68.0_wp, 6.0_wp)

   contains

      elemental real(wp) function bump(centre, width)
         real(wp), intent(in) :: centre, width

         bump = exp(-((latitude - centre)/width)**2)
      end function bump
   end function wind_stress

   ! Its change with latitude, N/m2 per radian.
   elemental real(wp) function wind_stress_slope(latitude)
      real(wp), intent(in) :: latitude
      real(wp), parameter :: step = 0.05_wp, degree = acos(-1.0_wp)/180.0_wp

      wind_stress_slope = (wind_stress(latitude + step) - wind_stress(latitude - step)) &
         /(2.0_wp*step*degree)
   end function wind_stress_slope
end module forcing
