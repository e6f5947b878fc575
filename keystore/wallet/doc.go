// Package wallet derives keys from a mnemonic, the sentence of words that
// wallets have people write down, or from an extended private key.
//
//	root, err := wallet.FromMnemonic(words, passphrase)   // BIP-39: words and checksum are checked
//	root, err := wallet.ParseExtendedKey(text)            // BIP-32: [73c5da0a/84h/0h/0h]xprv…
//	defer root.Wipe()
//	path, err := wallet.ParsePath("m/44'/60'/0'/0/0")
//	secret, err := root.Derive(keystore.CurveSecp256k1, path)
//
// Keys on secp256k1 are derived as BIP-32 says, those on Ed25519 as SLIP-10
// says. [UsualAccounts] are the paths at which the wallets of the five chains
// keep their first account.
//
// The functions are pure: no file, no clock, no randomness. What they return is
// secret, belongs to the caller, and should be overwritten with keystore.Wipe.
// What they pass through on the way is overwritten where this package holds it;
// the hash functions and the BIP-32 library keep copies that it cannot reach.
package wallet
