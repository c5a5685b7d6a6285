# Completion of @PROGRAM@ in fish, made from its help.
function @FUNCTION@
    set -l at @PROGRAM@
    for word in (commandline -opc)[2..]
        if test "$word" = --
            set at "$at --"
            break
        else if contains -- "$at $word" @KNOWN@
            set at "$at $word"
        end
    end
    test "$at" = "$argv"
end
