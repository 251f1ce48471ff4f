// Histograms and events in the form of docs/benchload-events.md.
#pragma once

#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

inline int64_t now_ns() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return int64_t{1'000'000'000} * at.tv_sec + at.tv_nsec;
}

inline int64_t cpu_ns() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return int64_t{1'000'000'000} * (used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         int64_t{1000} * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// An HdrHistogram from 1 ns to 1 h with three digits, as benchload's package histogram.
class Histogram {
 public:
  Histogram() : counts_(kCounters) {}
  void record(int64_t value) {
    if (count == 0 || value < least) least = value;
    most = std::max(most, value);
    count++;
    sum += static_cast<double>(value);
    counts_[index(std::clamp<int64_t>(value, 0, kHighest))]++;
  }
  void add(const Histogram& other) {
    if (other.count == 0) return;
    least = count == 0 ? other.least : std::min(least, other.least);
    most = std::max(most, other.most);
    count += other.count;
    sum += other.sum;
    for (size_t i = 0; i < kCounters; i++) counts_[i] += other.counts_[i];
  }
  void clear() { *this = Histogram(); }

  // The compressed V2 format of all HdrHistogram libraries, in base64.
  std::string encoded() const {
    std::string body;
    size_t end = kCounters;
    while (end > 0 && counts_[end - 1] == 0) end--;
    for (size_t i = 0; i < end;) {
      int64_t value = counts_[i++];
      if (value == 0) {
        while (i < end && counts_[i] == 0) i++, value--;
        value--;
      }
      zigzag(body, value);
    }
    std::string whole;
    big(whole, 0x1c849303 | 0x10, 4);
    big(whole, body.size(), 4);
    big(whole, 0, 4);  // normalizing offset
    big(whole, 3, 4);  // digits
    big(whole, 1, 8);
    big(whole, kHighest, 8);
    big(whole, 0x3ff0000000000000, 8);  // the ratio 1.0
    whole += body;
    uLongf size = compressBound(whole.size());
    std::string packed(size, 0);
    compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(whole.data()), whole.size());
    std::string framed;
    big(framed, 0x1c849304 | 0x10, 4);
    big(framed, size, 4);
    framed.append(packed, 0, size);
    return base64(framed);
  }

  uint64_t count = 0;
  double sum = 0;
  int64_t least = 0, most = 0;

 private:
  static constexpr int64_t kHighest = 3'600'000'000'000;
  static constexpr size_t kCounters = 33 * 1024;
  static size_t index(int64_t value) {
    int bucket = 64 - __builtin_clzll(static_cast<uint64_t>(value) | 2047) - 11;
    return static_cast<size_t>(bucket) * 1024 + static_cast<size_t>(value >> bucket);
  }
  static void big(std::string& into, uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) into += static_cast<char>(value >> shift);
  }
  static void zigzag(std::string& into, int64_t value) {
    uint64_t left = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (int byte = 0; byte < 8; byte++) {
      if (left >> 7 == 0) return into += static_cast<char>(left), void();
      into += static_cast<char>(left | 0x80);
      left >>= 7;
    }
    into += static_cast<char>(left);
  }
  static std::string base64(const std::string& raw) {
    static const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t at = 0; at < raw.size(); at += 3) {
      size_t have = std::min<size_t>(3, raw.size() - at);
      uint32_t bits = 0;
      for (size_t i = 0; i < 3; i++) bits = bits << 8 | (i < have ? static_cast<uint8_t>(raw[at + i]) : 0);
      for (size_t i = 0; i < 4; i++) text += i <= have ? digits[bits >> (18 - 6 * i) & 63] : '=';
    }
    return text;
  }
  std::vector<int64_t> counts_;
};

inline std::string json_text(const std::string& text) {
  std::string shown = "\"";
  for (unsigned char one : text) {
    char code[8];
    if (one == '"' || one == '\\') shown += '\\', shown += static_cast<char>(one);
    else if (one < 0x20) snprintf(code, sizeof code, "\\u%04x", one), shown += code;
    else shown += static_cast<char>(one);
  }
  return shown + '"';
}

struct Counts {
  int64_t operations = 0, rows = 0, bytes = 0, errors = 0;
};

// The timed region of one workload. Its clock stands still while nothing is timed, such as between two fills.
class Timed {
 public:
  Timed(std::string workload, std::string operation, std::string target)
      : workload_(std::move(workload)), operation_(std::move(operation)) {
    printf("{\"v\":1,\"type\":\"start\",\"workload\":%s,\"time_unix_ns\":%lld,\"target\":%s,\"workers\":1,"
           "\"program\":\"embedded-stores 1\",\"loop\":\"closed\"}\n",
           json_text(workload_).c_str(), 1'000'000'000LL * time(nullptr), json_text(target).c_str());
    fflush(stdout);
  }
  void resume() { running_ = true, resumed_ = now_ns(), cpu_resumed_ = cpu_ns(); }
  void pause() {
    if (running_) active_ += now_ns() - resumed_, cpu_ += cpu_ns() - cpu_resumed_;
    running_ = false;
  }
  int64_t active_ns() const { return active_; }

  // Counts operations that began at a moment and end now; returns now. Only some operations have their latency taken,
  // because reading the clock takes a good part of the shortest ones.
  int64_t done(int64_t operations, int64_t rows, int64_t bytes, int64_t begun, bool take) {
    sum_.operations += operations, sum_.rows += rows, sum_.bytes += bytes;
    if (!take) return begun;
    int64_t ended = now_ns();
    interval_.record(ended - begun);
    if (active_ + ended - resumed_ - last_ >= 1'000'000'000) close(active_ + ended - resumed_);
    return ended;
  }
  void failed(const std::string& kind, const std::string& message) {
    sum_.errors++;
    failures_[{kind, message}]++;
  }

  // Writes what is left; returns whether everything succeeded.
  bool end() {
    close(active_);
    for (const auto& [what, count] : failures_)
      printf("{\"v\":1,\"type\":\"error\",\"kind\":%s,\"status\":0,\"message\":%s,\"operations\":%lld,\"rows\":0}\n",
             json_text(what.first).c_str(), json_text(what.second).c_str(), static_cast<long long>(count));
    printf("{\"v\":1,\"type\":\"histogram\",\"operation\":\"%s\",\"kind\":\"service\",\"unit\":\"ns\",\"count\":%llu,"
           "\"min_ns\":%lld,\"mean_ns\":%.17g,\"max_ns\":%lld,\"encoded\":\"%s\"}\n",
           operation_.c_str(), static_cast<unsigned long long>(all_.count), static_cast<long long>(all_.least),
           all_.count ? all_.sum / static_cast<double>(all_.count) : 0.0, static_cast<long long>(all_.most), all_.encoded().c_str());
    double seconds = static_cast<double>(std::max<int64_t>(active_, 1)) / 1e9;
    printf("{\"v\":1,\"type\":\"summary\",\"workload\":%s,\"duration_ns\":%lld,\"operations\":%lld,\"errors\":%lld,"
           "\"rows\":%lld,\"values\":%lld,\"bytes\":%lld,\"wire_bytes\":%lld,\"rows_refused\":0,\"rows_unsent\":0,\"retries\":0,"
           "\"client_cpu_ns\":%lld,\"generator_stall_ns\":0,\"bottleneck\":\"server\",\"offered_per_second\":null,"
           "\"achieved_per_second\":%.17g,\"operations_per_second\":%.17g,\"rows_per_second\":%.17g,\"saturated\":false,"
           "\"digest\":null}\n",
           json_text(workload_).c_str(), static_cast<long long>(active_), static_cast<long long>(whole_.operations),
           static_cast<long long>(whole_.errors), static_cast<long long>(whole_.rows), static_cast<long long>(whole_.rows),
           static_cast<long long>(whole_.bytes), static_cast<long long>(whole_.bytes), static_cast<long long>(cpu_),
           static_cast<double>(whole_.operations) / seconds, static_cast<double>(whole_.operations) / seconds,
           static_cast<double>(whole_.rows) / seconds);
    fflush(stdout);
    return whole_.errors == 0;
  }

 private:
  void close(int64_t at) {
    printf("{\"v\":1,\"type\":\"interval\",\"operation\":\"%s\",\"index\":%d,\"start_ns\":%lld,\"duration_ns\":%lld,"
           "\"operations\":%lld,\"rows\":%lld,\"values\":%lld,\"bytes\":%lld,\"errors\":%lld,\"histogram\":\"%s\"}\n",
           operation_.c_str(), index_++, static_cast<long long>(last_), static_cast<long long>(at - last_),
           static_cast<long long>(sum_.operations), static_cast<long long>(sum_.rows), static_cast<long long>(sum_.rows),
           static_cast<long long>(sum_.bytes), static_cast<long long>(sum_.errors), interval_.encoded().c_str());
    fflush(stdout);
    whole_.operations += sum_.operations, whole_.rows += sum_.rows, whole_.bytes += sum_.bytes, whole_.errors += sum_.errors;
    all_.add(interval_);
    sum_ = {}, interval_.clear(), last_ = at;
  }
  std::string workload_, operation_;
  int64_t active_ = 0, resumed_ = 0, cpu_ = 0, cpu_resumed_ = 0, last_ = 0;
  int index_ = 0;
  bool running_ = false;
  Counts sum_, whole_;
  Histogram interval_, all_;
  std::map<std::pair<std::string, std::string>, int64_t> failures_;
};
