// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/loader.h"

#include "core/engine/data/random.h"
#include "core/engine/data/view.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

namespace parallax::data {

namespace {

constexpr std::size_t chunk = 4; ///< images a thread takes at once: small, so that a batch is shared by all threads

using Clock = std::chrono::steady_clock;

} // namespace

std::vector<std::int64_t> permutation(std::int64_t count, std::uint64_t seed, std::int64_t epoch)
{
    std::vector<std::int64_t> order(std::size_t(std::max<std::int64_t>(count, 0)));
    std::iota(order.begin(), order.end(), 0);
    Random random(ViewKey{seed, epoch, 0, 0}, Random::Purpose::Order);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

std::vector<std::vector<std::int64_t>> rankBatches(const std::vector<std::int64_t> &order, std::int64_t batch, int rank,
                                                   int world)
{
    std::vector<std::vector<std::int64_t>> batches;
    if (batch < 1) return batches;
    const std::int64_t begin = batch * rank / world, end = batch * (rank + 1) / world;
    for (std::int64_t first = 0; first + batch <= std::int64_t(order.size()); first += batch)
        batches.emplace_back(order.begin() + first + begin, order.begin() + first + end);
    return batches;
}

struct Loader::Impl {
    /// A batch in the making.
    struct Slot {
        Batch batch;
        std::size_t taken = 0, done = 0; ///< images handed to threads, images finished
    };
    struct Chunk {
        Slot *slot;
        std::size_t begin, end;
    };

    Impl(std::shared_ptr<const Dataset> set, std::vector<ViewSpec> specs, std::vector<std::vector<std::int64_t>> lists,
         Options wanted)
        : data(std::move(set)), views(std::move(specs)), batches(std::move(lists)), options(wanted), spare(views.size())
    {
    }

    std::shared_ptr<const Dataset> data;
    std::vector<ViewSpec> views;
    std::vector<std::vector<std::int64_t>> batches;
    Options options;

    std::mutex mutex;
    std::condition_variable work, ready;     ///< a place for a batch is free or all is over; the first batch is finished
    std::deque<std::unique_ptr<Slot>> slots; ///< of the batches from `delivered` on
    std::size_t delivered = 0;
    std::optional<Error> failure;
    std::atomic<bool> over = false; ///< a failure, or the loader goes away; asked between images without the lock
    double waited = 0;
    std::vector<std::vector<std::vector<float>>> spare; ///< of each view, memory of batches that are done with
    std::vector<Unreadable> unreadable;
    std::vector<std::thread> threads;

    void run();
    std::optional<Chunk> takeChunk(std::unique_lock<std::mutex> &lock);
    std::unique_ptr<Slot> newSlot(const std::vector<std::int64_t> &list);
    void keepMemory(Batch used);
    void fill(Slot &slot, std::size_t place);
    void make(Batch &batch, std::size_t place, const cv::Mat &image, ViewKey key) const;
    void draw(Batch &batch, std::size_t place, const cv::Mat &image, ViewKey key) const;
    void report(std::int64_t index, const Error &error);
    void fail(Error error);
};

/// A place in the queue, sized for its batch. The pixels are written once, by the threads.
std::unique_ptr<Loader::Impl::Slot> Loader::Impl::newSlot(const std::vector<std::int64_t> &list)
{
    auto slot = std::make_unique<Slot>();
    slot->batch.index = list;
    slot->batch.label.resize(list.size());
    slot->batch.replaced.resize(list.size());
    for (const auto &view : views) slot->batch.sizes.push_back(int(view.augment.size));
    if (options.drawOnly) {
        slot->batch.images.resize(list.size());
        slot->batch.drawn.assign(views.size(), std::vector<DrawnView>(list.size()));
        return slot;
    }
    for (std::size_t v = 0; v < views.size(); ++v) {
        const std::size_t size = std::size_t(views[v].augment.size);
        std::vector<float> pixels;
        if (!spare[v].empty()) {
            pixels = std::move(spare[v].back());
            spare[v].pop_back();
        }
        pixels.resize(list.size() * 3 * size * size);
        slot->batch.views.push_back(std::move(pixels));
    }
    return slot;
}

void Loader::Impl::keepMemory(Batch used)
{
    if (used.views.size() != views.size()) return; // none, or of another loader
    for (std::size_t v = 0; v < views.size(); ++v) spare[v].push_back(std::move(used.views[v]));
}

/// The next images to make, of the earliest batch that has some; waits for one. Nothing: all is over.
std::optional<Loader::Impl::Chunk> Loader::Impl::takeChunk(std::unique_lock<std::mutex> &lock)
{
    for (;;) {
        if (over) return {};
        for (const auto &slot : slots) {
            const std::size_t count = slot->batch.index.size();
            if (slot->taken == count) continue;
            const std::size_t begin = slot->taken;
            slot->taken = std::min(count, begin + chunk);
            return Chunk{slot.get(), begin, slot->taken};
        }
        const std::size_t next = delivered + slots.size();
        if (next == batches.size()) return {};
        if (slots.size() < std::size_t(std::max(1, options.prefetch))) {
            slots.push_back(newSlot(batches[next]));
            if (batches[next].empty()) ready.notify_all(); // more ranks than images in a batch: finished as it is
        } else {
            work.wait(lock);
        }
    }
}

void Loader::Impl::run()
{
    std::unique_lock lock(mutex);
    while (const auto taken = takeChunk(lock)) {
        lock.unlock();
        for (std::size_t i = taken->begin; i < taken->end; ++i) {
            if (over) return;
            fill(*taken->slot, i);
        }
        lock.lock();
        taken->slot->done += taken->end - taken->begin;
        if (taken->slot->done == taken->slot->batch.index.size()) ready.notify_all();
    }
}

/// All views of the image at `place` of the batch, or of the next readable one of the data set.
void Loader::Impl::fill(Slot &slot, std::size_t place)
{
    const std::int64_t wanted = slot.batch.index[place];
    const std::uint64_t wantedId = data->item(wanted).id;
    for (std::int64_t step = 0; step < data->size(); ++step) {
        const std::int64_t index = (wanted + step) % data->size();
        const Item item = data->item(index);
        ViewKey key{options.seed, options.epoch, step == 0 ? item.id : mix(wantedId, item.id), 0};
        const auto image = data->imageFor(index, [&](const cv::Size &stored) { return demandOf(views, key, stored); });
        if (!image) {
            report(index, image.error());
            continue;
        }
        slot.batch.index[place] = index;
        slot.batch.label[place] = item.label;
        slot.batch.replaced[place] = step > 0;
        if (options.drawOnly)
            draw(slot.batch, place, *image, key);
        else
            make(slot.batch, place, *image, key);
        return;
    }
    fail({"no image of " + data->source() + " can be read", {}, "parallax data check lists what each file is."});
}

void Loader::Impl::make(Batch &batch, std::size_t place, const cv::Mat &image, ViewKey key) const
{
    for (std::size_t v = 0; v < views.size(); ++v) {
        const std::size_t size = 3 * std::size_t(views[v].augment.size) * std::size_t(views[v].augment.size);
        key.view = int(v);
        makeView(image, views[v], key, batch.views[v].data() + place * size);
    }
}

/// What no crop looks at stays behind.
void Loader::Impl::draw(Batch &batch, std::size_t place, const cv::Mat &image, ViewKey key) const
{
    cv::Rect seen;
    for (std::size_t v = 0; v < views.size(); ++v) {
        key.view = int(v);
        batch.drawn[v][place] = drawView(image.size(), views[v].augment, key);
        seen |= batch.drawn[v][place].crop;
    }
    batch.images[place] = image(seen);
    for (auto &drawn : batch.drawn) drawn[place].crop -= seen.tl();
}

void Loader::Impl::report(std::int64_t index, const Error &error)
{
    if (!data->firstReport(index)) return;
    const std::string name = data->item(index).name;
    std::lock_guard lock(mutex);
    unreadable.push_back({name, error.what});
}

void Loader::Impl::fail(Error error)
{
    std::lock_guard lock(mutex);
    if (!failure) failure = std::move(error);
    over = true;
    work.notify_all();
    ready.notify_all();
}

Loader::Loader(std::shared_ptr<const Dataset> data, std::vector<ViewSpec> views,
               std::vector<std::vector<std::int64_t>> batches, Options options)
    : m_impl(std::make_unique<Impl>(std::move(data), std::move(views), std::move(batches), options))
{
    const auto work = [impl = m_impl.get()] {
        try {
            impl->run();
        } catch (const std::bad_alloc &) {
            impl->fail({"out of memory in a loader thread", {}, "Lower data.prefetch, data.threads or train.batch_size"});
        } catch (const std::exception &exception) { // next() says it
            impl->fail({std::string("a loader thread failed: ") + exception.what(), {}, {}});
        }
    };
    try {
        for (int i = 0; i < std::max(1, options.threads); ++i) m_impl->threads.emplace_back(work);
    } catch (const std::system_error &error) { // the system's limit of threads: go on with those there are
        if (m_impl->threads.empty()) m_impl->fail({std::string("no loader thread can be started: ") + error.what(), {}, {}});
    }
}

Loader::~Loader()
{
    {
        std::lock_guard lock(m_impl->mutex);
        m_impl->over = true;
    }
    m_impl->work.notify_all();
    for (auto &thread : m_impl->threads) thread.join();
}

Result<std::optional<Batch>> Loader::next(Batch used)
{
    std::unique_lock lock(m_impl->mutex);
    m_impl->keepMemory(std::move(used));
    if (m_impl->delivered == m_impl->batches.size()) return std::optional<Batch>();
    const auto start = Clock::now();
    m_impl->ready.wait(lock, [this] {
        const auto &slots = m_impl->slots;
        return m_impl->failure || (!slots.empty() && slots.front()->done == slots.front()->batch.index.size());
    });
    m_impl->waited += std::chrono::duration<double>(Clock::now() - start).count();
    if (m_impl->failure) return *m_impl->failure;
    Batch batch = std::move(m_impl->slots.front()->batch);
    m_impl->slots.pop_front();
    ++m_impl->delivered;
    m_impl->work.notify_all();
    return std::optional<Batch>(std::move(batch));
}

double Loader::waited() const
{
    std::lock_guard lock(m_impl->mutex);
    return m_impl->waited;
}

std::vector<Loader::Unreadable> Loader::takeUnreadable()
{
    std::lock_guard lock(m_impl->mutex);
    return std::exchange(m_impl->unreadable, {});
}

} // namespace parallax::data
