package secp256k1

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"runtime"
)

// nonces yields the candidates of RFC 6979, section 3.2, with HMAC-SHA-256. The current
// one is v, which may be zero or exceed the group order. The caller must call wipe.
type nonces struct {
	k, v  [32]byte
	block [64 + 33 + 96]byte // a padded key, then the message
}

// start makes the first candidate (steps b to h2) for a secret, a digest, and no additional
// data (section 3.6) or 32 bytes of it.
func (n *nonces) start(secret, digest *[32]byte, additional []byte) {
	makeRoom()
	seed := bitsToOctets(digest)
	n.k = [32]byte{}
	for i := range n.v {
		n.v[i] = 1
	}
	for round := range byte(2) {
		message := n.block[64:]
		size := copy(message, n.v[:])
		size += copy(message[size:], []byte{round})
		size += copy(message[size:], secret[:])
		size += copy(message[size:], seed[:])
		size += copy(message[size:], additional)
		n.hmac(&n.k, size)
		n.step()
	}
	n.step()
}

// reject makes the next candidate, after one that gave no signature (steps h3 and h2).
func (n *nonces) reject() {
	copy(n.block[64:], n.v[:])
	n.block[96] = 0
	n.hmac(&n.k, 33)
	n.step()
	n.step()
}

// step sets V = HMAC_K(V).
func (n *nonces) step() {
	copy(n.block[64:], n.v[:])
	n.hmac(&n.v, 32)
}

// hmac sets out = HMAC_K(message), whose size bytes start at block[64].
func (n *nonces) hmac(out *[32]byte, size int) {
	n.padKey(&innerPad)
	inner := sha256.Sum256(n.block[:64+size])
	n.padKey(&outerPad)
	copy(n.block[64:], inner[:])
	clear(inner[:])
	*out = sha256.Sum256(n.block[:96])
}

// The pads of HMAC.
var innerPad, outerPad = [64]byte(bytes.Repeat([]byte{0x36}, 64)), [64]byte(bytes.Repeat([]byte{0x5c}, 64))

func (n *nonces) padKey(pad *[64]byte) {
	subtle.XORBytes(n.block[:], n.k[:], pad[:])
	copy(n.block[len(n.k):64], pad[:])
}

// wipe overwrites the state, and what crypto/sha256 left on the stack.
func (n *nonces) wipe() {
	*n = nonces{}
	makeRoom()
}

// makeRoom overwrites 2 kB of the stack below its caller, more than crypto/sha256 uses.
// Called before, it grows the stack if needed, so that no secret is left in one that was
// outgrown; called after, it wipes.
//
//go:noinline
func makeRoom() {
	var room [2048]byte
	clear(room[:])
	runtime.KeepAlive(&room)
}

var order = [32]byte{
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
	0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
}

// bitsToOctets reduces a digest modulo the group order (RFC 6979, section 2.3.4). Digests
// are public.
func bitsToOctets(digest *[32]byte) [32]byte {
	if bytes.Compare(digest[:], order[:]) < 0 {
		return *digest
	}
	return [32]byte(reduced(digest).Bytes())
}
