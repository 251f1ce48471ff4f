// Package mongodb talks to MongoDB through its driver: one document per row, one
// collection per table, an index on host and time. Times are nanoseconds as integers,
// because MongoDB's dates have milliseconds.
package mongodb

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/lines"
)

// MongoDB is a database of a server.
type MongoDB struct {
	url, database, user string
	timeout             time.Duration
	rows                *format.Rows
	tables              []dataset.Table

	lock sync.Mutex
	pool *mongo.Client
}

// New creates the target; the user may be empty.
func New(url, database, user string, timeout time.Duration) *MongoDB {
	return &MongoDB{url: url, database: database, user: user, timeout: timeout}
}

// Name returns the name of this kind of target.
func (t *MongoDB) Name() string { return "mongodb" }

// Format returns typed rows.
func (t *MongoDB) Format(generator dataset.Generator) (format.Format, error) {
	t.rows, t.tables = format.NewRows(generator), generator.Tables()
	return t.rows, nil
}

// open connects once; the driver's pool has a connection for each client that uses it.
func (t *MongoDB) open() (*mongo.Database, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.pool == nil {
		made := options.Client().ApplyURI(t.url).SetTimeout(t.timeout).SetServerSelectionTimeout(t.timeout).SetRetryWrites(false)
		if name, password, _ := strings.Cut(t.user, ":"); name != "" {
			made.SetAuth(options.Credential{Username: name, Password: password})
		}
		pool, err := mongo.Connect(made)
		if err != nil {
			return nil, failureOf(err)
		}
		t.pool = pool
	}
	return t.pool.Database(t.database), nil
}

// Holds reports whether a collection has a document.
func (t *MongoDB) Holds() (bool, error) {
	database, err := t.open()
	if err != nil {
		return false, err
	}
	ctx := context.Background()
	names, err := database.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return false, failureOf(err)
	}
	for _, name := range names {
		err := database.Collection(name).FindOne(ctx, bson.D{}).Err()
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return false, failureOf(err)
		}
	}
	return false, nil
}

// Prepare creates the indexes, and with them the collections.
func (t *MongoDB) Prepare() error {
	database, err := t.open()
	if err != nil {
		return err
	}
	for _, table := range t.tables {
		index := mongo.IndexModel{Keys: bson.D{{Key: table.Tags[0], Value: 1}, {Key: "time", Value: 1}}}
		if _, err := database.Collection(table.Name).Indexes().CreateOne(context.Background(), index); err != nil {
			return failureOf(err)
		}
	}
	return nil
}

// failureOf converts an error of the driver to a failure.
func failureOf(err error) *system.Failure {
	failure := &system.Failure{Kind: system.Connection, Message: lines.Steady(err.Error())}
	var command mongo.CommandError
	var bulk mongo.BulkWriteException
	switch {
	case mongo.IsTimeout(err):
		failure.Kind, failure.Message = system.Timeout, "no complete answer within --timeout"
	case errors.As(err, &bulk):
		failure.Kind, failure.Refused = system.Refused, int64(len(bulk.WriteErrors))
		if len(bulk.WriteErrors) > 0 {
			failure.Status, failure.Message = bulk.WriteErrors[0].Code, lines.Steady(bulk.WriteErrors[0].Message)
		}
	case errors.As(err, &command):
		failure.Kind, failure.Status, failure.Message = system.Refused, int(command.Code), lines.Steady(command.Message)
	}
	return failure
}

// Version returns the version that the server reports.
func (t *MongoDB) Version() (string, error) {
	database, err := t.open()
	if err != nil {
		return "", err
	}
	var info struct {
		Version string `bson:"version"`
	}
	if err := database.RunCommand(context.Background(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info); err != nil {
		return "", failureOf(err)
	}
	return info.Version, nil
}

// Count counts the documents of every collection and the values in them.
func (t *MongoDB) Count() (map[string]target.Count, error) {
	database, err := t.open()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	names, err := database.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return nil, failureOf(err)
	}
	counts := map[string]target.Count{}
	for _, name := range names {
		found, err := database.Collection(name).Find(ctx, bson.D{})
		if err != nil {
			return nil, failureOf(err)
		}
		count := target.Count{Values: map[string]int64{}}
		for found.Next(ctx) {
			count.Rows++
			elements, err := found.Current.Elements()
			if err != nil {
				return nil, failureOf(err)
			}
			for _, one := range elements {
				if kind := one.Value().Type; one.Key() != "time" && (kind == bson.TypeDouble || kind == bson.TypeInt64) {
					count.Values[one.Key()]++
				}
			}
		}
		if err := found.Err(); err != nil {
			return nil, failureOf(err)
		}
		counts[name] = count
	}
	return counts, nil
}
