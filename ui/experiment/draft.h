// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"

#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>

#include <map>
#include <optional>
#include <vector>

namespace parallax::experiment {

/// The run that is being configured: where its values came from, what was changed since, and what is wrong. The form, the
/// side list, the command line and the checks all show this one object.
class Draft : public QObject
{
    Q_OBJECT
public:
    explicit Draft(config::Schema schema, QObject *parent = nullptr);

    /// Where values come from: "was" means these, and the command line starts with these arguments.
    struct Base {
        QString label;         ///< "demo", a run's name; empty: the defaults
        QStringList arguments; ///< {"--preset", "demo"}
        config::Json values;   ///< may be partial
    };
    /// Takes another base and forgets all changes. What does not fit the schema is one Error with a line each; then nothing
    /// changes.
    Status load(const Base &base);
    const Base &base() const { return m_base; }

    const config::Schema &schema() const { return m_schema; }
    /// Complete; a field whose text cannot be read keeps its last good value here.
    const config::Json &config() const { return m_config; }
    /// Fields that exist with the present method, in the schema's order.
    const std::vector<const config::Field *> &fields() const { return m_fields; }
    const config::Field *field(const QString &key) const; ///< of the present method; null: there is none

    config::Json value(const config::Field &field) const;
    config::Json original(const config::Field &field) const;
    bool isChanged(const config::Field &field) const;
    /// What the field shows: the value in the local form, or what was typed and cannot be read.
    QString text(const config::Field &field) const;
    QString problem(const config::Field &field) const; ///< empty: fine

    void setValue(const config::Field &field, const config::Json &value);
    void setText(const config::Field &field, const QString &text);
    void reset(const config::Field &field);
    void resetAll();
    /// The check outside the form (worker, command line) blames a key; gone with the field's next change.
    void setRemoteProblem(const QString &key, const QString &text);
    void clearRemoteProblems();

    int changeCount(const std::string &group = {}) const; ///< empty: all groups
    int problemCount(const std::string &group = {}) const;
    struct Problem {
        QString key, label, text;
    };
    std::optional<Problem> firstProblem() const; ///< of what was typed; remote ones do not count

    /// The words after `parallax train`: the base and what differs from it.
    QStringList arguments() const;
    /// Values that differ, as (key, was, is) in command form.
    std::vector<std::array<QString, 3>> changes() const;

Q_SIGNALS:
    void changed(const QString &key); ///< value, text or problem of one field
    void fieldsChanged();             ///< other fields exist now; all may have changed
    void configChanged();             ///< after either, once: config() is another

private:
    struct Edit {
        std::optional<config::Json> value;
        std::optional<QString> typed; ///< what cannot be read, or is out of range
        QString problem;
    };
    /// The same key may belong to several methods: edits are kept for each.
    static std::string idOf(const config::Field &field);
    const Edit *edit(const config::Field &field) const;
    void store(const config::Field &field, Edit edit);
    void followCases();
    bool decidesCases(const config::Field &field) const;
    bool rebuild(); ///< fields and config; true: other fields

    config::Schema m_schema;
    Base m_base;
    config::Json m_baseConfig, m_config;
    config::Json m_baseOwn; ///< the base by its own choices, whatever was chosen since
    std::vector<const config::Field *> m_fields;
    std::map<std::string, Edit> m_edits;
    QMap<QString, QString> m_remote;
};

} // namespace parallax::experiment
