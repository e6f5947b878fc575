package structures

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/drawn"
)

// TestHazardsNeedNoArguments: the hazards and the effects of a message are those of a reading
// that writes arguments and fields at once, which a signature does not.
func TestHazardsNeedNoArguments(t *testing.T) {
	texts := applicationTexts(t)
	for seed := range uint64(300) {
		texts = append(texts, drawn.TypedData(rand.New(rand.NewPCG(seed, 3))))
	}
	read, argued := 0, 0
	for _, text := range texts {
		message, err := Parse([]byte(text), time.Unix(1763640000, 0))
		if err != nil {
			continue
		}
		read++
		whole := message.Effects()
		for i := range whole {
			argued += len(whole[i].Args)
		}
		again := *message.read
		again.effects, again.hazards, again.owners, again.shown, again.own, again.order = nil, nil, nil, nil, nil, false
		again.read()
		if want := again.allHazards(again.effects, chains.Party{}); !reflect.DeepEqual(message.Hazards(), want) {
			t.Errorf("%s\nhazards %+v\nof a whole reading %+v", text, message.Hazards(), want)
		}
		again.argue()
		got, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := json.Marshal(again.effects); string(got) != string(want) {
			t.Errorf("%s\neffects %s\nof a whole reading %s", text, got, want)
		}
		if message.EffectCount() != len(whole) {
			t.Errorf("%s: %d effects were counted, %d are there", text, message.EffectCount(), len(whole))
		}
	}
	if read < len(texts)/2 || argued < read {
		t.Errorf("%d messages with %d arguments were read", read, argued)
	}
}

// applicationTexts returns the messages of applications.
func applicationTexts(t *testing.T) (texts []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/applications.json")
	if err != nil {
		t.Fatal(err)
	}
	var applications []struct{ Message json.RawMessage }
	if err := json.Unmarshal(text, &applications); err != nil {
		t.Fatal(err)
	}
	for _, application := range applications {
		texts = append(texts, string(application.Message))
	}
	return texts
}
