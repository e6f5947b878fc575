package retryafter

import (
	"net/http"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": time.Second, "7": 7 * time.Second, "0": time.Second, "-1": time.Second, "soon": time.Second, "1.5": time.Second,
		"4294967295": longest, "99999999999999999999": time.Second, "Mon, 02 Jan 2006 15:04:05 GMT": time.Second,
		time.Now().Add(1000 * time.Hour).UTC().Format(http.TimeFormat): longest,
	} {
		if got := Of(http.Header{"Retry-After": {text}}, time.Second); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	date := time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat)
	if got := Of(http.Header{"Retry-After": {date}}, 0); got <= 0 || got > 30*time.Minute {
		t.Errorf("%s: %v", date, got)
	}
}
