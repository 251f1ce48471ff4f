package request

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Text is a flag with any text as its value.
func (f *Flags) Text(name, about, standard, hint string) *string {
	value := standard
	f.add(name, about, hint, standard, func(text string) error {
		value = text
		return nil
	})
	return &value
}

// Choice is a flag with one of some names as its value.
func (f *Flags) Choice(name, about, standard string, allowed ...string) *string {
	value := standard
	f.add(name, about, "one of "+strings.Join(allowed, ", "), standard, func(text string) error {
		for _, one := range allowed {
			if text == one {
				value = text
				return nil
			}
		}
		return Unknown("--"+name, text, allowed)
	})
	return &value
}

// Count is a flag with a whole number in a range as its value.
func (f *Flags) Count(name, about string, standard, least, most int64) *int64 {
	value := standard
	hint := "a whole number from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10)
	shown := "" // a standard that could not be given means that something else decides
	if standard >= least {
		shown = strconv.FormatInt(standard, 10)
	}
	f.add(name, about, hint, shown, func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < least || n > most {
			return Mistakef("--%s is %q, but has to be %s; change it.", name, text, hint)
		}
		value = n
		return nil
	})
	return &value
}

// Seed is a flag with 64 free bits as its value.
func (f *Flags) Seed(name, about string) *uint64 {
	value := uint64(0)
	f.add(name, about, "a whole number from 0 to 18446744073709551615", "", func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return Mistakef("--%s is %q, but has to be a whole number from 0 to 18446744073709551615; change it.", name, text)
		}
		value = n
		return nil
	})
	return &value
}

// Rate is a flag with a number of things a second as its value.
func (f *Flags) Rate(name, about string) *float64 {
	value := 0.0
	f.add(name, about, "a number above 0, a second", "", func(text string) error {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0) || n > 1e8 || math.IsInf(n, 0) {
			return Mistakef("--%s is %q, but has to be a number above 0 and at most 1e8, a second; change it.", name, text)
		}
		value = n
		return nil
	})
	return &value
}

// Duration is a flag with a length of time as its value.
func (f *Flags) Duration(name, about string, standard time.Duration) *time.Duration {
	value := standard
	hint := "a length of time above 0, such as 10s or 500ms"
	shown := ""
	if standard > 0 {
		shown = standard.String()
	}
	f.add(name, about, hint, shown, func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return Mistakef("--%s is %q, but has to be %s; change it.", name, text, hint)
		}
		value = d
		return nil
	})
	return &value
}

// The first and the last second whose nanoseconds fit 64 bits with room to spare.
const (
	firstSecond = 0
	lastSecond  = 1<<63/1_000_000_000 - 1
)

// Time is a flag with a point in time as its value, in nanoseconds since 1970.
func (f *Flags) Time(name, about string) *int64 {
	value := int64(0)
	hint := "a time such as 2016-01-01T00:00:00Z"
	f.add(name, about, hint, "", func(text string) error {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return Mistakef("--%s is %q, but has to be %s; change it.", name, text, hint)
		}
		if t.Unix() < firstSecond || t.Unix() > lastSecond {
			return Mistakef("--%s is %q, but has to be between 1970 and 2262; change it.", name, text)
		}
		value = t.UnixNano()
		return nil
	})
	return &value
}
