package fuzz

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
)

// otpModel is the simplest possible model of the rules: lists of what happened,
// searched from end to end.
type otpModel struct {
	limits otp.Limits
	codes  []*otpModelCode // in the order in which they came alive
	sent   []otpEvent
	failed []otpEvent
	wrong  []otpEvent
}

type otpModelCode struct {
	id, typed     string
	user, contact string
	state         otpledger.State
	expires       time.Time
	tries         int
}

type otpEvent struct {
	at            time.Time
	user, contact string
}

// wait returns how long it takes until one more event is allowed: until the first
// moment at which few enough events are left in the window.
func (m *otpModel) wait(events []otpEvent, rate otp.Rate, now time.Time, user, contact string) time.Duration {
	moments := []time.Time{now}
	for _, event := range events {
		if left := event.at.Add(rate.Window); left.After(now) {
			moments = append(moments, left)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	for _, moment := range moments {
		if m.allowed(events, rate, moment, user, contact) {
			return moment.Sub(now)
		}
	}
	return rate.Window
}

// allowed checks the count of the user and that of the contact, for which no user
// counts for more than all but one of the rate.
func (m *otpModel) allowed(events []otpEvent, rate otp.Rate, at time.Time, user, contact string) bool {
	byThem, byContact := 0, map[string]int{}
	for _, event := range events {
		if !event.at.Add(rate.Window).After(at) {
			continue
		}
		if event.user == user {
			byThem++
		}
		if event.contact == contact {
			byContact[event.user]++
		}
	}
	toContact := 0
	for _, count := range byContact {
		toContact += min(count, max(1, rate.Count-1))
	}
	return byThem < rate.Count && toContact < rate.Count
}

// mayIssue returns how long a request has to wait, zero if it is allowed.
func (m *otpModel) mayIssue(now time.Time, user, contact string) time.Duration {
	if wait := m.wait(m.sent, m.limits.Sends, now, user, contact); wait > 0 {
		return wait
	}
	return m.wait(m.failed, m.limits.Failures, now, user, contact)
}

// issued records a delivered code. If its user or its contact has too many live
// codes, one dies: the user's oldest; for a contact, the oldest of the same user or,
// if there is none, of any user.
func (m *otpModel) issued(code *otpModelCode, now time.Time) {
	m.sent = append(m.sent, otpEvent{now, code.user, code.contact})
	same := func(other *otpModelCode) bool { return other.user == code.user }
	m.makeRoom(now, same, same)
	m.makeRoom(now, func(other *otpModelCode) bool { return other.contact == code.contact }, same)
	m.codes = append(m.codes, code)
}

// makeRoom kills one of the live codes that count, preferring a preferred one.
func (m *otpModel) makeRoom(now time.Time, counts, preferred func(*otpModelCode) bool) {
	var live []*otpModelCode
	for _, code := range m.codes {
		if code.state == otpledger.StateLive && now.Before(code.expires) && counts(code) {
			live = append(live, code)
		}
	}
	if len(live) < m.limits.LiveCodes {
		return
	}
	live[max(0, slices.IndexFunc(live, preferred))].state = otpledger.StateDead
}

// verified returns the result of trying a code, and how long to wait if the tries are
// used up.
func (m *otpModel) verified(code *otpModelCode, right bool, now time.Time) (wait time.Duration, refused error) {
	for _, rate := range []otp.Rate{m.limits.HourlyTries, m.limits.DailyTries} {
		if wait := m.wait(m.wrong, rate, now, code.user, code.contact); wait > 0 {
			return wait, otp.ErrLimit
		}
	}
	switch {
	case code.state == otpledger.StateUsed:
		return 0, otp.ErrUsed
	case code.state == otpledger.StateDead:
		return 0, otp.ErrDead
	case !now.Before(code.expires):
		return 0, otp.ErrExpired
	case right:
		code.state = otpledger.StateUsed
		return 0, nil
	}
	m.wrong = append(m.wrong, otpEvent{now, code.user, code.contact})
	if code.tries++; code.tries == m.limits.TriesPerCode {
		code.state = otpledger.StateDead
	}
	return 0, otp.ErrWrong
}
