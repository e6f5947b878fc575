package evm

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// unnamed are the arguments that no effect names, with the reason.
var unnamed = map[string]string{
	"v":     "a signature",
	"nonce": "orders signatures", "new nonce": "orders signatures", "word position": "orders signatures", "mask": "orders signatures",
	"deadline": "the call fails after it", "expiry": "the call fails after it", "signature deadline": "the call fails after it",
	"valid after":               "the call fails before it",
	"unstake delay":             "the stake says who can withdraw it, and not when",
	"max priority fee per gas":  "at most the highest price, which the fee is for",
	"permitTransferFrom amount": "what is requested is at most this", "permitWitnessTransferFrom amount": "what is requested is at most this",
	"incrementNonce key": "orders signatures", "PAY_PORTION basis points": "the amount is unknown",
	"BALANCE_CHECK_ERC20 token": "whose balance a plan checks",
	"key type":                  "how a key signs, which gets control",
	"authorizeKey target":       "narrows what a key may do, which gets control", "authorizeKey ": "narrows what a key may do, which gets control",
	"setAllowedCalls target": "what a key may do, which gets control", "setAllowedCalls ": "what a key may do, which gets control",
	"createPolicyWithAccounts ": "whom a token's issuer lists", "migrateTransferPolicyIds ": "whose setting moves, and nothing else",
	"operator": "of a channel's state, not of its money", "authorized signer": "signs for the payer what the payee gets",
	"payer": "of a channel, who is the caller", "requestClose payee": "of the channel, which pays nothing", "withdraw payee": "of the channel, which pays nothing",
	"requestClose token": "of the channel, which pays nothing",
	"least balance":      "the plan fails if an account has less", "owner": "whose balance a plan checks",
}

// leaves calls do for each number and address among arguments.
func leaves(values []value, do func(v *value)) {
	for i := range values {
		v := &values[i]
		switch v.kind {
		case kindTuple, kindArray:
			leaves(v.list, do)
		case kindUint, kindAddress:
			do(v)
		}
	}
}

// plainValues returns arguments of ones, of an address each, and of no bytes.
func plainValues(parameters []abiType, number *byte) []value {
	values := make([]value, len(parameters))
	for i := range parameters {
		v := value{abiType: &parameters[i], word: make([]byte, word)}
		switch parameters[i].kind {
		case kindTuple:
			v.list = plainValues(parameters[i].members, number)
		case kindArray:
			v.list = plainValues(parameters[i].members, number)
		case kindAddress:
			*number++
			v.word[12], v.word[13] = 0x11, *number
		case kindUint, kindBool:
			v.word[31] = 1
		case kindFixed:
			v.word[15], v.word[31] = 1, 1
		case kindBytes:
			if parameters[i].role == roleCall {
				v.bytes = []byte{1, 2, 3, 4}
			}
		}
		values[i] = v
	}
	return values
}

// plainEffects returns what a function does. Its arguments, which policies can read as well, belong to
// it for precompiles of Tempo alone: their functions are known to do one thing.
func plainEffects(f *function, at Address, values []value) (text string, decoded bool) {
	network := mainnet
	if isPrecompile(f) {
		network = tempo
	}
	c := &Call{pass: network.Pass(), caller: account{signer: true}, self: at, code: at, value: new(big.Int), data: []byte{0}, path: "call", function: f, args: values}
	r := reader{left: maxCalls}
	r.nest(c, c.args)
	effects := c.Effects()
	for i := range effects {
		if isPrecompile(f) {
			text += fmt.Sprintln(effects[i].Args)
		}
		text += fmt.Sprintln(effects[i].Kind, effects[i].From, effects[i].To, effects[i].OtherSigner, effects[i].Account, effects[i].Asset, effects[i].Amount.Bound,
			effects[i].Amount.Value, effects[i].Until)
		if effects[i].Undecoded {
			return text, false
		}
	}
	return text, true
}

// isPrecompile reports whether a function is of a precompile of Tempo.
func isPrecompile(f *function) bool {
	for _, row := range tempoStandards {
		if string(row.at) == f.standard {
			return true
		}
	}
	return false
}

// TestEveryArgumentIsNamed puts the largest number, and the address of a stranger, in the
// place of each argument: an effect must say so, unless the argument is in unnamed.
func TestEveryArgumentIsNamed(t *testing.T) {
	stranger := Address{0x77, 0x88, 0x99}
	seen, checked := map[string]bool{}, 0
	for _, f := range allFunctions() {
		var number byte
		values := plainValues(f.parameters, &number)
		at := home(f)
		if isPrecompile(f) {
			at = addressAt(f.at)
		}
		before, decoded := plainEffects(f, at, values)
		if !decoded {
			continue // refused by name
		}
		leaves(values, func(v *value) {
			checked++
			kept := slices.Clone(v.word)
			if v.kind == kindAddress {
				copy(v.word[12:], stranger[:])
			} else {
				copy(v.word[word-v.size:], slices.Repeat([]byte{0xff}, v.size))
			}
			after, decoded := plainEffects(f, at, values)
			named := !decoded || after != before && (v.kind != kindAddress || strings.Contains(after, stranger.String()))
			name, _, _ := strings.Cut(f.signature, "(")
			if name += " " + v.name; unnamed[name] == "" {
				name = v.name
			}
			if reason := unnamed[name]; !named && reason == "" {
				t.Errorf("%s %s: no effect names %s\n%s", f.standard, f.signature, v.name, after)
			} else if !named {
				seen[name] = true
			}
			copy(v.word, kept)
		})
	}
	for name := range unnamed {
		if !seen[name] {
			t.Errorf("%s is named everywhere: remove it from unnamed", name)
		}
	}
	t.Logf("%d arguments", checked)
}
