// Libraries that copy a thread's stack away while calls are open on it, and others back into its place: which
// end belongs to which call cannot be told then.
#pragma once

#include <string>
#include <string_view>

namespace rdam::agent {

/// Its name, if the object at `path` is one; else empty.
std::string_view stacks_copied_by_object(const std::string& path);

/// Its name, if the function is one of such a library, wherever that has been linked to; else empty.
std::string_view stacks_copied_by_function(std::string_view name);

}  // namespace rdam::agent
