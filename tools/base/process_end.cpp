#include "tools/base/process_end.h"

#include <poll.h>

#include <cerrno>
#include <thread>

namespace rdam {

std::optional<bool> ends_within(int process, std::chrono::milliseconds time) {
    if (process >= 0) {
        pollfd wait{process, POLLIN, 0};
        const int ready = poll(&wait, 1, static_cast<int>(time.count()));
        if (ready >= 0 || errno == EINTR) return ready > 0;
    }
    std::this_thread::sleep_for(time);
    return {};
}

}  // namespace rdam
