// The bytes of a file, unpacked if it is compressed by gzip or zstd (recognized by content).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tools/base/result.h"

namespace rdam::inputs {

/// Memory is bounded, whatever the file. Not thread-safe.
class ByteSource {
  public:
    /// Errors: no such file, not a regular file, not readable.
    static Result<ByteSource> open(const std::string& path);
    ~ByteSource();
    ByteSource(ByteSource&&) noexcept;
    ByteSource& operator=(ByteSource&&) noexcept;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    /// Fills `into`; less only at the end. Errors: the disk's, compressed data damaged or cut.
    Result<std::size_t> read(std::span<char> into);

    bool unpacks() const;            ///< the file is compressed; known after read()
    std::uint64_t consumed() const;  ///< bytes of the file itself, so far
    std::uint64_t size() const;      ///< of the file itself

  private:
    ByteSource();
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace rdam::inputs
