#include "analyzer/inputs/otf2/errors.h"

#include <cstdarg>
#include <cstdint>

namespace rdam::otf2 {
namespace {

thread_local OTF2_ErrorCode first_error = OTF2_SUCCESS;

OTF2_ErrorCode heard(void* /*user*/, const char* /*file*/, std::uint64_t /*line*/, const char* /*function*/,
                     OTF2_ErrorCode code, const char* /*format*/, va_list /*values*/) {
    LibraryErrors::note(code);
    return code;
}

}  // namespace

LibraryErrors::LibraryErrors() : before_(OTF2_Error_RegisterCallback(heard, nullptr)) {
    first_error = OTF2_SUCCESS;
}

LibraryErrors::~LibraryErrors() {
    OTF2_Error_RegisterCallback(before_, nullptr);
}

OTF2_ErrorCode LibraryErrors::first() {
    return first_error;
}

void LibraryErrors::note(OTF2_ErrorCode code) {
    // Below success are warnings.
    if (code > OTF2_SUCCESS && first_error == OTF2_SUCCESS) first_error = code;
}

}  // namespace rdam::otf2
