-- Slurm's burst buffer with Forebay's tier (Slurm 22.05 or newer, plugin burst_buffer/lua): what a
-- job reads is copied to fast storage before the job gets its nodes, and what it has left there is
-- moved to the parallel file system after it has given them back. In a job script:
--
--   #BB_LUA forebay in=/scratch/me/input,/scratch/me/mesh.nc out=/scratch/me
--   forebay run --tier "$FOREBAY_TIER" -- mpiexec -n 8 ./program
--
-- Copy this file beside slurm.conf, set what follows, and say BurstBufferType=burst_buffer/lua in
-- slurm.conf. It runs on the host of slurmctld, which has to see both places. See docs/site.md.

-- Fast storage that all nodes and the host of slurmctld share. Users make folders in it: it needs
-- the mode of /tmp, 1777.
local fast_storage = "/bb"
-- The command, by its whole path.
local forebay = "/usr/local/bin/forebay"
-- How a command is run as a user; %u and %g are numbers. If SlurmUser is not root:
-- "sudo -n -u '#%u' --".
local as_user = "setpriv --reuid=%u --regid=%g --init-groups --"
-- A tier that still ends on a node is waited for so long.
local wait_seconds = 120

-- Everything of job J of user U lies below fast_storage/U/J: `in` is the place that is filled
-- before the job, and the job may have others there, one for each node.

local first_place = "in"

local function quoted(word)
    return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- The number that a word is; an error if it is none, so that no other word gets into a path.
local function number(word)
    local digits = tostring(word or ""):match("^%d+$")
    assert(digits, "cannot tell whose job it is (Slurm gives no user). Use Slurm 22.05 or newer.")
    return digits
end

-- Whose job it is. Slurm 22.05 tells only slurm_bb_setup, which notes it beside the job's script, in
-- Slurm's own folder; later versions tell every function.
local function user_file(job_script)
    return (job_script:gsub("[^/]*$", "forebay-user"))
end

local function user_of(job_script, uid, gid)
    local file = not uid and io.open(user_file(job_script))
    if file then
        uid, gid = file:read("*l"), file:read("*l")
        file:close()
    end
    return number(uid), number(gid)
end

local function folder_of(job_id, uid)
    return fast_storage .. "/" .. number(uid) .. "/" .. number(job_id)
end

-- Runs a shell's script as the user. Returns whether its status was 0, and all that it said.
local function run_as(uid, gid, script)
    local prefix = as_user:gsub("%%u", number(uid)):gsub("%%g", number(gid))
    local pipe = assert(io.popen("cd / && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "
        .. prefix .. " sh -c " .. quoted("umask 077\n" .. script)
        .. " 2>&1 < /dev/null; echo \":$?\""))
    local said = pipe:read("*a")
    pipe:close()
    local text, status = said:match("^(.-)%s*:(%d+)%s*$")
    return status == "0", text or said
end

local function is_usable(path)
    return path:sub(1, 1) == "/" and not path:find("[%c=]") and not (path .. "/"):find("/%.%.?/")
end

local function is_below(path, folder)
    return path == folder or path:sub(1, #folder + 1) == folder .. "/" or folder == "/"
end

-- What a script asks for: {dir = …, inputs = {…}}; nil if it asks for nothing, and a reason if that
-- cannot be used.
local function request_of(job_script)
    local file = io.open(job_script)
    if not file then
        return nil
    end
    local request, problem
    for line in file:lines() do
        local words = line:match("^#BB_LUA%s+forebay%s*(.*)$")
        if words and request then
            problem = "it has two lines #BB_LUA forebay. Write one."
        elseif words then
            request = {inputs = {}}
            for word in words:gmatch("%S+") do
                local name, value = word:match("^(%l+)=(.+)$")
                if name == "out" and not request.dir then
                    request.dir = value
                elseif name == "in" and #request.inputs == 0 then
                    for path in value:gmatch("[^,]+") do
                        table.insert(request.inputs, path)
                    end
                else
                    problem = word .. " is none of in=PATH,… and out=DIR. Write each once."
                end
            end
        end
    end
    file:close()
    if not request then
        return nil
    end
    request.dir = request.dir or request.inputs[1]
    if not request.dir then
        problem = problem or "it names no files. Write in=PATH,… or out=DIR."
        return nil, problem
    end
    request.dir = #request.dir > 1 and request.dir:gsub("/+$", "") or request.dir
    for _, path in ipairs({request.dir, (table.unpack or unpack)(request.inputs)}) do
        if not is_usable(path) then
            problem = problem or path .. " is no whole path, or has = or dots for folders. Write /a/b."
        elseif not is_below(path, request.dir) then
            problem = problem or path .. " is not below " .. request.dir
                .. ". Name a folder of both: out=DIR."
        end
    end
    return not problem and request or nil, problem
end

local function refused(problem)
    return slurm.ERROR, "cannot use #BB_LUA forebay (" .. problem:gsub("%.%s+", "). ", 1)
end

local function told(job_id, what, worked, said)
    if not worked then
        slurm.log_error("forebay: job %s: %s: %s", tostring(job_id), what, said)
        return slurm.ERROR, said
    end
    return slurm.SUCCESS, said
end

-- Moves what lies in all places of a job and removes those from which all has arrived. `dir` is a
-- shell's word. Waits while a tier on a node has not ended yet.
local function finish_script(folder, dir)
    return [[
status=0
for place in ]] .. quoted(folder) .. [[/*/; do
    place=${place%/}
    if [ ! -e "$place/identity" ]; then rmdir "$place" 2> /dev/null; continue; fi
    end=$(($(date +%s) + ]] .. wait_seconds .. [[))
    until said=$(]] .. quoted(forebay) .. " tier finish " .. dir .. [[ --fast "$place" 2>&1); do
        case $said in *'another process has it'*) ;; *) end=0 ;; esac
        if [ "$(date +%s)" -ge "$end" ]; then end=0; break; fi
        sleep 1
    done
    if [ "$end" -ne 0 ] && [ -z "$(ls -A "$place/rescue")" ]; then
        rm -rf "$place"
    else
        status=1
        printf '%s\n' "$said" "Fast storage keeps it: $place"
    fi
done
exit $status
]]
end

-- Quick, as slurmctld waits for it: only reads the script.
function slurm_bb_job_process(job_script, uid)
    local request, problem = request_of(job_script)
    if problem then
        return refused(problem)
    end
    if request and tonumber(uid) == 0 then
        return refused("root has no burst buffer. Submit it as a user.")
    end
    return slurm.SUCCESS
end

function slurm_bb_pools()
    return slurm.SUCCESS
end

function slurm_bb_setup(job_id, uid, gid, _, _, job_script)
    local request = request_of(job_script)
    if not request then
        return slurm.SUCCESS
    end
    local folder = folder_of(job_id, uid)
    local file, problem = io.open(user_file(job_script), "w")
    if not file then
        return told(job_id, "setup", false, problem)
    end
    file:write(number(uid), "\n", number(gid), "\n")
    file:close()
    local script = "mkdir -p " .. quoted(folder .. "/" .. first_place) .. " && printf %s "
        .. quoted(request.dir) .. " > " .. quoted(folder .. "/dir")
    return told(job_id, "setup", run_as(uid, gid, script))
end

-- A job whose input cannot be copied is held; Slurm shows the message as its reason.
function slurm_bb_data_in(job_id, job_script, uid, gid)
    local request = request_of(job_script)
    if not request or #request.inputs == 0 then
        return slurm.SUCCESS
    end
    uid, gid = user_of(job_script, uid, gid)
    local words = {}
    for _, path in ipairs(request.inputs) do
        table.insert(words, quoted(path))
    end
    local place = folder_of(job_id, uid) .. "/" .. first_place
    local script = "exec " .. quoted(forebay) .. " tier preload --dir " .. quoted(request.dir)
        .. " --fast " .. quoted(place) .. " -- " .. table.concat(words, " ")
    return told(job_id, "stage-in", run_as(uid, gid, script))
end

-- Slurm 24.11 or newer asks whether it goes on after slurm_bb_data_in has returned: never.
function slurm_bb_test_data_in()
    return slurm.SUCCESS, ""
end

function slurm_bb_real_size()
    return slurm.SUCCESS
end

-- Quick. The job's variables.
function slurm_bb_paths(job_id, job_script, path_file, uid, gid)
    local request = request_of(job_script)
    if not request then
        return slurm.SUCCESS
    end
    uid = user_of(job_script, uid, gid)
    local file, problem = io.open(path_file, "w")
    if not file then
        return slurm.ERROR, problem
    end
    local folder = folder_of(job_id, uid)
    file:write("FOREBAY_TIER=", request.dir, "=", folder, "/", first_place, "\n")
    file:write("FOREBAY_TIER_DIR=", request.dir, "\n")
    file:write("FOREBAY_TIER_PLACES=", folder, "\n")
    file:close()
    return slurm.SUCCESS
end

function slurm_bb_pre_run()
    return slurm.SUCCESS
end

function slurm_bb_post_run()
    return slurm.SUCCESS
end

-- If it fails, nothing is removed: Slurm shows the message, and the bytes stay in fast storage.
function slurm_bb_data_out(job_id, job_script, uid, gid)
    local request = request_of(job_script)
    if not request then
        return slurm.SUCCESS
    end
    uid, gid = user_of(job_script, uid, gid)
    local script = finish_script(folder_of(job_id, uid), quoted(request.dir))
    return told(job_id, "stage-out", run_as(uid, gid, script))
end

function slurm_bb_test_data_out()
    return slurm.SUCCESS, ""
end

-- A job that was cancelled before it began has no stage-out, and its script may be gone: setup has
-- noted the folder. `hurry` asks to throw bytes away that were not moved, which is not done.
function slurm_bb_job_teardown(job_id, job_script, _, uid, gid)
    if not uid and not io.open(user_file(job_script)) then
        return slurm.SUCCESS
    end
    uid, gid = user_of(job_script, uid, gid)
    local folder = folder_of(job_id, uid)
    local worked, said = run_as(uid, gid, "cd " .. quoted(folder) .. " 2> /dev/null || exit 0\n("
        .. finish_script(folder, '"$(cat dir)"') .. ") && rm -f dir && rmdir " .. quoted(folder))
    if not worked then
        -- No error: Slurm would only try again, and the bytes are safe where they are.
        slurm.log_error("forebay: job %s: %s", tostring(job_id), said)
    end
    os.remove(user_file(job_script))
    return slurm.SUCCESS
end

-- `scontrol show bbstat`: the jobs of the caller that have something in fast storage.
function slurm_bb_get_status(uid, gid)
    local _, said = run_as(uid, gid, "cd " .. quoted(fast_storage .. "/" .. number(uid))
        .. " 2> /dev/null && du -sh -- * 2> /dev/null")
    return slurm.SUCCESS, (said == "" and "nothing in fast storage" or said) .. "\n"
end
