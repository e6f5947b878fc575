package tron_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// rawDataHex is a transfer of 100 sun in the encoding that TronWeb calls raw_data_hex.
const rawDataHex = "0a020a1b2208112233445566778840e0c4d086a6375a65080112610a2d747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e747261637412300a154197cc56300c36f60c7fb7c50babc6c5cdf59d5c56121541f1cd33c4802dec54475c555f95e9403a62fd355318647080f0cc86a637"

func ExampleChain_Parse() {
	raw, err := chains.DecodeHex(rawDataHex)
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := tron.New(tron.Limits{}).Parse(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := chains.Render(os.Stdout, tx.Summary().Fields); err != nil {
		fmt.Println(err)
	}
	// Output:
	// type                  TransferContract [transfer TRX]
	// owner                 TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn
	// to                    TY1jfzP3s94oSzYECC89EFn17iA8S4imVZ
	// amount                0.0001 TRX [100 sun]
	// fee
	//   at most      1.265 TRX
	//   new account  1 TRX [if the receiver is not active yet]
	//   bandwidth    0.265 TRX [without staked or free bandwidth]
	// reference block       0x0a1b
	// reference block hash  0x1122334455667788
	// expires               2030-03-17T17:47:40Z
	// created               2030-03-17T17:46:40Z
	// transaction id        0x054b58499cfedf036746163f2070d81da5baf8e7d3a4fcd70df705a2fa35c013
}

// The key is found by the address in signWith. The output is what wallet/broadcasthex
// accepts.
func ExampleChain() {
	ctx := context.Background()
	keys := memory.New()
	defer keys.Close()
	secret, _ := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")
	if _, err := keys.Add(context.Background(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		fmt.Println(err)
		return
	}
	raw, _ := chains.DecodeHex(rawDataHex)
	tx, err := tron.New(tron.Limits{}).Parse(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	const signWith = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	request, err := tx.Request(signWith)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, err := keys.Find(ctx, "org", request.Locators()[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	signing, err := request.With(keystore.Verified(key))
	if err != nil {
		fmt.Println(err)
		return
	}
	signed, err := signing.AppendSigned(ctx, nil)
	fmt.Printf("%d bytes in, %d bytes out, %v\n", len(raw), len(signed), err)
	fmt.Printf("the signature starts with %x\n", signed[len(signed)-65:][:4])
	// Output:
	// 131 bytes in, 201 bytes out, <nil>
	// the signature starts with fd5b62ad
}
