// Several threads write parts of an output at the same time; the sink gets the parts in their order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "analyzer/export/format.h"

namespace rdam::formats {

/// Holds what comes before its turn, up to `most` bytes in all; who would exceed them waits until it is its
/// turn. Parts are begun in rising order, from 0 on, each by one thread. Thread-safe.
class InOrder {
  public:
    InOrder(Sink& sink, std::size_t most) : sink_(sink), most_(most) {}

    /// One part, which ends with it. Not thread-safe.
    class Part final : public Sink {
      public:
        Part(InOrder& all, std::size_t number) : all_(all), number_(number) {}
        ~Part() override { all_.end(number_); }
        Part(const Part&) = delete;
        Part& operator=(const Part&) = delete;
        Part(Part&&) = delete;
        Part& operator=(Part&&) = delete;

        /// Error: that of the sink, for any of the parts.
        Result<void> write(std::string_view bytes) override { return all_.write(number_, bytes); }

      private:
        InOrder& all_;
        std::size_t number_;
    };

  private:
    struct Held {
        std::string bytes;
        bool over = false;
    };

    Result<void> write(std::size_t part, std::string_view bytes);
    void end(std::size_t part);
    void pass_on(std::string_view bytes);

    Sink& sink_;
    const std::size_t most_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::size_t turn_ = 0;              // the part that writes to the sink
    std::size_t bytes_ = 0;             // in held_
    std::map<std::size_t, Held> held_;  // of later parts
    std::optional<Error> error_;
};

}  // namespace rdam::formats
