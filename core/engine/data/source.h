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

/// What data.source or data.val_source names: a built-in data set ("fashion-mnist", "cifar10"), or a path, told by content to be
/// one of the forms below.
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

/// CIFAR-10 or CIFAR-100, binary or pickled by Python: the folder of its files (or the folder around it), one of the files,
/// or the archive as published, which is read in place. The test part is the evaluation part.
bool holdsCifar(const std::filesystem::path &path);
Result<Source> openCifar(const std::filesystem::path &path);

/// STL-10's binary version: the folder of its files (or the folder around it), the archive as published, or one of the files.
/// unlabeled_X.bin means its images and, behind them, the labelled training images; else only these are trained on.
bool holdsStl(const std::filesystem::path &path);
Result<Source> openStl(const std::filesystem::path &path);

/// A NumPy array of images: N x H x W, N x H x W x C or N x C x H x W (1, 3 or 4 channels) of uint8, uint16 or float32. Labels
/// come from the array beside it (a_labels.npy, train_labels.npy for train_images.npy, y_train.npy for x_train.npy, or
/// labels.npy); an array whose name says test or val where this one's says train is the evaluation part.
Result<Source> openNpy(const std::filesystem::path &path);

/// A list of image files: CSV (RFC 4180) whose first line names the columns path and, if there, label (numbers or names) and
/// split (train, val, valid, validation, test; empty: train). Paths are relative to the list's folder. Files that are missing
/// are left out, counted and said.
Result<Source> openList(const std::filesystem::path &file);

/// Tar archives in webdataset's form (shardindex.h), plain: one, a folder of them, or a pattern with {000..012}, {a,b}, * and
/// ?. Where some names have the word train and others val, valid, validation or test, the latter are the evaluation part.
/// Archives that are cut or damaged are used as far as they go, which is said.
bool isTar(const std::filesystem::path &file);
bool holdsShards(const std::filesystem::path &folder);
bool namesShards(const std::string &name);
Result<Source> openShards(const std::string &name);

} // namespace parallax::data
