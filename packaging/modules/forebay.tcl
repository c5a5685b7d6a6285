#%Module1.0
# Environment Modules' file of the tree that it lies in: PREFIX/share/modulefiles/forebay/VERSION.
# Nothing in it names PREFIX, so the tree may be moved.
proc ModulesHelp {} {
    puts stderr "Forebay: a pool in front of the parallel file system. MPI-IO of unmodified\
        programs, faster. Start with: forebay doctor; forebay run -- mpiexec -n 8 ./program;\
        man forebay."
}
module-whatis "unmodified programs do not wait for their output; collective MPI-IO; I/O benchmarks"
conflict forebay

set prefix [file normalize $ModulesCurrentModulefile]
foreach level {forebay modulefiles share PREFIX} {
    set prefix [file dirname $prefix]
}
setenv FOREBAY_ROOT $prefix
prepend-path PATH $prefix/bin
prepend-path FPATH $prefix/share/zsh/site-functions
# Where bash and fish look for completions. Unset, it stands for the system's folders, which have to
# stay; that we have set it is remembered for the unloading.
if {[info exists env(__FOREBAY_XDG_DATA_DIRS)] || ![info exists env(XDG_DATA_DIRS)]} {
    setenv __FOREBAY_XDG_DATA_DIRS 1
    append-path XDG_DATA_DIRS /usr/local/share
    append-path XDG_DATA_DIRS /usr/share
}
prepend-path XDG_DATA_DIRS $prefix/share
# Without MANPATH, man finds the pages beside each bin/ of PATH.
if {[info exists env(MANPATH)]} {
    prepend-path MANPATH $prefix/share/man
}
