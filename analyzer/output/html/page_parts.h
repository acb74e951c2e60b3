// The page around its title, static part and data: style sheets, scripts and the chart library, put together
// when rdam is built (page/embed.py). All empty: it was built without the chart library.
#pragma once

#include <string_view>

namespace rdam::output::page_parts {

extern const std::string_view kHead;          ///< up to the title element
extern const std::string_view kBeforeStatic;  ///< from there up to the part that is shown without scripts
extern const std::string_view kBeforeData;    ///< from there up to the JSON
extern const std::string_view kTail;          ///< the rest

}  // namespace rdam::output::page_parts
