// Package keyformat reads and writes common formats of private keys:
//
//	hex      64 hex digits, with or without 0x
//	WIF      Bitcoin's wallet import format: base58check
//	Solana   id.json of the Solana command line: 64 numbers, seed ‖ public key
//	Web3     Web3 Secret Storage version 3: the JSON files of geth, encrypted
//	PKCS#8   PEM files as openssl writes them, encrypted (PBES2) or not
//
// The functions are pure: bytes in, bytes out. Readers accept exactly one key, in canonical
// encoding, with nothing left over and bounds on everything. The public key is derived from
// the secret; a public key or an address in the file must match it.
//
// # Passwords
//
// An encrypted file sets the cost of deriving a key from its password, and a hostile one
// may demand terabytes of memory. Files that need more than 512 MiB of memory, more than
// 2 GiB of mixing (scrypt) or more than 10 million rounds (PBKDF2) are refused with
// [ErrCost] before any work is done.
//
// # Secrets
//
// Returned secrets belong to the caller, who overwrites them with keystore.Wipe or
// [Key.Wipe]. No error reveals them. The libraries for base58, AES and key derivation keep
// copies that cannot be overwritten.
package keyformat
