package chains

// Forms is how transactions of a chain are exchanged. The zero value is in hex alone, with a
// place for each signature.
type Forms struct {
	// Encodings are those besides hex, of "base64", "base58" and "binary", and Expected says for
	// errors what is expected: "a PSBT in hex, base64 or binary".
	Encodings []string
	Expected  string

	// Complete returns the transaction for bytes that came in one of the encodings, or in hex.
	// If they are only what is signed of a transaction, it adds the empty places for the
	// signatures. Nil: they are the transaction.
	Complete func(raw []byte) (transaction []byte, err error)

	// Unsign removes the signature of a signed transaction, of which unsigned ones have no
	// place for it: a person can then look at a signed transaction, too. All other bytes stay
	// what they are. signers are the addresses that the signature recovers to; there are none if
	// this kind of signature does not name its signer. signed is false if raw is not a signed
	// transaction: Parse says what it is. The error says that the signature is not valid.
	Unsign func(raw []byte) (unsigned []byte, signers []string, signed bool, err error)

	// Network is the network whose addresses are shown, such as "testnet", if transactions do
	// not name theirs while addresses do.
	Network string
}
