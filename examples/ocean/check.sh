#!/bin/sh
# The model's own promises: any number of ranks gives the same bytes, a restart goes on as if
# nothing had been, and the HDF5 variant has the same ocean in it (run with `make check`).
set -eu
build=$1 pnetcdf_run=$2 hdf5_run=$3
mkdir -p "$build/check"
"${PYTHON:-python3}" mask.py "$build/check/mask.bin" --columns 180 --rows 80
cd "$build/check"

namelist() { # steps, history, restart in, restart out
    cat <<EOF
&grid nlon = 180, nlat = 80, mask_file = 'mask.bin' /
&run steps = $1, output_every = 5, dt = 900, history = '$2', restart_in = '$3', restart_out = '$4' /
&physics eddies = 2000 /
EOF
}
same() { cmp "$1" "$2" && echo "ok: $3"; }

namelist 20 one.nc '' one_restart.nc >nl1
$pnetcdf_run 1 ../ocean nl1 >one.txt
for ranks in 2 3 4; do
    namelist 20 many.nc '' many_restart.nc >nl2
    $pnetcdf_run $ranks ../ocean nl2 >many.txt
    same one.nc many.nc "history of $ranks ranks like that of 1"
    same one_restart.nc many_restart.nc "restart of $ranks ranks like that of 1"
done
namelist 10 half.nc '' half_restart.nc >nl3
$pnetcdf_run 4 ../ocean nl3 >half.txt
namelist 10 rest.nc half_restart.nc rest_restart.nc >nl4
$pnetcdf_run 3 ../ocean nl4 >rest.txt
same one_restart.nc rest_restart.nc "10 + 10 steps like 20"

namelist 20 one.h5 '' one_restart.h5 >nl5
$hdf5_run 1 ../ocean_hdf5 nl5 >one.txt
namelist 20 many.h5 '' many_restart.h5 >nl6
$hdf5_run 4 ../ocean_hdf5 nl6 >many.txt
same one.h5 many.h5 "HDF5 history of 4 ranks like that of 1"
namelist 10 half.h5 '' half_restart.h5 >nl7
$hdf5_run 3 ../ocean_hdf5 nl7 >half.txt
namelist 10 rest.h5 half_restart.h5 rest_restart.h5 >nl8
$hdf5_run 2 ../ocean_hdf5 nl8 >rest.txt
same many_restart.h5 rest_restart.h5 "HDF5, 10 + 10 steps like 20"
