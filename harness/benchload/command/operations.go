package command

import (
	"benchbook/benchload/event"
	"benchbook/benchload/operation"
	"benchbook/benchload/request"
)

// addRecord adds the flag that asks for single operations.
func addRecord(flags *request.Flags) *string {
	return flags.Text("record-operations", "Keeps each operation as a record of its own in this Parquet file too: worker, "+
		"when it should have begun, began and ended, rows, status. It has its name when it is whole.", "", "the path of a file to make")
}

// recordTo begins the file of single operations; an empty path is none.
func recordTo(path string) (*operation.File, error) {
	if path == "" {
		return nil, nil
	}
	file, err := operation.Create(path)
	if err != nil {
		return nil, request.Mistakef("--record-operations cannot be written: %s; give another path.", err)
	}
	return file, nil
}

// recorded ends the file, and tells in the summary if workers waited for it.
func recorded(file *operation.File, summary *event.Summary) error {
	waited, err := file.Close()
	summary.RecordStallNS = int64(waited)
	return err
}
