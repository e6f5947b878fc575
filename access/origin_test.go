package access_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

func TestOrigin(t *testing.T) {
	free, err := access.OriginOf(context.Background()).Reserve(math.MaxInt)
	if err != nil || free == nil {
		t.Fatalf("without a server, memory is bounded: %v", err)
	}
	free()
	full := errors.New("full")
	ctx := access.WithOrigin(t.Context(), access.Origin{RequestID: "r1", Room: func(size int) (func(), error) {
		if size != 7 {
			t.Errorf("asked for %d bytes, want 7", size)
		}
		return nil, full
	}})
	if from := access.OriginOf(ctx); from.RequestID != "r1" {
		t.Errorf("the origin is %+v", from)
	}
	if _, err := access.OriginOf(ctx).Reserve(7); !errors.Is(err, full) {
		t.Errorf("a full server gives room: %v", err)
	}
}

func TestParseStamp(t *testing.T) {
	malformed := stamp.Header{Name: stamp.HeaderAPIKey, Value: "!"}
	for _, test := range []struct {
		headers []stamp.Header
		reason  activity.Reason
	}{
		{nil, activity.ReasonSignatureMissing},
		{[]stamp.Header{malformed, malformed}, activity.ReasonSignatureMissing},
		{[]stamp.Header{malformed}, activity.ReasonSignatureInvalid},
	} {
		_, err := access.ParseStamp(test.headers)
		if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != test.reason {
			t.Errorf("%d headers: %v, want %s", len(test.headers), err, test.reason)
		}
	}
}
