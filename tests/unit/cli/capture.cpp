#include "tests/unit/cli/capture.h"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace rdam::test {

namespace {

/// Sends a stream to a file of its own for as long as it lives.
class Redirection {
  public:
    explicit Redirection(std::FILE* stream) : stream_{stream}, file_{std::tmpfile()} {
        std::fflush(stream_);
        saved_ = dup(fileno(stream_));
        dup2(fileno(file_), fileno(stream_));
    }
    ~Redirection() {
        restore();
        std::fclose(file_);
    }
    Redirection(const Redirection&) = delete;
    Redirection& operator=(const Redirection&) = delete;

    std::string text() {
        restore();
        std::rewind(file_);
        std::string result;
        std::array<char, 4096> buffer{};
        for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), file_)) > 0;) {
            result.append(buffer.data(), n);
        }
        return result;
    }

  private:
    void restore() {
        if (saved_ < 0) return;
        std::fflush(stream_);
        dup2(saved_, fileno(stream_));
        close(saved_);
        saved_ = -1;
    }

    std::FILE* stream_;
    std::FILE* file_;
    int saved_ = -1;
};

}  // namespace

Captured capture(const std::function<int()>& code) {
    Captured result;
    Redirection out{stdout};
    Redirection err{stderr};
    result.code = code();
    result.out = out.text();
    result.err = err.text();
    return result;
}

}  // namespace rdam::test
