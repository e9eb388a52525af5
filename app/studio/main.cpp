// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "core/session/qtconvert.h"
#include "ui/shell/mainwindow.h"
#include "ui/shell/screenshots.h"
#include "ui/shell/toast.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QCommandLineParser>

#include <clocale>
#include <cstdio>
#include <string_view>

using namespace parallax;

namespace {

struct Options {
    QString workspace, preset, theme, screenshots, size;
};

/// Exits by itself for --help, --version and unknown options.
Options parse(const QApplication &app)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("The desktop studio of Parallax: start, watch and look into runs."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QString runs = session::toQString(paths::defaultRuns());
    const auto text = [](const char *word) { return QString::fromLatin1(word); };
    parser.addOptions(
        {{text("workspace"), text("The folder of runs (default: %1).").arg(runs), text("folder"), runs},
         {text("preset"), text("Open New run with this preset, ready to start."), text("name")},
         {text("theme"), text("light or dark, for this time."), text("name")},
         {text("screenshots"), text("Render every screen into this folder, in both themes, and exit."), text("folder")},
         {text("size"), text("Size of the screenshots."), text("WxH"), text("1440x900")}});
    parser.process(app);
    return {parser.value(text("workspace")), parser.value(text("preset")), parser.value(text("theme")),
            parser.value(text("screenshots")), parser.value(text("size"))};
}

int complain(const QString &message)
{
    std::fprintf(stderr, "parallax-studio: %s\n", qPrintable(message));
    return 2;
}

bool wantsScreenshots(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]).rfind("--screenshots", 0) == 0) return true;
    return false;
}

int shoot(ui::MainWindow &window, const Options &options)
{
    const QStringList parts = options.size.split(QLatin1Char('x'));
    const int width = parts.value(0).toInt(), height = parts.value(1).toInt();
    if (parts.size() != 2 || width < 400 || height < 300)
        return complain(QStringLiteral("--size %1 is not a size such as 1440x900").arg(options.size));
    const Status done = ui::takeScreenshots(&window, options.screenshots, width, height);
    return done ? 0 : complain(session::toQString(done.error().message()));
}

} // namespace

int main(int argc, char **argv)
{
    // Pictures are rendered without a display.
    if (wantsScreenshots(argc, argv) && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    // QApplication takes over the locale of the environment: a decimal comma must not reach files and commands.
    std::setlocale(LC_NUMERIC, "C");
    QApplication::setApplicationName(QStringLiteral("parallax-studio"));
    QApplication::setOrganizationName(QStringLiteral("parallax"));
    QApplication::setApplicationDisplayName(QStringLiteral("Parallax"));
    QApplication::setApplicationVersion(QStringLiteral(PARALLAX_VERSION));
    const Options options = parse(app);
    QApplication::setWindowIcon(ui::icon(QStringLiteral("parallax")));
    ui::Theme &theme = ui::Theme::instance();
    if (options.theme == QLatin1String("light"))
        theme.setMode(ui::Theme::Mode::Light, false);
    else if (options.theme == QLatin1String("dark"))
        theme.setMode(ui::Theme::Mode::Dark, false);
    else if (!options.theme.isEmpty())
        return complain(QStringLiteral("--theme %1: use light or dark").arg(options.theme));
    ui::MainWindow window(options.workspace);
    if (!options.screenshots.isEmpty()) return shoot(window, options);
    if (!options.preset.isEmpty()) window.openPreset(options.preset);
    window.show();
    // A misspelt variable would be the default's silent return; whoever starts the studio from a menu sees no terminal.
    QStringList unknown;
    for (const std::string &variable : paths::unknownEnvironment()) {
        unknown << session::toQString(variable);
        complain(QStringLiteral("the environment sets %1, which means nothing here").arg(unknown.back()));
    }
    if (!unknown.isEmpty())
        window.toast()->warn(
            QStringLiteral("The environment sets %1, which means nothing here").arg(unknown.join(QStringLiteral(", "))));
    return QApplication::exec();
}
