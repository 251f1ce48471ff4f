package measure

import (
	"errors"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// groupRecords is the size of a row group: what DuckDB reads in one piece.
const groupRecords = 122_880

// Columns of the file, and the number of all.
const (
	ofOperation = iota
	ofWorker
	ofIntended
	ofStart
	ofEnd
	ofRows
	ofStatus
	columnCount
)

// columns are their names.
var columns = [columnCount]string{"operation", "worker", "intended_ns", "start_ns", "end_ns", "rows", "status"}

// isText tells which columns hold texts, the others whole numbers.
var isText = [columnCount]bool{ofOperation: true, ofStatus: true}

// operationTable is a Parquet file of records, written one row group at a time.
type operationTable struct {
	to     *sink
	writer *file.Writer
	// The records of the next row group, one column each.
	numbers [columnCount][]int64
	texts   [columnCount][]parquet.ByteArray
}

// sink is the file under the writer, which does not report every failure to write and
// panics at the first: the sink keeps it and takes the rest for nothing.
type sink struct {
	file *os.File
	err  error
}

// Write writes unless writing has failed.
func (s *sink) Write(text []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.file.Write(text)
	}
	return len(text), nil
}

// newOperationTable begins a file.
func newOperationTable(path string) (*operationTable, error) {
	created, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	properties := []parquet.WriterProperty{parquet.WithDictionaryDefault(false), parquet.WithMaxRowGroupLength(groupRecords)}
	var fields schema.FieldList
	for column, name := range columns {
		if isText[column] {
			// Not a dictionary: the library allocates twice for each text that it looks up.
			properties = append(properties, parquet.WithCompressionFor(name, compress.Codecs.Snappy))
			fields = append(fields, schema.MustPrimitive(schema.NewPrimitiveNodeLogical(
				name, parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)))
		} else {
			fields = append(fields, schema.NewInt64Node(name, parquet.Repetitions.Required, -1))
		}
	}
	root, err := schema.NewGroupNode("operations", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, errors.Join(err, created.Close())
	}
	t := &operationTable{to: &sink{file: created}}
	t.writer = file.NewParquetWriter(t.to, root, file.WithWriterProps(parquet.NewWriterProperties(properties...)))
	return t, nil
}

// add adds the records of a block.
func (t *operationTable) add(b *block) error {
	operation := parquet.ByteArray(b.operation)
	for i := range b.records[:b.count] {
		r := &b.records[i]
		t.texts[ofOperation] = append(t.texts[ofOperation], operation)
		t.numbers[ofWorker] = append(t.numbers[ofWorker], b.worker)
		t.numbers[ofIntended] = append(t.numbers[ofIntended], r.intended)
		t.numbers[ofStart] = append(t.numbers[ofStart], r.start)
		t.numbers[ofEnd] = append(t.numbers[ofEnd], r.end)
		t.numbers[ofRows] = append(t.numbers[ofRows], r.rows)
		t.texts[ofStatus] = append(t.texts[ofStatus], statusTexts[r.status])
	}
	if len(t.numbers[ofRows])+blockRecords > groupRecords {
		return t.flush()
	}
	return nil
}

// flush writes a row group; none for no records.
func (t *operationTable) flush() error {
	if len(t.numbers[ofRows]) == 0 {
		return nil
	}
	group := t.writer.AppendRowGroup()
	for column := range columns {
		chunk, err := group.NextColumn()
		if err != nil {
			return err
		}
		switch chunk := chunk.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = chunk.WriteBatch(t.numbers[column], nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = chunk.WriteBatch(t.texts[column], nil, nil)
		}
		if err = errors.Join(err, chunk.Close()); err != nil {
			return err
		}
		t.numbers[column], t.texts[column] = t.numbers[column][:0], t.texts[column][:0]
	}
	return errors.Join(group.Close(), t.to.err)
}

// close writes the remaining records and the footer, and closes the file.
func (t *operationTable) close() error {
	err := t.flush()
	if err == nil {
		err = t.writer.Close()
	}
	return errors.Join(err, t.to.err, t.to.file.Close())
}
