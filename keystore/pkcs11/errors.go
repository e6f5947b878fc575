//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// errNoCgo is nil: this program can load a module.
var errNoCgo error

// Return values of PKCS#11 by their meaning.
var (
	// The session is gone, and its handle may belong to another session now.
	sessionGone = []pkcs11.Error{pkcs11.CKR_SESSION_HANDLE_INVALID, pkcs11.CKR_SESSION_CLOSED}

	// The session, the login or the device is broken: a new session may work.
	sessionBroken = []pkcs11.Error{
		pkcs11.CKR_DEVICE_ERROR, pkcs11.CKR_DEVICE_MEMORY, pkcs11.CKR_DEVICE_REMOVED,
		pkcs11.CKR_TOKEN_NOT_PRESENT, pkcs11.CKR_TOKEN_NOT_RECOGNIZED, pkcs11.CKR_SLOT_ID_INVALID,
		pkcs11.CKR_USER_NOT_LOGGED_IN, pkcs11.CKR_OPERATION_ACTIVE, pkcs11.CKR_OPERATION_NOT_INITIALIZED,
		pkcs11.CKR_GENERAL_ERROR, pkcs11.CKR_FUNCTION_FAILED,
	}

	// The object is gone, or has a new handle after another login.
	handleStale = []pkcs11.Error{pkcs11.CKR_KEY_HANDLE_INVALID, pkcs11.CKR_OBJECT_HANDLE_INVALID}

	// The token is in no slot, or in another one.
	slotLost = []pkcs11.Error{
		pkcs11.CKR_TOKEN_NOT_PRESENT, pkcs11.CKR_TOKEN_NOT_RECOGNIZED,
		pkcs11.CKR_SLOT_ID_INVALID, pkcs11.CKR_DEVICE_REMOVED,
	}

	// The token does not support the curve or the operation.
	notSupported = []pkcs11.Error{
		pkcs11.CKR_CURVE_NOT_SUPPORTED, pkcs11.CKR_MECHANISM_INVALID, pkcs11.CKR_DOMAIN_PARAMS_INVALID,
		pkcs11.CKR_KEY_TYPE_INCONSISTENT,
	}

	// The user that is logged in may not use the key.
	notPermitted = []pkcs11.Error{
		pkcs11.CKR_KEY_FUNCTION_NOT_PERMITTED, pkcs11.CKR_USER_TYPE_INVALID, ckrActionProhibited,
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

// retryable reports whether the operation may succeed in another session, with the key
// looked up again.
func retryable(err error) bool {
	return isOneOf(err, sessionGone) || isOneOf(err, sessionBroken) || isOneOf(err, handleStale)
}

// isFinal reports whether callers test for the error with errors.Is and need no explanation.
func isFinal(err error) bool {
	return errors.Is(err, keystore.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// explain adds the operation, the meaning and the cure to an error of the module. It returns
// nil and final errors unchanged.
func explain(operation string, err error) error {
	switch {
	case err == nil, isFinal(err):
		return err
	case errors.Is(err, ErrPIN):
		return fmt.Errorf("%w: %w", keystore.ErrDenied, err)
	case isOneOf(err, notPermitted):
		return fmt.Errorf("%w: %s: the token does not permit it: %w", keystore.ErrDenied, operation, err)
	case isOneOf(err, slotLost):
		return fmt.Errorf("%w: %s: the token is not present: %w", keystore.ErrUnavailable, operation, err)
	case returned(err, pkcs11.CKR_SESSION_COUNT):
		return &keystore.ThrottledError{Err: fmt.Errorf("%s: the token has no more sessions: use fewer with "+
			"countersign-sessions: %w", operation, err)}
	case isOneOf(err, notSupported):
		return fmt.Errorf("pkcs11: %s: the token does not support this curve or mechanism: 'pkcs11-tool --module "+
			"MODULE --list-mechanisms' lists what it supports: %w", operation, err)
	case retryable(err):
		return fmt.Errorf("%w: %s: %w", keystore.ErrUnavailable, operation, err)
	}
	return fmt.Errorf("pkcs11: %s: %w", operation, err)
}
