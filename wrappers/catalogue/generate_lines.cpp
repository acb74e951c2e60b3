// generate_lines catalogue.toml programs.toml: a source file with both as lines (builtin_lines.h), on
// standard output.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/catalogue/known_programs.h"

namespace {

std::string contents(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

void print(const char* name, const std::string& lines) {
    std::cout << "std::string_view " << name << "() {\n    return R\"lines(" << lines << ")lines\";\n}\n\n";
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const auto catalogue = rdam::Catalogue::parse(contents(arguments[1]), arguments[1]);
    const auto programs = rdam::KnownPrograms::parse(contents(arguments[2]), arguments[2]);
    if (!catalogue || !programs) {
        std::cerr << (catalogue ? programs.error().message : catalogue.error().message) << '\n';
        return 1;
    }
    const auto again = rdam::Catalogue::from_lines(catalogue->lines());
    if (catalogue->lines() != again.lines() || catalogue->lines().find(")lines\"") != std::string::npos) {
        std::cerr << arguments[1]
                  << ": has a text that lines cannot keep: no tabs, line breaks or )lines\"\n";
        return 1;
    }
    std::cout << "#include \"wrappers/catalogue/builtin_lines.h\"\n\nnamespace rdam {\n\n";
    print("builtin_catalogue_lines", catalogue->lines());
    print("builtin_programs_lines", programs->lines());
    std::cout << "}  // namespace rdam\n";
    return std::cout.flush() ? 0 : 1;
}
