// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace parallax::testing {

/// A server on 127.0.0.1 with a thread of its own that misbehaves as told.
class HttpServer
{
public:
    /// How one request is answered; as a good server would when nothing is set.
    struct Answer {
        int status = 0;                    ///< 0: 200 or 206, as asked
        std::size_t cutAfter = SIZE_MAX;   ///< closes the connection after so many bytes of the body
        std::size_t stallAfter = SIZE_MAX; ///< sends nothing more after so many, but stays
        bool ranges = true;
        bool length = true;   ///< says how long the body is
        std::string redirect; ///< Location
        std::string body;     ///< instead of the file
        int msPerChunk = 0;   ///< a slow line: the wait after every 4 kB
        std::string moreHeaders;
    };

    HttpServer()
    {
        m_socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(m_socket, reinterpret_cast<sockaddr *>(&address), size) != 0 || ::listen(m_socket, 16) != 0 ||
            ::getsockname(m_socket, reinterpret_cast<sockaddr *>(&address), &size) != 0)
            qFatal("no server on the loopback interface");
        m_port = ntohs(address.sin_port);
        m_thread = std::thread([this] { run(); });
    }
    ~HttpServer()
    {
        m_over = true;
        ::shutdown(m_socket, SHUT_RDWR);
        m_thread.join();
        ::close(m_socket);
    }

    std::string url(const std::string &path) const { return "http://127.0.0.1:" + std::to_string(m_port) + path; }
    void serve(const std::string &path, std::string bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_files[path] = std::move(bytes);
    }
    /// The answers to the next requests, in order; after them, `always`.
    void answer(const std::vector<Answer> &next) { answer(next, Answer()); }
    void answer(const std::vector<Answer> &next, const Answer &always)
    {
        const std::lock_guard lock(m_mutex);
        m_next.assign(next.begin(), next.end());
        m_always = always;
    }
    /// The Range header of each request so far; empty where there was none.
    std::vector<std::string> ranges() const
    {
        const std::lock_guard lock(m_mutex);
        return m_ranges;
    }

private:
    void run()
    {
        while (!m_over) {
            const int client = ::accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) continue;
            handle(client);
            ::close(client);
        }
    }

    static std::string header(const std::string &request, const std::string &name)
    {
        const auto at = request.find("\r\n" + name + ": ");
        if (at == std::string::npos) return {};
        const auto begin = at + name.size() + 4;
        return request.substr(begin, request.find("\r\n", begin) - begin);
    }

    void handle(int client)
    {
        std::string request;
        char buffer[4096];
        while (request.find("\r\n\r\n") == std::string::npos) {
            const ssize_t n = ::recv(client, buffer, sizeof buffer, 0);
            if (n <= 0) return;
            request.append(buffer, std::size_t(n));
        }
        const std::string path = request.substr(4, request.find(' ', 4) - 4), range = header(request, "Range");
        Answer answer;
        std::string bytes;
        bool found = false;
        {
            const std::lock_guard lock(m_mutex);
            m_ranges.push_back(range);
            answer = m_next.empty() ? m_always : m_next.front();
            if (!m_next.empty()) m_next.pop_front();
            if (const auto file = m_files.find(path); file != m_files.end()) {
                bytes = file->second;
                found = true;
            }
        }
        if (!answer.body.empty()) bytes = answer.body;
        std::string head, more = answer.moreHeaders;
        std::size_t first = 0;
        int status = answer.status;
        if (!answer.redirect.empty()) {
            status = 302;
            more += "Location: " + answer.redirect + "\r\n";
        } else if (status == 0 && !found) {
            status = 404;
        } else if (status == 0 && answer.ranges && range.starts_with("bytes=")) {
            first = std::stoull(range.substr(6));
            status = first < bytes.size() ? 206 : 416;
            more += first < bytes.size() ? "Content-Range: bytes " + std::to_string(first) + '-' +
                    std::to_string(bytes.size() - 1) + '/' + std::to_string(bytes.size()) + "\r\n"
                                         : "Content-Range: bytes */" + std::to_string(bytes.size()) + "\r\n";
        } else if (status == 0) {
            status = 200;
        }
        if (status != 200 && status != 206) {
            bytes = "<html>no</html>";
            first = 0;
        }
        head = "HTTP/1.1 " + std::to_string(status) + " x\r\nConnection: close\r\n" + more;
        if (answer.length) head += "Content-Length: " + std::to_string(bytes.size() - first) + "\r\n";
        head += "\r\n";
        if (!send(client, head)) return;
        sendBody(client, bytes.substr(first), answer);
    }

    static bool send(int client, const std::string &bytes)
    {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t n = ::send(client, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
            if (n <= 0) return false;
            done += std::size_t(n);
        }
        return true;
    }

    void sendBody(int client, const std::string &body, const Answer &answer)
    {
        constexpr std::size_t chunk = 4096;
        const std::size_t end = std::min({body.size(), answer.cutAfter, answer.stallAfter});
        for (std::size_t at = 0; at < end && !m_over; at += chunk) {
            if (!send(client, body.substr(at, std::min(chunk, end - at)))) return;
            if (answer.msPerChunk > 0) std::this_thread::sleep_for(std::chrono::milliseconds(answer.msPerChunk));
        }
        if (answer.stallAfter >= body.size()) return;
        char byte = 0; // until the client has enough of it
        while (!m_over && ::recv(client, &byte, 1, 0) > 0) continue;
    }

    int m_socket = -1;
    std::uint16_t m_port = 0;
    std::atomic<bool> m_over = false;
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_files;
    std::deque<Answer> m_next;
    Answer m_always;
    std::vector<std::string> m_ranges;
    std::thread m_thread;
};

} // namespace parallax::testing
