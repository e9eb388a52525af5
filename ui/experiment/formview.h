// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/config/schema.h"
#include "ui/experiment/deviceeditor.h"

#include <QImage>
#include <QMap>
#include <QScrollArea>

#include <vector>

class QLabel;
class QVBoxLayout;

namespace parallax::experiment {

class Draft;
class FieldRow;
class ThumbStrip;

/// The form: a section a group of the schema, a row a field, made anew only for what appears and goes with the method.
class FormView : public QScrollArea
{
    Q_OBJECT
public:
    explicit FormView(Draft *draft, QWidget *parent = nullptr);
    void setAdvanced(bool advanced);
    /// Shows only rows that hold every word, advanced ones too; empty: all.
    void setSearch(const QString &text);
    void setDevices(const std::vector<Device> &devices);
    /// What follows from the values, by key; rows that are not named show their range.
    void setDerived(const QMap<QString, QString> &notes);
    /// What the check warns of, by key.
    void setConcerns(const QMap<QString, QString> &concerns);
    /// Small pictures of the data below the field that names it.
    void setThumbs(const std::vector<QImage> &images, const QString &note);
    FieldRow *row(const QString &key) const;
    /// Scrolls there, shows the row even when it is advanced, and gives its control the focus.
    void reveal(const QString &key);
    void showSection(const std::string &group);
    std::string currentSection() const;

Q_SIGNALS:
    void sectionReached(const QString &group); ///< by scrolling

private:
    struct Section {
        std::string group;
        QWidget *box;
        QVBoxLayout *rows;
    };
    void rebuild();
    void updateVisibility();
    void applyDevices();

    Draft *m_draft;
    bool m_advanced = false;
    QStringList m_words;
    QMap<QString, QString> m_derived, m_concerns;
    std::vector<Device> m_devices;
    std::vector<Section> m_sections;
    std::vector<FieldRow *> m_rows; ///< in the draft's order
    ThumbStrip *m_thumbs;
    QWidget *m_page;
    QVBoxLayout *m_column;
    QLabel *m_nothing;
    QString m_pinned; ///< a row that was revealed although it is advanced
};

} // namespace parallax::experiment
