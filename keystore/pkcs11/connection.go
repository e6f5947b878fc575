//go:build cgo

package pkcs11

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ThalesGroup/crypto11"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// connection is a login to a token. crypto11 opened the module, logged in, holds one session that
// keeps the login alive, and must be closed last. Everything else goes through miekg/pkcs11, which
// shares the login (unless the module separates the two bindings, as p11-kit's do).
type connection struct {
	uri       URI
	crypto    *crypto11.Context
	module    *module
	pin       keystore.Secret
	pinSource string // for errors

	mu    sync.Mutex // held while logging in; guards slot and trust
	slot  uint
	trust pinTrust
}

// credentials is the PIN with its origin and how far it is trusted.
type credentials struct {
	pin    keystore.Secret
	source string // for errors: a path, or "Options.PIN"
	trust  pinTrust
}

// connect opens the module and logs in. It takes ownership of the PIN, even if it returns an
// error. If the context ends first, connect returns its error, and a connection that is
// established afterwards is closed.
func connect(ctx context.Context, uri URI, with credentials) (*connection, error) {
	c := &connection{uri: uri, pin: with.pin, pinSource: with.source, trust: with.trust}
	if ctx.Done() == nil {
		return c.connect(ctx)
	}
	result := make(chan error, 1)
	var decided atomic.Bool // the connection is handed over, or the caller has given up
	go func() {
		_, err := c.connect(ctx)
		if !decided.CompareAndSwap(false, true) && err == nil {
			err = c.close()
		}
		result <- err
	}()
	select {
	case err := <-result:
		if err != nil {
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
	}
	if decided.CompareAndSwap(false, true) {
		return nil, ctx.Err()
	}
	if err := <-result; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *connection) connect(ctx context.Context) (*connection, error) {
	if err := modules.lock(ctx); err != nil {
		c.pin.Destroy()
		return nil, err
	}
	defer modules.unlock()
	if err := c.open(); err != nil {
		c.pin.Destroy()
		return nil, err
	}
	return c, nil
}

// crypto11Sessions is the smallest maximum that crypto11 accepts. It opens one of them, to log
// in; the other is for operations that are not asked of it.
const crypto11Sessions = 2

// open finds the slot before crypto11 opens the module, because crypto11 would try the PIN
// on the first token that has the label.
func (c *connection) open() (err error) {
	if c.module, err = acquireModule(c.uri.ModulePath); err != nil {
		return err
	}
	info, err := c.locate()
	if err == nil {
		err = c.checkLogin(info)
	}
	if err == nil {
		err = c.module.hand(func() error { return c.configure(info.SerialNumber) })
	}
	if err != nil {
		return errors.Join(err, c.release())
	}
	c.trust = max(c.trust, pinWorked)
	return nil
}

// configure opens the module with crypto11 and logs in.
func (c *connection) configure(serial string) error {
	slot := int(c.slot)
	config := &crypto11.Config{Path: c.module.path, SlotNumber: &slot, MaxSessions: crypto11Sessions}
	err := c.pin.Reveal(func(pin []byte) (err error) {
		config.Pin = string(pin)
		err = c.module.countLogin(func() error {
			c.crypto, err = crypto11.Configure(config)
			return err
		})
		config.Pin = "" // crypto11 keeps the configuration
		return err
	})
	switch {
	case isOneOf(err, pinRefused):
		return c.refuse(serial, err)
	case err != nil:
		return explain("logging in", err)
	}
	return nil
}

// close finalizes the module if nothing else uses it. All sessions must be closed.
func (c *connection) close() error {
	_ = modules.lock(context.Background())
	defer modules.unlock()
	c.pin.Destroy()
	return c.release()
}

func (c *connection) release() error {
	if c.crypto == nil {
		return c.module.release(nil)
	}
	return c.module.release(c.crypto.Close)
}

// locate tries several times to find a token, because modules that read their tokens from
// files occasionally miss one that another process is writing.
const (
	locateTries = 3
	locatePause = 20 * time.Millisecond
)

// locate finds the slot of the token that the URI selects.
func (c *connection) locate() (info pkcs11.TokenInfo, err error) {
	for try := 1; ; try++ {
		matching, present, err := c.list()
		switch {
		case err != nil:
			return info, err
		case len(matching) == 1:
			c.slot = matching[0].slot
			return matching[0].info, nil
		case len(matching) > 1:
			return info, fmt.Errorf("pkcs11: several tokens match the URI: select one by its serial: %s", listed(matching))
		case try == locateTries:
			return info, fmt.Errorf("%w: no token matches the URI; present: %s", keystore.ErrUnavailable, listed(present))
		}
		time.Sleep(locatePause)
	}
}

// slotted is a token in its slot.
type slotted struct {
	slot uint
	info pkcs11.TokenInfo
}

// list returns the tokens that match the URI, and all that are present.
func (c *connection) list() (matching, present []slotted, err error) {
	slots, err := c.module.GetSlotList(true)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: listing the slots: %w", keystore.ErrUnavailable, err)
	}
	for _, slot := range slots {
		info, err := c.module.GetTokenInfo(slot)
		if err != nil || info.Label == "" && info.Flags&pkcs11.CKF_TOKEN_INITIALIZED == 0 {
			continue // removed since, or blank
		}
		present = append(present, slotted{slot, info})
		if c.uri.matches(slot, info) {
			matching = append(matching, slotted{slot, info})
		}
	}
	return matching, present, nil
}

func listed(tokens []slotted) string {
	if len(tokens) == 0 {
		return "none: check that the module finds its own configuration (SoftHSM's is the file named by SOFTHSM2_CONF)"
	}
	var names []string
	for _, token := range tokens {
		names = append(names, fmt.Sprintf("%q (serial %q)", token.info.Label, token.info.SerialNumber))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// matches reports whether a token has all the attributes in the URI.
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

// newSession opens a session and logs in if necessary. A token that has moved to another
// slot is located again.
func (c *connection) newSession(flags uint) (pkcs11.SessionHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	flags |= pkcs11.CKF_SERIAL_SESSION
	handle, err := c.module.OpenSession(c.slot, flags)
	if isOneOf(err, slotLost) {
		if _, err = c.locate(); err == nil {
			handle, err = c.module.OpenSession(c.slot, flags)
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
