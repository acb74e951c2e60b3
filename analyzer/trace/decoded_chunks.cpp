#include "analyzer/trace/decoded_chunks.h"

#include <system_error>
#include <utility>

namespace rdam::trace {

DecodedChunks::DecodedChunks(std::size_t count, bool ahead, Decode decode)
    : count_{count}, decode_{std::move(decode)} {
    if (!ahead || count < 2) return;
    try {
        worker_ = std::thread{[this] { run(); }};
    } catch (const std::system_error&) {
        // Then there is nobody ahead.
    }
}

DecodedChunks::~DecodedChunks() {
    if (!worker_.joinable()) return;
    {
        const std::lock_guard guard{mutex_};
        stopped_ = true;
    }
    changed_.notify_all();
    worker_.join();
}

void DecodedChunks::decode(std::size_t chunk) {
    Chunk& place = chunks_[chunk % kAhead];
    place.good = decode_(chunk, place.loader, place.decoder);
}

void DecodedChunks::run() {
    for (std::size_t chunk = 0; chunk < count_; ++chunk) {
        {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [&] { return stopped_ || chunk < released_ + kAhead; });
            if (stopped_) return;
        }
        decode(chunk);
        {
            const std::lock_guard guard{mutex_};
            decoded_ = chunk + 1;
        }
        changed_.notify_all();
    }
}

const DecodedChunks::Chunk& DecodedChunks::next() {
    const std::size_t chunk = asked_++;
    if (!worker_.joinable()) {
        decode(chunk);
        return chunks_[chunk % kAhead];
    }
    std::unique_lock lock{mutex_};
    released_ = chunk;
    changed_.notify_all();
    changed_.wait(lock, [&] { return decoded_ > chunk; });
    return chunks_[chunk % kAhead];
}

}  // namespace rdam::trace
