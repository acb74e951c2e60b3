// Which calls are the same sequence: options that every subcommand has that compares calls.
#pragma once

#include <CLI/App.hpp>

#include "analyzer/settings/settings.h"

namespace rdam {

/// `settings` must outlive `app`.
void add_sequence_options(CLI::App& app, score::Settings& settings);

}  // namespace rdam
