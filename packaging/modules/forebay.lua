-- Lmod's module file of the tree that it lies in: PREFIX/share/modulefiles/forebay/VERSION.lua.
-- Nothing in it names PREFIX, so the tree may be moved.
help([[Forebay: a pool in front of the parallel file system. MPI-IO of unmodified programs, faster.
Start with: forebay doctor; forebay run -- mpiexec -n 8 ./program; man forebay.]])
whatis("Name: forebay")
whatis("Description: collective MPI-IO of unmodified programs, faster; I/O benchmarks")
conflict("forebay")

local prefix = myFileName():gsub("/[^/]*/[^/]*/[^/]*/[^/]*$", "")
setenv("FOREBAY_ROOT", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("FPATH", pathJoin(prefix, "share/zsh/site-functions"))
-- Without MANPATH, man finds the pages beside each bin/ of PATH.
if os.getenv("MANPATH") then
    prepend_path("MANPATH", pathJoin(prefix, "share/man"))
end
