#include "tools/study-native/memory/symbols.h"

#include <elf.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

// What this program's own file is to say of it.
extern "C" {
[[gnu::used]] std::array<char, 12345> an_array_to_be_found;
[[gnu::used, gnu::noinline]] void a_function_to_be_found() {
    an_array_to_be_found[0] = 1;
}
[[gnu::used]] thread_local std::array<char, 54321> an_array_of_each_thread;
}

namespace {

using Found = std::map<std::string, ObjectSymbol>;

std::string own_file() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

SymbolTable read(const std::string& file, Found& found) {
    return each_symbol(
        file.data(), file.size(),
        [](void* data, const ObjectSymbol* symbol) {
            static_cast<Found*>(data)->insert_or_assign(symbol->name, *symbol);
        },
        &found);
}

}  // namespace

TEST_CASE("a file's variables and functions are found with their sizes", "[symbols]") {
    Found found;
    a_function_to_be_found();
    const std::string file = own_file();
    REQUIRE(read(file, found) == symbols_all);
    REQUIRE(found.contains("an_array_to_be_found"));
    CHECK(found["an_array_to_be_found"].bytes == 12345);
    CHECK_FALSE(found["an_array_to_be_found"].is_function);
    REQUIRE(found.contains("a_function_to_be_found"));
    CHECK(found["a_function_to_be_found"].is_function);
    CHECK_FALSE(found.contains("an_array_of_each_thread"));
    // Both are where they are in this process, by the same distance.
    const auto distance = [&](const char* name, const void* here) {
        return reinterpret_cast<std::uintptr_t>(here) - found.at(name).address;
    };
    CHECK(distance("an_array_to_be_found", &an_array_to_be_found) ==
          distance("a_function_to_be_found", reinterpret_cast<const void*>(&a_function_to_be_found)));
}

TEST_CASE("what is no ELF file has no symbols", "[symbols]") {
    Found found;
    for (const std::string& file :
         {std::string{}, std::string{"#!/bin/sh\n"}, std::string(100, '\x7f'), own_file().substr(0, 64)})
        CHECK(read(file, found) == symbols_none);
    CHECK(found.empty());
}

TEST_CASE("a damaged file is read inside its bytes only", "[symbols]") {
    const std::string file = own_file();
    std::mt19937_64 random(11);
    Elf64_Ehdr head;
    std::memcpy(&head, file.data(), sizeof head);
    for (int round = 0; round < rdam::test::rounds(300); ++round) {
        std::string damaged = file;
        // Where the tables are described.
        for (int i = 0; i < 8; ++i) {
            const bool in_head = random() % 4 == 0;
            const std::size_t at = in_head ? random() % sizeof head
                                           : head.e_shoff + random() % (head.e_shnum * sizeof(Elf64_Shdr));
            damaged[at] = static_cast<char>(random());
        }
        if (random() % 2 == 0) damaged.resize(random() % damaged.size());
        Found found;
        read(damaged, found);
        for (const auto& [name, symbol] : found)
            REQUIRE(symbol.bytes > 0);
    }
}
