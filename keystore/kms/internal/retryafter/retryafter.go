// Package retryafter reads how long a service asks its callers to wait.
package retryafter

import (
	"net/http"
	"strconv"
	"time"
)

// longest bounds the wait that is passed on: a date or number beyond it is a mistake.
const longest = time.Hour

// Of returns the wait of the header Retry-After, which is a number of seconds or a date
// (RFC 9110, section 10.2.3), or else the given one.
func Of(header http.Header, otherwise time.Duration) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, longest)
	}
	if date, err := http.ParseTime(text); err == nil && time.Until(date) > 0 {
		return min(time.Until(date), longest)
	}
	return otherwise
}

// Throttled reports whether an answer asks its caller to come back later: with 429, or with 503
// and a time.
func Throttled(status int, header http.Header) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && header.Get("Retry-After") != ""
}
