// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakejobs.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"
#include "core/engine/eval/probeconfig.h"
#include "core/runs/evaluation.h"
#include "core/runs/runfolder.h"
#include "core/runs/safetensors.h"
#include "tests/support/fakeschema.h"
#include "tests/support/fakescript.h"
#include "tests/support/faketrain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <zlib.h>

namespace parallax::fake {

namespace {

using config::Json;

Json error(const Error &error) { return {{"error", {{"what", error.what}, {"where", error.where}, {"hint", error.hint}}}}; }

std::string option(const Options &options, const char *name, const char *otherwise = "")
{
    const auto found = options.find(name);
    return found == options.end() ? otherwise : found->second;
}

std::int64_t number(const Options &options, const char *name, std::int64_t otherwise)
{
    return text::parseInt(option(options, name)).value_or(otherwise);
}

/// Says what the real worker says of data that is not there; anything else passes.
std::optional<Error> problemWith(const Json &config)
{
    const Json *source = config::lookup(config, "data.source");
    const std::string path = source && source->is_string() ? source->get<std::string>() : "";
    if (path.empty()) return Error{"No images were chosen", "data.source", "Choose a folder of images"};
    if (path.find('/') != std::string::npos && !std::filesystem::exists(path))
        return Error{"The folder does not exist", path, "Choose a folder of images"};
    return {};
}

Json plan(const Json &config)
{
    const auto train = config::read<Train>(config, "train");
    const auto distributed = config::read<Distributed>(config, "distributed");
    const auto optim = config::read<Optim>(config, "optim");
    const std::int64_t world = std::max<std::int64_t>(1, distributed.ranks), images = 5000;
    if (train.batchSize > images)
        return error({"The batch of " + std::to_string(train.batchSize) + " images is larger than the data of 5000",
                      "train.batch_size", "Choose at most 5000"});
    if (distributed.device == "cuda") return error({"There are 0 CUDA devices", "distributed.device", "Choose cpu or auto"});
    const bool unlabelled = Script(-1).has("unlabelled");
    Json warnings = Json::array();
    if (unlabelled) warnings.push_back("The images have no labels: kNN accuracy is off");
    if (world > 8) warnings.push_back(std::to_string(world) + " ranks share the cores: one thread each");
    const Json *method = config::lookup(config, "method.name");
    Json concerns = Json::object();
    if (world > 1 && !distributed.gather && method && *method == "simclr")
        warnings.push_back(concerns["distributed.gather"] = "SimCLR sees only the images of a rank: gather is off");
    std::int64_t steps = images / train.batchSize * train.epochs;
    if (train.maxSteps > 0) steps = std::min(steps, train.maxSteps);
    const double scale = optim.lrReferenceBatch > 0 ? double(train.batchSize) / double(optim.lrReferenceBatch) : 1;
    return {{"images", images},
            {"val_images", 2000},
            {"classes", {"class0", "class1", "class2", "class3"}},
            {"labelled", !unlabelled},
            {"remark", ""},
            {"steps_per_epoch", images / train.batchSize},
            {"steps", steps},
            {"batch_per_rank", std::vector<std::int64_t>(std::size_t(world), train.batchSize / world)},
            {"lr_scaled", optim.baseLr * scale},
            {"features", 128},
            {"parameters", 700'000},
            {"devices", std::vector<std::string>(std::size_t(world), "cpu")},
            {"threads_per_rank", 1},
            {"concerns", concerns},
            {"warnings", warnings}};
}

/// The settings, and what a method means for two of them.
Json schemaWithNotes()
{
    Json json = schema().toJson();
    for (Json &field : json["fields"])
        if (field["key"] == "method.name")
            for (Json &choice : field["choices"])
                choice["notes"] = {{"distributed.gather", choice["value"] == "simclr" ? "Needed here." : "No effect here."}};
    return json;
}

void appendBig(std::string &bytes, std::uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) bytes += char(value >> shift & 0xff);
}

void appendChunk(std::string &png, const std::string &type, const std::string &data)
{
    appendBig(png, std::uint32_t(data.size()));
    const std::string body = type + data;
    png += body;
    appendBig(png, std::uint32_t(crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()))));
}

/// A square RGB PNG with a soft gradient in a colour of its own.
std::string picture(int size, int seed)
{
    std::string rows;
    for (int y = 0; y < size; ++y) {
        rows += '\0'; // no filter
        for (int x = 0; x < size; ++x)
            for (int c = 0; c < 3; ++c) rows += char(127 + 60 * std::sin(0.1 * (x * (c + 1) + y) + seed * 2.4 + c));
    }
    std::string packed(compressBound(uLong(rows.size())), '\0');
    uLongf length = uLongf(packed.size());
    compress(reinterpret_cast<Bytef *>(packed.data()), &length, reinterpret_cast<const Bytef *>(rows.data()),
             uLong(rows.size()));
    packed.resize(length);
    std::string png = "\x89PNG\r\n\x1a\n", header;
    appendBig(header, std::uint32_t(size));
    appendBig(header, std::uint32_t(size));
    header += std::string("\x08\x02\0\0\0", 5);
    appendChunk(png, "IHDR", header);
    appendChunk(png, "IDAT", packed);
    appendChunk(png, "IEND", {});
    return png;
}

Json preview(const Options &options)
{
    const std::filesystem::path out = option(options, "--out", ".");
    std::filesystem::create_directories(out);
    Json images = Json::array();
    const auto save = [&](const std::string &name, int seed) {
        return writeFileAtomic(out / name, picture(32, seed)) ? name : std::string();
    };
    for (std::int64_t i = 0; i < number(options, "--images", 4); ++i) {
        Json epochs = Json::array();
        const std::string stem = "image" + std::to_string(i);
        for (std::int64_t e = 0; e < number(options, "--epochs", 1); ++e)
            epochs.push_back({save(stem + "-e" + std::to_string(e) + "-v0.png", int(i * 7 + e + 1)),
                              save(stem + "-e" + std::to_string(e) + "-v1.png", int(i * 7 + e + 2))});
        images.push_back({{"name", stem + ".png"}, {"original", save(stem + ".png", int(i * 7))}, {"views", epochs}});
    }
    return {{"images", images}, {"digests", Json::array()}};
}

Json embed(const Options &options)
{
    const runs::RunFolder folder(option(options, "--run"));
    const int epoch = int(number(options, "--epoch", 3));
    const std::int64_t count = std::min<std::int64_t>(200, number(options, "--limit", 200));
    if (const Status status = writeEmbedding(folder, epoch, count, 16); !status) return error(status.error());
    return {{"folder", folder.embeddings(epoch).string()}, {"count", count}, {"dim", 16}};
}

Json exported(const Options &options)
{
    const float weight = 1;
    const std::string out = option(options, "--out");
    if (const Status status = runs::writeSafetensors(out, {{"conv1.weight", "F32", {1}, &weight}}); !status)
        return error(status.error());
    return {{"file", out}, {"tensors", 1}, {"bytes", std::filesystem::file_size(out)}};
}

/// Two epochs of a probe, told and stored as the real worker does.
Json evaluated(const Options &options)
{
    const runs::RunFolder folder(option(options, "--run"));
    std::cerr << R"({"mode": "linear", "checkpoint_epoch": 3, "weights": "", "epochs": 2, "lr": [0.1], "train_images": 90, )"
              << R"("val_images": 10, "classes": 2, "device": "cpu"})"
              << "\na warning of a library\n";
    for (const char *row : {R"({"epoch": 1, "epochs": 2, "curves": [{"lr": 0.1, "loss": 0.7, "top1": 0.9, "top5": 1.0}]})",
                            R"({"epoch": 2, "epochs": 2, "curves": [{"lr": 0.1, "loss": 0.5, "top1": 0.8, "top5": 1.0}]})"})
        std::cerr << row << std::endl;
    Json document{{"mode", "linear"},
                  {"best", {{"epoch", 1}, {"loss", 0.7}, {"top1", 0.9}, {"top5", 1.0}}},
                  {"last", {{"epoch", 2}, {"loss", 0.5}, {"top1", 0.8}, {"top5", 1.0}}},
                  {"lr", 0.1},
                  {"checkpoint", {{"epoch", 3}, {"step", 30}, {"weights", nullptr}}},
                  {"data", {{"train_images", 90}, {"val_images", 10}}},
                  {"protocol", {{"lr", {0.1}}}},
                  {"warnings", {"escape \x1b[2J codes"}}};
    const float weight = 1;
    const auto file = runs::storeEvaluation(folder, "linear", document, [&](const std::filesystem::path &weights) {
        return runs::writeSafetensors(weights, {{"weight", "F32", {1}, &weight}});
    });
    if (!file) return error(file.error());
    document["file"] = file->string();
    return document;
}

Json check()
{
    return {{"source", "made up"},
            {"count", 5000},
            {"classes", {{{"name", "class0"}, {"count", 2500}}, {{"name", "class1"}, {"count", 2500}}}},
            {"sizes", {{{"width", 28}, {"height", 28}, {"count", 5000}}}},
            {"channels", {{"1", 5000}, {"3", 0}, {"4", 0}}},
            {"train", 4500},
            {"val", 500},
            {"split", "fraction"},
            {"balance", {{"largest", 2500}, {"smallest", 2500}, {"ratio", 1.0}}},
            {"small", {{"size", 32}, {"count", 5000}}},
            {"duplicates", 3},
            {"duplicates_across_labels", 1},
            {"duplicates_across_splits", 1},
            {"examples", {{{"val", "a.png"}, {"train", "b\x1b.png"}}}},
            {"estimate", {{"decoded_bytes", 11760000}, {"free_bytes", 8000000000}, {"threads", 2}, {"decode_seconds", 0.5}}},
            {"quarantine", "/cache/0.unreadable"},
            {"warnings", {"1 images to evaluate on are trained on as well: accuracy comes out too high"}},
            {"unreadable", {{{"name", "broken\x1b[2J.png"}, {"reason", "is not an image"}}}},
            {"skipped", 2},
            {"remark", "2 hidden files were skipped"},
            {"multi_frame", 0},
            {"cmyk", 0}};
}

Json methods()
{
    return {{{"name", "byol"},
             {"label", "BYOL"},
             {"paper", "Grill et al. 2020, arXiv:2006.07733"},
             {"use", "No negatives."},
             {"gather", false},
             {"large_batch", false},
             {"gather_advice", "No effect here."},
             {"sync_bn_advice", "Keep it on."},
             {"options", {"method.momentum"}}},
            {{"name", "simclr"},
             {"label", "SimCLR"},
             {"paper", "Chen et al. 2020, arXiv:2002.05709"},
             {"use", "The plain contrastive start."},
             {"gather", true},
             {"large_batch", true},
             {"gather_advice", "Needed here."},
             {"sync_bn_advice", "Keep it on."},
             {"options", {"method.temperature", "method.projection_dim"}}}};
}

/// "selftest=byol" in the script: that method misses.
Json selftest(const std::string &method)
{
    const auto missing = Script(-1).find("selftest");
    const bool good = !missing || missing->value != method;
    Json rows = Json::array();
    for (const int ranks : {2, 4})
        rows.push_back({{"method", method},
                        {"label", method},
                        {"ranks", ranks},
                        {"loss_difference", good ? Json(3.1e-15) : Json("Infinity")},
                        {"weight_difference", 2e-14},
                        {"ok", good},
                        {"seconds", 1.5}});
    return {{"ok", good}, {"device", "cpu"}, {"steps", 10}, {"tolerance", 1e-9}, {"rows", rows}, {"seconds", 3.0}};
}

Json devices()
{
    return {{"torch", "2.15.0"},       {"torch_cuda", false},
            {"cuda_module", false},    {"cuda_error", "This build has no CUDA module"},
            {"opencv", "4.6.0"},       {"cpu_cores", 2},
            {"devices", Json::array()}};
}

} // namespace

Json job(const std::string &name, const Options &options)
{
    if (const auto failing = Script(-1).find("job_error"); failing && failing->value == name)
        return error({"The script said so", name, "Look at the script"});
    if (name == "schema") return option(options, "--job") == "eval" ? eval::probeSchema().toJson() : schemaWithNotes();
    if (name == "methods") return methods();
    if (name == "devices") return devices();
    if (name == "embed") return embed(options);
    if (name == "eval") return evaluated(options);
    if (name == "export") return exported(options);
    if (name == "selftest") return selftest(option(options, "--method"));
    const auto config = config::readFile(option(options, "--config"));
    if (!config) return error(config.error());
    if (const auto problem = problemWith(*config)) return error(*problem);
    if (name == "plan") return plan(*config);
    if (name == "check") return check();
    if (name == "stats")
        return {{"mean", {0.5, 0.4, 0.3}}, {"std", {0.2, 0.2, 0.1}}, {"images", 5000},
                {"unreadable", 1},         {"remark", ""},           {"source", "made up"}};
    if (name == "preview") return preview(options);
    return error({"Unknown job " + name, {}, {}});
}

} // namespace parallax::fake
