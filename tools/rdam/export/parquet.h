// Columns to a Parquet file: pyarrow writes it, called by the Python module that is installed with rdam.
#pragma once

#include <string>

#include "tools/base/result.h"

namespace rdam {

/// Whether pyarrow is installed; an error says for which Python it must be. `file`: the file that needs it.
Result<void> check_parquet(const std::string& file);

/// The folder of an export (analyzer/columns) as `file`, which is replaced once the new one is whole.
Result<void> write_parquet(const std::string& columns, const std::string& file);

}  // namespace rdam
