// Package wallet derives keys from a mnemonic (BIP-39) or from an extended private key (BIP-32).
//
//	root, err := wallet.FromMnemonic(words, passphrase)   // BIP-39: checks words and checksum
//	root, err := wallet.ParseExtendedKey(text)            // BIP-32: [73c5da0a/84h/0h/0h]xprv…
//	defer root.Wipe()
//	path, err := wallet.ParsePath("m/44'/60'/0'/0/0")
//	secret, err := root.Derive(keystore.CurveSecp256k1, path)
//
// Keys on secp256k1 are derived by BIP-32, keys on Ed25519 by SLIP-10. [UsualAccounts] returns
// the paths of the first account in common wallets of the five chains.
//
// The functions are pure: no file, no clock, no randomness. Returned secrets belong to the caller,
// who should overwrite them with keystore.Wipe. Intermediate secrets are overwritten where this
// package holds them; the hash functions and the BIP-32 library keep copies that it cannot reach.
package wallet
