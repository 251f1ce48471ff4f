package stream

import (
	"sort"

	"benchbook/benchload/dataset"
)

// worker does tasks until there are none left.
func (s *Stream) worker(number int) {
	defer s.running.Done()
	renderer := s.format.Renderer()
	s.lock.Lock()
	defer s.lock.Unlock()
	for !s.closed && s.next < s.pieces {
		// Rendering first: it frees blocks, and readers wait for it.
		if s.canRender() {
			s.render(renderer, number)
		} else if s.canFill() {
			s.fill()
		} else {
			s.work.Wait()
		}
	}
	s.work.Broadcast()
}

// canRender reports whether a piece can be begun: there is memory for it, and the
// values of all its blocks are made.
func (s *Stream) canRender() bool {
	if len(s.free) == 0 || s.next >= s.emit+int64(len(s.ring)) {
		return false
	}
	first, end := s.span(s.next)
	if s.covered < end {
		return false
	}
	for _, slot := range s.live[s.holder(first):] {
		if slot.block.First >= end {
			break
		}
		if !slot.ready {
			return false
		}
	}
	return true
}

// holder is the place of the living block that holds a row.
func (s *Stream) holder(row int64) int {
	return sort.Search(len(s.live), func(i int) bool { return s.live[i].block.First+s.live[i].block.Size > row })
}

// span is the rows of a piece.
func (s *Stream) span(piece int64) (first, end int64) {
	return piece * s.size, min((piece+1)*s.size, s.rows)
}

// canFill reports whether there is a block to make and a place for it.
func (s *Stream) canFill() bool {
	if s.filling != nil {
		return true
	}
	if s.fillNext >= s.plan.blocks() {
		return false
	}
	_, end := s.span(s.next)
	return len(s.live) < s.most || s.covered < end
}

// begin makes the next block live.
func (s *Stream) begin() {
	slot := &slot{}
	if last := len(s.spare) - 1; last >= 0 {
		slot, s.spare = s.spare[last], s.spare[:last]
	}
	values, listed := slot.block.Values, slot.block.Listed
	slot.block = s.plan.block(s.fillNext, s.covered)
	size := slot.block.Ticks * slot.block.Count * slot.block.Width
	if cap(values) < size {
		values = make([]int64, size)
	}
	slot.block.Values, slot.block.Listed = values[:size], listed[:0]
	slot.ready = false
	slot.rowsLeft = slot.block.Size
	slot.parts = min(slot.block.Count, (size+taskValues-1)/taskValues)
	slot.left = slot.parts
	s.live = append(s.live, slot)
	s.covered += slot.block.Size
	s.filling = slot
	s.fillNext++
	s.fillPart = 0
}

// fill generates the values of some series of a block. It is called, and returns,
// with the lock held.
func (s *Stream) fill() {
	if s.filling == nil {
		s.begin()
	}
	slot, part := s.filling, s.fillPart
	s.fillPart++
	if s.fillPart == slot.parts {
		s.filling = nil
	}

	s.lock.Unlock()
	count := slot.block.Count
	first, end := part*count/slot.parts, (part+1)*count/slot.parts
	slot.take(first, end)
	s.plan.generator.Fill(&slot.block, first, end)
	s.lock.Lock()

	slot.left--
	if slot.left > 0 {
		return
	}
	if irregular, ok := s.plan.generator.(dataset.Irregular); ok {
		s.lock.Unlock()
		clear(slot.block.Listed[:cap(slot.block.Listed)])
		irregular.List(&slot.block)
		s.lock.Lock()
	}
	slot.ready = true
	s.retire() // a block may have no rows at all
	s.work.Broadcast()
}

// take clears the place of some series in one sweep. Another core may have held it
// last: its lines come over much faster in their order than one by one as the walks,
// which go from tick to tick, would ask for them.
func (t *slot) take(first, end int) {
	width := t.block.Width
	for tick := range t.block.Ticks {
		row := t.block.Values[tick*t.block.Count*width:]
		clear(row[first*width : end*width])
	}
}
