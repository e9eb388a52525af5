// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/augment/feed.h"

#include "core/engine/augment/deviceviews.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace parallax::augment {

namespace {

constexpr std::size_t aheadBatches = 1; ///< finished on the device beside the one in use: each takes the device's memory

} // namespace

/// The thread that works ahead, and what it has finished.
struct Feed::Ahead {
    struct Finished {
        Result<std::optional<Views>> views = std::optional<Views>();
        std::exception_ptr thrown;
        std::shared_ptr<c10::Event> copied; ///< on CUDA: reached when the views are whole
    };

    Feed &feed;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Finished> finished;
    bool over = false;
    std::thread thread;

    explicit Ahead(Feed &owner) : feed(owner), thread([this] { run(); }) { }
    ~Ahead()
    {
        {
            std::lock_guard lock(mutex);
            over = true;
        }
        changed.notify_all();
        thread.join();
    }
    Ahead(const Ahead &) = delete;
    Ahead &operator=(const Ahead &) = delete;

    void run();
    Finished make(const std::optional<c10::Stream> &stream) const;
    Finished take();
};

void Feed::Ahead::run()
{
    std::optional<c10::Stream> stream;
    if (feed.m_options.device.is_cuda())
        stream = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getStreamFromGlobalPool(feed.m_options.device);
    for (;;) {
        Finished made = make(stream);
        const bool last = made.thrown || !made.views || !made.views.value();
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return over || finished.size() < aheadBatches; });
        if (over) return;
        finished.push_back(std::move(made));
        changed.notify_all();
        if (last) return;
    }
}

Feed::Ahead::Finished Feed::Ahead::make(const std::optional<c10::Stream> &stream) const
{
    Finished made;
    try {
        c10::OptionalStreamGuard guard;
        if (stream) guard.reset_stream(*stream);
        made.views = feed.load();
        if (stream) {
            made.copied = std::make_shared<c10::Event>(c10::DeviceType::CUDA);
            made.copied->record(*stream);
        }
    } catch (...) { // LibTorch's errors, which next() throws again
        made.thrown = std::current_exception();
    }
    return made;
}

Feed::Ahead::Finished Feed::Ahead::take()
{
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !finished.empty(); });
    Finished made = std::move(finished.front());
    // What ends the epoch is told again to whoever asks again.
    if (made.thrown || !made.views || !made.views.value())
        finished.front() = made;
    else
        finished.pop_front();
    changed.notify_all();
    return made;
}

Feed::Feed(data::Loader &loader, std::vector<data::ViewSpec> specs, Options options)
    : m_loader(loader), m_specs(std::move(specs)), m_options(options)
{
    if (m_options.ahead) m_ahead = std::make_unique<Ahead>(*this);
}

Feed::~Feed() = default;

std::vector<torch::Tensor> Feed::onDevice(const data::Batch &batch) const
{
    if (m_options.drawOnly) {
        auto views = DeviceViews(m_specs, m_options.device).make(batch);
        for (auto &view : views) view = view.to(m_options.dtype).contiguous(m_options.layout);
        return views;
    }
    std::vector<torch::Tensor> views;
    for (std::size_t v = 0; v < batch.views.size(); ++v) {
        const std::int64_t size = batch.sizes[v];
        // The copy that follows only reads.
        auto host = torch::from_blob(const_cast<float *>(batch.views[v].data()), {batch.count(), 3, size, size});
        if (m_options.device.is_cuda()) host = host.pin_memory();
        auto view = host.to(m_options.device, m_options.dtype, true).contiguous(m_options.layout);
        views.push_back(view.is_alias_of(host) ? view.clone() : view); // the loader writes to the batch's memory again
    }
    return views;
}

Result<std::optional<Feed::Views>> Feed::load()
{
    auto batch = m_loader.next(std::move(m_batch));
    m_batch = {};
    if (!batch) return batch.error();
    if (!batch.value()) return std::optional<Views>();
    m_batch = std::move(*batch.value());
    return std::optional<Views>(Views{onDevice(m_batch)});
}

Result<std::optional<Feed::Views>> Feed::next()
{
    if (!m_ahead) {
        auto views = load();
        m_waited = m_loader.waited();
        return views;
    }
    const auto start = std::chrono::steady_clock::now();
    Ahead::Finished made = m_ahead->take();
    m_waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (made.thrown) std::rethrow_exception(made.thrown);
    if (made.copied && made.views && made.views.value()) {
        const c10::Stream stream = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).getStream(m_options.device);
        made.copied->block(stream);
        for (const auto &view : made.views.value()->views) view.record_stream(stream); // its memory stays until used here
    }
    return std::move(made.views);
}

} // namespace parallax::augment
