// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/nn/backbone.h"
#include "core/engine/nn/weights.h"

#include <QTemporaryDir>
#include <QTest>

#include <limits>

using namespace parallax;

namespace {

nn::Backbone small(std::uint64_t seed)
{
    torch::manual_seed(seed);
    return nn::makeBackbone({.name = "resnet18", .stem = "cifar", .width = 0.0625});
}

std::vector<torch::Tensor> copies(const torch::nn::Module &module)
{
    std::vector<torch::Tensor> list;
    for (const auto &[name, tensor] : nn::stateDict(module)) list.push_back(tensor.detach().clone());
    return list;
}

bool equal(const std::vector<torch::Tensor> &a, const std::vector<torch::Tensor> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) { return x.equal(y); });
}

} // namespace

class Weights : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aModuleComesBackBitForBit()
    {
        const auto net = small(1), other = small(2);
        net->forward(torch::randn({2, 3, 16, 16})); // running statistics and the counter move
        const auto before = copies(*net);
        save(nn::prefixed("backbone.", nn::stateDict(*net)), {{"format", "pt"}});
        const auto file = open();
        QCOMPARE(file.metadata().at("format"), std::string("pt"));
        const auto report = nn::loadState(*other, file, "backbone.");
        QVERIFY2(report.ok(), report ? "" : report.error().message().c_str());
        QVERIFY(report->warnings.empty());
        QVERIFY(equal(copies(*other), before));
        const torch::Tensor x = torch::randn({2, 3, 16, 16});
        net->eval();
        other->eval();
        QVERIFY(net->forward(x).equal(other->forward(x)));
    }

    void everyTypeSurvives()
    {
        nn::NamedTensors tensors;
        for (const auto dtype : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
                                 torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool})
            tensors.emplace_back(c10::toString(dtype), torch::arange(6).view({2, 3}).to(dtype).t()); // not contiguous
        tensors.emplace_back("empty", torch::zeros({0, 4}));
        tensors.emplace_back("scalar", torch::tensor(2.5));
        save(tensors);
        const auto read = nn::readTensors(open());
        QVERIFY(read.ok());
        QCOMPARE(read->size(), tensors.size());
        for (const auto &[name, tensor] : tensors) {
            QVERIFY2(read->at(name).equal(tensor), name.c_str());
            QCOMPARE(read->at(name).scalar_type(), tensor.scalar_type());
        }
    }

    void halfPrecisionFilesAreRead()
    {
        for (const auto dtype : {torch::kFloat16, torch::kBFloat16}) {
            const auto net = small(1), other = small(2);
            nn::convertFloats(*net, dtype);
            save(nn::stateDict(*net));
            const auto report = nn::loadState(*other, open());
            QVERIFY(report.ok() && report->warnings.empty());
            const auto have = copies(*other), want = copies(*net);
            for (std::size_t i = 0; i < have.size(); ++i) QVERIFY(have[i].equal(want[i].to(have[i].scalar_type())));
        }
    }

    void losingPrecisionIsSaid()
    {
        const auto net = small(1), other = small(2);
        nn::convertFloats(*net, torch::kFloat64);
        save(nn::stateDict(*net));
        const auto report = nn::loadState(*other, open());
        QVERIFY(report.ok());
        QCOMPARE(report->warnings.size(), std::size_t(1));
        QVERIFY(QString::fromStdString(report->warnings[0]).startsWith("Weights rounded to a narrower type: conv1.weight"));
    }

    void notFiniteIsSaid()
    {
        const auto net = small(1);
        auto tensors = nn::stateDict(*net);
        tensors[0].second = tensors[0].second.detach().clone();
        tensors[0].second.view({-1})[3] = std::numeric_limits<float>::quiet_NaN();
        save(tensors);
        const auto report = nn::loadState(*net, open());
        QVERIFY(report.ok());
        QCOMPARE(report->warnings, std::vector<std::string>{"Weights that are not finite (NaN or infinity): conv1.weight"});
    }

    void whatDoesNotFitChangesNothing_data()
    {
        QTest::addColumn<QString>("fault");
        QTest::newRow("missing")
            << "The weights lack bn1.num_batches_tracked. Choose the network that these weights were saved from";
        QTest::newRow("unknown") << "The weights hold fc.bias, which this network does not have. Choose the network that "
                                    "these weights were saved from";
        QTest::newRow("shape") << "The weights' conv1.weight has the shape [4, 3, 5, 5], the network's [4, 3, 3, 3]. "
                                  "Choose the same network, stem and width";
        QTest::newRow("type") << "The weights' bn1.num_batches_tracked has the type F32, the network's I64";
    }
    void whatDoesNotFitChangesNothing()
    {
        QFETCH(QString, fault);
        const auto net = small(1), other = small(2);
        nn::NamedTensors tensors;
        for (auto [name, tensor] : nn::stateDict(*net)) {
            const std::string tag = QTest::currentDataTag();
            if (name == "bn1.num_batches_tracked" && tag == "missing") continue;
            if (name == "bn1.num_batches_tracked" && tag == "type") tensor = torch::zeros({});
            if (name == "conv1.weight" && tag == "shape") tensor = torch::zeros({4, 3, 5, 5});
            if (name == "conv1.weight" && tag == "unknown") tensors.emplace_back("fc.bias", torch::zeros({10}));
            tensors.emplace_back(name, tensor);
        }
        save(tensors);
        const auto before = copies(*other);
        const auto report = nn::loadState(*other, open());
        QVERIFY(!report);
        QCOMPARE(QString::fromStdString(report.error().message()), fault);
        QVERIFY(equal(copies(*other), before));
    }

    void aClassifierIsLeftOut()
    {
        const auto net = small(1), other = small(2);
        auto tensors = nn::stateDict(*net);
        tensors.emplace_back("fc.weight", torch::zeros({10, 32}));
        tensors.emplace_back("fc.bias", torch::zeros({10}));
        save(tensors);
        const auto report = nn::loadBackbone(*other, open());
        QVERIFY2(report.ok(), report ? "" : report.error().message().c_str());
        QCOMPARE(report->warnings,
                 std::vector<std::string>{"Weights without a place here were left out: fc.weight, fc.bias"});
        QVERIFY(equal(copies(*other), copies(*net)));
        tensors.emplace_back("neck.weight", torch::zeros({1}));
        save(tensors);
        QVERIFY(!nn::loadBackbone(*other, open()));
    }

    void positionsOfAnotherImageSizeAreInterpolated()
    {
        const auto make = [](std::int64_t size) {
            torch::manual_seed(std::uint64_t(size));
            return nn::makeBackbone({.name = "vit_tiny", .patchSize = 8, .imageSize = size});
        };
        const auto net = make(32), same = make(32), larger = make(48);
        save(nn::stateDict(*net));
        QVERIFY(nn::loadBackbone(*same, open())->warnings.empty());
        const auto report = nn::loadBackbone(*larger, open());
        QVERIFY2(report.ok(), report ? "" : report.error().message().c_str());
        QCOMPARE(report->warnings,
                 std::vector<std::string>{"Weights interpolated to this image size: encoder.pos_embedding"});
        // The network of the small size interpolates in its forward: the same.
        torch::NoGradGuard noGrad;
        const torch::Tensor images = torch::randn({2, 3, 48, 48});
        QVERIFY(torch::allclose(larger->forward(images), net->forward(images), 1e-5, 1e-6));
    }

    void convertingKeepsCounters()
    {
        const auto net = small(1);
        nn::convertFloats(*net, torch::kFloat64);
        for (const auto &[name, tensor] : nn::stateDict(*net))
            QCOMPARE(tensor.scalar_type(),
                     QString::fromStdString(name).endsWith("num_batches_tracked") ? torch::kInt64 : torch::kFloat64);
        QCOMPARE(net->forward(torch::randn({2, 3, 16, 16}, torch::kFloat64)).scalar_type(), torch::kFloat64);
    }

    void aTypeThatFilesDoNotHold()
    {
        const auto status = nn::saveTensors(path(), {{"z", torch::zeros({2}, torch::kComplexFloat)}});
        QVERIFY(!status);
        QVERIFY(QString::fromStdString(status.error().what).startsWith("The tensor z has a type"));
    }

private:
    std::filesystem::path path() const { return m_folder->filePath("w.safetensors").toStdString(); }
    void save(const nn::NamedTensors &tensors, const std::map<std::string, std::string> &metadata = {}) const
    {
        const auto status = nn::saveTensors(path(), tensors, metadata);
        QVERIFY2(status.ok(), status ? "" : status.error().message().c_str());
    }
    runs::SafetensorsFile open() const
    {
        auto file = runs::SafetensorsFile::open(path());
        if (!file) throw std::runtime_error(file.error().message());
        return *file;
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(Weights)
#include "tst_weights.moc"
