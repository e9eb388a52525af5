// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/builtindata.h"
#include "core/engine/data/dataset.h"

#include <filesystem>
#include <string>
#include <vector>

namespace parallax::data {

/// All that a source holds, before limits and splits.
struct Source {
    std::shared_ptr<const Dataset> train;
    std::shared_ptr<const Dataset> val; ///< null: the source brings no evaluation images
};

/// What data.source or data.val_source names: a built-in data set ("fashion-mnist", "cifar10"), an IDX file or a folder of them, a folder of images.
/// `key` is the setting's, for messages.
Result<Source> openSource(const std::string &name, const std::string &key);

/// Where a built-in data set lies on this machine: what `parallax data get` or the system's packages installed.
Result<std::filesystem::path> findNamed(const config::BuiltInData &named, const std::string &key);

/// A folder of images: class subfolders (the first level is the label, however deep the image lies) or flat; also
/// train/ beside val/, valid/, validation/ or test/.
Result<Source> openFolder(const std::filesystem::path &folder);

/// IDX files (MNIST's format), plain or gzipped whatever their names say: train-images-idx3-ubyte with its labels, and
/// t10k-… as evaluation images.
bool holdsIdx(const std::filesystem::path &folder);
Result<Source> openIdx(const std::filesystem::path &folder, bool fashion);

} // namespace parallax::data
