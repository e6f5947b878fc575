//go:build cgo

package secp256k1

/*
#include <stddef.h>
#include <string.h>

// From secp256k1.h and secp256k1_recovery.h. go-ethereum's crypto/secp256k1, which
// verify_cgo.go imports, links these functions.
typedef struct secp256k1_context_struct secp256k1_context;
typedef struct { unsigned char data[64]; } secp256k1_pubkey;
typedef struct { unsigned char data[65]; } secp256k1_ecdsa_recoverable_signature;
typedef int (*secp256k1_nonce_function)(unsigned char *nonce32, const unsigned char *msg32,
	const unsigned char *key32, const unsigned char *algo16, void *data, unsigned int attempt);
enum { contextNone = 1 << 0, uncompressed = 1 << 1 };

secp256k1_context *secp256k1_context_create(unsigned int flags);
int secp256k1_context_randomize(secp256k1_context *ctx, const unsigned char *seed32);
int secp256k1_ec_pubkey_create(const secp256k1_context *ctx, secp256k1_pubkey *pubkey, const unsigned char *seckey);
int secp256k1_ec_pubkey_parse(const secp256k1_context *ctx, secp256k1_pubkey *pubkey,
	const unsigned char *input, size_t inputlen);
int secp256k1_ec_pubkey_serialize(const secp256k1_context *ctx, unsigned char *output, size_t *outputlen,
	const secp256k1_pubkey *pubkey, unsigned int flags);
int secp256k1_ecdsa_sign_recoverable(const secp256k1_context *ctx, secp256k1_ecdsa_recoverable_signature *sig,
	const unsigned char *msghash32, const unsigned char *seckey, secp256k1_nonce_function noncefp, const void *ndata);
int secp256k1_ecdsa_recoverable_signature_serialize_compact(const secp256k1_context *ctx, unsigned char *output64,
	int *recid, const secp256k1_ecdsa_recoverable_signature *sig);

static int multiply_base(const secp256k1_context *ctx, unsigned char *output, const unsigned char *scalar) {
	secp256k1_pubkey point;
	size_t length = 65;
	return secp256k1_ec_pubkey_create(ctx, &point, scalar)
		&& secp256k1_ec_pubkey_serialize(ctx, output, &length, &point, uncompressed);
}

// Tries one nonce.
static int given_nonce(unsigned char *nonce32, const unsigned char *msg32, const unsigned char *key32,
		const unsigned char *algo16, void *data, unsigned int attempt) {
	if (attempt > 0) return 0;
	memcpy(nonce32, data, 32);
	return 1;
}

static int sign_ecdsa(const secp256k1_context *ctx, unsigned char *output, const unsigned char *digest,
		const unsigned char *secret, const unsigned char *nonce) {
	secp256k1_ecdsa_recoverable_signature signature;
	int id = 0;
	int ok = secp256k1_ecdsa_sign_recoverable(ctx, &signature, digest, secret, given_nonce, nonce)
		&& secp256k1_ecdsa_recoverable_signature_serialize_compact(ctx, output, &id, &signature);
	output[64] = id;
	return ok;
}

static int is_point(const secp256k1_context *ctx, const unsigned char *compressed) {
	secp256k1_pubkey point;
	return secp256k1_ec_pubkey_parse(ctx, &point, compressed, 33);
}

#cgo noescape multiply_base
#cgo nocallback multiply_base
#cgo noescape sign_ecdsa
#cgo nocallback sign_ecdsa
#cgo noescape is_point
#cgo nocallback is_point
*/
import "C"

import (
	"crypto/rand"

	voi "gitlab.com/yawning/secp256k1-voi"
)

// libsecp256k1 is the context of its functions. It is not changed after it was made.
var libsecp256k1 = newContext()

// newContext seeds the blinding of the base-point multiplication, which go-ethereum's
// own context leaves unseeded.
func newContext() *C.secp256k1_context {
	context := C.secp256k1_context_create(C.contextNone)
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	if C.secp256k1_context_randomize(context, (*C.uchar)(&seed[0])) != 1 {
		panic("secp256k1: libsecp256k1 does not take a seed")
	}
	return context
}

// multiplyBase returns scalar·G, uncompressed, in constant time. The scalar must not be zero.
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

// signWithNonce is [signWithVoi] with libsecp256k1.
func signWithNonce(digest, secret, nonce *[32]byte) (signature [65]byte, ok bool) {
	made := C.sign_ecdsa(libsecp256k1, (*C.uchar)(&signature[0]), (*C.uchar)(&digest[0]), (*C.uchar)(&secret[0]),
		(*C.uchar)(&nonce[0]))
	if made != 1 {
		return [65]byte{}, false
	}
	return signature, true
}

// OnCurve reports whether an x-only public key is the x of a point (BIP-340's lift_x).
func OnCurve(x [32]byte) bool {
	compressed := [33]byte{2}
	copy(compressed[1:], x[:])
	return C.is_point(libsecp256k1, (*C.uchar)(&compressed[0])) == 1
}
