package bitcoin

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// registered knows which inputs and outputs of a transaction belong to registered wallets:
// those whose scripts follow from all keys of a wallet. Which address of the wallet to derive
// follows from the paths of the organization's keys in the script, or else from what the PSBT
// says about the origins of keys.
type registered struct {
	wallets  []keystore.Registration
	accounts chains.Accounts
	keys     []*signingKey // that may sign; nil before they are found
	inputs   []belonging
	outputs  []belonging
	all      []belonging // the inputs, then the outputs
	derived  int         // scripts and keys so far; see maxDerived
}

// belonging says which registered wallet an input or output is of.
type belonging struct {
	of    *keystore.Registration // nil if it is none's
	stray string                 // why it may be another one's; empty if it is not
}

// maxDerived bounds the scripts that are derived for one transaction. Each costs a point
// multiplication for each key. From then on, inputs are stray.
const maxDerived = 8192

// maxPlaces bounds the addresses that are tried for one input or output: a true PSBT names one.
const maxPlaces = 2

func (r *registered) find(t *transaction) *registered {
	r.all = make([]belonging, len(t.inputs)+len(t.packet.Outputs))
	r.inputs, r.outputs = r.all[:len(t.inputs)], r.all[len(t.inputs):]
	if len(r.wallets) == 0 {
		return r
	}
	for i := range t.inputs {
		in := &t.inputs[i]
		r.inputs[i] = r.claimed(in.script, &in.Map, psbt.InBIP32Derivation, psbt.InTapBIP32Derivation)
		if r.inputs[i].of == nil && in.several() {
			r.inputs[i] = r.held(in.script, r.hashes(in))
		}
	}
	for i := range t.packet.Outputs {
		out := &t.packet.Outputs[i]
		r.outputs[i] = r.claimed(out.Script, &out.Map, psbt.OutBIP32Derivation, psbt.OutTapBIP32Derivation)
		if r.outputs[i].of == nil {
			keys := candidates{}
			keys.script(outputCode(out))
			r.outputs[i] = r.held(out.Script, keys.hashes)
		}
	}
	return r
}

// several reports whether the script of an input may have more keys than one.
func (in *input) several() bool {
	switch in.kind {
	case p2tr:
		return in.taproot.root != nil // without, the owner of the output is known (BIP-86)
	case p2sh, p2wsh, p2shP2wsh, bareMultisig, nonStandard:
		kind := classify(in.code)
		return kind != p2pk && kind != p2pkh
	}
	return false
}

// hashes returns the hash160 of each key that is in the scripts of an input, or signs it.
func (r *registered) hashes(in *input) [][20]byte {
	keys := candidates{}
	keys.input(in)
	for _, m := range r.keys {
		if m.reasons[in.index] == "" {
			keys.hashes = append(keys.hashes, m.hash)
		}
	}
	return keys.hashes
}

// walletAddress is a receiving or a change address of a wallet.
type walletAddress struct {
	wallet int
	change bool
	index  uint32
}

// claimed returns the wallet that a script belongs to, at the addresses that the PSBT says its
// keys are of.
func (r *registered) claimed(script []byte, of *psbt.Map, plain, taproot uint64) (b belonging) {
	switch classify(script) {
	case p2shUnknown, p2wsh, p2tr:
	default:
		return b // no script of several keys
	}
	var tried []walletAddress
	for i := range of.Records {
		origin, ok := derivationOf(&of.Records[i], plain, taproot)
		if !ok {
			continue
		}
		for w := range r.wallets {
			change, index, ok := r.wallets[w].Place(origin.Fingerprint, origin.Path)
			wanted := walletAddress{w, change, index}
			if !ok || slices.Contains(tried, wanted) || len(tried) == maxPlaces*len(r.wallets) {
				continue
			}
			tried = append(tried, wanted)
			if r.is(script, wanted) {
				r.add(&b, w)
			}
		}
		if b.of != nil {
			break
		}
	}
	return b
}

// add notes that a script is of a wallet. Of one that has two names, it is not known which rules
// and limits are meant.
func (r *registered) add(b *belonging, wallet int) {
	w := &r.wallets[wallet]
	if b.of == nil {
		b.of, b.stray = w, ""
	}
	for i := range r.wallets {
		if other := &r.wallets[i]; i != wallet && (b.of == other || other.Identity() == w.Identity()) {
			b.stray = fmt.Sprintf("it is of the registered %s and of the registered %s: remove one of them", named(w),
				named(other))
		}
	}
}

func (r *registered) is(script []byte, at walletAddress) bool {
	if r.derived >= maxDerived {
		return false
	}
	r.derived++
	own, err := r.wallets[at.wallet].Script(at.change, at.index)
	return err == nil && bytes.Equal(own, script)
}

// held is claimed at the addresses that the organization's keys with the hashes are of, whatever the
// PSBT says. Where such a key is of a wallet, or where it is not known whether it is, and the script is
// none of the wallets', the script is stray.
func (r *registered) held(script []byte, hashes [][20]byte) (b belonging) {
	for _, hash := range hashes {
		account, ours := r.account(hash)
		branch, index, known := lastSteps(account.Path)
		switch {
		case !ours:
			continue
		case account.Path == "":
			b.stray = "key " + account.KeyID + ", whose path is not known here" + strayCure
		}
		for w := range r.wallets {
			if !known || b.of != nil && b.stray != "" {
				break
			}
			r.derived++
			change, ok := r.wallets[w].Holds(hash, branch, index)
			switch {
			case r.derived >= maxDerived:
				b.stray = "too many addresses of registered wallets are named to tell whether it is of one"
			case !ok:
			case r.is(script, walletAddress{w, change, index}):
				r.add(&b, w)
			case b.of == nil:
				b.stray = "key " + account.KeyID + ", of the registered " + named(&r.wallets[w]) + strayCure
			}
		}
		if b.of != nil {
			break
		}
	}
	return b
}

// strayCure ends what is said about a key in a script that no registered wallet has.
const strayCure = ", is in its script, which no registered wallet has: register its wallet " +
	"with 'countersign wallets register', or give the true origins of its keys"

func (r *registered) account(hash [20]byte) (chains.Account, bool) {
	for _, m := range r.keys {
		if m.hash == hash {
			return r.accounts.WithKey(m.signer.ID()), true
		}
	}
	return r.accounts.Controls(p2wpkhScript(hash))
}

// lastSteps returns the last two steps of a path, neither of them hardened.
func lastSteps(path string) (branch, index uint32, ok bool) {
	steps := strings.Split(path, "/")
	if len(steps) < 2 {
		return 0, 0, false
	}
	last, err := strconv.ParseUint(steps[len(steps)-1], 10, 31)
	before, err2 := strconv.ParseUint(steps[len(steps)-2], 10, 31)
	return uint32(before), uint32(last), err == nil && err2 == nil
}

func named(w *keystore.Registration) string { return fmt.Sprintf("wallet %q", w.Name()) }
