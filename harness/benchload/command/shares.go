package command

import (
	"benchbook/benchload/clients"
	"benchbook/benchload/dataset"
	"benchbook/benchload/request"
)

// shareFlags say which part of a dataset this client loads, or how many clients
// to start.
type shareFlags struct {
	flags                 *request.Flags
	clients, index, count *int64
	by                    *string
}

// addShares adds the flags of shares to a command.
func addShares(flags *request.Flags) *shareFlags {
	return &shareFlags{
		flags: flags,
		clients: flags.Count("clients", "Starts so many processes that load a share each, beginning at the same moment; their events are merged. "+
			"Each has --workers connections.", 1, 1, 1024),
		index: flags.Count("client-index", "Which of several clients this one is, where they are started by themselves, as on several machines.", 0, 0, 1<<20),
		count: flags.Count("client-count", "How many such clients there are.", 1, 1, 1<<20),
		by: flags.Choice("share", "How the dataset is cut for clients: each has series of its own, or all series over a window of its own.",
			"series", "series", "window"),
	}
}

// check tells what is wrong with the flags.
func (s *shareFlags) check(extent dataset.Extent, file string) error {
	switch {
	case *s.index >= *s.count:
		return request.Mistakef("--client-index is %d, but --client-count %d has only the clients 0 to %d; give a smaller one.",
			*s.index, *s.count, *s.count-1)
	case *s.count > 1 && *s.clients > 1:
		return request.Mistakef("--clients starts all clients itself, but --client-count is given too; leave one of them out.")
	case *s.count > 1 && file != "":
		return request.Mistakef("--client-count cuts a generated dataset, but --file is given; cut the file, or leave one out.")
	case *s.clients > 1 && file != "":
		return request.Mistakef("--clients cuts a generated dataset, but --file is given; cut the file, or leave one out.")
	case *s.by == "series" && extent.SeriesCount < *s.clients:
		return request.Mistakef("--clients %d is more than the %d series of the dataset; give fewer, or --share window.",
			*s.clients, extent.SeriesCount)
	}
	return nil
}

// of is the share of this client.
func (s *shareFlags) of(extent dataset.Extent) dataset.Extent {
	return clients.Share(extent, *s.by, *s.index, *s.count)
}
