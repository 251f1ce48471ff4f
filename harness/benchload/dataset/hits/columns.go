package hits

import "benchbook/benchload/walk"

// number is a column of whole numbers; of gets the number of a draw that is its own.
type number struct {
	name string
	of   func(v *view, draw uint64) int64
}

// numbers are the columns of whole numbers in the order of the publication. Times are
// seconds and dates are days since 1970.
var numbers = []number{
	{"WatchID", func(v *view, draw uint64) int64 { return int64(walk.At(v.key, draw) >> 1) }},
	{"JavaEnable", ofUser(2, 0)},
	{"GoodEvent", always(1)},
	{"EventTime", func(v *view, _ uint64) int64 { return v.time }},
	{"EventDate", func(v *view, _ uint64) int64 { return v.time / daySeconds }},
	{"CounterID", func(v *view, _ uint64) int64 { return int64(v.counter) }},
	{"ClientIP", clientIP},
	{"RegionID", regionID},
	{"UserID", func(v *view, _ uint64) int64 { return v.userID }},
	{"CounterClass", uniform(3, -1)},
	{"OS", ofUser(64, 1)},
	{"UserAgent", ofUser(32, 1)},
	{"IsRefresh", flag(8)},
	{"RefererCategoryID", uniform(20, 0)},
	{"RefererRegionID", uniform(1000, 0)},
	{"URLCategoryID", uniform(20, 0)},
	{"URLRegionID", uniform(1000, 0)},
	{"ResolutionWidth", func(v *view, _ uint64) int64 { return screen(v).width }},
	{"ResolutionHeight", func(v *view, _ uint64) int64 { return screen(v).height }},
	{"ResolutionDepth", always(32)},
	{"FlashMajor", ofUser(12, 0)},
	{"FlashMinor", ofUser(8, 0)},
	{"NetMajor", ofUser(4, 0)},
	{"NetMinor", ofUser(2, 0)},
	{"UserAgentMajor", ofUser(30, 1)},
	{"CookieEnable", always(1)},
	{"JavascriptEnable", always(1)},
	{"IsMobile", func(v *view, _ uint64) int64 { return truth(v.isMobile()) }},
	{"MobilePhone", mobilePhone},
	{"IPNetworkID", ofUser(1_000_000, 0)},
	{"TraficSourceID", uniform(11, -1)},
	{"SearchEngineID", searchEngineID},
	{"AdvEngineID", advEngineID},
	{"IsArtifical", always(0)},
	{"WindowClientWidth", uniform(1620, 300)},
	{"WindowClientHeight", uniform(1000, 200)},
	{"ClientTimeZone", ofUser(27, -12)},
	{"ClientEventTime", later(60)},
	{"SilverlightVersion1", ofUser(6, 0)},
	{"SilverlightVersion2", ofUser(2, 0)},
	{"SilverlightVersion3", ofUser(60_000, 0)},
	{"SilverlightVersion4", always(0)},
	{"CodeVersion", uniform(2000, 0)},
	{"IsLink", flag(4)},
	{"IsDownload", flag(64)},
	{"IsNotBounce", flag(2)},
	{"FUniqID", ofUser(1<<31, 0)},
	{"HID", uniform(1<<30, 0)},
	{"IsOldCounter", always(0)},
	{"IsEvent", always(0)},
	{"IsParameter", always(0)},
	{"DontCountHits", flag(16)},
	{"WithHash", always(0)},
	{"LocalEventTime", later(3600)},
	{"Age", ofUser(6, 0)},
	{"Sex", ofUser(3, 0)},
	{"Income", ofUser(5, 0)},
	{"Interests", ofUser(30_000, 0)},
	{"Robotness", always(0)},
	{"RemoteIP", clientIP},
	{"WindowName", uniform(10_000, -1)},
	{"OpenerName", uniform(10_000, -1)},
	{"HistoryLength", uniform(20, 1)},
	{"HTTPError", always(0)},
	{"SendTiming", uniform(1000, 0)},
	{"DNSTiming", uniform(500, 0)},
	{"ConnectTiming", uniform(1000, 0)},
	{"ResponseStartTiming", uniform(5000, 0)},
	{"ResponseEndTiming", uniform(5000, 0)},
	{"FetchTiming", uniform(5000, 0)},
	{"SocialSourceNetworkID", always(0)},
	{"ParamPrice", always(0)},
	{"ParamCurrencyID", always(0)},
	{"HasGCLID", flag(128)},
	{"RefererHash", refererHash},
	{"URLHash", urlHash},
	{"CLID", always(0)},
}

func always(value int64) func(*view, uint64) int64 {
	return func(*view, uint64) int64 { return value }
}

// uniform draws each of so many values with the same share, from the least on.
func uniform(many uint64, least int64) func(*view, uint64) int64 {
	return func(v *view, draw uint64) int64 { return least + int64(walk.Below(v.key, draw, many)) }
}

// ofUser draws as uniform does, but once for all views of a user.
func ofUser(many uint64, least int64) func(*view, uint64) int64 {
	return func(v *view, draw uint64) int64 { return least + int64(walk.Below(v.user, draw, many)) }
}

// flag is 1 in one of so many views.
func flag(many uint64) func(*view, uint64) int64 {
	return func(v *view, draw uint64) int64 { return truth(oneIn(many, v.key, draw)) }
}

// later is the time of the view, or up to so many seconds later.
func later(most uint64) func(*view, uint64) int64 {
	return func(v *view, draw uint64) int64 { return v.time + int64(walk.Below(v.key, draw, most)) }
}

func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// clientIP is one of four addresses of the user: 32 bits with a sign, so far from the
// ends that question 36 can subtract 3.
func clientIP(v *view, _ uint64) int64 {
	const room = 1 << 4
	place := walk.Below(v.key, drawAddress, 4)
	return int64(walk.Below(v.user, drawAddresses+place, 1<<32-2*room)) - 1<<31 + room
}

func regionID(v *view, _ uint64) int64 {
	rank, _ := skewed(v.user, drawRegion, regionPowers)
	return int64(rank) + 1
}

func mobilePhone(v *view, _ uint64) int64 {
	if !v.isMobile() {
		return 0
	}
	return int64(v.phone())
}

// searchEngineID is above 0 in views with a search phrase.
func searchEngineID(v *view, _ uint64) int64 {
	if v.phrase == 0 {
		return 0
	}
	rank, _ := skewed(v.key, drawEngine, enginePowers)
	return int64(rank) + 1
}

func advEngineID(v *view, _ uint64) int64 {
	if !oneIn(128, v.key, drawIsAdvert) {
		return 0
	}
	rank, _ := skewed(v.key, drawAdvert, advertPowers)
	return int64(rank) + 1
}

func refererHash(v *view, _ uint64) int64 {
	switch v.linked {
	case fromAsked:
		return askedReferer
	case fromPage:
		return int64(walk.Mix(v.referer))
	}
	return 0
}

func urlHash(v *view, _ uint64) int64 {
	if v.isAskedPage() {
		return askedPage
	}
	return int64(walk.Mix(v.page))
}

// resolution is the size of a screen.
type resolution struct{ width, height int64 }

var screens = [...]resolution{
	{1366, 768}, {1920, 1080}, {1280, 1024}, {1280, 800}, {1024, 768}, {1440, 900}, {1600, 900}, {1680, 1050},
}

// screen is the user's; some users report none.
func screen(v *view) resolution {
	if v.isMobile() {
		return resolution{360, 640}
	}
	if place := walk.Below(v.user, drawScreen, 17); place < 16 {
		return screens[place/2]
	}
	return resolution{}
}
