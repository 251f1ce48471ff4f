package kline

import "time"

// DayBars is the number of one-minute bars of a trading day: 09:31 to 11:30 and
// 13:01 to 15:00, named by the minute that they end with.
const DayBars = 240

const (
	minute    = int64(time.Minute)
	day       = 24 * int64(time.Hour)
	morning   = 9*60 + 31
	afternoon = 13*60 + 1
	session   = DayBars / 2
	workdays  = 5
	weekdays  = 7
)

// Calendar is the clock of the dataset: bars of the working days, Monday to
// Friday, from a day on. Times of day are written as if they were UTC.
type Calendar struct {
	monday int64 // 00:00 of the first day's week
	first  int64 // the first day in its week
}

// NewCalendar begins at the day of this time, or the Monday after it.
func NewCalendar(start int64) Calendar {
	const monday = 4 // 1970-01-05 was the first Monday after 1970 began
	days := floor(start, day) - monday
	week := floor(days, weekdays)
	c := Calendar{monday: (week*weekdays + monday) * day, first: days - week*weekdays}
	if c.first >= workdays {
		c.monday += weekdays * day
		c.first = 0
	}
	return c
}

// Time is the time of a bar.
func (c Calendar) Time(tick int64) int64 {
	days, bar := tick/DayBars+c.first, tick%DayBars
	minutes := morning + bar
	if bar >= session {
		minutes = afternoon + bar - session
	}
	return c.monday + (days/workdays*weekdays+days%workdays)*day + minutes*minute
}

// TicksBefore counts the bars before a time.
func (c Calendar) TicksBefore(time int64) int64 {
	days := floor(time-c.monday, day)
	week := floor(days, weekdays)
	weekday := days - week*weekdays
	bars := (week*workdays + min(weekday, workdays) - c.first) * DayBars
	if weekday < workdays {
		minutes := -floor(-(time - c.monday - days*day), minute) // begun ones count
		bars += min(max(minutes-morning, 0), session) + min(max(minutes-afternoon, 0), session)
	}
	return max(bars, 0)
}

// End is 00:00 of the day after so many working days.
func (c Calendar) End(days int64) int64 {
	last := c.Time(days*DayBars - 1)
	return last - last%day + day
}

// floor divides, rounding down.
func floor(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
