// What an export writes, kept in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/formats/timeline/slices.h"
#include "analyzer/views/visit.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {

class TextSink final : public formats::Sink {
  public:
    Result<void> write(std::string_view bytes) override {
        text.append(bytes);
        return {};
    }
    std::string text;
};

/// What a SliceWriter hears.
class CollectedSlices final : public formats::SliceWriter {
  public:
    struct Thread {
        std::uint32_t number = 0;
        std::vector<formats::Slice> slices;  ///< without words and results
        std::vector<formats::MergedCalls> merged;
        std::vector<formats::CounterPoint> lost;
        std::size_t off = 0;
    };

    void begin() override { ++begins; }
    void thread(std::uint32_t thread) override {
        threads.emplace_back();
        threads.back().number = thread;
    }
    void slice(const formats::Slice& slice) override {
        in_order = in_order && threads.back().merged.empty();
        threads.back().slices.push_back(slice);
        threads.back().slices.back().words = {};
        threads.back().slices.back().result = nullptr;
    }
    void off_cpu(std::int64_t /*begin*/, std::int64_t /*end*/, bool /*preempted*/) override {
        ++threads.back().off;
    }
    void merged(const formats::MergedCalls& calls) override { threads.back().merged.push_back(calls); }
    void lost(std::span<const formats::CounterPoint> points) override {
        threads.back().lost.assign(points.begin(), points.end());
    }
    void inside(std::span<const formats::CounterPoint> points) override {
        all_inside.assign(points.begin(), points.end());
    }
    void end() override { ++ends; }
    bool good() const override { return true; }

    std::uint64_t slices() const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads)
            sum += thread.slices.size();
        return sum;
    }
    std::uint64_t merged_calls() const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads)
            for (const formats::MergedCalls& each : thread.merged)
                sum += each.calls;
        return sum;
    }

    std::vector<Thread> threads;
    std::vector<formats::CounterPoint> all_inside;
    int begins = 0, ends = 0;
    bool in_order = true;  ///< of each thread, slices come before what is merged
};

/// `reader` must outlive it.
inline views::Visit visit_of(const trace::TraceReader& reader, const score::Settings& settings = {}) {
    auto visit = views::Visit::prepare(reader, settings, {});
    if (!visit) FAIL(visit.error().message);
    return std::move(*visit);
}

struct Sliced {
    CollectedSlices collected;
    formats::Written written;
};
inline Sliced slices_of(const views::Visit& visit, const formats::Options& options) {
    Sliced out;
    const auto written = formats::write_slices(visit, options, out.collected);
    if (!written) FAIL(written.error().message);
    out.written = *written;
    return out;
}

}  // namespace rdam::test
