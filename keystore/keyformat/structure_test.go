package keyformat_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"
	"golang.org/x/crypto/scrypt"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// element is a DER element: its tag, and its content or the elements inside it.
type element struct {
	tag      tag.Tag
	content  []byte
	children []*element
	gone     bool
}

// readDER parses DER, including the DER in the OCTET STRING of a PrivateKeyInfo.
func readDER(raw []byte) (list []*element) {
	for rest := cryptobyte.String(raw); !rest.Empty(); {
		e := &element{}
		var content cryptobyte.String
		if !rest.ReadAnyASN1(&content, &e.tag) {
			return nil
		}
		e.content = content
		if isNested := e.tag == tag.OCTET_STRING && bytes.HasPrefix(content, []byte{0x30}); e.tag&0x20 != 0 || isNested {
			e.children = readDER(content)
		}
		list = append(list, e)
	}
	return list
}

func writeDER(list []*element) []byte {
	var b cryptobyte.Builder
	for _, e := range list {
		content := e.content
		if e.children != nil {
			content = writeDER(e.children)
		}
		if !e.gone {
			b.AddASN1(e.tag, func(b *cryptobyte.Builder) { b.AddBytes(content) })
		}
	}
	return b.BytesOrPanic()
}

// flatten lists all elements but the outermost, in the order in which they begin.
func flatten(list []*element) (all []*element) {
	for _, e := range list {
		all = append(append(all, e), flatten(e.children)...)
	}
	return all
}

// derChanges lists the changes to be made to one element after the other.
var derChanges = map[string]func(e *element){
	"gone":        func(e *element) { e.gone = true },
	"empty":       func(e *element) { e.content, e.children = nil, nil },
	"another tag": func(e *element) { e.tag = tag.IA5String },
	"one more": func(e *element) {
		if e.children != nil {
			e.children = append(e.children, &element{tag: tag.NULL})
			return
		}
		e.content = append(slices.Clone(e.content), 0)
	},
}

// opensslKey is a PrivateKeyInfo with all optional elements.
func opensslKey(t *testing.T, key keyformat.Key) []byte {
	t.Helper()
	point := key.PublicKey.Uncompressed()
	secp256k1 := testenv.Hex(t, "06052b8104000a")
	var b cryptobyte.Builder
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(0)
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddBytes(testenv.Hex(t, "06072a8648ce3d0201"))
			b.AddBytes(secp256k1)
		})
		b.AddASN1(tag.OCTET_STRING, func(b *cryptobyte.Builder) {
			b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1Int64(1)
				b.AddASN1OctetString(key.Secret)
				b.AddASN1(tag.Tag(0).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) { b.AddBytes(secp256k1) })
				b.AddASN1(tag.Tag(1).Constructed().ContextSpecific(), func(b *cryptobyte.Builder) { b.AddASN1BitString(point[:]) })
			})
		})
	})
	return b.BytesOrPanic()
}

const structurePassword = "foobar"

// encryptedKey encrypts with a cheaply derived key.
func encryptedKey(t *testing.T, plain, derived []byte, kdf string) []byte {
	t.Helper()
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	return encryptedBlocks(t, append(bytes.Clone(plain), bytes.Repeat([]byte{byte(padding)}, padding)...), derived, kdf)
}

// encryptedBlocks encrypts blocks without adding padding.
func encryptedBlocks(t *testing.T, data, derived []byte, kdf string) []byte {
	t.Helper()
	block, err := aes.NewCipher(derived)
	testenv.Must(t, err)
	cipher.NewCBCEncrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(data, data)
	file := encrypted(t, kdf, sequence("060960864801650304012a"+"0410"+strings.Repeat("00", 16)), fmt.Sprintf("%x", data))
	return fromPEM(t, file)
}

func fromPEM(t *testing.T, file []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(file)
	if block == nil {
		t.Fatalf("no PEM: %s", file)
	}
	return block.Bytes
}

// derFiles returns keys in DER and the types of their PEM blocks.
func derFiles(t *testing.T, key keyformat.Key) map[string]struct {
	kind string
	der  []byte
} {
	t.Helper()
	plain, salt := opensslKey(t, key), []byte("saltsalt")
	byPBKDF2, err := pbkdf2.Key(sha256.New, structurePassword, salt, 1, 32)
	testenv.Must(t, err)
	byScrypt, err := scrypt.Key([]byte(structurePassword), salt, 16, 8, 1, 32)
	testenv.Must(t, err)
	const keyLength, prf = "020120", "300c06082a864886f70d02090500"
	saltHex := fmt.Sprintf("0408%x", salt)
	return map[string]struct {
		kind string
		der  []byte
	}{
		"openssl":  {"PRIVATE KEY", plain},
		"RFC 8410": {"PRIVATE KEY", fromPEM(t, read(t, "pkcs8", "rfc8410_public.pem"))},
		"PBKDF2":   {"ENCRYPTED PRIVATE KEY", encryptedKey(t, plain, byPBKDF2, sequence("06092a864886f70d01050c"+sequence(saltHex+"020101"+keyLength+prf)))},
		"scrypt":   {"ENCRYPTED PRIVATE KEY", encryptedKey(t, plain, byScrypt, sequence("06092b06010401da47040b"+sequence(saltHex+"020110"+"020108"+"020101"+keyLength)))},
	}
}

// passedOver lists the elements that are ignored, by file and position: the attributes of RFC
// 8410, and the content of the prf's NULL.
var passedOver = map[string]bool{
	"RFC 8410 5": true, "RFC 8410 6": true, "RFC 8410 7": true, "RFC 8410 8": true, "RFC 8410 9": true,
	"PBKDF2 12": true,
}

// mayBeGone lists the optional elements: curve and public key in an ECPrivateKey, and keyLength.
var mayBeGone = map[string]bool{"openssl 9": true, "openssl 11": true, "PBKDF2 9": true, "scrypt 11": true}

// TestDERStructure changes one element of a key file after the other and adjusts all enclosing
// lengths.
func TestDERStructure(t *testing.T) {
	for name, file := range derFiles(t, newKey(t, keystore.CurveSecp256k1, wikiSecret)) {
		parse := func(der []byte) (keyformat.Key, error) {
			return keyformat.ParsePKCS8(inPEM(file.kind, der), []byte(structurePassword))
		}
		want, err := parse(file.der)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range flatten(readDER(file.der)) {
			at := fmt.Sprintf("%s %d", name, i)
			for what, change := range derChanges {
				list := readDER(file.der)
				change(flatten(list)[i])
				key, err := parse(writeDER(list))
				switch {
				case err == nil && !passedOver[at] && (what != "gone" || !mayBeGone[at]):
					t.Errorf("%s: element %d %s: accepted", name, i, what)
				case err == nil && !bytes.Equal(key.Secret, want.Secret):
					t.Errorf("%s: element %d %s: another key", name, i, what)
				case err != nil && !errors.Is(err, keyformat.ErrMalformed) && !errors.Is(err, keyformat.ErrUnsupported) &&
					!errors.Is(err, keyformat.ErrPassword) && !errors.Is(err, keyformat.ErrOtherKey) && !errors.Is(err, keyformat.ErrCost):
					t.Errorf("%s: element %d %s: %v", name, i, what, err)
				}
			}
		}
	}
}

// TestTrailingByte: a byte after the DER is refused.
func TestTrailingByte(t *testing.T) {
	for name, file := range derFiles(t, newKey(t, keystore.CurveSecp256k1, wikiSecret)) {
		longer := append(bytes.Clone(file.der), 0)
		key, err := keyformat.ParsePKCS8(inPEM(file.kind, longer), []byte(structurePassword))
		what := fmt.Sprintf("PrivateKeyInfo at byte %d: 1 bytes left over", len(file.der))
		if !errors.Is(err, keyformat.ErrMalformed) || !strings.Contains(err.Error(), what) || key.Secret != nil {
			t.Errorf("%s: %v, want %s", name, err, what)
		}
	}
}

// TestWeb3InvalidScalar: the decrypted secret must be a scalar of the group.
func TestWeb3InvalidScalar(t *testing.T) {
	for name, secret := range map[string]string{
		"zero":            strings.Repeat("00", keystore.SecretSize),
		"the group order": "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
	} {
		none := newKey(t, keystore.CurveSecp256k1, wikiSecret)
		none.Secret = testenv.Hex(t, secret)
		file, err := none.Web3([]byte(structurePassword), keyformat.Cost{LogN: 1})
		testenv.Must(t, err)
		key, err := keyformat.ParseWeb3(file, []byte(structurePassword))
		if err == nil || !strings.Contains(err.Error(), "not between 1 and the group order") || key.Secret != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWeb3Structure removes each member of a file's crypto, changes its type, and adds an unknown
// member. All of that is refused before the password is tried.
func TestWeb3Structure(t *testing.T) {
	for name, vector := range web3Vectors(t) {
		count := len(objectsOf(decoded(t, vector.JSON)["crypto"]))
		for i := range count {
			for member := range objectsOf(decoded(t, vector.JSON)["crypto"])[i] {
				for what, change := range map[string]func(object map[string]any){
					"taken away": func(object map[string]any) { delete(object, member) },
					"a boolean":  func(object map[string]any) { object[member] = true },
					"negative":   func(object map[string]any) { object[member] = -1 },
					"a list":     func(object map[string]any) { object[member] = []any{object[member]} },
					"not alone":  func(object map[string]any) { object["more"] = object[member] },
				} {
					file := decoded(t, vector.JSON)
					change(objectsOf(file["crypto"])[i])
					refuseWeb3(t, name+", "+member+" "+what, file, vector.Password)
				}
			}
		}
	}
}

func decoded(t *testing.T, file []byte) (object map[string]any) {
	t.Helper()
	testenv.JSON(t, file, &object)
	return object
}

// objectsOf returns a value, if it is an object, and the objects inside it, by name.
func objectsOf(value any) (all []map[string]any) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	all = append(all, object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		all = append(all, objectsOf(object[name])...)
	}
	return all
}

func refuseWeb3(t *testing.T, what string, file map[string]any, password string) {
	t.Helper()
	text := testenv.Encode(t, file)
	key, err := keyformat.ParseWeb3(text, []byte(password))
	refused(t, key, err, keyformat.ErrMalformed, "web3: malformed: crypto")
}

// TestHexRefused: errors do not repeat the secret.
func TestHexRefused(t *testing.T) {
	for text, problem := range map[string]string{
		"":                            "the secret has 0 characters",
		wikiSecret[1:]:                "the secret has 63 characters, want 64 hex digits",
		"0x" + wikiSecret + "00":      "the secret has 66 characters",
		wikiSecret[:63] + "g":         "a character that is not a hex digit",
		strings.Repeat("00", 32):      "group order",
		"0X" + wikiSecret[:62] + " 1": "a character that is not a hex digit",
	} {
		key, err := keyformat.ParseHex(keystore.CurveSecp256k1, []byte(text))
		refused(t, key, err, nil, problem)
		if err != nil && text != "" && strings.Contains(err.Error(), text[:min(8, len(text))]) {
			t.Errorf("the secret is in %v", err)
		}
	}
}

// TestWrongPasswordByPadding: data decrypted with a wrong password is invalid in one of these
// ways, and the error is ErrPassword rather than ErrMalformed.
func TestWrongPasswordByPadding(t *testing.T) {
	derived, err := pbkdf2.Key(sha256.New, structurePassword, []byte("saltsalt"), 1, 32)
	testenv.Must(t, err)
	kdf := sequence("06092a864886f70d01050c" + sequence("0408"+"73616c7473616c74"+"020101"+"300c06082a864886f70d02090500"))
	for name, data := range map[string]string{
		"padding of 0":         "3000" + strings.Repeat("00", 14),
		"padding of 17":        strings.Repeat("11", 32),
		"padding not the same": "3000" + strings.Repeat("0e", 6) + "0d" + strings.Repeat("0e", 7),
		"no sequence":          "0400" + strings.Repeat("0e", 14),
		"two sequences":        "30003000" + strings.Repeat("0c", 12),
		"a sequence cut off":   "3005" + strings.Repeat("0e", 14),
	} {
		file := encryptedBlocks(t, testenv.Hex(t, data), derived, kdf)
		key, err := keyformat.ParsePKCS8(inPEM("ENCRYPTED PRIVATE KEY", file), []byte(structurePassword))
		refused(t, key, err, keyformat.ErrPassword, "wrong password")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
