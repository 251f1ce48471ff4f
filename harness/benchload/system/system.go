// Package system is what all systems under test have in common, whatever a workload does
// with them: connections ([Conn]), failures ([Failure]), and the registry of the kinds of
// systems ([Kinds]).
package system

// Conn is one connection to a system. A workload adds the verbs that it needs, whose
// failures are a *Failure. All but Interrupt belong to one goroutine.
type Conn interface {
	// Interrupt ends a waiting operation and all later ones; any goroutine may call it.
	Interrupt()
	// Close closes the connection.
	Close()
}

// Resending is a connection that sends a request again at once if the server closed it
// without an answer. Resent returns how many it sent again since it was called last.
type Resending interface{ Resent() int64 }

// System is a system under test as a workload sees it: C has the workload's verbs.
type System[C Conn] interface {
	// Name returns the name of the kind of system.
	Name() string
	// Connect creates a connection, which opens now or at its first operation.
	Connect() (C, error)
}
