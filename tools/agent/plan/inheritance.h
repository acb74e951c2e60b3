// What the agent of a fork child has to know of its parent's plan. The child runs its parent's patched code,
// so nothing is planned anew: the list may have another content by then, and the files may have been
// replaced. The process keeps these bytes in its memory, which its children have by fork
// (shm::PlanReply::inherited).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/trace/event.h"
#include "wrappers/find/function_list.h"

namespace rdam::agent {

/// A wrapped function by the number that its entry in the process has.
struct KnownFunction {
    std::uint32_t number = 0;
    trace::FunctionInfo info;  ///< its object is an index into Knowledge::objects
};

/// An entry of the list that waits for a library.
struct AwaitedEntry {
    std::string entry;
    std::string module;
};

/// What a plan, or a plan for libraries that have come or gone, adds to what was known before. All of it is
/// as planned: nothing of what has been recorded since.
struct Knowledge {
    std::vector<ListEntry> list;      ///< only in the first
    std::vector<std::uint64_t> gone;  ///< bases of known objects that are no longer loaded
    std::vector<trace::ObjectInfo> objects;
    std::vector<KnownFunction> functions;
    std::vector<trace::AnswerInfo> answers;
    std::vector<AwaitedEntry> awaited;  ///< all that wait now
    std::vector<std::string> remarks;
};

std::vector<std::uint8_t> encode(Knowledge knowledge);

/// Decodes encodings that follow one another. Nothing: some of it is missing or wrong.
std::optional<std::vector<Knowledge>> decode_knowledge(std::span<const std::uint8_t> bytes);

}  // namespace rdam::agent
