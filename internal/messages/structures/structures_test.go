package structures_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/drawn"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/texts"
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
	text := testenv.Read(t, "testdata/applications.json")
	var applications []application
	testenv.JSON(t, text, &applications)
	return applications
}

// TestApplications checks the effects and hazards of the messages of widely used
// applications. COUNTERSIGN_UPDATE=1 rewrites the file.
func TestApplications(t *testing.T) {
	cases := applications(t)
	for i := range cases {
		read, err := parse(cases[i].Message, now)
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
		testenv.Must(t, err)
		testenv.Write(t, "testdata/applications.json", append(text, '\n'))
	}
}

// TestFarDeadline has deadlines around 31 days ahead, and those that never come.
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
		read := read(t, []byte(deadline.ReplaceAllString(permit, `"deadline":"`+end+`"`)), now)
		if got := chaintest.Names(read.Hazards()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", end, got, want)
		}
		// RFC 3339 has no year 10000.
		if never := len(end) > 12 || end == "253402300800"; want != nil && strings.Contains(read.Hazards()[0].Detail, "never") != never {
			t.Errorf("%s: %s, want never: %v", end, read.Hazards()[0].Detail, never)
		}
	}
}

// TestVariants changes applications' messages at the bounds of what is read.
func TestVariants(t *testing.T) {
	const (
		permit      = "Uniswap permit (ERC-2612)"
		hyperliquid = "Hyperliquid: send USDC"
		usdc        = "USDC transfer with authorization (ERC-3009)"
		order       = "UniswapX order (Permit2 with a witness)"
		safe        = "Safe transaction: delegatecall"
		permit2     = "Uniswap Permit2 allowance"
		listing     = "OpenSea listing (Seaport 1.6)"
		polymarket  = "Polymarket order"
	)
	for name, test := range map[string]struct {
		application string
		replace     []string // pairs, in the compact form of the message
		effect      string   // the beginning of the first one
		hazards     []string
	}{
		"10^12 whole USDC":    {permit, []string{`"250000000"`, `"1000000000000000000"`}, "allow", nil},
		"and one unit":        {permit, []string{`"250000000"`, `"1000000000000000001"`}, "allow", []string{structures.HazardUnlimitedApproval}},
		"2^96 - 1":            {permit, []string{`"250000000"`, `"79228162514264337593543950335"`}, "allow", []string{structures.HazardUnlimitedApproval}},
		"2^96":                {permit, []string{`"250000000"`, `"79228162514264337593543950336"`}, "allow", []string{structures.HazardUnlimitedApproval}},
		"allowed to anyone":   {permit, []string{`"spender":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`, `"spender":"0xcA11bde05977b3631167028862bE2a173976CA11"`}, "allow", []string{"ethereum/burn"}},
		"nothing allowed":     {permit, []string{`"250000000"`, `"0"`}, "take back", nil},
		"to the zero address": {usdc, []string{`"to":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`, `"to":"0x0000000000000000000000000000000000000000"`}, "destroy", []string{"ethereum/burn"}},
		"to Multicall3":       {usdc, []string{`"to":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`, `"to":"0xcA11bde05977b3631167028862bE2a173976CA11"`}, "send", []string{"ethereum/burn"}},
		"to the token":        {usdc, []string{`"to":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`, `"to":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"`}, "destroy", []string{"ethereum/burn"}},
		"USDC on Hyperliquid to the zero address": {hyperliquid, []string{`"destination":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`, `"destination":"0x0000000000000000000000000000000000000000"`},
			"destroy", []string{"ethereum/burn", structures.HazardNoVerifyingContract}},
		"a witness and one more": {order, []string{`{"name":"witness","type":"Order"}`, `{"name":"witness","type":"Order"},{"name":"more","type":"bool"}`, `"witness":{`, `"more":true,"witness":{`},
			"!", []string{structures.HazardUnknownType}},
		"other permissions": {order, []string{`{"name":"token","type":"address"},{"name":"amount","type":"uint256"}`, `{"name":"token","type":"address"},{"name":"value","type":"uint256"}`, `"amount":"7"`, `"value":"7"`},
			"!", []string{structures.HazardUnknownType}},
		"for one block":                {permit2, []string{`"1766231999"`, `"0"`}, "allow", []string{structures.HazardUnlimitedApproval}},
		"expires in 31 days":           {permit2, []string{`"1766231999"`, `"1766318400"`}, "allow", []string{structures.HazardUnlimitedApproval}},
		"expires after 31 days":        {permit2, []string{`"1766231999"`, `"1766318401"`}, "allow", []string{structures.HazardUnlimitedApproval, structures.HazardFarDeadline}},
		"valid for more than 31 days":  {permit2, []string{`"1763643600"`, `"1766318401"`}, "allow", []string{structures.HazardUnlimitedApproval, structures.HazardFarDeadline}},
		"paid to another":              {listing, []string{`"recipient":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"`, `"recipient":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`}, "send", []string{structures.HazardOrderWithoutPrice}},
		"a price that starts at 0":     {listing, []string{`"startAmount":"970000000000000000"`, `"startAmount":"0"`}, "send", []string{structures.HazardOrderWithoutPrice}},
		"a price that ends at 0":       {listing, []string{`"endAmount":"970000000000000000"`, `"endAmount":"0"`}, "send", []string{structures.HazardOrderWithoutPrice}},
		"an unknown kind of item":      {listing, []string{`"itemType":"2"`, `"itemType":"6"`}, "!", []string{structures.HazardUnknownType}},
		"listed forever":               {listing, []string{`"endTime":"1763730000"`, `"endTime":"253402300800"`}, "send", []string{structures.HazardFarDeadline}},
		"an ERC-1155 token":            {listing, []string{`"itemType":"2"`, `"itemType":"3"`}, "send token number 42 ", nil},
		"any token of a collection":    {listing, []string{`"itemType":"2"`, `"itemType":"5"`}, "send at most 1 units of token 0x", nil},
		"a delegatecall to MultiSend":  {safe, []string{`"to":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"`, `"to":"0x40A2aCCbd92BCA938b02010E17A5b8929b49130D"`}, "! call", []string{"ethereum/blind-call", structures.HazardDelegatecall}},
		"an order of another exchange": {polymarket, []string{`"0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"`, `"0x1230000000000000000000000000000000000abc"`}, "!", []string{structures.HazardUnknownType}},
		"the other side":               {polymarket, []string{`"side":0`, `"side":1`}, "send at most 50000000 of token number 777 ", nil},
		"side 2":                       {polymarket, []string{`"side":0`, `"side":2`}, "!", []string{structures.HazardUnknownType}},
		"operation 2 of a Safe":        {safe, []string{`"operation":1`, `"operation":2`}, "!", []string{structures.HazardUnknownType}},
		"of no Safe": {safe, []string{`,{"name":"verifyingContract","type":"address"}],"SafeTx"`, `],"SafeTx"`, `,"verifyingContract":"0x1230000000000000000000000000000000000abc"`, ``},
			"!", []string{structures.HazardUnknownType, structures.HazardNoVerifyingContract}},
	} {
		t.Run(name, func(t *testing.T) {
			message := compact(t, test.application)
			for i := 0; i < len(test.replace); i += 2 {
				if n := strings.Count(message, test.replace[i]); n != 1 {
					t.Fatalf("%d times %s in %s", n, test.replace[i], message)
				}
				message = strings.Replace(message, test.replace[i], test.replace[i+1], 1)
			}
			read := read(t, []byte(message), now)
			effect := chains.Sentence(read.Effects()[0], nil)
			if got := chaintest.Names(read.Hazards()); !strings.HasPrefix(effect, test.effect) || !slices.Equal(got, test.hazards) {
				t.Errorf("%s, hazards %v, want %s… and %v", effect, got, test.effect, test.hazards)
			}
		})
	}
}

// compact returns an application's message without spaces.
func compact(t *testing.T, name string) string {
	t.Helper()
	for _, application := range applications(t) {
		if application.Name == name {
			var out bytes.Buffer
			testenv.Must(t, json.Compact(&out, application.Message))
			return out.String()
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestEveryStructure checks that zero values of each known type are read without a
// panic, for its own contract and for others.
func TestEveryStructure(t *testing.T) {
	for _, encoded := range structures.Types() {
		for _, contract := range []string{"0x000000000022D473030F116dDEE9F6B43aC78BA3", "0x0000000000000068F116a894984e2DB1123eB395",
			"0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108", "0x00000000000000000000000000000000000000aa"} {
			text := zeroMessage(encoded, contract)
			read, err := parse([]byte(text), now)
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
		for member := range strings.SplitSeq(members, ",") {
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
	domain, message := map[string]any{"chainId": 1, "verifyingContract": contract}, zero(types, primary)
	if fields, ok := message.(map[string]any); ok && fields["txType"] != nil { // which the chain itself verifies
		form["EIP712Domain"] = []map[string]string{{"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "chainId", "type": "uint256"}}
		domain, fields["txType"] = map[string]any{"name": "zkSync", "version": "2", "chainId": 1}, 113
	}
	text, err := json.Marshal(map[string]any{"types": form, "primaryType": primary, "domain": domain, "message": message})
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

// FuzzParse checks that accepted text has effects, hazards of those effects or of the
// whole message, and a hazard if an effect is undecoded.
func FuzzParse(f *testing.F) {
	for _, application := range applications(f) {
		f.Add([]byte(application.Message))
	}
	for _, encoded := range structures.Types() {
		f.Add([]byte(zeroMessage(encoded, "0x000000000022D473030F116dDEE9F6B43aC78BA3")))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := parse(text, now)
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
			if index, ok := hazard.Effect(); ok && index >= len(effects) {
				t.Fatalf("hazard %s is of effect %d of %d", hazard.Name, index, len(effects))
			}
			if !slices.Contains(append(structures.HazardNames(), texts.HazardKeyDerivation), hazard.Name) && !strings.HasPrefix(hazard.Name, "ethereum/") && !strings.HasPrefix(hazard.Name, "tron/") {
				t.Fatalf("hazard %s is not in the list", hazard.Name)
			}
		}
		if undecoded && len(hazards) == 0 {
			t.Fatal(fmt.Sprint("undecoded and without a hazard: ", effects))
		}
	})
}

// parse reads typed data for Ethereum or Tron.
func parse(text []byte, now time.Time) (chains.Transaction, error) {
	message := chains.Message{Form: chains.MessageTypedData, Bytes: text, Now: now}
	if read, err := (tron.Chain{}).ReadMessage(message); err == nil {
		return read, nil
	}
	return ethereum.Chain{}.ReadMessage(message)
}

// TestHazardsNeedNoArguments: the hazards of a message are the same before and after its arguments
// are written, and so are the effects however often they are asked for.
func TestHazardsNeedNoArguments(t *testing.T) {
	var texts [][]byte
	for _, application := range applications(t) {
		texts = append(texts, application.Message)
	}
	for seed := range uint64(300) {
		texts = append(texts, []byte(drawn.TypedData(rand.New(rand.NewPCG(seed, 3)))))
	}
	read, argued := 0, 0
	for _, text := range texts {
		message, err := parse(text, now)
		if err != nil {
			continue
		}
		read++
		before, effects := message.Hazards(), message.Effects()
		for i := range effects {
			argued += len(effects[i].Args)
		}
		if !reflect.DeepEqual(message.Hazards(), before) || !reflect.DeepEqual(message.Effects(), effects) {
			t.Errorf("%s\nhazards %+v, before %+v", text, message.Hazards(), before)
		}
	}
	if read < len(texts)/2 || argued < read {
		t.Errorf("%d messages with %d arguments were read", read, argued)
	}
}

// read is parse of a message that is not refused.
func read(t testing.TB, text []byte, now time.Time) chains.Transaction {
	t.Helper()
	tx, err := parse(text, now)
	testenv.Must(t, err)
	return tx
}
