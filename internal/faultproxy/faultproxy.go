// Package faultproxy is a PKCS#11 module for tests: it forwards to a real one,
// SoftHSM as a rule, and fails on demand. It is a small C library, which Build
// compiles with gcc.
package faultproxy

import (
	_ "embed"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/testenv"
)

//go:embed proxy.c
var source []byte

// The table that is shared with proxy.c.
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

// Function is a function of PKCS#11 whose calls are counted. C_Sign does not
// count where it is asked for a length only, C_GetAttributeValue does.
type Function int

// The functions, without C_.
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

// What can happen instead of a failure. The call goes on after it.
const (
	EndLogin   = 0xfa000001 + iota // the login ends, for all sessions
	BeginLogin                     // another process logs in, with the PIN that was right before
	Hold                           // the call waits for Release
)

// Proxy is a module that was built.
type Proxy struct {
	// Module is its path.
	Module string

	control *[words]uint32
}

// Build builds a module in front of the one at a path.
func Build(t testing.TB, target string) *Proxy {
	t.Helper()
	folder := t.TempDir()
	module := filepath.Join(folder, "faultproxy.so")
	write(t, filepath.Join(folder, "proxy.c"), source)
	write(t, module+".target", []byte(target+"\n"))
	write(t, module+".control", make([]byte, words*binary.Size(uint32(0))))
	command := exec.CommandContext(t.Context(), testenv.Tool(t, "gcc"), "-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unknown-pragmas",
		"-shared", "-fPIC", "-I", headers(t), "-o", module, filepath.Join(folder, "proxy.c"), "-ldl", "-lpthread")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return &Proxy{Module: module, control: mapControl(t, module+".control")}
}

// headers returns the folder with the PKCS#11 headers that miekg/pkcs11 has.
func headers(t testing.TB) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/miekg/pkcs11")
	command.Dir = testenv.Root()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list -m github.com/miekg/pkcs11: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

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
	// It stays mapped: an operation that hangs may end after the test.
	return (*[words]uint32)(unsafe.Pointer(unsafe.SliceData(mapped)))
}

func (p *Proxy) set(fault int, value uint32) { atomic.StoreUint32(&p.control[fault], value) }
func (p *Proxy) get(counter int) int         { return int(atomic.LoadUint32(&p.control[counter])) }

// FlipBit flips a bit of each signature from now on; -1 flips none.
func (p *Proxy) FlipBit(bit int) { p.set(flip, uint32(bit+1)) }

// Delay makes each signature take longer.
func (p *Proxy) Delay(by time.Duration) { p.set(delay, uint32(by.Microseconds())) }

// KillSessions closes all sessions, and ends the login, before each of the next
// signatures begins.
func (p *Proxy) KillSessions(times int) { p.set(kill, uint32(times)) }

// LogOut ends the login before each of the next signatures begins.
func (p *Proxy) LogOut(times int) { p.set(logout, uint32(times)) }

// Remove takes the token out, Insert puts it in again. Its sessions are gone.
func (p *Proxy) Remove() { p.set(gone, 1) }

// Insert puts the token back.
func (p *Proxy) Insert() { p.set(gone, 0) }

// MoveTo lets the first token pass for one in another slot; 0 is its own.
func (p *Proxy) MoveTo(number int) { p.set(slot, uint32(number)) }

// Break lets the next signatures fail with CKR_DEVICE_ERROR after they have
// begun, which leaves an operation open in the session.
func (p *Proxy) Break(times int) { p.set(broken, uint32(times)) }

// CapSessions refuses more sessions than that at once; 0 refuses none.
func (p *Proxy) CapSessions(most int) { p.set(sessionCap, uint32(most)) }

// Hang lets signatures wait until it is called with false.
func (p *Proxy) Hang(yes bool) {
	if yes {
		p.set(hang, 1)
	} else {
		p.set(hang, 0)
	}
}

// RefusePIN lets the next logins fail with CKR_PIN_INCORRECT.
func (p *Proxy) RefusePIN(times int) { p.set(badPIN, uint32(times)) }

// Flood lets searches find objects that are not there.
func (p *Proxy) Flood(objects int) { p.set(flood, uint32(objects)) }

// Forgive answers CKR_OK to a second C_Initialize, as NetHSM's module does.
func (p *Proxy) Forgive() { p.set(forgive, 1) }

// CutID keeps that many bytes of CKA_ID when an object is made; 0 keeps all.
func (p *Proxy) CutID(bytes int) { p.set(cutID, uint32(bytes)) }

// LimitID refuses to make an object with a longer CKA_ID; 0 refuses none.
func (p *Proxy) LimitID(bytes int) { p.set(longestID, uint32(bytes)) }

// CutLabel keeps that many bytes of CKA_LABEL when an object is made; 0 keeps all.
func (p *Proxy) CutLabel(bytes int) { p.set(cutLabel, uint32(bytes)) }

// AddFlags adds flags of CK_TOKEN_INFO to those that the token has.
func (p *Proxy) AddFlags(some uint) { p.set(flags, uint32(some)) }

// Fail lets calls of a function return an error without asking the real module,
// or has one of the events happen before them. The calls are numbered from 0,
// which is the next one, to 30; without numbers it is all of them, until Release.
func (p *Proxy) Fail(function Function, with uint, numbers ...int) {
	var which uint32
	for _, number := range numbers {
		which |= 1 << number
	}
	if len(numbers) == 0 {
		which = ^which
	}
	p.Release(function)
	p.set(calls+3*int(function)+1, uint32(with))
	p.set(calls+3*int(function), which)
}

// Release takes Fail back, and lets those go on who wait.
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

// Calls returns how often a function was called.
func (p *Proxy) Calls(function Function) int { return p.get(calls + 3*int(function) + 2) }

// Open returns how many sessions are open.
func (p *Proxy) Open() int { return p.get(opened) }

// Shared returns how often a session was used by two threads at once.
func (p *Proxy) Shared() int { return p.get(shared) }

// Logins returns how often a PIN was tried.
func (p *Proxy) Logins() int { return p.get(logins) }

// Signed returns how many signatures were made.
func (p *Proxy) Signed() int { return p.get(signed) }

// Signing returns how many signatures are being made.
func (p *Proxy) Signing() int { return p.get(signing) }
