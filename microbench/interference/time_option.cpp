#include "microbench/interference/time_option.h"

#include <utility>

#include "tools/base/units.h"

namespace rdam::microbench {

CLI::Option* add_time(CLI::App& app, const std::string& name, std::function<void(double)> store,
                      const std::string& help) {
    const auto parse = [store = std::move(store), name](const std::string& text) {
        const Result<double> time = parse_time(text);
        if (!time) throw CLI::ValidationError(name, time.error().message);
        store(*time);
    };
    return app.add_option_function<std::string>(name, parse, help)->type_name("TIME");
}

}  // namespace rdam::microbench
