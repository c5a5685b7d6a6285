// Whether bytes go to a file or come from it.
#pragma once

namespace forebay {

enum class IoDirection { read, write };

}  // namespace forebay
