package operation

import (
	"os"

	"benchbook/benchload/format"
)

// groupRecords is how many records a row group has: as many as DuckDB reads in
// one piece.
const groupRecords = 122_880

// Places of the columns of the file.
const (
	ofOperation = iota
	ofWorker
	ofIntended
	ofStart
	ofEnd
	ofRows
	ofStatus
)

// columns are the names of the columns, in their places.
var columns = []string{"operation", "worker", "intended_ns", "start_ns", "end_ns", "rows", "status"}

// table is the file as it is written, one row group after the other.
type table struct {
	file    *os.File
	columns *format.Columns
	group   []byte
}

// newTable begins a file.
func newTable(path string) (*table, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t := &table{file: file, columns: format.NewColumns("operations", columns, "operation", "status")}
	t.group = append(t.group, t.columns.Header()...)
	return t, nil
}

// add adds the records of a block.
func (t *table) add(b *block) error {
	count := 0
	for i := range b.records[:b.count] {
		r := &b.records[i]
		t.columns.Text(ofOperation, b.operation)
		t.columns.Number(ofWorker, b.worker)
		t.columns.Number(ofIntended, r.intended)
		t.columns.Number(ofStart, r.start)
		t.columns.Number(ofEnd, r.end)
		t.columns.Number(ofRows, r.rows)
		t.columns.Text(ofStatus, statuses[r.status])
		count = t.columns.EndRow()
	}
	if count+blockRecords > groupRecords {
		return t.flush()
	}
	return nil
}

// flush writes a row group, and the header before the first.
func (t *table) flush() error {
	t.group = t.columns.RowGroup(t.group)
	_, err := t.file.Write(t.group)
	t.group = t.group[:0]
	return err
}

// close writes the rest and the footer.
func (t *table) close() error {
	err := t.flush()
	if err == nil {
		_, err = t.file.Write(t.columns.Footer())
	}
	if closed := t.file.Close(); err == nil {
		err = closed
	}
	return err
}
