# Asks compiler wrappers of MPIs what they are. Defines functions only.

# Asks one wrapper, and sets variables of the caller: <out>_family ("" if it cannot be used),
# <out>_name (for people: its MPI's, or why it cannot be used), <out>_includes (folders) and
# <out>_links (words for the linker).
function(forebay_ask_wrapper wrapper out)
    set(${out}_family "" PARENT_SCOPE)
    execute_process(
        COMMAND ${wrapper} -E ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mpi_probe.c
        OUTPUT_VARIABLE text
        ERROR_VARIABLE errors
        RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        string(REGEX REPLACE "\n.*" "" error "${status}: ${errors}")
        set(${out}_name "it cannot preprocess <mpi.h> (${error})" PARENT_SCOPE)
        return()
    endif()
    if(NOT text MATCHES "forebay_mpi ([a-z_]+) ([^\r\n]*)")
        set(${out}_name "its <mpi.h> is no MPI's" PARENT_SCOPE)
        return()
    endif()
    set(family ${CMAKE_MATCH_1})
    string(REGEX REPLACE " *\\. *" "." name "${CMAKE_MATCH_2}")
    string(REPLACE "\"" "" name "${name}")
    string(REGEX REPLACE " +" " " name "${name}")
    if(NOT family MATCHES "^(mpich|openmpi|abi)$")
        set(${out}_name "its MPI is ${name}, which is neither of MPICH's family nor of Open MPI's, \
nor has it the standard ABI" PARENT_SCOPE)
        return()
    endif()
    forebay_wrapper_words(${wrapper} words)
    if(NOT words)
        set(${out}_name "it does not tell what it links: it knows neither -show nor \
--cray-print-opts=libs" PARENT_SCOPE)
        return()
    endif()
    forebay_sort_words("${words}" includes links)
    set(${out}_family ${family} PARENT_SCOPE)
    set(${out}_name "${name}" PARENT_SCOPE)
    set(${out}_includes "${includes}" PARENT_SCOPE)
    set(${out}_links "${links}" PARENT_SCOPE)
endfunction()

# The words of the command line that the wrapper makes: -show is MPICH's and Intel's option, which
# Open MPI's wrapper has, too; Cray's compiler drivers have others. Empty: it does not tell.
function(forebay_wrapper_words wrapper out)
    set(${out} "" PARENT_SCOPE)
    execute_process(
        COMMAND ${wrapper} -show
        OUTPUT_VARIABLE shown ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        execute_process(
            COMMAND ${wrapper} --cray-print-opts=cflags
            OUTPUT_VARIABLE compiles ERROR_QUIET RESULT_VARIABLE status)
        # Otherwise the wrapper has the linker drop an MPI that an object does not call.
        execute_process(
            COMMAND ${wrapper} --no-as-needed --cray-print-opts=libs
            OUTPUT_VARIABLE shown ERROR_QUIET RESULT_VARIABLE status_of_links)
        set(shown "${compiles} ${shown}")
        if(NOT status EQUAL 0 OR NOT status_of_links EQUAL 0)
            return()
        endif()
    endif()
    string(REGEX REPLACE "[\r\n]+" " " shown "${shown}")
    separate_arguments(words UNIX_COMMAND "${shown}")
    set(${out} "${words}" PARENT_SCOPE)
endfunction()

# Folders of headers, and what goes to the linker: libraries, their folders, and where programs look
# for them. Linkers' options may stand as -Wl,-rpath,/x, as -Wl,-rpath -Wl,/x, or as -Xlinker -rpath
# -Xlinker /x, and Cray's driver has libraries between them: -Wl,--as-needed,-lmpi,--no-as-needed.
function(forebay_sort_words words includes links)
    set(found_includes "")
    set(found_links "")
    set(is_path OFF)
    set(single_words "")
    foreach(word IN LISTS words)
        if(word MATCHES "^-Wl,(.*)")
            string(REPLACE "," ";" word "${CMAKE_MATCH_1}")
        endif()
        list(APPEND single_words ${word})
    endforeach()
    list(REMOVE_ITEM single_words -Xlinker)
    foreach(word IN LISTS single_words)
        if(is_path)
            list(APPEND found_links "-Wl,-rpath,${word}")
            set(is_path OFF)
        elseif(word MATCHES "^-I(.+)")
            list(APPEND found_includes "${CMAKE_MATCH_1}")
        elseif(word MATCHES "^-[lL]")
            list(APPEND found_links "${word}")
        elseif(word MATCHES "^-rpath=(.+)")
            list(APPEND found_links "-Wl,-rpath,${CMAKE_MATCH_1}")
        elseif(word STREQUAL "-rpath")
            set(is_path ON)
        endif()
    endforeach()
    set(${includes} "${found_includes}" PARENT_SCOPE)
    set(${links} "${found_links}" PARENT_SCOPE)
endfunction()

# Sets <out> to the wrappers to ask where the user names none, as paths: those in PATH; Cray's
# driver, where its environment is loaded; and those that RHEL and SLES hide from PATH until a
# module is loaded. (mpicc_abi is for the standard ABI: forebay_find_mpi_families asks it.)
function(forebay_usual_wrappers out)
    set(names mpicc mpiicx mpiicc)
    if(DEFINED ENV{CRAYPE_VERSION} OR DEFINED ENV{CRAYPE_DIR})
        list(APPEND names cc)
    endif()
    set(all "")
    foreach(name IN LISTS names)
        unset(found)
        find_program(found ${name} NO_CACHE)
        if(found)
            list(APPEND all ${found})
        endif()
    endforeach()
    if(NOT all)
        file(GLOB all /usr/lib64/mpich/bin/mpicc /usr/lib64/openmpi*/bin/mpicc
             /usr/lib64/mpi/gcc/*/bin/mpicc)
    endif()
    set(${out} "${all}" PARENT_SCOPE)
endfunction()
