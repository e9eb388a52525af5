// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/cli/app.h"

#include <QCoreApplication>

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <langinfo.h>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
    // Qt complains on stderr where the locale is not UTF-8, as on a bare machine without LANG.
    std::setlocale(LC_ALL, "");
    if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) ::setenv("LC_ALL", "C.UTF-8", 1);
    const QCoreApplication application(argc, argv);
    std::setlocale(LC_NUMERIC, "C"); // Qt took the user's: numbers in files and on the terminal have a point
    return parallax::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
