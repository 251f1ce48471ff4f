package command

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// mistake is an error in the request, not in the work: the program ends with code 2.
type mistake struct{ text string }

// Error returns the whole sentence.
func (m mistake) Error() string { return m.text }

// Mistakef makes an error in the request from a sentence: the program ends with code 2.
func Mistakef(sentence string, values ...any) error { return mistake{fmt.Sprintf(sentence, values...)} }

// Unknown says that a name is not among the allowed ones, and which one is nearest.
func Unknown(found string, allowed []string) error {
	sentence := fmt.Sprintf("found %q; allowed are %s", found, strings.Join(allowed, ", "))
	if nearest := nearest(found, allowed); nearest != "" {
		return Mistakef("%s; did you mean %q?", sentence, nearest)
	}
	return mistake{sentence + "."}
}

// nearest returns the allowed name with the fewest changes, if they are few enough for
// a slip of the hand.
func nearest(found string, allowed []string) string {
	best, least := "", 1+(len(found)+1)/2
	for _, name := range allowed {
		if changes := distance(found, name); changes < least {
			best, least = name, changes
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Instant is a time in nanoseconds since 1970.
type Instant int64

// String writes it as flags take it.
func (t Instant) String() string { return Clock(int64(t)) }

// Clock writes a time as flags take it.
func Clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// The first and the last second of an Instant, whose nanoseconds fit 64 bits.
const (
	firstSecond = 0
	lastSecond  = 1<<63/1_000_000_000 - 1
)

// parseInstant reads a time such as 2016-01-01T00:00:00Z.
func parseInstant(text string) (Instant, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Unix() < firstSecond || t.Unix() > lastSecond {
		return 0, fmt.Errorf("found %q, but it must be a time since 1970 such as 2016-01-01T00:00:00Z", text)
	}
	return Instant(t.UnixNano()), nil
}

// flagMappers read the values of flags. Numbers have the tag range:"least:most",
// where each end may be left out; texts with an enum must be one of its names.
func flagMappers() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.Int, textMapper(parseCount)),
		kong.KindMapper(reflect.Int64, textMapper(parseCount)),
		kong.KindMapper(reflect.Uint64, textMapper(func(_ *kong.Value, text string) (any, error) {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("found %q, but it must be a whole number from 0 to 18446744073709551615", text)
			}
			return n, nil
		})),
		kong.KindMapper(reflect.Float64, textMapper(func(_ *kong.Value, text string) (any, error) {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || !(n > 0) || n > 1e8 {
				return nil, fmt.Errorf("found %q, but it must be a number above 0 and at most 1e8", text)
			}
			return n, nil
		})),
		kong.KindMapper(reflect.String, nameMapper{}),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), textMapper(func(_ *kong.Value, text string) (any, error) {
			d, err := time.ParseDuration(text)
			if err != nil || d <= 0 {
				return nil, fmt.Errorf("found %q, but it must be a length of time above 0 such as 10s or 500ms", text)
			}
			return d, nil
		})),
		kong.TypeMapper(reflect.TypeFor[Instant](), textMapper(func(_ *kong.Value, text string) (any, error) { return parseInstant(text) })),
	}
}

// Named is a flag, a kind of string, that must be one of the names of its type, which
// its help shows as ${names}.
type Named interface{ Names() []string }

// nameMapper reads texts, which an enum or the names of their type may limit.
type nameMapper struct{}

// allowed returns the names that a flag may have; nil for any.
func (nameMapper) allowed(flag *kong.Value) []string {
	if named, ok := flag.Target.Interface().(Named); ok {
		return named.Names()
	}
	if flag.Enum == "" {
		return nil
	}
	return flag.EnumSlice()
}

// Vars are the names, for the help.
func (m nameMapper) Vars(flag *kong.Value) kong.Vars {
	return kong.Vars{"names": strings.Join(m.allowed(flag), ", ")}
}

// Decode reads the text.
func (m nameMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	return textMapper(func(flag *kong.Value, text string) (any, error) {
		if allowed := m.allowed(flag); allowed != nil && !slices.Contains(allowed, text) {
			return nil, Unknown(text, allowed)
		}
		return text, nil
	})(ctx, target)
}

// textMapper reads a value from the text of a flag.
func textMapper(parse func(flag *kong.Value, text string) (any, error)) kong.MapperFunc {
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		token, err := ctx.Scan.PopValue("a")
		if err != nil {
			return err
		}
		value, err := parse(ctx.Value, token.String())
		if err != nil {
			return err
		}
		target.Set(reflect.ValueOf(value).Convert(target.Type()))
		return nil
	}
}

// parseCount reads a whole number in the range of its flag.
func parseCount(flag *kong.Value, text string) (any, error) {
	least, most := int64(0), int64(1)<<40
	from, to, _ := strings.Cut(flag.Tag.Get("range"), ":")
	if n, err := strconv.ParseInt(from, 10, 64); err == nil {
		least = n
	}
	if n, err := strconv.ParseInt(to, 10, 64); err == nil {
		most = n
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return nil, fmt.Errorf("found %q, but it must be a whole number from %d to %d", text, least, most)
	}
	return n, nil
}
