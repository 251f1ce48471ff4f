#include "store.h"

#include <db.h>
#include <kchashdb.h>
#include <kcplantdb.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <lmdb.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>
#include <sqlite3.h>

#include <cstring>

namespace {

// A table that a client can hardly be slower than: keys are numbers, so a key is its place.
class Memory : public Store {
 public:
  void put(const Entry* entries, size_t count) override {
    for (size_t i = 0; i < count; i++) {
      size_t at = place(entries[i].key), size = entries[i].value.size();
      if (at >= held_.size()) held_.resize(std::max(at + 1, 2 * held_.size()), false);
      size_ = size;
      if (values_.size() < held_.size() * size) values_.resize(held_.size() * size);
      memcpy(&values_[at * size], entries[i].value.data(), size);
      held_[at] = true;
      known_ = std::max(known_, at + 1);
    }
  }
  bool get(std::string_view key, std::string_view& value) override {
    size_t at = place(key);
    if (at >= known_ || !held_[at]) return false;
    value = {&values_[at * size_], size_};
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    char key[17];
    for (size_t at = 0; at < known_; at++) {
      if (!held_[at]) continue;
      size_t left = at;
      for (int digit = 16; digit-- > 0; left /= 10) key[digit] = static_cast<char>('0' + left % 10);
      if (!use({{key, 16}, {&values_[at * size_], size_}})) return;
    }
  }

 private:
  static size_t place(std::string_view key) {
    size_t number = 0;
    for (char digit : key) number = number * 10 + static_cast<size_t>(digit - '0');
    return number;
  }
  std::vector<char> values_;
  std::vector<char> held_;
  size_t size_ = 0, known_ = 0;
};

class LevelDB : public Store {
 public:
  explicit LevelDB(const Settings& s) {
    leveldb::Options options;
    options.create_if_missing = true;
    if (s.cache_bytes) cache_.reset(leveldb::NewLRUCache(static_cast<size_t>(s.cache_bytes)));
    options.block_cache = cache_.get();
    if (s.write_buffer_bytes) options.write_buffer_size = static_cast<size_t>(s.write_buffer_bytes);
    if (s.compression == "none") options.compression = leveldb::kNoCompression;
    write_.sync = s.sync == "on";
    leveldb::DB* opened = nullptr;
    check(leveldb::DB::Open(options, s.folder + "/leveldb", &opened));
    db_.reset(opened);
  }
  void put(const Entry* entries, size_t count) override {
    if (count == 1) return check(db_->Put(write_, slice(entries->key), slice(entries->value)));
    leveldb::WriteBatch batch;
    for (size_t i = 0; i < count; i++) batch.Put(slice(entries[i].key), slice(entries[i].value));
    check(db_->Write(write_, &batch));
  }
  bool get(std::string_view key, std::string_view& value) override {
    auto found = db_->Get({}, slice(key), &value_);
    if (found.IsNotFound()) return false;
    check(found);
    value = value_;
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    std::unique_ptr<leveldb::Iterator> at(db_->NewIterator({}));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      auto key = at->key(), value = at->value();
      if (!use({{key.data(), key.size()}, {value.data(), value.size()}})) break;
    }
    check(at->status());
  }

 private:
  static leveldb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
  static void check(const leveldb::Status& status) {
    if (!status.ok()) throw Failure("LevelDB: " + status.ToString());
  }
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<leveldb::DB> db_;
  leveldb::WriteOptions write_;
  std::string value_;
};

class RocksDB : public Store {
 public:
  explicit RocksDB(const Settings& s) {
    rocksdb::Options options;
    options.create_if_missing = true;
    if (s.write_buffer_bytes) options.write_buffer_size = static_cast<size_t>(s.write_buffer_bytes);
    rocksdb::BlockBasedTableOptions table;
    if (s.cache_bytes) table.block_cache = rocksdb::NewLRUCache(static_cast<size_t>(s.cache_bytes));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (s.compression == "none") options.compression = rocksdb::kNoCompression;
    write_.sync = s.sync == "on";
    rocksdb::DB* opened = nullptr;
    check(rocksdb::DB::Open(options, s.folder + "/rocksdb", &opened));
    db_.reset(opened);
  }
  void put(const Entry* entries, size_t count) override {
    if (count == 1) return check(db_->Put(write_, slice(entries->key), slice(entries->value)));
    rocksdb::WriteBatch batch;
    for (size_t i = 0; i < count; i++) check(batch.Put(slice(entries[i].key), slice(entries[i].value)));
    check(db_->Write(write_, &batch));
  }
  bool get(std::string_view key, std::string_view& value) override {
    value_.Reset();
    auto found = db_->Get({}, db_->DefaultColumnFamily(), slice(key), &value_);
    if (found.IsNotFound()) return false;
    check(found);
    value = {value_.data(), value_.size()};
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      auto key = at->key(), value = at->value();
      if (!use({{key.data(), key.size()}, {value.data(), value.size()}})) break;
    }
    check(at->status());
  }

 private:
  static rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
  static void check(const rocksdb::Status& status) {
    if (!status.ok()) throw Failure("RocksDB: " + status.ToString());
  }
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  rocksdb::PinnableSlice value_;
};

class TreeDB : public Store {
 public:
  explicit TreeDB(const Settings& s) {
    int options = s.compact ? kyotocabinet::TreeDB::TSMALL | kyotocabinet::TreeDB::TLINEAR : 0;
    bool compressed = s.compression == "lzo" || s.compression == "zlib";
    if (compressed) options |= kyotocabinet::TreeDB::TCOMPRESS;
    if (options) check(db_.tune_options(static_cast<int8_t>(options)));
    if (s.compression == "lzo") check(db_.tune_compressor(&lzo_));
    if (s.cache_bytes) check(db_.tune_page_cache(s.cache_bytes));
    if (s.page_bytes) check(db_.tune_page(static_cast<int32_t>(s.page_bytes)));
    if (s.map_bytes) check(db_.tune_map(s.map_bytes));
    uint32_t mode = kyotocabinet::TreeDB::OWRITER | kyotocabinet::TreeDB::OCREATE;
    if (s.sync == "on") mode |= kyotocabinet::TreeDB::OAUTOSYNC;
    check(db_.open(s.folder + "/tree.kct", mode));
  }
  ~TreeDB() override { db_.close(); }
  void put(const Entry* entries, size_t count) override {
    if (count != 1) throw Failure("TreeDB has no batches");
    check(db_.set(entries->key.data(), entries->key.size(), entries->value.data(), entries->value.size()));
  }
  bool get(std::string_view key, std::string_view& value) override {
    size_t size = 0;
    held_.reset(db_.get(key.data(), key.size(), &size));
    if (!held_) {
      check(db_.error() == kyotocabinet::BasicDB::Error::NOREC);
      return false;
    }
    value = {held_.get(), size};
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    std::unique_ptr<kyotocabinet::DB::Cursor> cursor(db_.cursor());
    if (!cursor->jump()) return;
    size_t key_size = 0, value_size = 0;
    const char* value = nullptr;
    while (char* key = cursor->get(&key_size, &value, &value_size, true)) {
      std::unique_ptr<char[]> both(key);
      if (!use({{key, key_size}, {value, value_size}})) return;
    }
    check(db_.error() == kyotocabinet::BasicDB::Error::NOREC);
  }
  void finish() override { check(db_.synchronize()); }

 private:
  void check(bool fine) {
    if (!fine) throw Failure(std::string("Kyoto Cabinet: ") + db_.error().name() + ": " + db_.error().message());
  }
  kyotocabinet::LZOCompressor<kyotocabinet::LZO::RAW> lzo_;
  kyotocabinet::TreeDB db_;
  std::unique_ptr<char[]> held_;
};

class SQLite : public Store {
 public:
  explicit SQLite(const Settings& s) {
    check(sqlite3_open((s.folder + "/sqlite.db").c_str(), &db_));
    if (s.page_bytes) run("PRAGMA page_size = " + std::to_string(s.page_bytes));
    // A negative number is in KiB.
    if (s.cache_bytes) run("PRAGMA cache_size = -" + std::to_string(s.cache_bytes / 1024));
    if (s.exclusive) run("PRAGMA locking_mode = EXCLUSIVE");
    if (!s.journal.empty()) run("PRAGMA journal_mode = " + s.journal);
    wal_ = s.journal == "wal";
    // As the published program: as many pages as its cache of 4 MB has.
    if (wal_) run("PRAGMA wal_autocheckpoint = 4096");
    if (!s.sync.empty()) run(std::string("PRAGMA synchronous = ") + (s.sync == "on" ? "FULL" : "OFF"));
    run(std::string("CREATE TABLE IF NOT EXISTS test (key BLOB, value BLOB, PRIMARY KEY (key))") +
        (s.without_rowid ? " WITHOUT ROWID" : ""));
    prepare("REPLACE INTO test (key, value) VALUES (?, ?)", &put_);
    prepare("SELECT value FROM test WHERE key = ?", &get_);
    prepare("SELECT key, value FROM test ORDER BY key", &scan_);
    prepare("BEGIN", &begin_);
    prepare("COMMIT", &commit_);
  }
  ~SQLite() override {
    for (sqlite3_stmt* one : {put_, get_, scan_, begin_, commit_}) sqlite3_finalize(one);
    sqlite3_close(db_);
  }
  void put(const Entry* entries, size_t count) override {
    if (count > 1) step(begin_);
    for (size_t i = 0; i < count; i++) {
      bind(put_, 1, entries[i].key);
      bind(put_, 2, entries[i].value);
      step(put_);
    }
    if (count > 1) step(commit_);
  }
  bool get(std::string_view key, std::string_view& value) override {
    sqlite3_reset(get_);
    bind(get_, 1, key);
    int found = sqlite3_step(get_);
    if (found == SQLITE_DONE) return false;
    if (found != SQLITE_ROW) check(found);
    value = column(get_, 0);
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    sqlite3_reset(scan_);
    int found;
    while ((found = sqlite3_step(scan_)) == SQLITE_ROW)
      if (!use({column(scan_, 0), column(scan_, 1)})) break;
    sqlite3_reset(scan_);
    if (found != SQLITE_ROW && found != SQLITE_DONE) check(found);
  }
  void finish() override {
    sqlite3_reset(get_);
    if (wal_) check(sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_FULL, nullptr, nullptr));
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) throw Failure(std::string("SQLite: ") + sqlite3_errmsg(db_));
  }
  void run(const std::string& statement) {
    check(sqlite3_exec(db_, statement.c_str(), nullptr, nullptr, nullptr));
  }
  void prepare(const char* text, sqlite3_stmt** into) { check(sqlite3_prepare_v2(db_, text, -1, into, nullptr)); }
  void bind(sqlite3_stmt* statement, int place, std::string_view text) {
    check(sqlite3_bind_blob(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) throw Failure(std::string("SQLite: ") + sqlite3_errmsg(db_));
    sqlite3_reset(statement);
  }
  static std::string_view column(sqlite3_stmt* statement, int place) {
    return {static_cast<const char*>(sqlite3_column_blob(statement, place)),
            static_cast<size_t>(sqlite3_column_bytes(statement, place))};
  }
  sqlite3* db_ = nullptr;
  bool wal_ = false;
  sqlite3_stmt *put_ = nullptr, *get_ = nullptr, *scan_ = nullptr, *begin_ = nullptr, *commit_ = nullptr;
};

class LMDB : public Store {
 public:
  explicit LMDB(const Settings& s) {
    check(mdb_env_create(&env_));
    if (s.map_bytes) check(mdb_env_set_mapsize(env_, static_cast<size_t>(s.map_bytes)));
    check(mdb_env_open(env_, (s.folder + "/data.mdb").c_str(), MDB_NOSUBDIR | (s.sync == "off" ? MDB_NOSYNC : 0u) |
                                                                      (s.writemap ? MDB_WRITEMAP : 0u), 0644));
    if (s.append) put_flags_ = MDB_APPEND;
    MDB_txn* txn = nullptr;
    check(mdb_txn_begin(env_, nullptr, 0, &txn));
    check(mdb_dbi_open(txn, nullptr, 0, &dbi_));
    check(mdb_txn_commit(txn));
  }
  ~LMDB() override {
    if (read_) mdb_txn_abort(read_);
    mdb_env_close(env_);
  }
  void put(const Entry* entries, size_t count) override {
    if (read_) mdb_txn_reset(read_), stale_ = true;
    MDB_txn* txn = nullptr;
    check(mdb_txn_begin(env_, nullptr, 0, &txn));
    for (size_t i = 0; i < count; i++) {
      MDB_val key = of(entries[i].key), value = of(entries[i].value);
      if (int code = mdb_put(txn, dbi_, &key, &value, put_flags_)) {
        mdb_txn_abort(txn);
        check(code);
      }
    }
    check(mdb_txn_commit(txn));
  }
  bool get(std::string_view key, std::string_view& value) override {
    MDB_val wanted = of(key), found;
    int code = mdb_get(reading(), dbi_, &wanted, &found);
    if (code == MDB_NOTFOUND) return false;
    check(code);
    value = view(found);
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    MDB_cursor* cursor = nullptr;
    check(mdb_cursor_open(reading(), dbi_, &cursor));
    std::unique_ptr<MDB_cursor, void (*)(MDB_cursor*)> owned(cursor, mdb_cursor_close);
    MDB_val key, value;
    int code;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0)
      if (!use({view(key), view(value)})) return;
    if (code != MDB_NOTFOUND) check(code);
  }

 private:
  static void check(int code) {
    if (code != 0) throw Failure(std::string("LMDB: ") + mdb_strerror(code));
  }
  static MDB_val of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }
  static std::string_view view(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }
  // One transaction serves all reads, as in the sequel's benchmark; a write ends it.
  MDB_txn* reading() {
    if (!read_) check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &read_));
    if (stale_) check(mdb_txn_renew(read_)), stale_ = false;
    return read_;
  }
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
  MDB_txn* read_ = nullptr;
  unsigned put_flags_ = 0;
  bool stale_ = false;
};

// Berkeley DB: a B-tree in a transactional environment; a write is a transaction.
class Berkeley : public Store {
 public:
  explicit Berkeley(const Settings& s) {
    check(db_env_create(&env_, 0));
    if (s.cache_bytes)
      check(env_->set_cachesize(env_, static_cast<u_int32_t>(s.cache_bytes >> 30),
                                static_cast<u_int32_t>(s.cache_bytes & ((1 << 30) - 1)), 1));
    check(env_->log_set_config(env_, DB_LOG_AUTO_REMOVE, 1));
    if (s.sync == "off") check(env_->set_flags(env_, DB_TXN_WRITE_NOSYNC, 1));
    check(env_->open(env_, s.folder.c_str(),
                     DB_CREATE | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN | DB_PRIVATE, 0644));
    check(db_create(&db_, env_, 0));
    if (s.page_bytes) check(db_->set_pagesize(db_, static_cast<u_int32_t>(s.page_bytes)));
    check(db_->open(db_, nullptr, "berkeley.db", nullptr, DB_BTREE, DB_CREATE | DB_AUTO_COMMIT, 0644));
  }
  ~Berkeley() override {
    if (db_) db_->close(db_, 0);
    if (env_) env_->close(env_, 0);
  }
  void put(const Entry* entries, size_t count) override {
    DB_TXN* txn = nullptr;
    if (count > 1) check(env_->txn_begin(env_, nullptr, &txn, 0));
    for (size_t i = 0; i < count; i++) {
      DBT key = of(entries[i].key), value = of(entries[i].value);
      if (int code = db_->put(db_, txn, &key, &value, 0)) {
        if (txn) txn->abort(txn);
        check(code);
      }
    }
    if (txn) check(txn->commit(txn, 0));
  }
  bool get(std::string_view key, std::string_view& value) override {
    DBT wanted = of(key), found{};
    int code = db_->get(db_, nullptr, &wanted, &found, 0);
    if (code == DB_NOTFOUND) return false;
    check(code);
    value = view(found);
    return true;
  }
  void scan(const std::function<bool(const Entry&)>& use) override {
    DBC* cursor = nullptr;
    check(db_->cursor(db_, nullptr, &cursor, 0));
    DBT key{}, value{};
    int code = 0;
    bool more = true;
    while (more && (code = cursor->get(cursor, &key, &value, DB_NEXT)) == 0) more = use({view(key), view(value)});
    cursor->close(cursor);
    if (code != 0 && code != DB_NOTFOUND) check(code);
  }
  void finish() override { check(env_->txn_checkpoint(env_, 0, 0, 0)); }

 private:
  static void check(int code) {
    if (code != 0) throw Failure(std::string("Berkeley DB: ") + db_strerror(code));
  }
  static DBT of(std::string_view text) {
    DBT made{};
    made.data = const_cast<char*>(text.data());
    made.size = static_cast<u_int32_t>(text.size());
    return made;
  }
  static std::string_view view(const DBT& value) { return {static_cast<const char*>(value.data), value.size}; }
  DB_ENV* env_ = nullptr;
  DB* db_ = nullptr;
};

template <typename T>
std::unique_ptr<Store> made(const Settings& settings) {
  return std::make_unique<T>(settings);
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"memory", "0", true, [](const Settings&) { return std::make_unique<Memory>(); }},
      {"leveldb", std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion), true,
       made<LevelDB>},
      {"kyoto-treedb", kyotocabinet::VERSION, false, made<TreeDB>},
      {"sqlite3", sqlite3_libversion(), true, made<SQLite>},
      {"lmdb", std::to_string(MDB_VERSION_MAJOR) + "." + std::to_string(MDB_VERSION_MINOR) + "." +
                   std::to_string(MDB_VERSION_PATCH), true, made<LMDB>},
      {"berkeleydb", std::to_string(DB_VERSION_MAJOR) + "." + std::to_string(DB_VERSION_MINOR) + "." +
                         std::to_string(DB_VERSION_PATCH), true, made<Berkeley>},
      {"rocksdb", std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + "." +
                      std::to_string(ROCKSDB_PATCH), true, made<RocksDB>},
  };
  return all;
}
