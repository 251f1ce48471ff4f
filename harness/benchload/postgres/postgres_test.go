package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"benchbook/benchload/system"
)

func TestTheUserOfAPlace(t *testing.T) {
	for place, want := range map[system.Place]string{
		{URL: Example}: "postgres", {URL: "postgres://anna@127.0.0.1:5432"}: "anna",
		{URL: Example, User: "berta:secret"}: "berta",
	} {
		place.Database, place.Timeout = "db", time.Second
		server, err := New(place)
		if err != nil || server.config.User != want || server.Database() != "db" {
			t.Errorf("%+v: the user is %q, want %q (%v)", place, server.config.User, want, err)
		}
	}
	if _, err := New(system.Place{URL: "postgres://:x:y"}); err == nil {
		t.Error("an address that is none is taken")
	}
}

// A workload repeats what the server may do later, and nothing else.
func TestTheKindsOfFailures(t *testing.T) {
	for code, want := range map[string]system.FailureKind{
		"40001": system.Server, "53300": system.Server, "57P01": system.Server, "42P07": system.Refused, "": system.Refused,
	} {
		err := Failed(fmt.Errorf("while copying: %w", &pgconn.PgError{Code: code, Message: "no"}))
		if failure := system.AsFailure(err); failure.Kind != want || failure.Message != "no ("+code+")" {
			t.Errorf("the code %s is %s: %s", code, failure.Kind, failure.Message)
		}
		if !Is(err, code) || !Is(Failed(err), code) || Is(err, "other") {
			t.Errorf("the code %s is not found in %v", code, err)
		}
	}
	if failure := system.AsFailure(Failed(context.DeadlineExceeded)); failure.Kind != system.Timeout {
		t.Errorf("a deadline is %s", failure.Kind)
	}
	if failure := system.AsFailure(Failed(errors.New("broken pipe"))); failure.Kind != system.Connection {
		t.Errorf("a broken pipe is %s", failure.Kind)
	}
	if Failed(nil) != nil {
		t.Error("no error is a failure")
	}
}
