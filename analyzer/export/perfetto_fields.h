// The fields of Perfetto's protobuf messages that we write, by their numbers: protos/perfetto/trace/*.proto
// of perfetto v47. tests/e2e/viewers_test.py reads what is written with Perfetto's own classes.
#pragma once

#include <cstdint>

namespace rdam::formats::perfetto {

using Tag = std::uint32_t;

namespace trace_file {
inline constexpr Tag kPacket = 1;
}
namespace packet {
inline constexpr Tag kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                     kSequenceFlags = 13, kTrackDescriptor = 60;
inline constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace track {
inline constexpr Tag kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace process {
inline constexpr Tag kPid = 1, kCommandLine = 2, kName = 6;
}
namespace thread {
inline constexpr Tag kPid = 1, kTid = 2, kName = 5;
}
namespace counter {
inline constexpr Tag kUnit = 3;
inline constexpr std::uint64_t kNanoseconds = 1, kCount = 2;
}  // namespace counter
namespace event {
inline constexpr Tag kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kNameText = 23,
                     kDoubleCounterValue = 44, kFlow = 47;
inline constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounterType = 4;
}  // namespace event
namespace annotation {
inline constexpr Tag kName = 1, kSigned = 4, kText = 6;
}
namespace interned {
inline constexpr Tag kCategories = 1, kNames = 2, kAnnotations = 3;
inline constexpr Tag kId = 1, kText = 2;
}  // namespace interned

}  // namespace rdam::formats::perfetto
