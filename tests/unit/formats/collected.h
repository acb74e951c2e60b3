// What an export writes, kept in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyzer/export/losses.h"
#include "analyzer/export/slices.h"
#include "analyzer/views/visit.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {

class TextSink final : public exports::Sink {
  public:
    Result<void> write(std::string_view bytes) override {
        text.append(bytes);
        return {};
    }
    std::string text;
};

/// What a SliceWriter hears.
class CollectedSlices final : public exports::SliceWriter {
  public:
    struct Thread {
        std::uint32_t number = 0;
        std::vector<exports::Slice> slices;  ///< without words and results
        std::vector<exports::MergedCalls> merged;
        std::vector<exports::CounterPoint> lost;
        std::size_t off = 0;
    };

    void begin(exports::Buffer& /*out*/) override { ++begins; }
    std::unique_ptr<exports::ThreadSlices> thread(std::uint32_t thread, exports::Buffer& /*out*/) override {
        const std::lock_guard guard{mutex_};
        Thread& own = by_number_[thread];
        own.number = thread;
        return std::make_unique<OfThread>(own, in_order);
    }
    void inside(std::span<const exports::CounterPoint> points, exports::Buffer& /*out*/) override {
        all_inside.assign(points.begin(), points.end());
    }
    bool draws_processors() const override { return with_processors; }
    void processor(std::span<const exports::OnProcessor> calls, exports::Buffer& /*out*/) override {
        processors.emplace_back(calls.begin(), calls.end());
    }
    void end(exports::Buffer& /*out*/) override {
        ++ends;
        for (const auto& [number, own] : by_number_)
            threads.push_back(own);
    }

    std::uint64_t slices() const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads)
            sum += thread.slices.size();
        return sum;
    }
    std::uint64_t merged_calls() const {
        std::uint64_t sum = 0;
        for (const Thread& thread : threads)
            for (const exports::MergedCalls& each : thread.merged)
                sum += each.calls;
        return sum;
    }

    std::vector<Thread> threads;  ///< after the end
    std::vector<std::vector<exports::OnProcessor>> processors;
    std::vector<exports::CounterPoint> all_inside;
    int begins = 0, ends = 0;
    bool with_processors = true;
    std::atomic<bool> in_order = true;  ///< of each thread, slices come before what is merged

  private:
    class OfThread final : public exports::ThreadSlices {
      public:
        OfThread(Thread& own, std::atomic<bool>& in_order) : own_(own), in_order_(in_order) {}

        void slice(const exports::Slice& slice) override {
            if (!own_.merged.empty()) in_order_ = false;
            own_.slices.push_back(slice);
            own_.slices.back().words = {};
            own_.slices.back().result = nullptr;
        }
        void off_cpu(std::int64_t /*begin*/, std::int64_t /*end*/, bool /*preempted*/) override {
            ++own_.off;
        }
        void merged(const exports::MergedCalls& calls) override { own_.merged.push_back(calls); }
        void lost(std::span<const exports::CounterPoint> points) override {
            own_.lost.assign(points.begin(), points.end());
        }

      private:
        Thread& own_;
        std::atomic<bool>& in_order_;
    };

    std::mutex mutex_;
    std::map<std::uint32_t, Thread> by_number_;
};

/// `reader` must outlive it.
inline views::Visit visit_of(const trace::TraceReader& reader, const score::Settings& settings = {}) {
    auto visit = views::Visit::prepare(reader, settings, {});
    if (!visit) FAIL(visit.error().message);
    return std::move(*visit);
}

/// As the command does: what was lost is known early.
inline views::Visit early_visit_of(const trace::TraceReader& reader, exports::EarlyLosses& early) {
    auto visit = views::Visit::prepare(reader, {}, {}, {.early = &early});
    if (!visit) FAIL(visit.error().message);
    return std::move(*visit);
}

struct Sliced {
    CollectedSlices collected;
    exports::Written written;

    Sliced(const views::Visit& visit, const exports::Options& options) {
        TextSink nowhere;
        const auto done = exports::write_slices(visit, options, collected, nowhere);
        if (!done) FAIL(done.error().message);
        written = *done;
    }
};
inline Sliced slices_of(const views::Visit& visit, const exports::Options& options) {
    return {visit, options};
}

}  // namespace rdam::test
