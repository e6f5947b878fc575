package demo

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// A transfer of 0.00001 SOL in the legacy format, as @solana/web3.js encodes it: one
// signature slot, then the message, whose first account is the payer.
const (
	demoSolanaSlots  = "01" + demoZeros + demoZeros + "01000103"
	demoSolanaTo     = "d42099a5e0aaeaad1d4ede263662787cb3f6291a6ede340c4aa7ca26249dbe30" + demoZeros
	demoBlockhash    = "e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a"
	demoSolanaCall   = "01020200010c020000001027000000000000"
	demoZeros        = "0000000000000000000000000000000000000000000000000000000000000000"
	solanaSignatures = 1 + ed25519.SignatureSize // bytes before the message
)

// SolanaDemo checks a payment with crypto/ed25519.
var SolanaDemo = Chain{
	Name:     "Solana",
	Kind:     activity.TransactionTypeSolana,
	Curve:    keystore.CurveEd25519,
	does:     "pay 0.00001 SOL",
	Unsigned: func(payer keystore.PublicKey) (string, error) { return demoTransfer(payer, demoBlockhash), nil },
	dangers: []demoDanger{
		{"solana/zero-blockhash", "One without a recent blockhash:", func(payer keystore.PublicKey) (string, error) { return demoTransfer(payer, demoZeros), nil }},
	},
	Check: checkSolana,
}

func demoTransfer(payer keystore.PublicKey, blockhash string) string {
	return demoSolanaSlots + payer.String() + demoSolanaTo + blockhash + demoSolanaCall
}

func checkSolana(signed string, pub keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	if len(raw) <= solanaSignatures || raw[0] != 1 {
		return "", errors.New("not a transaction with one signature")
	}
	key := pub.Ed25519()
	if !ed25519.Verify(key[:], raw[solanaSignatures:], raw[1:solanaSignatures]) {
		return "", fmt.Errorf("the signature is not the payer's, %v", pub)
	}
	return "crypto/ed25519 verifies the payer's signature over the message", nil
}
