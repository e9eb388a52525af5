// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/byteimage.h"
#include "core/engine/data/resample.h"
#include "core/engine/data/transforms.h"
#include "core/engine/eval/knn.h"
#include "tests/engine/reference/kinds.h"

namespace reference {
namespace {

using namespace parallax;
using nlohmann::json;

/// Row i is compared up to num_valid[i]: classes without votes have no order.
const Register knn({"knn.predict"}, [](Checking &checking) {
    const Case &file = checking.file;
    const torch::Tensor bank = file.tensor("input.feature_bank").t(), queries = file.tensor("input.feature");
    const torch::Tensor labels = file.tensor("input.feature_labels"), targets = file.tensor("input.targets");
    const std::int64_t classes = file.params.at("num_classes"), k = file.params.at("k");
    const torch::Tensor neighbours = labels.index({std::get<1>(torch::matmul(queries, bank.t()).topk(k, 1))});
    const torch::Tensor valid = torch::zeros({queries.size(0), classes}).scatter_(1, neighbours, 1).sum(1).to(torch::kInt64);
    checking.compare("output.num_valid", valid);

    const torch::Tensor ranked = eval::knnPredict(queries, bank, labels, classes, {k, file.params.at("t")});
    const torch::Tensor counts = torch::arange(classes).unsqueeze(0) < valid.unsqueeze(1);
    const torch::Tensor merged = torch::where(counts, ranked, file.tensor("output.pred_labels"));
    checking.compare("output.pred_labels", merged);
    const torch::Tensor hits = (merged == targets.unsqueeze(1)).to(torch::kFloat64);
    for (const std::int64_t top : {1, 5})
        checking.compare("output.top" + std::to_string(top), hits.narrow(1, 0, std::min(top, classes)).sum(1).mean());
});

struct Operation {
    std::string name;
    json arguments; ///< behind the name
    double number(std::size_t i) const { return arguments.at(i + 1); }
    int whole(std::size_t i) const { return arguments.at(i + 1); }
    cv::Rect crop() const { return {whole(1), whole(0), whole(3), whole(2)}; }
    cv::Size size() const { return {whole(5), whole(4)}; }
    data::Filter filter() const { return arguments.at(7) == "bicubic" ? data::Filter::Bicubic : data::Filter::Bilinear; }
};

/// What each picture type calls the operations; an operation that it lacks is an error.
using Table = std::map<std::string, std::function<void(const Operation &)>>;

void run(const json &operations, const Table &table)
{
    for (const json &entry : operations) {
        const Operation operation{entry.at(0), entry};
        const auto found = table.find(operation.name);
        if (found == table.end()) throw std::runtime_error("there is no operation " + operation.name);
        found->second(operation);
    }
}

/// What PIL and tensors of 8 bits have in common.
Table byteOperations(cv::Mat &rgb, data::Precision precision)
{
    return {
        {"resized_crop",
         [&rgb, precision](const Operation &o) {
             rgb = data::resampleBytes(rgb, o.crop(), o.size(), o.filter(), precision);
         }},
        {"hflip", [&rgb](const Operation &) { data::flipHorizontally(rgb); }},
        {"vflip", [&rgb](const Operation &) { data::flipVertically(rgb); }},
        {"brightness", [&rgb](const Operation &o) { data::adjustBrightness(rgb, float(o.number(0))); }},
        {"solarize", [&rgb](const Operation &o) { data::solarise(rgb, o.number(0)); }},
    };
}

void runPil(cv::Mat &rgb, const json &operations)
{
    namespace pil = data::pil;
    Table table = byteOperations(rgb, data::Precision::Pil);
    table["contrast"] = [&](const Operation &o) { pil::adjustContrast(rgb, float(o.number(0))); };
    table["saturation"] = [&](const Operation &o) { pil::adjustSaturation(rgb, float(o.number(0))); };
    table["hue"] = [&](const Operation &o) { pil::adjustHue(rgb, o.number(0)); };
    table["grayscale"] = [&](const Operation &) { pil::toGray(rgb); };
    table["pil_blur"] = [&](const Operation &o) { pil::blur(rgb, float(o.number(0))); };
    table["lightly_solarize"] = table["solarize"];
    table["rotate"] = table["lightly_rotate"] = [&](const Operation &o) { pil::rotate(rgb, o.number(0)); };
    // torchvision takes a PIL image through a tensor and back for its Gaussian blur.
    table["tv_blur"] = [&](const Operation &o) { data::bytes::blur(rgb, o.whole(0) / 2, float(o.number(1))); };
    run(operations, table);
}

void runBytes(cv::Mat &rgb, const json &operations)
{
    namespace bytes = data::bytes;
    Table table = byteOperations(rgb, data::Precision::Torch);
    table["contrast"] = [&](const Operation &o) { bytes::adjustContrast(rgb, o.number(0)); };
    table["saturation"] = [&](const Operation &o) { bytes::adjustSaturation(rgb, o.number(0)); };
    table["hue"] = [&](const Operation &o) { bytes::adjustHue(rgb, float(o.number(0))); };
    table["grayscale"] = [&](const Operation &) { bytes::toGray(rgb); };
    table["tv_blur"] = [&](const Operation &o) { bytes::blur(rgb, o.whole(0) / 2, float(o.number(1))); };
    table["rotate"] = table["lightly_rotate"] = [&](const Operation &o) { bytes::rotate(rgb, o.number(0)); };
    run(operations, table);
}

/// Planes of floats that own their memory.
struct Picture {
    std::vector<float> values;
    cv::Size size;
    data::transforms::Planes planes() { return {values.data(), size.width, size.height}; }
};

void resize(Picture &picture, const Operation &o)
{
    Picture out{std::vector<float>(3 * std::size_t(o.size().area())), o.size()};
    data::resamplePlanes(picture.values.data(), picture.size, o.crop(), out.size, out.values.data(), o.filter());
    picture = std::move(out);
}

void runFloats(Picture &picture, const json &operations)
{
    namespace transforms = data::transforms;
    const auto turn = [&](const Operation &o) { transforms::rotate(picture.planes(), o.number(0)); };
    run(operations,
        {
            {"resized_crop", [&](const Operation &o) { resize(picture, o); }},
            {"hflip", [&](const Operation &) { transforms::flipHorizontally(picture.planes()); }},
            {"vflip", [&](const Operation &) { transforms::flipVertically(picture.planes()); }},
            {"brightness", [&](const Operation &o) { transforms::adjustBrightness(picture.planes(), float(o.number(0))); }},
            {"contrast", [&](const Operation &o) { transforms::adjustContrast(picture.planes(), float(o.number(0))); }},
            {"saturation", [&](const Operation &o) { transforms::adjustSaturation(picture.planes(), float(o.number(0))); }},
            {"hue", [&](const Operation &o) { transforms::adjustHue(picture.planes(), float(o.number(0))); }},
            {"grayscale", [&](const Operation &) { transforms::toGray(picture.planes()); }},
            {"solarize", [&](const Operation &o) { transforms::solarise(picture.planes(), float(o.number(0) / 255)); }},
            {"tv_blur", [&](const Operation &o) { transforms::blur(picture.planes(), o.whole(0) / 2, float(o.number(1))); }},
            {"rotate", turn},
            {"lightly_rotate", turn},
        });
}

Picture toFloats(const cv::Mat &rgb)
{
    Picture picture{std::vector<float>(3 * rgb.total()), rgb.size()};
    for (std::size_t i = 0; i < rgb.total(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
            picture.values[c * rgb.total() + i] = float(rgb.ptr(int(i) / rgb.cols)[3 * (int(i) % rgb.cols) + int(c)]) / 255;
    return picture;
}

torch::Tensor tensorOf(Picture &picture)
{
    return torch::from_blob(picture.values.data(), {3, picture.size.height, picture.size.width}).clone();
}

void compareNormalised(Checking &checking, const std::string &name, Picture picture)
{
    if (!checking.file.has(name)) return;
    const json &normalise = checking.file.params.at("normalize");
    const std::vector<double> mean = normalise.at("mean"), std = normalise.at("std");
    data::transforms::normalise(picture.planes(), mean.data(), std.data());
    checking.compare(name, tensorOf(picture));
}

const Register transforms({"transform"}, [](Checking &checking) {
    const json &operations = checking.file.params.at("ops");
    const torch::Tensor image = checking.file.tensor("input.image"); // [h, w, 3]
    const auto open = [&] { return cv::Mat(int(image.size(0)), int(image.size(1)), CV_8UC3, image.data_ptr()).clone(); };
    const auto tensor = [](const cv::Mat &rgb) {
        return torch::from_blob(rgb.data, {rgb.rows, rgb.cols, 3}, torch::kUInt8).clone();
    };
    for (const std::string semantics : checking.file.params.at("semantics")) {
        cv::Mat rgb = open();
        Picture picture = toFloats(rgb);
        if (semantics == "pil") {
            runPil(rgb, operations);
            checking.compare("output.pil", tensor(rgb));
            compareNormalised(checking, "output.pil_normalized", toFloats(rgb));
        } else if (semantics == "uint8") {
            runBytes(rgb, operations);
            checking.compare("output.uint8", tensor(rgb).permute({2, 0, 1}));
        } else if (semantics == "float") {
            runFloats(picture, operations);
            checking.compare("output.float", tensorOf(picture));
            compareNormalised(checking, "output.float_normalized", picture);
        } else {
            checking.fail("unknown semantics " + semantics);
        }
    }
});

} // namespace
} // namespace reference
