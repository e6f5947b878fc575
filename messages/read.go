package messages

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// Reader reads payloads.
type Reader struct {
	// Chains are those that the engine signs for.
	Chains []chains.Chain

	// Now returns the time that deadlines are compared with.
	Now func() time.Time
}

// Read reads a payload as a message of the first chain that takes it. The error is a *chains.ParseError.
func (r Reader) Read(payload string, encoding activity.Encoding, hash activity.HashFunction) (chains.Transaction, error) {
	message, err := messageOf(payload, encoding, hash)
	if err == nil {
		err = refuseHash(message)
	}
	if err != nil {
		return nil, err
	}
	message.Now = r.Now()
	var unread error // what a chain says that reads such messages, but not this one
	for _, chain := range r.Chains {
		signer, ok := chain.(chains.MessageSigner)
		if !ok {
			continue
		}
		tx, err := signer.ReadMessage(message)
		switch {
		case err == nil:
			return tx, nil
		case errors.Is(err, chains.ErrUnsupported):
			if _, ok := errors.AsType[*chains.ParseError](err); ok {
				unread = err
			}
		case message.Form == chains.MessageSHA256:
			return nil, fmt.Errorf("%s: %s supports only raw_data of a Tron transaction: %w", name, hash, err)
		default:
			return nil, err
		}
	}
	if unread == nil {
		unread = r.refuseUnread(message)
	}
	return nil, unread
}

// forms are those of payloads with a hash function, of an encoding in which a payload is the bytes
// that are signed or hashed.
var forms = map[activity.HashFunction]chains.MessageForm{
	activity.HashKeccak256: chains.MessageKeccak256, activity.HashNotApplicable: chains.MessageBare,
	activity.HashSHA256: chains.MessageSHA256, activity.HashDoubleSHA256: chains.MessageDoubleSHA256,
	activity.HashNone: 0,
}

// messageOf returns a payload as a message. Its form is 0 if it would be signed as a hash.
func messageOf(payload string, encoding activity.Encoding, hash activity.HashFunction) (message chains.Message, err error) {
	switch {
	case encoding == activity.EncodingEIP712 && hash == activity.HashNone:
		return chains.Message{Form: chains.MessageTypedData, Bytes: []byte(payload)}, nil
	case encoding == activity.EncodingAuthorization && hash == activity.HashNone:
		return chains.Message{Form: chains.MessageAuthorization, Bytes: []byte(payload)}, nil
	case encoding == activity.EncodingEIP712, encoding == activity.EncodingAuthorization:
		return message, refuse("hash function %q: use %s with %s, which the engine hashes itself",
			short(string(hash)), activity.HashNone, encoding)
	case encoding != activity.EncodingHex && encoding != activity.EncodingText:
		return message, refuse("encoding %q: use %s, %s, %s or %s", short(string(encoding)),
			activity.EncodingHex, activity.EncodingText, activity.EncodingEIP712, activity.EncodingAuthorization)
	}
	if message.Bytes, err = decode(payload, encoding); err != nil {
		return message, err
	}
	form, ok := forms[hash]
	if !ok {
		return message, refuse("hash function %q: use %s, %s, %s, %s or %s", short(string(hash)),
			activity.HashKeccak256,
			activity.HashNotApplicable, activity.HashSHA256, activity.HashDoubleSHA256, activity.HashNone)
	}
	message.Form = form
	return message, nil
}

func decode(payload string, encoding activity.Encoding) ([]byte, error) {
	if encoding == activity.EncodingText {
		if payload == "" || !utf8.ValidString(payload) {
			return nil, refuse("empty or not UTF-8")
		}
		return []byte(payload), nil
	}
	raw, err := chains.DecodeHex(payload)
	if err != nil {
		return nil, refuse("%v: %s requires hex", err, activity.EncodingHex)
	}
	return raw, nil
}
