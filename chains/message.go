package chains

import "github.com/countersign-dev/countersign/keystore"

// MessageSigner is implemented by chains whose keys sign messages besides transactions.
type MessageSigner interface {
	Chain

	// MessageKey reads signWith for a message: an address in one of the chain's forms or a
	// key's id, and verifies the checksum of an address. The error is a *SignerError.
	MessageKey(signWith string) (MessageKey, error)
}

// MessageParser is implemented by chains whose transactions wrap the message that is signed.
type MessageParser interface {
	// ParseMessage reads that message as strictly as Parse. The error is a *ParseError.
	ParseMessage(message []byte) (Transaction, error)
}

// MessageKey is the key that is to sign a message.
type MessageKey interface {
	// Locators returns where to look for the key, as Request.Locators does.
	Locators() []keystore.Locator

	// Of returns the one key, of those that were found, that can sign, and its account. It
	// refuses a key that is not at the address. The errors are those of Request.With.
	Of(keys []keystore.Key) (key keystore.Key, account Party, err error)
}
