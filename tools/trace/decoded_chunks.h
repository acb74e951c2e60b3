// The chunks of one thread of a trace, decoded one after the other, by a thread of their own if that pays.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/base/result.h"
#include "tools/base/unmovable.h"
#include "tools/trace/chunk_list.h"
#include "tools/trace/decoder.h"
#include "tools/trace/expansion_lock.h"

namespace rdam::trace {

/// To be used by one thread.
class DecodedChunks : private Unmovable {
  public:
    struct Chunk {
        ChunkDecoder decoder;
        Result<bool> good = false;  ///< false: the chunk is bad
    };
    struct Source {
        std::size_t count = 0;
        std::function<Result<bool>(std::size_t chunk, ChunkLoader&, ChunkDecoder&)> decode;
        /// Whether the chunk takes so much more memory than it has bytes in the file that it waits for an
        /// ExpansionLock.
        std::function<bool(std::size_t chunk)> expands_far;
    };

    /// Both functions of `source` are called with 0 … count − 1, by one thread. `ahead`: by another one, some
    /// chunks ahead; where none can be started, by the caller's. `turn` must outlive this object.
    DecodedChunks(Source source, ExpansionLock& turn, bool ahead);
    ~DecodedChunks();

    /// To be called `count` times. What it returned before is no longer valid.
    Chunk& next();

  private:
    static constexpr std::size_t kAhead = 12;
    /// Decoded chunks take about so much at a time, unless two of them take more; one by who has the turn.
    /// The memory of chunks that take as much alone is used again: to give it back and take it anew costs
    /// more than to decode.
    static constexpr std::size_t kLarge = std::size_t{8} << 20;

    void run();
    bool wait_for_turn(std::size_t chunk);
    std::size_t most_held() const;
    void decode(std::size_t chunk, Chunk& place);
    void release(std::size_t chunk);
    void take_spare(std::size_t chunk);

    Source source_;
    ExpansionLock& turn_;
    ChunkLoader loader_;                // used by the thread that decodes
    std::array<Chunk, kAhead> chunks_;  // chunk i in place i modulo their number; all in the first: no worker
    std::size_t asked_ = 0;             // the caller's
    std::mutex mutex_;
    std::condition_variable
        room_;  // for kAhead / 2 chunks: a thread woken for each one would sleep half of the time
    std::condition_variable ready_;
    std::size_t decoded_ = 0;           // guarded: those before it are done
    std::size_t asked_for_ = 0;         // guarded: the one that the caller wants now
    std::size_t released_ = 0;          // guarded: those before it are no longer looked at
    bool stopped_ = false;              // guarded
    bool full_ = false;                 // guarded: the worker sleeps
    std::vector<ChunkDecoder> spares_;  // guarded: large ones that are not in use
    std::size_t last_bytes_ = 0;        // the worker's: of the chunk that it has decoded last
    std::thread worker_;
};

}  // namespace rdam::trace
