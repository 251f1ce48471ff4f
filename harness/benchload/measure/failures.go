package measure

import (
	"sort"
	"sync"

	"benchbook/benchload/event"
	"benchbook/benchload/system"
)

// maxGroups is how many different failures are reported separately. The rest is
// counted by kind, so that a server with ever new messages fills no memory.
const maxGroups = 100

// group is what failures are counted by.
type group struct {
	kind    system.FailureKind
	status  int
	message string
}

// failures counts failures of the same kind with the same message.
type failures struct {
	lock   sync.Mutex
	counts map[group]*event.Error
}

// add counts one failure.
func (f *failures) add(failure *system.Failure) {
	f.lock.Lock()
	defer f.lock.Unlock()
	key := group{failure.Kind, failure.Status, failure.Message}
	if f.counts == nil {
		f.counts = map[group]*event.Error{}
	}
	if f.counts[key] == nil && len(f.counts) >= maxGroups {
		key.message = "(other messages)"
	}
	found := f.counts[key]
	if found == nil {
		found = &event.Error{Kind: string(key.kind), Status: key.status, Message: key.message}
		f.counts[key] = found
	}
	found.Operations++
	found.Rows += failure.Refused
}

// list returns the groups, the most frequent first.
func (f *failures) list() []event.Error {
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
