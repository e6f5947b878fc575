package ur_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/ur"
)

// keystoneTron is the code that the test of Keystone's TronSignRequest
// (keystone-airgaped-base, packages/ur-registry-tron) expects, and the raw_data in
// it: the layout of before the kind of data had a field.
const (
	keystoneTron = "ur:tron-sign-request/oxadtpdagdndcawmgtfrkigrpmndutdnbtkgfssbjnaohdtybkaoatmhcpayvyrhuegomtihswjsfzlassmsldrkdwhtpladayctbgptadbkehjykkjoihdmiojljliojzihhsjoinjkdmiajljndljojpjljyjliajljzdmghjpinioioihjpgujnhsjpjyfxjljtjyjphsiajybgjybkbzfpstneaahygtfdpmlgplaevaoljsgtplckaebkursnbgbzfpbtdtdwmkonwpnbjzcxlpzmytmunliecntkiysofrcpfyptahnsrkaeaeaeaeaeaeaeaeaeaeaeaendrfvwcxtalrsrrhhtttbnqzvldrmomwvaeolgotaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaeaebsfwfzjortrpvtltrkdwmhadlamwwmuoaxaxtaaddyoeadlocsdwykcssrykaeykaeykaocybgbgbgbgahjejyjpjljtcxkthsjzjzihjymwlrhkst"
	keystoneData = "0a0207902208e1b9de559665c6714080c49789bb2c5aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541c79f045e4d48ad8dae00e6a6714dae1e000adfcd1215410d292c98a5eca06c2085fff993996423cf66c93b2244a9059cbb0000000000000000000000009bbce520d984c3b95ad10cb4e32a9294e6338da300000000000000000000000000000000000000000000000000000000000f424070c0b6e087bb2c90018094ebdc03"
)

// TestTronSignRequest reads Keystone's vector, and the layout that has a kind.
func TestTronSignRequest(t *testing.T) {
	collector := ur.NewCollector(ur.TypeTronSignRequest)
	testenv.Must(t, collector.Add(keystoneTron))
	message, _ := collector.Message()
	asked, err := ur.DecodeTronSignRequest(message)
	testenv.Must(t, err)
	if hex.EncodeToString(asked.Data) != keystoneData || asked.Kind != 1 || asked.Origin != "tron wallet" || len(asked.Address) != 0 ||
		hex.EncodeToString(asked.ID) != "9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d" || asked.Path.String() != "[12121212]m/44'/195'/0'/0'" {
		t.Errorf("read %+v", asked)
	}
	asked.Kind, asked.Address = 2, bytes.Repeat([]byte{1}, 20)
	again, err := ur.DecodeTronSignRequest(asked.Message())
	if err != nil || again.Kind != 2 || !bytes.Equal(again.Address, asked.Address) || !bytes.Equal(again.Data, asked.Data) {
		t.Errorf("read %+v, %v", again, err)
	}
}

// TestTronSignature is the answer of Keystone's test, byte for byte.
func TestTronSignature(t *testing.T) {
	id := testenv.Hex(t, "9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d")
	signature := testenv.Hex(t, "47b1f77b3e30cfbbfa41d795dd34475865240617dd1c5a7bad526f5fd89e52cd057c80b665cc2431efab53520e2b1b92a0425033baee915df858ca1c588b0a1800")
	const want = "ur:tron-signature/oeadtpdagdndcawmgtfrkigrpmndutdnbtkgfssbjnaohdfpflpaylkgfmdytkrkzsfptsmduteeflhdihdkamchutcehtkgpmgmjlhetpnngmsnahkelarpihsfdkehwspygugmbadncwmonbfwgdeordwymehlyahdsgcehdlubkcsaebbckfpwy"
	if got := (ur.TronSignature{ID: id, Signature: signature}).Message().String(); got != want {
		t.Errorf("encoded %s\nwant    %s", got, want)
	}
}
