package hits

import (
	"strconv"

	"benchbook/benchload/walk"
)

// text is a column of texts: the same in every row, unless it has a function. No text has
// a space, a comma or an equals sign, which line protocol would have to escape.
type text struct {
	name   string
	always string
	of     func(text []byte, v view) []byte
}

// texts are the columns of texts in the order of the publication.
var texts = []text{
	{name: "Title", of: title},
	{name: "URL", of: url},
	{name: "Referer", of: referer},
	{name: "FlashMinor2", always: "700"},
	{name: "UserAgentMinor", of: userAgentMinor},
	{name: "MobilePhoneModel", of: mobilePhoneModel},
	{name: "Params"},
	{name: "SearchPhrase", of: searchPhrase},
	{name: "PageCharset", always: "utf-8"},
	{name: "OriginalURL"},
	{name: "HitColor", always: "E"},
	{name: "BrowserLanguage", of: browserLanguage},
	{name: "BrowserCountry", of: browserCountry},
	{name: "SocialNetwork"},
	{name: "SocialAction"},
	{name: "SocialSourcePage"},
	{name: "ParamOrderID"},
	{name: "ParamCurrency", always: "NH"},
	{name: "OpenstatServiceName"},
	{name: "OpenstatCampaignID"},
	{name: "OpenstatAdID"},
	{name: "OpenstatSourceID"},
	{name: "UTMSource"},
	{name: "UTMMedium"},
	{name: "UTMCampaign"},
	{name: "UTMContent"},
	{name: "UTMTerm"},
	{name: "FromTag"},
}

// Draws of a page, of its site or of a phrase, whose words differ.
const (
	drawIsGoogle = 1000 + iota
	drawIsGoogleTitle
	drawHasNoTitle
	drawIsSecure
	drawHasWWW
	drawWords // of how many words a text consists
)

// popular is how many of the most viewed pages of a site never name Google, so that its
// share depends little on the seed.
const popular = 16

// url is the address of the page. One in 512 of the less popular pages is of Google's.
func url(text []byte, v view) []byte {
	text = append(text, "http://"...)
	if v.pageRank >= popular && oneIn(512, v.page, drawIsGoogle) {
		text = append(text, "www.google.example/"...)
	} else {
		text = appendHost(text, v.site)
	}
	text = appendWords(text, v.page, 3, '/')
	text = append(text, "/page-"...)
	text = strconv.AppendUint(text, v.pageRank, 10)
	return append(text, ".html"...)
}

// title is that of the page; one in 16 pages has none, and one in 256 of the less popular
// ones names Google.
func title(text []byte, v view) []byte {
	if oneIn(16, v.page, drawHasNoTitle) {
		return text
	}
	if v.pageRank >= popular && oneIn(256, v.page, drawIsGoogleTitle) {
		text = append(text, "Google-"...)
	}
	text = appendWords(text, walk.Mix(v.page), 4+walk.Below(v.page, drawWords, 4), '-')
	text = append(text, '|')
	return appendWords(text, v.site, 2, '-')
}

// referer is the address of a page on another site, if the view comes from one.
func referer(text []byte, v view) []byte {
	switch v.linked {
	case fromNowhere:
		return text
	case fromAsked:
		return append(text, "http://www.search.example/results.html"...)
	}
	// All referers are on 256 sites, so that question 29 finds sites with many rows.
	site := walk.Key(v.referer >> 56)
	scheme, www := "http://", ""
	if oneIn(4, site, drawIsSecure) {
		scheme = "https://"
	}
	if oneIn(2, v.referer, drawHasWWW) {
		www = "www."
	}
	text = append(append(text, scheme...), www...)
	return appendWords(appendHost(text, site), v.referer, 3, '/')
}

func searchPhrase(text []byte, v view) []byte {
	if v.phrase == 0 {
		return text
	}
	return appendWords(text, v.phrase, 2+walk.Below(v.phrase, drawWords, 4), '+')
}

// mobilePhoneModel is the model of the user's phone; a phone is of one model.
func mobilePhoneModel(text []byte, v view) []byte {
	if !v.isMobile() {
		return text
	}
	return strconv.AppendUint(append(text, "Model-"...), v.phone(), 10)
}

func userAgentMinor(text []byte, v view) []byte {
	return strconv.AppendUint(text, walk.Below(v.user, drawWords, 10), 10)
}

var languages = [...]string{"S0", "S1", "S2", "S3"}

func browserLanguage(text []byte, v view) []byte {
	return append(text, languages[walk.Below(v.user, drawWords+1, uint64(len(languages)))]...)
}

var countries = [...]string{"E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8"}

func browserCountry(text []byte, v view) []byte {
	return append(text, countries[walk.Below(v.user, drawWords+2, uint64(len(countries)))]...)
}

// appendHost appends the host of a site, and the slash after it.
func appendHost(text []byte, site uint64) []byte {
	return append(appendWords(text, site, 2, '-'), ".example/"...)
}

var syllables = [...]string{
	"ka", "lo", "mi", "ne", "pu", "ra", "si", "to", "va", "ze", "bel", "dor", "fin", "mar", "sol", "tir",
}

// appendWords appends words of two to five syllables, which follow from a key.
func appendWords(text []byte, key, words uint64, between byte) []byte {
	for word := range words {
		if word > 0 {
			text = append(text, between)
		}
		draw := walk.At(key, word)
		for range 2 + draw>>62 {
			text = append(text, syllables[draw&15]...)
			draw >>= 4
		}
	}
	return text
}
