// Drives embedded stores as the LevelDB benchmark of July 2011 did, and checks what they return.
//
//   embedded-stores entries --target leveldb --url FOLDER --do fill-random --entries 1000000
//
// It writes the events of benchload (docs/benchload-events.md). Keys have 16 digits. The value of a key is a piece of one text of
// 1 MiB, half of which is redundant, so every value that is read is compared with the one that was written.

#include <filesystem>
#include <random>

#include "events.h"
#include "store.h"

namespace {

namespace fs = std::filesystem;

struct Request {
  std::string verb, target, action, holds = "nothing";
  Settings settings;
  int64_t entries = 1'000'000, operations = 0, written = 0, value_bytes = 100, batch = 1, hot_percent = 1;
  int64_t lasts_ns = 0;
  uint64_t seed = 301;
};

[[noreturn]] void mistake(const std::string& message) {
  fprintf(stderr, "embedded-stores: %s\n", message.c_str());
  exit(2);
}

int64_t whole(const std::string& name, const std::string& text) {
  size_t used = 0;
  int64_t number = 0;
  try {
    number = std::stoll(text, &used);
  } catch (const std::exception&) {
  }
  if (used != text.size() || number < 0) mistake("--" + name + ": found \"" + text + "\", expected a whole number from 0 on");
  return number;
}

int64_t duration_ns(const std::string& name, const std::string& text) {
  if (text.empty() || text.back() != 's') mistake("--" + name + ": found \"" + text + "\", expected seconds such as 2s");
  char* end = nullptr;
  double seconds = strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() - 1 || seconds < 0) mistake("--" + name + ": found \"" + text + "\", expected seconds such as 2s");
  return static_cast<int64_t>(seconds * 1e9);
}

Request parse(int argc, char** argv) {
  Request asked;
  Settings& s = asked.settings;
  auto number = [](int64_t& into) {
    return [&into](const std::string& name, const std::string& text) { into = whole(name, text); };
  };
  auto word = [](std::string& into) {
    return [&into](const std::string&, const std::string& text) { into = text; };
  };
  std::string ignored;
  std::map<std::string, std::function<void(const std::string&, const std::string&)>> flags = {
      {"target", word(asked.target)},
      {"url", word(s.folder)},
      {"database", word(ignored)},
      {"do", word(asked.action)},
      {"holds", word(asked.holds)},
      {"compression", word(s.compression)},
      {"journal", word(s.journal)},
      {"sync", word(s.sync)},
      {"entries", number(asked.entries)},
      {"operations", number(asked.operations)},
      {"written", number(asked.written)},
      {"value-bytes", number(asked.value_bytes)},
      {"batch", number(asked.batch)},
      {"hot-percent", number(asked.hot_percent)},
      {"cache-bytes", number(s.cache_bytes)},
      {"write-buffer-bytes", number(s.write_buffer_bytes)},
      {"page-bytes", number(s.page_bytes)},
      {"map-bytes", number(s.map_bytes)},
      {"lasts", [&](const std::string& name, const std::string& text) { asked.lasts_ns = duration_ns(name, text); }},
      {"seed", [&](const std::string& name, const std::string& text) { asked.seed = static_cast<uint64_t>(whole(name, text)); }},
  };
  const std::map<std::string, bool*> switches = {
      {"exclusive", &s.exclusive}, {"without-rowid", &s.without_rowid}, {"compact", &s.compact},
      {"writemap", &s.writemap},   {"append", &s.append}};
  for (int at = 1; at < argc; at++) {
    std::string text = argv[at];
    if (text == "--version") {
      for (const Kind& kind : kinds()) printf("%s %s\n", kind.name.c_str(), kind.version.c_str());
      exit(0);
    }
    if (text.rfind("--", 0) != 0) {
      if (!asked.verb.empty()) mistake("found the word \"" + text + "\" after \"" + asked.verb + "\"");
      asked.verb = text;
      continue;
    }
    size_t equals = text.find('=');
    std::string name = text.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (switches.count(name)) {
      *switches.at(name) = true;
      continue;
    }
    if (!flags.count(name)) mistake("unknown flag --" + name);
    if (equals == std::string::npos && at + 1 == argc) mistake("--" + name + " needs a value");
    flags[name](name, equals == std::string::npos ? argv[++at] : text.substr(equals + 1));
  }
  if (asked.verb != "entries") mistake("the command is \"entries\", found \"" + asked.verb + "\"");
  if (s.folder.empty()) mistake("--url names the folder of the store and is missing");
  if (asked.entries > int64_t{1} << 31) mistake("--entries: at most 2^31");
  if (asked.entries < 1 || asked.value_bytes < 1 || asked.batch < 1) mistake("--entries, --value-bytes and --batch begin at 1");
  if (asked.value_bytes > 500'000) mistake("--value-bytes: at most 500000");
  if (!s.sync.empty() && s.sync != "on" && s.sync != "off") mistake("--sync: found \"" + s.sync + "\"; known: on, off");
  if (asked.hot_percent < 1 || asked.hot_percent > 100) mistake("--hot-percent: from 1 to 100");
  return asked;
}

// Values begin at pieces of one text. Half of each piece is random and half repeats it, so a simple compressor halves it.
class Values {
 public:
  explicit Values(int64_t size) : size_(static_cast<size_t>(size)) {
    std::mt19937_64 draw(301);
    while (text_.size() < (1 << 20)) {
      std::string raw;
      for (size_t i = 0; i < kPiece / 2; i++) raw += static_cast<char>(' ' + draw() % 95);
      text_ += raw + raw;
    }
  }
  std::string_view of(uint64_t number) const {
    uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15;
    uint64_t pieces = (text_.size() - size_) / kPiece + 1;
    return {text_.data() + (mixed >> 20) % pieces * kPiece, size_};
  }

 private:
  static constexpr size_t kPiece = 100;
  std::string text_;
  size_t size_;
};

// Writes a number as a key of 16 digits.
void write_key(uint64_t number, char* key) {
  for (int at = 16; at-- > 0; number /= 10) key[at] = static_cast<char>('0' + number % 10);
}

uint64_t number_of(std::string_view key) {
  uint64_t number = 0;
  for (char digit : key) number = number * 10 + static_cast<uint64_t>(digit - '0');
  return number;
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t below(uint64_t end) {  // splitmix64, then Lemire's reduction
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(mixed) * end >> 64);
  }

 private:
  uint64_t state_;
};

// The numbers of the entries of a phase, by its order: sequential, random (with repetition, as the program of 2011 draws
// them), shuffled (each once) or hot (random among the first ones).
class Numbers {
 public:
  Numbers(const std::string& order, int64_t entries, int64_t hot_percent, uint64_t seed)
      : draws_(order == "random" || order == "hot"), draw_(seed),
        space_(static_cast<uint64_t>(order == "hot" ? std::max<int64_t>(1, entries * hot_percent / 100) : entries)) {
    if (order != "shuffled") return;
    shuffled_.resize(space_);
    for (uint64_t i = 0; i < space_; i++) {  // Fisher and Yates, from the inside out
      uint64_t at = draw_.below(i + 1);
      shuffled_[i] = shuffled_[at];
      shuffled_[at] = static_cast<uint32_t>(i);
    }
  }
  uint64_t next() {
    if (draws_) return draw_.below(space_);
    uint64_t at = at_++ % space_;
    return shuffled_.empty() ? at : shuffled_[at];
  }

 private:
  bool draws_;
  Draw draw_;
  uint64_t space_;
  uint64_t at_ = 0;
  std::vector<uint32_t> shuffled_;
};

// Which entries a store must hold after it was filled in an order.
std::vector<bool> held_after(const Request& asked) {
  std::vector<bool> held(static_cast<size_t>(asked.entries));
  if (asked.holds == "nothing") return held;
  Numbers numbers(asked.holds, asked.entries, 100, asked.seed);
  int64_t writes = asked.written > 0 ? asked.written : asked.entries;
  for (int64_t i = 0; i < writes; i++) held[static_cast<size_t>(numbers.next())] = true;
  return held;
}

void empty(const std::string& folder) {
  fs::create_directories(folder);
  for (const auto& one : fs::directory_iterator(folder)) fs::remove_all(one.path());
}

// How many operations share a reading of the clock; a sequential read takes less time than that.
constexpr int64_t kTakenEvery = 64;

void fill(const Request& asked, const Kind& kind, const std::string& order, const Values& values, Timed& timed) {
  if (asked.batch > 1 && !kind.batches) throw Failure(kind.name + " has no batches");
  int64_t writes = asked.operations > 0 ? asked.operations : std::max<int64_t>(1, asked.entries / asked.batch);
  std::vector<char> keys(static_cast<size_t>(asked.batch) * 16);
  std::vector<Entry> entries(static_cast<size_t>(asked.batch));
  do {
    empty(asked.settings.folder);
    Settings settings = asked.settings;
    settings.append = settings.append && order == "sequential";
    std::unique_ptr<Store> store = kind.open(settings);
    Numbers numbers(order, asked.entries, asked.hot_percent, asked.seed);
    timed.resume();
    int64_t begun = now_ns();
    for (int64_t i = 0; i < writes; i++) {
      for (size_t at = 0; at < entries.size(); at++) {
        uint64_t number = numbers.next();
        write_key(number, &keys[16 * at]);
        entries[at] = {{&keys[16 * at], 16}, values.of(number)};
      }
      store->put(entries.data(), entries.size());
      begun = timed.done(1, asked.batch, asked.batch * (16 + asked.value_bytes), begun, true);
    }
    store->finish();
    timed.pause();
  } while (timed.active_ns() < asked.lasts_ns);
}

void read_random(const Request& asked, Store& store, const std::string& order, const Values& values,
                 const std::vector<bool>& held, Timed& timed) {
  Numbers numbers(order, asked.entries, asked.hot_percent, asked.seed + 1);
  int64_t reads = asked.operations > 0 ? asked.operations : asked.entries;
  do {
    timed.resume();
    int64_t begun = now_ns();
    for (int64_t i = 0; i < reads; i++) {
      uint64_t number = numbers.next();
      char key[16];
      write_key(number, key);
      std::string_view found;
      bool there = store.get({key, 16}, found);
      if (there != held[static_cast<size_t>(number)]) timed.failed("answer", there ? "a key that was never written has a value" : "a key that was written is absent");
      else if (there && found != values.of(number)) timed.failed("answer", "a value differs from the one that was written");
      begun = timed.done(1, there, there ? 16 + asked.value_bytes : 0, begun, true);
    }
    timed.pause();
  } while (timed.active_ns() < asked.lasts_ns);
}

void read_sequential(const Request& asked, Store& store, const Values& values, const std::vector<bool>& held, Timed& timed) {
  int64_t expected = std::count(held.begin(), held.end(), true);
  do {
    timed.resume();
    int64_t begun = now_ns(), read = 0;
    uint64_t last = 0;
    store.scan([&](const Entry& found) {
      uint64_t number = number_of(found.key);
      if (number >= held.size() || !held[static_cast<size_t>(number)]) timed.failed("answer", "a key that was never written has a value");
      else if (found.value != values.of(number)) timed.failed("answer", "a value differs from the one that was written");
      if (read > 0 && number <= last) timed.failed("answer", "keys are not in order");
      last = number;
      read++;
      begun = timed.done(1, 1, 16 + asked.value_bytes, begun, read % kTakenEvery == 0);
      if (read % kTakenEvery == kTakenEvery - 1) begun = now_ns();
      return true;
    });
    timed.pause();
    if (read != expected) timed.failed("answer", "a scan returned " + std::to_string(read) + " entries instead of " + std::to_string(expected));
  } while (timed.active_ns() < asked.lasts_ns);
}

int run(const Request& asked) {
  const Kind* kind = nullptr;
  std::string known;
  for (const Kind& one : kinds()) {
    known += (known.empty() ? "" : ", ") + one.name;
    if (one.name == asked.target) kind = &one;
  }
  if (!kind) mistake("--target: there is no store \"" + asked.target + "\"; known: " + known);
  size_t dash = asked.action.find('-');
  std::string what = asked.action.substr(0, dash), order = dash == std::string::npos ? "" : asked.action.substr(dash + 1);
  bool orders = order == "sequential" || order == "random" || order == "shuffled" || (order == "hot" && what == "read");
  if (asked.action != "check" && !((what == "fill" || what == "read") && orders))
    mistake("--do: found \"" + asked.action + "\"; known: fill- or read- and sequential, random or shuffled, read-hot, check");
  Values values(asked.value_bytes);
  bool broken = false;
  Timed timed("entries-" + asked.action, what == "fill" ? "write" : "read", asked.target);
  try {
    if (what == "fill") {
      fill(asked, *kind, order, values, timed);
    } else {
      if (asked.holds != "sequential" && asked.holds != "random" && asked.holds != "shuffled")
        mistake("--holds: the order in which the store was filled: sequential, random or shuffled");
      std::vector<bool> held = held_after(asked);
      std::unique_ptr<Store> store = kind->open(asked.settings);
      if (kind->name == "memory") {  // it holds nothing after its process ends
        char key[16];
        for (size_t number = 0; number < held.size(); number++)
          if (held[number]) {
            write_key(number, key);
            Entry entry{{key, 16}, values.of(number)};
            store->put(&entry, 1);
          }
      }
      if (order == "sequential" || what == "check") read_sequential(asked, *store, values, held, timed);
      else read_random(asked, *store, order, values, held, timed);
    }
  } catch (const std::exception& error) {
    timed.pause();
    timed.failed("server", error.what());
    broken = true;
  }
  bool right = timed.end();
  // A check reports what differs; whoever asked for it decides.
  return broken || (!right && what != "check") ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(parse(argc, argv)); }
