package walk

import (
	"math"
	"testing"
)

// unit is one deviation as a scale for Normal, with 40 binary places.
const unit = 1 << 43

func TestTableIsTheInverseOfTheNormalLaw(t *testing.T) {
	for i := range cells {
		want := math.Sqrt2 * math.Erfinv(float64(i)/cells)
		got := float64(body[i].start) / (1 << zBits)
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("border %d of the body is %v, want %v", i, got, want)
		}
		want = math.Sqrt2 * math.Erfinv(1-(1-float64(i)/cells)/cells)
		got = float64(tail[i].start) / (1 << zBits)
		if math.Abs(got-want) > 1e-6 {
			t.Fatalf("border %d of the tail is %v, want %v", i, got, want)
		}
	}
}

func TestNormalHasTheMomentsOfTheNormalLaw(t *testing.T) {
	const n = 1 << 20
	var m1, m2, m3, m4 float64
	beyond := 0
	for i := range uint64(n) {
		z := float64(Normal(At(7, i), unit)) / (1 << 40)
		m1, m2, m3, m4 = m1+z, m2+z*z, m3+z*z*z, m4+z*z*z*z
		if math.Abs(z) > 3 {
			beyond++
		}
	}
	for _, moment := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"mean", m1 / n, 0, 0.005},
		{"variance", m2 / n, 1, 0.008},
		{"skewness", m3 / n, 0, 0.015},
		{"kurtosis", m4 / n, 3, 0.06},
		{"part beyond three deviations", float64(beyond) / n, 0.0027, 0.0003},
	} {
		if math.Abs(moment.got-moment.want) > moment.tolerance {
			t.Errorf("%s is %v, want %v ± %v", moment.name, moment.got, moment.want, moment.tolerance)
		}
	}
}

func TestNormalIsMonotonicInsideASign(t *testing.T) {
	last := int64(-1)
	for h := uint64(0); h < 1<<63; h += 1 << 47 {
		z := Normal(h, unit)
		if z < last {
			t.Fatalf("at %x the deviate %d is below %d", h, z, last)
		}
		last = z
	}
	if z := float64(Normal(1<<63-1, unit)) / (1 << 40); z < 5 || z > 5.3 {
		t.Errorf("the largest deviate is %v, want 5.28", z)
	}
}

func BenchmarkNormal(b *testing.B) {
	sum := int64(0)
	for i := range b.N {
		sum += Normal(At(1, uint64(i)), unit)
	}
	sink = sum
}

var sink int64
