package wallet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

const twelve = "legal winner thank year wave sausage worth useful legal winner thank yellow"

func TestMnemonicRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "0 words, want 12, 15, 18, 21 or 24"},
		{"eleven words", twelve[:strings.LastIndex(twelve, " ")], "11 words"},
		{"thirteen words", twelve + " zoo", "13 words"},
		{"nine words", strings.Repeat("abandon ", 9), "9 words"},
		{"a word of no list", strings.Replace(twelve, "sausage", "wurst", 1), "word 6 is not in the English list"},
		{"upper case", strings.Replace(twelve, "legal", "Legal", 1), "word 1 is not in the English list"},
		{"four letters", strings.Replace(twelve, "thank", "than", 1), "word 3 is not in the English list"},
		{"commas", strings.ReplaceAll(twelve, " ", ","), "1 words"},
		{"two words exchanged", strings.Replace(twelve, "legal winner", "winner legal", 1), "the checksum is wrong"},
		{"another last word", strings.Replace(twelve, "yellow", "zoo", 1), "the checksum is wrong"},
		{"too long", strings.Repeat(" ", MaxMnemonic+1-len(twelve)) + twelve, "1025 bytes, the limit is 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Entropy([]byte(c.text))
			if !errors.Is(err, ErrMnemonic) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for word := range strings.FieldsSeq(c.text) {
				if err != nil && len(word) > 5 && word != "winner" && strings.Contains(err.Error(), word) {
					t.Errorf("the error tells a word: %v", err)
				}
			}
			if _, err := Seed([]byte(c.text), nil); !errors.Is(err, ErrMnemonic) {
				t.Errorf("a seed was made: %v", err)
			}
		})
	}
	for _, size := range []int{0, 12, 15, 17, 33, 36} {
		if _, err := Mnemonic(make([]byte, size)); !errors.Is(err, ErrMnemonic) {
			t.Errorf("words of %d bytes: %v", size, err)
		}
	}
	if _, err := Seed([]byte(twelve), []byte{0xff}); !errors.Is(err, ErrMnemonic) {
		t.Errorf("a passphrase that is no text: %v", err)
	}
}

// TestWhiteSpace: any white space may separate the words.
func TestWhiteSpace(t *testing.T) {
	want, err := Seed([]byte(twelve), nil)
	testenv.Must(t, err)
	for _, space := range []string{"  ", "\n", "\r\n", "\t"} {
		text := space + strings.ReplaceAll(twelve, " ", space) + space
		if got, err := Seed([]byte(text), nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("with %q: %x, %v", space, got, err)
		}
	}
}

// TestSeedLeavesInputAlone: the caller's slices must not be overwritten.
func TestSeedLeavesInputAlone(t *testing.T) {
	words, passphrase := []byte(twelve), []byte("pass word")
	if _, err := Seed(words, passphrase); err != nil {
		t.Fatal(err)
	}
	if string(words) != twelve || string(passphrase) != "pass word" {
		t.Errorf("now %q and %q", words, passphrase)
	}
}

// TestPassphraseNormalForm: the composed, decomposed and compatibility forms of a passphrase are
// equal (NFKD).
func TestPassphraseNormalForm(t *testing.T) {
	want, err := Seed([]byte(twelve), []byte("e\u0301 fi"))
	testenv.Must(t, err)
	for _, form := range []string{"\u00e9 fi", "\u00e9 \ufb01"} {
		if got, err := Seed([]byte(twelve), []byte(form)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q: another seed, %v", form, err)
		}
	}
}

func TestPathRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "must begin with m",
		"44'/60'":                         "must begin with m",
		"M/0":                             "must begin with m",
		"m/":                              "step 1",
		"m//0":                            "step 1",
		"m/0/":                            "step 2",
		"m/00":                            "step 1",
		"m/+1":                            "step 1",
		"m/-1":                            "step 1",
		"m/0x1":                           "step 1",
		"m/ 1":                            "step 1",
		"m/1''":                           "step 1",
		"m/1'h":                           "step 1",
		"m/2147483648":                    "step 1",
		"m/99999999999999999999'":         "step 1",
		"m/1_0":                           "step 1",
		"m" + strings.Repeat("/0", 17):    "17 steps, the limit is 16",
		"m" + strings.Repeat("/0", 1<<16): "65536 steps",
	} {
		if path, err := ParsePath(text); !errors.Is(err, ErrPath) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q is read as %v, %v", text, path, err)
		}
	}
	if path, err := ParsePath("m/44h/2147483647h/0"); err != nil || path.String() != "m/44'/2147483647'/0" {
		t.Errorf("h for hardened: %v, %v", path, err)
	}
}

func TestDeriveRefused(t *testing.T) {
	for size, want := range map[int]string{15: "15 bytes, want 16 to 64", 65: "65 bytes"} {
		if _, err := FromSeed(make([]byte, size)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a seed of %d bytes: %v, want %q", size, err, want)
		}
	}
	root, err := FromSeed(make([]byte, 64))
	testenv.Must(t, err)
	for _, c := range []struct {
		curve keystore.Curve
		path  Path
		want  string
	}{
		{0, nil, "unknown curve"},
		{keystore.CurveEd25519, Path{44 + Hardened, 0}, "m/44'/0: step 2 is not hardened"},
		{keystore.CurveSecp256k1, make(Path, 17), "17 steps"},
	} {
		if secret, err := root.Derive(c.curve, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v on %v: %x, %v, want %q", c.path, c.curve, secret, err, c.want)
		}
	}
}

func TestUsualAccounts(t *testing.T) {
	var got []string
	for _, account := range UsualAccounts() {
		got = append(got, fmt.Sprint(account.Path))
		if CurveOf(account.Path) != account.Curve {
			t.Errorf("%v is on %v", account.Path, account.Curve)
		}
	}
	want := "m/44'/60'/0'/0/0 m/44'/501'/0'/0' m/44'/195'/0'/0/0 m/44'/0'/0'/0/0 m/49'/0'/0'/0/0 m/84'/0'/0'/0/0 m/86'/0'/0'/0/0"
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}
