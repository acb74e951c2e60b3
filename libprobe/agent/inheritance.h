// What a fork child has by its parent's memory: the environment of its agent, and what the agents before it
// have learned. The program may have put anything in the place of its own environment by then, and the files
// that the parent's plan was made of may be gone.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// Keeps a copy of those variables that the agent reads, with `output` ("RDAM_OUTPUT=…") in place of the one
/// in `environment` if it is not null. False: there is no memory.
bool keep_environment(const char* const* environment, const char* output);

/// What the agent has said that the agents of fork children are to know; `anew`: instead of what it has said
/// before. If there is no room, fork children know what was said before.
void keep_knowledge(const char* bytes, std::uint32_t size, bool anew);

}  // namespace rdam::probe
