//go:build cgo

package pkcs11

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static const char *why_not(const char *path) {
	void *module = dlopen(path, RTLD_LAZY);
	if (module == NULL)
		return dlerror();
	dlclose(module);
	return NULL;
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"unsafe"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// module is a PKCS#11 module that this process has open: once, however many
// Stores and ProofSigners use it and whatever they call its path. It is
// initialized by the first of them and finalized by the last, never in between:
// some modules answer CKR_OK to a second C_Initialize, and the C_Finalize that
// belongs to it would take the module away from all the others.
type module struct {
	*pkcs11.Ctx
	path string      // under which crypto11 knows it
	info os.FileInfo // of the file, which may have other paths
	used int         // connections

	// separate: the bindings of crypto11 and miekg/pkcs11 are two applications to
	// the module, and each is initialized by itself. p11-kit's modules are so.
	separate bool

	mu sync.Mutex
	// refused are PINs that a token has refused. None is tried again: not by another
	// Store, and not after reconnecting.
	refused []refusal
}

type refusal struct {
	serial string
	pin    keystore.Secret
	err    error
}

// modules are those that are open. The channel has room for one goroutine, which
// opens or closes one and may hang in it.
var modules = struct {
	turn chan struct{}
	open []*module
}{turn: make(chan struct{}, 1)}

// lockModules waits for the turn to open or close a module.
func lockModules(ctx context.Context) error {
	select {
	case modules.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func unlockModules() { <-modules.turn }

// acquireModule returns the module at a path, which is loaded and initialized if it
// is not open yet. lockModules is held.
func acquireModule(path string) (*module, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("pkcs11: module-path: %w", err)
	}
	for _, m := range modules.open {
		if os.SameFile(m.info, info) {
			m.used++
			return m, nil
		}
	}
	m := &module{Ctx: pkcs11.New(path), path: path, info: info, used: 1}
	if m.Ctx == nil {
		return nil, fmt.Errorf("pkcs11: %s is not a PKCS#11 module that can be loaded: %s", path, loadError(path))
	}
	switch err := m.Initialize(); {
	case returned(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED):
		m.Destroy()
		return nil, fmt.Errorf("pkcs11: something else in this process uses %s already: %w", path, err)
	case err != nil:
		m.Destroy()
		return nil, fmt.Errorf("pkcs11: initializing %s: %w", path, err)
	}
	modules.open = append(modules.open, m)
	return m, nil
}

// hand passes the module on to crypto11, which initializes what it opens and does
// not take a module that is initialized already. configure opens it by crypto11.
func (m *module) hand(configure func() error) error {
	if m.used > 1 {
		return configure() // crypto11 has it
	}
	if err := m.Finalize(); err != nil {
		return fmt.Errorf("pkcs11: finalizing %s: %w", m.path, err)
	}
	if err := configure(); err != nil {
		_ = m.Initialize() // so that release finds it as it was
		return err
	}
	err := m.Initialize()
	if returned(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		return nil
	}
	m.separate = err == nil
	return err
}

// release gives a module back, and finalizes and unloads it after the last user.
// closeCrypto closes that user's context of crypto11, if it has one. lockModules is
// held.
func (m *module) release(closeCrypto func() error) (err error) {
	m.used--
	if m.used == 0 && (m.separate || closeCrypto == nil) {
		_ = m.Finalize()
	}
	if closeCrypto != nil {
		err = closeCrypto()
	}
	if m.used > 0 {
		return err
	}
	modules.open = slices.DeleteFunc(modules.open, func(open *module) bool { return open == m })
	m.Destroy()
	for _, r := range m.refused {
		r.pin.Destroy()
	}
	return err
}

// refusal returns the error of the time when a token refused this PIN, nil if it
// never did.
func (m *module) refusal(serial string, pin keystore.Secret) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.refused {
		if r.serial == serial && r.pin.Equal(pin) {
			return r.err
		}
	}
	return nil
}

// refuse remembers that a token has refused a PIN.
func (m *module) refuse(serial string, pin keystore.Secret, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = pin.Reveal(func(bytes []byte) error {
		m.refused = append(m.refused, refusal{serial, keystore.NewSecret(bytes), err})
		return nil
	})
}

// loadError returns why the system does not load a library.
func loadError(path string) string {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if why := C.why_not(name); why != nil {
		return C.GoString(why)
	}
	return "it has no C_GetFunctionList"
}
