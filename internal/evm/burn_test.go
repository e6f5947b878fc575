package evm

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// allFunctions returns every function that is decoded, the commands of a Universal
// Router and Tempo's precompiles included.
func allFunctions() (all []*function) {
	for _, candidates := range functions() {
		all = append(all, candidates...)
	}
	for _, f := range routerCommands {
		all = append(all, f)
	}
	for _, row := range tempoStandards {
		f := parseFunction(string(row.at), row.function)
		f.at, f.act = row.at, nonpayable(row.effects)
		all = append(all, f)
	}
	return all
}

// recipients are the names of the arguments that say who receives an asset.
var recipients = []string{"to", "payee", "recipient", "beneficiary", "refund receiver"}

// redirect makes an address the recipient wherever values name one, and with token also
// the token that is sent. Swaps get a path that their router accepts.
func redirect(values []value, to Address, token bool) {
	for i := range values {
		switch v := &values[i]; {
		case v.kind == kindAddress && (slices.Contains(recipients, v.name) || token && (v.name == "token" || v.name == "gas token")):
			v.word = common.LeftPadBytes(to[:], word)
		case v.kind == kindBytes && v.name == "path":
			v.bytes = make([]byte, 43)
		default:
			redirect(v.list, to, token)
		}
	}
}

// namesRecipient reports whether one of a function's parameters is a recipient.
func namesRecipient(parameters []abiType) bool {
	return slices.ContainsFunc(parameters, func(t abiType) bool {
		return slices.Contains(recipients, t.name) || namesRecipient(t.members)
	})
}

// redirected returns the effects of a random call of a function whose recipient is an
// address.
func redirected(t *testing.T, random *rand.Rand, f *function, to Address, token bool) []chains.Effect {
	self := Address{0x11}
	if token && (f.at == atAny || f.at == atTIP20) {
		self = to
	}
	c := &Call{pass: mainnet.Pass(), caller: account{signer: true}, self: self, code: self, value: new(big.Int)}
	(&reader{}).decodeAs(c, f, randomCall(t, random, f)[4:])
	if c.function == nil {
		t.Fatalf("%s: %s", f.signature, c.problem)
	}
	redirect(c.args, to, token)
	return c.Effects()
}

// lostOnMainnet are accounts that no one can spend from on Ethereum, in turn.
var lostOnMainnet = []Address{{}, hexAddress("0x9"), hexAddress("0x11"), hexAddress("0x100"), hexAddress("0xdead"),
	hexAddress("0xdEAD000000000000000042069420694206942069"), hexAddress("0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02")}

// TestBurnsAreHazards checks that whatever function sends an asset to an account that
// no one can spend from, or a token to its own contract, burns it, and that this is a
// hazard for the account whose signature authorizes it, and for no other.
func TestBurnsAreHazards(t *testing.T) {
	signer, other := mainnet.Party(Address{0xaa}), mainnet.Party(Address{0xbb})
	random := rand.New(rand.NewPCG(5, 6))
	burns := map[bool]int{}
	for _, f := range allFunctions() {
		for token, to := range map[bool]Address{false: {}, true: {0x22}} {
			for round := range 2 * len(lostOnMainnet) {
				if to = (Address{0x22}); !token {
					to = lostOnMainnet[round%len(lostOnMainnet)]
				}
				effects := chains.ResolveSigner(redirected(t, random, f, to, token), signer)
				for i, effect := range effects {
					if lost := effect.To.Is(to[:]) && (!token || effect.Asset.Token.Equal(effect.To)); lost && !harmless(f, effect, token) {
						checkBurn(t, f, effects[i], signer, other)
						burns[token]++
					}
				}
			}
		}
	}
	if burns[false] < 300 || burns[true] < 200 {
		t.Errorf("%d effects to the zero address, %d to the token itself", burns[false], burns[true])
	}
}

// harmless reports whether nothing is lost although the recipient is the zero address or
// the token: nothing moves, or it is a reward pool or a channel, from which it comes back.
func harmless(f *function, effect chains.Effect, token bool) bool {
	switch effect.Kind {
	case chains.KindTransfer, chains.KindUnstake, chains.KindBurn:
	case chains.KindMint:
		return token
	default:
		return true
	}
	return token && (f.at == atChannels || !namesRecipient(f.parameters))
}

func checkBurn(t *testing.T, f *function, effect chains.Effect, signer, other chains.Party) {
	t.Helper()
	if effect.Kind != chains.KindBurn {
		t.Errorf("%s: %s to %s", f.signature, effect.Kind, effect.To)
		return
	}
	authorizes := signer
	if effect.By == chains.ByOther {
		authorizes = effect.OtherSigner
	}
	effect.Path = strings.TrimSuffix(effect.Path, refundPath) // whose own hazard is tested elsewhere
	if got := Hazards("c", []chains.Effect{effect}, authorizes); len(got) != 1 || got[0].Name != "c/"+hazardBurn {
		t.Errorf("%s: hazards %v", f.signature, got)
	}
	if got := Hazards("c", []chains.Effect{effect}, other); effect.By == chains.ByOther && len(got) != 0 {
		t.Errorf("%s: hazards of another's signature: %v", f.signature, got)
	}
}

// TestUnspendable checks the accounts at the ends of each row of the table, on the networks
// that it names and on others, and that their neighbours are not in it.
func TestUnspendable(t *testing.T) {
	networks := map[string]*Network{"eip155:1": mainnet, "eip155:987654321": {ID: "eip155:987654321", ChainID: 987654321}, "eip155": {ID: "eip155"},
		"eip155:369": {ID: "eip155:369", ChainID: 369}, "eip155:43114": {ID: "eip155:43114", ChainID: 43114},
		"eip155:4217": tempo, "tron": {ID: "tron", Prefix: []byte{0x41}}}
	everywhere := []string{"eip155:1", "eip155:987654321", "eip155", "eip155:369", "eip155:43114", "eip155:4217", "tron"}
	for _, c := range []struct {
		address string
		on      []string
	}{
		{"0x0", everywhere}, {"0x1", everywhere}, {"0xa", everywhere}, {"0x11", everywhere}, {"0x12", nil}, {"0xff", nil}, {"0x100", everywhere}, {"0x101", nil},
		{"0xdead", everywhere}, {"0xdeac", nil}, {"0xdeae", nil}, {"0xdead000000000000000000000000000000000000", nil},
		{"0xdeadbeef", everywhere}, {"0xdeadbeee", nil}, {"0xdeadbeef00000000000000000000000000000000", nil}, {"0xdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef", everywhere},
		{"0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead", everywhere}, {"0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddeae", nil}, {"0x77944d19c052b73ee2286823aa83f8138cb7032f", []string{"tron"}},
		{"0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE", everywhere}, {"0xfffffffffffffffffffffffffffffffffffffffe", everywhere},
		{"0xffffffffffffffffffffffffffffffffffffffff", everywhere}, {"0xfffffffffffffffffffffffffffffffffffffffd", nil},
		{"0x0000000000000000000000010000000000000000", nil}, // 2^64
		{"0x369", []string{"eip155:369"}}, {"0x0100000000000000000000000000000000000000", []string{"eip155:43114"}},
		{"0x20009", []string{"tron"}}, {"0x2000a", []string{"tron"}}, {"0x2000b", nil}, {"0x1000000", nil}, {"0x1000001", []string{"tron"}},
		{"0x1000015", []string{"tron"}}, {"0x1000016", nil},
		{"0xCCCCCCCC00000000000000000000000000000001", []string{"eip155:4217"}}, {"0xfeEC000000000000000000000000000000000000", nil},
		{"0x4e59b44847b379578588920cA78FbF26c0B4956C", nil},
	} {
		for id, network := range networks {
			got := network.unspendable(network.Party(hexAddress(c.address)))
			if got != slices.Contains(c.on, id) {
				t.Errorf("%s on %s: %v", c.address, id, got)
			}
		}
	}
	for _, party := range []chains.Party{chains.UnknownParty(), chains.SignerParty(), {}} {
		if mainnet.Lost(chains.Native("eip155:1"), party) {
			t.Error("a party without an address")
		}
	}
}

// TestKeeps checks that what is sent to a known contract, to a built-in token or to a precompile of Tempo is
// burned, but where the next call can send it on.
func TestKeeps(t *testing.T) {
	ours := chains.Asset{Chain: "eip155:1", Token: mainnet.Party(hexAddress("0x5555555555555555555555555555555555555555")), Standard: erc20}
	lost := func(n *Network, to Address) (token, native bool) {
		asset := ours
		asset.Chain = n.ID
		return n.Lost(asset, n.Party(to)), n.Lost(chains.Native(n.ID), n.Party(to))
	}
	for at, c := range contracts() {
		n := &Network{ID: NetworkID(1), ChainID: 1}
		if len(c.chains) > 0 {
			n = &Network{ID: NetworkID(c.chains[0]), ChainID: c.chains[0]}
		}
		if token, native := lost(n, at); token == c.isOneOf(sharedPlaces) || native != token {
			t.Errorf("%s on %s: token %v, native value %v", c.name, n.ID, token, native)
		}
		if token, _ := lost(&Network{ID: "eip155"}, at); token {
			t.Errorf("%s where the network is not known", c.name)
		}
	}
	for at := range precompiles {
		if token, _ := lost(tempo, at); !token {
			t.Errorf("%s keeps no token", at)
		}
	}
	for _, listed := range chains.ListedTokens() {
		n := &Network{ID: listed.Chain}
		switch number, isEVM := strings.CutPrefix(listed.Chain, "eip155:"); {
		case isEVM:
			n.ChainID, _ = strconv.ParseUint(number, 10, 64)
		case listed.Chain == "tron":
			n.Prefix = []byte{0x41}
		default:
			continue
		}
		at := hexAddress(listed.Address)
		if listed.Chain == "tron" {
			payload, _, err := base58.CheckDecode(listed.Address)
			testenv.Must(t, err)
			at = Address(payload)
		}
		if token, native := lost(n, at); !token || !native {
			t.Errorf("%s on %s: token %v, native value %v", listed.Symbol, listed.Chain, token, native)
		}
		if token, _ := lost(&Network{ID: "eip155:987654321", ChainID: 987654321}, at); token {
			t.Errorf("%s on another network", listed.Symbol)
		}
	}
}

// TestValueBurns checks that native value is burned as tokens are, with data or without.
func TestValueBurns(t *testing.T) {
	for _, data := range [][]byte{nil, {1, 2, 3, 4}} {
		effects := mainnet.Pass().Read(Transaction{To: hexAddress("0x9"), Value: big.NewInt(1), Data: data}).Effects()
		if effects[0].Kind != chains.KindBurn {
			t.Errorf("%x: %s", data, effects[0].Kind)
		}
	}
}
