// What only rdam's own export has (analyzer/formats/timeline/json.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/chrome/rows.h"
#include "analyzer/inputs/chrome/events/event.h"

namespace rdam::inputs::chrome {

struct OwnThread {
    rdam::chrome::Row row = rdam::chrome::Row::calls;
    std::string tid;  ///< of the thread
};
OwnThread own_thread(const std::string& tid);

/// The type and the bits of a value, or its text.
struct OwnValue {
    ValueType type = ValueType::integer;
    std::uint64_t bits = 0;
    std::string text = {};  ///< of ValueType::text
};
/// A value as `rdam export` prints it. Nothing: it is none.
std::optional<OwnValue> own_value(std::string_view text);
/// The same for each of `count=3, buffer=0x7f01, name="a \"b\""`.
void each_own_value(std::string_view text,
                    const std::function<void(std::string_view name, const OwnValue&)>& take);

/// The name that the result of a call has among its values, which no parameter has.
inline constexpr std::string_view kResult = "\n";

}  // namespace rdam::inputs::chrome
