package object

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strconv"
	"strings"
)

// Entry is an object that was acknowledged and not deleted since.
type Entry struct {
	Number int64
	Name   string // that the store gave it
}

// ReadKept reads which objects a store must have; a missing file means none.
func ReadKept(path string) ([]Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var entries []Entry
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		number, name, _ := strings.Cut(lines.Text(), "\t")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("line %d is not an object: %q", len(entries)+1, lines.Text())
		}
		entries = append(entries, Entry{n, name})
	}
	return entries, lines.Err()
}

// WriteKept writes them in the order of their numbers.
func WriteKept(path string, entries []Entry) error {
	sort.Slice(entries, func(i, j int) bool { return entries[i].Number < entries[j].Number })
	file, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	for _, entry := range entries {
		_, _ = fmt.Fprintf(out, "%d\t%s\n", entry.Number, entry.Name)
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
