package chains

import (
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// Message is what a request asks a signature for if it is not a transaction.
type Message struct {
	Form  MessageForm
	Bytes []byte    // must not be changed
	Now   time.Time // what deadlines are compared with
}

// MessageForm is how a message is written, and what is signed of it.
type MessageForm uint8

// The forms of messages.
const (
	MessageTypedData     MessageForm = iota + 1 // JSON of typed data (EIP-712)
	MessageAuthorization                        // JSON of an authorization (EIP-7702)
	MessageKeccak256                            // bytes whose Keccak-256 is signed
	MessageSHA256                               // bytes whose SHA-256 is signed
	MessageDoubleSHA256                         // bytes whose SHA-256 is hashed with SHA-256 and signed
	MessageBare                                 // bytes that are signed without hashing
)

// MessageSigner is implemented by chains whose keys sign messages besides transactions.
type MessageSigner interface {
	Chain

	// ReadMessage reads a message as strictly as Parse does a transaction. Signing it returns the
	// signature alone: r ‖ s ‖ recovery id (0 or 1), or the 64 bytes of Ed25519. The error is a
	// *ParseError, or [ErrUnsupported] alone. It is ErrUnsupported if the message is not one of
	// this chain, and may be one of another.
	ReadMessage(message Message) (Transaction, error)

	// MessageKey reads signWith for a message: an address in one of the chain's forms or a
	// key's id, and verifies the checksum of an address. The error is a *SignerError.
	MessageKey(signWith string) (MessageKey, error)

	// MessageHazardNames returns the hazards of messages, of which some can be among HazardNames.
	MessageHazardNames() []string
}

// MessageKey is the key that is to sign a message.
type MessageKey interface {
	// Locators returns where to look for the key, as Request.Locators does.
	Locators() []keystore.Locator

	// Of returns the one key, of those that were found, that can sign, and its account. It
	// refuses a key that is not at the address. The errors are those of Request.With.
	Of(keys []keystore.Key) (key keystore.Key, account Party, err error)
}
