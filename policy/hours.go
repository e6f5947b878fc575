package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that hours mean the same on a machine without a zone database
)

// hours is a window of the week on the clocks of a place, such as
// "Mo-Fr 08:00-18:00 Europe/Berlin". It is half-open: 18:00 is outside. From
// after to, it crosses midnight and belongs to the day that it starts on.
type hours struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes after midnight, to up to 24:00
	zone     *time.Location
}

var dayNames = []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}

// contain reports whether an instant is within the hours, by the wall clock.
func (h *hours) contain(instant time.Time) bool {
	local := instant.In(h.zone)
	minute := local.Hour()*60 + local.Minute()
	today := h.days[local.Weekday()]
	if h.from < h.to {
		return today && minute >= h.from && minute < h.to
	}
	yesterday := h.days[(local.Weekday()+6)%7]
	return today && minute >= h.from || yesterday && minute < h.to
}

// parsedHours keeps hours by their text: expressions hold few texts, all of
// which stand in files.
var parsedHours sync.Map

func parseHours(text string) (*hours, error) {
	if known, ok := parsedHours.Load(text); ok {
		return known.(*hours), nil
	}
	read, err := readHours(text)
	if err != nil {
		return nil, fmt.Errorf("time.within: %w: 'Mo-Fr 08:00-18:00 Europe/Berlin' is expected", err)
	}
	parsedHours.Store(text, read)
	return read, nil
}

func readHours(text string) (*hours, error) {
	words := strings.Fields(text)
	if len(words) != 3 || len(text) > maxQuoted {
		return nil, fmt.Errorf("%q is not days, hours and a time zone", shorten(text))
	}
	read := new(hours)
	if err := read.readDays(words[0]); err != nil {
		return nil, err
	}
	from, to, ok := strings.Cut(words[1], "-")
	var err, errTo error
	read.from, err = readClock(from)
	read.to, errTo = readClock(to)
	if !ok || errors.Join(err, errTo) != nil || read.from == 24*60 || read.from == read.to {
		return nil, fmt.Errorf("%q is not hours such as 08:00-18:00", words[1])
	}
	if words[2] == "Local" {
		return nil, errors.New("the time zone Local depends on the machine: name one")
	}
	if read.zone, err = time.LoadLocation(words[2]); err != nil {
		return nil, fmt.Errorf("there is no time zone %q", words[2])
	}
	return read, nil
}

// readDays reads days such as Mo-Fr,Su.
func (h *hours) readDays(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		first, last, span := strings.Cut(part, "-")
		from, to := slices.Index(dayNames, first), slices.Index(dayNames, last)
		if !span {
			to = from
		}
		if from < 0 || to < 0 {
			return fmt.Errorf("%q is not days such as Mo-Fr or Mo,We", text)
		}
		for day := from; ; day = (day + 1) % 7 {
			h.days[day] = true
			if day == to {
				break
			}
		}
	}
	return nil
}

// readClock reads 08:00 as minutes after midnight.
func readClock(text string) (int, error) {
	hour, minute, _ := strings.Cut(text, ":")
	h, errHour := strconv.Atoi(hour)
	m, errMinute := strconv.Atoi(minute)
	if errHour != nil || errMinute != nil || len(hour) != 2 || len(minute) != 2 || h < 0 || h > 24 || m < 0 || m > 59 || h == 24 && m > 0 {
		return 0, errors.New("not a time of day")
	}
	return h*60 + m, nil
}
