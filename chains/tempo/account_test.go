package tempo_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// accountRules bound what an account of Tempo pays, whichever key signs for it.
const accountRules = `schema: countersign.policy/2
assets:
  usd: {chain: "eip155:4217", token: "0x20C0000000000000000000000000000000000000", decimals: 6}
limits:
  - {name: day, asset: usd, max: "2", window: 24h, per: account}
rules:
  - {name: pays, allow: [transfer, fee], limit: day}
`

// TestLimitPerAccount checks that an access key (keys act-for) and its root share the limit of
// their account.
func TestLimitPerAccount(t *testing.T) {
	const pays = "76f88e821079843b9aca008504a817c800830186a0f85ef85c9420c000000000000000000000000000000000000080b844a9059cbb" +
		"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7" + "00000000000000000000000000000000000000000000000000000000000f4240" + "c0800580809420c000000000000000000000000000000000000080c0"
	file := engines.Policy(t, accountRules, nil)
	keys := memory.New()
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy, c.Keystore = file, keys })
	add := func(id string, seed byte, actsFor string) keystore.KeyInfo {
		info, err := keys.Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: id, Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{seed}, 32), ActsFor: actsFor})
		testenv.Must(t, err)
		return info
	}
	root := tempo.Chain{}.Addresses(add("root", 3, "").PublicKey)[0].Address
	add("access", 4, root[2:])
	other := tempo.Chain{}.Addresses(add("other", 5, "").PublicKey)[0].Address
	charged := map[string]*big.Int{}
	for _, key := range []string{"root", "access", "other"} {
		asked, err := f.Engine.Operator().AskedAboutCall(t.Context(), access.User{ID: "ann"}, enginetest.Organization, activity.SignTransactionIntent{SignWith: key, Type: activity.TransactionTypeTempo, UnsignedTransaction: pays})
		testenv.Must(t, err)
		decision, err := file.Decide(t.Context(), asked[0])
		if err != nil || len(decision.Charges) != 1 {
			t.Fatalf("%s: %+v, %v", key, decision.Charges, err)
		}
		charge := decision.Charges[0]
		charged[charge.Subject] = new(big.Int).Add(charge.Amount, cmp.Or(charged[charge.Subject], new(big.Int)))
	}
	twice, once := charged[strings.ToLower(root)], charged[strings.ToLower(other)]
	if len(charged) != 2 || twice == nil || once == nil || twice.Cmp(new(big.Int).Lsh(once, 1)) != 0 {
		t.Errorf("%v: want the root's account charged twice", charged)
	}
}

// sponsoredCalls returns calls that a sender asks a sponsor to pay the fee of, by what they are.
func sponsoredCalls(sender, sponsor []byte) map[string][]tempomodel.Call {
	stranger, token := bytes.Repeat([]byte{9}, 20), common.FromHex("0x20C0000000000000000000000000000000000000")
	call := func(function string, words ...[]byte) tempomodel.Call {
		input := crypto.Keccak256([]byte(function))[:4]
		for _, word := range words {
			input = append(input, common.LeftPadBytes(word, 32)...)
		}
		return tempomodel.Call{To: token, Value: new(big.Int), Input: input}
	}
	transfer := func(to []byte) tempomodel.Call { return call("transfer(address,uint256)", to, []byte{5}) }
	take := func(from, to []byte) tempomodel.Call {
		return call("transferFrom(address,address,uint256)", from, to, []byte{5})
	}
	memo := func(from, to []byte) tempomodel.Call {
		return call("transferFromWithMemo(address,address,uint256,bytes32)", from, to, []byte{5}, []byte("17"))
	}
	return map[string][]tempomodel.Call{
		"a transfer":                  {transfer(stranger)},
		"a transfer with a memo":      {call("transferWithMemo(address,uint256,bytes32)", stranger, []byte{5}, []byte("17"))},
		"a transfer to the sponsor":   {transfer(sponsor)},
		"two transfers":               {transfer(stranger), transfer(sponsor)},
		"by a stranger's allowance":   {take(stranger, sender)},
		"by the sponsor's allowance":  {take(sponsor, stranger)},
		"by it, to the sender":        {take(sponsor, sender)},
		"by it, after a transfer":     {transfer(stranger), take(sponsor, stranger)},
		"by it, with a memo":          {memo(sponsor, stranger)},
		"a transfer to the token":     {transfer(token)},
		"an allowance":                {call("approve(address,uint256)", stranger, []byte{5})},
		"a reward for all that holds": {call("distributeReward(uint256)", []byte{5})},
	}
}

// TestSponsorPolicy checks that the policy for sponsors pays the fees of what a sender moves
// by its own right, in both forms of the request, and of nothing that moves what the sponsor has.
func TestSponsorPolicy(t *testing.T) {
	file := engines.Policy(t, testenv.SamplePolicies(t)["A sponsor on Tempo"], nil)
	keys := memory.New()
	f := enginetest.New(t, func(c *countersign.Config) { c.Policy, c.AllowHazards, c.Keystore = file, nil, keys })
	info, err := keys.Add(t.Context(), enginetest.Organization,
		keystore.NewKey{ID: "sponsor", Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{3}, 32)})
	testenv.Must(t, err)
	user, err := crypto.ToECDSA(bytes.Repeat([]byte{4}, 32))
	testenv.Must(t, err)
	sponsor := common.HexToAddress(tempo.Chain{}.Addresses(info.PublicKey)[0].Address)
	denies := map[string]string{ // by what the calls are; the others are sponsored
		"by the sponsor's allowance": "of-others", "by it, to the sender": "of-others", "by it, after a transfer": "of-others", "by it, with a memo": "of-others",
		"a transfer to the token": "only-transfers", "an allowance": "only-transfers", "a reward for all that holds": "of-others",
	}
	as := f.Engine.As(access.User{ID: "relay", Name: "relay"}, "")
	for name, calls := range sponsoredCalls(crypto.PubkeyToAddress(user.PublicKey).Bytes(), sponsor.Bytes()) {
		tx := &tempomodel.Transaction{ChainID: 4217, Tip: new(big.Int), Cap: big.NewInt(20e9), Gas: 100_000, Calls: calls,
			NonceKey: new(big.Int), FeeToken: common.FromHex("0x20C0000000000000000000000000000000000000"), FeePayer: []byte{0}}
		for _, forPayer := range []bool{false, true} {
			raw := hex.EncodeToString(tx.ToCountersign(tx.SenderSignature(user), forPayer).Encode())
			_, err := as.SignTransaction(t.Context(), enginetest.Organization,
				activity.SignTransactionIntent{SignWith: "sponsor", Type: activity.TransactionTypeTempo, UnsignedTransaction: raw})
			if denied := denies[name]; denied == "" && err != nil || denied != "" && (err == nil || !strings.Contains(err.Error(), "rule "+denied+" denies")) {
				t.Errorf("%s, for the payer %v: %v, want it denied by %q", name, forPayer, err, denied)
			}
		}
	}
}
