// Package hits generates the table of ClickBench: page views of web sites over a month,
// with the 105 columns of the publication, in the order of site and time. A row is a series
// with one tick, so that its texts are tags.
package hits

import (
	"math/bits"
	"sort"

	"benchbook/benchload/dataset"
	"benchbook/benchload/walk"
)

// TableName is the name of the only table, as in the publication.
const TableName = "hits"

// The month of the publication, in seconds.
const (
	firstSecond = 1_372_636_800 // 2013-07-01T00:00:00Z
	daySeconds  = 86_400
	seconds     = 31 * daySeconds
)

// Values that the questions of the publication ask for.
const (
	askedCounter = 62                        // CounterID, questions 37 to 43
	askedUser    = 435_090_932_899_640_449   // UserID, question 20
	askedPage    = 2_868_770_270_353_813_622 // URLHash, question 42
	askedReferer = 3_594_120_000_172_545_465 // RefererHash, question 41

	askedShare    = 12   // one in so many views is of the site
	askedUserRank = 1023 // how many users may have more views than the one of question 20
)

// How skewed a draw is: its ranks fill so many powers of two, each as likely as the next.
const (
	counterPowers = 13
	regionPowers  = 13
	enginePowers  = 6
	advertPowers  = 5
	phonePowers   = 7

	perUser    = 1 // powers of two by which the users are fewer than the rows
	perReferer = 2 // and the referers
	perPage    = 6 // and the pages of the largest site
	perPhrase  = 3 // and the search phrases

	// The ranks of users begin with this power, so that 256 users are the most frequent ones.
	leastUserPower = 8
)

// The draws of a row; columns without a draw here use the numbers from drawColumn on.
const (
	drawUser = iota
	drawPage
	drawIsAskedPage
	drawRefererKind
	drawReferer
	drawHasPhrase
	drawPhrase
	drawAddress
	drawEngine
	drawIsAdvert
	drawAdvert
	drawRegion // of a user, as those that follow
	drawScreen
	drawIsMobile
	drawPhone
	drawAddresses // four
	drawColumn    = 64
)

// The kinds of keys that are derived from the seed.
const (
	keyRow = iota
	keyUser
	keyPage
	keyReferer
	keyPhrase
)

// Hits is the generator.
type Hits struct {
	extent dataset.Extent
	tables []dataset.Table
	powers int // of two, up to the number of rows

	asked  int64 // rows of the site that questions 37 to 43 ask for
	others int64 // rows of the other sites
	before int64 // those of them before the asked site
}

// New creates the generator of an extent.
func New(extent dataset.Extent) *Hits {
	table := dataset.Table{Name: TableName}
	for _, one := range texts {
		table.Tags = append(table.Tags, one.name)
	}
	for _, one := range numbers {
		table.Fields = append(table.Fields, dataset.Field{Name: one.name})
	}
	g := &Hits{extent: extent, tables: []dataset.Table{table}, powers: bits.Len64(uint64(extent.Scale))}
	g.asked = extent.Scale / askedShare
	g.others = extent.Scale - g.asked
	g.before = int64(sort.Search(int(g.others), func(row int) bool {
		counter, _, _ := g.other(int64(row))
		return counter > askedCounter
	}))
	return g
}

// Name returns the name of the dataset.
func (g *Hits) Name() string { return "hits" }

// Extent returns the extent of the generator.
func (g *Hits) Extent() dataset.Extent { return g.extent }

// Tables returns the only table.
func (g *Hits) Tables() []dataset.Table { return g.tables }

// Width returns the number of its fields.
func (g *Hits) Width() int { return len(numbers) }

// AppendTag appends a text of a row; most are the same in every row.
func (g *Hits) AppendTag(text []byte, series int64, _, place int) []byte {
	one := &texts[place]
	if one.of == nil {
		return append(text, one.always...)
	}
	return one.of(text, g.view(series))
}

// Fill generates the values of the block's rows from first to end-1.
func (g *Hits) Fill(block *dataset.Block, first, end int) {
	var v view // one for all rows: its columns' functions put it on the heap
	for t := range block.Ticks {
		for s := first; s < end; s++ {
			v = g.view(block.Series + int64(s))
			values := block.At(t, s)
			for place := range numbers {
				values[place] = numbers[place].of(&v, drawColumn+uint64(place))
			}
		}
	}
}

// view is one page view: what several of its columns follow from.
type view struct {
	key      uint64 // of its draws
	time     int64  // in seconds since 1970
	user     uint64 // key
	userID   int64
	counter  uint64 // the site
	site     uint64 // key
	page     uint64 // key
	pageRank uint64 // on the site, the most viewed page first
	referer  uint64 // key, of a view with a link from another site
	linked   linked
	phrase   uint64 // key; 0 without a search phrase
}

// linked is where a view comes from.
type linked uint8

const (
	fromNowhere linked = iota
	fromAsked          // the page that question 41 asks for
	fromPage
)

// view makes a row's page view.
func (g *Hits) view(number int64) view {
	seed := g.extent.Seed
	key := walk.Key(seed, keyRow, uint64(number))
	v := view{key: key}

	userRank, _ := skewedFrom(leastUserPower, key, drawUser, max(leastUserPower+1, g.powers-perUser))
	v.user = walk.Key(seed, keyUser, userRank)
	if v.userID = int64(v.user >> 2); userRank == askedUserRank {
		v.userID = askedUser
	}

	var power int
	v.counter, power, v.time = g.place(number)
	v.site = walk.Key(seed, keyPage, v.counter)
	v.pageRank, _ = skewed(key, drawPage, max(1, g.powers-perPage-power))
	if v.counter == askedCounter && oneIn(4, key, drawIsAskedPage) {
		v.pageRank = 0
	}
	v.page = walk.Key(seed, keyPage, v.counter, v.pageRank)

	switch kind := walk.Below(key, drawRefererKind, 16); {
	case kind < 1:
		v.linked = fromAsked
	case kind < 12:
		rank, _ := skewed(key, drawReferer, max(1, g.powers-perReferer))
		v.linked, v.referer = fromPage, walk.Key(seed, keyReferer, rank)
	}
	if oneIn(8, key, drawHasPhrase) {
		rank, _ := skewed(key, drawPhrase, max(1, g.powers-perPhrase))
		v.phrase = walk.Key(seed, keyPhrase, rank)
	}
	return v
}

// place is the site of a row, the power of two of its rank, and the time. Rows are in the
// order of the site and then of time; the publication's key begins with the site and the date.
func (g *Hits) place(row int64) (counter uint64, power int, time int64) {
	switch {
	case row < g.before:
		return g.other(row)
	case row < g.before+g.asked:
		return askedCounter, 0, firstSecond + (row-g.before)*seconds/g.asked
	}
	return g.other(row - g.asked)
}

// other is the place of a row among those of the other sites. Each power of two of sites has
// the same share of the rows, and each site of a power the same share of those; the rest of
// the division is how much of the month has passed.
func (g *Hits) other(row int64) (counter uint64, power int, time int64) {
	row *= counterPowers
	power = int(row / g.others)
	row = row % g.others << power
	counter = uint64(1<<power + row/g.others)
	if counter >= askedCounter {
		counter++
	}
	return counter, power, firstSecond + row%g.others*seconds/g.others
}

// isAskedPage says whether question 42 asks for the view's page.
func (v *view) isAskedPage() bool { return v.counter == askedCounter && v.pageRank == 0 }

// isMobile says whether the user has a phone.
func (v *view) isMobile() bool { return oneIn(16, v.user, drawIsMobile) }

// phone is the rank of the user's phone, from 1.
func (v *view) phone() uint64 {
	rank, _ := skewed(v.user, drawPhone, phonePowers)
	return rank + 1
}

// skewed is the n-th number of a stream as a rank from 0: every power of two of ranks, of
// so many, is as likely as the next, so that the share of rank r is about 1/r of the first.
func skewed(key, n uint64, powers int) (rank uint64, power int) {
	return skewedFrom(0, key, n, powers)
}

// skewedFrom draws as skewed does, but without the powers before the first one.
func skewedFrom(first int, key, n uint64, powers int) (rank uint64, power int) {
	draw := walk.At(key, n)
	power = first + int((draw>>32)*uint64(powers-first)>>32)
	below := uint64(1)<<power - 1
	return below + draw&below, power
}

// oneIn says whether the n-th number of a stream is one of so many.
func oneIn(many, key, n uint64) bool { return walk.Below(key, n, many) == 0 }
