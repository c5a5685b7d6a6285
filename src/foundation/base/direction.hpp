// The direction of a transfer between memory and a file.
#pragma once

namespace forebay {

enum class IoDirection { read, write };

}  // namespace forebay
