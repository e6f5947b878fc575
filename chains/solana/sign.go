package solana

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/edwards25519"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
	"github.com/countersign-dev/countersign/keystore"
)

// signing is a transaction and the keys that sign it now.
type signing struct {
	t     *Transaction
	keys  []slotKey
	slots []int // of the keys

	inlineKey [1]slotKey // the backing array of keys with one key, to save an allocation

	accounts      chains.Accounts   // nil if they are not known
	tokenAccounts map[string]string // the wallets of associated ones; nil until they are derived
}

var _ chains.AccountSigning = (*signing)(nil)

func (s *signing) ResolveAccounts(accounts chains.Accounts) { s.accounts = accounts }

func (s *signing) KeyIDs() (ids []string) {
	for _, key := range s.keys {
		ids = append(ids, key.id)
	}
	return ids
}

// SignerView implements chains.Signing: the role of each key in this transaction.
func (s *signing) SignerView() (fields []chains.Field) {
	for _, slot := range s.slots {
		role := fmt.Sprintf("signer %d, %s", slot, s.t.slotState(slot))
		if slot == 0 {
			role += ", pays the fee"
		}
		fields = append(fields, chains.AddressField("ours", encode58(s.t.key(slot))).WithNote(role))
		var used []string
		for i, in := range s.t.instructions {
			if bytes.IndexByte(s.t.accounts(in), byte(slot)) >= 0 {
				used = append(used, fmt.Sprintf("instruction %d", i))
			}
		}
		if len(used) > 0 {
			fields = append(fields, chains.Text("your account is in", strings.Join(used, ", ")))
		}
	}
	return fields
}

// Effects implements chains.Signing. An effect that another signer authorizes is by that
// signer, whether or not it has signed yet.
func (s *signing) Effects() []chains.Effect {
	effects := s.t.effectsFor(s.slots)
	if s.accounts != nil {
		s.findTokenAccounts(effects)
	}
	return effects
}

// findTokenAccounts sets Controlled on effects to associated token accounts of wallets that the
// transaction names: as a signer, in a transfer, or because it creates the account. The account
// can have been given to another owner since: no address of a token account says whose it is.
func (s *signing) findTokenAccounts(effects []chains.Effect) {
	if s.tokenAccounts == nil {
		signers := make([][]byte, s.t.header.required)
		for slot := range signers {
			signers[slot] = s.t.key(slot)
		}
		s.tokenAccounts = tokenaccount.Wallets(effects, signers...)
	}
	for i := range effects {
		wallet, ok := s.tokenAccounts[string(effects[i].To.Address())]
		if !ok {
			continue
		}
		effects[i].Controlled = chains.ControlledNo
		if _, ok := s.accounts.Controls([]byte(wallet)); ok {
			effects[i].Controlled = chains.ControlledYes
		}
	}
}

func (s *signing) Hazards() []chains.Hazard {
	w := workspaces.Get().(*workspace)
	defer w.release()
	v := view{s.t, s.t.effects(w), s.slots}
	return v.withPassages(append(v.messageHazards(), v.ownHazards()...))
}

// AppendSigned implements chains.Signing. It signs the message bytes unchanged and fills
// the slots of its keys; every other byte is that of the raw transaction.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, s.t.raw...)
	for _, key := range s.keys {
		signature, err := key.signer.SignEd25519(ctx, s.t.Message())
		if err != nil {
			return nil, err
		}
		copy(dst[start+s.t.signatureAt(key.slot):], signature[:])
	}
	return dst, nil
}

func (s *signing) AppendSignature(ctx context.Context, dst []byte) ([]byte, error) {
	if len(s.keys) != 1 {
		return nil, notSigner("%d keys would sign: name one by its address or id", len(s.keys))
	}
	signature, err := s.keys[0].signer.SignEd25519(ctx, s.t.Message())
	if err != nil {
		return nil, err
	}
	return append(dst, signature[:]...), nil
}

type slotKey struct {
	id     string
	signer keystore.Ed25519Signer
	slot   int
}

func notSigner(format string, arguments ...any) error {
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(format, arguments...)}
}

// verifyStrict verifies a signature as the network's nodes do (verify_strict of
// ed25519-dalek). It also refuses a public key or an R of small order: with these, one
// signature can be valid for many messages.
func verifyStrict(key, message, signature []byte) bool {
	return !edwards25519.SmallOrder(key) && !edwards25519.SmallOrder(signature[:32]) &&
		ed25519.Verify(key, message, signature)
}
