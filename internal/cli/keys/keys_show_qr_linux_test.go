package keys_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// TestShowAccountDescriptor: for the wallet of BCR-2023-019's vector, the command shows the
// vector's descriptors of the four supported scripts.
func TestShowAccountDescriptor(t *testing.T) {
	t.Parallel()
	content := testenv.Read(t, "../../ur/testdata/account-descriptor.json")
	var vector struct{ Mnemonic, UR string }
	testenv.JSON(t, content, &vector)
	s := clitest.NewSession(t)
	var wallet struct{ WalletID string }
	testenv.JSON(t, s.Must([]byte(vector.Mnemonic), "keys", "import", "--format", "mnemonic"), &wallet)
	s.Must(nil, "keys", "show", "--xpub", "--qr-type", ur.TypeAccount, "--qr-png", "codes",
		"--account", "m/44'/0'/0'", "--account", "m/49'/0'/0'", "--account", "m/84'/0'/0'", "--account", "m/86'/0'/0'", wallet.WalletID)
	collector := ur.NewCollector(ur.TypeAccount)
	for code := range strings.FieldsSeq(string(s.Must(nil, "scan", filepath.Join(s.Dir, "codes")))) {
		testenv.Must(t, collector.Add(code))
	}
	got, ok := collector.Message()
	items := bytes.Split(clitest.Collected(t, vector.UR, ur.TypeAccount).CBOR, []byte{0xd9, 0x9d, 0x74}) // tag 40308
	head := append(bytes.TrimSuffix(items[0], []byte{0x87}), 0x84)                                       // four of seven
	want := bytes.Join([][]byte{head, items[1], items[2], items[3], items[7]}, []byte{0xd9, 0x9d, 0x74})
	if !ok || !bytes.Equal(got.CBOR, want) {
		t.Errorf("shown as %x\nwant     %x", got.CBOR, want)
	}
}
