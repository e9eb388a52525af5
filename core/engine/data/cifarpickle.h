// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parallax::data {

/// What is used of the dictionary of a CIFAR file; its other values are passed over.
struct CifarDictionary {
    std::string data;                 ///< "data", the pixels: a string or a NumPy array of uint8
    std::vector<std::int64_t> labels; ///< "labels" or "fine_labels"
    std::vector<std::string> names;   ///< "label_names" or "fine_label_names"
};

/// Reads the pickled dictionary of CIFAR's Python version and nothing else: pickle protocol 2 (Python's pickletools.py
/// describes its operations) with strings, lists of whole numbers or strings, and arrays of bytes. A pickle is a program that
/// may call anything; here nothing is called: the four names that such files contain (NumPy's array and type, and the
/// encoding of bytes as text) are recognised, and any other name or operation is an Error that says which. Errors have no
/// `where`.
Result<CifarDictionary> readCifarPickle(std::string_view pickle);

} // namespace parallax::data
