package solana

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// metadataData is the data of instructions that Metaplex's client (mpl-token-metadata
// 3.4.0) writes: interop/solanametadata.mjs builds them.
var metadataData = map[string]string{
	"CreateV1":                        "2a0003000000417065030000004150451a00000068747470733a2f2f6578616d706c652e6f72672f312e6a736f6ef40101020000006116222727c76dd113227b42c053c22374cd884e65bceaa1182a4d54fbb34118013c1214a49a635b784df1dedd6248760d5e7e5a590e8a53919d3aca2b98fe5e89620028000104010084e938e20db865dddea287f9ebb8ed5545b43052e4c8795033b05a822b7319e0000001c90c4b277cdec184b730c1584d29a04e2c2deaa40fa7152a08278881d80653420001010700000000000000",
	"TransferV1":                      "31000100000000000000010200000006000000416d6f756e7403010000000000000002000000546f000cd09de432dfbf816d78c170e9b6fe728e2ad604368e25b132053010519ae294",
	"DelegateLockedTransferV1":        "2c07010000000000000017770b8f5f1ffc8326f744dbaa6b3038542021aa0a7ac0867a7c95475454b86700",
	"UpdateV1":                        "3200000103000000417065030000004150451a00000068747470733a2f2f6578616d706c652e6f72672f312e6a736f6ef40101020000006116222727c76dd113227b42c053c22374cd884e65bceaa1182a4d54fbb34118013c1214a49a635b784df1dedd6248760d5e7e5a590e8a53919d3aca2b98fe5e8962002800010001000002c90c4b277cdec184b730c1584d29a04e2c2deaa40fa7152a08278881d806534200",
	"UpdateAsUpdateAuthorityV2":       "3201010cd09de432dfbf816d78c170e9b6fe728e2ad604368e25b132053010519ae29400010100000000000000",
	"UpdateAsAuthorityItemDelegateV2": "320200000101010400",
	"UpdateAsCollectionDelegateV2":    "3203020084e938e20db865dddea287f9ebb8ed5545b43052e4c8795033b05a822b7319e000",
	"CreateMetadataAccountV3":         "2103000000417065030000004150451a00000068747470733a2f2f6578616d706c652e6f72672f312e6a736f6ef40101020000006116222727c76dd113227b42c053c22374cd884e65bceaa1182a4d54fbb34118013c1214a49a635b784df1dedd6248760d5e7e5a590e8a53919d3aca2b98fe5e89620028010084e938e20db865dddea287f9ebb8ed5545b43052e4c8795033b05a822b7319e0000101000300000000000000",
}

// TestTokenMetadataData checks that all of the data is read and that truncated data, or a
// count or length beyond its end, is refused.
func TestTokenMetadataData(t *testing.T) {
	for name, text := range metadataData {
		data := testenv.Hex(t, text)
		if left, operation, err := readArguments(data); err != nil || left != 0 || operation != name {
			t.Errorf("%s: read as %s, %d bytes left: %v", name, operation, left, err)
		}
		for size := range data {
			if _, _, err := readArguments(data[:size]); err == nil {
				t.Errorf("%s of %d bytes is read", name, size)
			}
		}
	}
	for name, text := range map[string]string{
		"a third form of an option":   "32010200",
		"an unknown toggle":           "3203030000",
		"an unknown token standard":   "3202000001010600",
		"a huge list of creators":     "0f0101000000610000000000000000f40101ffffffff",
		"a huge text":                 "0f01ffffffff",
		"an unknown entry for rules":  "2e000101000000010000006104",
		"a proof that ends":           "2e00010100000001000000610202000000" + "00",
		"another form of a delegate":  "2c0e00",
		"an instruction of the owner": "36",
	} {
		data := testenv.Hex(t, text)
		if _, operation, err := readArguments(data); err == nil {
			t.Errorf("%s is read as %s", name, operation)
		}
	}
}

// readArguments reads the arguments of an instruction of Token Metadata.
func readArguments(data []byte) (left int, operation string, err error) {
	r := &reader{cursor: cursor{raw: data}, program: tokenMetadataProgram}
	found := tokenMetadataProgram.find(&r.cursor)
	if r.err != nil {
		return 0, "", r.err
	}
	sequence(found.arguments...)(r)
	return r.left(), found.name, r.err
}
