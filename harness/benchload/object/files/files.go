// Package files stores each object as a separate file: the physical limit of the disk.
package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"benchbook/benchload/object"
)

// Sync is what is on the device when a put or a delete is acknowledged.
type Sync int

// Levels of Sync.
const (
	None   Sync = iota // nothing: the kernel writes later
	Data               // the bytes of the file
	Folder             // and its name in its folder
)

// Store is one folder on each disk; objects are dealt out over them by number.
type Store struct {
	Folders []string
	Sync    Sync
}

// Name returns the name of the kind of store.
func (s *Store) Name() string { return "files" }

// Prepare creates the folders; there are 256 on each disk, as keys have them.
func (s *Store) Prepare() error {
	const digits = "0123456789abcdef"
	for _, folder := range s.Folders {
		for i := range 256 {
			if err := os.MkdirAll(filepath.Join(folder, string([]byte{digits[i>>4], digits[i&15]})), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// Connect creates a client.
func (s *Store) Connect() (object.Conn, error) { return &client{store: s}, nil }

type client struct {
	store       *Store
	interrupted atomic.Bool
}

func (c *client) path(item *object.Item) string {
	folders := c.store.Folders
	return filepath.Join(folders[item.Number%int64(len(folders))], item.Key)
}

// Put writes each object into a new file.
func (c *client) Put(items []object.Item) error {
	for i := range items {
		if err := c.put(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *client) put(item *object.Item) error {
	if c.interrupted.Load() {
		return fs.ErrClosed
	}
	path := c.path(item)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(item.Content)
	if err == nil && c.store.Sync >= Data {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return c.syncFolder(path)
}

// syncFolder writes the name of a file, or its removal, to the device.
func (c *client) syncFolder(path string) error {
	if c.store.Sync < Folder {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Get reads a whole file.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	file, err := os.Open(c.path(item))
	if err != nil {
		return nil, missing(err)
	}
	defer file.Close()
	for {
		if len(into) == cap(into) {
			into = append(into, 0)[:len(into)]
		}
		n, err := file.Read(into[len(into):cap(into)])
		into = into[:len(into)+n]
		if err == io.EOF {
			return into, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Delete removes the file.
func (c *client) Delete(item *object.Item) error {
	path := c.path(item)
	if err := os.Remove(path); err != nil {
		return missing(err)
	}
	return c.syncFolder(path)
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return object.ErrMissing
	}
	return err
}

// Interrupt makes later operations fail; one that waits for the disk cannot be stopped.
func (c *client) Interrupt() { c.interrupted.Store(true) }

// Close does nothing: no file stays open.
func (c *client) Close() {}
