package ethereum_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestJudgedAtOnce checks that hazards are the same from several
// goroutines at once, and that they change no effect that was given away.
func TestJudgedAtOnce(t *testing.T) {
	key := evmtest.Key(t, signerSecret)
	signings, effects, hazards := []chains.Signing{}, [][]string{}, [][]chains.Hazard{}
	for _, c := range hazardCases {
		tx, err := ethereum.Chain{}.Parse(chaintest.Unhex(t, c.raw))
		testenv.Must(t, err)
		signing := chaintest.MustReady(t, tx, key.ID(), key)
		signings, effects, hazards = append(signings, signing), append(effects, canonical(t, signing.Effects())), append(hazards, signing.Hazards())
	}
	var group sync.WaitGroup
	for first := range 4 {
		group.Go(func() {
			for i := range 5 * len(signings) {
				at := (first*7 + i) % len(signings)
				kept := signings[at].Effects()
				if got := signings[at].Hazards(); !slices.Equal(got, hazards[at]) {
					t.Errorf("%s: hazards %v, want %v", hazardCases[at].name, got, hazards[at])
				}
				if got := canonical(t, kept); !slices.Equal(got, effects[at]) {
					t.Errorf("%s: effects %v, want %v", hazardCases[at].name, got, effects[at])
				}
			}
		})
	}
	group.Wait()
}

// canonical returns effects as JSON.
func canonical(t *testing.T, effects []chains.Effect) (texts []string) {
	for i := range effects {
		text, err := effects[i].MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
