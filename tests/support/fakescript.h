// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/text.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace parallax::fake {

/// What the fake worker is told to do wrong, in $FAKEWORKER: words separated by spaces or semicolons, each
/// `[r<rank>:]name[=value][@step]`.
///
///   rate=N        steps a second (200)              epoch_steps=N  steps an epoch (10)
///   kill=SIG@S    dies of signal SIG at step S      stop@S         stops itself (SIGSTOP) at step S
///   fail@S        error event, exit 1               nan@S          the loss is NaN from step S on
///   hang@S        stands still at step S, ignores commands and SIGTERM; ends only when stdin ends, or by SIGKILL
///   deaf          ignores stop, pause and SIGTERM   noread         never reads stdin
///   garbage@S     writes damaged event lines        stderr=BYTES@S fills stderr
///   warn@S         a warning in the log
///   nostart       writes no event and hangs         bad_exit=N     exits with that code at the end
///   job_error=J   one-shot job J answers an error   job_garbage=J  one-shot job J prints no JSON
///   job_ms=N      one-shot jobs take so long        unlabelled     plan: no labels
///   selftest=M    the self-test misses for method M
///
/// Without a rank a word holds for all ranks.
class Script
{
public:
    explicit Script(int rank)
    {
        const char *text = std::getenv("FAKEWORKER");
        m_text = text ? text : "";
        for (char &c : m_text)
            if (c == ';') c = ' ';
        m_prefix = "r" + std::to_string(rank) + ":";
    }

    struct Word {
        std::string value;
        std::int64_t step = 0;
    };
    std::optional<Word> find(const std::string &name) const
    {
        for (std::string word : text::split(m_text, ' ')) {
            const auto colon = word.find(':');
            if (colon != std::string::npos) {
                if (word.compare(0, colon + 1, m_prefix) != 0) continue;
                word.erase(0, colon + 1);
            }
            Word found;
            if (const auto at = word.find('@'); at != std::string::npos) {
                found.step = text::parseInt(word.substr(at + 1)).value_or(0);
                word.resize(at);
            }
            if (const auto equals = word.find('='); equals != std::string::npos) {
                found.value = word.substr(equals + 1);
                word.resize(equals);
            }
            if (word == name) return found;
        }
        return {};
    }
    bool has(const std::string &name) const { return find(name).has_value(); }
    /// The word's step is this one.
    bool at(const std::string &name, std::int64_t step) const
    {
        const auto word = find(name);
        return word && word->step == step;
    }
    std::int64_t number(const std::string &name, std::int64_t otherwise) const
    {
        const auto word = find(name);
        return word ? text::parseInt(word->value).value_or(otherwise) : otherwise;
    }

private:
    std::string m_text, m_prefix;
};

} // namespace parallax::fake
