//go:build cgo

package pkcs11

import (
	"fmt"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// Tokens lock themselves after a few wrong PINs, most of them permanently or until a
// security officer resets the PIN. So a PIN is tried once, and not at all if the token
// reports that the last one was wrong: a supervisor that restarts the program would
// otherwise use up one try at each start.

// pinTrust is the confidence that a PIN is right.
type pinTrust int

const (
	pinUnknown pinTrust = iota // never tried: not tried at CKF_USER_PIN_COUNT_LOW or above
	pinWorked                  // has logged in before: not tried at CKF_USER_PIN_FINAL_TRY or above
	pinForced                  // URI.RetryPIN: not tried at CKF_USER_PIN_LOCKED
)

// retryCure ends the error for a PIN that is not tried.
const retryCure = ": correct the PIN, then log in once with countersign-retry-pin=yes in the URI"

// refuseByFlags returns an error if the token's flags make trying the PIN too risky.
func (t pinTrust) refuseByFlags(flags uint) error {
	for _, risk := range []struct {
		flag  uint
		trust pinTrust // minimum that allows a try
		why   string
	}{
		{pkcs11.CKF_USER_PIN_LOCKED, pinForced + 1, "its PIN is locked (CKF_USER_PIN_LOCKED): its security officer can set a new one"},
		{pkcs11.CKF_USER_PIN_FINAL_TRY, pinForced, "one more wrong PIN locks it (CKF_USER_PIN_FINAL_TRY)" + retryCure},
		{pkcs11.CKF_USER_PIN_COUNT_LOW, pinWorked, "a wrong PIN was entered since the last login (CKF_USER_PIN_COUNT_LOW)" + retryCure},
	} {
		if flags&risk.flag != 0 && t < risk.trust {
			return fmt.Errorf("%w: not tried, because the token reports that %s", ErrPIN, risk.why)
		}
	}
	return nil
}

// checkLogin returns an error if the token has refused the PIN before, or if its flags make
// trying the PIN too risky.
func (c *connection) checkLogin(info pkcs11.TokenInfo) error {
	c.module.mu.Lock()
	defer c.module.mu.Unlock()
	for _, r := range c.module.refused {
		if r.serial == info.SerialNumber && r.pin.Equal(c.pin) {
			return r.err
		}
	}
	return c.trust.refuseByFlags(info.Flags)
}

// refuse records that the token has refused the PIN, and returns the error for it.
func (c *connection) refuse(serial string, cause error) error {
	err := fmt.Errorf("%w: %w (the PIN is from %s; it has used up one of the token's tries)", ErrPIN, cause, c.pinSource)
	c.module.mu.Lock()
	defer c.module.mu.Unlock()
	_ = c.pin.Reveal(func(pin []byte) error {
		c.module.refused = append(c.module.refused, refusal{serial, keystore.NewSecret(pin), err})
		return nil
	})
	return err
}

// login logs the application in unless it is logged in. The caller holds c.mu.
func (c *connection) login(handle pkcs11.SessionHandle) error {
	err := c.mustBeLoggedIn(handle)
	if !returned(err, pkcs11.CKR_USER_NOT_LOGGED_IN) {
		return err
	}
	info, err := c.module.GetTokenInfo(c.slot)
	if err != nil {
		return err
	}
	if err := c.checkLogin(info); err != nil {
		return err
	}
	err = c.module.countLogin(func() error {
		return c.pin.Reveal(func(pin []byte) error { return c.module.Login(handle, pkcs11.CKU_USER, string(pin)) })
	})
	switch {
	case err == nil, returned(err, pkcs11.CKR_USER_ALREADY_LOGGED_IN):
		c.trust = max(c.trust, pinWorked)
		return nil
	case isOneOf(err, pinRefused):
		return c.refuse(info.SerialNumber, err)
	}
	return err
}

// present returns an error if the token is absent or the login has ended.
func (c *connection) present(in pkcs11.SessionHandle) error {
	c.mu.Lock()
	slot := c.slot
	c.mu.Unlock()
	if _, err := c.module.GetTokenInfo(slot); err != nil {
		return err
	}
	return c.mustBeLoggedIn(in)
}

// presentSince is present, and also returns an error if there was a login since logins was
// c.module.logins: what was not found since may have been hidden.
func (c *connection) presentSince(logins uint64, in pkcs11.SessionHandle) error {
	if err := c.present(in); err != nil {
		return err
	}
	c.module.loggingIn.Lock()
	defer c.module.loggingIn.Unlock()
	if c.module.logins.Load() != logins {
		return pkcs11.Error(pkcs11.CKR_USER_NOT_LOGGED_IN)
	}
	return c.mustBeLoggedIn(in)
}

// mustBeLoggedIn returns CKR_USER_NOT_LOGGED_IN if the login has ended. A search for objects
// would not report that: it leaves the private ones out.
func (c *connection) mustBeLoggedIn(in pkcs11.SessionHandle) error {
	info, err := c.module.GetSessionInfo(in)
	if err == nil && info.State != pkcs11.CKS_RO_USER_FUNCTIONS && info.State != pkcs11.CKS_RW_USER_FUNCTIONS {
		err = pkcs11.Error(pkcs11.CKR_USER_NOT_LOGGED_IN)
	}
	return err
}
