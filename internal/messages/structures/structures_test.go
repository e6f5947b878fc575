package structures_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

var now = time.Unix(1_763_640_000, 0)

// application is a message as an application has it signed, and what becomes of it.
type application struct {
	Name    string          `json:"name"`
	Message json.RawMessage `json:"message"`
	Effects []string        `json:"effects"` // as sentences
	Hazards []string        `json:"hazards"` // by name, sorted
}

func applications(t testing.TB) []application {
	t.Helper()
	text, err := os.ReadFile("testdata/applications.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []application
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestApplications: the payload shapes of widely used applications, with what they
// let others do and what has to be allowed. COUNTERSIGN_UPDATE=1 writes it anew.
func TestApplications(t *testing.T) {
	all := applications(t)
	for i := range all {
		read, err := structures.Parse(all[i].Message, now)
		if err != nil {
			t.Errorf("%s: %v", all[i].Name, err)
			continue
		}
		effects, hazards := []string{}, []string{}
		for _, effect := range read.Effects() {
			effects = append(effects, chains.Sentence(effect, nil))
		}
		for _, hazard := range read.Hazards() {
			hazards = append(hazards, hazard.Name)
			if _, ok := hazard.Effect(); !ok {
				t.Errorf("%s: hazard %s points at no effect: no rule could allow it", all[i].Name, hazard.Name)
			}
		}
		slices.Sort(hazards)
		if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
			all[i].Effects, all[i].Hazards = effects, hazards
			continue
		}
		if !slices.Equal(effects, all[i].Effects) || !slices.Equal(hazards, all[i].Hazards) {
			t.Errorf("%s:\n%s\n%v\nwant\n%s\n%v", all[i].Name, strings.Join(effects, "\n"), hazards, strings.Join(all[i].Effects, "\n"), all[i].Hazards)
		}
	}
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		text, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/applications.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryStructureIsRead: zero values of each type that is known are read without
// a panic, by its own contract and by another.
func TestEveryStructureIsRead(t *testing.T) {
	for _, encoded := range structures.Types() {
		for _, contract := range []string{"0x000000000022D473030F116dDEE9F6B43aC78BA3", "0x0000000000000068F116a894984e2DB1123eB395",
			"0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108", "0x00000000000000000000000000000000000000aa"} {
			text := zeroMessage(encoded, contract)
			read, err := structures.Parse([]byte(text), now)
			if err != nil {
				t.Fatalf("%s: %v\n%s", encoded, err, text)
			}
			if len(read.Effects()) == 0 {
				t.Errorf("%s has no effect", encoded)
			}
			_ = read.Hazards()
			_ = read.Summary().Digest()
		}
	}
}

// zeroMessage writes a message of an encoded type whose values are all zero.
func zeroMessage(encoded, contract string) string {
	types := map[string][][2]string{}
	var primary string
	for _, one := range strings.SplitAfter(encoded, ")") {
		name, members, ok := strings.Cut(strings.TrimSuffix(one, ")"), "(")
		if !ok {
			continue
		}
		if primary == "" {
			primary = name
		}
		types[name] = [][2]string{}
		for _, member := range strings.Split(members, ",") {
			spec, label, _ := strings.Cut(member, " ")
			types[name] = append(types[name], [2]string{label, spec})
		}
	}
	form := map[string][]map[string]string{"EIP712Domain": {{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}}
	for name, members := range types {
		form[name] = []map[string]string{}
		for _, m := range members {
			form[name] = append(form[name], map[string]string{"name": m[0], "type": m[1]})
		}
	}
	text, err := json.Marshal(map[string]any{"types": form, "primaryType": primary,
		"domain": map[string]any{"chainId": 1, "verifyingContract": contract}, "message": zero(types, primary)})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func zero(types map[string][][2]string, spec string) any {
	if element, ok := strings.CutSuffix(spec, "[]"); ok {
		return []any{zero(types, element)}
	}
	if members, ok := types[spec]; ok {
		value := map[string]any{}
		for _, m := range members {
			value[m[0]] = zero(types, m[1])
		}
		return value
	}
	switch {
	case spec == "bool":
		return false
	case spec == "string":
		return ""
	case spec == "address":
		return "0x" + strings.Repeat("0", 40)
	case spec == "bytes":
		return "0x"
	case strings.HasPrefix(spec, "bytes"):
		return "0x" + strings.Repeat("0", 64)
	}
	return 0
}

// FuzzParse: whatever is read has effects, and hazards that point at them.
func FuzzParse(f *testing.F) {
	for _, one := range applications(f) {
		f.Add([]byte(one.Message))
	}
	for _, encoded := range structures.Types() {
		f.Add([]byte(zeroMessage(encoded, "0x000000000022D473030F116dDEE9F6B43aC78BA3")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := structures.Parse(text, now)
		if err != nil {
			return
		}
		effects := read.Effects()
		if len(effects) == 0 || len(effects) > chains.MaxEffects {
			t.Fatalf("%d effects", len(effects))
		}
		undecoded := false
		for _, effect := range effects {
			undecoded = undecoded || effect.Undecoded
		}
		hazards := read.Hazards()
		for _, hazard := range hazards {
			if index, ok := hazard.Effect(); !ok || index >= len(effects) {
				t.Fatalf("hazard %s points at effect %d of %d", hazard.Name, index, len(effects))
			}
			if !slices.Contains(structures.HazardNames(), hazard.Name) && !strings.HasPrefix(hazard.Name, "ethereum/") {
				t.Fatalf("hazard %s is not in the list", hazard.Name)
			}
		}
		if undecoded && len(hazards) == 0 {
			t.Fatal(fmt.Sprint("not decoded and without a hazard: ", effects))
		}
	})
}
