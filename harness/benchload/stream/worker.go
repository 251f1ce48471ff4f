package stream

import (
	"benchbook/benchload/format"
)

// worker does tasks until there are none left.
func (s *Stream) worker() {
	defer s.running.Done()
	renderer := s.format.Renderer()
	s.lock.Lock()
	defer s.lock.Unlock()
	for !s.closed && s.next < s.pieces {
		// Rendering first: it frees blocks, and readers wait for it.
		if s.canRender() {
			s.render(renderer)
		} else if s.canFill() {
			s.fill()
		} else {
			s.work.Wait()
		}
	}
	s.work.Broadcast()
}

// canRender tells if a piece can be begun: there is memory for it, and the
// values of all its blocks are made.
func (s *Stream) canRender() bool {
	if len(s.free) == 0 || s.next >= s.emit+int64(len(s.ring)) {
		return false
	}
	first, end := s.span(s.next)
	for n := s.plan.blockOf(first); n <= s.plan.blockOf(end-1); n++ {
		slot := s.slot(n)
		if slot.number != n || slot.left > 0 {
			return false
		}
	}
	return true
}

// span is the rows of a piece.
func (s *Stream) span(piece int64) (first, end int64) {
	return piece * s.size, min((piece+1)*s.size, s.rows)
}

func (s *Stream) slot(block int64) *slot { return &s.slots[block%int64(len(s.slots))] }

// render makes the next piece. It is called, and returns, with the lock held.
func (s *Stream) render(renderer format.Renderer) {
	piece := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	first, end := s.span(s.next)
	*piece = Piece{Number: s.next, First: first, Rows: end - first, Values: s.values(first, end), Bytes: piece.Bytes[:0]}
	s.ring[s.next%int64(len(s.ring))] = piece
	s.next++
	if s.next == s.pieces {
		s.work.Broadcast() // so that the other workers see the end
	}

	s.lock.Unlock()
	for row := first; row < end; {
		slot := s.slot(s.plan.blockOf(row))
		block := &slot.block
		stop := min(end, block.First+block.Rows())
		piece.Bytes = renderer.Append(piece.Bytes, block, row-block.First, stop-block.First)
		row = stop
	}
	piece.Bytes = renderer.Finish(piece.Bytes)
	s.lock.Lock()

	piece.done = true
	for row := first; row < end; {
		slot := s.slot(s.plan.blockOf(row))
		stop := min(end, slot.block.First+slot.block.Rows())
		slot.rowsLeft -= stop - row
		if slot.rowsLeft == 0 {
			s.work.Broadcast()
		}
		row = stop
	}
	if piece.Number == s.emit {
		s.ready.Signal()
	}
}

// canFill tells if there is a block to make and a place for it.
func (s *Stream) canFill() bool {
	if s.fillNext >= s.plan.blocks() {
		return false
	}
	slot := s.slot(s.fillNext)
	return slot.number == s.fillNext || slot.number < 0 || slot.rowsLeft == 0
}

// fill makes the values of some series of the next block. It is called, and
// returns, with the lock held.
func (s *Stream) fill() {
	slot := s.slot(s.fillNext)
	if slot.number != s.fillNext {
		values := slot.block.Values
		slot.block = s.plan.block(s.fillNext)
		slot.number = s.fillNext
		slot.rowsLeft = slot.block.Rows()
		size := slot.block.Ticks * slot.block.Count * slot.block.Width
		if cap(values) < size {
			values = make([]int64, size)
		}
		slot.block.Values = values[:size]
		slot.parts = min(slot.block.Count, (size+taskValues-1)/taskValues)
		slot.left = slot.parts
	}
	part := s.fillPart
	s.fillPart++
	if s.fillPart == slot.parts {
		s.fillPart = 0
		s.fillNext++
	}

	s.lock.Unlock()
	count := slot.block.Count
	s.plan.generator.Fill(&slot.block, part*count/slot.parts, (part+1)*count/slot.parts)
	s.lock.Lock()

	slot.left--
	if slot.left == 0 {
		s.work.Broadcast()
	}
}
