package keyformat

import (
	"fmt"
	"hash"
	"math/bits"

	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
)

// What a file may ask for to stretch its password. Twice what geth asks for when
// it makes a file (256 MiB, one pass) leaves room for files made more carefully;
// a file from a stranger must not be able to stop the machine.
const (
	MaxScryptMemory = 512 << 20  // bytes: 128·N·r
	MaxScryptFactor = 64         // r and p: no program that makes files uses more than 8
	MaxScryptWork   = 2048 << 20 // bytes mixed: 128·N·r·p
	MaxRounds       = 10_000_000 // of PBKDF2
	MaxSalt         = 1024       // bytes
)

// scryptCost are the parameters of scrypt (RFC 7914): blocks, block size,
// parallelization.
type scryptCost struct{ n, r, p uint64 }

// check holds what a file asks for against the limits, without doing it.
func (c scryptCost) check() error {
	if bits.OnesCount64(c.n) != 1 || c.n == 1 || c.r == 0 || c.p == 0 {
		return fmt.Errorf("%w: scrypt with n=%d r=%d p=%d: n is a power of two above 1, r and p are at least 1", ErrMalformed, c.n, c.r, c.p)
	}
	if c.r > MaxScryptFactor || c.p > MaxScryptFactor {
		return fmt.Errorf("%w: scrypt with r=%d p=%d, at most %d are done", ErrCost, c.r, c.p, MaxScryptFactor)
	}
	// Dividing instead of multiplying: products of what a stranger wrote overflow. Next to
	// the N blocks, scrypt allocates p + 2: half a MiB at most.
	if c.r > MaxScryptMemory/128/c.n {
		return fmt.Errorf("%w: scrypt with n=%d r=%d asks for more than %d MiB of memory", ErrCost, c.n, c.r, MaxScryptMemory>>20)
	}
	if c.p > MaxScryptWork/(128*c.n*c.r) {
		return fmt.Errorf("%w: scrypt with n=%d r=%d p=%d asks for more than %d passes over %d MiB", ErrCost, c.n, c.r, c.p, MaxScryptWork/MaxScryptMemory, MaxScryptMemory>>20)
	}
	return nil
}

func (c scryptCost) key(password, salt []byte, size int) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return scrypt.Key(password, salt, int(c.n), int(c.r), int(c.p), size)
}

// pbkdf2Cost are the parameters of PBKDF2 (RFC 8018).
type pbkdf2Cost struct {
	rounds uint64
	prf    func() hash.Hash
}

func (c pbkdf2Cost) check() error {
	if c.rounds == 0 {
		return fmt.Errorf("%w: PBKDF2 with 0 rounds", ErrMalformed)
	}
	if c.rounds > MaxRounds {
		return fmt.Errorf("%w: PBKDF2 with %d rounds, at most %d are done", ErrCost, c.rounds, MaxRounds)
	}
	return nil
}

func (c pbkdf2Cost) key(password, salt []byte, size int) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return pbkdf2.Key(password, salt, int(c.rounds), size, c.prf), nil
}

// stretch turns a password into a key.
type stretch interface {
	key(password, salt []byte, size int) ([]byte, error)
}
