// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace parallax::data {

/// Labels as words, made into places in a list of classes.
struct Labelling {
    std::vector<std::string> classes; ///< in the order of numbers when all are whole numbers, else of bytes
    std::vector<int> labels;          ///< one a word; -1: none
};

/// An empty word is no label. Class names are made printable.
Labelling labelling(const std::vector<std::string> &words);

} // namespace parallax::data
