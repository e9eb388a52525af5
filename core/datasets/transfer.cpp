// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/datasets/transfer.h"

#include "core/base/atomicfile.h"
#include "core/base/text.h"

#include <curl/curl.h>

#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace parallax::datasets {

namespace {

constexpr long connectSeconds = 30, redirects = 10;
constexpr std::chrono::seconds longestRetryAfter{60};
constexpr long ok = 200, partialContent = 206, requestTimeout = 408, rangeNotSatisfiable = 416, tooManyRequests = 429,
               serverErrors = 500;

/// One attempt, as curl's functions see it.
struct Attempt {
    const Download &request;
    const Hooks &hooks;
    int fd;
    CURL *curl;
    std::uint64_t have; ///< bytes there before
    std::uint64_t done; ///< bytes there now
    bool begun = false; ///< the first bytes came
    bool fromStart = false;
    std::optional<Error> failure; ///< why a callback stopped the transfer

    long status() const
    {
        long code = 0;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
        return code;
    }
    std::string where() const { return text::printable(request.url); }

    /// Looks at what comes before any of it is written. HTTP says by 206 that it goes on, and by 200 that it begins anew; a
    /// file has no status and does as asked.
    bool begin()
    {
        begun = true;
        const bool http = status() != 0;
        fromStart = have > 0 && http && status() != partialContent;
        const std::uint64_t first = fromStart ? 0 : have;
        curl_off_t length = -1;
        curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (length >= 0 && request.size > 0 && first + std::uint64_t(length) != request.size) {
            return fail({"the file there has " + text::bytes(first + std::uint64_t(length)) + ", the published one " +
                             text::bytes(request.size),
                         where(), "It is another file, or an error page. Name another place with --url."});
        }
        if (fromStart) {
            if (::ftruncate(fd, 0) != 0) return fail(systemError(errno, request.file, "written"));
            hooks.say("the server sends no parts of files: beginning anew");
        }
        done = first;
        return true;
    }

    bool write(const char *data, std::size_t bytes)
    {
        if (!begun && !begin()) return false;
        if (request.size > 0 && done + bytes > request.size)
            return fail({"the server sends more than the published " + text::bytes(request.size), where(),
                         "It is another file. Name another place with --url."});
        while (bytes > 0) {
            const ssize_t n = ::pwrite(fd, data, bytes, off_t(done));
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0)
                return fail(systemError(n < 0 ? errno : ENOSPC, request.file, "written",
                                        request.size > done ? request.size - done : bytes));
            data += n;
            bytes -= std::size_t(n);
            done += std::uint64_t(n);
        }
        return true;
    }

    bool fail(Error error)
    {
        failure = std::move(error);
        return false;
    }
};

std::size_t onData(char *data, std::size_t size, std::size_t count, void *attempt)
{
    return static_cast<Attempt *>(attempt)->write(data, size * count) ? size * count : 0;
}

int onProgress(void *pointer, curl_off_t, curl_off_t, curl_off_t, curl_off_t)
{
    const auto &attempt = *static_cast<Attempt *>(pointer);
    attempt.hooks.tell("loading " + attempt.request.file.filename().string(), attempt.done, attempt.request.size);
    return attempt.hooks.isCancelled() ? 1 : 0;
}

void setUp(CURL *curl, Attempt &attempt, const std::string &range, std::array<char, CURL_ERROR_SIZE> &words)
{
    const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl, option, value); };
    set(CURLOPT_URL, attempt.request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https,file");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https"); // a server must not point at this machine's files
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, redirects);
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "parallax");
    set(CURLOPT_CONNECTTIMEOUT, connectSeconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, long(attempt.request.silence.count()));
    set(CURLOPT_ERRORBUFFER, words.data());
    set(CURLOPT_WRITEFUNCTION, onData);
    set(CURLOPT_WRITEDATA, static_cast<void *>(&attempt));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, onProgress);
    set(CURLOPT_XFERINFODATA, static_cast<void *>(&attempt));
    if (!range.empty()) set(CURLOPT_RANGE, range.c_str());
}

/// What curl's code says of the attempt, when no callback has said it.
Transfer judged(const Attempt &attempt, CURLcode code, const char *words)
{
    Transfer transfer;
    transfer.error = {*words ? words : curl_easy_strerror(code), attempt.where(), {}};
    const long status = attempt.status();
    switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
        transfer.error.what = "the server answers " + std::to_string(status);
        if (status == rangeNotSatisfiable) break; // the part is longer than the file there: see fetch()
        if (status < serverErrors && status != requestTimeout && status != tooManyRequests) {
            transfer.end = Transfer::End::Hopeless;
            transfer.error.what +=
                status == 404 || status == 410 ? ": the file is not there" : ": it does not give the file";
            transfer.error.hint = "Name another place with --url.";
        }
        break;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING: transfer.error.what = "the connection broke"; break;
    case CURLE_OPERATION_TIMEDOUT: transfer.error.what = "the server is silent"; break;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
        transfer.error.what = "the server is not reached: " + transfer.error.what;
        transfer.error.hint = "Is there a network? Another place is named with --url.";
        break;
    case CURLE_FILE_COULDNT_READ_FILE:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: transfer.end = Transfer::End::Hopeless; break;
    default: break;
    }
    return transfer;
}

} // namespace

Transfer fetch(const Download &request, int fd, const Hooks &hooks)
{
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    const std::unique_ptr<CURL, void (*)(CURL *)> curl(curl_easy_init(), curl_easy_cleanup);
    if (!curl) return {Transfer::End::Hopeless, false, {"libcurl cannot be set up", {}, {}}};
    const off_t end = ::lseek(fd, 0, SEEK_END);
    const std::uint64_t have = end > 0 ? std::uint64_t(end) : 0;
    Attempt attempt{request, hooks, fd, curl.get(), have, have};
    std::array<char, CURL_ERROR_SIZE> words{};
    const std::string range = have > 0 ? std::to_string(have) + '-' : std::string();
    setUp(curl.get(), attempt, range, words);
    const CURLcode code = curl_easy_perform(curl.get());

    Transfer transfer;
    if (code == CURLE_OK && (request.size == 0 || attempt.done == request.size)) {
        transfer.end = Transfer::End::Whole;
    } else if (code == CURLE_OK) {
        transfer.error = {"the connection ended early", attempt.where(), {}};
    } else if (code == CURLE_ABORTED_BY_CALLBACK && hooks.isCancelled()) {
        transfer.end = Transfer::End::Cancelled;
    } else if (attempt.failure) {
        transfer.error = *attempt.failure;
        transfer.end = Transfer::End::Hopeless;
    } else {
        transfer = judged(attempt, code, words.data());
    }
    const bool tooLong = attempt.status() == rangeNotSatisfiable ||
        (have > 0 && (code == CURLE_BAD_DOWNLOAD_RESUME || code == CURLE_RANGE_ERROR));
    if (tooLong && ::ftruncate(fd, 0) != 0) transfer.end = Transfer::End::Hopeless;
    curl_off_t seconds = 0;
    if (curl_easy_getinfo(curl.get(), CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0)
        transfer.retryAfter = std::min<std::chrono::seconds>(std::chrono::seconds(seconds), longestRetryAfter);
    transfer.fromStart = attempt.fromStart;
    return transfer;
}

} // namespace parallax::datasets
