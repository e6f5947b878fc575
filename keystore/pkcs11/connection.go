//go:build cgo

package pkcs11

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ThalesGroup/crypto11"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// connection is a token that we are logged in to, seen through two bindings of
// the same module: crypto11, which opened it and must close it last, and
// miekg/pkcs11 for what crypto11 cannot do. They share the login and the
// handles of objects; each has sessions of its own.
type connection struct {
	uri    URI
	crypto *crypto11.Context
	module *pkcs11.Ctx
	pin    keystore.Secret

	mu      sync.Mutex // held while logging in, and over what follows
	slot    uint
	refusal error // of the PIN: it is not tried again

	logins atomic.Uint64 // how often we have logged in anew
}

// opening is held by who initialises or finalises a module.
var opening sync.Mutex

// connect opens the module and logs in. The connection owns the PIN from then
// on, also if there is an error.
func connect(uri URI, pin keystore.Secret) (*connection, error) {
	opening.Lock()
	defer opening.Unlock()
	c := &connection{uri: uri, pin: pin}
	if err := c.open(); err != nil {
		pin.Destroy()
		if c.module != nil {
			c.module.Destroy()
		}
		return nil, err
	}
	return c, nil
}

func (c *connection) open() error {
	if _, err := os.Stat(c.uri.ModulePath); err != nil {
		return fmt.Errorf("pkcs11: module-path: %w", err)
	}
	if c.module = pkcs11.New(c.uri.ModulePath); c.module == nil {
		return fmt.Errorf("pkcs11: %s is not a PKCS#11 module that can be loaded", c.uri.ModulePath)
	}
	if err := c.locateFirst(); err != nil {
		return err
	}
	return c.pin.Reveal(func(pin []byte) error { return c.configure(string(pin)) })
}

// locateFirst finds the slot before crypto11 opens the module: crypto11 would
// take the first token that has the label, and try the PIN on it. It must find
// the module not initialised, unless that was itself.
func (c *connection) locateFirst() error {
	err := c.module.Initialize()
	if err != nil && !returned(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		return fmt.Errorf("pkcs11: initialising %s: %w", c.uri.ModulePath, err)
	}
	if err == nil {
		defer func() { _ = c.module.Finalize() }()
	}
	c.slot, err = c.locate()
	return err
}

// configure opens the module by crypto11 and logs in.
func (c *connection) configure(pin string) error {
	slot := int(c.slot)
	config := &crypto11.Config{Path: c.uri.ModulePath, SlotNumber: &slot, Pin: pin, MaxSessions: proofSessions + 1}
	context, err := crypto11.Configure(config)
	config.Pin = "" // crypto11 keeps the configuration
	switch {
	case isOneOf(err, pinRefused):
		return fmt.Errorf("%w: %w", ErrPIN, err)
	case returned(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED):
		return fmt.Errorf("pkcs11: something else in this process uses %s already: %w", c.uri.ModulePath, err)
	case err != nil:
		return explain("logging in", err)
	}
	c.crypto = context
	return nil
}

// close finalises the module, if nobody else uses it. All sessions must be
// closed.
func (c *connection) close() error {
	opening.Lock()
	defer opening.Unlock()
	c.pin.Destroy()
	err := c.crypto.Close()
	c.module.Destroy()
	return err
}

// locate returns the slot of the one token that the URI means.
func (c *connection) locate() (uint, error) {
	slots, err := c.module.GetSlotList(true)
	if err != nil {
		return 0, fmt.Errorf("%w: listing the slots: %w", ErrUnavailable, err)
	}
	var matching, present []string
	var found uint
	for _, slot := range slots {
		info, err := c.module.GetTokenInfo(slot)
		if err != nil || info.Label == "" && info.Flags&pkcs11.CKF_TOKEN_INITIALIZED == 0 {
			continue // taken out since, or blank
		}
		name := fmt.Sprintf("%q (serial %q)", info.Label, info.SerialNumber)
		present = append(present, name)
		if c.uri.matches(slot, info) {
			matching = append(matching, name)
			found = slot
		}
	}
	switch len(matching) {
	case 1:
		return found, nil
	case 0:
		return 0, fmt.Errorf("%w: no token is what the URI says; there are: %s", ErrUnavailable, listed(present))
	}
	return 0, fmt.Errorf("pkcs11: several tokens are what the URI says: name one by its serial: %s", listed(matching))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none: does the module find its own configuration? SoftHSM's is the file that SOFTHSM2_CONF names"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// matches compares a token with all that the URI says of it.
func (u URI) matches(slot uint, info pkcs11.TokenInfo) bool {
	if u.SlotID != nil && *u.SlotID != slot {
		return false
	}
	for _, pair := range [][2]string{
		{u.Token, info.Label}, {u.Serial, info.SerialNumber}, {u.Manufacturer, info.ManufacturerID}, {u.Model, info.Model},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// newSession opens a session that is logged in. If the token has changed its
// slot, or comes back, it is looked for.
func (c *connection) newSession(flags uint) (pkcs11.SessionHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	flags |= pkcs11.CKF_SERIAL_SESSION
	handle, err := c.module.OpenSession(c.slot, flags)
	if isOneOf(err, slotLost) {
		var slot uint
		if slot, err = c.locate(); err == nil {
			c.slot = slot
			handle, err = c.module.OpenSession(slot, flags)
		}
	}
	if err != nil {
		return 0, err
	}
	if err := c.login(handle); err != nil {
		_ = c.module.CloseSession(handle)
		return 0, err
	}
	return handle, nil
}

// login logs the application in, if it is not. A PIN that was refused is not
// tried again. c.mu is held.
func (c *connection) login(handle pkcs11.SessionHandle) error {
	err := c.mustBeLoggedIn(handle)
	if !returned(err, pkcs11.CKR_USER_NOT_LOGGED_IN) {
		return err
	}
	if c.refusal != nil {
		return c.refusal
	}
	err = c.pin.Reveal(func(pin []byte) error { return c.module.Login(handle, pkcs11.CKU_USER, string(pin)) })
	c.logins.Add(1)
	switch {
	case returned(err, pkcs11.CKR_USER_ALREADY_LOGGED_IN):
		return nil
	case isOneOf(err, pinRefused):
		c.refusal = fmt.Errorf("%w: %w", ErrPIN, err)
		return c.refusal
	}
	return err
}

// mustBeLoggedIn returns CKR_USER_NOT_LOGGED_IN if the login has ended. A module
// does not say so when it is asked for objects: it leaves the private ones out.
func (c *connection) mustBeLoggedIn(in pkcs11.SessionHandle) error {
	info, err := c.module.GetSessionInfo(in)
	if err == nil && info.State != pkcs11.CKS_RO_USER_FUNCTIONS && info.State != pkcs11.CKS_RW_USER_FUNCTIONS {
		err = pkcs11.Error(pkcs11.CKR_USER_NOT_LOGGED_IN)
	}
	return err
}
