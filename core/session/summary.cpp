// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/session/summary.h"

#include "core/config/builtindata.h"
#include "core/config/schema.h"
#include "core/session/qtconvert.h"
#include "core/session/runname.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parallax::session {

namespace {

QString textOf(const runs::Json &config, const char *key)
{
    const runs::Json *value = config::lookup(config, key);
    return value && value->is_string() ? toQString(value->get<std::string>()) : QString();
}

std::int64_t integer(const runs::Json &fields, const char *key, std::int64_t otherwise)
{
    const auto found = fields.find(key);
    return found != fields.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

double figure(const runs::Json &fields, const char *key)
{
    const auto found = fields.find(key);
    return found == fields.end() ? RunSummary::unknown : runs::figure(*found).value_or(RunSummary::unknown);
}

} // namespace

void Summarizer::Sparkline::add(std::int64_t step, double value)
{
    if (!std::isfinite(value)) return;
    if (!m_buckets.empty() && m_buckets.back().count < m_perBucket) {
        m_buckets.back().sum += value;
        ++m_buckets.back().count;
        return;
    }
    if (m_buckets.size() == capacity) { // twice the width: pairs become one
        for (std::size_t i = 0; i < capacity / 2; ++i) {
            const Bucket &left = m_buckets[2 * i], &right = m_buckets[2 * i + 1];
            m_buckets[i] = {left.step, left.sum + right.sum, left.count + right.count};
        }
        m_buckets.resize(capacity / 2);
        m_perBucket *= 2;
    }
    m_buckets.push_back({step, value, 1});
}

void Summarizer::Sparkline::cutAfter(std::int64_t step)
{
    while (!m_buckets.empty() && m_buckets.back().step > step) m_buckets.pop_back();
}

std::vector<float> Summarizer::Sparkline::points() const
{
    std::vector<float> points;
    points.reserve(m_buckets.size());
    for (const Bucket &bucket : m_buckets) points.push_back(float(bucket.sum / bucket.count));
    return points;
}

Summarizer::Summarizer(runs::RunFolder folder) : m_folder(std::move(folder)), m_events(m_folder.events(0))
{
    m_summary.folder = toQString(m_folder.path());
}

void Summarizer::readConfig()
{
    const auto read = config::readFile(m_folder.config().string());
    if (!read) return;
    const runs::Json &config = *read;
    m_summary.dataset = toQString(config::dataLabel(textOf(config, "data.source").toStdString()));
    m_summary.method = textOf(config, "method.name");
    m_summary.backbone = textOf(config, "backbone.name");
    relabel(m_summary);
    const runs::Json *epochs = config::lookup(config, "train.epochs");
    if (epochs && epochs->is_number_integer()) m_summary.epochs = epochs->get<int>();
    const runs::Json *batch = config::lookup(config, "train.batch_size");
    if (batch && batch->is_number_integer()) m_summary.batchSize = batch->get<std::int64_t>();
}

bool Summarizer::pollRecord()
{
    const FileStamp config = FileStamp::of(m_folder.config()), record = FileStamp::of(m_folder.record());
    const bool news = config != m_configStamp || record != m_recordStamp;
    if (std::exchange(m_configStamp, config) != config) readConfig();
    if (std::exchange(m_recordStamp, record) != record || record.time == 0) readRecord();
    return news;
}

void Summarizer::readRecord()
{
    auto record = runs::RunRecord::load(m_folder);
    m_summary.problem = record ? QString() : toQString(record.error().message());
    if (record)
        m_summary.record = std::move(record).value();
    else
        m_summary.record.state = runs::State::Interrupted; // nobody can be running it
    if (m_summary.record.id.empty()) m_summary.record.id = m_folder.id();
}

bool Summarizer::poll()
{
    bool news = pollRecord();
    if (m_summary.problem.isEmpty()) news = runs::markIfDead(m_folder, m_summary.record) || news;
    for (auto events = m_events.poll(); !events.empty(); events = m_events.poll()) {
        news = true;
        if (m_events.restarted()) forgetEvents();
        for (const runs::Event &event : events) apply(event);
    }
    if (news) derive();
    return news;
}

/// The file was replaced: what was read of the old one says nothing any more.
void Summarizer::forgetEvents()
{
    RunSummary fresh;
    fresh.folder = m_summary.folder;
    fresh.record = std::move(m_summary.record);
    fresh.problem = m_summary.problem;
    m_summary = std::move(fresh);
    m_knn.clear();
    m_loss = {};
    m_startTime = m_lastTime = m_earlier = m_firstTime = 0;
    m_firstStep = -1;
    readConfig();
}

void Summarizer::apply(const runs::Event &event)
{
    if (event.event == "start") applyStart(event);
    m_lastTime = std::max(m_lastTime, event.t);
    if (event.event == "plan") {
        m_summary.steps = integer(event.fields, "steps", m_summary.steps);
        m_summary.epochs = int(integer(event.fields, "epochs", m_summary.epochs));
    } else if (event.event == "metrics")
        applyMetrics(event);
    else if (event.event == "log")
        applyLog(event);
    else if (event.event == "eval")
        applyEval(event);
    if (event.event == "log" || event.event == "error") return;
    m_summary.step = event.step;
    m_summary.epoch = event.epoch;
}

void Summarizer::applyStart(const runs::Event &event)
{
    if (m_startTime > 0) m_earlier += m_lastTime - m_startTime;
    m_startTime = m_lastTime = event.t;
    m_firstStep = -1;
    m_loss.cutAfter(event.step);
    std::erase_if(m_knn, [&](const auto &point) { return point.first > event.step; });
}

void Summarizer::applyMetrics(const runs::Event &event)
{
    if (const double loss = figure(event.fields, "loss"); event.fields.contains("loss")) {
        m_summary.loss = loss;
        m_loss.add(event.step, loss);
    }
    const double rate = figure(event.fields, "images_per_s");
    if (std::isfinite(rate)) m_summary.imagesPerSecond = rate;
    if (m_firstStep >= 0) return;
    m_firstStep = event.step;
    m_firstTime = event.t;
}

void Summarizer::applyLog(const runs::Event &event)
{
    const auto level = event.fields.find("level"), text = event.fields.find("text");
    if (level == event.fields.end() || *level != "warning" || text == event.fields.end() || !text->is_string()) return;
    ++m_summary.warningCount;
    m_summary.warnings.push_back(toQString(text->get<std::string>()));
    if (m_summary.warnings.size() > RunSummary::warningsKept) m_summary.warnings.erase(m_summary.warnings.begin());
}

void Summarizer::applyEval(const runs::Event &event)
{
    const double knn = figure(event.fields, "knn_top1");
    if (!(knn >= 0 && knn <= 1)) return; // NaN, or no accuracy at all: a line of another program, or a damaged one
    m_summary.knnStep = event.step;
    if (event.step <= 0 || event.epoch <= 0)
        m_summary.untrainedKnn = knn;
    else
        m_knn.emplace_back(event.step, knn);
}

void Summarizer::derive()
{
    if (m_startTime > 0) m_summary.duration = m_earlier + m_lastTime - m_startTime;
    m_summary.lastKnn = m_knn.empty() ? RunSummary::unknown : m_knn.back().second;
    m_summary.bestKnn = RunSummary::unknown;
    for (const auto &[step, knn] : m_knn) m_summary.bestKnn = std::fmax(m_summary.bestKnn, knn);
    m_summary.lossLine = m_loss.points();
    // Evaluation and checkpoints are part of the pace: steps since the attempt's first, over the time since then.
    const double done = m_firstStep < 0 ? 0 : double(m_summary.step - m_firstStep), took = m_lastTime - m_firstTime;
    const bool known = !m_summary.ended() && m_summary.steps > 0 && done > 0 && took > 0;
    m_summary.secondsLeft = known ? double(m_summary.steps - m_summary.step) * took / done : RunSummary::unknown;
}

void relabel(RunSummary &summary)
{
    summary.method = choiceLabel("method.name", summary.method);
    summary.backbone = choiceLabel("backbone.name", summary.backbone);
}

RunSummary summarize(const runs::RunFolder &folder)
{
    Summarizer summarizer(folder);
    summarizer.poll();
    return summarizer.summary();
}

} // namespace parallax::session
