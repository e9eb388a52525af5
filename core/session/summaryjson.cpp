// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/summary.h"

#include "core/session/qtconvert.h"

#include <array>
#include <charconv>
#include <cmath>

namespace parallax::session {

namespace {

runs::Json numberOrNull(double value) { return std::isfinite(value) ? runs::Json(value) : runs::Json(); }

/// Four figures a point: a sparkline is a few pixels high, and thousands of them are read at every start.
runs::Json sparkline(const std::vector<float> &line)
{
    auto points = runs::Json::array();
    for (const float value : line) {
        std::array<char, 32> text{};
        const auto written = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 3);
        double rounded = 0;
        std::from_chars(text.data(), written.ptr, rounded);
        points.push_back(numberOrNull(rounded));
    }
    return points;
}

/// Reads typed members of an object; what is missing or of another type keeps its default.
class Members
{
public:
    explicit Members(const runs::Json &object) : m_object(object) { }
    void read(const char *key, double &value) const
    {
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_number()) value = found->get<double>();
    }
    void read(const char *key, std::int64_t &value) const
    {
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_number_integer()) value = found->get<std::int64_t>();
    }
    void read(const char *key, QString &value) const
    {
        const auto found = m_object.find(key);
        if (found != m_object.end() && found->is_string()) value = toQString(found->get<std::string>());
    }

private:
    const runs::Json &m_object;
};

} // namespace

runs::Json RunSummary::toJson() const
{
    runs::Json warningTexts = runs::Json::array();
    for (const QString &warning : warnings) warningTexts.push_back(warning.toStdString());
    return {{"folder", folder.toStdString()},
            {"record", record.toJson()},
            {"dataset", dataset.toStdString()},
            {"method", method.toStdString()},
            {"backbone", backbone.toStdString()},
            {"batch_size", batchSize},
            {"epoch", numberOrNull(epoch)},
            {"epochs", epochs},
            {"step", step},
            {"steps", steps},
            {"knn_last", numberOrNull(lastKnn)},
            {"knn_best", numberOrNull(bestKnn)},
            {"knn_untrained", numberOrNull(untrainedKnn)},
            {"knn_step", knnStep},
            {"loss", numberOrNull(loss)},
            {"images_per_s", numberOrNull(imagesPerSecond)},
            {"seconds_left", numberOrNull(secondsLeft)},
            {"duration", numberOrNull(duration)},
            {"loss_line", sparkline(lossLine)},
            {"warnings", warningTexts},
            {"warning_count", warningCount},
            {"problem", problem.toStdString()}};
}

Result<RunSummary> RunSummary::fromJson(const runs::Json &json)
{
    if (!json.is_object() || !json.contains("record")) return Error{"A run's summary is no object with a record", {}, {}};
    auto record = runs::RunRecord::fromJson(json["record"]);
    if (!record) return record.error();
    RunSummary summary;
    summary.record = std::move(record).value();
    const Members members(json);
    std::int64_t epochCount = 0;
    members.read("folder", summary.folder);
    members.read("dataset", summary.dataset);
    members.read("method", summary.method);
    members.read("backbone", summary.backbone);
    members.read("batch_size", summary.batchSize);
    members.read("epoch", summary.epoch);
    members.read("epochs", epochCount);
    members.read("step", summary.step);
    members.read("steps", summary.steps);
    members.read("knn_last", summary.lastKnn);
    members.read("knn_best", summary.bestKnn);
    members.read("knn_untrained", summary.untrainedKnn);
    members.read("knn_step", summary.knnStep);
    members.read("loss", summary.loss);
    members.read("images_per_s", summary.imagesPerSecond);
    members.read("seconds_left", summary.secondsLeft);
    members.read("duration", summary.duration);
    members.read("problem", summary.problem);
    summary.epochs = int(epochCount);
    members.read("warning_count", summary.warningCount);
    const auto warnings = json.find("warnings");
    if (warnings != json.end() && warnings->is_array())
        for (const auto &text : *warnings)
            if (text.is_string()) summary.warnings.push_back(toQString(text.get<std::string>()));
    const auto line = json.find("loss_line");
    if (line != json.end() && line->is_array())
        for (const auto &value : *line)
            if (value.is_number()) summary.lossLine.push_back(value.get<float>());
    return summary;
}

} // namespace parallax::session
