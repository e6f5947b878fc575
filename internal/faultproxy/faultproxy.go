//go:build unix

// Package faultproxy is a PKCS#11 module for tests. It forwards to a real module, usually SoftHSM,
// and fails on demand. It is a small C library, which Build compiles with gcc.
package faultproxy

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/testenv"
)

//go:embed proxy.c
var source []byte

// Indexes of the words that are shared with proxy.c.
const (
	flip = iota
	delay
	kill
	logout
	gone
	broken
	sessionCap
	hang
	badPIN
	slot
	flood
	forgive
	cutID
	flags
	longestID
	cutLabel

	opened  = 16
	shared  = 17
	logins  = 18
	signed  = 19
	signing = 20
	calls   = 32

	words = 128
)

// Function is a PKCS#11 function whose calls are counted. Calls that only ask for a length are
// counted for C_GetAttributeValue, but not for C_Sign.
type Function int

// The functions, without the prefix C_.
const (
	Initialize Function = iota
	GetSlotList
	OpenSession
	Login
	GetSessionInfo
	FindObjectsInit
	FindObjects
	FindObjectsFinal
	GetAttributeValue
	SignInit
	Sign
	CreateObject
	GenerateKeyPair
	DestroyObject

	functions = iota
)

// Events for Fail that happen before a call instead of making it fail.
const (
	EndLogin   = 0xfa000001 + iota // the login ends, for all sessions
	BeginLogin                     // another process logs in, with the last correct PIN
	Hold                           // the call waits for Release
)

// Proxy is a compiled module.
type Proxy struct {
	// Module is the path of the module.
	Module string

	control *[words]uint32
}

// Build returns a module that forwards to the one at a path. It is compiled once for all tests of a
// package: it reads the path, and the faults, from files beside itself.
func Build(t testing.TB, target string) *Proxy {
	t.Helper()
	testenv.Tool(t, "gcc")
	compiled, err := compile()
	testenv.Must(t, err)
	module := filepath.Join(t.TempDir(), "faultproxy.so")
	testenv.Write(t, module, compiled)
	testenv.Write(t, module+".target", []byte(target+"\n"))
	testenv.Write(t, module+".control", make([]byte, words*binary.Size(uint32(0))))
	return &Proxy{Module: module, control: mapControl(t, module+".control")}
}

// compile needs miekg/pkcs11's copy of the PKCS#11 headers.
var compile = sync.OnceValues(func() ([]byte, error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/miekg/pkcs11")
	list.Dir = testenv.Root()
	headers, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m github.com/miekg/pkcs11: %w", err)
	}
	folder, err := os.MkdirTemp("", "faultproxy")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	module := filepath.Join(folder, "faultproxy.so")
	gcc := exec.Command("gcc", "-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas",
		"-shared", "-fPIC", "-I", strings.TrimSpace(string(headers)), "-o", module, "-xc", "-", "-ldl", "-lpthread")
	gcc.Stdin = bytes.NewReader(source)
	if out, err := gcc.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return os.ReadFile(module)
})

func mapControl(t testing.TB, path string) *[words]uint32 {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mapped, err := unix.Mmap(int(file.Fd()), 0, words*binary.Size(uint32(0)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	// The mapping is never removed: a hanging operation may end after the test.
	return (*[words]uint32)(unsafe.Pointer(unsafe.SliceData(mapped)))
}

func (p *Proxy) set(fault int, value uint32) { atomic.StoreUint32(&p.control[fault], value) }
func (p *Proxy) get(counter int) int         { return int(atomic.LoadUint32(&p.control[counter])) }

// FlipBit flips a bit of every later signature; -1 flips none.
func (p *Proxy) FlipBit(bit int) { p.set(flip, uint32(bit+1)) }

// Delay delays every later signature.
func (p *Proxy) Delay(by time.Duration) { p.set(delay, uint32(by.Microseconds())) }

// KillSessions closes all sessions and ends the login before each of the next signatures.
func (p *Proxy) KillSessions(times int) { p.set(kill, uint32(times)) }

// LogOut ends the login before each of the next signatures.
func (p *Proxy) LogOut(times int) { p.set(logout, uint32(times)) }

// Remove removes the token, which closes its sessions.
func (p *Proxy) Remove() { p.set(gone, 1) }

// Insert reinserts the token.
func (p *Proxy) Insert() { p.set(gone, 0) }

// MoveTo makes the first token appear in another slot; 0 means its own.
func (p *Proxy) MoveTo(number int) { p.set(slot, uint32(number)) }

// Break makes the next signatures fail with CKR_DEVICE_ERROR after they have begun, which leaves an
// operation open in the session.
func (p *Proxy) Break(times int) { p.set(broken, uint32(times)) }

// CapSessions limits the number of open sessions; 0 removes the limit.
func (p *Proxy) CapSessions(most int) { p.set(sessionCap, uint32(most)) }

// Hang makes signatures wait until it is called with false.
func (p *Proxy) Hang(on bool) {
	if on {
		p.set(hang, 1)
	} else {
		p.set(hang, 0)
	}
}

// RefusePIN makes the next logins fail with CKR_PIN_INCORRECT.
func (p *Proxy) RefusePIN(times int) { p.set(badPIN, uint32(times)) }

// Flood makes searches find a number of objects that do not exist.
func (p *Proxy) Flood(objects int) { p.set(flood, uint32(objects)) }

// Forgive answers CKR_OK to a second C_Initialize, like NetHSM's module.
func (p *Proxy) Forgive() { p.set(forgive, 1) }

// CutID truncates the CKA_ID of new objects to a number of bytes; 0 does not truncate.
func (p *Proxy) CutID(bytes int) { p.set(cutID, uint32(bytes)) }

// LimitID refuses new objects with a longer CKA_ID; 0 refuses none.
func (p *Proxy) LimitID(bytes int) { p.set(longestID, uint32(bytes)) }

// CutLabel truncates the CKA_LABEL of new objects to a number of bytes; 0 does not truncate.
func (p *Proxy) CutLabel(bytes int) { p.set(cutLabel, uint32(bytes)) }

// AddFlags adds flags to the token's CK_TOKEN_INFO.
func (p *Proxy) AddFlags(added uint) { p.set(flags, uint32(added)) }

// Fail makes calls of a function return an error without calling the real module, or makes one of
// the events happen before them. numbers selects the calls, from 0, the next one, to 30. Without
// numbers, all calls are affected until Release.
func (p *Proxy) Fail(function Function, with uint, numbers ...int) {
	var selected uint32
	for _, number := range numbers {
		selected |= 1 << number
	}
	if len(numbers) == 0 {
		selected = ^selected
	}
	p.Release(function)
	p.set(calls+3*int(function)+1, uint32(with))
	p.set(calls+3*int(function), selected)
}

// Release undoes Fail, and continues the calls that wait.
func (p *Proxy) Release(function Function) {
	p.set(calls+3*int(function), 0)
	p.set(calls+3*int(function)+1, 0)
}

// ReleaseAll is Release for every function.
func (p *Proxy) ReleaseAll() {
	for function := range Function(functions) {
		p.Release(function)
	}
}

// Calls returns the number of calls of a function.
func (p *Proxy) Calls(function Function) int { return p.get(calls + 3*int(function) + 2) }

// Open returns the number of open sessions.
func (p *Proxy) Open() int { return p.get(opened) }

// Shared returns how many times a session was used by two threads at once.
func (p *Proxy) Shared() int { return p.get(shared) }

// Logins returns how many times a PIN was tried.
func (p *Proxy) Logins() int { return p.get(logins) }

// Signed returns the number of signatures made.
func (p *Proxy) Signed() int { return p.get(signed) }

// Signing returns the number of signatures in progress.
func (p *Proxy) Signing() int { return p.get(signing) }
