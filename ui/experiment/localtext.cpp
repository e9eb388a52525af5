// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment/localtext.h"

#include "core/base/text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <cmath>

namespace parallax::experiment {
namespace {

using config::Json;
using config::Type;

struct Text {
    Q_DECLARE_TR_FUNCTIONS(parallax::experiment::Draft)
};

bool hasDecimalComma(const QLocale &locale) { return locale.decimalPoint() == QLatin1String(","); }
bool isNumber(Type type) { return type == Type::Int || type == Type::Float; }
bool isNumberList(Type type) { return type == Type::IntList || type == Type::FloatList; }
bool isList(Type type) { return isNumberList(type) || type == Type::StringList; }

QString localNumber(double number, const QLocale &locale)
{
    QLocale plain = locale;
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    // 0.0005 reads better than 5e-04; 1e-09 better than nine zeros.
    const double size = std::abs(number);
    if (size == 0 || (size >= 1e-5 && size < 1e9)) return plain.toString(number, 'f', QLocale::FloatingPointShortest);
    // Qt does not read back what it writes for "ten to the" in some locales (Arabic): the C form is taken everywhere.
    const QString local = plain.toString(number, 'g', QLocale::FloatingPointShortest);
    bool readable = false;
    return plain.toDouble(local, &readable) == number && readable
        ? local
        : QLocale::c().toString(number, 'g', QLocale::FloatingPointShortest);
}

QString localEntry(const Json &value, const QLocale &locale)
{
    QLocale plain = locale;
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    if (value.is_number_unsigned()) return plain.toString(qulonglong(value.get<std::uint64_t>()));
    if (value.is_number_integer()) return plain.toString(qlonglong(value.get<std::int64_t>()));
    if (value.is_number()) return localNumber(value.get<double>(), locale);
    if (value.is_string()) return QString::fromStdString(value.get<std::string>());
    return QString::fromStdString(value.dump());
}

/// Digits of any script as ASCII, the minus of typography as the one of programs, no marks of direction: what is left of
/// a typed number is decided by its separators.
QString plainSigns(const QString &typed)
{
    QString text;
    for (const char32_t c : typed.trimmed().toUcs4()) {
        if (const int digit = QChar::digitValue(c); digit >= 0 && QChar::category(c) == QChar::Number_DecimalDigit)
            text += QChar(u'0' + digit);
        else if (c == 0x2212)
            text += QLatin1Char('-');
        else if (QChar::category(c) != QChar::Other_Format)
            text += QString::fromUcs4(&c, 1);
    }
    return text;
}

/// A number as typed, in C form. Text that is one in C form already stays; group separators are never taken, so that no
/// point can be lost.
QString toCForm(const QString &typed, const QLocale &locale)
{
    QString text = plainSigns(typed);
    // Where the point is not the decimal sign, a single comma can only be one, also where the locale has a third sign
    // (Arabic) that keyboards do not offer.
    const QString point = locale.decimalPoint();
    if (point != QLatin1String(".") && !text.contains(QLatin1Char('.'))) {
        const QString sign = text.contains(point) ? point : QStringLiteral(",");
        if (text.count(sign) == 1) text.replace(sign, QStringLiteral("."));
    }
    // "×10^" in Swedish, "اس" in Arabic.
    if (const QString exponent = plainSigns(locale.exponential()); !exponent.isEmpty())
        text.replace(exponent, QStringLiteral("e"), Qt::CaseInsensitive);
    return text::parseDouble(text.toStdString()) ? text : typed.trimmed();
}

QString listToCForm(const QString &typed, const QLocale &locale)
{
    static const QRegularExpression betweenPlain(QStringLiteral("[,;\u060C\u061B\\s]+")),
        betweenComma(QStringLiteral(";\\s*|,\\s+|\\s+"));
    QStringList parts;
    for (const QString &part :
         typed.trimmed().split(hasDecimalComma(locale) ? betweenComma : betweenPlain, Qt::SkipEmptyParts))
        parts << toCForm(part, locale);
    return parts.join(QLatin1Char(','));
}

} // namespace

QString localText(const config::Field &field, const Json &value, const QLocale &locale)
{
    if (!value.is_array()) return localEntry(value, locale);
    QStringList parts;
    for (const Json &entry : value) parts << localEntry(entry, locale);
    return parts.join(isNumberList(field.type) && hasDecimalComma(locale) ? QStringLiteral("; ") : QStringLiteral(", "));
}

std::optional<Json> readLocal(const config::Schema &schema, const config::Field &field, const QString &text,
                              const QLocale &locale)
{
    QString plain = text;
    if (isNumber(field.type))
        plain = toCForm(text, locale);
    else if (isNumberList(field.type))
        plain = listToCForm(text, locale);
    else if (field.hint == "path")
        plain = text.trimmed();
    return schema.parseValue(field, plain.toStdString());
}

QString commandText(const Json &value)
{
    if (value.is_string()) return QString::fromStdString(value.get<std::string>());
    if (!value.is_array()) {
        return QString::fromStdString(value.is_number_float() ? text::number(value.get<double>()) : value.dump());
    }
    QStringList parts;
    for (const Json &entry : value) {
        // A text that holds the separator, or no entry at all, needs the JSON form.
        if (entry.is_string() && entry.get<std::string>().find(',') != std::string::npos)
            return QString::fromStdString(value.dump());
        parts << commandText(entry);
    }
    return parts.isEmpty() ? QStringLiteral("[]") : parts.join(QLatin1Char(','));
}

QString rangeText(const config::Field &field, const QLocale &locale)
{
    const auto low = field.min ? localNumber(*field.min, locale) : QString();
    const auto high = field.max ? localNumber(*field.max, locale) : QString();
    const bool endless = field.max && *field.max >= 1e6; // a guard, nothing that one would want to know
    if (field.min && field.max && !endless)
        return field.exclusiveMin ? Text::tr("above %1, at most %2").arg(low, high) : Text::tr("%1 to %2").arg(low, high);
    if (field.min) return field.exclusiveMin ? Text::tr("above %1").arg(low) : Text::tr("at least %1").arg(low);
    if (field.max && !endless) return Text::tr("at most %1").arg(high);
    return {};
}

QString needsText(const config::Field &field, const QLocale &locale)
{
    if (!field.choices.empty()) {
        QStringList names;
        for (const auto &choice : field.choices) names << QString::fromStdString(choice.label);
        return Text::tr("Needs one of: %1").arg(names.join(QStringLiteral(", ")));
    }
    const QString range = rangeText(field, locale);
    const QString kind = field.type == Type::Int ? Text::tr("Needs a whole number")
        : field.type == Type::Float              ? Text::tr("Needs a number")
        : field.type == Type::IntList            ? Text::tr("Needs whole numbers")
        : field.type == Type::FloatList          ? Text::tr("Needs numbers")
                                                 : Text::tr("Needs a text");
    return range.isEmpty() ? kind
                           : Text::tr("%1, %2").arg(kind, isList(field.type) ? Text::tr("each %1").arg(range) : range);
}

} // namespace parallax::experiment
