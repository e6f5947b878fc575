package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// registered knows which inputs and outputs of a transaction belong to registered wallets:
// those whose scripts follow from all keys of a wallet. What a PSBT says about the origins of
// keys only tells which address of the wallet to derive.
type registered struct {
	wallets []keystore.Registration
	inputs  []*keystore.Registration // nil where an input is of none
	outputs []*keystore.Registration
	derived int // scripts so far; see maxDerived
}

// maxDerived bounds the scripts that are derived for one transaction. Each costs a point
// multiplication for each key.
const maxDerived = 8192

// maxPlaces bounds the addresses that are tried for one input or output: a true PSBT names one.
const maxPlaces = 2

// registeredIn finds the inputs and outputs of wallets.
func (t *transaction) registeredIn(wallets []keystore.Registration) *registered {
	r := &registered{wallets: wallets, inputs: make([]*keystore.Registration, len(t.inputs)), outputs: make([]*keystore.Registration, len(t.packet.Outputs))}
	if len(wallets) == 0 {
		return r
	}
	for i := range t.inputs {
		in := &t.inputs[i]
		r.inputs[i] = r.find(in.script, &in.Map, psbt.InBIP32Derivation, psbt.InTapBIP32Derivation)
	}
	for i := range t.packet.Outputs {
		out := &t.packet.Outputs[i]
		r.outputs[i] = r.find(out.Script, &out.Map, psbt.OutBIP32Derivation, psbt.OutTapBIP32Derivation)
	}
	return r
}

// walletAddress is a receiving or a change address of a wallet.
type walletAddress struct {
	wallet int
	change bool
	index  uint32
}

// find returns the wallet that a script belongs to, nil if it is none's.
func (r *registered) find(script []byte, of *psbt.Map, plain, taproot uint64) *keystore.Registration {
	switch classify(script) {
	case p2shUnknown, p2wsh, p2tr:
	default:
		return nil // no script of several keys
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
			if !ok || slices.Contains(tried, wanted) || len(tried) == maxPlaces*len(r.wallets) || r.derived == maxDerived {
				continue
			}
			tried = append(tried, wanted)
			r.derived++
			own, err := r.wallets[w].Script(change, index)
			if err == nil && bytes.Equal(own, script) {
				return &r.wallets[w]
			}
		}
	}
	return nil
}

// registry returns what is known about registered wallets. Without holders that know any, nothing.
func (s *signing) registry() *registered {
	if s.registered == nil {
		var wallets []keystore.Registration
		if known, ok := s.holders.(chains.RegisteredHolders); ok {
			wallets = known.Registered()
		}
		s.registered = s.tx.registeredIn(wallets)
	}
	return s.registered
}

// registeredWallet returns how change tells a registered wallet from others.
func registeredWallet(w *keystore.Registration) wallet {
	digest := w.Digest()
	return wallet{id: "registered " + hex.EncodeToString(digest[:])}
}

// inputWallet returns the wallet of an input, false if it is none's.
func (s *signing) inputWallet(in *input) (w wallet, ok bool) {
	if known := s.registry().inputs[in.index]; known != nil {
		return registeredWallet(known), true
	}
	return s.walletOf(in.script)
}

// outputWallet returns the wallet of an output, false if it is none's. One that is stuck is
// none's.
func (s *signing) outputWallet(index int) (w wallet, ok bool) {
	if known := s.registry().outputs[index]; known != nil {
		return registeredWallet(known), true
	}
	script := s.tx.packet.Outputs[index].Script
	if s.stuck(script) {
		return wallet{}, false
	}
	return s.walletOf(script)
}

var _ chains.RegisteredSigning = (*signing)(nil)

// Registered implements chains.RegisteredSigning.
func (s *signing) Registered() (used []keystore.Registration, signs int, only bool) {
	known := s.registry()
	add := func(w *keystore.Registration) {
		if w != nil && !slices.ContainsFunc(used, func(other keystore.Registration) bool { return other.Digest() == w.Digest() }) {
			used = append(used, *w)
		}
	}
	signed := s.signed()
	for _, in := range signed {
		add(known.inputs[in.index])
	}
	signs = len(used)
	only = signs == 1 && !slices.ContainsFunc(signed, func(in *input) bool { return known.inputs[in.index] == nil })
	for i := range known.inputs {
		add(known.inputs[i])
	}
	for i := range known.outputs {
		add(known.outputs[i])
	}
	return used, signs, only && s.tx.message == nil
}

// ChargeID implements chains.RegisteredSigning: it is the same for every request that signs
// the same transaction for the same wallet, whatever its PSBT carries besides.
func (s *signing) ChargeID(w keystore.Registration) [32]byte {
	digest, unsigned := w.Digest(), sha256.Sum256(s.tx.unsigned)
	return sha256.Sum256(slices.Concat([]byte("countersign charge of a registered wallet v1\n"), digest[:], unsigned[:]))
}

// named describes a registered wallet to people.
func named(w *keystore.Registration) string { return fmt.Sprintf("wallet %q", w.Name()) }
