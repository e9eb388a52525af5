// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/catalogue.h"

#include <algorithm>

namespace parallax::datasets {

namespace fs = std::filesystem;

namespace {

const std::string krizhevsky =
    "none stated by its author; its images are photographs from the web (a part of Tiny Images). For research: "
    "https://www.cs.toronto.edu/~kriz/cifar.html";

Published cifar10()
{
    Published set{config::cifar10, "60,000 colour images of 32x32 in 10 classes", {}};
    set.files = {{"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                  "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd", 170'052'171}};
    constexpr std::uint64_t batch = 10'000 * (1 + 3 * 32 * 32);
    set.unpacked = 6 * batch;
    set.layout = {{"data_batch_1.bin", batch}, {"data_batch_2.bin", batch}, {"data_batch_3.bin", batch},
                  {"data_batch_4.bin", batch}, {"data_batch_5.bin", batch}, {"test_batch.bin", batch}};
    set.licence = krizhevsky;
    set.cite = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images";
    return set;
}

Published cifar100()
{
    Published set{config::cifar100, "60,000 colour images of 32x32 in 100 classes", {}};
    set.files = {{"https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                  "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec", 168'513'733}};
    constexpr std::uint64_t record = 2 + 3 * 32 * 32;
    set.unpacked = 60'000 * record;
    set.layout = {{"train.bin", 50'000 * record}, {"test.bin", 10'000 * record}};
    set.licence = krizhevsky;
    set.cite = "Krizhevsky 2009, Learning Multiple Layers of Features from Tiny Images";
    return set;
}

Published stl10()
{
    Published set{config::stl10, "113,000 colour images of 96x96, 13,000 of them labelled in 10 classes", {}};
    set.files = {{"http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
                  "f31fd99273a1acb8609c8db427cebb1de3f71de77758cdc0e22956e1289b9866", 2'640'397'119}};
    constexpr std::uint64_t image = 3 * 96 * 96;
    set.unpacked = 113'000 * image + 13'000;
    set.layout = {{"train_X.bin", 5'000 * image},
                  {"train_y.bin", 5'000},
                  {"test_X.bin", 8'000 * image},
                  {"test_y.bin", 8'000},
                  {"unlabeled_X.bin", 100'000 * image}};
    set.licence = "none stated by its authors; its images come from ImageNet, whose terms allow non-commercial research and "
                  "education: https://cs.stanford.edu/~acoates/stl10";
    set.cite = "Coates, Lee, Ng 2011, An Analysis of Single-Layer Networks in Unsupervised Feature Learning";
    return set;
}

Published imagenette()
{
    Published set{config::imagenette, "13,394 photographs in 10 classes, shorter side 160 (imagenette2-160)", {}};
    set.files = {{"https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz",
                  "64d0c4859f35a461889e0147755a999a48b49bf38a7e0f9bd27003f10db02fe5", 99'003'388}};
    set.unpacked = 130'000'000;
    set.layout = {{"train"}, {"val"}};
    set.licence =
        "Apache-2.0 for the selection; the images come from ImageNet, whose terms allow non-commercial research and "
        "education: https://github.com/fastai/imagenette";
    set.cite = "Howard 2019, Imagenette";
    return set;
}

Published fashionMnist()
{
    Published set{config::fashionMnist, "70,000 gray images of 28x28 in 10 classes", {}};
    const std::string base = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/";
    set.files = {
        {base + "train-images-idx3-ubyte.gz", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
         26'421'880},
        {base + "train-labels-idx1-ubyte.gz", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845", 29'515},
        {base + "t10k-images-idx3-ubyte.gz", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073", 4'422'102},
        {base + "t10k-labels-idx1-ubyte.gz", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5", 5'148}};
    set.archive = false;
    for (const RemoteFile &file : set.files) set.layout.push_back({file.name(), file.size});
    set.licence = "MIT, Zalando SE: https://github.com/zalandoresearch/fashion-mnist";
    set.cite = "Xiao, Rasul, Vollgraf 2017, arXiv:1708.07747";
    return set;
}

} // namespace

std::uint64_t Published::size() const
{
    std::uint64_t sum = 0;
    for (const RemoteFile &file : files) sum += file.size;
    return sum;
}

const std::vector<Published> &published()
{
    static const std::vector<Published> all{cifar10(), cifar100(), stl10(), imagenette(), fashionMnist()};
    return all;
}

const Published *findPublished(const std::string &name)
{
    const auto found = std::ranges::find_if(published(), [&](const Published &set) { return set.id.name == name; });
    return found == published().end() ? nullptr : &*found;
}

std::optional<std::string> missingPart(const Published &set, const fs::path &folder)
{
    for (const Part &part : set.layout) {
        const fs::path path = folder / part.path;
        std::error_code error;
        if (part.size == 0) {
            if (!fs::is_directory(path, error) || fs::is_empty(path, error))
                return "the folder " + part.path + " is missing";
            continue;
        }
        if (!fs::is_regular_file(path, error)) return part.path + " is missing";
        const std::uintmax_t size = fs::file_size(path, error);
        if (size != part.size)
            return part.path + " has " + std::to_string(size) + " bytes, not " + std::to_string(part.size);
    }
    return {};
}

} // namespace parallax::datasets
