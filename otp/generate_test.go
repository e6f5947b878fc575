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
)

// TestUniform draws a million codes of each alphabet from a seeded source and
// holds the frequency of each symbol at each place against chance, by the
// chi-square test. The thresholds are the 99.99 % quantiles.
func TestUniform(t *testing.T) {
	for name, one := range map[string]struct {
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
				code, err := generate(random, length, one.alphanumeric)
				if err != nil {
					t.Fatal(err)
				}
				for place := range length {
					counts[place][code[place]]++
				}
			}
			for place := range length {
				if got := chiSquare(counts[place][:], one.alphabet, codes); got > one.threshold {
					t.Errorf("place %d: chi-square %.1f, more than %.1f", place, got, one.threshold)
				}
			}
		})
	}
}

func chiSquare(counts []int, alphabet string, n int) (sum float64) {
	expected := float64(n) / float64(len(alphabet))
	seen := 0
	for _, symbol := range []byte(alphabet) {
		seen += counts[symbol]
		difference := float64(counts[symbol]) - expected
		sum += difference * difference / expected
	}
	if seen != n {
		return 1e9 // a symbol that is not of the alphabet
	}
	return sum
}

// TestBiasedBytesAreDrawnAgain: 250 to 255 would make 0 to 5 likelier.
func TestBiasedBytesAreDrawnAgain(t *testing.T) {
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
		"u":         "U", // in no alphabet: never right
		"12 34":     "12 34",
		"":          "",
		"１２３４５６":    "１２３４５６",
		"zyxwvtsrq": "ZYXWVTSRQ",
	} {
		if got := normalize(typed); got != want {
			t.Errorf("%q is read as %q; %q was expected", typed, got, want)
		}
	}
}

type bareSecret []byte

func (s bareSecret) Reveal(use func([]byte) error) error { return use(s) }

// TestHashIsBound: a hash of one organization, one-time password, code or
// secret is none of another, however the parts are cut.
func TestHashIsBound(t *testing.T) {
	key := bareSecret(bytes.Repeat([]byte{7}, MinSecretSize))
	other := bareSecret(bytes.Repeat([]byte{8}, MinSecretSize))
	seen := map[[32]byte]string{}
	for name, made := range map[string]func() ([32]byte, error){
		"itself":               func() ([32]byte, error) { return keyed(key, labelCode, "org", "id", "123456") },
		"another organization": func() ([32]byte, error) { return keyed(key, labelCode, "org2", "id", "123456") },
		"another id":           func() ([32]byte, error) { return keyed(key, labelCode, "org", "id2", "123456") },
		"another code":         func() ([32]byte, error) { return keyed(key, labelCode, "org", "id", "123457") },
		"cut elsewhere":        func() ([32]byte, error) { return keyed(key, labelCode, "orgi", "d", "123456") },
		"another purpose":      func() ([32]byte, error) { return keyed(key, labelUser, "org", "id", "123456") },
		"another secret":       func() ([32]byte, error) { return keyed(other, labelCode, "org", "id", "123456") },
	} {
		sum, err := made()
		if err != nil {
			t.Fatal(err)
		}
		if twin, taken := seen[sum]; taken {
			t.Errorf("%s and %s have the same hash", name, twin)
		}
		seen[sum] = name
	}
	if _, err := keyed(bareSecret(make([]byte, MinSecretSize-1)), labelCode); err == nil || !strings.Contains(err.Error(), "31 bytes") {
		t.Errorf("a short secret: %v", err)
	}
}
