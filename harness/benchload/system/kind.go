package system

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Place is where and as whom a system is used.
type Place struct {
	URL      string
	Database string
	User     string // with a password after a colon, if any
	Timeout  time.Duration
	Dry      bool // nothing is ever sent, so that no address is needed
}

// Where returns the place itself: what a workload adds to it embeds it.
func (p Place) Where() Place { return p }

// Located is a place, with what a workload adds to it.
type Located interface{ Where() Place }

// Kind is a kind of system that a workload has a client for. S is the system as the
// workload sees it.
type Kind[P Located, S any] struct {
	Name    string
	Example string // of an address; empty for a system that has none
	Open    func(P) (S, error)
}

// Kinds is the registry of the systems of a workload; a new client adds an entry.
type Kinds[P Located, S any] []Kind[P, S]

// Names returns the names of the kinds.
func (k Kinds[P, S]) Names() []string {
	names := make([]string, len(k))
	for i := range k {
		names[i] = k[i].Name
	}
	return names
}

// Open creates the system of a name, which is one of Names. It connects to nothing. An
// error is a sentence about the flags of the place.
func (k Kinds[P, S]) Open(name string, at P) (S, error) {
	kind := k[slices.IndexFunc(k, func(one Kind[P, S]) bool { return one.Name == name })]
	if err := kind.check(at.Where()); err != nil {
		var none S
		return none, err
	}
	opened, err := kind.Open(at)
	if err != nil {
		return opened, kind.wrong(at.Where().URL, err)
	}
	return opened, nil
}

// check is an error if the place has no address, or one of another kind of system.
func (k Kind[P, S]) check(at Place) error {
	if k.Example == "" {
		return nil
	}
	if at.Database == "" {
		return errors.New("--database is empty; give a name")
	}
	if at.URL == "" && !at.Dry {
		return fmt.Errorf("--target %s needs --url; add the address of the server, such as --url %s", k.Name, k.Example)
	}
	scheme, _, found := strings.Cut(k.Example, "://")
	if !found || at.URL == "" || scheme == "http" { // or https, which the client checks
		return nil
	}
	if rest, same := strings.CutPrefix(at.URL, scheme+"://"); !same || rest == "" {
		return k.wrong(at.URL, nil)
	}
	return nil
}

// wrong is the error about an address.
func (k Kind[P, S]) wrong(url string, reason error) error {
	because := ""
	if reason != nil {
		because = fmt.Sprintf(" (%s)", strings.TrimSuffix(reason.Error(), "."))
	}
	return fmt.Errorf("--url %q is not an address for --target %s%s; give one such as %s", url, k.Name, because, k.Example)
}
