// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/formats.h"

#include <array>
#include <cstdlib>
#include <fstream>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

/// "~/images" as a shell would have it; a form or --set does not pass through one.
fs::path expanded(const std::string &name)
{
    const char *home = std::getenv("HOME");
    if (home && (name == "~" || name.starts_with("~/")))
        return fs::path(home) / name.substr(std::min<std::size_t>(2, name.size()));
    return name;
}

Error missing(const std::string &name, const std::string &key)
{
    std::vector<std::string> known;
    for (const config::BuiltInData &named : config::builtInData) known.emplace_back(named.name);
    std::string hint = "Give the folder that holds the images, or " + text::join(known, ", ") + '.';
    if (const auto near = text::nearest(name, known)) hint = "Did you mean " + *near + '?';
    return {"there is no " + text::printable(name), key, hint};
}

/// A single file: one of a folder of IDX files, or something that is told by name.
Result<Source> openFile(const fs::path &file, const std::string &key)
{
    const std::string name = file.filename().string();
    const bool idx = name.find("-ubyte") != std::string::npos;
    if (idx && holdsIdx(file.parent_path())) return openIdx(file.parent_path(), false);
    if (holdsCifar(file)) return openCifar(file);
    if (holdsStl(file)) return openStl(file);
    if (isTar(file)) return openShards(file.string());
    if (name.ends_with(".csv") || name.ends_with(".CSV")) return openList(file);
    std::array<char, 512> head{};
    std::ifstream in(file, std::ios::binary);
    in.read(head.data(), head.size());
    const std::size_t count = std::size_t(in.gcount());
    const Bytes bytes{reinterpret_cast<const std::uint8_t *>(head.data()), count};
    if (name.ends_with(".npy") || ByteReader(bytes, ByteReader::Order::Little).startsWith("\x93NUMPY")) return openNpy(file);
    const std::string what = readImageHeader(bytes) ? "an image" : formats::describeForeign(bytes);
    return Error{text::printable(file.string()) + " is a single file (" + what + ")", key,
                 "Give a folder of image files, or a data set in a form that README.md lists."};
}

} // namespace

Result<Source> openSource(const std::string &name, const std::string &key)
{
    if (name.empty()) return Error{"no images are chosen", key, "Give the folder that holds them, or fashion-mnist."};
    fs::path path = expanded(name);
    if (const config::BuiltInData *named = config::findBuiltIn(name)) {
        auto place = findNamed(*named, key);
        if (!place) return place.error();
        path = *place;
    }
    std::error_code error;
    const auto status = fs::status(path, error);
    if (!fs::exists(status)) return namesShards(name) ? openShards(path.string()) : missing(name, key);
    if (fs::is_regular_file(status)) return openFile(path, key);
    if (holdsIdx(path)) return openIdx(path, path.string().find(config::fashionMnist.name) != std::string::npos);
    if (holdsCifar(path)) return openCifar(path);
    if (holdsStl(path)) return openStl(path);
    if (holdsShards(path)) return openShards(path.string());
    return openFolder(path);
}

} // namespace parallax::data
