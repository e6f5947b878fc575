package keyformat

import (
	"cmp"
	"fmt"
	"hash"
	"math/bits"

	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/crypto/scrypt"
)

// Limits on the cost of deriving a key from a password. Twice geth's cost for new files (256 MiB,
// one pass) leaves room for stronger ones, while an untrusted file cannot bring the machine down.
const (
	maxScryptMemory = 512 << 20  // bytes: 128·N·r
	maxScryptFactor = 64         // r and p: programs that write files use at most 8
	maxScryptWork   = 2048 << 20 // bytes mixed: 128·N·r·p
	maxRounds       = 10_000_000 // of PBKDF2
	maxSalt         = 1024       // bytes
)

// scryptCost has the parameters of scrypt (RFC 7914): blocks, block size, parallelization.
type scryptCost struct{ n, r, p uint64 }

// check compares the parameters with the limits, before any work is done.
func (c scryptCost) check() error {
	if bits.OnesCount64(c.n) != 1 || c.n == 1 || c.r == 0 || c.p == 0 {
		return fmt.Errorf("%w: scrypt with n=%d r=%d p=%d: n must be a power of two above 1, r and p at least 1",
			ErrMalformed, c.n, c.r, c.p)
	}
	if c.r > maxScryptFactor || c.p > maxScryptFactor {
		return fmt.Errorf("%w: scrypt with r=%d p=%d, the limit is %d", ErrCost, c.r, c.p, maxScryptFactor)
	}
	// Division instead of multiplication: products of untrusted numbers could overflow. In
	// addition to the N blocks, scrypt allocates p + 2: half a MiB at most.
	if c.r > maxScryptMemory/128/c.n {
		return fmt.Errorf("%w: scrypt with n=%d r=%d needs more than %d MiB of memory", ErrCost, c.n, c.r, maxScryptMemory>>20)
	}
	if c.p > maxScryptWork/(128*c.n*c.r) {
		return fmt.Errorf("%w: scrypt with n=%d r=%d p=%d needs more than %d passes over %d MiB", ErrCost, c.n, c.r,
			c.p, maxScryptWork/maxScryptMemory, maxScryptMemory>>20)
	}
	return nil
}

func (c scryptCost) key(password, salt []byte, size int) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return scrypt.Key(password, salt, int(c.n), int(c.r), int(c.p), size)
}

// pbkdf2Cost has the parameters of PBKDF2 (RFC 8018).
type pbkdf2Cost struct {
	rounds uint64
	prf    func() hash.Hash
}

func (c pbkdf2Cost) check() error {
	if c.rounds == 0 {
		return fmt.Errorf("%w: PBKDF2 with 0 rounds", ErrMalformed)
	}
	if c.rounds > maxRounds {
		return fmt.Errorf("%w: PBKDF2 with %d rounds, the limit is %d", ErrCost, c.rounds, maxRounds)
	}
	return nil
}

func (c pbkdf2Cost) key(password, salt []byte, size int) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return pbkdf2.Key(password, salt, int(c.rounds), size, c.prf), nil
}

// stretch derives a key from a password.
type stretch func(password, salt []byte, size int) ([]byte, error)

// fault keeps the first error of reading a file. What is read after it does not count.
type fault struct{ err error }

func (f *fault) fail(err error) {
	f.err = cmp.Or(f.err, err)
}
