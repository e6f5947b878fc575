package bitcoin

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

var _ chains.WalletSigning = (*signing)(nil)

// givenKeys are the accounts of a signing that knows only its own keys.
type givenKeys struct{}

// Controls implements chains.Accounts.
func (givenKeys) Controls([]byte) (none chains.Account, ok bool) { return none, false }

// WithKey implements chains.Accounts.
func (givenKeys) WithKey(keyID string) chains.Account { return chains.Account{KeyID: keyID} }

// Registered implements chains.Accounts.
func (givenKeys) Registered() []keystore.Registration { return nil }

// ResolveAccounts implements chains.AccountSigning.
func (s *signing) ResolveAccounts(accounts chains.Accounts) {
	s.accounts, s.registered = &askedOnce{Accounts: accounts, at: map[string]chains.Account{}}, nil
}

// askedOnce asks for each address once.
type askedOnce struct {
	chains.Accounts
	at map[string]chains.Account // without an id if there is none
}

// Controls implements chains.Accounts.
func (a *askedOnce) Controls(script []byte) (chains.Account, bool) {
	account, asked := a.at[string(script)]
	if !asked {
		account, _ = a.Accounts.Controls(script)
		a.at[string(script)] = account
	}
	return account, account.KeyID != ""
}

// holder returns the key that alone controls an output script, as the script follows
// from the key: derivation paths in the PSBT are not trusted.
func (s *signing) holder(script []byte) (chains.Account, bool) {
	for _, m := range s.signers {
		for _, own := range m.addresses() {
			if bytes.Equal(script, own.script) {
				holder := s.accounts.WithKey(m.signer.ID())
				_, holder.Schnorr = keystore.As[keystore.SchnorrSigner](m.signer)
				return holder, true
			}
		}
	}
	return s.accounts.Controls(script)
}

// wallet identifies what money can return to: the outputs of one type of an account
// (BIP-44, 49, 84 or 86), as its extended public key describes them, or the addresses of
// one key that belongs to no such account. Two accounts of a seed are two wallets: what
// goes from one to the other is paid.
type wallet struct {
	id      string // of the seed or, without an account, of the key
	account string // such as m/84'/0'/0'; empty for one key
	outputs scriptType
}

// walletOf returns the wallet of an output script. ok is false if it is no key's of the
// organization. A script of several keys belongs to none of them, but may to a registered
// wallet: see inputWallet and outputWallet.
func (s *signing) walletOf(script []byte) (w wallet, ok bool) {
	holder, ok := s.holder(script)
	if !ok {
		return wallet{}, false
	}
	if account, ok := accountOf(holder.Path); ok && holder.WalletID != "" {
		return wallet{holder.WalletID, account, classify(script)}, true
	}
	return wallet{id: holder.KeyID}, true
}

// purposes are the first steps of the paths of accounts.
var purposes = []string{"44'", "49'", "84'", "86'"}

// accountOf returns the account of a path m/purpose'/coin'/account'/change/index: its
// first three steps.
func accountOf(path string) (account string, ok bool) {
	steps := strings.Split(strings.ReplaceAll(path, "h", "'"), "/")
	if len(steps) != 6 || steps[0] != "m" || !slices.Contains(purposes, steps[1]) || steps[2] != "0'" && steps[2] != "1'" {
		return "", false
	}
	hardened := func(step string) bool { return strings.HasSuffix(step, "'") }
	if !hardened(steps[3]) || steps[4] != "0" && steps[4] != "1" || hardened(steps[5]) {
		return "", false
	}
	return strings.Join(steps[:4], "/"), true
}

// signed returns the inputs that this request signs, each once.
func (s *signing) signed() []*input {
	inputs := s.inputs()
	slices.SortFunc(inputs, func(a, b *input) int { return a.index - b.index })
	return slices.Compact(inputs)
}

// ours returns the inputs that belong to keys of the organization, alone or with others,
// whether or not this request signs them.
func (s *signing) ours() (inputs []*input) {
	for i := range s.tx.inputs {
		in := &s.tx.inputs[i]
		if _, ours := s.inputWallet(in); ours || s.owner(i) != nil {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

// change returns how much of each output returns to the wallet that pays it, in satoshi:
// at most as much as the given inputs take from that wallet. What exceeds it comes from
// elsewhere. An output that a signature leaves open returns to no one.
func (s *signing) change(from []*input) []uint64 {
	left := map[wallet]uint64{}
	for _, in := range from {
		if w, ok := s.inputWallet(in); ok {
			left[w] += in.amount
		}
	}
	back := make([]uint64, len(s.tx.packet.Outputs))
	for _, o := range s.tx.outcomes(s.inputs()) {
		if out := &s.tx.packet.Outputs[o.output]; o.fate == spendable && len(left) > 0 {
			w, _ := s.outputWallet(o.output)
			back[o.output] = min(out.Amount, left[w])
			left[w] -= back[o.output]
		}
	}
	return back
}

// Effects implements chains.Signing: the transaction's effects, with the outputs that
// the keys' own signatures commit to. Change is set on what returns to the wallet that
// pays it. If only a part of an output does, the rest is a transfer of its own, after
// the other effects: the sum of what is not change is exactly what leaves the
// wallets, if this request signs every input, and never less.
func (s *signing) Effects() []chains.Effect {
	effects := s.tx.effects(s.inputs())
	if s.tx.message != nil {
		return effects
	}
	back := s.change(s.signed())
	for i, o := range s.tx.outcomes(s.inputs()) {
		e := &effects[i]
		if o.fate != spendable {
			continue
		}
		if s.isOurs(o.output) {
			e.Controlled = chains.ControlledYes
		} else if s.stuck(s.tx.packet.Outputs[o.output].Script) {
			e.Controlled = chains.ControlledNo
		}
		switch rest := s.tx.packet.Outputs[o.output].Amount - back[o.output]; {
		case rest == 0:
			e.Change = true
		case back[o.output] > 0 && len(effects) < chains.MaxEffects:
			paid := *e
			paid.Amount = chains.ExactlyUint(rest)
			e.Change, e.Amount = true, chains.ExactlyUint(back[o.output])
			effects = append(effects, paid)
		}
	}
	return effects
}

// stuck reports whether a script is the taproot address of a key of the organization that makes
// no BIP-340 signatures, as keys in HSMs: what is paid there could never be spent.
func (s *signing) stuck(script []byte) bool {
	if classify(script) != p2tr {
		return false
	}
	holder, ours := s.holder(script)
	return ours && !holder.Schnorr
}

// isOurs reports whether a key of the organization alone controls an output, or the output
// is of a registered wallet.
func (s *signing) isOurs(output int) bool {
	_, ours := s.outputWallet(output)
	return ours
}

// flow adds up what the organization's inputs spend and how much of it comes back, in
// satoshi.
func (s *signing) flow() (spent, back uint64) {
	inputs := s.ours()
	for _, in := range inputs {
		spent += in.amount
	}
	for _, amount := range s.change(inputs) {
		back += amount
	}
	return spent, back
}

// Balance implements chains.WalletSigning: the satoshi that leave the wallets. Outputs
// that a signature leaves open do not count as coming back. The balance is unknown if a
// lie about an amount could change it.
func (s *signing) Balance() chains.Quantity {
	if s.tx.message != nil {
		return chains.ExactlyUint(0)
	}
	signed := s.inputs()
	if _, unproven := s.tx.unproven(signed); unproven {
		return chains.UnknownQuantity()
	}
	spent, back := s.flow()
	for i := range s.tx.packet.Outputs {
		if leavesOpen(signed, i) {
			return chains.AtMost(new(big.Int).SetUint64(spent))
		}
	}
	return chains.ExactlyUint(spent - back)
}
