// Messages that one process of a run has printed are not repeated by the next.
#pragma once

#include <string>
#include <string_view>

namespace rdam::agent {

/// The lines of `text` that no process of `run` has printed before (of an entry of the list that is not found:
/// with other names near it), which are noted in a file in `folder`, that of the plans. The file keeps its
/// size, so what was printed long ago may come again. Where it cannot be written everything is new.
std::string new_in_run(const std::string& text, std::string_view run, const std::string& folder);

}  // namespace rdam::agent
