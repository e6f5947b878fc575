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
	"sync/atomic"
	"unsafe"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// module is an open PKCS#11 module. A process opens each module once, however many Stores
// and ProofSigners use it and by whatever paths. The first of them initializes it and the
// last one finalizes it: some modules answer CKR_OK to a second C_Initialize, and the
// matching C_Finalize would take the module away from all the others.
type module struct {
	*pkcs11.Ctx
	path string      // as passed to crypto11
	info os.FileInfo // of the file, which may have other paths
	used int         // number of connections

	// separate: the module treats the bindings crypto11 and miekg/pkcs11 as two
	// applications, and each has to initialize it. p11-kit's modules do so.
	separate bool

	loggingIn sync.Mutex    // held during a login, which is one for all connections to a token
	logins    atomic.Uint64 // number of logins

	mu sync.Mutex
	// refused lists the PINs that tokens have refused. They are never tried again, neither
	// by another Store nor after reconnecting.
	refused []refusal
}

type refusal struct {
	serial string
	pin    keystore.Secret
	err    error
}

// contextMutex is a mutex that callers with a context can give up waiting for, because its holder may
// hang in the module.
type contextMutex chan struct{}

func newContextMutex() contextMutex { return make(contextMutex, 1) }

func (m contextMutex) lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m contextMutex) unlock() { <-m }

// modules lists the open modules. The mutex is held while opening or closing one.
var modules = struct {
	contextMutex
	open []*module
}{contextMutex: newContextMutex()}

// acquireModule returns the module at a path, after loading and initializing it if it is not
// open yet. The caller holds the mutex of modules.
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

// hand passes the module to crypto11, which initializes every module that it opens and
// refuses one that is initialized already. configure opens it with crypto11.
func (m *module) hand(configure func() error) error {
	if m.used > 1 {
		return configure() // crypto11 has it
	}
	if err := m.Finalize(); err != nil {
		return fmt.Errorf("pkcs11: finalizing %s: %w", m.path, err)
	}
	if err := configure(); err != nil {
		_ = m.Initialize() // restores the state that release expects
		return err
	}
	err := m.Initialize()
	if returned(err, pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		return nil
	}
	m.separate = err == nil
	return err
}

// countLogin logs in, while no search may be said to have found nothing.
func (m *module) countLogin(login func() error) error {
	m.loggingIn.Lock()
	defer m.loggingIn.Unlock()
	defer m.logins.Add(1)
	return login()
}

// release gives up one use of a module, and finalizes and unloads it after the last one.
// closeCrypto closes the user's crypto11 context, if it has one. The caller holds the mutex of
// modules.
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

// loadError returns the system's reason for not loading a library.
func loadError(path string) string {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if why := C.why_not(name); why != nil {
		return C.GoString(why)
	}
	return "it has no C_GetFunctionList"
}
