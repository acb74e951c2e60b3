// For what other things point to, and for what holds something that exists once.
#pragma once

namespace rdam {

/// A class with this base can be neither copied nor moved.
class Unmovable {
  public:
    Unmovable(const Unmovable&) = delete;
    Unmovable& operator=(const Unmovable&) = delete;

  protected:
    Unmovable() = default;
    ~Unmovable() = default;
};

}  // namespace rdam
