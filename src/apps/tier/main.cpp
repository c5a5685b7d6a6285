// forebay-tier policy show DIR | policy set DIR WORD…
// forebay-tier status FAST GLOBAL | check FAST GLOBAL | finish FAST GLOBAL
// forebay-tier stat|preload|sync|evict FAST GLOBAL FILE…
//
// Looks after a fast place by hand, while no daemon has it. FAST is its folder, GLOBAL that of the
// parallel file system. Exit status: 0 done, 1 not done, 2 wrong arguments.
#include "foundation/base/counted.hpp"
#include "foundation/base/printable.hpp"
#include "foundation/base/report.hpp"
#include "tier/catalogue/replica_state.hpp"
#include "tier/tool/tier_session.hpp"

#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>

namespace {

using forebay::counted;
using forebay::Error;
using forebay::printable;
using forebay::Result;
using forebay::tier::TierSession;
using Words = std::span<char* const>;

constexpr int done = 0;
constexpr int not_done = 1;
constexpr int wrong_arguments = 2;

int fail(const Error& error) {
    forebay::report("forebay-tier", error.message);
    return not_done;
}

int refuse() {
    std::fputs(
        "forebay-tier: cannot use these arguments (it takes `policy show DIR`, `policy set DIR "
        "WORD…`, `status`, `check` or `finish` with FAST GLOBAL, or `stat`, `preload`, `sync` "
        "or `evict` with FAST GLOBAL FILE…). Write one of these.\n",
        stderr);
    return wrong_arguments;
}

int run_policy(Words words) {
    const std::string_view what = words[2];
    if (what == "show" && words.size() == 4) {
        const auto policy = forebay::tier::read_policy(words[3]);
        if (!policy) {
            return fail(policy.error());
        }
        std::puts(*policy ? forebay::tier::text_of(**policy).c_str() : "none of its own");
        return done;
    }
    if (what == "set" && words.size() > 4) {
        std::string text;
        for (const char* const word : words.subspan(4)) {
            text += fmt::format("{} ", word);
        }
        const auto policy = forebay::tier::write_policy(words[3], text);
        if (!policy) {
            return fail(policy.error());
        }
        std::puts(forebay::tier::text_of(*policy).c_str());
        return done;
    }
    return refuse();
}

Result<void> print_place(TierSession& session, const std::string& path) {
    const auto place = session.stat(path);
    if (!place) {
        return forebay::failure(place.error());
    }
    using forebay::tier::name_of;
    const std::string replica =
        place->replica ? fmt::format("{}, generation {}, {} bytes", name_of(place->replica->state),
                                     place->replica->generation, place->replica_bytes)
                       : "none";
    const std::string marker =
        place->marker
            ? fmt::format("{}, generation {}, of {}", name_of(place->marker->state),
                          place->marker->generation,
                          place->marker->owner == place->owner ? "this place" : "another place")
            : "none";
    std::puts(fmt::format("{}: replica {}; marker {}", printable(path), replica, marker).c_str());
    return {};
}

int print_status(TierSession& session) {
    const auto sums = session.sums("/");
    if (!sums) {
        return fail(sums.error());
    }
    std::puts(fmt::format("{} of {}; to be moved: {} of {}", counted(sums->replicas, "replica"),
                          counted(sums->bytes, "byte"), counted(sums->waiting, "replica"),
                          counted(sums->waiting_bytes, "byte"))
                  .c_str());
    return done;
}

int check(TierSession& session) {
    const auto found = session.rebuild();
    if (!found) {
        return fail(found.error());
    }
    int status = done;
    for (const auto& one : *found) {
        if (!one.kept_in.empty()) {
            std::puts(
                fmt::format("{}: its bytes are in {}", printable(one.path), printable(one.kept_in))
                    .c_str());
        }
        if (one.obstacle) {
            status = fail(*one.obstacle);
        }
    }
    const int printed = print_status(session);
    return status == done ? printed : status;
}

// Moves whatever waits, also what was left by a process that was killed.
int finish(TierSession& session) {
    int status = check(session);
    const auto paths = session.waiting();
    if (!paths) {
        return fail(paths.error());
    }
    for (const std::string& path : *paths) {
        if (const auto moved = session.sync(path); !moved) {
            status = fail(moved.error());
        }
    }
    return status;
}

int run_files(TierSession& session, std::string_view what, Words files) {
    int status = done;
    for (const char* const file : files) {
        const Result<void> one = what == "stat"      ? print_place(session, file)
                                 : what == "preload" ? session.fill(file)
                                 : what == "sync"    ? session.sync(file)
                                                     : session.evict(file);
        status = one ? status : fail(one.error());
    }
    return status;
}

int run(Words words) {
    const std::string_view what = words.size() > 1 ? words[1] : "";
    if (what == "policy" && words.size() > 3) {
        return run_policy(words);
    }
    const bool whole = what == "status" || what == "check" || what == "finish";
    const bool files = what == "stat" || what == "preload" || what == "sync" || what == "evict";
    if (!(whole && words.size() == 4) && !(files && words.size() > 4)) {
        return refuse();
    }
    const auto session = TierSession::open(words[2], words[3]);
    if (!session) {
        return fail(session.error());
    }
    if (whole) {
        return what == "status"  ? print_status(**session)
               : what == "check" ? check(**session)
                                 : finish(**session);
    }
    return run_files(**session, what, words.subspan(4));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "forebay-tier: cannot go on (%s). Tell us how to see it again.\n",
                     problem.what());
        return not_done;
    }
}
