// Package file keeps keys in a directory that one can copy, back up and read
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
//	  lock                    empty; who writes holds flock(2) on it, and sets its time
//	                          whenever the writing gets on
//	  changes                 ids of key files that were replaced or removed, in order; once there is one
//	  deleted/                key files that Archive took out of use; once there is one
//	  keys/                   mode 0700
//	    <privateKeyId>.age    one key, encrypted to the identity; replaced as a whole when it is renamed or disabled
//	    <walletId>.age        one wallet; replaced as a whole when an account is added
//
// All files have mode 0600. There is no index: the key files are all there is.
// Opening costs one scrypt and a fraction of a millisecond per key. To read a
// key without this package:
//
//	age -d keys/identity.age > identity.txt      # asks for the passphrase
//	age -d -i identity.txt keys/keys/<id>.age    # the secret in hex
//
// The id, the organization, the name, the curve and the public key of each key
// stand in the header of its file, for everybody to read who can read the file.
//
// # Wallets
//
// A wallet is one secret, a mnemonic (BIP-39) or an extended private key (BIP-32), and the
// list of accounts that are derived from it (package wallet). The accounts are keys like any other, with
// ids of their own: they are found by any of their addresses, listed, and sign.
// An address cannot be turned back into a path: only accounts on the list are
// found, and Derive adds to it. The list stands in the header of the file, under
// its MAC; keys are derived again on opening, some two milliseconds a wallet, and
// must be those that the list names.
//
//	age -d -i identity.txt keys/keys/<walletId>.age    # the words; the passphrase, if any, in a second line. Or [origin]xprv…
//
// # What age does not do, and this package adds
//
// age encrypts; it does not say who wrote a file. An attacker who can write into the
// directory and knows the recipient could plant a key of their own, and have
// money sent to it. So the header of each key file carries a MAC, under a key
// derived from the identity, over what it says of the key and over the file key
// that the secret is encrypted with: adding a key takes the passphrase, and a
// file whose header or secret was exchanged, renamed or altered is refused. The
// public key is derived from the secret on loading and compared, so that not
// even who was given the file key (a recovery recipient) can exchange the
// secret.
//
// The stanza with the MAC has the file key a second time, encrypted under another key
// derived from the identity: opening a keystore would spend most of its time on X25519.
// A file is not written if the two are not the same. Later, a recovery recipient could
// exchange the one that the age command reads: this package would open the file, and
// the age command would not.
//
// What this cannot see: key files that are missing, and files of this very
// keystore that were removed and are put back, such as that of a key from before it was
// disabled.
//
// # Recovery
//
// Options.Recovery names age recipients ("age1…", or "age1pq1…") that can decrypt every key
// file without the passphrase: an identity kept on paper, say. They are kept
// inside identity.age, where adding one takes the passphrase.
//
// # Bad files
//
// Open refuses a keystore with key files that do not verify, or that others can
// read or write, and names each of them: a signer that silently lacks a key is
// worse than one that does not start. With Options.SkipInvalid it goes on
// without them; Skipped says which. Files in keys/ whose names do not end in
// .age are not looked at.
//
// # Several processes
//
// Any number of processes can open the same directory. Writers take turns. A key
// that one adds is found by the others when they are asked for a key that they
// do not know. A crash at any instant, or a disk that fails, leaves each key file
// whole or absent, and a key whose adding was acknowledged is there. A key that one
// renames, disables or deletes is so for the others at their next look-up, which costs a
// stat of the file changes. A key file that is removed by other means is gone for those who
// open the directory after that.
//
// # What stays in memory
//
// Secrets of keys are in a keystore.Secret. The age library keeps its identity,
// and for a while the passphrase, in ordinary memory that it does not overwrite (the
// key that file keys are encrypted with a second time is kept in such memory as well),
// and decrypts in buffers that are left to the garbage collector.
//
// The package needs flock and Unix file modes. On other systems, Create and Add
// say that they are not supported.
package file
