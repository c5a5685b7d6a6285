// The question by which the daemon gets to know a file that this process has opened.
#pragma once

#include "pool/capture/files/files.hpp"
#include "pool/protocol/directory.hpp"

#include <string_view>

namespace forebay::capture {

enum class IntroductionResult {
    yes,
    no,         // the daemon does not take the file
    refused,    // another node has deposits of the file that cannot be had (EREMOTEIO)
    undrained,  // the file's deposits could not be drained
};

// Makes the file known to the daemon over the present connection, and passes its descriptor.
// Unless there is a reason why it goes `through`, it may be pooled.
[[nodiscard]] IntroductionResult introduce(CapturedFile place, std::string_view path,
                                           pool::ThroughReason through) noexcept;

}  // namespace forebay::capture
