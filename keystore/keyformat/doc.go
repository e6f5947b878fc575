// Package keyformat reads and writes the formats in which people already have
// their keys:
//
//	hex      64 hex digits, with or without 0x
//	WIF      Bitcoin's wallet import format: base58check
//	Solana   id.json of the Solana command line: 64 numbers, seed ‖ public key
//	Web3     Web3 Secret Storage version 3: the JSON files of geth, encrypted
//	PKCS#8   PEM files as openssl writes them, encrypted (PBES2) or not
//
// The functions are pure, bytes in, bytes out. Readers take one key and nothing
// else: one canonical encoding, nothing left over, bounds on everything. The
// public key is derived from the secret; where a file names a public key or an
// address, it must be that one.
//
// # Passwords
//
// An encrypted file says itself how much work its password costs. A hostile one
// asks for terabytes of memory: what it asks is held against [MaxScryptMemory],
// [MaxScryptWork] and [MaxRounds] before any of it is done, and refused with
// [ErrCost].
//
// # Secrets
//
// What is returned belongs to the caller, who overwrites it with keystore.Wipe
// or [Key.Wipe]. No error shows any of it. Base58, AES and the functions that
// stretch passwords are libraries that keep copies out of reach.
package keyformat
