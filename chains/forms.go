package chains

// Unsigner is implemented by chains whose unsigned transactions have no place for a
// signature. A person can then look at a signed transaction, too.
type Unsigner interface {
	// Unsign removes the signature of a signed transaction. All other bytes stay what they
	// are. signers are the addresses that the signature recovers to; there are none if
	// this kind of signature does not name its signer. signed is false if raw is not a
	// signed transaction: Parse says what it is. The error says that the signature is not
	// valid.
	Unsign(raw []byte) (unsigned []byte, signers []string, signed bool, err error)
}

// Exchanger is implemented by chains whose transactions are exchanged in forms besides hex.
type Exchanger interface {
	// Forms returns these forms, of "base64", "base58" and "binary", and how an error
	// describes what was expected: "a PSBT in hex, base64 or binary".
	Forms() (forms []string, expected string)

	// Complete returns the transaction for bytes that came in one of the forms, or in hex.
	// If they are only what is signed of a transaction, it adds the empty places for the
	// signatures.
	Complete(raw []byte) (transaction []byte, err error)
}

// NetworkNamer is implemented by chains whose transactions do not name their network, while
// their addresses do.
type NetworkNamer interface {
	// NetworkName returns the network whose addresses are shown, such as "testnet".
	NetworkName() string
}
