// What the page shows without its script: header, notes, ranking and hints, as plain HTML.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

/// Text as HTML, in an element or a quoted attribute.
std::string html_text(std::string_view text);

std::string static_html(const PageInput& input, const PageLimits& limits);

}  // namespace rdam::output
