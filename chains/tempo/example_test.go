package tempo_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// A transaction is read, shown and signed.
func ExampleChain() {
	raw, err := chains.DecodeHex("0x76f88e82a5bf843b9aca008504a817c800830186a0f85ef85c9420c000000000000000000000000000000000000180b844a9059cbb" +
		"00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7" +
		"00000000000000000000000000000000000000000000000000000000000f4240" +
		"c0800380809420c000000000000000000000000000000000000180c0")
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := tempo.Chain{}.Parse(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := chains.Render(os.Stdout, tx.Summary().Fields); err != nil {
		fmt.Println(err)
		return
	}

	keys := memory.New()
	defer keys.Close()
	secret, _ := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca") // for tests only
	if _, err := keys.Add(context.Background(), "acme", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		fmt.Println(err)
		return
	}
	signWith := "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	request, err := tx.Request(signWith)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := keys.Find(context.Background(), "acme", request.Locators()[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	signing, err := request.With(keystore.Verified(key))
	if err != nil {
		fmt.Println(err)
		return
	}
	signed, err := signing.AppendSigned(context.Background(), nil)
	fmt.Printf("signed: %d bytes, %v\n", len(signed), err)

	// Output:
	// type                      0x76 (Tempo)
	// chain                     42431 [Tempo testnet]
	// call 1 of 1
	//   to  0x20C0000000000000000000000000000000000001
	//   call
	//     function  transfer(address,uint256) [TIP-20]
	//     to        0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
	//     amount    1
	// maximum fee               0.002 USD
	// gas                       100000
	// max fee per gas           0.00000002 USD
	// max priority fee per gas  0.000000001 USD
	// fee paid by               the sender
	// fee token                 0x20C0000000000000000000000000000000000001
	// nonce key                 0
	// nonce                     3
	// valid after               no limit
	// valid before              no limit
	// signed: 212 bytes, <nil>
}

// A malformed transaction is refused with the field and the byte of the fault.
func ExampleChain_Parse_refused() {
	raw, _ := hex.DecodeString("76d18210790807825208c0c0808080808080c0")
	_, err := tempo.Chain{}.Parse(raw)
	fmt.Println(err)
	// Output:
	// tempo: field 3 (maxFeePerGas) at byte 6: is below maxPriorityFeePerGas
}
