package command

import (
	"os"
	"slices"
	"strings"
	"time"

	"benchbook/benchload/object"
	"benchbook/benchload/object/files"
	"benchbook/benchload/object/postgresql"
	"benchbook/benchload/object/redis"
	"benchbook/benchload/object/s3"
	"benchbook/benchload/object/seaweedfs"
	"benchbook/benchload/request"
)

// objectStoreFlags say which store is meant.
type objectStoreFlags struct {
	name, url, database, sync *string
	timeout                   *time.Duration
}

// kindOfObjectStore is a kind of store that objects can be put into.
type kindOfObjectStore struct {
	name    string
	example string // of an address
	make    func(f *objectStoreFlags) (object.Store, error)
}

// objectSyncs are what a client can ask to be on the device at an acknowledgement.
var objectSyncs = []string{"none", "data", "folder"}

// objectStores are the kinds of objectStores; a new one adds an entry.
var objectStores = []kindOfObjectStore{
	{"files", "/data/objects", func(f *objectStoreFlags) (object.Store, error) {
		return &files.Store{Folders: strings.Split(*f.url, ","), Sync: files.Sync(slices.Index(objectSyncs, *f.sync))}, nil
	}},
	{"postgresql", "postgres://postgres@127.0.0.1:5432", func(f *objectStoreFlags) (object.Store, error) {
		return postgresql.New(*f.url, *f.database, *f.timeout)
	}},
	{"redis", "redis://127.0.0.1:6379", func(f *objectStoreFlags) (object.Store, error) { return redis.New(*f.url, *f.timeout) }},
	{"s3", "http://127.0.0.1:9000", func(f *objectStoreFlags) (object.Store, error) {
		return &s3.Store{
			URL: strings.TrimSuffix(*f.url, "/"), Bucket: *f.database, Limit: *f.timeout,
			Key: os.Getenv("AWS_ACCESS_KEY_ID"), Secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		}, nil
	}},
	{"seaweedfs", "http://127.0.0.1:9333", func(f *objectStoreFlags) (object.Store, error) {
		return &seaweedfs.Store{Master: strings.TrimSuffix(*f.url, "/"), Sync: *f.sync != "none", Limit: *f.timeout}, nil
	}},
}

// addObjectStore adds the store's flags to a command.
func addObjectStore(flags *request.Flags) *objectStoreFlags {
	var names []string
	for _, kind := range objectStores {
		names = append(names, kind.name)
	}
	f := &objectStoreFlags{
		name:     flags.Choice("target", "The kind of store. Keys of s3 are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the password of postgresql from PGPASSWORD.", "", names...),
		url:      flags.Text("url", "Where the store is; of files, one folder a disk.", "", "an address such as http://127.0.0.1:9333, or folders with commas between"),
		database: flags.Text("database", "The database of postgresql, the bucket of s3.", "benchbook", "a name"),
		sync:     flags.Choice("sync", "What is on the device when files or seaweedfs acknowledge: nothing, the bytes, or for files the name in its folder too. Other objectStores decide themselves.", "none", objectSyncs...),
		timeout:  flags.Duration("timeout", "How long to wait for an answer.", 30*time.Second),
	}
	flags.Require("target", "url")
	return f
}

// store makes the store.
func (f *objectStoreFlags) store() (object.Store, error) {
	kind := objectStores[slices.IndexFunc(objectStores, func(k kindOfObjectStore) bool { return k.name == *f.name })]
	made, err := kind.make(f)
	if err != nil || *f.url == "" {
		return nil, request.Mistakef("--url %q is not an address for --target %s (%v); give one such as %s.", *f.url, kind.name, err, kind.example)
	}
	return made, nil
}
