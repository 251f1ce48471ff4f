package mongodb

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"benchbook/benchload/dataset"
	"benchbook/benchload/format"
	"benchbook/benchload/query/spec"
	"benchbook/benchload/system"
	"benchbook/benchload/target"
	"benchbook/benchload/target/tabular"
)

// client belongs to one goroutine.
type client struct {
	target *MongoDB
	cursor *format.Cursor
	ctx    context.Context
	end    context.CancelFunc
}

// Connect creates a client.
func (t *MongoDB) Connect() (target.Conn, error) {
	c := &client{target: t}
	c.ctx, c.end = context.WithCancel(context.Background())
	if t.rows != nil {
		c.cursor = t.rows.Cursor()
	}
	return c, nil
}

// Write inserts the documents of a batch, one command per collection. It uses the
// server's default acknowledgement, which does not wait for the journal.
func (c *client) Write(batch target.Batch) error {
	database, err := c.target.open()
	if err != nil {
		return err
	}
	c.cursor.Reset(batch.Bytes)
	refused := batch.Rows
	for i := range c.target.tables {
		c.cursor.Only(i)
		var documents []any
		for c.cursor.Next() {
			documents = append(documents, document(c.cursor))
		}
		if len(documents) == 0 {
			continue
		}
		_, err := database.Collection(c.target.tables[i].Name).InsertMany(c.ctx, documents, options.InsertMany().SetOrdered(false))
		if err != nil {
			failure := failureOf(err)
			if failure.Refused == 0 {
				failure.Refused = refused
			}
			return failure
		}
		refused -= int64(len(documents))
	}
	return nil
}

// document is a row.
func document(cursor *format.Cursor) bson.D {
	table := cursor.Table()
	made := make(bson.D, 0, 1+len(table.Tags)+len(table.Fields))
	made = append(made, bson.E{Key: "time", Value: cursor.Time()})
	for tag, name := range table.Tags {
		if text, ok := cursor.Tag(tag); ok {
			made = append(made, bson.E{Key: name, Value: string(text)})
		}
	}
	for i, field := range table.Fields {
		if field.Kind == dataset.Integer {
			if number, ok := cursor.Integer(i); ok {
				made = append(made, bson.E{Key: field.Name, Value: number})
			}
		} else if number, ok := cursor.Float(i); ok {
			made = append(made, bson.E{Key: field.Name, Value: number})
		}
	}
	return made
}

// asked is what a client needs of a query.
type asked struct {
	Table, Field, Aggregate string
	Start, End, Bucket      int64
	Hosts                   []string
	ByHost                  bool
}

// Text returns the query for the client, which creates a pipeline from it.
func (t *MongoDB) Text(query spec.Query) ([]byte, error) {
	if query.Form != "" {
		return nil, errors.New("the queries of the iot use case are not rendered for mongodb")
	}
	return json.Marshal(asked{query.Table, query.Field, map[string]string{"max": "$max", "mean": "$avg"}[query.Aggregate],
		query.StartNS, query.EndNS, query.BucketNS, query.Hosts, query.GroupByHost})
}

// pipeline is the query in the language of MongoDB.
func (a *asked) pipeline() bson.A {
	match := bson.D{{Key: "time", Value: bson.D{{Key: "$gte", Value: a.Start}, {Key: "$lt", Value: a.End}}}}
	if len(a.Hosts) > 0 {
		match = append(bson.D{{Key: "hostname", Value: bson.D{{Key: "$in", Value: a.Hosts}}}}, match...)
	}
	bucket := bson.D{{Key: "$subtract", Value: bson.A{"$time", bson.D{{Key: "$mod", Value: bson.A{"$time", a.Bucket}}}}}}
	group := bson.D{{Key: "bucket", Value: bucket}}
	if a.ByHost {
		group = append(group, bson.E{Key: "host", Value: "$hostname"})
	}
	return bson.A{
		bson.D{{Key: "$match", Value: match}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: group}, {Key: "value", Value: bson.D{{Key: a.Aggregate, Value: "$" + a.Field}}}}}},
	}
}

// Query sends a query and reads the whole answer.
func (c *client) Query(text []byte) (target.Answer, error) {
	database, err := c.target.open()
	if err != nil {
		return target.Answer{}, err
	}
	var query asked
	if err := json.Unmarshal(text, &query); err != nil {
		return target.Answer{}, &system.Failure{Kind: system.Refused, Message: err.Error()}
	}
	found, err := database.Collection(query.Table).Aggregate(c.ctx, query.pipeline())
	if err != nil {
		return target.Answer{}, failureOf(err)
	}
	var rows []struct {
		ID struct {
			Bucket int64  `bson:"bucket"`
			Host   string `bson:"host"`
		} `bson:"_id"`
		Value *float64 `bson:"value"`
	}
	if err := found.All(c.ctx, &rows); err != nil {
		return target.Answer{}, failureOf(err)
	}
	var body []byte
	for _, row := range rows {
		if row.Value != nil {
			body = tabular.Append(body, target.Row{TimeNS: row.ID.Bucket, Host: row.ID.Host, Value: *row.Value})
		}
	}
	return target.Answer{Body: body, Bytes: int64(len(body)), Done: time.Now()}, nil
}

// Rows reads an answer.
func (t *MongoDB) Rows(_ spec.Query, body []byte) ([]target.Row, error) { return tabular.Rows(body) }

// Interrupt ends a waiting operation and all later ones.
func (c *client) Interrupt() { c.end() }

// Close gives up what is on its way; the connections are the target's.
func (c *client) Close() { c.end() }
