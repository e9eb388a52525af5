// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/loader.h"
#include "core/engine/data/source.h"
#include "core/engine/data/storeddataset.h"
#include "tests/engine/data/datatest.h"

#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

/// Pictures, places and counts for the tests of decoded images on disk.
namespace parallax::data::test {

inline cv::Mat busy(int width, int height, int seed)
{
    cv::Mat small(height / 5 + 2, width / 5 + 2, CV_8UC3), large;
    cv::RNG rng(std::uint64_t(seed) + 1);
    rng.fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, large, {width, height}, 0, 0, cv::INTER_CUBIC);
    return large;
}

/// Passes everything on and counts what is decoded.
class Counted : public WrappedDataset
{
public:
    explicit Counted(std::shared_ptr<const Dataset> inner) : WrappedDataset(std::move(inner)) { }
    Result<cv::Mat> imageFor(std::int64_t index, const DemandFor &demand) const override
    {
        ++decoded;
        return m_inner->imageFor(index, demand);
    }

    mutable std::atomic<int> decoded = 0;
};

/// A folder of JPEG and PNG pictures, small and large, and a place for stores.
class Place
{
public:
    explicit Place(int count = 6, cv::Size size = {}) : m_count(count), m_size(size)
    {
        for (int i = 0; i < count; ++i) write(i, i);
    }
    void write(int number, int seed) const
    {
        static const std::vector<cv::Size> sizes{{90, 70}, {1300, 900}, {64, 120}, {900, 1300}, {1000, 800}};
        const char *format = number % 3 == 2 ? ".png" : ".jpg";
        std::vector<std::uint8_t> bytes;
        const cv::Size size = m_size.empty() ? sizes[std::size_t(number) % 5] : m_size;
        cv::imencode(format, busy(size.width, size.height, seed), bytes);
        writeFileTo(
            m_dir.filePath(QStringLiteral("images/%1%2").arg(number, 3, 10, QLatin1Char('0')).arg(QLatin1String(format))),
            {bytes.begin(), bytes.end()});
    }
    std::filesystem::path images() const { return m_dir.filePath("images").toStdString(); }
    std::filesystem::path root() const { return m_dir.filePath("decoded").toStdString(); }
    std::shared_ptr<const Dataset> plain() const { return openFolder(images())->train; }
    PixelStore::Options options(const std::string &name = "here", std::uint64_t limit = std::uint64_t(1) << 30) const
    {
        return {.root = root(), .name = name, .limit = limit, .images = m_count};
    }
    std::vector<std::filesystem::path> segments() const
    {
        std::vector<std::filesystem::path> files;
        for (const auto &entry : std::filesystem::recursive_directory_iterator(root()))
            if (entry.path().extension() == ".pixels") files.push_back(entry.path());
        std::ranges::sort(files);
        return files;
    }

private:
    QTemporaryDir m_dir;
    int m_count;
    cv::Size m_size; ///< of all pictures; empty: several
};

inline std::vector<ViewSpec> twoViews(int size)
{
    AugmentConfig augment;
    augment.size = size;
    augment.cropMin = 0.4;
    return {{augment}, {augment}};
}

/// All views of two epochs, and how often an image was unreadable.
inline std::vector<std::vector<float>> epochs(const std::shared_ptr<const Dataset> &data, const std::vector<ViewSpec> &views,
                                              int threads)
{
    std::vector<std::vector<float>> made;
    for (int epoch = 0; epoch < 2; ++epoch) {
        Loader loader(data, views, {permutation(data->size(), 3, epoch)}, {.seed = 3, .epoch = epoch, .threads = threads});
        auto batch = loader.next();
        if (!batch || !*batch || !loader.takeUnreadable().empty()) return {};
        for (auto &view : (*batch)->views) made.push_back(std::move(view));
    }
    return made;
}

struct Opened {
    std::shared_ptr<const Counted> counted;
    std::shared_ptr<const StoredDataset> stored;
    int decoded() const { return counted->decoded; }
};

inline Opened open(const Place &place, PixelStore::Options options)
{
    auto counted = std::make_shared<const Counted>(place.plain());
    return {counted, std::make_shared<const StoredDataset>(counted, std::move(options))};
}
inline Opened open(const Place &place) { return open(place, place.options()); }

inline bool sameImages(const Dataset &a, const Dataset &b)
{
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const auto one = a.image(i), other = b.image(i);
        if (!one || !other || one->size() != other->size() || cv::norm(*one, *other, cv::NORM_INF) != 0) return false;
    }
    return a.size() == b.size();
}

inline void overwrite(const std::filesystem::path &file, std::uint64_t at, const std::string &bytes)
{
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(std::streamoff(at));
    out << bytes;
}

} // namespace parallax::data::test
