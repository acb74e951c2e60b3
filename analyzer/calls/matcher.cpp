#include "analyzer/calls/matcher.h"

#include "analyzer/calls/matcher_impl.h"

namespace rdam::calls {

template class BasicMatcher<CallSink>;

}  // namespace rdam::calls
