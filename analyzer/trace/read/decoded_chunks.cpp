#include "analyzer/trace/read/decoded_chunks.h"

#include <system_error>
#include <utility>

namespace rdam::trace {

DecodedChunks::DecodedChunks(std::size_t count, bool ahead, Decode decode)
    : count_{count}, decode_{std::move(decode)} {
    if (!ahead || count < 2) return;
    try {
        worker_ = std::thread{[this] { run(); }};
    } catch (const std::system_error&) {
        // Then no thread decodes ahead.
    }
}

DecodedChunks::~DecodedChunks() {
    if (!worker_.joinable()) return;
    {
        const std::lock_guard guard{mutex_};
        stopped_ = true;
    }
    room_.notify_one();
    worker_.join();
}

void DecodedChunks::decode(std::size_t chunk, Chunk& place) {
    place.good = decode_(chunk, loader_, place.decoder);
}

/// Nobody looks at it any more.
void DecodedChunks::release(std::size_t chunk) {
    ChunkDecoder& decoder = chunks_[chunk % kAhead].decoder;
    if (decoder.bytes() > kLarge) spares_.push_back(std::exchange(decoder, {}));
}

void DecodedChunks::take_spare(std::size_t chunk) {
    if (spares_.empty()) return;
    chunks_[chunk % kAhead].decoder = std::move(spares_.back());
    spares_.pop_back();
}

void DecodedChunks::run() {
    for (std::size_t chunk = 0; chunk < count_; ++chunk) {
        {
            std::unique_lock lock{mutex_};
            full_ = chunk >= released_ + (large_ ? 2 : kAhead);
            room_.wait(lock, [&] { return stopped_ || !full_; });
            if (stopped_) return;
            take_spare(chunk);
        }
        decode(chunk, chunks_[chunk % kAhead]);
        large_ = chunks_[chunk % kAhead].decoder.bytes() > kLarge;
        bool awaited = false;
        {
            const std::lock_guard guard{mutex_};
            awaited = asked_for_ == decoded_;
            decoded_ = chunk + 1;
        }
        if (awaited) ready_.notify_one();
    }
}

DecodedChunks::Chunk& DecodedChunks::next() {
    const std::size_t chunk = asked_++;
    if (!worker_.joinable()) {
        decode(chunk, chunks_.front());
        return chunks_.front();
    }
    std::unique_lock lock{mutex_};
    if (chunk > 0) release(chunk - 1);
    released_ = chunk;
    asked_for_ = chunk;
    if (full_ && (decoded_ <= released_ + kAhead / 2)) {
        full_ = false;
        room_.notify_one();
    }
    ready_.wait(lock, [&] { return decoded_ > chunk; });
    return chunks_[chunk % kAhead];
}

}  // namespace rdam::trace
