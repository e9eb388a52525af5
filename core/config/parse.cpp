// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/config/schema.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/json/strict.h"

namespace parallax::config {

namespace {

constexpr std::size_t largestFile = std::size_t(4) << 20;

} // namespace

Result<Json> parseStrict(const std::string &text, const std::string &file)
{
    auto parsed = json::parse(text, {.depth = 16, .keyBytes = 1'000, .comments = true});
    json::Problem problem;
    if (auto *document = std::get_if<Json>(&parsed)) {
        if (document->is_object()) return std::move(*document);
        problem = {"holds no object", "Write { \"group\": { \"key\": value } }", text.find_first_not_of(" \t\r\n")};
    } else {
        problem = std::get<json::Problem>(parsed);
    }
    const json::Place place = json::placeOf(text, problem.offset);
    return Error{problem.what,
                 text::printable(file) + ", line " + std::to_string(place.line) + ", column " + std::to_string(place.column),
                 problem.hint};
}

Result<Json> readFile(const std::string &file)
{
    const auto text = parallax::readFile(file, largestFile);
    if (!text) return text.error();
    return parseStrict(*text, file);
}

} // namespace parallax::config
