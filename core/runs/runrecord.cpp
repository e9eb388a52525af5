// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/runs/runrecord.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/json/strict.h"

#include <array>
#include <utility>

namespace parallax::runs {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t format = 1;
constexpr std::size_t largestRecord = std::size_t(16) << 20;

constexpr std::array<std::pair<State, const char *>, 6> stateNames{{
    {State::Queued, "queued"},
    {State::Running, "running"},
    {State::Paused, "paused"},
    {State::Finished, "finished"},
    {State::Failed, "failed"},
    {State::Interrupted, "interrupted"},
}};

/// Takes members of an object into variables; remembers the first that has the wrong type. Absent ones and null keep
/// their defaults.
class Reader
{
public:
    explicit Reader(const Json &object) : m_object(object) { }

    void take(const char *name, std::string &to)
    {
        if (const Json *value = find(name, &Json::is_string)) to = value->get<std::string>();
    }
    void take(const char *name, double &to)
    {
        if (const Json *value = find(name, &Json::is_number)) to = value->get<double>();
    }
    void take(const char *name, std::int64_t &to)
    {
        if (const Json *value = find(name, &Json::is_number_integer)) to = value->get<std::int64_t>();
    }
    void take(const char *name, int &to)
    {
        std::int64_t wide = to;
        take(name, wide);
        if (std::in_range<int>(wide))
            to = static_cast<int>(wide);
        else
            m_wrong = name;
    }
    void take(const char *name, std::vector<std::string> &to)
    {
        const Json *list = find(name, &Json::is_array);
        if (!list) return;
        for (const Json &entry : *list) {
            if (entry.is_string())
                to.push_back(entry.get<std::string>());
            else
                m_wrong = name;
        }
    }
    const Json *object(const char *name) { return find(name, &Json::is_object); }
    const Json *array(const char *name) { return find(name, &Json::is_array); }
    void reject(const char *name) { m_wrong = name; }
    const std::string &wrong() const { return m_wrong; }

private:
    const Json *find(const char *name, bool (Json::*hasType)() const noexcept)
    {
        const auto found = m_object.find(name);
        if (found == m_object.end() || found->is_null()) return nullptr;
        if (((*found).*hasType)()) return &*found;
        m_wrong = name;
        return nullptr;
    }
    const Json &m_object;
    std::string m_wrong;
};

Json toJson(const Failure &failure)
{
    return {{"rank", failure.rank}, {"signal", failure.signal}, {"exit_code", failure.exitCode},
            {"what", failure.what}, {"where", failure.where},   {"hint", failure.hint},
            {"log", failure.log}};
}

void takeFailure(Reader &reader, RunRecord &record)
{
    const Json *json = reader.object("failure");
    if (!json) return;
    Failure failure;
    Reader inner(*json);
    inner.take("rank", failure.rank);
    inner.take("signal", failure.signal);
    inner.take("exit_code", failure.exitCode);
    inner.take("what", failure.what);
    inner.take("where", failure.where);
    inner.take("hint", failure.hint);
    inner.take("log", failure.log);
    if (inner.wrong().empty())
        record.failure = std::move(failure);
    else
        reader.reject("failure");
}

void takeAttempts(Reader &reader, RunRecord &record)
{
    const Json *list = reader.array("attempts");
    if (!list) return;
    for (const Json &entry : *list) {
        if (!entry.is_object()) return reader.reject("attempts");
        RunRecord::Attempt attempt;
        Reader inner(entry);
        inner.take("started", attempt.started);
        inner.take("from_step", attempt.fromStep);
        if (!inner.wrong().empty()) return reader.reject("attempts");
        record.attempts.push_back(attempt);
    }
}

} // namespace

std::string toString(State state)
{
    for (const auto &[value, name] : stateNames)
        if (value == state) return name;
    return {};
}

std::optional<State> stateFromString(const std::string &text)
{
    for (const auto &[value, name] : stateNames)
        if (text == name) return value;
    return {};
}

Json RunRecord::toJson() const
{
    Json starts = Json::array();
    for (const Attempt &attempt : attempts)
        starts.push_back({{"started", attempt.started}, {"from_step", attempt.fromStep}});
    return {{"format", format},
            {"id", id},
            {"name", name},
            {"state", toString(state)},
            {"state_reason", state_reason},
            {"failure", failure ? runs::toJson(*failure) : Json()},
            {"created", created},
            {"ended", ended},
            {"pid", pid},
            {"pid_start", pidStart},
            {"host", host},
            {"socket", socket},
            {"world", world},
            {"devices", devices},
            {"command", command},
            {"versions", versions},
            {"git", git},
            {"color", color},
            {"attempts", starts}};
}

Result<RunRecord> RunRecord::fromJson(const Json &json)
{
    if (!json.is_object()) return Error{"is not the record of a run: it holds no object", {}, {}};
    Reader reader(json);
    std::int64_t written = 0;
    reader.take("format", written);
    if (written > format)
        return Error{"was written by a newer Parallax (format " + std::to_string(written) + ", this one reads " +
                         std::to_string(format) + ")",
                     {},
                     "Update Parallax to open this run"};
    if (written < 1) return Error{"is not the record of a run: \"format\" is missing", {}, {}};

    RunRecord record;
    std::string stateName;
    reader.take("state", stateName);
    const auto state = stateFromString(stateName);
    if (!state) return Error{"names no known state: \"" + text::printable(stateName) + '"', {}, {}};
    record.state = *state;
    reader.take("id", record.id);
    reader.take("name", record.name);
    reader.take("state_reason", record.state_reason);
    reader.take("created", record.created);
    reader.take("ended", record.ended);
    reader.take("pid", record.pid);
    reader.take("pid_start", record.pidStart);
    reader.take("host", record.host);
    reader.take("socket", record.socket);
    reader.take("world", record.world);
    reader.take("devices", record.devices);
    reader.take("command", record.command);
    reader.take("color", record.color);
    if (const Json *versions = reader.object("versions")) record.versions = *versions;
    if (const Json *git = reader.object("git")) record.git = *git;
    takeFailure(reader, record);
    takeAttempts(reader, record);
    if (!reader.wrong().empty()) return Error{"\"" + reader.wrong() + "\" has the wrong type", {}, {}};
    return record;
}

Result<RunRecord> RunRecord::load(const RunFolder &folder)
{
    auto text = readFile(folder.record(), largestRecord);
    if (!text) return text.error();
    const std::string file = text::printable(folder.record().string());
    auto parsed = json::parse(*text);
    if (const auto *problem = std::get_if<json::Problem>(&parsed)) {
        const json::Place place = json::placeOf(*text, problem->offset);
        return Error{problem->what, file + ':' + std::to_string(place.line) + ':' + std::to_string(place.column),
                     problem->hint};
    }
    auto record = fromJson(std::get<Json>(parsed));
    if (record) return record;
    Error error = record.error();
    error.where = file;
    return error;
}

Status RunRecord::save(const RunFolder &folder) const
{
    return writeFileAtomic(folder.record(), toJson().dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

} // namespace parallax::runs
