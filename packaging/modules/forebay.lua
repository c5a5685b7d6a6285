-- Lmod's module file of the tree that it lies in: PREFIX/share/modulefiles/forebay/VERSION.lua.
-- Nothing in it names PREFIX, so the tree may be moved.
help([[Forebay: a pool in front of the parallel file system. MPI-IO of unmodified programs, faster.
Start with: forebay doctor; forebay run -- mpiexec -n 8 ./program; man forebay.]])
whatis("Name: forebay")
whatis("Description: unmodified programs do not wait for their output; collective MPI-IO; I/O benchmarks")
conflict("forebay")

local prefix = myFileName():gsub("/[^/]*/[^/]*/[^/]*/[^/]*$", "")
setenv("FOREBAY_ROOT", prefix)
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("FPATH", pathJoin(prefix, "share/zsh/site-functions"))
-- Where bash and fish look for completions. Unset, it stands for the system's folders, which have to
-- stay; that we have set it is remembered for the unloading.
local ours = "__FOREBAY_XDG_DATA_DIRS"
if os.getenv(ours) or not os.getenv("XDG_DATA_DIRS") then
    setenv(ours, "1")
    append_path("XDG_DATA_DIRS", "/usr/local/share")
    append_path("XDG_DATA_DIRS", "/usr/share")
end
prepend_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
-- Without MANPATH, man finds the pages beside each bin/ of PATH.
if os.getenv("MANPATH") then
    prepend_path("MANPATH", pathJoin(prefix, "share/man"))
end
