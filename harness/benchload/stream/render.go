package stream

import "benchbook/benchload/format"

// takeFree returns memory for a piece, preferably the memory that the worker wrote
// last: memory in another core's cache would have to be transferred line by line first.
func (s *Stream) takeFree(maker int) *Piece {
	at := len(s.free) - 1
	for i := at; i >= 0; i-- {
		if s.free[i].maker == maker {
			at = i
			break
		}
	}
	piece := s.free[at]
	s.free = append(s.free[:at], s.free[at+1:]...)
	return piece
}

// render makes the next piece. It is called, and returns, with the lock held.
func (s *Stream) render(renderer format.Renderer, maker int) {
	piece := s.takeFree(maker)
	first, end := s.span(s.next)
	*piece = Piece{
		Number: s.next, First: first, Rows: end - first,
		Bytes: piece.Bytes[:0], blocks: piece.blocks[:0], maker: maker,
	}
	for _, slot := range s.live[s.holder(first):] {
		if slot.block.First >= end {
			break
		}
		piece.blocks = append(piece.blocks, slot)
	}
	s.ring[s.next%int64(len(s.ring))] = piece
	s.next++
	if s.next == s.pieces {
		s.work.Broadcast() // so that the other workers see the end
	}

	s.lock.Unlock()
	for _, slot := range piece.blocks {
		block := &slot.block
		from, stop := max(first-block.First, 0), min(end-block.First, block.Size)
		piece.Bytes = renderer.Append(piece.Bytes, block, from, stop)
		piece.Values += s.values(block, from, stop)
	}
	piece.Bytes = renderer.Finish(piece.Bytes)
	s.lock.Lock()

	piece.done = true
	for _, slot := range piece.blocks {
		slot.rowsLeft -= min(end-slot.block.First, slot.block.Size) - max(first-slot.block.First, 0)
	}
	s.retire()
	if piece.Number == s.emit {
		s.ready.Signal()
	}
}

// retire takes the memory of the first blocks back, if nothing is to be done
// with them any more.
func (s *Stream) retire() {
	done := 0
	for done < len(s.live) && s.live[done].ready && s.live[done].rowsLeft == 0 {
		done++
	}
	if done == 0 {
		return
	}
	s.spare = append(s.spare, s.live[:done]...)
	s.live = append(s.live[:0], s.live[done:]...)
	s.work.Broadcast()
}
