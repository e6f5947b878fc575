package otp

import "time"

// Rate is at most Count in any Window.
type Rate struct {
	Count  int
	Window time.Duration // at most a day
}
