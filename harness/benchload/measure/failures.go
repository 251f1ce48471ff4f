package measure

import (
	"sort"
	"sync"

	"benchbook/benchload/event"
	"benchbook/benchload/target"
)

// maxGroups is how many different failures are told apart; the rest is counted
// under their kind alone, so that a server with ever new words fills no memory.
const maxGroups = 100

// group is what failures are counted by.
type group struct {
	kind    target.Kind
	status  int
	message string
}

// Failures counts failures of the same kind with the same words.
type Failures struct {
	lock   sync.Mutex
	counts map[group]*event.Error
}

// add counts one failure.
func (f *Failures) add(failure *target.Failure) {
	f.lock.Lock()
	defer f.lock.Unlock()
	key := group{failure.Kind, failure.Status, failure.Message}
	if f.counts == nil {
		f.counts = map[group]*event.Error{}
	}
	if f.counts[key] == nil && len(f.counts) >= maxGroups {
		key.message = "(other words)"
	}
	found := f.counts[key]
	if found == nil {
		found = &event.Error{Kind: string(key.kind), Status: key.status, Message: key.message}
		f.counts[key] = found
	}
	found.Operations++
	found.Rows += failure.Refused
}

// list gives the groups, the most frequent first.
func (f *Failures) list() []event.Error {
	f.lock.Lock()
	defer f.lock.Unlock()
	var all []event.Error
	for _, one := range f.counts {
		all = append(all, *one)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Operations != all[j].Operations {
			return all[i].Operations > all[j].Operations
		}
		return all[i].Message < all[j].Message
	})
	return all
}
