package command

import (
	"context"
	"io"
	"testing"
)

func BenchmarkVersion(b *testing.B) {
	for b.Loop() {
		Run(context.Background(), []string{"version"}, io.Discard, io.Discard)
	}
}
