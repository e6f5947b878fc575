package solana_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
)

// judged is what a transaction is found to do.
type judged struct {
	effects []chains.Effect
	hazards []chains.Hazard
}

func judge(tx chains.Transaction) judged { return judged{tx.Effects(), tx.Hazards()} }

// TestWorkspaces checks that what was found of one transaction neither changes what is found of
// another one, nor is changed by it, one after the other and at the same time.
func TestWorkspaces(t *testing.T) {
	raws := scenes(t)
	pays := call(sdk.SystemProgramID, []byte{0, 1}, u32(2), u64(1_250_000_000))
	for count := 1; count <= 48; count += 6 { // some with more effects than a workspace keeps
		raws[fmt.Sprint(count)] = scene(solana.Version0, 1, nil, slices.Repeat([]instructionCall{pays}, count)...)
	}
	first, before := map[string]judged{}, map[string]string{}
	for name, raw := range raws {
		first[name] = judge(parse(t, raw))
		before[name] = fmt.Sprintf("%+v", first[name])
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				for name, raw := range raws {
					tx, err := solana.New(solana.Limits{}).Parse(raw)
					if err != nil {
						t.Error(name, err)
					} else if got := judge(tx); !same(got, first[name]) {
						t.Errorf("%s: %+v, was %s", name, got, before[name])
					}
				}
			}
		})
	}
	all.Wait()
	for name := range raws {
		if got := fmt.Sprintf("%+v", first[name]); got != before[name] {
			t.Errorf("%s has changed to %s\nfrom %s", name, got, before[name])
		}
	}
}

func same(a, b judged) bool {
	return slices.Equal(a.hazards, b.hazards) && slices.Equal(texts(a.effects), texts(b.effects))
}

// texts are the canonical forms of effects.
func texts(effects []chains.Effect) (list []string) {
	for i := range effects {
		text, err := effects[i].MarshalJSON()
		list = append(list, fmt.Sprintf("%s %v %v", text, err, effects[i].Change))
	}
	return list
}
