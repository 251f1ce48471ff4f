package load

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// However a file is cut, its batches joined are the file, and every line is a row.
func FuzzFile(f *testing.F) {
	f.Add([]byte("a x=1 1\nb x=1 1\nc x=1 1"), uint8(2))
	f.Add([]byte("\n\n"), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		path := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := NewFile(path, int64(size)+1)
		if err != nil {
			if len(text) > 0 {
				t.Fatal(err)
			}
			return
		}
		var joined []byte
		rows := int64(0)
		for {
			batch, more := file.Next()
			if !more {
				break
			}
			if batch.Rows < 1 || batch.Rows > int64(size)+1 {
				t.Fatalf("a batch has %d rows", batch.Rows)
			}
			joined, rows = append(joined, batch.Bytes...), rows+batch.Rows
		}
		want := int64(bytes.Count(text, []byte("\n")))
		if text[len(text)-1] != '\n' {
			want++
		}
		if !bytes.Equal(joined, text) || rows != want {
			t.Errorf("%d bytes and %d rows of %d and %d", len(joined), rows, len(text), want)
		}
	})
}
