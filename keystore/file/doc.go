// Package file keeps keys in a directory that can be copied, backed up and read
// with the age command.
//
//	keys, err := file.Create("keys", passphrase, file.Options{})
//	info, err := keys.Generate(ctx, "org", "hot wallet", keystore.CurveSecp256k1)
//	…
//	keys, err := file.Open(ctx, "keys", passphrase, file.Options{})
//	defer keys.Close()
//
// # The directory
//
//	keys/                     mode 0700
//	  identity.age            an age identity, encrypted with the passphrase (scrypt)
//	  lock                    empty; a writer holds flock(2) on it and updates its
//	                          modification time as it makes progress
//	  changes                 ids of key files that were replaced or removed, in order; created by the first one
//	  deleted/                key files that Archive took out of use; created by the first one
//	  keys/                   mode 0700
//	    <privateKeyId>.age    one key, encrypted to the identity; replaced as a whole when it is renamed or disabled
//	    <walletId>.age        one wallet; replaced as a whole when an account is added
//
// All files have mode 0600. There is no index on disk: the key files are the only record. Opening
// costs one scrypt and a fraction of a millisecond per key. To read a key without this package:
//
//	age -d keys/identity.age > identity.txt      # asks for the passphrase
//	age -d -i identity.txt keys/keys/<id>.age    # the secret in hex
//
// The id, organization, name, curve and public key of each key are in the header of
// its file, readable by anyone who can read the file.
//
// # Wallets
//
// A wallet is one secret, a mnemonic (BIP-39) or an extended private key (BIP-32), and the list of
// accounts that are derived from it (package wallet). The accounts are keys like any other, each
// with its own id: they are found by any of their addresses, listed, and sign. An address cannot be
// turned back into a path: only accounts on the list are found, and Derive adds to it. The list is
// in the header of the file, under its MAC. Opening derives the keys again, which takes about two
// milliseconds per wallet, and refuses the file unless they match the list.
//
//	age -d -i identity.txt keys/keys/<walletId>.age    # the words; the passphrase, if any, in a second line. Or [origin]xprv…
//
// # What this package adds to age
//
// age encrypts; it does not authenticate the author of a file. An attacker who can write into the
// directory and knows the recipient could plant a key of their own, and have money sent to it. So
// the header of each key file carries a MAC, under a key derived from the identity, over the
// metadata of the key and the file key that encrypts the secret. Adding a key therefore takes the
// passphrase, and a file whose header or secret was replaced, renamed or altered is refused. The
// public key is derived from the secret on loading and compared, so that even a recovery recipient,
// who knows the file key, cannot replace the secret.
//
// The stanza with the MAC holds the file key a second time, encrypted under another key
// derived from the identity, because opening a keystore would otherwise spend most of
// its time on X25519. A file is not written unless both copies are equal. A recovery
// recipient could later replace the copy that the age command reads: this package would
// still open the file, and the age command would not.
//
// This package cannot detect missing key files, nor older versions of this keystore's own
// files that are put back, such as a key file from before the key was disabled.
//
// # Recovery
//
// Options.Recovery names age recipients ("age1…" or "age1pq1…") that can decrypt every key
// file without the passphrase, such as an identity kept on paper. They are stored
// inside identity.age, where adding one takes the passphrase.
//
// # Bad files
//
// Open refuses a keystore with key files that do not verify, or that other users can read or write,
// and names each of them: a signer that silently lacks a key is worse than one that does not start.
// With Options.SkipInvalid it continues without them, and Skipped lists them. Files in keys/ whose
// names do not end in .age are ignored.
//
// # Several processes
//
// Any number of processes can open the same directory. Writers take turns. A key that one process
// adds is found by the others on their next look-up of a key they do not know. A crash at any
// instant, or a failing disk, leaves each key file whole or absent, and never loses a key whose
// addition was acknowledged. Renaming, disabling or deleting a key takes effect in the other
// processes at their next look-up, which costs a stat of the file changes. A key file removed by
// other means is missed only by processes that open the directory afterwards.
//
// # What stays in memory
//
// Secrets of keys are held in a keystore.Secret. The age library keeps its identity,
// and for a while the passphrase, in ordinary memory that it does not overwrite, and
// decrypts into buffers that are left to the garbage collector. The key that wraps the
// second copy of each file key is in ordinary memory too.
//
// The package needs flock and Unix file modes. On other systems, Create and Add return an
// error that wraps errors.ErrUnsupported.
package file
