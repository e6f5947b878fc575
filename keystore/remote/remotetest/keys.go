// Package remotetest tests a remote.Service against a simulated service. The simulation speaks the
// vendor's protocol; its keys, signatures and faults are those of Keys. Run runs the contract of
// keystores, every fault, the transactions of all chains, and what else a service has to stand.
package remotetest

import (
	"crypto/ecdsa"
	stdlib "crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	decred "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Keys are the keys of a simulated service, in software.
type Keys struct {
	mu      sync.Mutex
	keys    map[string]*softKey
	fault   keystoretest.Fault
	healthy chan struct{} // closed when Slow ends
	delay   time.Duration
	signed  int
}

type softKey struct {
	scheme remote.Scheme
	secret []byte
	proof  *ecdsa.PrivateKey
}

// NewKeys returns the keys of a service that has none.
func NewKeys() *Keys { return &Keys{keys: map[string]*softKey{}, healthy: make(chan struct{})} }

// Generate creates a key, or replaces the one with this name.
func (k *Keys) Generate(name string, scheme remote.Scheme) {
	secret := make([]byte, keystore.SecretSize)
	_, _ = rand.Read(secret)
	secret[0] &= 0x7f // below the order of secp256k1
	k.Import(name, scheme, secret)
}

// Import is Generate with a given secret, which is ignored for P-256.
func (k *Keys) Import(name string, scheme remote.Scheme, secret []byte) {
	made := &softKey{scheme: scheme, secret: secret}
	if scheme == remote.P256 {
		made.proof, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[name] = made
}

// Delete deletes a key.
func (k *Keys) Delete(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, name)
}

// SetFault makes the service misbehave from now on, and ends calls that Slow had wait.
func (k *Keys) SetFault(fault keystoretest.Fault) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fault = fault
	close(k.healthy)
	k.healthy = make(chan struct{})
}

// Fault returns the present fault, and a channel that is closed when it changes. A simulated
// service answers the faults that are not of signatures itself; for Slow it waits for the channel.
func (k *Keys) Fault() (keystoretest.Fault, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fault, k.healthy
}

// SetDelay makes each signature take time.
func (k *Keys) SetDelay(delay time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.delay = delay
}

// Signed returns how many signatures were made.
func (k *Keys) Signed() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signed
}

// Scheme returns the scheme of a key, if there is one.
func (k *Keys) Scheme(name string) (scheme remote.Scheme, ok bool) {
	if key := k.key(name); key != nil {
		return key.scheme, true
	}
	return "", false
}

func (k *Keys) key(name string) *softKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name]
}

// Public returns the public key of a key that exists, as package remote has it.
func (k *Keys) Public(name string) remote.Public {
	public, err := remote.ParsePoint(k.key(name).scheme, k.Point(name))
	if err != nil {
		panic(err)
	}
	return public
}

// Point returns the public key of a key that exists: an uncompressed point, or the 32 bytes of
// Ed25519.
func (k *Keys) Point(name string) []byte {
	key := k.key(name)
	switch key.scheme {
	case remote.Ed25519:
		return stdlib.NewKeyFromSeed(key.secret).Public().(stdlib.PublicKey)
	case remote.Secp256k1:
		return secp256k1.PrivKeyFromBytes(key.secret).PubKey().SerializeUncompressed()
	}
	point, err := key.proof.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return point
}

// SPKI returns the public key of a key that exists as a SubjectPublicKeyInfo in DER.
func (k *Keys) SPKI(name string) []byte {
	key := k.key(name)
	algorithm := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 2, 1}}
	switch key.scheme {
	case remote.P256:
		der, err := x509.MarshalPKIXPublicKey(&key.proof.PublicKey)
		if err != nil {
			panic(err)
		}
		return der
	case remote.Ed25519:
		algorithm = pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 3, 101, 112}}
	default:
		algorithm.Parameters.FullBytes = []byte{0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a} // secp256k1
	}
	point := k.Point(name)
	der, err := asn1.Marshal(struct {
		Algorithm pkix.AlgorithmIdentifier
		PublicKey asn1.BitString
	}{algorithm, asn1.BitString{Bytes: point, BitLength: 8 * len(point)}})
	if err != nil {
		panic(err)
	}
	return der
}

// Form is the form in which a service returns ECDSA signatures.
type Form bool

// The forms.
const (
	DER    Form = true
	Halves Form = false // r ‖ s, 64 bytes
)

// Sign returns what the service answers for a digest or a message, after its delay, with the
// present fault if that is one of signatures. On secp256k1, s is in either half.
func (k *Keys) Sign(name string, message []byte, form Form) ([]byte, error) {
	k.mu.Lock()
	key, fault, delay := k.keys[name], k.fault, k.delay
	k.signed++
	k.mu.Unlock()
	if key == nil {
		return nil, fmt.Errorf("there is no key %q", name)
	}
	time.Sleep(delay)
	other := sha256.Sum256(message)
	return fault.Alter(keystoretest.Answer{
		Signature: key.sign(message, form),
		Ed25519:   key.scheme == remote.Ed25519,
		OtherKey: func() []byte {
			return (&softKey{scheme: key.scheme, secret: other[:], proof: key.proof}).sign(message, form)
		},
		OtherText: func() []byte { return key.sign(other[:], form) },
	}), nil
}

func (s *softKey) sign(message []byte, form Form) []byte {
	var r, t []byte
	switch s.scheme {
	case remote.Ed25519:
		return stdlib.Sign(stdlib.NewKeyFromSeed(s.secret), message)
	case remote.Secp256k1:
		made := decred.Sign(secp256k1.PrivKeyFromBytes(s.secret), message)
		first, second := made.R(), made.S()
		if message[0]&1 == 1 {
			second.Negate() // a high s is valid too
		}
		rBytes, sBytes := first.Bytes(), second.Bytes()
		r, t = rBytes[:], sBytes[:]
	default:
		der, err := ecdsa.SignASN1(rand.Reader, s.proof, message)
		if err != nil {
			panic(err)
		}
		var both struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(der, &both); err != nil {
			panic(err)
		}
		r, t = both.R.FillBytes(make([]byte, 32)), both.S.FillBytes(make([]byte, 32))
	}
	if form == Halves {
		return append(r, t...)
	}
	der, err := asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(r), new(big.Int).SetBytes(t)})
	if err != nil {
		panic(err)
	}
	return der
}
