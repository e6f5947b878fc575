package policy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
)

// slotCharge is a charge of a transaction that was signed.
type slotCharge struct {
	slot string // key and nonce
	at   time.Time
	wei  uint16
}

// slotModel is what a limit with replaces: nonce has counted, in the simplest way that there is.
type slotModel []slotCharge

// counts returns what counts at a time beside a slot, and in it.
func (m *slotModel) counts(now time.Time, slot string) (beside, own uint16) {
	youngest := map[string]time.Time{}
	for _, charge := range *m {
		if charge.at.After(youngest[charge.slot]) {
			youngest[charge.slot] = charge.at
		}
	}
	largest := map[string]uint16{}
	var kept slotModel
	for _, charge := range *m {
		if youngest[charge.slot].Add(24 * time.Hour).After(now) {
			largest[charge.slot] = max(largest[charge.slot], charge.wei)
			kept = append(kept, charge)
		}
	}
	*m = kept
	for of, wei := range largest {
		if of != slot {
			beside += wei
		}
	}
	return beside, largest[slot]
}

// TestReplacesNoncePlayed lets an attacker bump, fail, repeat and wait at random, with two keys and
// three nonces, and compares what is signed with the model. What could be included within any 24
// hours, the largest transaction of each key and nonce, is never above the limit.
func TestReplacesNoncePlayed(t *testing.T) {
	const limit = 300
	for game := range testenv.Draws(t, 12) {
		random := rand.New(rand.NewPCG(uint64(game), 47))
		s := newSpender(t)
		second, err := s.Signing.Keystore.(*keys.Store).Add(t.Context(), enginetest.Organization,
			keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: []byte("33333333333333333333333333333333")})
		if err != nil {
			t.Fatal(err)
		}
		var model, signed slotModel
		var before []enginetest.Request
		for turn := range 60 {
			s.Clock.Advance([]time.Duration{time.Millisecond, time.Minute, 5 * time.Hour, 13 * time.Hour}[random.IntN(4)])
			now := s.Clock.Now()
			if len(before) > 0 && random.IntN(6) == 0 {
				checkRepeat(t, s, before[random.IntN(len(before))])
				continue
			}
			key, nonce, wei := random.IntN(2), byte(7+random.IntN(3)), uint16(1+random.IntN(limit+20))
			request := enginetest.Request{Unsigned: paying(1, nonce, wei), SignWith: []string{"", second.ID}[key], At: now}
			slot := fmt.Sprint(key, " ", nonce)
			beside, own := model.counts(now, slot)
			fits := beside+max(own, wei) <= limit
			fails := random.IntN(4) == 0
			if fails {
				s.Signing.Before = func(context.Context) error { return errors.New("the device is gone") }
			}
			_, err := s.Submit(t, request)
			s.Signing.Before = nil
			switch name := fmt.Sprintf("game %d, turn %d: %d wei with %s beside %d, %d in it", game, turn, wei, slot, beside, own); {
			case !fits:
				s.refuses(name, err)
			case fails && err == nil:
				t.Fatalf("%s: signed without the device", name)
			case !fails && err != nil:
				t.Fatalf("%s: %v", name, err)
			case !fails:
				model = append(model, slotCharge{slot, now, wei})
				signed = append(signed, slotCharge{slot, now, wei})
				before = append(before, request)
			}
			if most := includable(signed, now); most > limit {
				t.Fatalf("game %d, turn %d: %d wei of %d within 24 hours", game, turn, most, limit)
			}
		}
	}
}

// checkRepeat sends a body again: it is answered from its record, or too old to be taken.
func checkRepeat(t *testing.T, s *spender, request enginetest.Request) {
	t.Helper()
	signatures := s.Signing.Signatures.Load()
	_, _ = s.Submit(t, request)
	if made := s.Signing.Signatures.Load() - signatures; made != 0 {
		t.Fatalf("a repeated body was signed %d times more", made)
	}
}

// includable is the most that a network can include of what was signed within 24 hours.
func includable(signed []slotCharge, now time.Time) (sum uint16) {
	largest := map[string]uint16{}
	for _, one := range signed {
		if one.at.Add(24 * time.Hour).After(now) {
			largest[one.slot] = max(largest[one.slot], one.wei)
		}
	}
	for _, wei := range largest {
		sum += wei
	}
	return sum
}
