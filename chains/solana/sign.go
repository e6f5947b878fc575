package solana

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Signers implements chains.Transaction: one place to look.
func (t *Transaction) Signers(signWith string) ([]keystore.Locator, error) {
	read, err := t.targetOf(signWith)
	if err != nil {
		return nil, err
	}
	if read.isAddress {
		t.signer[0] = keystore.ByEd25519(read.key)
	} else {
		t.signer[0] = keystore.ByID(signWith)
	}
	return t.signer[:], nil
}

// Check implements chains.Transaction.
func (t *Transaction) Check(key keystore.Key, signWith string) error {
	_, _, err := t.prepare(key, signWith)
	return err
}

// AppendSigned implements chains.Transaction. It signs the message bytes as they
// came and fills the key's slot; every other byte is that of the raw transaction.
func (t *Transaction) AppendSigned(ctx context.Context, dst []byte, key keystore.Key, signWith string) ([]byte, error) {
	signer, slot, err := t.prepare(key, signWith)
	if err != nil {
		return nil, err
	}
	signature, err := signer.SignEd25519(ctx, t.Message())
	if err != nil {
		return nil, err
	}
	start := len(dst)
	dst = append(dst, t.raw...)
	copy(dst[start+t.signatureAt(slot):], signature[:])
	return dst, nil
}

// prepare returns what the key signs with and the slot that is its own.
func (t *Transaction) prepare(key keystore.Key, signWith string) (keystore.Ed25519Signer, int, error) {
	signer, err := keystore.AsEd25519(key)
	if err != nil {
		return nil, 0, err
	}
	pub := key.PublicKey()
	if pub.Curve() != keystore.CurveEd25519 {
		return nil, 0, fmt.Errorf("%w: key %s is of %s, and Solana signs with %s",
			keystore.ErrUnsupported, key.ID(), pub.Curve(), keystore.CurveEd25519)
	}
	raw := pub.Ed25519()
	if read, err := t.targetOf(signWith); err != nil {
		return nil, 0, err
	} else if read.isAddress && read.key != raw {
		return nil, 0, t.notSigner("key %s has the address %s, not %s", key.ID(), encode58(raw[:]), signWith)
	}
	slot := t.slotOf(raw)
	if slot < 0 {
		return nil, 0, t.notSigner("%s is not a signer of this transaction; its signers are %s", encode58(raw[:]), t.signerList())
	}
	if t.filled(slot) {
		return nil, 0, malformed(item("signatures", slot), t.signatureAt(slot), "%s has signed already", encode58(raw[:]))
	}
	return signer, slot, nil
}

// slotOf returns the slot of a signer, −1 if the key is none.
func (t *Transaction) slotOf(key [keySize]byte) int {
	for i := range t.header.required {
		if string(t.key(i)) == string(key[:]) {
			return i
		}
	}
	return -1
}

func (t *Transaction) notSigner(format string, arguments ...any) error {
	return &chains.SignerError{Kind: chains.ErrNotSigner, Chain: Name, Problem: fmt.Sprintf(format, arguments...)}
}

func (t *Transaction) signerList() string {
	var signers []string
	for i := range t.header.required {
		signers = append(signers, fmt.Sprintf("%s (%s)", encode58(t.key(i)), t.slotState(i)))
	}
	return strings.Join(signers, ", ")
}

func (t *Transaction) slotState(i int) string {
	if t.filled(i) {
		return "signed"
	}
	return "missing"
}
