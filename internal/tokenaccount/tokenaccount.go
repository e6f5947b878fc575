// Package tokenaccount derives the addresses of Solana's associated token accounts from
// wallet, mint and token program. The wallet cannot be derived from such an address.
package tokenaccount

import (
	"crypto/sha256"

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
// mint: one for each token program, since effects do not always name the program. They are derived
// as by find_program_address: SHA-256(seeds ‖ bump ‖ program ‖ "ProgramDerivedAddress") for the
// largest bump whose result is not a point on the curve.
func Of(wallet, mint string) (accounts []string) {
	for _, program := range []string{tokenProgram, token2022Program} {
		for bump := 255; bump >= 0; bump-- {
			digest := sha256.Sum256([]byte(wallet + program + mint + string([]byte{byte(bump)}) + associatedToken +
				"ProgramDerivedAddress"))
			compressed := curve.CompressedEdwardsY(digest)
			if _, err := new(curve.EdwardsPoint).SetCompressedY(&compressed); err != nil {
				accounts = append(accounts, string(digest[:]))
				break
			}
		}
	}
	return accounts
}
