// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/decode.h"

#include "core/engine/data/random.h"
#include "tests/engine/data/datatest.h"

#include <QTest>

#include <fstream>

using namespace parallax;
using namespace parallax::data;
using namespace parallax::data::test;

namespace {

double nearEnough(const std::array<double, 3> &got, const nlohmann::json &wanted)
{
    double worst = 0;
    for (std::size_t c = 0; c < 3; ++c) worst = std::max(worst, std::abs(got[c] - wanted.at(c).get<double>()));
    return worst;
}

/// Peak of the resident set in kB.
long peakMemory()
{
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    return 0;
}

/// "II*\0" block whose first directory holds the orientation alone.
std::string exifBlock(int orientation)
{
    std::string block("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18);
    block += char(orientation);
    return block + std::string(7, '\0');
}

std::string chunk(const std::string &type, const std::string &body)
{
    const auto big = [](std::uint32_t n) { return std::string{char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; };
    std::uint32_t crc = ~0u;
    for (const unsigned char c : type + body) {
        crc ^= c;
        for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return big(std::uint32_t(body.size())) + type + body + big(~crc);
}

/// The colour of each corner tells how a 3 x 2 picture of red, green / blue, yellow corners is turned.
cv::Mat corners()
{
    cv::Mat bgr(20, 30, CV_8UC3, cv::Scalar(0, 0, 255));
    bgr(cv::Rect(15, 0, 15, 10)) = cv::Scalar(0, 255, 0);
    bgr(cv::Rect(0, 10, 15, 10)) = cv::Scalar(255, 0, 0);
    bgr(cv::Rect(15, 10, 15, 10)) = cv::Scalar(0, 255, 255);
    return bgr;
}

/// What a viewer shows for each orientation, as the EXIF standard words it: which stored corner comes to the top left and
/// which to the top right. 0 top left, 1 top right, 2 bottom left, 3 bottom right.
constexpr int shownCorners[9][2] = {{0, 1}, {0, 1}, {1, 0}, {3, 2}, {2, 3}, {0, 2}, {2, 0}, {3, 1}, {1, 3}};

std::array<double, 3> cornerColor(int corner)
{
    static const std::array<double, 3> colors[] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 0}};
    return colors[corner];
}

} // namespace

class TestDecode : public QObject
{
    Q_OBJECT

private slots:
    void everyFileAsExpected_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("name");
        for (const char *folder : {"cmyk", "exif", "wrong-type", "size-bombs", "many-frames"}) {
            const auto files = jsonOf(dataPath(QString("images/%1/expected.json").arg(folder)));
            for (const auto &[name, expected] : files.items())
                QTest::newRow((std::string(folder) + '/' + name).c_str()) << QString(folder) << QString::fromStdString(name);
        }
    }
    void everyFileAsExpected()
    {
        QFETCH(QString, folder);
        QFETCH(QString, name);
        const auto expected = jsonOf(dataPath("images/" + folder + "/expected.json")).at(name.toStdString());
        const std::string bytes = bytesOf(dataPath("images/" + folder + '/' + name));
        QVERIFY(!bytes.empty());
        const auto decoded = decodeImage(span(bytes));
        const auto readable = expected.at("readable");
        if (readable.is_boolean())
            QVERIFY2(decoded.ok() == readable.get<bool>(), decoded ? "" : decoded.error().what.c_str());
        if (!decoded) {
            QVERIFY(!decoded.error().what.empty());
            return;
        }
        const cv::Mat &rgb = decoded->rgb;
        QCOMPARE(rgb.type(), CV_8UC3);
        QCOMPARE(rgb.cols, expected.at("size").at(0).get<int>());
        QCOMPARE(rgb.rows, expected.at("size").at(1).get<int>());
        if (expected.contains("bands") && expected.at("format") != "GIF")
            QCOMPARE(decoded->header.channels, expected.at("bands").get<int>());
        if (expected.contains("frames")) QCOMPARE(decoded->header.frames, expected.at("frames").get<int>());
        if (expected.contains("pil_mode")) QCOMPARE(decoded->header.cmyk, expected.at("pil_mode") == "CMYK");
        if (!expected.contains("tol")) return;
        const double tolerance = expected.at("tol").get<double>() + 0.25; // the expected figures are rounded
        const int w = rgb.cols, h = rgb.rows;
        const double worst = nearEnough(meanOf(rgb, {0, 0, w, h}), expected.at("mean_rgb8"));
        QVERIFY2(worst <= tolerance, qPrintable(QString("mean is off by %1").arg(worst)));
        if (!expected.contains("quadrants_rgb8")) return;
        const std::map<std::string, cv::Rect> parts{{"tl", {0, 0, w / 2, h / 2}},
                                                    {"tr", {w / 2, 0, w / 2, h / 2}},
                                                    {"bl", {0, h / 2, w / 2, h / 2}},
                                                    {"br", {w / 2, h / 2, w / 2, h / 2}}};
        for (const auto &[part, rect] : parts) {
            const double off = nearEnough(meanOf(rgb, rect), expected.at("quadrants_rgb8").at(part));
            QVERIFY2(off <= tolerance, qPrintable(QString("%1 is off by %2").arg(part.c_str()).arg(off)));
        }
    }

    void saysWhatItIs_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("word");
        QTest::newRow("HTML") << "wrong-type/html_inside.jpg"
                              << "HTML";
        QTest::newRow("LFS") << "wrong-type/lfs_pointer.jpg"
                             << "Git LFS";
        QTest::newRow("HEIC") << "wrong-type/heic_header.jpg"
                              << "HEIC";
        QTest::newRow("AVIF") << "wrong-type/avif_inside.jpg"
                              << "AVIF";
        QTest::newRow("JPEG 2000") << "wrong-type/jp2_inside.jpg"
                                   << "JPEG 2000";
        QTest::newRow("PDF") << "wrong-type/pdf_inside.jpg"
                             << "PDF";
        QTest::newRow("SVG") << "wrong-type/svg_inside.png"
                             << "SVG";
        QTest::newRow("text") << "wrong-type/text.png"
                              << "text";
        QTest::newRow("size with limit") << "size-bombs/claims_65500.jpg"
                                         << "65500 x 65500 pixels, over the limit of 268 megapixels";
        QTest::newRow("true size") << "size-bombs/true_30000.png"
                                   << "30000 x 30000 pixels, over the limit";
        QTest::newRow("zero width") << "size-bombs/zero_width.png"
                                    << "damaged";
        QTest::newRow("BMP") << "size-bombs/claims_2g.bmp"
                             << "over the limit";
        QTest::newRow("GIF canvas") << "size-bombs/canvas_65535.gif"
                                    << "65535 x 65535 pixels, over the limit";
        QTest::newRow("TIFF") << "size-bombs/claims_100000.tif"
                              << "100000 x 100000 pixels, over the limit";
    }
    void saysWhatItIs()
    {
        QFETCH(QString, file);
        QFETCH(QString, word);
        const auto decoded = decodeImage(span(bytesOf(dataPath("images/" + file))));
        QVERIFY(!decoded);
        QVERIFY2(QString::fromStdString(decoded.error().what).contains(word), decoded.error().what.c_str());
    }

    void emptyAndZeroBytes()
    {
        QCOMPARE(decodeImage({}).error().what, std::string("an empty file"));
        QVERIFY(decodeImage(span(std::string(5'000, '\0'))).error().what.find("zero bytes") != std::string::npos);
    }

    void aHeaderThatClaimsFarMoreThanTheDataHolds()
    {
        // Under the limit of pixels, but 200 bytes of data cannot hold them: nothing may be allocated for the claim.
        std::string ihdr("\0\0\x3A\x98\0\0\x3A\x98\x08\x02\0\0\0", 13);
        const std::string png =
            "\x89PNG\r\n\x1A\n" + chunk("IHDR", ihdr) + chunk("IDAT", std::string(200, 'x')) + chunk("IEND", {});
        const auto decoded = decodeImage(span(png));
        QVERIFY(!decoded);
        QVERIFY2(decoded.error().what.find("more than its data can hold") != std::string::npos,
                 decoded.error().what.c_str());
    }

    void bombsTakeNoMemory()
    {
#if defined(__SANITIZE_ADDRESS__)
        QSKIP("the sanitizer's own memory is in the figure");
#endif
        const auto files = jsonOf(dataPath("images/size-bombs/expected.json"));
        const long before = peakMemory();
        for (const auto &[name, expected] : files.items()) {
            if (!expected.contains("max_rss_growth_mb")) continue;
            (void)decodeImage(span(bytesOf(dataPath("images/size-bombs/" + QString::fromStdString(name)))));
            const long growth = (peakMemory() - before) / 1024;
            QVERIFY2(growth < 64, (name + ": " + std::to_string(growth) + " MB").c_str());
        }
    }

    void cutShort_data()
    {
        QTest::addColumn<QString>("file");
        for (const char *file : {"exif/orientation_1.jpg", "exif/orientation_6.png", "exif/orientation_8.webp",
                                 "wrong-type/bmp_inside.png", "wrong-type/tiff_inside.jpg", "wrong-type/gif_inside.jpg"})
            QTest::newRow(file) << QString(file);
    }
    void cutShort()
    {
        QFETCH(QString, file);
        const std::string whole = bytesOf(dataPath("images/" + file));
        QVERIFY(decodeImage(span(whole)).ok());
        for (const double share : {0.3, 0.5, 0.9, 0.99}) {
            const auto decoded = decodeImage(span(whole.substr(0, std::size_t(double(whole.size()) * share))));
            QVERIFY2(!decoded, qPrintable(QString::number(share)));
            QVERIFY2(decoded.error().what.find("cut short") != std::string::npos, decoded.error().what.c_str());
        }
    }

    void anyCutOrFlippedByteEndsWell_data() { cutShort_data(); }
    void anyCutOrFlippedByteEndsWell()
    {
        QFETCH(QString, file);
        const std::string whole = bytesOf(dataPath("images/" + file));
        Random random(ViewKey{7, 0, 0, 0}, Random::Purpose::Order);
        for (int i = 0; i < 300; ++i) {
            std::string bytes = whole;
            // Headers are where the dangerous numbers are.
            for (int k = 0; k < 3; ++k)
                bytes[random.below(k == 0 ? std::min<std::size_t>(64, bytes.size()) : bytes.size())] = char(random.bits());
            if (i % 3 == 0) bytes.resize(random.below(bytes.size()));
            const auto decoded = decodeImage(span(bytes));
            if (decoded)
                QVERIFY(!decoded->rgb.empty());
            else
                QVERIFY(!decoded.error().what.empty());
        }
    }

    void orientationIsAppliedOnce_data()
    {
        QTest::addColumn<int>("orientation");
        for (int i = 1; i <= 8; ++i) QTest::newRow(std::to_string(i).c_str()) << i;
    }
    void orientationIsAppliedOnce()
    {
        QFETCH(int, orientation);
        std::vector<std::uint8_t> encoded;
        cv::imencode(".png", corners(), encoded);
        const std::string plain(encoded.begin(), encoded.end());
        const std::string png = plain.substr(0, 33) + chunk("eXIf", exifBlock(orientation)) + plain.substr(33);

        cv::imencode(".jpg", corners(), encoded, {cv::IMWRITE_JPEG_QUALITY, 100});
        const std::string jfif(encoded.begin(), encoded.end()), exif = std::string("Exif\0\0", 6) + exifBlock(orientation);
        const std::string jpeg =
            jfif.substr(0, 2) + "\xFF\xE1" + char((exif.size() + 2) >> 8) + char(exif.size() + 2) + exif + jfif.substr(2);

        // Uncompressed, by hand: encoders do not let one choose the tag.
        std::string tiff("II*\0\x08\0\0\0\x09\0", 10);
        const auto entry = [&tiff](int tag, int type, std::uint32_t count, std::uint32_t value) {
            for (const std::uint32_t part : {std::uint32_t(tag) | std::uint32_t(type) << 16, count, value})
                for (int k = 0; k < 4; ++k) tiff += char(part >> (8 * k));
        };
        constexpr std::uint32_t extra = 8 + 2 + 9 * 12 + 4;
        entry(256, 4, 1, 30);
        entry(257, 4, 1, 20);
        entry(258, 3, 3, extra);
        entry(259, 3, 1, 1);
        entry(262, 3, 1, 2);
        entry(273, 4, 1, extra + 6);
        entry(274, 3, 1, std::uint32_t(orientation));
        entry(277, 3, 1, 3);
        entry(279, 4, 1, 30 * 20 * 3);
        tiff += std::string(4, '\0') + std::string("\x08\0\x08\0\x08\0", 6);
        const cv::Mat bgr = corners();
        for (const auto &pixel : cv::Mat_<cv::Vec3b>(bgr))
            for (const int c : {2, 1, 0}) tiff += char(pixel[c]);

        for (const auto &[format, bytes] : {std::pair("PNG", png), std::pair("JPEG", jpeg), std::pair("TIFF", tiff)}) {
            const auto decoded = decodeImage(span(bytes));
            QVERIFY2(decoded.ok(), decoded ? "" : decoded.error().what.c_str());
            const cv::Mat &rgb = decoded->rgb;
            QCOMPARE(rgb.cols, orientation >= 5 ? 20 : 30);
            QCOMPARE(rgb.rows, orientation >= 5 ? 30 : 20);
            const int *shown = shownCorners[orientation];
            for (int side = 0; side < 2; ++side) {
                const auto got = meanOf(rgb, {side == 0 ? 1 : rgb.cols - 6, 1, 4, 4}), wanted = cornerColor(shown[side]);
                for (std::size_t c = 0; c < 3; ++c)
                    QVERIFY2(std::abs(got[c] - wanted[c]) < 12, qPrintable(QString("%1, corner %2").arg(format).arg(side)));
            }
        }
    }

    void sixteenBitsBecomeEight_data()
    {
        QTest::addColumn<QString>("format");
        QTest::addColumn<int>("channels");
        for (const char *format : {".png", ".tiff"})
            for (const int channels : {1, 3, 4}) QTest::addRow("%s %d", format, channels) << format << channels;
    }
    void sixteenBitsBecomeEight()
    {
        QFETCH(QString, format);
        QFETCH(int, channels);
        const std::uint16_t values[] = {0, 128, 129, 32'768, 65'406, 65'535};
        cv::Mat deep(1, 6, CV_MAKETYPE(CV_16U, channels));
        for (int i = 0; i < 6 * channels; ++i) deep.ptr<std::uint16_t>()[i] = values[i / channels];
        std::vector<std::uint8_t> encoded;
        cv::imencode(format.toStdString(), deep, encoded);
        const auto decoded = decodeImage({encoded.data(), encoded.size()});
        QVERIFY2(decoded.ok(), decoded ? "" : decoded.error().what.c_str());
        QCOMPARE(decoded->header.channels, channels);
        for (int x = 0; x < 6; ++x)
            for (int c = 0; c < 3; ++c)
                QCOMPARE(int(decoded->rgb.at<cv::Vec3b>(0, x)[c]), int(std::lround(values[x] / 257.0)));
    }

    void grayAndAlphaOfTiff_data()
    {
        QTest::addColumn<int>("channels");
        for (const int channels : {1, 3, 4}) QTest::addRow("%d", channels) << channels;
    }
    void grayAndAlphaOfTiff()
    {
        QFETCH(int, channels);
        std::vector<std::uint8_t> encoded;
        cv::imencode(".tiff", cv::Mat(3, 5, CV_8UC(channels), cv::Scalar(40, 40, 40, 0)), encoded);
        const auto decoded = decodeImage({encoded.data(), encoded.size()});
        QVERIFY2(decoded.ok(), decoded ? "" : decoded.error().what.c_str());
        QVERIFY(decoded->rgb.at<cv::Vec3b>(2, 4) == cv::Vec3b(40, 40, 40));
    }

    void damageInTheMiddleOfAJpegIsSeen()
    {
        std::vector<std::uint8_t> encoded;
        cv::imencode(".jpg", pattern(200, 200), encoded, {cv::IMWRITE_JPEG_QUALITY, 95});
        QVERIFY(decodeImage({encoded.data(), encoded.size()}).ok());
        // The second half is lost, the end marker is there: half of the picture would be gray.
        encoded.erase(encoded.begin() + std::ptrdiff_t(encoded.size() / 2), encoded.end() - 2);
        const auto decoded = decodeImage({encoded.data(), encoded.size()});
        QVERIFY(!decoded);
        QVERIFY2(decoded.error().what.find("premature end") != std::string::npos, decoded.error().what.c_str());
    }

    void strayBytesBeforeAMarkerDoNoHarm()
    {
        std::vector<std::uint8_t> encoded;
        cv::imencode(".jpg", pattern(64, 64), encoded);
        const auto whole = decodeImage({encoded.data(), encoded.size()});
        encoded.insert(encoded.end() - 2, {1, 2, 3});
        encoded.insert(encoded.begin() + 20, {0, 0}); // after the JFIF segment
        const auto stray = decodeImage({encoded.data(), encoded.size()});
        QVERIFY2(stray.ok(), stray ? "" : stray.error().what.c_str());
        QVERIFY(cv::norm(whole->rgb, stray->rgb, cv::NORM_INF) == 0);
    }

    void floatingPointIsRefusedByName()
    {
        std::vector<std::uint8_t> encoded;
        cv::imencode(".tiff", cv::Mat(4, 4, CV_32F, cv::Scalar(0.5)), encoded);
        const auto decoded = decodeImage({encoded.data(), encoded.size()});
        QVERIFY(!decoded);
        QVERIFY2(decoded.error().what.find("integers") != std::string::npos, decoded.error().what.c_str());
    }

    void transparencyIsDropped()
    {
        cv::Mat bgra(4, 4, CV_8UC4, cv::Scalar(10, 20, 30, 0));
        std::vector<std::uint8_t> encoded;
        cv::imencode(".png", bgra, encoded);
        const auto decoded = decodeImage({encoded.data(), encoded.size()});
        QVERIFY(decoded.ok());
        QCOMPARE(decoded->header.channels, 4);
        QVERIFY(decoded->rgb.at<cv::Vec3b>(2, 2) == cv::Vec3b(30, 20, 10));
    }

    void netpbmIsRead()
    {
        const auto decoded = decodeImage(span(std::string("P6\n# made by hand\n2 1\n255\n\x01\x02\x03\xF0\xF1\xF2")));
        QVERIFY(decoded.ok());
        QVERIFY(decoded->rgb.at<cv::Vec3b>(0, 1) == cv::Vec3b(0xF0, 0xF1, 0xF2));
        QVERIFY(decodeImage(span(std::string("P6\n2 1\n255\n\x01\x02\x03"))).error().what.find("cut short") !=
                std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestDecode)
#include "tst_decode.moc"
