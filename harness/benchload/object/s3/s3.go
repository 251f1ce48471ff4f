// Package s3 keeps objects in a bucket of a server that speaks S3.
package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"benchbook/benchload/object"
)

// Store is a bucket. Requests are signed (version 4), their bodies too.
type Store struct {
	URL         string // of the server, such as http://127.0.0.1:9000
	Bucket      string
	Key, Secret string
	Limit       time.Duration
}

// Name is the name of the kind of store.
func (s *Store) Name() string { return "s3" }

// Prepare does nothing: the driver of the server makes the bucket.
func (s *Store) Prepare() error { return nil }

// Client makes a client.
func (s *Store) Client() (object.Client, error) {
	return &client{store: s, HTTP: object.NewHTTP(s.Limit)}, nil
}

type client struct {
	*object.HTTP
	store  *Store
	answer []byte
}

// region is what servers take that have none.
const region = "us-east-1"

// empty is the SHA-256 of no bytes.
var empty = hex.EncodeToString(sha256.New().Sum(nil))

func (c *client) send(method string, item *object.Item, body, into []byte) ([]byte, error) {
	sum := empty
	if body != nil {
		digest := sha256.Sum256(body)
		sum = hex.EncodeToString(digest[:])
	}
	return c.Do(method, c.store.URL+"/"+c.store.Bucket+"/"+item.Key, body, into, func(request *http.Request) *http.Request {
		request.Header.Set("X-Amz-Content-Sha256", sum)
		if c.store.Key == "" {
			return request
		}
		return signer.SignV4(*request, c.store.Key, c.store.Secret, "", region)
	})
}

// Put puts the objects, one after the other.
func (c *client) Put(items []object.Item) (err error) {
	for i := range items {
		if c.answer, err = c.send("PUT", &items[i], items[i].Content, c.answer); err != nil {
			return err
		}
	}
	return nil
}

// Get gets it.
func (c *client) Get(item *object.Item, into []byte) ([]byte, error) {
	return c.send("GET", item, nil, into)
}

// Delete deletes it.
func (c *client) Delete(item *object.Item) (err error) {
	c.answer, err = c.send("DELETE", item, nil, c.answer)
	return err
}
