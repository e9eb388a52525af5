// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/data/dataset.h"

#include <nlohmann/json.hpp>

#include <QDir>
#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <opencv2/imgcodecs.hpp>

#include <array>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

/// What the tests of the data engine share.
namespace parallax::data::test {

inline QString dataPath(const QString &relative) { return QStringLiteral(PARALLAX_SOURCE_DIR "/tests/data/") + relative; }

inline std::string bytesOf(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return file.readAll().toStdString();
}

inline Bytes span(const std::string &bytes) { return {reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()}; }

inline nlohmann::json jsonOf(const QString &path) { return nlohmann::json::parse(bytesOf(path)); }

inline void writeFileTo(const QString &path, const std::string &bytes)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes.data(), qint64(bytes.size())) != qint64(bytes.size()))
        qFatal("cannot write %s", qPrintable(path));
}

/// A picture of one colour as the bytes of an image file.
inline std::string picture(const cv::Scalar &rgb, int width = 8, int height = 8, const char *format = ".png")
{
    const cv::Mat bgr(height, width, CV_8UC3, cv::Scalar(rgb[2], rgb[1], rgb[0]));
    std::vector<std::uint8_t> bytes;
    cv::imencode(format, bgr, bytes);
    return {bytes.begin(), bytes.end()};
}

/// Pixels that follow from the coordinates, without two equal rows or columns.
inline cv::Mat pattern(int width, int height, int seed = 0)
{
    cv::Mat rgb(height, width, CV_8UC3);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            rgb.at<cv::Vec3b>(y, x) =
                cv::Vec3b(std::uint8_t(x * 7 + y * 3 + seed * 31), std::uint8_t(x * 5 + y * 11 + seed * 17),
                          std::uint8_t((x * y + 13 * seed) % 251));
    return rgb;
}

/// Images made on the spot; some of them unreadable. Counts how often each is asked for.
class MadeDataset : public Dataset
{
public:
    MadeDataset(std::int64_t count, std::set<std::int64_t> unreadable = {}, int side = 12)
        : m_count(count), m_unreadable(std::move(unreadable)), m_side(side), asked(std::size_t(count))
    {
        m_source = "made";
        m_classes = {"even", "odd"};
    }
    std::int64_t size() const override { return m_count; }
    Item item(std::int64_t index) const override
    {
        return {0x1000 + std::uint64_t(index), "image-" + std::to_string(index), int(index % 2)};
    }
    Result<cv::Mat> image(std::int64_t index) const override
    {
        ++asked[std::size_t(index)];
        if (m_unreadable.count(index)) return Error{"made to fail", item(index).name, {}};
        return pattern(m_side, m_side, int(index));
    }
    Result<DecodedImage> inspect(std::int64_t index) const override
    {
        auto made = image(index);
        if (!made) return made.error();
        return DecodedImage{*made, {}};
    }

private:
    std::int64_t m_count;
    std::set<std::int64_t> m_unreadable;
    int m_side;

public:
    mutable std::vector<std::atomic<int>> asked;
};

/// Average colour of a part of a picture.
inline std::array<double, 3> meanOf(const cv::Mat &rgb, const cv::Rect &part)
{
    const cv::Scalar mean = cv::mean(rgb(part));
    return {mean[0], mean[1], mean[2]};
}

} // namespace parallax::data::test
