// Package tokenaccount derives the addresses of Solana's associated token accounts from
// wallet, mint and token program. The wallet cannot be derived from such an address.
package tokenaccount

import (
	"crypto/sha256"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/oasisprotocol/curve25519-voi/curve"
)

// size is the length of an address, in bytes.
const size = 32

// Addresses of programs.
var (
	tokenProgram     = string(base58.Decode("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"))
	token2022Program = string(base58.Decode("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"))
	associatedToken  = string(base58.Decode("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"))
)

// Of returns the addresses (32 bytes each) of a wallet's associated token accounts for a
// mint: one for each token program, since effects do not always name the program.
func Of(wallet, mint string) []string {
	var accounts []string
	for _, program := range []string{tokenProgram, token2022Program} {
		if derived, ok := programAddress(associatedToken, wallet, program, mint); ok {
			accounts = append(accounts, derived)
		}
	}
	return accounts
}

// programAddress derives an address as find_program_address does:
// SHA-256(seeds ‖ bump ‖ program ‖ "ProgramDerivedAddress") for the largest bump whose
// result is not a point on the curve.
func programAddress(program string, seeds ...string) (derived string, ok bool) {
	joined := strings.Join(seeds, "")
	for bump := 255; bump >= 0; bump-- {
		digest := sha256.Sum256([]byte(joined + string([]byte{byte(bump)}) + program + "ProgramDerivedAddress"))
		if !isCurvePoint(digest) {
			return string(digest[:]), true
		}
	}
	return "", false
}

func isCurvePoint(encoded [32]byte) bool {
	var compressed curve.CompressedEdwardsY
	if _, err := compressed.SetBytes(encoded[:]); err != nil {
		return false
	}
	_, err := new(curve.EdwardsPoint).SetCompressedY(&compressed)
	return err == nil
}
