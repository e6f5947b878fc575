package bitcoin

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// givenKeys are the accounts of a signing that knows only its own keys.
type givenKeys struct{}

func (givenKeys) Controls([]byte) (none chains.Account, ok bool) { return none, false }

func (givenKeys) WithKey(keyID string) chains.Account { return chains.Account{KeyID: keyID} }

func (givenKeys) Registered() []keystore.Registration { return nil }

// wallet identifies what money can return to: the outputs of one type of an account (BIP-44, 49, 84
// or 86), as its extended public key describes them, or the addresses of one key that belongs to no
// such account. Two accounts of a seed are two wallets: what goes from one to the other is paid.
type wallet struct {
	id      string // of the seed or, without an account, of the key
	account string // such as m/84'/0'/0'; empty for one key
	outputs scriptType
}

// purposes are the first steps of the paths of accounts.
var purposes = []string{"44'", "49'", "84'", "86'"}

// accountOf returns the account of a path m/purpose'/coin'/account'/change/index: its
// first three steps.
func accountOf(path string) (account string, ok bool) {
	steps := strings.Split(strings.ReplaceAll(path, "h", "'"), "/")
	if len(steps) != 6 || steps[0] != "m" || !slices.Contains(purposes, steps[1]) ||
		steps[2] != "0'" && steps[2] != "1'" {
		return "", false
	}
	hardened := func(step string) bool { return strings.HasSuffix(step, "'") }
	if !hardened(steps[3]) || steps[4] != "0" && steps[4] != "1" || hardened(steps[5]) {
		return "", false
	}
	return strings.Join(steps[:4], "/"), true
}

// ownership knows whose the inputs and outputs of a transaction are.
type ownership struct {
	tx         *transaction
	registered registered
	accounts   map[string]chains.Account // by the scripts that were asked for; without an id if there is none
}

// owner is whose an input or output is.
type owner struct {
	ours    bool           // a key of the organization alone controls it, or it is of a registered wallet
	wallet  wallet         // if it is ours
	account chains.Account // that alone controls it, if it is of no registered wallet

	// unspendable is set for a taproot address of a key of the organization that makes no BIP-340
	// signatures, as keys in HSMs: what is paid there could never be spent, and so is not ours.
	unspendable bool
}

func (o *ownership) input(index int) owner {
	return o.find(o.tx.inputs[index].script, o.registered.inputs[index].of)
}

func (o *ownership) output(index int) owner {
	script, of := o.tx.packet.Outputs[index].Script, o.registered.outputs[index].of
	to := o.find(script, of)
	if to.ours && of == nil && classify(script) == p2tr && !to.account.Schnorr {
		to.ours, to.unspendable = false, true
	}
	return to
}

// find returns whose an output script is, which may be of a registered wallet. A script of several
// keys belongs to none of them, but may to such a wallet.
func (o *ownership) find(script []byte, of *keystore.Registration) owner {
	if of != nil {
		identity := of.Identity()
		return owner{ours: true, wallet: wallet{id: "registered " + hex.EncodeToString(identity[:])}}
	}
	known, asked := o.accounts[string(script)]
	if !asked {
		if o.accounts == nil {
			o.accounts = map[string]chains.Account{}
		}
		known = o.account(script)
		o.accounts[string(script)] = known
	}
	w := wallet{id: known.KeyID}
	if account, ok := accountOf(known.Path); ok && known.WalletID != "" {
		w = wallet{known.WalletID, account, classify(script)}
	}
	return owner{ours: known.KeyID != "", wallet: w, account: known}
}

// account returns the key that alone controls an output script, as the script follows
// from the key: derivation paths in the PSBT are not trusted.
func (o *ownership) account(script []byte) chains.Account {
	for _, m := range o.registered.keys {
		if m.scripts == nil {
			m.scripts, _ = keyScripts(m.pub) // the key is on the curve
		}
		for _, own := range m.scripts {
			if bytes.Equal(script, own.script) {
				account := o.registered.accounts.WithKey(m.signer.ID())
				_, account.Schnorr = m.signer.(keystore.SchnorrSigner)
				return account
			}
		}
	}
	account, _ := o.registered.accounts.Controls(script)
	return account
}

// change returns how much of each output returns to the wallet that pays it, in satoshi:
// at most as much as the given inputs take from that wallet. What exceeds it comes from
// elsewhere. An output that a signature leaves open returns to no one.
func (o *ownership) change(outcomes []outcome, from []*input) []uint64 {
	left := map[wallet]uint64{}
	for _, in := range from {
		if by := o.input(in.index); by.ours {
			left[by.wallet] += in.amount
		}
	}
	back := make([]uint64, len(o.tx.packet.Outputs))
	for _, out := range outcomes {
		if out.fate != spendable || len(left) == 0 {
			continue
		}
		if to := o.output(out.output); to.ours {
			back[out.output] = min(o.tx.packet.Outputs[out.output].Amount, left[to.wallet])
			left[to.wallet] -= back[out.output]
		}
	}
	return back
}
