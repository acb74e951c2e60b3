// Which functions of different reports are the same one.
#pragma once

#include <set>
#include <string>
#include <tuple>

#include "analyzer/report/report.h"

namespace rdam::score {

struct FunctionIdentity {
    std::string module;
    std::string name;
    std::string
        file;  ///< of the source; empty unless several functions of some report can only be told apart by it

    auto operator<=>(const FunctionIdentity&) const =
        default;  // NOLINT(modernize-use-nullptr): there is none
};

/// Static functions of one module may share a name; lines change from build to build, files seldom.
class FunctionIdentities {
  public:
    /// Must be called with all reports first.
    void look_at(const Report& report);

    /// `module` instead of the row's own.
    FunctionIdentity of(const FunctionRow& row, const std::string& module) const;
    FunctionIdentity of(const FunctionRow& row) const { return of(row, row.module); }

  private:
    std::set<std::string> ambiguous_;  ///< names
};

}  // namespace rdam::score
