// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/data/cifarpickle.h"

#include "core/base/text.h"

#include <cstdio>
#include <deque>
#include <optional>

namespace parallax::data {

namespace {

using namespace std::string_view_literals;

/// CIFAR-100's training file has 50,000 names and 100,000 labels: a million values are enough for any such file.
constexpr std::size_t mostValues = 1'000'000;
constexpr const char *tooMany = "holds more values than any CIFAR file";

struct Value {
    enum class Kind {
        Other,
        Number,
        Text,
        List,
        Tuple,
        Dictionary,
        Mark,
        ArrayMaker,
        ArrayType,
        TypeMaker,
        Encoder,
        Type,
        Array
    };
    Kind kind = Kind::Other;
    std::int64_t number = 0;
    std::string_view text; ///< Text and Array: into the file, or into `own`
    std::string own;
    std::vector<Value *> items; ///< Dictionary: key, value, key, value …
};

struct Name {
    std::string_view module, name;
    Value::Kind kind;
};
constexpr Name names[] = {
    {"numpy.core.multiarray", "_reconstruct", Value::Kind::ArrayMaker},
    {"numpy._core.multiarray", "_reconstruct", Value::Kind::ArrayMaker},
    {"numpy", "ndarray", Value::Kind::ArrayType},
    {"numpy", "dtype", Value::Kind::TypeMaker},
    {"_codecs", "encode", Value::Kind::Encoder},
};

/// UTF-8 as Latin-1: how Python 3 pickles bytes in protocol 2. Nothing when a character is not of Latin-1.
std::optional<std::string> latin1(std::string_view utf8)
{
    std::string out;
    out.reserve(utf8.size());
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto c = static_cast<unsigned char>(utf8[i]);
        if (c < 0x80) {
            out += char(c);
            continue;
        }
        const bool pair = (c == 0xC2 || c == 0xC3) && i + 1 < utf8.size() && (utf8[i + 1] & 0xC0) == 0x80;
        if (!pair) return {};
        out += char((c & 0x03) << 6 | (utf8[++i] & 0x3F));
    }
    return out;
}

/// The machine that a pickle is written for: a stack, its marks, and a memory of values. Values live until the reader dies,
/// so that a value that holds itself does no harm.
class Machine
{
public:
    explicit Machine(std::string_view pickle) : m_in(pickle) { }

    /// The one value that is left at the end.
    Result<const Value *> run()
    {
        if (!m_in.starts_with("\x80\x02"sv)) return Error{"is not a pickle of protocol 2, as CIFAR's files are", {}, {}};
        m_at = 2;
        while (!m_error) {
            if (m_values.size() > mostValues) return Error{tooMany, {}, {}};
            const std::size_t at = m_at;
            const std::string_view op = take(1);
            if (m_error || op == "."sv) break;
            if (!step(op[0]) && !m_error) fail(refusal(op[0], at));
        }
        if (m_error) return *m_error;
        if (m_stack.size() != 1) return Error{"is damaged: its pickle leaves no single value", {}, {}};
        return static_cast<const Value *>(m_stack.back());
    }

private:
    using Kind = Value::Kind;

    static std::string refusal(char op, std::size_t at)
    {
        char text[96];
        std::snprintf(text, sizeof text, "has the pickle operation 0x%02X at byte %zu, which no CIFAR file needs: refused",
                      static_cast<unsigned char>(op), at);
        return text;
    }
    void fail(const std::string &what)
    {
        if (!m_error) m_error = Error{what, {}, "Load the data set again from where it is published."};
    }

    std::string_view take(std::uint64_t count)
    {
        if (count > m_in.size() - m_at) {
            fail("is cut short: its pickle ends at byte " + std::to_string(m_in.size()));
            return {};
        }
        const auto part = m_in.substr(m_at, std::size_t(count));
        m_at += part.size();
        return part;
    }
    std::uint32_t size(std::size_t bytes) // little-endian
    {
        std::uint32_t value = 0;
        const auto part = take(bytes);
        for (std::size_t i = part.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(part[i]);
        return value;
    }
    std::string_view line()
    {
        const auto end = m_in.find('\n', m_at);
        const auto part = take(end == std::string_view::npos ? m_in.size() : end - m_at);
        take(1);
        return part;
    }

    /// Values may be recalled at two bytes each: what holds them is counted.
    void hold(std::size_t count)
    {
        m_held += count;
        if (m_held > mostValues) fail(tooMany);
    }

    Value &push(Kind kind)
    {
        Value &value = m_values.emplace_back();
        value.kind = kind;
        m_stack.push_back(&value);
        return value;
    }
    void pushNumber(std::int64_t number) { push(Kind::Number).number = number; }
    void pushText(std::uint64_t count) { push(Kind::Text).text = take(count); }

    Value *pop()
    {
        if (m_stack.empty() || m_stack.back()->kind == Kind::Mark) {
            fail("is damaged: its pickle takes a value that is not there");
            return &m_nothing;
        }
        Value *value = m_stack.back();
        m_stack.pop_back();
        return value;
    }
    Value *top()
    {
        Value *value = pop();
        if (!m_error) m_stack.push_back(value);
        return value;
    }
    std::vector<Value *> popToMark()
    {
        std::size_t first = m_stack.size();
        while (first > 0 && m_stack[first - 1]->kind != Kind::Mark) --first;
        if (first == 0) {
            fail("is damaged: its pickle goes back to a mark that is not there");
            return {};
        }
        std::vector<Value *> items(m_stack.begin() + std::ptrdiff_t(first), m_stack.end());
        m_stack.resize(first - 1);
        hold(items.size());
        return items;
    }
    void pushTuple(std::vector<Value *> items) { push(Kind::Tuple).items = std::move(items); }
    void popTuple(std::size_t count)
    {
        std::vector<Value *> items(count);
        for (std::size_t i = count; i-- > 0;) items[i] = pop();
        pushTuple(std::move(items));
    }
    void append(Kind kind, const std::vector<Value *> &items)
    {
        Value *to = top();
        if (to->kind != kind || (kind == Kind::Dictionary && items.size() % 2 != 0))
            return fail("is damaged: its pickle adds to what is no list or dictionary");
        hold(items.size());
        to->items.insert(to->items.end(), items.begin(), items.end());
    }

    void remember(std::uint32_t place)
    {
        if (place > mostValues) return fail(tooMany);
        if (place >= m_memory.size()) m_memory.resize(place + 1);
        m_memory[place] = top();
    }
    void recall(std::uint32_t place)
    {
        if (place >= m_memory.size() || !m_memory[place])
            return fail("is damaged: its pickle recalls a value that it has not kept");
        if (m_stack.size() > mostValues) return fail(tooMany);
        m_stack.push_back(m_memory[place]);
    }

    void name()
    {
        const auto module = line(), word = line();
        for (const Name &known : names)
            if (known.module == module && known.name == word) {
                push(known.kind);
                return;
            }
        fail("asks for " + text::printable(module) + '.' + text::printable(word) +
             ", which no CIFAR file needs: refused, nothing was run");
    }

    /// A recognised name applied to its arguments.
    void call()
    {
        const auto &arguments = pop()->items;
        const Kind maker = pop()->kind;
        const auto is = [&](std::size_t i, Kind kind) { return i < arguments.size() && arguments[i]->kind == kind; };
        if (maker == Kind::Encoder && is(0, Kind::Text) && is(1, Kind::Text) && arguments[1]->text == "latin1") {
            auto bytes = latin1(arguments[0]->text);
            if (!bytes) return fail("is damaged: its pickle encodes text that is not Latin-1");
            m_encoded += bytes->size();
            if (m_encoded > m_in.size()) return fail("is damaged: its pickle encodes the same text again and again");
            Value &value = push(Kind::Text);
            value.own = std::move(*bytes);
            value.text = value.own;
        } else if (maker == Kind::TypeMaker && is(0, Kind::Text)) {
            push(Kind::Type).text = arguments[0]->text;
        } else if (maker == Kind::ArrayMaker && is(0, Kind::ArrayType)) {
            push(Kind::Array);
        } else {
            fail("has a pickle that makes something other than an array of bytes: refused");
        }
    }

    /// The state of an array: (version, shape, type, Fortran order, bytes). A type's own state says nothing that "u1" does not.
    void build()
    {
        const auto &state = pop()->items;
        Value *value = top();
        if (value->kind == Kind::Type && value->text == "u1") return;
        const bool array = value->kind == Kind::Array && state.size() == 5 && state[1]->kind == Kind::Tuple &&
            state[2]->kind == Kind::Type && state[4]->kind == Kind::Text;
        if (!array) return fail("has a pickle that makes something other than an array of bytes: refused");
        if (state[2]->text != "u1" && state[2]->text != "|u1")
            return fail("holds an array of type " + text::printable(state[2]->text) + ": CIFAR's are of bytes (u1)");
        const auto &shape = state[1]->items;
        std::uint64_t count = 1;
        bool right = shape.size() == 2 && state[3]->number == 0;
        for (std::size_t i = 0; right && i < 2; ++i)
            right = shape[i]->kind == Kind::Number && shape[i]->number >= 0 &&
                !__builtin_mul_overflow(count, std::uint64_t(shape[i]->number), &count);
        if (!right || count != state[4]->text.size())
            return fail("is damaged: its array is not a row of bytes an image, or not of the size it says");
        value->text = state[4]->text;
    }

    /// One operation; false: it is none that a CIFAR file has.
    bool step(char op)
    {
        switch (op) {
        case '}': push(Kind::Dictionary); return true;
        case ']': push(Kind::List); return true;
        case ')': push(Kind::Tuple); return true;
        case '(': push(Kind::Mark); return true;
        case 'N': push(Kind::Other); return true;
        case '\x88': pushNumber(1); return true; // True
        case '\x89': pushNumber(0); return true; // False
        case 'K': pushNumber(size(1)); return true;
        case 'M': pushNumber(size(2)); return true;
        case 'J': pushNumber(std::int32_t(size(4))); return true;
        case 'U': pushText(size(1)); return true;
        case 'T': pushText(size(4)); return true;
        case 'X': pushText(size(4)); return true;
        case 'q': remember(size(1)); return true;
        case 'r': remember(size(4)); return true;
        case 'h': recall(size(1)); return true;
        case 'j': recall(size(4)); return true;
        case '\x85': popTuple(1); return true;
        case '\x86': popTuple(2); return true;
        case '\x87': popTuple(3); return true;
        case 't': pushTuple(popToMark()); return true;
        case 'e': append(Kind::List, popToMark()); return true;
        case 'a': append(Kind::List, {pop()}); return true;
        case 'u': append(Kind::Dictionary, popToMark()); return true;
        case 's': {
            Value *value = pop(), *key = pop();
            append(Kind::Dictionary, {key, value});
            return true;
        }
        case 'c': name(); return true;
        case 'R': call(); return true;
        case 'b': build(); return true;
        default: return false;
        }
    }

    std::string_view m_in;
    std::size_t m_at = 0, m_held = 0;
    std::uint64_t m_encoded = 0;
    Value m_nothing;
    std::deque<Value> m_values;
    std::vector<Value *> m_stack, m_memory;
    std::optional<Error> m_error;
};

/// The last value under one of two keys, of the kind that belongs there; null: none.
const Value *find(const Value &dictionary, std::string_view key, std::string_view other, Value::Kind kind)
{
    const auto &items = dictionary.items;
    for (std::size_t i = items.size(); i >= 2; i -= 2)
        if (items[i - 2]->kind == Value::Kind::Text && (items[i - 2]->text == key || items[i - 2]->text == other) &&
            items[i - 1]->kind == kind)
            return items[i - 1];
    return nullptr;
}

} // namespace

Result<CifarDictionary> readCifarPickle(std::string_view pickle)
{
    constexpr std::size_t mostNames = 1'000, longestName = 100;
    Machine machine(pickle);
    const auto root = machine.run();
    if (!root) return root.error();
    const Value &dictionary = **root;
    if (dictionary.kind != Value::Kind::Dictionary)
        return Error{"is not a CIFAR file, which holds a dictionary of its images and labels", {}, {}};
    CifarDictionary result;
    for (const auto kind : {Value::Kind::Text, Value::Kind::Array})
        if (const Value *data = find(dictionary, "data", {}, kind)) result.data = data->text;
    if (const Value *labels = find(dictionary, "labels", "fine_labels", Value::Kind::List))
        for (const Value *item : labels->items) {
            if (item->kind != Value::Kind::Number) return Error{"has a label that is not a whole number", {}, {}};
            result.labels.push_back(item->number);
        }
    if (const Value *list = find(dictionary, "label_names", "fine_label_names", Value::Kind::List))
        for (const Value *item : list->items) {
            if (item->kind != Value::Kind::Text || item->text.size() > longestName || result.names.size() == mostNames)
                return Error{"does not hold the names of CIFAR's classes", {}, {}};
            result.names.push_back(text::printable(item->text));
        }
    return result;
}

} // namespace parallax::data
