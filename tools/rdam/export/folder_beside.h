// A directory that is there as a whole or not at all: made beside its place, then renamed.
#pragma once

#include <memory>
#include <string>

#include "wrappers/support/result.h"

namespace rdam {

/// A folder beside `place`, where there must be room anyway. Gone at the end, with what is still in it.
class FolderBeside {
  public:
    static Result<std::unique_ptr<FolderBeside>> create(const std::string& place);
    ~FolderBeside();
    FolderBeside(const FolderBeside&) = delete;
    FolderBeside& operator=(const FolderBeside&) = delete;
    FolderBeside(FolderBeside&&) = delete;
    FolderBeside& operator=(FolderBeside&&) = delete;

    const std::string& path() const { return path_; }

  private:
    explicit FolderBeside(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

/// Where a link leads, so that it stays one.
std::string place_behind_links(const std::string& path);

/// `fresh`, a directory in `beside`, becomes `place`, where there is nothing or a directory, which `beside`
/// then takes with it. After an error `place` is unchanged.
Result<void> put_in_place(const std::string& fresh, const std::string& place, const FolderBeside& beside);

}  // namespace rdam
