package countersign

import (
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// checkTime refuses a request that is not live. Instants are compared: the
// difference of two that are 292 years apart is not a duration.
func (e *Engine) checkTime(sent time.Time) error {
	now := e.config.Now()
	tooOld, tooNew := sent.Before(now.Add(-e.config.MaxRequestAge)), sent.After(now.Add(e.config.MaxRequestSkew))
	switch {
	case e.config.AnyRequestTime:
		return nil
	case tooOld && sent.Year() == 1970:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is in 1970: milliseconds are expected, not seconds")
	case tooOld:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s old, at most %s are allowed: make the request again", now.Sub(sent).Round(time.Millisecond), e.config.MaxRequestAge)
	case tooNew:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s ahead, at most %s are allowed: set the clock", sent.Sub(now).Round(time.Millisecond), e.config.MaxRequestSkew)
	}
	return nil
}

// liveUntil returns the last instant at which a lease on the request may be
// taken. The skew on top of the age leaves a request that was live when it came
// time for a slow policy. It is a function of the body and the configuration
// alone, so that a store that forgets can tell what it may have forgotten.
func (e *Engine) liveUntil(sent time.Time) time.Time {
	if e.config.AnyRequestTime {
		return time.Time{}
	}
	return sent.Add(e.config.MaxRequestAge + e.config.MaxRequestSkew)
}

// keepUntil returns how long a record is kept: never shorter than the body is
// live, and long enough after its completion for a client that lost the answer.
func (e *Engine) keepUntil(request *activity.Request, completed time.Time) time.Time {
	from := request.Time()
	if completed.After(from) {
		from = completed
	}
	return from.Add(e.config.MaxRequestAge + e.config.MaxRequestSkew)
}

// lastChange returns when a record changes for the last time at the latest: one
// that waits is rejected by a sweep after that.
func (e *Engine) lastChange(record *activity.Record) time.Time {
	if record.Status.Waits() {
		return record.CreatedAt.Add(e.config.MaxWaiting)
	}
	return record.UpdatedAt
}
