//go:build cgo

package pkcs11

import (
	"errors"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Return values that miekg/pkcs11 has, by what follows from them.
var (
	// The session is gone, and its handle may be another session's by now.
	sessionGone = []pkcs11.Error{pkcs11.CKR_SESSION_HANDLE_INVALID, pkcs11.CKR_SESSION_CLOSED}

	// The session or what lies behind it is broken: a new one may do.
	sessionBroken = []pkcs11.Error{
		pkcs11.CKR_DEVICE_ERROR, pkcs11.CKR_DEVICE_MEMORY, pkcs11.CKR_DEVICE_REMOVED,
		pkcs11.CKR_TOKEN_NOT_PRESENT, pkcs11.CKR_TOKEN_NOT_RECOGNIZED, pkcs11.CKR_SLOT_ID_INVALID,
		pkcs11.CKR_USER_NOT_LOGGED_IN, pkcs11.CKR_OPERATION_ACTIVE, pkcs11.CKR_OPERATION_NOT_INITIALIZED,
		pkcs11.CKR_GENERAL_ERROR, pkcs11.CKR_FUNCTION_FAILED,
	}

	// The object is gone, or has another handle since the login ended.
	handleStale = []pkcs11.Error{pkcs11.CKR_KEY_HANDLE_INVALID, pkcs11.CKR_OBJECT_HANDLE_INVALID}

	// The token is in no slot, or in another one.
	slotLost = []pkcs11.Error{
		pkcs11.CKR_TOKEN_NOT_PRESENT, pkcs11.CKR_TOKEN_NOT_RECOGNIZED,
		pkcs11.CKR_SLOT_ID_INVALID, pkcs11.CKR_DEVICE_REMOVED,
	}

	// The token does not have the curve, or not the operation.
	notSupported = []pkcs11.Error{
		pkcs11.CKR_CURVE_NOT_SUPPORTED, pkcs11.CKR_MECHANISM_INVALID, pkcs11.CKR_DOMAIN_PARAMS_INVALID,
		pkcs11.CKR_KEY_TYPE_INCONSISTENT,
	}

	// Trying the PIN again could lock the token.
	pinRefused = []pkcs11.Error{
		pkcs11.CKR_PIN_INCORRECT, pkcs11.CKR_PIN_INVALID, pkcs11.CKR_PIN_LEN_RANGE,
		pkcs11.CKR_PIN_EXPIRED, pkcs11.CKR_PIN_LOCKED, pkcs11.CKR_USER_PIN_NOT_INITIALIZED,
	}
)

// isOneOf reports whether the module returned one of these.
func isOneOf(err error, values []pkcs11.Error) bool {
	returned, ok := errors.AsType[pkcs11.Error](err)
	return ok && slices.Contains(values, returned)
}

// returned reports whether the module returned this value.
func returned(err error, value uint) bool { return isOneOf(err, []pkcs11.Error{pkcs11.Error(value)}) }

// retryable reports whether the same may succeed in another session, with the
// key looked up anew.
func retryable(err error) bool {
	return isOneOf(err, sessionGone) || isOneOf(err, sessionBroken) || isOneOf(err, handleStale)
}

// explain adds to what the module returned what that means, for those who do
// not know its numbers by heart.
func explain(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrPIN):
		return fmt.Errorf("%w: %w", keystore.ErrUnavailable, err)
	case isOneOf(err, slotLost):
		return fmt.Errorf("%w: %s: the token is not there: %w", keystore.ErrUnavailable, doing, err)
	case returned(err, pkcs11.CKR_SESSION_COUNT):
		return fmt.Errorf("%w: %s: the token has no more sessions: ask for fewer with countersign-sessions: %w", keystore.ErrUnavailable, doing, err)
	case isOneOf(err, notSupported):
		return fmt.Errorf("pkcs11: %s: the token does not support this curve or mechanism: 'pkcs11-tool --module MODULE --list-mechanisms' shows what it can do: %w", doing, err)
	case retryable(err):
		return fmt.Errorf("%w: %s: %w", keystore.ErrUnavailable, doing, err)
	}
	return fmt.Errorf("pkcs11: %s: %w", doing, err)
}
