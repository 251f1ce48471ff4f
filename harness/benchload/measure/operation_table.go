package measure

import (
	"errors"
	"os"

	"benchbook/benchload/format"
)

// groupRecords is the size of a row group: what DuckDB reads in one piece.
const groupRecords = 122_880

// Columns of the file.
const (
	ofOperation = iota
	ofWorker
	ofIntended
	ofStart
	ofEnd
	ofRows
	ofStatus
)

// columns are their names.
var columns = []string{"operation", "worker", "intended_ns", "start_ns", "end_ns", "rows", "status"}

// operationTable is a Parquet file of records, written one row group at a time. Our own
// writer takes a third of the time of arrow-go's, which workers would wait for.
type operationTable struct {
	file    *os.File
	columns *format.Columns
	group   []byte
}

// newOperationTable begins a file.
func newOperationTable(path string) (*operationTable, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t := &operationTable{file: file, columns: format.NewColumns("operations", columns, "operation", "status")}
	t.group = append(t.group, t.columns.Header()...)
	return t, nil
}

// add adds the records of a block.
func (t *operationTable) add(b *block) error {
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
func (t *operationTable) flush() error {
	t.group = t.columns.RowGroup(t.group)
	_, err := t.file.Write(t.group)
	t.group = t.group[:0]
	return err
}

// close writes the remaining records and the footer, and closes the file.
func (t *operationTable) close() error {
	err := t.flush()
	if err == nil {
		_, err = t.file.Write(t.columns.Footer())
	}
	return errors.Join(err, t.file.Close())
}
