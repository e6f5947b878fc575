package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"github.com/countersign-dev/countersign/internal/source"
)

// hours is a window of the week in local time, such as
// "Mo-Fr 08:00-18:00 Europe/Berlin". It is half-open: 18:00 is outside. If from is after
// to, it crosses midnight and belongs to the day that it starts on.
type hours struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes after midnight; to is at most 24:00
	zone     *time.Location
}

var dayNames = []string{"Su", "Mo", "Tu", "We", "Th", "Fr", "Sa"}

// contain reports whether an instant is within the hours, by local time.
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

// parsedHours caches hours by text. The texts are literals of policy files, so there are
// few.
var parsedHours sync.Map

func parseHours(text string) (*hours, error) {
	if cached, ok := parsedHours.Load(text); ok {
		return cached.(*hours), nil
	}
	h, err := readHours(text)
	if err != nil {
		return nil, fmt.Errorf("time.within: %w: write it as 'Mo-Fr 08:00-18:00 Europe/Berlin'", err)
	}
	parsedHours.Store(text, h)
	return h, nil
}

func readHours(text string) (*hours, error) {
	words := strings.Fields(text)
	if len(words) != 3 || len(text) > source.MaxQuoted {
		return nil, fmt.Errorf("%q is not days, hours and a time zone", shorten(text))
	}
	h := new(hours)
	if err := h.readDays(words[0]); err != nil {
		return nil, err
	}
	from, to, _ := strings.Cut(words[1], "-")
	var err, errTo error
	h.from, err = readClock(from)
	h.to, errTo = readClock(to)
	if errors.Join(err, errTo) != nil || h.from == 24*60 || h.from == h.to {
		return nil, fmt.Errorf("%q is not hours such as 08:00-18:00", words[1])
	}
	if strings.EqualFold(words[2], "Local") || strings.EqualFold(words[2], "localtime") {
		return nil, fmt.Errorf("the time zone %s depends on the machine: name one", words[2])
	}
	if h.zone, err = time.LoadLocation(words[2]); err != nil {
		return nil, fmt.Errorf("there is no time zone %q", words[2])
	}
	return h, nil
}

// readDays reads days such as Mo-Fr,Su.
func (h *hours) readDays(text string) error {
	for days := range strings.SplitSeq(text, ",") {
		first, last, span := strings.Cut(days, "-")
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
	if len(hour) != 2 || len(minute) != 2 || !isDigits(hour) || !isDigits(minute) {
		return 0, errors.New("not a time of day")
	}
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if h*60+m > 24*60 || m > 59 {
		return 0, errors.New("not a time of day")
	}
	return h*60 + m, nil
}
