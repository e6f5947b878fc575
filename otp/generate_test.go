package otp

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestUniform draws a million codes of each alphabet from a seeded source and applies
// a chi-square test to the symbols at each place. The thresholds are the 99.99 %
// quantiles.
func TestUniform(t *testing.T) {
	for name, test := range map[string]struct {
		alphanumeric bool
		alphabet     string
		threshold    float64
	}{
		"digits":       {false, digits, 33.72},   // 9 degrees of freedom
		"alphanumeric": {true, crockford, 69.11}, // 31 degrees of freedom
	} {
		t.Run(name, func(t *testing.T) {
			const codes, length = 1_000_000, MinLength
			random := mathrand.NewChaCha8([32]byte{1})
			var counts [length][256]int
			for range codes {
				code, err := generate(random, length, test.alphanumeric)
				testenv.Must(t, err)
				for place := range length {
					counts[place][code[place]]++
				}
			}
			for place := range length {
				if got := chiSquare(counts[place][:], test.alphabet, codes); got > test.threshold {
					t.Errorf("place %d: chi-square %.1f, want at most %.1f", place, got, test.threshold)
				}
			}
		})
	}
}

func chiSquare(counts []int, alphabet string, n int) (sum float64) {
	expected := float64(n) / float64(len(alphabet))
	total := 0
	for _, symbol := range []byte(alphabet) {
		total += counts[symbol]
		difference := float64(counts[symbol]) - expected
		sum += difference * difference / expected
	}
	if total != n {
		return 1e9 // there is a symbol outside the alphabet
	}
	return sum
}

// TestBiasedBytesRejected checks that bytes from 250 to 255, which would favor the
// digits 0 to 5, are not used.
func TestBiasedBytesRejected(t *testing.T) {
	random := io.MultiReader(
		bytes.NewReader([]byte{250, 251, 252, 253, 254, 255, 249, 0, 10, 19, 255, 123, 7, 250, 250, 250, 250, 250}),
		rand.Reader)
	code, err := generate(random, 6, false)
	if err != nil || code != "900937" {
		t.Fatalf("%q, %v", code, err)
	}
}

func TestLengths(t *testing.T) {
	for length := MinLength; length <= MaxLength; length++ {
		for _, alphanumeric := range []bool{false, true} {
			code, err := generate(rand.Reader, length, alphanumeric)
			if err != nil || len(code) != length || normalize(code) != code || normalize(strings.ToLower(code)) != code {
				t.Errorf("length %d, alphanumeric %v: %q, %v", length, alphanumeric, code, err)
			}
		}
	}
}

func TestNoRandomBytes(t *testing.T) {
	broken := errors.New("broken")
	if code, err := generate(iotest.ErrReader(broken), 6, true); !errors.Is(err, broken) || code != "" {
		t.Fatalf("%q, %v", code, err)
	}
}

func TestNormalize(t *testing.T) {
	for typed, want := range map[string]string{
		"abcdef":    "ABCDEF",
		"oO0iIlL1":  "00011111",
		"0123456":   "0123456",
		"u":         "U", // in no alphabet
		"12 34":     "1234",
		"AT2-M5N":   "AT2M5N",
		"":          "",
		"１２３４５６":    "１２３４５６",
		"zyxwvtsrq": "ZYXWVTSRQ",
	} {
		if got := normalize(typed); got != want {
			t.Errorf("normalize(%q) = %q, want %q", typed, got, want)
		}
	}
}

type bareSecret []byte

func (s bareSecret) Reveal(use func([]byte) error) error { return use(s) }

// TestHashIsBound checks that organization, id, code, purpose and secret each change
// the hash, and so does the boundary between two parts.
func TestHashIsBound(t *testing.T) {
	key := bareSecret(bytes.Repeat([]byte{7}, MinSecretSize))
	other := bareSecret(bytes.Repeat([]byte{8}, MinSecretSize))
	names := map[[32]byte]string{}
	for name, compute := range map[string]func() ([32]byte, error){
		"original":             func() ([32]byte, error) { return keyed(key, labelCode, "org", "id", "123456") },
		"another organization": func() ([32]byte, error) { return keyed(key, labelCode, "org2", "id", "123456") },
		"another id":           func() ([32]byte, error) { return keyed(key, labelCode, "org", "id2", "123456") },
		"another code":         func() ([32]byte, error) { return keyed(key, labelCode, "org", "id", "123457") },
		"another boundary":     func() ([32]byte, error) { return keyed(key, labelCode, "orgi", "d", "123456") },
		"another purpose":      func() ([32]byte, error) { return keyed(key, labelUser, "org", "id", "123456") },
		"another secret":       func() ([32]byte, error) { return keyed(other, labelCode, "org", "id", "123456") },
	} {
		sum, err := compute()
		testenv.Must(t, err)
		if other, taken := names[sum]; taken {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		names[sum] = name
	}
	if _, err := keyed(bareSecret(make([]byte, MinSecretSize-1)), labelCode); err == nil || !strings.Contains(err.Error(), "31 bytes") {
		t.Errorf("a short secret: %v", err)
	}
}
