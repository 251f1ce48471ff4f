// The interface of the stores under test, and the list of those that this client was built with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What a store is opened with: only what differs from its own defaults, which 0 and an empty text keep.
struct Settings {
  std::string folder;
  int64_t cache_bytes = 0;
  int64_t write_buffer_bytes = 0;  // LevelDB, RocksDB
  int64_t page_bytes = 0;          // SQLite, TreeDB, Berkeley DB
  int64_t map_bytes = 0;           // TreeDB, LMDB: bytes of the file that are mapped into memory
  std::string compression;         // "none"; TreeDB: "lzo" or "zlib"
  std::string sync;                // "on": each write waits for the disk; "off"
  std::string journal;             // SQLite: "wal", "delete" ...
  bool exclusive = false;          // SQLite: one connection keeps the lock
  bool without_rowid = false;      // SQLite: rows are in the order of the key
  bool compact = false;            // TreeDB: TSMALL and TLINEAR
  bool writemap = false;           // LMDB: writes go to the map itself
  bool append = false;             // LMDB: writes in order are appended
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Entry {
  std::string_view key, value;
};

// One open store. Functions throw Failure with the library's message.
class Store {
 public:
  virtual ~Store() = default;
  // Writes entries in one atomic step; more than one only if batches() is true.
  virtual void put(const Entry* entries, size_t count) = 0;
  // Returns false if the key is absent. The value lives until the next call.
  virtual bool get(std::string_view key, std::string_view& value) = 0;
  // Calls use with each entry in the order of keys, until it returns false.
  virtual void scan(const std::function<bool(const Entry&)>& use) = 0;
  // What the published benchmark does after a fill, within its time; nothing by default.
  virtual void finish() {}
};

struct Kind {
  std::string name, version;
  bool batches;
  std::function<std::unique_ptr<Store>(const Settings&)> open;
};

const std::vector<Kind>& kinds();
