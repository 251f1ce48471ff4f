package query

import (
	"context"
	"slices"
	"sort"

	"benchbook/benchload/event"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
)

// columns of normalised answers.
var columns = []string{"time_ns", "host", "value"}

// unreachable connections in a row end the questions: the server is gone.
const unreachable = 3

// Answers asks each query once, unmeasured, and writes the rows of its answer in the
// order of (host, time); of the queries in also it writes only the digest of the answer.
// It returns how many queries were asked and failed.
func Answers(ctx context.Context, queries, also []spec.Query, t target.Target, events *event.Writer) (asked, failed int64) {
	client, err := t.Connect()
	if err != nil {
		events.Error(system.AsFailure(err).Event())
		return 1, 1
	}
	defer client.Close()
	defer context.AfterFunc(ctx, client.Interrupt)()
	all := append(slices.Clone(queries), also...)
	seen := NewSeen(all)
	defer func() { events.Answered(seen.Event()) }()
	missed := 0
	for place, query := range all {
		if ctx.Err() != nil || missed == unreachable {
			return asked, failed
		}
		asked++
		body, rows, failure := answerOf(t, client, query)
		if failure == nil {
			missed = 0
			seen.add(place, body)
			if place < len(queries) {
				events.Answer(event.Answer{ID: query.ID, QueryType: query.Type, Columns: columns, Rows: normalise(query, rows)})
			}
			continue
		}
		failed++
		events.Error(failure.Event())
		if missed++; failure.Kind != system.Connection {
			missed = 0
		}
	}
	return asked, failed
}

// answerOf asks one query and reads its rows.
func answerOf(t target.Target, client target.Conn, query spec.Query) ([]byte, []target.Row, *system.Failure) {
	text, err := t.Text(query)
	if err != nil {
		return nil, nil, system.AsFailure(err)
	}
	answer, err := client.Query(text)
	if err != nil {
		return nil, nil, system.AsFailure(err)
	}
	rows, err := t.Rows(query, answer.Body)
	if err != nil {
		return nil, nil, &system.Failure{Kind: system.BadAnswer, Message: err.Error()}
	}
	return answer.Body, rows, nil
}

// normalise sorts the rows and gives them their columns.
func normalise(query spec.Query, rows []target.Row) [][]any {
	sort.Slice(rows, func(i, j int) bool {
		if rows[i].Host != rows[j].Host {
			return rows[i].Host < rows[j].Host
		}
		return rows[i].TimeNS < rows[j].TimeNS
	})
	lines := make([][]any, len(rows))
	for i, row := range rows {
		var host any
		if query.GroupByHost {
			host = row.Host
		}
		lines[i] = []any{row.TimeNS, host, row.Value}
	}
	return lines
}
