package spec

import "testing"

func FuzzParts(f *testing.F) {
	f.Add(int64(90), int64(120), int64(60))
	f.Add(int64(61), int64(1), int64(60))
	f.Fuzz(func(t *testing.T, start, length, bucket int64) {
		if start < 0 || start > 1<<40 || length < 1 || length > 1<<40 || bucket < 1 || bucket > 1<<40 {
			return
		}
		q := Query{StartNS: start, EndNS: start + length, BucketNS: bucket}
		at := start
		for _, part := range q.Parts() {
			if part.StartNS != at || part.EndNS <= at {
				t.Fatalf("a part is %+v after %d", part, at)
			}
			at = part.EndNS
			if part.Bucket < 0 {
				if part.StartNS%bucket != 0 || part.EndNS%bucket != 0 {
					t.Errorf("%+v is no run of whole buckets of %d", part, bucket)
				}
			} else if part.Bucket%bucket != 0 || part.StartNS < part.Bucket || part.EndNS > part.Bucket+bucket {
				t.Errorf("%+v is not inside one bucket of %d", part, bucket)
			}
		}
		if at != q.EndNS {
			t.Errorf("the parts end at %d, the query at %d", at, q.EndNS)
		}
	})
}
