package stream

import (
	"runtime"
	"sync"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
)

// Options of a stream.
type Options struct {
	Workers   int   // goroutines that generate; zero for one a core
	PieceRows int64 // rows of a piece; zero for a size that suits a pipe
	Readers   int   // how many pieces are out between Next and Release; zero for one

	blockBytes int64 // of values of a block; zero for the usual size
}

// defaultPieceRows makes pieces of about half a megabyte of line protocol,
// which stay in the cache between the worker and the one who reads them.
const defaultPieceRows = 1152

// ahead is how many pieces more there may be before the reader has taken them, if
// several workers make them. On as many cores as workers the reader has none of its
// own: it runs when a worker waits, and short pieces would make all of them wait.
const ahead = 11

// Piece is a run of rows, as bytes. The last one may be shorter.
type Piece struct {
	Number int64
	First  int64 // row
	Rows   int64
	Values int64
	Bytes  []byte

	blocks []*slot // that hold its rows
	done   bool
	maker  int // the worker whose core has its memory in its cache
}

// Stream hands out the pieces of a dataset in order.
type Stream struct {
	plan   plan
	format format.Format
	rows   int64 // of the extent
	size   int64 // rows of a piece
	pieces int64
	sums   []int64 // values of the tables before each table

	lock     sync.Mutex
	work     sync.Cond // workers wait for something to do
	ready    sync.Cond // readers wait for a piece
	live     []*slot   // blocks that are being made or rendered, in order
	most     int       // of them, unless a piece needs more
	spare    []*slot   // memory for blocks
	filling  *slot     // the last of them, while there are parts to give to workers
	ring     []*Piece  // of the pieces emit … emit+len-1; nil while not begun
	free     []*Piece
	covered  int64 // rows of the blocks begun so far
	fillNext int64 // block to begin next
	fillPart int   // of the block that is filling
	next     int64 // piece to render next
	emit     int64 // piece to hand out next
	closed   bool
	running  sync.WaitGroup
}

// slot holds one living block.
type slot struct {
	block    dataset.Block
	parts    int   // tasks that make its values
	left     int   // of them still to do
	ready    bool  // to be rendered
	rowsLeft int64 // still to be rendered
}

// New starts to generate.
func New(generator dataset.Generator, f format.Format, options Options) *Stream {
	if options.Workers == 0 {
		options.Workers = runtime.GOMAXPROCS(0)
	}
	if options.PieceRows == 0 {
		options.PieceRows = defaultPieceRows
	}
	if options.blockBytes == 0 {
		options.blockBytes = defaultBlockBytes
	}
	s := &Stream{format: f, rows: dataset.Rows(generator), size: options.PieceRows}
	s.plan = newPlan(generator, blockTicks(generator, s.size), options.blockBytes)
	s.pieces = (s.rows + s.size - 1) / s.size
	sum := int64(0)
	for _, table := range generator.Tables() {
		s.sums = append(s.sums, sum)
		sum += int64(len(table.Fields))
	}
	s.sums = append(s.sums, sum)
	s.work.L, s.ready.L = &s.lock, &s.lock

	// A piece needs all its blocks at once, while the one before it may still
	// be rendered and the one after it is made.
	perBlock := s.plan.length * s.plan.count * s.plan.tables
	s.most = int(s.size/max(perBlock, 1)) + 4
	buffers := 2*options.Workers + 1
	if options.Workers > 1 {
		buffers += ahead
	}
	s.ring = make([]*Piece, buffers)
	for range buffers + max(options.Readers, 1) - 1 {
		s.free = append(s.free, &Piece{})
	}
	s.running.Add(options.Workers)
	for number := range options.Workers {
		go s.worker(number)
	}
	return s
}

// blockTicks is how long blocks should be: longer for few series, so that a
// piece does not need many blocks.
func blockTicks(generator dataset.Generator, piece int64) int64 {
	perTick := max(1, generator.Extent().SeriesCount*int64(len(generator.Tables())))
	ticks := int64(64)
	for ticks < dataset.MaxBlockTicks && ticks*perTick < 2*piece {
		ticks *= 2
	}
	return ticks
}

// Next waits for the next piece; false at the end. The piece is the caller's
// until Release. It may be called by many goroutines.
func (s *Stream) Next() (*Piece, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		if s.closed || s.emit == s.pieces {
			return nil, false
		}
		at := int(s.emit % int64(len(s.ring)))
		if piece := s.ring[at]; piece != nil && piece.done {
			s.ring[at] = nil
			s.emit++
			if s.emit == s.pieces {
				s.ready.Broadcast()
			} else if next := s.ring[s.emit%int64(len(s.ring))]; next != nil && next.done {
				s.ready.Signal()
			}
			s.work.Signal()
			return piece, true
		}
		s.ready.Wait()
	}
}

// Release gives the memory of a piece back.
func (s *Stream) Release(piece *Piece) {
	s.lock.Lock()
	s.free = append(s.free, piece)
	s.work.Signal()
	s.lock.Unlock()
}

// Close stops the workers and waits for them. Pieces handed out stay valid.
func (s *Stream) Close() {
	s.lock.Lock()
	s.closed = true
	s.work.Broadcast()
	s.ready.Broadcast()
	s.lock.Unlock()
	s.running.Wait()
}

// Header returns what comes before the first piece.
func (s *Stream) Header() []byte { return s.format.Header() }

// values counts the field values of some rows of a block, counted inside it.
func (s *Stream) values(block *dataset.Block, from, end int64) int64 {
	if block.Listed != nil {
		sum := int64(0)
		for i := from; i < end; i++ {
			row := &block.Listed[i]
			sum += s.sums[row.Table+1] - s.sums[row.Table]
			if row.NoField >= 0 {
				sum--
			}
		}
		return sum
	}
	tables := s.plan.tables
	before := func(row int64) int64 { return row/tables*s.sums[tables] + s.sums[row%tables] }
	return before(end) - before(from)
}
