// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/source.h"

#include "core/base/text.h"
#include "core/engine/data/archivefiles.h"
#include "core/engine/data/arraydataset.h"
#include "core/engine/data/cifarpickle.h"

#include <algorithm>
#include <optional>

namespace parallax::data {

namespace fs = std::filesystem;

namespace {

constexpr int side = 32;
constexpr std::size_t pixelBytes = std::size_t(3) * side * side;
constexpr std::size_t fileLimit = 200'000'000; ///< CIFAR-100's training file has 155 MB

/// One of the four forms that cs.toronto.edu/~kriz/cifar.html publishes.
struct Form {
    const char *name;
    const char *folder, *archive;
    std::vector<std::string> train;
    std::string test, meta;
    int classes;
    std::size_t labelBytes; ///< before each image's pixels, the last is the label; 0: pickled
};

const std::vector<Form> &forms()
{
    static const std::vector<Form> all{
        {"CIFAR-10",
         "cifar-10-batches-bin",
         "cifar-10-binary.tar.gz",
         {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
         "test_batch.bin",
         "batches.meta.txt",
         10,
         1},
        {"CIFAR-100",
         "cifar-100-binary",
         "cifar-100-binary.tar.gz",
         {"train.bin"},
         "test.bin",
         "fine_label_names.txt",
         100,
         2},
        {"CIFAR-10",
         "cifar-10-batches-py",
         "cifar-10-python.tar.gz",
         {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
         "test_batch",
         "batches.meta",
         10,
         0},
        {"CIFAR-100", "cifar-100-python", "cifar-100-python.tar.gz", {"train"}, "test", "meta", 100, 0},
    };
    return all;
}

std::vector<std::string> filesOf(const Form &form)
{
    std::vector<std::string> names = form.train;
    names.push_back(form.test);
    names.push_back(form.meta);
    return names;
}

/// The form whose files are among `names`: a file that is called "train" alone says nothing yet.
const Form *formOf(const std::vector<std::string> &names)
{
    for (const Form &form : forms()) {
        const auto has = [&](const std::string &name) { return std::ranges::find(names, name) != names.end(); };
        const bool telling = form.train.size() > 1 || has(form.meta) || has(form.test);
        if (telling && std::ranges::any_of(form.train, has)) return &form;
    }
    return nullptr;
}

bool isFile(const fs::path &path)
{
    std::error_code error;
    return fs::is_regular_file(path, error);
}

const Form *formIn(const fs::path &folder)
{
    std::vector<std::string> names;
    for (const Form &form : forms())
        for (auto &name : filesOf(form))
            if (isFile(folder / name)) names.push_back(std::move(name));
    return formOf(names);
}

/// Where a CIFAR set lies: a folder of its files, or an archive.
struct Place {
    fs::path path;
    const Form *form = nullptr;
    bool archive = false;
};
std::optional<Place> findPlace(const fs::path &path)
{
    if (isFile(path)) {
        if (const Form *form = formOf(namesInArchive(path, 16))) return Place{path, form, true};
        // One of the unpacked files stands for all of them.
        const Form *form = formIn(path.parent_path());
        const auto names = form ? filesOf(*form) : std::vector<std::string>();
        if (std::ranges::find(names, path.filename().string()) == names.end()) return {};
        return Place{path.parent_path(), form, false};
    }
    if (const Form *form = formIn(path)) return Place{path, form, false};
    for (const Form &form : forms())
        if (formIn(path / form.folder) == &form) return Place{path / form.folder, &form, false};
    for (const Form &form : forms())
        if (isFile(path / form.archive)) return Place{path / form.archive, &form, true};
    return {};
}

/// The images and labels of one file.
struct Batch {
    ArrayPart part;
    std::vector<int> labels;
};

Error badLabel(std::int64_t label, std::size_t record, const Form &form)
{
    return {"has label " + std::to_string(label) + " in record " + std::to_string(record) + ": " + form.name + " has " +
                std::to_string(form.classes) + " classes, 0 to " + std::to_string(form.classes - 1),
            {},
            "Load the file again."};
}

Result<Batch> readBinary(std::string bytes, const Form &form)
{
    const std::size_t record = form.labelBytes + pixelBytes;
    if (bytes.empty() || bytes.size() % record != 0)
        return Error{"is not a whole number of " + std::to_string(record) + "-byte records: " +
                         std::to_string(bytes.size()) + " bytes are " + std::to_string(bytes.size() / record) +
                         " records and " + std::to_string(bytes.size() % record) + " bytes",
                     {},
                     "Load the file again."};
    Batch batch;
    for (std::size_t i = 0; i < bytes.size() / record; ++i) {
        batch.labels.push_back(static_cast<unsigned char>(bytes[i * record + form.labelBytes - 1]));
        if (batch.labels.back() >= form.classes) return badLabel(batch.labels.back(), i + 1, form);
    }
    batch.part.first = form.labelBytes;
    batch.part.stride = record;
    batch.part.store = std::make_shared<const ByteStore>(std::move(bytes));
    return batch;
}

Result<Batch> readPickled(const std::string &bytes, const Form &form)
{
    auto dictionary = readCifarPickle(bytes);
    if (!dictionary) return dictionary.error();
    const std::size_t images = dictionary->data.size() / pixelBytes, labels = dictionary->labels.size();
    if (images == 0 || dictionary->data.size() % pixelBytes != 0)
        return Error{"is damaged: its pixels are " + std::to_string(dictionary->data.size()) +
                         " bytes, not a whole number of 3072-byte images",
                     {},
                     "Load the file again."};
    if (labels != images)
        return Error{"holds " + std::to_string(labels) + " labels for " + std::to_string(images) + " images",
                     {},
                     "Load the file again."};
    Batch batch;
    for (std::size_t i = 0; i < labels; ++i) {
        const std::int64_t label = dictionary->labels[i];
        if (label < 0 || label >= form.classes) return badLabel(label, i + 1, form);
        batch.labels.push_back(int(label));
    }
    batch.part.stride = pixelBytes;
    batch.part.store = std::make_shared<const ByteStore>(std::move(dictionary->data));
    return batch;
}

/// The names of the classes; their numbers when the data does not bring them.
Result<std::vector<std::string>> classNames(const std::optional<std::string> &meta, const Form &form)
{
    std::vector<std::string> names;
    if (!meta) {
        for (int i = 0; i < form.classes; ++i) names.push_back(std::to_string(i));
        return names;
    }
    if (form.labelBytes == 0) {
        auto dictionary = readCifarPickle(*meta);
        if (!dictionary) return dictionary.error();
        names = std::move(dictionary->names);
    } else {
        names = linesOf(*meta);
    }
    if (int(names.size()) != form.classes)
        return Error{"names " + std::to_string(names.size()) + " classes: " + form.name + " has " +
                         std::to_string(form.classes),
                     {},
                     "Load the file again."};
    return names;
}

class Reader
{
public:
    Reader(const Place &place, NamedStores files) : m_place(place), m_form(*place.form), m_files(std::move(files)) { }

    Result<Source> read()
    {
        const auto meta = content(m_form.meta);
        if (!meta) return meta.error();
        auto classes = classNames(*meta, m_form);
        if (!classes) return at(m_form.meta, classes.error());
        m_classes = std::move(*classes);
        auto train = dataset(m_form.train, false);
        if (!train) return train.error();
        if (!*train)
            return Error{"holds no training file of " + std::string(m_form.name) + ": " + text::join(m_form.train, ", "),
                         text::printable(m_place.path.string()), "Load the data set again."};
        auto test = dataset({m_form.test}, true);
        if (!test) return test.error();
        return Source{std::move(*train), std::move(*test)};
    }

private:
    Error at(const std::string &file, const Error &error) const
    {
        return {error.what,
                text::printable((m_place.archive ? m_place.path.string() + ": " : m_place.path.string() + "/") + file),
                error.hint};
    }

    /// A file's content, which is then no longer kept; nothing: there is no such file.
    Result<std::optional<std::string>> content(const std::string &file)
    {
        const auto found = m_files.find(file);
        if (found == m_files.end()) return std::optional<std::string>();
        auto bytes = contentOf(*found->second, fileLimit);
        if (!bytes) return at(file, bytes.error());
        m_files.erase(found);
        return std::optional(std::move(*bytes));
    }

    /// Null: none of the files is there.
    Result<std::shared_ptr<const Dataset>> dataset(const std::vector<std::string> &files, bool test)
    {
        std::vector<ArrayPart> parts;
        std::vector<int> labels;
        std::vector<std::string> missing;
        for (const auto &file : files) {
            auto bytes = content(file);
            if (!bytes) return bytes.error();
            if (!*bytes) {
                missing.push_back(file);
                continue;
            }
            auto batch = m_form.labelBytes > 0 ? readBinary(std::move(**bytes), m_form) : readPickled(**bytes, m_form);
            if (!batch) return at(file, batch.error());
            batch->part.firstNumber = std::int64_t(labels.size());
            batch->part.count = std::int64_t(batch->labels.size());
            batch->part.prefix = test ? "test" : "train";
            batch->part.idBase = test ? testIds : 0;
            batch->part.where = at(file, {}).where;
            labels.insert(labels.end(), batch->labels.begin(), batch->labels.end());
            parts.push_back(std::move(batch->part));
        }
        if (parts.empty()) return std::shared_ptr<const Dataset>();
        PixelLayout layout;
        layout.height = layout.width = side, layout.channels = 3, layout.order = PixelLayout::Order::Planes;
        const std::string remark = missing.empty() ? "" : "not there: " + text::join(missing, ", ");
        return std::shared_ptr<const Dataset>(std::make_shared<const ArrayDataset>(
            layout, std::move(parts), std::move(labels), m_classes, m_place.path, remark));
    }

    const Place &m_place;
    const Form &m_form;
    NamedStores m_files;
    std::vector<std::string> m_classes;
};

} // namespace

bool holdsCifar(const fs::path &path) { return findPlace(path).has_value(); }

Result<Source> openCifar(const fs::path &path)
{
    const auto place = findPlace(path);
    if (!place) return Error{"holds no CIFAR files", text::printable(path.string()), {}};
    auto files = place->archive ? filesInArchive(place->path, filesOf(*place->form), fileLimit)
                                : filesInFolder(place->path, filesOf(*place->form));
    if (!files) return files.error();
    return Reader(*place, std::move(*files)).read();
}

} // namespace parallax::data
