package bitcoin_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// examplePSBT spends a taproot output of 0.001 BTC and pays 0.0009 BTC.
const examplePSBT = "70736274ff0100520200000001357b6d548f6a19357be6fab71412e3d6cd42ab0a657c05f2c89dff223ad1a1f00200000000ffffffff01905f0100000000001600143ea0d3244d7760ab8f53aa8f22229c0c79e64a98000000000001012ba0860100000000002251204df4db1055e037a6d7c22272bd8f545f12f97a3aa1f23ab032b86fe515462914011720e9b8b7df451f52565ee12790ea2240ce5132dd9b9312410359234838a32d2fb50000"

// A PSBT is read, shown, signed with the key of its address, and finalized.
func Example() {
	ctx := context.Background()
	keys := memory.New()
	defer keys.Close()
	secret, _ := hex.DecodeString("e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca")
	if _, err := keys.Add(context.Background(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
		log.Fatal(err)
	}
	raw, err := chains.DecodeHex(examplePSBT)
	if err != nil {
		log.Fatal(err)
	}
	tx, err := bitcoin.New(bitcoin.Limits{Network: bitcoin.Testnet}).Parse(raw)
	if err != nil {
		log.Fatal(err)
	}
	for _, effect := range tx.Effects() {
		fmt.Println(chains.Sentence(effect, nil))
	}
	const signWith = "tb1pfh6dkyz4uqm6d47zyfetmr65tuf0j73658er4vpjhph7292x9y2qr3fw54"
	request, err := tx.Request(signWith)
	if err != nil {
		log.Fatal(err)
	}
	key, err := keys.Find(ctx, "org", request.Locators()[0])
	if err != nil {
		log.Fatal(err)
	}
	signing, err := request.With(keystore.Verified(key))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("hazards:", signing.Hazards())
	signed, err := signing.AppendSigned(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	final, err := bitcoin.Finalize(signed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("network transaction:", len(final), "bytes")
	// Output:
	// send 0.0009 BTC to tb1q86sdxfzdwas2hr6n428jyg5up3u7vj5catau8m
	// fee 0.0001 BTC
	// hazards: []
	// network transaction: 150 bytes
}
