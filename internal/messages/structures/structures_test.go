package structures_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

var now = time.Unix(1_763_640_000, 0)

// application is a message as an application sends it, with what is derived from it.
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
	var applications []application
	if err := json.Unmarshal(text, &applications); err != nil {
		t.Fatal(err)
	}
	return applications
}

// TestApplications checks the effects and hazards of the messages of widely used
// applications. COUNTERSIGN_UPDATE=1 rewrites the file.
func TestApplications(t *testing.T) {
	cases := applications(t)
	for i := range cases {
		read, err := structures.Parse(cases[i].Message, now)
		if err != nil {
			t.Errorf("%s: %v", cases[i].Name, err)
			continue
		}
		effects, hazards := []string{}, []string{}
		for _, effect := range read.Effects() {
			effects = append(effects, chains.Sentence(effect, nil))
		}
		for _, hazard := range read.Hazards() {
			hazards = append(hazards, hazard.Name)
			if _, ok := hazard.Effect(); !ok {
				t.Errorf("%s: hazard %s has no effect: no rule could allow it", cases[i].Name, hazard.Name)
			}
		}
		slices.Sort(hazards)
		if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
			cases[i].Effects, cases[i].Hazards = effects, hazards
			continue
		}
		if !slices.Equal(effects, cases[i].Effects) || !slices.Equal(hazards, cases[i].Hazards) {
			t.Errorf("%s:\n%s\n%v\nwant\n%s\n%v", cases[i].Name, strings.Join(effects, "\n"), hazards, strings.Join(cases[i].Effects, "\n"), cases[i].Hazards)
		}
	}
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		text, err := json.MarshalIndent(cases, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/applications.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFarDeadline has deadlines around 30 days ahead, and those that never come.
func TestFarDeadline(t *testing.T) {
	permit := string(applications(t)[0].Message)
	deadline := regexp.MustCompile(`"deadline": ?"?[0-9]+"?`)
	if n := len(deadline.FindAllString(permit, -1)); n != 1 {
		t.Fatalf("%d deadlines in %s", n, permit)
	}
	limit := now.Add(structures.FarDeadline).Unix()
	for end, want := range map[string][]string{
		fmt.Sprint(limit):     nil,
		fmt.Sprint(limit + 1): {structures.HazardFarDeadline},
		"253402300799":        {structures.HazardFarDeadline}, // the last second of the year 9999
		"253402300800":        {structures.HazardFarDeadline},
		"115792089237316195423570985008687907853269984665640564039457584007913129639935": {structures.HazardFarDeadline},
	} {
		read, err := structures.Parse([]byte(deadline.ReplaceAllString(permit, `"deadline":"`+end+`"`)), now)
		if err != nil {
			t.Fatal(err)
		}
		if got := chaintest.Names(read.Hazards()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", end, got, want)
		}
		// RFC 3339 has no year 10000.
		if never := len(end) > 12 || end == "253402300800"; want != nil && strings.Contains(read.Hazards()[0].Detail, "never") != never {
			t.Errorf("%s: %s, want never: %v", end, read.Hazards()[0].Detail, never)
		}
	}
}

// TestEveryStructure checks that zero values of each known type are read without a
// panic, for its own contract and for others.
func TestEveryStructure(t *testing.T) {
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

// zeroMessage returns a message of an encoded type whose values are all zero.
func zeroMessage(encoded, contract string) string {
	types := map[string][][2]string{}
	var primary string
	for _, encodedStruct := range strings.SplitAfter(encoded, ")") {
		name, members, ok := strings.Cut(strings.TrimSuffix(encodedStruct, ")"), "(")
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

// FuzzParse checks that accepted text has effects, hazards only of those effects, and a
// hazard if an effect is undecoded.
func FuzzParse(f *testing.F) {
	for _, application := range applications(f) {
		f.Add([]byte(application.Message))
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
				t.Fatalf("hazard %s is of effect %d of %d", hazard.Name, index, len(effects))
			}
			if !slices.Contains(structures.HazardNames(), hazard.Name) && !strings.HasPrefix(hazard.Name, "ethereum/") {
				t.Fatalf("hazard %s is not in the list", hazard.Name)
			}
		}
		if undecoded && len(hazards) == 0 {
			t.Fatal(fmt.Sprint("undecoded and without a hazard: ", effects))
		}
	})
}
