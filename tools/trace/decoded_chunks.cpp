#include "tools/trace/decoded_chunks.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace rdam::trace {

DecodedChunks::DecodedChunks(Source source, ExpansionLock& turn, bool ahead)
    : source_{std::move(source)}, turn_{turn} {
    if (!ahead || source_.count < 2) return;
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
    place.good = source_.decode(chunk, loader_, place.decoder);
}

/// False: nobody wants the chunk any more.
bool DecodedChunks::wait_for_turn(std::size_t chunk) {
    if (turn_.has() || !source_.expands_far(chunk)) return true;
    return turn_.take([this] {
        const std::lock_guard guard{mutex_};
        return stopped_;
    });
}

/// Decoded, or looked at by the caller.
std::size_t DecodedChunks::most_held() const {
    if (turn_.has()) return 1;
    return last_bytes_ == 0 ? kAhead : std::clamp<std::size_t>(kLarge / last_bytes_, 2, kAhead);
}

/// Nobody looks at it any more.
void DecodedChunks::release(std::size_t chunk) {
    ChunkDecoder& decoder = chunks_[chunk % kAhead].decoder;
    if (decoder.bytes() >= kLarge) spares_.push_back(std::exchange(decoder, {}));
}

void DecodedChunks::take_spare(std::size_t chunk) {
    if (spares_.empty()) return;
    chunks_[chunk % kAhead].decoder = std::move(spares_.back());
    spares_.pop_back();
}

void DecodedChunks::run() {
    for (std::size_t chunk = 0; chunk < source_.count; ++chunk) {
        if (!wait_for_turn(chunk)) return;
        {
            std::unique_lock lock{mutex_};
            full_ = chunk >= released_ + most_held();
            room_.wait(lock, [&] { return stopped_ || !full_; });
            if (stopped_) return;
            take_spare(chunk);
        }
        decode(chunk, chunks_[chunk % kAhead]);
        last_bytes_ = chunks_[chunk % kAhead].decoder.bytes();
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
        wait_for_turn(chunk);
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
