//go:build cgo

package secp256k1

/*
#include <stddef.h>

// From secp256k1.h. go-ethereum's crypto/secp256k1, which verify_cgo.go imports, links
// these functions.
typedef struct secp256k1_context_struct secp256k1_context;
typedef struct { unsigned char data[64]; } secp256k1_pubkey;
enum { contextNone = 1 << 0, uncompressed = 1 << 1 };

secp256k1_context *secp256k1_context_create(unsigned int flags);
int secp256k1_context_randomize(secp256k1_context *ctx, const unsigned char *seed32);
int secp256k1_ec_pubkey_create(const secp256k1_context *ctx, secp256k1_pubkey *pubkey, const unsigned char *seckey);
int secp256k1_ec_pubkey_serialize(const secp256k1_context *ctx, unsigned char *output, size_t *outputlen, const secp256k1_pubkey *pubkey, unsigned int flags);

static int multiply_base(const secp256k1_context *ctx, unsigned char *output, const unsigned char *scalar) {
	secp256k1_pubkey point;
	size_t length = 65;
	return secp256k1_ec_pubkey_create(ctx, &point, scalar)
		&& secp256k1_ec_pubkey_serialize(ctx, output, &length, &point, uncompressed);
}

#cgo noescape multiply_base
#cgo nocallback multiply_base
*/
import "C"

import (
	"crypto/rand"

	voi "gitlab.com/yawning/secp256k1-voi"
)

// libsecp256k1 is the context of its functions. It is not changed after it was made.
var libsecp256k1 = newContext()

// newContext seeds the blinding of the multiplication, which masks the scalar.
func newContext() *C.secp256k1_context {
	context := C.secp256k1_context_create(C.contextNone)
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	if C.secp256k1_context_randomize(context, (*C.uchar)(&seed[0])) != 1 {
		panic("secp256k1: libsecp256k1 does not take a seed")
	}
	return context
}

// multiplyBase returns scalar·G, uncompressed, in constant time. The scalar must not be
// zero.
//
// libsecp256k1 takes half as long as secp256k1-voi.
func multiplyBase(scalar *voi.Scalar) (point [65]byte) {
	encoded := scalar.Bytes()
	defer clear(encoded)
	if C.multiply_base(libsecp256k1, (*C.uchar)(&point[0]), (*C.uchar)(&encoded[0])) != 1 {
		panic("secp256k1: a scalar of zero")
	}
	return point
}
