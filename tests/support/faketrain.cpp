// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/faketrain.h"

#include "core/base/atomicfile.h"
#include "core/config/schema.h"
#include "core/embedding/store.h"
#include "core/runs/safetensors.h"
#include "tests/support/fakescript.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace parallax::fake {

namespace {

using runs::Json;
using namespace std::chrono_literals;

std::atomic<bool> stopAsked = false, pauseAsked = false, checkpointAsked = false, inputEnded = false;

/// What the ranks share, in the rendezvous file: enough to wait for each other as collectives do.
struct Shared {
    std::atomic<std::int64_t> step[64];
    std::atomic<std::int64_t> stopAt, checkpointAt; ///< agreed step; 0: none
};

Shared *openShared(const std::filesystem::path &file)
{
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ::ftruncate(fd, sizeof(Shared)) != 0) return nullptr;
    void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<Shared *>(memory);
}

/// Commands from stdin. Its end asks to stop, and ends the process where the loop does not come to it: a rank that stands in
/// a collective whose sibling is gone must not stay.
void readCommands(bool deaf)
{
    for (std::string line; std::getline(std::cin, line);) {
        if (deaf) continue;
        if (line == "stop")
            stopAsked = true;
        else if (line == "pause")
            pauseAsked = true;
        else if (line == "resume")
            pauseAsked = false;
        else if (line == "checkpoint")
            checkpointAsked = true;
    }
    inputEnded = stopAsked = true;
    pauseAsked = false;
    std::this_thread::sleep_for(2s);
    ::_exit(1);
}

class Trainer
{
public:
    Trainer(const TrainCall &call, runs::EventWriter events, Json config)
        : m_call(call), m_folder(call.run), m_script(call.rank), m_events(std::move(events)), m_config(std::move(config))
    {
        m_epochSteps = m_script.number("epoch_steps", 10);
        m_epochs = integer("train.epochs", 3);
        m_steps = m_epochs * m_epochSteps;
        if (const auto most = integer("train.max_steps", 0)) m_steps = std::min(m_steps, most);
        m_batch = integer("train.batch_size", 64);
        m_rate = std::max<std::int64_t>(1, m_script.number("rate", 200));
    }

    int run()
    {
        m_shared = openShared(m_call.store);
        if (!m_shared) return fail("The rendezvous file cannot be opened");
        if (m_call.resume) resumeFromCheckpoint();
        const int pid = ::getpid();
        write("start",
              {{"rank", m_call.rank}, {"world", m_call.world}, {"device", "cpu"}, {"pid", pid}, {"resumed", m_call.resume}});
        if (m_call.rank == 0) writePlan();
        if (m_step == 0) evaluate();
        state("training");
        while (m_step < m_steps) {
            if (const int code = step(); code >= 0) return code;
        }
        if (m_call.rank == 0 && flag("output.embed_at_end")) embed();
        state("finished");
        return int(m_script.number("bad_exit", 0));
    }

private:
    std::int64_t integer(const char *key, std::int64_t otherwise) const
    {
        const Json *value = config::lookup(m_config, key);
        return value && value->is_number_integer() ? value->get<std::int64_t>() : otherwise;
    }
    bool flag(const char *key) const
    {
        const Json *value = config::lookup(m_config, key);
        return value && *value == true;
    }

    void write(const std::string &event, Json fields)
    {
        Json line{{"step", m_step}, {"epoch", double(m_step) / double(m_epochSteps)}};
        line.update(fields);
        const auto status = m_events.write(event, std::move(line));
        if (status) return;
        m_diskFull = true; // as the real worker: what cannot be told any more ends the run
        std::cerr << status.error().message() << '\n';
    }
    void state(const char *name)
    {
        if (m_call.rank == 0) write("state", {{"state", name}});
    }
    int fail(const std::string &what)
    {
        write("error", {{"what", what}, {"where", "rank " + std::to_string(m_call.rank)}, {"hint", "Look at the script"}});
        std::cerr << "error: " << what << '\n';
        return 1;
    }

    void writePlan()
    {
        write("plan",
              {{"epochs", m_epochs},
               {"steps", m_steps},
               {"steps_per_epoch", m_epochSteps},
               {"images", m_batch * m_epochSteps},
               {"batch", m_batch},
               {"batch_per_rank", m_batch / m_call.world},
               {"lr_scaled", 0.06},
               {"chance_loss", std::log(2.0 * double(m_batch) - 1)},
               {"bank", 5000},
               {"queries", 2000}});
    }

    void resumeFromCheckpoint()
    {
        const auto all = m_folder.listCheckpoints();
        if (!all.empty()) m_step = all.back().step;
    }

    void evaluate()
    {
        if (m_call.rank != 0) return;
        state("evaluating");
        const double done = double(m_step) / double(m_steps);
        write("eval",
              {{"knn_top1", 0.56 + 0.14 * (1 - std::exp(-3 * done))},
               {"knn_top5", 0.9 + 0.05 * done},
               {"k", integer("eval.knn_k", 200)},
               {"temperature", 0.1},
               {"bank", 5000},
               {"queries", 2000},
               {"classes", 10},
               {"seconds", 0.2}});
    }

    void checkpoint()
    {
        if (m_call.rank != 0) return;
        state("checkpointing");
        const auto files = m_folder.checkpoint(m_step);
        const float weight = float(m_step);
        const Status tensors = runs::writeSafetensors(files.tensors, {{"model.weight", "F32", {1}, &weight}});
        const Status json = writeFileAtomic(files.state, Json{{"step", m_step}}.dump());
        if (tensors && json)
            write("checkpoint", {{"file", files.tensors.filename().string()}, {"bytes", 84}, {"seconds", 0.01}});
        else
            std::cerr << (tensors ? json : tensors).error().message() << '\n';
    }

    void embed()
    {
        state("embedding");
        const int epoch = int(m_step / m_epochSteps);
        if (writeEmbedding(m_folder, epoch, 200, 16)) write("embedding", {{"epoch", epoch}, {"count", 200}});
    }

    void metrics()
    {
        const double done = double(m_step) / double(m_steps), noise = 0.05 * std::sin(double(m_step) * 12.9898);
        const double stepMs = 1000.0 / double(m_rate), wait = 0.03 + 0.02 * std::fabs(noise);
        Json fields{{"step_ms", stepMs}, {"data_wait", wait}};
        if (m_call.rank == 0) {
            const bool broken = m_script.has("nan") && m_step >= m_script.find("nan")->step;
            const double chance = std::log(2.0 * double(m_batch) - 1);
            const Json loss = broken ? Json("NaN") : Json(chance * (0.45 + 0.55 * std::exp(-4 * done)) + noise);
            fields = {{"loss", loss},
                      {"lr", 0.06 * (1 + std::cos(M_PI * done)) / 2},
                      {"images_per_s", double(m_rate * m_batch)},
                      {"data_wait", wait},
                      {"step_ms", stepMs},
                      {"grad_norm", 1 + noise},
                      {"feature_std", 0.08 + noise / 10}};
        }
        write("metrics", std::move(fields));
        if (m_step % 5 == 1) write("memory", {{"rss_mb", 180.0 + m_call.rank + 4 * done}});
    }

    /// Waits as a collective does: for every rank to have come as far, for ever if one never does.
    void meetSiblings()
    {
        m_shared->step[m_call.rank] = m_step + 1;
        for (int rank = 0; rank < m_call.world; ++rank)
            while (m_shared->step[rank] < m_step + 1) std::this_thread::sleep_for(1ms);
    }

    /// Ranks are at most one step apart: two steps ahead is in nobody's past.
    void agree()
    {
        std::int64_t none = 0;
        if (stopAsked.load()) m_shared->stopAt.compare_exchange_strong(none, m_step + 2);
        if (checkpointAsked.exchange(false)) m_shared->checkpointAt = m_step + 2;
    }

    int misbehave()
    {
        if (m_script.at("kill", m_step)) ::kill(::getpid(), int(m_script.number("kill", SIGKILL)));
        if (m_script.at("stop", m_step)) ::raise(SIGSTOP);
        if (m_script.at("fail", m_step)) return fail("The script said so");
        if (m_script.at("stderr", m_step))
            std::cerr << std::string(std::size_t(m_script.number("stderr", 1000)), 'x') << std::endl;
        if (m_script.at("garbage", m_step)) writeGarbage();
        if (m_script.at("warn", m_step)) write("log", {{"level", "warning"}, {"text", "The script warns"}});
        if (m_script.at("hang", m_step)) {
            ::signal(SIGTERM, SIG_IGN);
            while (true) ::pause();
        }
        return -1;
    }

    void writeGarbage()
    {
        const int fd = ::open(m_folder.events(m_call.rank).c_str(), O_WRONLY | O_APPEND);
        const std::string garbage = "{\"step\": 1, \"loss\n" + std::string(64, '\0') + "\n\xff\xfe{]\n";
        if (::write(fd, garbage.data(), garbage.size()) < 0) std::cerr << "no garbage\n";
        ::close(fd);
    }

    void waitWhilePaused()
    {
        if (!pauseAsked) return;
        state("paused");
        while (pauseAsked && !stopAsked) std::this_thread::sleep_for(5ms);
        state("training");
    }

    /// One step; an exit code when it was the last, else -1.
    int step()
    {
        waitWhilePaused();
        agree();
        if (const int code = misbehave(); code >= 0) return code;
        meetSiblings();
        std::this_thread::sleep_for(1'000'000us / m_rate);
        ++m_step;
        metrics();
        const bool epochEnd = m_step % m_epochSteps == 0;
        if (epochEnd) evaluate();
        if (m_diskFull) return fail("Events cannot be written");
        const bool stopNow = m_shared->stopAt != 0 && m_step >= m_shared->stopAt;
        const bool asked = m_step == m_shared->checkpointAt;
        if (stopNow) state("stopping");
        if (epochEnd || stopNow || asked || m_step == m_steps) checkpoint();
        if (epochEnd) state("training");
        return stopNow && m_step < m_steps ? 3 : -1;
    }

    TrainCall m_call;
    runs::RunFolder m_folder;
    Script m_script;
    runs::EventWriter m_events;
    Json m_config;
    Shared *m_shared = nullptr;
    bool m_diskFull = false;
    std::int64_t m_step = 0, m_steps = 0, m_epochSteps = 10, m_epochs = 3, m_batch = 64, m_rate = 200;
};

} // namespace

Status writeEmbedding(const runs::RunFolder &run, int epoch, std::int64_t count, std::int64_t dim)
{
    std::vector<embedding::Item> items;
    std::vector<float> vectors;
    for (std::int64_t i = 0; i < count; ++i) {
        const int label = int(i % 4);
        items.push_back(
            {std::uint64_t(i), "class" + std::to_string(label) + "/" + std::to_string(i) + ".png", label, "train"});
        for (std::int64_t d = 0; d < dim; ++d)
            vectors.push_back(float(d == label ? 3 : 0) + 0.5F * float(std::sin(double(i * dim + d) * 78.233)));
    }
    embedding::Meta meta;
    meta.count = count;
    meta.dim = dim;
    meta.epoch = epoch;
    meta.classes = {"class0", "class1", "class2", "class3"};
    meta.source = "made up";
    auto part = run.embeddings(epoch);
    part += ".part";
    std::error_code error;
    std::filesystem::create_directories(part, error);
    if (const Status status = embedding::writeStore(part, meta, items, vectors.data()); !status) return status;
    std::filesystem::remove_all(run.embeddings(epoch), error);
    std::filesystem::rename(part, run.embeddings(epoch), error);
    return error ? Status(Error{error.message(), run.embeddings(epoch).string(), {}}) : Status();
}

int train(const TrainCall &call)
{
    const Script script(call.rank);
    const bool deaf = script.has("deaf");
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(
        SIGTERM, deaf ? SIG_IGN : [](int) { stopAsked = true; });
    if (!script.has("noread")) std::thread(readCommands, deaf).detach();
    while (script.has("nostart")) ::pause();
    const runs::RunFolder folder(call.run);
    auto config = config::readFile(folder.config().string());
    auto events = runs::EventWriter::open(folder.events(call.rank));
    if (!config || !events) {
        std::cerr << (config ? events.error() : config.error()).message() << '\n';
        return 1;
    }
    return Trainer(call, std::move(events).value(), std::move(config).value()).run();
}

} // namespace parallax::fake
