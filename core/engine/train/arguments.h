// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace parallax::train {

/// A worker's command line: a job, then "--option value" pairs. Which options a job takes is said when reading; an option that
/// ends in '!' stands alone, without a value; one that ends in '+' may be given several times.
class Arguments
{
public:
    /// Errors: an option the job does not take (with the nearest it takes), a missing value, an option given twice.
    static Result<Arguments> parse(const std::vector<std::string> &words, const std::vector<std::string> &options);

    bool has(const std::string &option) const { return m_values.contains(option); }
    /// All that were given of an option that ends in '+', in order.
    std::vector<std::string> values(const std::string &option) const;
    std::string text(const std::string &option, std::string fallback = {}) const;
    /// Throws Failure when it is not there.
    std::string required(const std::string &option) const;
    /// Throws Failure for anything but a whole number of at least `least`.
    std::int64_t number(const std::string &option, std::int64_t fallback, std::int64_t least = 0) const;

private:
    std::map<std::string, std::string> m_values;
    std::map<std::string, std::vector<std::string>> m_lists; ///< of options that end in '+'
};

} // namespace parallax::train
