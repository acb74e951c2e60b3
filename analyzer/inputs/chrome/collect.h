// Takes the events of a file and keeps what is a call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/collected.h"
#include "analyzer/inputs/chrome/json_events.h"

namespace rdam::inputs::chrome {

class Collector final : public EventSink {
  public:
    /// `builder`: gives texts their numbers.
    explicit Collector(TraceBuilder& builder) : builder_(builder) {}

    void event(const Event& event) override;
    void fact(const Argument& fact) override;

    Collected take() && { return std::move(collected_); }

  private:
    void name_something(const Event& event);
    void span(const Event& event, std::int64_t begin);
    void mark(const Event& event, std::int64_t at);
    bool is_beside_threads(const Event& event);
    std::optional<std::int64_t> time_of(const Event& event);
    std::uint32_t function_of(const Event& event);
    Thread& thread_of(std::string_view pid, std::string_view tid);
    std::uint32_t values_of(const Event& event);
    void keep(const Argument& argument);

    TraceBuilder& builder_;
    Collected collected_;
    bool has_origin_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> functions_;  // by name and category
    std::unordered_map<std::string, std::uint32_t> threads_;      // by pid and tid
    std::string thread_key_;
};

}  // namespace rdam::inputs::chrome
