package structures_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// drawMember draws a value for a member in place of a zero value, at bounds and beyond.
func drawMember(random *rand.Rand, name string, zero any) any {
	pick := func(all ...any) any { return all[random.IntN(len(all))] }
	switch zero := zero.(type) {
	case map[string]any:
		for member, value := range zero {
			zero[member] = drawMember(random, member, value)
		}
		return zero
	case []any:
		for i := range zero {
			zero[i] = drawMember(random, name, zero[i])
		}
		return zero
	case bool:
		return pick(true, false)
	case float64:
		if name == "txType" {
			return zero
		}
		return pick(0, 1, 255, "0xffffffffffff", "0xffffffffffffffffffffffff", "0x"+strings.Repeat("f", 32), "0x"+strings.Repeat("f", 40))
	case string:
		switch {
		case len(zero) == 42: // an address
			return pick(zero, tokenOne, tokenTwo, multicall, router, entryPoint6, entryPoint7, itself)
		case strings.HasPrefix(zero, "0x") && len(zero) > 2:
			return pick(zero, "0x"+strings.Repeat("00", 12)+strings.Repeat("ff", 4)+strings.Repeat("00", 12)+strings.Repeat("ff", 4), "0x"+strings.Repeat("00", 31)+"01")
		case zero == "0x":
			return pick(zero, approvesAll, sendsToRouter, itself, tokenOne+"01020304", "0x01020304")
		}
		return pick(zero, "1.5", tokenOne)
	}
	return zero
}

const (
	multicall   = "0xcA11bde05977b3631167028862bE2a173976CA11"
	router      = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	entryPoint6 = "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"
	entryPoint7 = "0x0000000071727De22E5E9d8BAf0edAc6f37da032"
	entryPoint8 = "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108"
	entryPoint9 = "0x433709009B8330FDa32311DF1C2AFA402eD8D009"

	approvesAll   = "0x095ea7b30000000000000000000000001111111111111111111111111111111111111111ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	sendsToRouter = "0xa9059cbb00000000000000000000000066a9893cc07d91d95644aedd05d03f95e1dba8af0000000000000000000000000000000000000000000000000000000000000005"
)

var itself string // the address of the signer

// mustBe returns the names of which an effect by the signer must have one as its hazard,
// none if it may have none.
func mustBe(effect *chains.Effect, signer chains.Party) []string {
	million := new(big.Int).Exp(big.NewInt(10), big.NewInt(24), nil)
	switch amount := effect.Amount; {
	case effect.By == chains.ByOther && !effect.OtherSigner.Equal(signer):
		return nil
	case effect.Undecoded:
		return []string{"ethereum/blind-call", structures.HazardUnknownType}
	case effect.Kind == chains.KindFee && (amount.Value == nil || amount.Value.Cmp(million) > 0):
		return []string{ethereum.HazardHighFee}
	case strings.HasSuffix(effect.Path, "/refund"):
		return []string{"ethereum/refund"}
	case effect.Kind == chains.KindBurn && !effect.To.IsNone(), effect.Kind == chains.KindApprove && effect.To.String() == multicall:
		return []string{"ethereum/burn"}
	case effect.Kind == chains.KindApprove && amount.Bound == chains.BoundUnlimited:
		return []string{"ethereum/unlimited-approval", structures.HazardUnlimitedApproval}
	case effect.Kind == chains.KindAuthority && !effect.To.Equal(signer):
		return []string{"ethereum/authority-change", structures.HazardAgentApproval}
	}
	return nil
}

// TestEveryDangerHasItsHazard draws messages of every structure and checks that an effect
// that robs has its hazard, under one name, whatever the structure.
func TestEveryDangerHasItsHazard(t *testing.T) {
	key := evmtest.Key(t, strings.Repeat("46", 32))
	signer := evm.PartyOf(key.PublicKey())
	itself = signer.String()
	random, found := rand.New(rand.NewPCG(39, 2)), map[string]int{}
	contracts := []string{tokenOne, permit2Address, seaportAddress, entryPoint8, entryPoint9, "0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"}
	for _, encoded := range structures.Types() {
		for range testenv.Draws(t, 100) {
			var data map[string]any
			testenv.JSON(t, []byte(zeroMessage(encoded, contracts[random.IntN(len(contracts))])), &data)
			drawMember(random, "", data["message"])
			if name := domainNames[data["primaryType"].(string)]; name != "" {
				data["domain"].(map[string]any)["name"] = name
				data["types"].(map[string]any)["EIP712Domain"] = append(data["types"].(map[string]any)["EIP712Domain"].([]any), map[string]any{"name": "name", "type": "string"})
			}
			text := testenv.Encode(t, data)
			checkDangers(t, text, key, signer, found)
		}
	}
	for _, name := range []string{"ethereum/blind-call", structures.HazardUnknownType, ethereum.HazardHighFee, "ethereum/refund", "ethereum/burn",
		"ethereum/unlimited-approval", structures.HazardUnlimitedApproval, structures.HazardAgentApproval} {
		if found[name] == 0 {
			t.Errorf("no message had %s: %v", name, found)
		}
	}
}

var domainNames = map[string]string{"HyperliquidTransaction:ApproveAgent": "HyperliquidSignTransaction",
	"HyperliquidTransaction:UsdSend": "HyperliquidSignTransaction", "HyperliquidTransaction:ApproveBuilderFee": "HyperliquidSignTransaction"}

func checkDangers(t *testing.T, text []byte, key keystore.Key, signer chains.Party, found map[string]int) {
	t.Helper()
	read, err := parse(text, now)
	if err != nil {
		return // a value that its type cannot hold
	}
	request, err := read.Request(key.ID())
	testenv.Must(t, err)
	signing, err := request.With(key)
	testenv.Must(t, err)
	effects, hazards := signing.Effects(), map[int][]string{}
	for _, hazard := range signing.Hazards() {
		if index, ok := hazard.Effect(); ok {
			hazards[index] = append(hazards[index], hazard.Name)
		}
	}
	for i := range effects {
		names := mustBe(&effects[i], signer)
		has := 0
		for _, name := range names {
			if slices.Contains(hazards[i], name) {
				found[name]++
				has++
			}
		}
		if len(names) > 0 && has != 1 {
			t.Fatalf("effect %d, %s, has the hazards %v, want one of %v\n%s", i, chains.Sentence(effects[i], nil), hazards[i], names, text)
		}
	}
}
