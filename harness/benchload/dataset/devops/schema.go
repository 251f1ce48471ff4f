package devops

import (
	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// hostTags are the tags of every table.
var hostTags = []string{
	"hostname", "region", "datacenter", "rack", "os", "arch", "team",
	"service", "service_version", "service_environment",
}

// column is a field and the law of its values; fields without a law are
// derived from others or fixed (see derive.go).
type column struct {
	name string
	law  *law
	kind dataset.Kind
}

// law is a walk and where it starts: at a place of its range chosen per host,
// or at a fixed one.
type law struct {
	walk  walk.Walk
	start uint64 // as a fraction of 2^63 of the range
	any   bool   // start anywhere in the range
}

// measurement is one table of the suite.
type measurement struct {
	name    string
	tags    []string // besides the host tags
	columns []column
}

const terabyte = 1 << 40

// middle of a range, as a start.
const middle = 1 << 62

// folded is a clamped walk of the suite: integers in 0 … top.
func folded(name string, mean, top float64, start uint64) column {
	return column{name, &law{walk: walk.NewFolded(mean, 1, top, uint64(top)), start: start}, dataset.Integer}
}

// rising is a monotonic walk of the suite.
func rising(name string, mean float64) column {
	return column{name, &law{walk: walk.NewRising(mean, 1)}, dataset.Integer}
}

// free is an unbounded walk of the suite.
func free(name string, mean float64) column {
	return column{name, &law{walk: walk.NewFree(mean, 1)}, dataset.Integer}
}

// percent is a walk in 0 … 100 that starts anywhere.
func percent(name string, deviation float64) column {
	return column{name, &law{walk: walk.NewFolded(0, deviation, 100, 100*dataset.DecimalUnit), any: true}, dataset.Decimal}
}

func derived(name string) column { return column{name: name} }

// measurements are the tables in the order of rows; their fields are in the
// order of the suite. The name postgresl is the suite's.
var measurements = []measurement{
	{"cpu", nil, []column{
		percent("usage_user", 1), percent("usage_system", 1), percent("usage_idle", 1),
		percent("usage_nice", 1), percent("usage_iowait", 1), percent("usage_irq", 1),
		percent("usage_softirq", 1), percent("usage_steal", 1), percent("usage_guest", 1),
		percent("usage_guest_nice", 1),
	}},
	{"diskio", []string{"serial"}, []column{
		rising("reads", 50), rising("writes", 50), rising("read_bytes", 100), rising("write_bytes", 100),
		rising("read_time", 5), rising("write_time", 5), rising("io_time", 5),
	}},
	{"disk", []string{"path", "fstype"}, []column{
		derived("total"), folded("free", 50, terabyte, middle), derived("used"), derived("used_percent"),
		derived("inodes_total"), derived("inodes_free"), derived("inodes_used"),
	}},
	{"kernel", nil, []column{
		derived("boot_time"), rising("interrupts", 5), rising("context_switches", 5),
		rising("processes_forked", 5), rising("disk_pages_in", 5), rising("disk_pages_out", 5),
	}},
	// The deviation of the memory walks is a 64th of the total. They are made
	// as percentages; cached and buffered become bytes in derive.go.
	{"mem", nil, []column{
		derived("total"), derived("available"), derived("used"), derived("free"),
		memory("cached"), memory("buffered"), percent("used_percent", 100.0/64),
		{name: "available_percent", kind: dataset.Decimal}, {name: "buffered_percent", kind: dataset.Decimal},
	}},
	{"net", []string{"interface"}, []column{
		rising("bytes_sent", 50), rising("bytes_recv", 50), rising("packets_sent", 50), rising("packets_recv", 50),
		rising("err_in", 5), rising("err_out", 5), rising("drop_in", 5), rising("drop_out", 5),
	}},
	{"nginx", []string{"port", "server"}, []column{
		rising("accepts", 5), folded("active", 5, 100, 0), rising("handled", 5), folded("reading", 5, 100, 0),
		rising("requests", 5), folded("waiting", 5, 100, 0), folded("writing", 5, 100, 0),
	}},
	{"postgresl", nil, []column{
		folded("numbackends", 5, 1000, 0), folded("xact_commit", 5, 1000, 0), folded("xact_rollback", 5, 1000, 0),
		folded("blks_read", 5, 1000, 0), folded("blks_hit", 5, 1000, 0), folded("tup_returned", 5, 1000, 0),
		folded("tup_fetched", 5, 1000, 0), folded("tup_inserted", 5, 1000, 0), folded("tup_updated", 5, 1000, 0),
		folded("tup_deleted", 5, 1000, 0), folded("conflicts", 5, 1000, 0), folded("temp_files", 5, 1000, 0),
		folded("temp_bytes", 1024, 1<<30, 0), folded("deadlocks", 5, 1000, 0),
		folded("blk_read_time", 5, 1000, 0), folded("blk_write_time", 5, 1000, 0),
	}},
	{"redis", []string{"port", "server"}, []column{
		derived("uptime_in_seconds"),
		rising("total_connections_received", 5), rising("expired_keys", 50), rising("evicted_keys", 50),
		rising("keyspace_hits", 50), rising("keyspace_misses", 50),
		free("instantaneous_ops_per_sec", 1), free("instantaneous_input_kbps", 1), free("instantaneous_output_kbps", 1),
		folded("connected_clients", 50, 10000, 0),
		folded("used_memory", 50, 16<<30, middle), folded("used_memory_rss", 50, 16<<30, middle),
		folded("used_memory_peak", 50, 16<<30, middle), folded("used_memory_lua", 50, 16<<30, middle),
		folded("rdb_changes_since_last_save", 50, 10000, 0),
		folded("sync_full", 5, 1000, 0), folded("sync_partial_ok", 5, 1000, 0), folded("sync_partial_err", 5, 1000, 0),
		folded("pubsub_channels", 5, 1000, 0), folded("pubsub_patterns", 5, 1000, 0),
		folded("latest_fork_usec", 5, 1000, 0), folded("connected_slaves", 5, 1000, 0),
		folded("master_repl_offset", 5, 1000, 0), folded("repl_backlog_active", 5, 1000, 0),
		folded("repl_backlog_size", 5, 1000, 0), folded("repl_backlog_histlen", 5, 1000, 0),
		folded("mem_fragmentation_ratio", 5, 100, 0),
		folded("used_cpu_sys", 5, 1000, 0), folded("used_cpu_user", 5, 1000, 0),
		folded("used_cpu_sys_children", 5, 1000, 0), folded("used_cpu_user_children", 5, 1000, 0),
	}},
}

// memory is a walk of bytes of memory, made in hundredths of the total.
func memory(name string) column {
	c := percent(name, 100.0/64)
	c.kind = dataset.Integer
	return c
}
