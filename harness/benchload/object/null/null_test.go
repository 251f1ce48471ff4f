package null_test

import (
	"bytes"
	"context"
	"testing"

	"benchbook/benchload/dataset/blob"
	"benchbook/benchload/drive"
	"benchbook/benchload/event"
	"benchbook/benchload/object"
	"benchbook/benchload/object/null"
)

// Gets are compared with the dataset, so what the store generates must be right.
func TestItHoldsEveryObject(t *testing.T) {
	sizes, err := blob.ParseSizes("1KiB")
	if err != nil {
		t.Fatal(err)
	}
	store := null.Store{Set: &blob.Set{Seed: 1, Count: 50, Sizes: sizes}}
	for _, kind := range []object.Kind{object.Put, object.Get, object.Delete} {
		work := &object.Work{Set: store.Set, Store: store, Mix: object.Only(kind), Batch: 1, Pace: drive.Pace{Workers: 2}, Kept: store.Held()}
		if kind == object.Put {
			work.Kept = nil
		}
		summary, err := work.Run(context.Background(), event.NewWriter(&bytes.Buffer{}))
		if err != nil || summary.Errors != 0 || summary.Operations != 50 {
			t.Errorf("kind %d: %d operations, %d errors (%v)", kind, summary.Operations, summary.Errors, err)
		}
	}
}
