// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fakejobs.h"
#include "tests/support/fakescript.h"
#include "tests/support/faketrain.h"

#include <chrono>
#include <iostream>
#include <thread>

using namespace parallax;

namespace {

fake::Options readOptions(int argc, char **argv)
{
    fake::Options options;
    for (int i = 2; i < argc; ++i) {
        const std::string name = argv[i];
        const bool flag = name == "--resume" || i + 1 == argc;
        options[name] = flag ? "" : argv[++i];
    }
    return options;
}

int train(fake::Options options)
{
    fake::TrainCall call;
    call.run = options["--run"];
    call.store = options["--store"];
    call.rank = int(text::parseInt(options["--rank"]).value_or(0));
    call.world = int(text::parseInt(options["--world"]).value_or(1));
    call.resume = options.contains("--resume");
    return fake::train(call);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string name = argc > 1 ? argv[1] : "";
    const fake::Options options = readOptions(argc, argv);
    if (name == "train") return train(options);
    const fake::Script script(-1);
    std::this_thread::sleep_for(std::chrono::milliseconds(script.number("job_ms", 0)));
    if (const auto garbage = script.find("job_garbage"); garbage && garbage->value == name) {
        std::cout << "Segmentation fault (core dumped)\n";
        return 0;
    }
    const config::Json answer = fake::job(name, options);
    std::cout << answer.dump(-1, ' ', false, config::Json::error_handler_t::replace) << '\n';
    return answer.is_object() && answer.contains("error") ? 1 : 0;
}
