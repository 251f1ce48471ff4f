package program

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// meter shows the progress on one line, once per second.
type meter struct {
	done  atomic.Int64
	total int64
	out   io.Writer
	began time.Time
	quit  chan struct{}
	ended sync.WaitGroup
}

// newMeter starts a meter, which is silent if it is not wanted.
func newMeter(out io.Writer, wanted bool, total int64) *meter {
	m := &meter{total: total, out: out, began: time.Now(), quit: make(chan struct{})}
	if wanted {
		m.ended.Add(1)
		go m.show()
	}
	return m
}

// add counts rows.
func (m *meter) add(rows int64) { m.done.Add(rows) }

// stop ends the meter after a last line.
func (m *meter) stop() {
	close(m.quit)
	m.ended.Wait()
}

func (m *meter) show() {
	defer m.ended.Done()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.line("\r")
		case <-m.quit:
			m.line("\r")
			_, _ = io.WriteString(m.out, "\n")
			return
		}
	}
}

func (m *meter) line(start string) {
	done := m.done.Load()
	took := time.Since(m.began).Seconds()
	_, _ = fmt.Fprintf(m.out, "%s%d of %d rows (%.0f %%), %.2f M rows/s ", start, done, m.total,
		100*float64(done)/float64(max(m.total, 1)), float64(done)/took/1e6)
}
